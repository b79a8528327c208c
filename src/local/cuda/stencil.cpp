#include "local/cuda/stencil.hpp"

#include "local/cuda/emit.hpp"
#include "local/cuda/stencil_plan.hpp"
#include "local/cuda/stencil_sources.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

namespace serried::inline v0::cuda {
namespace stencil {
namespace {

constexpr int planes_per_chunk = 8;
// Planes that chunks share should still be in the cache when the next chunk comes.
constexpr std::int64_t slab_bytes = std::int64_t{4} << 20;
// Registers for values: up to the first, two planes at a time; past the second, threads take fewer cells, so that more
// of them find room and nothing spills.
constexpr int unroll_budget = 40;
constexpr int register_budget = 96;

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
    for (int cells = cells_per_thread();; cells /= 2) {
      const int registers = lay_out(cells);
      how_.unroll = registers <= unroll_budget ? 2 : 1;
      how_.crowded = registers > unroll_budget && registers <= register_budget;
      if (registers <= register_budget || cells == 1) break;
    }
    if (blocks_ > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    launch l;
    l.key = key();
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

  [[nodiscard]] bool serves() const {
    const auto displaced = [](const leaf_load& l) { return !l.offset.empty(); };
    if (where_.dims.empty() || std::none_of(p_.loads.begin(), p_.loads.end(), displaced) || may_fail(p_)) return false;
    for (const leaf_load& l : p_.loads)
      for (const std::int64_t o : l.offset)
        if (std::abs(o) >= largest) return false;
    for (const iteration_dim& d : where_.dims)
      if (d.extent >= largest) return false;
    for (const output_path& o : where_.outputs)
      if (!o.aligned || o.stride.back() != o.item) return false;
    for (const load_path& l : where_.loads) {
      if (!l.aligned) return false;
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
      // Two values compete for an element outside of two faces: the one of the leaf's first dimension counts.
      const guard* along = at(s.guards, row());
      if (along == nullptr || !has_value(*along)) continue;
      for (int d = 0; d < row(); ++d)
        if (at(s.guards, d) != nullptr && has_value(*at(s.guards, d)) && axis_of(d) > axis_of(row())) return false;
    }
    return some;
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

  [[nodiscard]] int cells_per_thread() const {
    std::int64_t widest = 1;
    for (const output_path& o : where_.outputs) widest = std::max(widest, o.item);
    for (const source& s : sources_)
      if (s.contiguous()) widest = std::max(widest, s.item);
    return static_cast<int>(std::clamp<std::int64_t>(16 / widest, 1, 8));
  }

  /// Rows of an array all begin at the same place between multiples of `wide` elements.
  [[nodiscard]] bool even(const std::vector<std::int64_t>& stride, std::int64_t item, int wide) const {
    for (int d = 0; d < row(); ++d)
      if (at(stride, d) % (item * wide) != 0) return false;
    return true;
  }

  /// Everything for so many cells a thread; returns an estimate of the registers that values take.
  int lay_out(int cells) {
    words_.clear();
    how_.bends.clear();
    how_.places.clear();
    how_.lines.clear();
    how_.outputs.clear();
    how_.coordinates.clear();
    how_.scalars.clear();
    strides_.clear();
    bend_guards_.clear();
    choose_groups(cells);
    choose_blocks();
    how_.loads.assign(p_.loads.size(), {});
    for (const source& s : sources_) add_lines(s);
    for (const output_path& o : where_.outputs) add_output(o);
    for (const index_path& i : where_.indices) how_.coordinates.push_back({i.dim, word(i.first)});
    for (const scalar_value& s : p_.scalars) {
      how_.scalars.push_back(static_cast<int>(words_.size()));
      append_words(words_, s);
    }
    return registers();
  }

  /// Groups of `wide` cells that begin at multiples in the first output do so in the other outputs' rows and, at some
  /// offset, in those of the arrays that are fetched most.
  [[nodiscard]] bool aligned_together(std::int64_t lead, int wide) const {
    for (const output_path& o : where_.outputs)
      if (!even(o.stride, o.item, wide)) return false;
    for (const source& s : sources_) {
      if (!s.moves() || !s.contiguous()) continue;
      const std::int64_t first = gap(s.base, 0) / s.item - lead;
      const auto aligned = [&](std::size_t l) { return (first + offset_[l].back()) % wide == 0; };
      if (!even(*s.stride, s.item, wide) || std::none_of(s.loads.begin(), s.loads.end(), aligned)) return false;
    }
    return true;
  }

  void choose_groups(int cells) {
    const output_path& o = where_.outputs[0];
    const std::int64_t first = gap(reinterpret_cast<std::uint64_t>(o.data), 0) / o.item;
    how_.wide = cells;
    while (how_.wide > 1 && !aligned_together(first % how_.wide, how_.wide)) how_.wide /= 2;
    how_.groups = cells / how_.wide;
    how_.lead = static_cast<int>(first % how_.wide);
    how_.ragged = how_.lead != 0 || extent(row()) % how_.wide != 0;
  }

  void choose_blocks() {
    const std::int64_t cells = extent(row()) + how_.lead;
    how_.width = how_.across < 0 ? threads : 32;
    while (how_.width > 1 && how_.width / 2 * how_.wide >= cells) how_.width /= 2;
    while (how_.groups > 1 && how_.width * how_.wide * (how_.groups / 2) >= cells) how_.groups /= 2;
    const auto divide = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
    const std::int64_t tiles = divide(cells, std::int64_t{1} * how_.width * how_.wide * how_.groups);
    const std::int64_t tiles_across = how_.across < 0 ? 1 : divide(extent(how_.across), threads / how_.width);
    std::int64_t outer = 1;
    for (int d = 0; d < row(); ++d)
      if (d != how_.march && d != how_.across) outer *= extent(d);

    std::int64_t planes = 1, chunks = 1, slab = tiles_across;
    if (how_.march >= 0) {
      const std::int64_t n = extent(how_.march);
      const std::int64_t enough = std::int64_t{8} * device_.multiprocessors;
      planes = std::min<std::int64_t>(n, planes_per_chunk);
      while (planes > 1 && tiles * tiles_across * outer * divide(n, planes) < enough) planes /= 2;
      chunks = divide(n, planes);
      planes = divide(n, chunks);
      std::int64_t bytes = 0;
      for (const source& s : sources_) bytes += s.item;
      bytes *= tiles * planes * threads * how_.wide * how_.groups;
      slab = std::clamp<std::int64_t>(slab_bytes / std::max<std::int64_t>(bytes, 1), 1, tiles_across);
    }
    how_.extents = static_cast<int>(words_.size());
    for (int d = 0; d < ndim(); ++d) word(extent(d));
    word(planes);
    word(slab);
    how_.digits = static_cast<int>(words_.size());
    blocks_ = 1;
    const auto digit = [&](std::int64_t count) {
      blocks_ = std::min(blocks_ * count, largest * 4);
      word(count);
      const auto n = static_cast<std::uint64_t>(count);
      words_.push_back(n == 1 ? 0 : ~std::uint64_t{0} / n + 1);
    };
    digit(tiles);
    if (how_.across >= 0) digit(slab);
    if (how_.march >= 0) digit(chunks);
    if (how_.across >= 0) digit(divide(tiles_across, slab));
    for (int d = row() - 1; d >= 0; --d)
      if (d != how_.march && d != how_.across) digit(extent(d));
    // First cells of the first and of the last group that some thread works on.
    first_cell_ = -how_.lead;
    last_cell_ = (divide(cells, how_.wide) - 1) * how_.wide - how_.lead;
    if (how_.groups > 1) last_cell_ = (tiles * how_.groups * how_.width - 1) * how_.wide - how_.lead;
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
    how_.outputs.push_back(
        {p_.code[p_.outputs[how_.outputs.size()]].out, place, word(static_cast<std::int64_t>(address)), aligned});
  }

  // --- lines --------------------------------------------------------------------------------------------------

  [[nodiscard]] int plane_of(std::size_t load) const { return how_.march < 0 ? 0 : at(offset_[load], how_.march); }
  [[nodiscard]] std::vector<int> row_offset(std::size_t load) const {
    std::vector<int> offset = offset_[load];
    offset.back() = 0;
    if (how_.march >= 0) at(offset, how_.march) = 0;
    return offset;
  }

  void add_lines(const source& s) {
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
      find_positions(l, loads);
      add_fetches(l, s);
      for (const std::size_t load : loads)
        how_.loads[load] = {static_cast<int>(how_.lines.size()), plane_of(load), l.uniform ? 0 : offset_[load].back()};
      how_.lines.push_back(std::move(l));
    }
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

  void find_positions(line& l, const std::vector<std::size_t>& loads) {
    int first = std::numeric_limits<int>::max();
    int last = std::numeric_limits<int>::min();
    l.first_plane = first;
    int last_plane = last;
    for (const std::size_t i : loads) {
      first = std::min(first, offset_[i].back());
      last = std::max(last, offset_[i].back());
      l.first_plane = std::min(l.first_plane, plane_of(i));
      last_plane = std::max(last_plane, plane_of(i));
    }
    if (l.uniform) first = last = 0;
    else last += how_.wide - 1;
    l.first_position = first;
    l.positions.resize(static_cast<std::size_t>(last - first + 1));
    for (const std::size_t i : loads)
      for (int j = 0; j < (l.uniform ? 1 : how_.wide); ++j) {
        position& q = at(l.positions, (l.uniform ? 0 : offset_[i].back()) + j - first);
        const int m = plane_of(i);
        q = q.used() ? position{std::min(q.lowest, m), std::max(q.highest, m)} : position{m, m};
      }
    l.planes = last_plane - l.first_plane + 1;
  }

  void add_fetches(line& l, const source& s) {
    std::uint64_t base = s.base;
    for (int d = 0; d < row(); ++d) base += static_cast<std::uint64_t>(at(l.offset, d) * at(*s.stride, d));
    const std::int64_t along_march = how_.march < 0 ? 0 : at(*s.stride, how_.march);
    // Aligned accesses begin where (position + phase) is a multiple of `wide`.
    const bool wide = how_.wide > 1 && s.contiguous() && even(*s.stride, s.item, how_.wide);
    const std::int64_t phase = gap(base, 0) / s.item - how_.lead;
    const auto address = [&](int plane) {
      return word(static_cast<std::int64_t>(base + static_cast<std::uint64_t>(plane * along_march)));
    };
    for (int m = l.first_plane; m < l.first_plane + l.planes; ++m) {
      const auto now = [&](const position& q) { return q.used() && q.highest == m; };
      const auto before = [&](const position& q) { return q.lowest <= m && m < q.highest; };
      const auto add = [&](std::vector<fetch>& to, const auto& wanted) {
        std::vector<piece> pieces = pieces_of(l, wide, phase, wanted);
        if (!pieces.empty()) to.push_back({m, address(m), std::move(pieces)});
      };
      add(l.each_step, now);
      add(l.at_start, before);
    }
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

  [[nodiscard]] int registers() const {
    std::int64_t total = 0;
    for (const line& l : how_.lines) {
      std::int64_t values = 0;
      for (const position& q : l.positions)
        if (q.used()) values += q.highest - q.lowest + 1;
      const auto item = static_cast<std::int64_t>(item_size(l.type));
      total += values * (l.uniform ? 1 : how_.groups) * std::max<std::int64_t>(1, item / 4);
    }
    return static_cast<int>(std::min<std::int64_t>(total, std::numeric_limits<int>::max()));
  }

  std::string key() const;

  const program& p_;
  const iteration& where_;
  const device_traits& device_;
  std::vector<source> sources_;
  std::vector<std::vector<int>> offset_;  ///< per load, along the iteration's dimensions, from its source's middle
  plan how_{};
  std::vector<std::uint64_t> words_;
  std::vector<const std::vector<std::int64_t>*> strides_;     ///< per place
  std::vector<std::array<std::int64_t, 4>> bend_guards_;      ///< per bend
  std::int64_t blocks_ = 1, first_cell_ = 0, last_cell_ = 0;  ///< cells: of groups, along the rows
  std::int64_t readable_lo_ = 0, readable_hi_ = 0;            ///< of the source being laid out
};

std::string planner::key() const {
  std::string bytes = "stencil" + structure_key(p_, false);
  const auto put = [&](auto... numbers) {
    const std::int16_t all[] = {static_cast<std::int16_t>(numbers)...};
    bytes.append(reinterpret_cast<const char*>(all), sizeof all);
  };
  const auto put_bend = [&](const line_bend& b) { put(b.bend, b.low, b.high); };
  put(how_.ndim, how_.march, how_.across, how_.wide, how_.groups, how_.width, how_.unroll, how_.crowded, how_.ragged,
      how_.lead, words_.size());
  put(how_.bends.size(), how_.places.size(), how_.lines.size());
  for (const bend& b : how_.bends) put(b.dim, b.low, b.high, b.words);
  for (const place& p : how_.places) put(p.contiguous, p.item, p.words);
  for (const line& l : how_.lines) {
    put(l.place, l.kept, l.uniform, l.first_plane, l.planes, l.first_position, l.positions.size(), l.bends.size(),
        l.range);
    for (const int o : l.offset) put(o);
    for (const position& q : l.positions) put(q.lowest, q.highest);
    for (const line_bend& b : l.bends) put_bend(b);
    put_bend(l.along);
    for (const auto* fetches : {&l.each_step, &l.at_start}) {
      put(fetches->size());
      for (const fetch& f : *fetches) {
        put(f.plane, f.word, f.pieces.size());
        for (const piece& s : f.pieces) put(s.at, s.wide, s.checked);
      }
    }
  }
  for (const load_place& l : how_.loads) put(l.line, l.plane, l.shift);
  for (const output& o : how_.outputs) put(o.place, o.word, o.wide);
  for (const coordinate& c : how_.coordinates) put(c.dim, c.word);
  for (const int s : how_.scalars) put(s);
  return bytes;
}

}  // namespace
}  // namespace stencil

std::optional<launch> plan_stencil(const program& p, const iteration& where, const device_traits& device) {
  return stencil::planner(p, where, device).run();
}

}  // namespace serried::inline v0::cuda
