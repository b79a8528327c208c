#include "local/cuda/stencil.hpp"

#include "local/cuda/emit.hpp"
#include "local/cuda/stencil_plan.hpp"
#include "local/cuda/stencil_sources.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

namespace serried::inline v0::cuda {
namespace stencil {
namespace {

// Measured on an H200, like the numbers of register_plan: more planes leave the cache before their neighbors come.
constexpr int planes_per_chunk = 8;
constexpr int most_instructions = 256;  // of a step, repeated in the text: compiling more takes long and gains nothing

/// How many blocks share a multiprocessor's registers, and how many steps' fetches are on their way at once: as many as
/// fit beside `kept` values, among which a ragged row's masks count. Slanted kernels, whose loops branch, live by many
/// blocks instead; without bends, their careful loop needs more registers.
struct register_plan {
  int blocks, unroll;
};
register_plan plan_slanted_registers(int values, bool bends) {
  return {values <= 32 ? (bends ? 6 : 5) : values <= 80 ? 3 : 2, 1};
}
register_plan plan_registers(int kept, int fetched, int instructions) {
  for (const int unroll : {4, 2, 1})
    if (kept + unroll * fetched <= 64 && (unroll == 1 || instructions * unroll <= most_instructions))
      return {4, unroll};
  return {2, 1};
}
constexpr int most_values = 112;  // in registers; beyond, threads take fewer cells

class planner {
 public:
  planner(const program& p, const iteration& where, const device_traits& device)
      : p_(p), where_(where), device_(device) {}

  std::optional<launch> run() {
    if (!serves()) return std::nullopt;
    auto [sources, offsets] = find_sources(p_, where_);
    sources_ = std::move(sources);
    offset_ = std::move(offsets);
    choose_dimensions();
    if (!worthwhile()) return std::nullopt;
    find_rim();
    for (int cells = cells_per_thread();; cells /= 2) {
      lay_out(cells);
      if (kept_ + fetched_ <= most_values || cells == 1) break;
    }
    const auto [blocks, unroll] =
        how_.slanted ? plan_slanted_registers(kept_ + fetched_, !how_.bends.empty())
                     : plan_registers(kept_ + (how_.ragged ? how_.wide : 0), fetched_, weight_of(p_) * how_.wide);
    how_.blocks = blocks;
    how_.unroll = unroll;
    if (blocks_ > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    launch l;
    l.key = key_of(p_, how_, words_.size());
    l.words = std::move(words_);
    l.blocks = static_cast<std::uint32_t>(blocks_);
    l.threads = threads;
    l.text = [p = p_, how = std::move(how_), words = l.words.size()] { return text_of(p, how, words); };
    return l;
  }

 private:
  [[nodiscard]] int ndim() const { return static_cast<int>(where_.dims.size()); }
  [[nodiscard]] int row() const { return ndim() - 1; }
  [[nodiscard]] std::int64_t extent(int d) const { return at(where_.dims, d).extent; }

  /// Every element is at a multiple of its size (`aligned` asks less of complex128): it is moved in one access.
  template <class Path>
  [[nodiscard]] static bool in_place(const Path& path, const std::byte* first) {
    std::uint64_t all = reinterpret_cast<std::uintptr_t>(first);
    for (const std::int64_t s : path.stride) all |= static_cast<std::uint64_t>(s);
    return path.aligned && all % static_cast<std::uint64_t>(path.item) == 0;
  }

  [[nodiscard]] bool serves() const {
    const auto displaced = [](const leaf_load& l) { return !l.offset.empty(); };
    if (where_.dims.empty() || std::none_of(p_.loads.begin(), p_.loads.end(), displaced) || may_fail(p_) ||
        !where_.gathers.empty())
      return false;
    for (const leaf_load& l : p_.loads)
      for (const std::int64_t o : l.offset)
        if (std::abs(o) >= largest) return false;
    for (const iteration_dim& d : where_.dims)
      if (d.extent >= largest) return false;
    for (const output_path& o : where_.outputs)
      if (!in_place(o, o.data) || o.stride.back() != o.item) return false;
    for (const load_path& l : where_.loads) {
      if (!in_place(l, l.data + l.offset)) return false;
      for (const guard& g : l.guards)
        if (g.dim < 0 || std::abs(g.first) >= largest || std::abs(g.lo) >= largest || g.hi >= largest ||
            g.extent >= largest)
          return false;
    }
    return true;
  }

  void choose_dimensions() {
    how_.ndim = ndim();
    how_.march = how_.across = -1;
    for (int d = row() - 1; d >= 0; --d)
      for (const source& s : sources_)
        if (at(s.lo, d) != at(s.hi, d)) how_.march = d;
    for (int d = 0; d < row(); ++d)
      if (d != how_.march) how_.across = d;
  }

  /// Some array is fetched along its rows and serves several loads; wide offsets would fill the registers.
  [[nodiscard]] bool worthwhile() const {
    bool some = false;
    for (const source& s : sources_) {
      some |= s.moves() && s.contiguous();
      if (at(s.hi, row()) - at(s.lo, row()) > 16) return false;
      if (how_.march >= 0 && at(s.hi, how_.march) - at(s.lo, how_.march) > 16) return false;
      for (int d = 0; d < ndim(); ++d)
        if (at(s.guards, d) != nullptr && !turns_once(s, d)) return false;
      // Two values compete for an element outside of two faces: the one of the leaf's first dimension counts.
      const guard* along = at(s.guards, row());
      if (along == nullptr || !has_value(*along)) continue;
      for (int d = 0; d < row(); ++d)
        if (at(s.guards, d) != nullptr && has_value(*at(s.guards, d)) && axis_of(d) > axis_of(row())) return false;
    }
    return some;
  }
  /// No index lies farther outside than a period.
  [[nodiscard]] bool turns_once(const source& s, int d) const {
    const guard& g = *at(s.guards, d);
    const std::int64_t lowest = at(s.first, d) + at(s.lo, d);
    const std::int64_t highest = at(s.first, d) + at(s.hi, d) + extent(d) - 1;
    return (g.boundary.low.kind != boundary_kind::periodic || lowest >= -g.extent) &&
           (g.boundary.high.kind != boundary_kind::periodic || highest < 2 * g.extent);
  }
  static bool has_value(const guard& g) {
    return g.boundary.low.kind == boundary_kind::value || g.boundary.high.kind == boundary_kind::value;
  }
  /// The output axis that a dimension of the iteration is; meaningful for guarded ones.
  [[nodiscard]] std::size_t axis_of(int dim) const {
    const auto is_dim = [&](const index_path& i) { return i.dim == dim; };
    return static_cast<std::size_t>(std::find_if(where_.indices.begin(), where_.indices.end(), is_dim) -
                                    where_.indices.begin());
  }

  /// Gaps between the rows that are written cost more than filling them: sectors of memory that are written in part
  /// have to be read first. They are filled where the program reads what is there.
  void find_rim() {
    constexpr std::int64_t widest = 8;
    const rim& first = where_.outputs[0].around;
    if (first.before > widest || first.behind > widest || first.before + first.behind == 0) return;
    std::vector<int> found;
    for (std::size_t k = 0; k < where_.outputs.size(); ++k) {
      const rim& r = where_.outputs[k].around;
      if (r.data == nullptr || r.before != first.before || r.behind != first.behind) return;
      for (const source& s : sources_)
        for (const std::size_t l : s.loads)
          if (found.size() == k && keeps(r, where_.outputs[k], p_.code[p_.outputs[k]].out, s, l))
            found.push_back(static_cast<int>(l));
      if (found.size() == k) return;
    }
    rim_loads_ = std::move(found);
  }
  /// A load has an output's old values, also in its rim.
  [[nodiscard]] bool keeps(const rim& r, const output_path& o, dtype type, const source& s, std::size_t l) const {
    const load_path& path = where_.loads[l];
    const int at_row = offset_[l].back();
    return path.data + path.offset == r.data && path.stride == o.stride && path.guards.empty() && s.type == type &&
           at(s.guards, row()) == nullptr && at_row - s.lo.back() >= r.before && s.hi.back() - at_row >= r.behind;
  }
  [[nodiscard]] std::int64_t before() const { return rim_loads_.empty() ? 0 : where_.outputs[0].around.before; }
  [[nodiscard]] std::int64_t behind() const { return rim_loads_.empty() ? 0 : where_.outputs[0].around.behind; }

  [[nodiscard]] int cells_per_thread() const {
    std::int64_t widest = 1;
    for (const output_path& o : where_.outputs) widest = std::max(widest, o.item);
    for (const source& s : sources_)
      if (s.contiguous()) widest = std::max(widest, s.item);
    return static_cast<int>(std::clamp<std::int64_t>(16 / widest, 1, 8));
  }

  /// Rows of an array all begin at the same place between multiples of `wide` elements, but for the slant.
  [[nodiscard]] bool even(const std::vector<std::int64_t>& stride, std::int64_t item) const {
    for (int d = 0; d < row(); ++d)
      if ((at(stride, d) - at(how_.slant, d) * item) % (item * how_.wide) != 0) return false;
    return true;
  }

  /// Everything for so many cells a thread.
  void lay_out(int cells) {
    words_.clear();
    how_.bends.clear();
    how_.places.clear();
    how_.lines.clear();
    how_.reaches.clear();
    how_.outputs.clear();
    how_.coordinates.clear();
    how_.scalars.clear();
    strides_.clear();
    bend_guards_.clear();
    choose_alignment(cells);
    choose_blocks();
    how_.loads.assign(p_.loads.size(), {});
    for (const source& s : sources_) add_lines(s);
    for (const output_path& o : where_.outputs) add_output(o);
    for (const index_path& i : where_.indices) how_.coordinates.push_back({i.dim, word(i.first)});
    for (const scalar_value& s : p_.scalars) {
      how_.scalars.push_back(static_cast<int>(words_.size()));
      append_words(words_, s);
    }
    count_registers();
  }

  void choose_alignment(int cells) {
    const output_path& o = where_.outputs[0];
    how_.slant.assign(where_.dims.size(), 0);
    for (how_.wide = cells;; how_.wide /= 2)
      if (find_slant(o) && (how_.wide == 1 || even_together())) break;
    how_.lead = static_cast<int>(gap(reinterpret_cast<std::uint64_t>(o.data), 0) / o.item % how_.wide);
    how_.slanted = std::any_of(how_.slant.begin(), how_.slant.end(), [](int s) { return s != 0; });
    while (!how_.slanted && how_.lead < before()) how_.lead += how_.wide;
    how_.ragged = how_.slanted || how_.lead != 0 || (extent(row()) + behind()) % how_.wide != 0;
  }

  /// How far an output's rows go on from a multiple of `wide` elements to the nearest; false where that is far.
  bool find_slant(const output_path& o) {
    for (int d = 0; d < row(); ++d) {
      const auto rest = static_cast<int>((at(o.stride, d) / o.item % how_.wide + how_.wide) % how_.wide);
      at(how_.slant, d) = rest > how_.wide / 2 ? rest - how_.wide : rest;
      if (extent(d) > 1 && std::abs(at(how_.slant, d)) > std::max(1, how_.wide / 4)) return false;
    }
    return true;
  }

  /// The rows of all outputs, and of the arrays that are fetched most, follow the same slant.
  [[nodiscard]] bool even_together() const {
    const auto& outputs = where_.outputs;
    return std::all_of(outputs.begin(), outputs.end(), [&](const auto& o) { return even(o.stride, o.item); }) &&
           std::all_of(sources_.begin(), sources_.end(),
                       [&](const source& s) { return !s.moves() || !s.contiguous() || even(*s.stride, s.item); });
  }

  void choose_blocks() {
    const auto divide = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
    std::int64_t cells = extent(row()) + behind() + (how_.slanted ? how_.wide - 1 : how_.lead);
    how_.width = how_.across < 0 ? threads : 32;
    while (how_.width > 1 && how_.width / 2 * how_.wide >= cells) how_.width /= 2;
    const std::int64_t tile = std::int64_t{1} * how_.width * how_.wide;
    const std::int64_t tiles_across = how_.across < 0 ? 1 : divide(extent(how_.across), threads / how_.width);
    std::int64_t outer = 1;
    for (int d = 0; d < row(); ++d)
      if (d != how_.march && d != how_.across) outer *= extent(d);

    std::int64_t planes = 1, chunks = 1;
    if (how_.march >= 0) {
      const std::int64_t n = extent(how_.march);
      const std::int64_t enough = std::int64_t{8} * device_.multiprocessors;
      planes = std::min<std::int64_t>(n, planes_per_chunk);
      while (planes > 1 && divide(cells, tile) * tiles_across * outer * divide(n, planes) < enough) planes /= 2;
      chunks = divide(n, planes);
      planes = divide(n, chunks);
    }
    how_.extents = static_cast<int>(words_.size());
    for (int d = 0; d < ndim(); ++d) word(extent(d));
    word(planes);
    if (how_.slanted) {
      const std::int64_t drift = how_.march < 0 ? 0 : at(how_.slant, how_.march) * (planes - 1);
      const std::int64_t ahead = divide(std::max<std::int64_t>(-drift, 0) + before(), how_.wide) * how_.wide;
      how_.overhang = word(ahead);
      word(std::max<std::int64_t>(drift, 0));
      cells += ahead + std::max<std::int64_t>(drift, 0);
    }
    how_.rim = -1;
    if (!rim_loads_.empty()) {
      how_.rim = word(before());
      word(behind());
    }
    const std::int64_t tiles = divide(cells, tile);
    how_.digits = static_cast<int>(words_.size());
    blocks_ = 1;
    const auto digit = [&](std::int64_t count) {
      blocks_ = std::min(blocks_ * count, largest * 4);
      word(count);
      const auto n = static_cast<std::uint64_t>(count);
      words_.push_back(n == 1 ? 0 : ~std::uint64_t{0} / n + 1);
    };
    digit(tiles);
    if (how_.across >= 0) digit(tiles_across);
    if (how_.march >= 0) digit(chunks);
    for (int d = row() - 1; d >= 0; --d)
      if (d != how_.march && d != how_.across) digit(extent(d));
    // First cells of the first and of the last thread that works on a row.
    first_cell_ = -how_.lead;
    last_cell_ = (divide(cells, how_.wide) - 1) * how_.wide - how_.lead;
  }

  // --- words and tables ---------------------------------------------------------------------------------------

  int word(std::int64_t value) {
    words_.push_back(static_cast<std::uint64_t>(value));
    return static_cast<int>(words_.size()) - 1;
  }

  int place_of(const std::vector<std::int64_t>& stride, std::int64_t item) {
    for (std::size_t i = 0; i < strides_.size(); ++i)
      if (how_.places[i].item == item && *strides_[i] == stride) return static_cast<int>(i);
    how_.places.push_back({stride.back() == item, static_cast<int>(item), static_cast<int>(words_.size())});
    for (const std::int64_t s : stride) word(s);
    strides_.push_back(&stride);
    return static_cast<int>(strides_.size()) - 1;
  }

  int bend_of(const source& s, int dim) {
    const guard& g = *at(s.guards, dim);
    const std::array<std::int64_t, 4> numbers{at(s.first, dim), g.lo, g.hi, g.extent};
    const bend wanted{dim, g.boundary.low.kind, g.boundary.high.kind, static_cast<int>(words_.size())};
    for (std::size_t i = 0; i < how_.bends.size(); ++i) {
      const bend& b = how_.bends[i];
      if (b.dim == dim && b.low == wanted.low && b.high == wanted.high && bend_guards_[i] == numbers)
        return static_cast<int>(i);
    }
    how_.bends.push_back(wanted);
    bend_guards_.push_back(numbers);
    for (const std::int64_t n : numbers) word(n);
    return static_cast<int>(how_.bends.size()) - 1;
  }

  line_bend bend_line(const source& s, int dim) {
    line_bend b{bend_of(s, dim), -1, -1};
    const faces& f = at(s.guards, dim)->boundary;
    const auto value = [&](const face& one) {
      if (one.kind != boundary_kind::value) return -1;
      const int first = static_cast<int>(words_.size());
      append_words(words_, one.value);
      return first;
    };
    b.low = value(f.low);
    b.high = value(f.high);
    return b;
  }

  void add_output(const output_path& o) {
    const auto unit = static_cast<std::uint64_t>(o.item * how_.wide);
    const auto address = reinterpret_cast<std::uint64_t>(o.data);
    const bool aligned = (address - static_cast<std::uint64_t>(how_.lead * o.item)) % unit == 0;
    const int place = place_of(o.stride, o.item);
    const std::size_t k = how_.outputs.size();
    how_.outputs.push_back({p_.code[p_.outputs[k]].out, place, word(static_cast<std::int64_t>(address)), aligned,
                            rim_loads_.empty() ? -1 : rim_loads_[k]});
  }

  // --- lines --------------------------------------------------------------------------------------------------

  [[nodiscard]] int plane_of(std::size_t load) const { return how_.march < 0 ? 0 : at(offset_[load], how_.march); }
  [[nodiscard]] int position_of(std::size_t load) const {
    int at_row = offset_[load].back();
    for (int d = 0; d < row(); ++d) at_row += at(how_.slant, d) * at(offset_[load], d);
    return at_row;
  }
  [[nodiscard]] std::vector<int> row_offset(std::size_t load) const {
    std::vector<int> offset = offset_[load];
    offset.back() = 0;
    if (how_.march >= 0) at(offset, how_.march) = 0;
    return offset;
  }

  void add_lines(const source& s) {
    lowest_ = std::numeric_limits<std::int64_t>::max();
    highest_ = std::numeric_limits<std::int64_t>::min();
    const int range = range_of(s);
    const int place = place_of(*s.stride, s.item);
    const line_bend along = at(s.guards, row()) == nullptr ? line_bend{-1, -1, -1} : bend_line(s, row());
    std::vector<std::pair<std::vector<int>, std::vector<std::size_t>>> rows;
    for (const std::size_t l : s.loads) {
      const std::vector<int> offset = row_offset(l);
      auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.first == offset; });
      if (found == rows.end()) found = rows.insert(rows.end(), {offset, {}});
      found->second.push_back(l);
    }
    for (const auto& [offset, loads] : rows) {
      line l{};
      l.type = s.type;
      l.place = place;
      l.offset = offset;
      l.range = range;
      l.along = along;
      l.kept = s.moves();  // a store into it would change what is still to be fetched
      l.uniform = s.stride->back() == 0 && along.bend < 0;
      add_bends(l, s, loads);
      find_positions(l, s, loads);
      add_fetches(l, s);
      for (const std::size_t load : loads)
        how_.loads[load] = {static_cast<int>(how_.lines.size()), plane_of(load), l.uniform ? 0 : position_of(load)};
      how_.lines.push_back(std::move(l));
    }
    if (how_.slanted) add_reach(s);
  }

  /// The row indices, in cells of the iteration, that are in memory as they are.
  int range_of(const source& s) {
    const guard* g = at(s.guards, row());
    readable_lo_ = g != nullptr ? g->lo - s.first.back() : s.lo.back();
    readable_hi_ = g != nullptr ? g->hi - s.first.back() : extent(row()) + s.hi.back();
    const int range = word(readable_lo_);
    word(readable_hi_);
    return range;
  }

  void add_bends(line& l, const source& s, const std::vector<std::size_t>& loads) {
    std::vector<int> dims;
    for (int d = 0; d < row(); ++d)
      if (std::any_of(loads.begin(), loads.end(),
                      [&](std::size_t i) { return where_.loads[i].guard_of(d) != nullptr; }))
        dims.push_back(d);
    // The leaf's first dimension decides where two values compete.
    std::sort(dims.begin(), dims.end(), [&](int a, int b) { return axis_of(a) < axis_of(b); });
    for (const int d : dims) l.bends.push_back(bend_line(s, d));
  }

  void find_positions(line& l, const source& s, const std::vector<std::size_t>& loads) {
    std::map<int, position> found;
    l.first_plane = std::numeric_limits<int>::max();
    int last_plane = std::numeric_limits<int>::min();
    for (const std::size_t i : loads) {
      const int m = plane_of(i);
      l.first_plane = std::min(l.first_plane, m);
      last_plane = std::max(last_plane, m);
      l.bent |= where_.loads[i].guard_of(row()) != nullptr;
      for (int j = 0; j < (l.uniform ? 1 : how_.wide); ++j) {
        position& q = found[l.uniform ? 0 : position_of(i) + j];
        q = q.used() ? position{std::min(q.lowest, m), std::max(q.highest, m)} : position{m, m};
      }
    }
    l.planes = last_plane - l.first_plane + 1;
    if (fetched_wide(l, s)) complete_groups(l, phase_of(l, s), found);
    l.first_position = found.begin()->first;
    l.positions.resize(static_cast<std::size_t>(found.rbegin()->first - l.first_position + 1));
    for (const auto& [p, q] : found) at(l.positions, p - l.first_position) = q;
  }

  /// Where an aligned access takes half of its elements and more together, it takes them all.
  void complete_groups(const line& l, std::int64_t phase, std::map<int, position>& found) const {
    const int enough = std::max(2, how_.wide / 2);
    const auto begin_of = [&](int p) {
      return p - static_cast<int>(((p + phase) % how_.wide + how_.wide) % how_.wide);
    };
    for (int first = begin_of(found.begin()->first); first <= found.rbegin()->first; first += how_.wide) {
      int highest = l.first_plane - 1;
      int count = 0;
      for (int j = 0; j < how_.wide; ++j) {
        const auto q = found.find(first + j);
        if (q == found.end() || q->second.highest < highest) continue;
        count = q->second.highest == highest ? count + 1 : 1;
        highest = q->second.highest;
      }
      for (int j = 0; j < how_.wide && count >= enough; ++j) {
        position& q = found[first + j];
        q = q.used() ? position{q.lowest, highest} : position{highest, highest};
      }
    }
  }

  /// Its rows can be fetched in aligned accesses of `wide` elements, which begin where (position + phase) is a
  /// multiple.
  [[nodiscard]] bool fetched_wide(const line& l, const source& s) const {
    return !l.uniform && how_.wide > 1 && s.contiguous() && even(*s.stride, s.item);
  }
  [[nodiscard]] std::int64_t phase_of(const line& l, const source& s) const {
    return gap(base_of(l, s), 0) / s.item - how_.lead;
  }
  /// The address of position 0 for the iteration's first cell, in plane 0.
  [[nodiscard]] std::uint64_t base_of(const line& l, const source& s) const {
    std::uint64_t base = s.base;
    for (int d = 0; d < row(); ++d) base += static_cast<std::uint64_t>(at(l.offset, d) * at(*s.stride, d));
    return base - static_cast<std::uint64_t>(how_.lean(l, 0) * s.stride->back());
  }

  void add_fetches(line& l, const source& s) {
    const std::int64_t along_march =
        how_.march < 0 ? 0 : at(*s.stride, how_.march) - at(how_.slant, how_.march) * s.stride->back();
    const bool wide = fetched_wide(l, s);
    const std::int64_t phase = wide ? phase_of(l, s) : 0;
    const auto address = [&](int plane) {
      return static_cast<std::int64_t>(base_of(l, s) + static_cast<std::uint64_t>(plane * along_march));
    };
    for (int m = l.first_plane; m < l.first_plane + l.planes; ++m) {
      const auto now = [&](const position& q) { return q.used() && q.highest == m; };
      const auto before = [&](const position& q) { return q.lowest <= m && m < q.highest; };
      const auto add = [&](std::vector<fetch>& to, const auto& wanted) {
        std::vector<piece> pieces = pieces_of(l, wide, phase, wanted);
        if (pieces.empty()) return;
        for (const piece& p : pieces) reach_to(s, address(m), p);
        to.push_back({m, word(address(m)), beyond(s, m), std::move(pieces)});
      };
      add(l.each_step, now);
      add(l.at_start, before);
    }
  }

  /// Extends [lowest_, highest_), the addresses that a source's pieces take for the iteration's first cell.
  void reach_to(const source& s, std::int64_t address, const piece& p) {
    const std::int64_t a = address + p.at * s.stride->back();
    const std::int64_t b = address + (p.at + p.wide - 1) * s.stride->back();
    lowest_ = std::min({lowest_, a, b});
    highest_ = std::max({highest_, a + s.item, b + s.item});
  }

  /// What is left between those addresses and the ends of the source's memory.
  void add_reach(const source& s) {
    auto lowest = static_cast<std::int64_t>(s.base);
    std::int64_t highest = lowest + s.item;
    for (int d = 0; d < ndim(); ++d) {
      const guard* g = at(s.guards, d);
      const std::int64_t stride = at(*s.stride, d);
      const std::int64_t first = stride * (g != nullptr ? g->lo - at(s.first, d) : at(s.lo, d));
      const std::int64_t last = stride * (g != nullptr ? g->hi - 1 - at(s.first, d) : extent(d) - 1 + at(s.hi, d));
      lowest += std::min(first, last);
      highest += std::max(first, last);
    }
    how_.reaches.push_back({place_of(*s.stride, s.item), word(lowest_ - lowest)});
    word(highest_ - highest);
  }

  /// Whether some plane at this offset along the march lies outside of the window.
  [[nodiscard]] bool beyond(const source& s, int plane) const {
    if (how_.march < 0) return false;
    const guard* g = at(s.guards, how_.march);
    if (g == nullptr) return false;
    const std::int64_t first = at(s.first, how_.march) + plane;
    return first < g->lo || first + extent(how_.march) > g->hi;
  }

  template <class Wanted>
  std::vector<piece> pieces_of(const line& l, bool wide, std::int64_t phase, const Wanted& wanted) const {
    std::vector<piece> pieces;
    const int count = static_cast<int>(l.positions.size());
    for (int i = 0; i < count;) {
      int run = 0;
      while (i + run < count && run < how_.wide && wanted(at(l.positions, i + run))) ++run;
      const int p = l.first_position + i;
      const bool whole = wide && run == how_.wide && (p + phase) % how_.wide == 0;
      const int n = whole ? how_.wide : 1;
      const bool inside = l.uniform || (first_cell_ + p >= readable_lo_ && last_cell_ + p + n <= readable_hi_);
      if (run > 0) pieces.push_back({p, n, !inside});
      i += n;
    }
    return pieces;
  }

  /// What a step fetches, and what it finds from the steps before.
  void count_registers() {
    kept_ = fetched_ = 0;
    for (const line& l : how_.lines)
      for (const position& q : l.positions) {
        if (!q.used()) continue;
        const int each = std::max(1, static_cast<int>(item_size(l.type)) / 4);
        fetched_ += each;
        kept_ += (q.highest - q.lowest) * each;
      }
  }

  const program& p_;
  const iteration& where_;
  const device_traits& device_;
  std::vector<source> sources_;
  std::vector<std::vector<int>> offset_;  ///< per load, along the iteration's dimensions, from its source's middle
  std::vector<int> rim_loads_;            ///< per output, where the rim is kept
  plan how_{};
  std::vector<std::uint64_t> words_;
  std::vector<const std::vector<std::int64_t>*> strides_;     ///< per place
  std::vector<std::array<std::int64_t, 4>> bend_guards_;      ///< per bend
  std::int64_t blocks_ = 1, first_cell_ = 0, last_cell_ = 0;  ///< cells: of groups, along the rows
  std::int64_t readable_lo_ = 0, readable_hi_ = 0;            ///< of the source being laid out
  int kept_ = 0, fetched_ = 0;                                ///< registers for values
  std::int64_t lowest_ = 0, highest_ = 0;                     ///< likewise, see reach_to
};

}  // namespace
}  // namespace stencil

std::optional<launch> plan_stencil(const program& p, const iteration& where, const device_traits& device) {
  return stencil::planner(p, where, device).run();
}

}  // namespace serried::inline v0::cuda
