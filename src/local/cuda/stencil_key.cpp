#include "local/cuda/emit.hpp"
#include "local/cuda/stencil_plan.hpp"

#include <cstdint>

namespace serried::inline v0::cuda::stencil {

std::string key_of(const program& p, const plan& how, std::size_t words) {
  std::string bytes = "stencil" + structure_key(p, false);
  const auto put = [&](auto... numbers) {
    const std::int16_t all[] = {static_cast<std::int16_t>(numbers)...};
    bytes.append(reinterpret_cast<const char*>(all), sizeof all);
  };
  const auto put_bend = [&](const line_bend& b) { put(b.bend, b.low, b.high); };
  put(how.ndim, how.march, how.across, how.wide, how.width, how.blocks, how.unroll, how.ragged, how.lead, how.rim,
      words);
  for (const int s : how.slant) put(s);
  put(how.bends.size(), how.places.size(), how.lines.size());
  for (const bend& b : how.bends) put(b.dim, b.low, b.high, b.words);
  for (const place& a : how.places) put(a.contiguous, a.item, a.words);
  for (const line& l : how.lines) {
    put(l.place, l.kept, l.uniform, l.bent, l.first_plane, l.planes, l.first_position, l.positions.size(),
        l.bends.size(), l.range);
    for (const int o : l.offset) put(o);
    for (const position& q : l.positions) put(q.lowest, q.highest);
    for (const line_bend& b : l.bends) put_bend(b);
    put_bend(l.along);
    for (const auto* fetches : {&l.each_step, &l.at_start}) {
      put(fetches->size());
      for (const fetch& f : *fetches) {
        put(f.plane, f.word, f.turned, f.pieces.size());
        for (const piece& s : f.pieces) put(s.at, s.wide, s.checked);
      }
    }
  }
  for (const load_place& l : how.loads) put(l.line, l.plane, l.position);
  for (const reach& r : how.reaches) put(r.place, r.words);
  for (const output& o : how.outputs) put(o.place, o.word, o.wide, o.rim_load);
  for (const coordinate& c : how.coordinates) put(c.dim, c.word);
  for (const int s : how.scalars) put(s);
  return bytes;
}

}  // namespace serried::inline v0::cuda::stencil
