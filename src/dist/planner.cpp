#include "dist/planner.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace serried::inline v0::dist {

namespace {

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// A piece of one dimension of a needed box that lies in one part: indices in range, and what to add to get back to
/// the receiver's.
struct segment {
  int part;
  std::int64_t lo, hi;
  std::int64_t shift;
};

/// Cuts [lo, hi) at the parts of dimension d and, when it wraps, at the multiples of its extent. With `only` ≥ 0 gives
/// the pieces in that part alone, in the same order.
std::vector<segment> cut(const distribution& source, int d, std::int64_t lo, std::int64_t hi, bool wraps, int only) {
  std::vector<segment> segments;
  const std::int64_t extent = source.shape()[d];
  if (extent == 0 || (!wraps && (lo < 0 || hi > extent)))
    throw index_error(
        fmt::format("box planner: [{}, {}) of dimension {} leaves the array, whose extent is {}", lo, hi, d, extent));
  const auto& offsets = source.offsets(d);
  const std::int64_t first = wraps ? floor_divide(lo, extent) : 0;
  const std::int64_t last = wraps ? floor_divide(hi - 1, extent) : 0;
  for (std::int64_t image = first; image <= last; ++image) {
    const std::int64_t shift = image * extent;
    const std::int64_t from = std::max<std::int64_t>(lo - shift, 0);
    const std::int64_t to = std::min(hi - shift, extent);
    const int begin = only >= 0 ? only : source.part_at(d, from);
    const int end = only >= 0 ? only + 1 : source.parts(d);
    for (int part = begin; part < end && offsets[static_cast<std::size_t>(part)] < to; ++part) {
      const std::int64_t part_lo = std::max(from, offsets[static_cast<std::size_t>(part)]);
      const std::int64_t part_hi = std::min(to, offsets[static_cast<std::size_t>(part) + 1]);
      if (part_lo < part_hi) segments.push_back({part, part_lo, part_hi, shift});
    }
  }
  return segments;
}

/// Calls visit(parts, source box, destination box) for every piece of a needed box, the last dimension fastest; with
/// `only`, for those in that shard.
template <class Visit>
void for_each_piece(const distribution& source, const box& needed, std::uint32_t wrap, const dims* only,
                    Visit&& visit) {
  const int n = source.ndim();
  std::vector<std::vector<segment>> segments;
  for (int d = 0; d < n; ++d) {
    segments.push_back(cut(source, d, needed.lo[d], needed.hi[d], (wrap >> d & 1U) != 0,
                           only != nullptr ? static_cast<int>((*only)[d]) : -1));
    if (segments.back().empty()) return;
  }
  dims at = dims::filled(n, 0);
  dims parts = at;
  box from{at, at};
  box to{at, at};
  for (int d = 0; d >= 0;) {
    for (d = 0; d < n; ++d) {
      const segment& s = segments[static_cast<std::size_t>(d)][static_cast<std::size_t>(at[d])];
      parts[d] = s.part;
      from.lo[d] = s.lo;
      from.hi[d] = s.hi;
      to.lo[d] = s.lo + s.shift;
      to.hi[d] = s.hi + s.shift;
    }
    visit(parts, from, to);
    for (d = n - 1; d >= 0 && ++at[d] == static_cast<std::int64_t>(segments[static_cast<std::size_t>(d)].size()); --d)
      at[d] = 0;
  }
}

/// Takes `b` away from every box of `boxes`.
void remove(std::vector<box>& boxes, const box& b) {
  std::vector<box> rest;
  for (const box& a : boxes) {
    const std::vector<box> pieces = subtract(a, b);
    rest.insert(rest.end(), pieces.begin(), pieces.end());
  }
  boxes = std::move(rest);
}

/// Joins b to a if together they are one box.
bool join(box& a, const box& b) {
  int differing = -1;
  for (int d = 0; d < a.ndim(); ++d) {
    if (a.lo[d] == b.lo[d] && a.hi[d] == b.hi[d]) continue;
    if (differing >= 0) return false;
    differing = d;
  }
  if (differing < 0) return false;
  if (a.hi[differing] == b.lo[differing]) a.hi[differing] = b.hi[differing];
  else if (b.hi[differing] == a.lo[differing]) a.lo[differing] = b.lo[differing];
  else return false;
  return true;
}

void join_neighbors(std::vector<box>& boxes) {
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t j = 0; j < boxes.size(); ++j)
      if (i != j && join(boxes[i], boxes[j])) {
        boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(j));
        if (j < i) --i;
        j = static_cast<std::size_t>(-1);  // the larger box may fit to any other
      }
}

std::vector<box> missing(const distribution& source, int rank, const needs_function& needs, bool without_shard) {
  std::vector<box> boxes = needs(rank);
  if (without_shard) remove(boxes, source.shard(rank));
  return disjoint(boxes);
}

/// What [lo, hi) of one dimension reads, given what lies beyond its ends; none when hi ≤ lo.
void apply_boundary(std::int64_t& lo, std::int64_t& hi, std::int64_t extent, const dimension_rule& rule) {
  const auto outside = [&](boundary_kind kind, bool& whole_dimension) {
    if (kind == boundary_kind::edge) {
      lo = std::clamp<std::int64_t>(lo, 0, extent - 1);
      hi = std::clamp<std::int64_t>(hi, 1, extent);
    } else if (kind == boundary_kind::periodic) {
      whole_dimension = !rule.split;
    } else {
      lo = std::max<std::int64_t>(lo, 0);
      hi = std::min(hi, extent);
    }
  };
  bool whole_dimension = false;
  if (extent > 0 && lo < hi) {
    if (lo < 0) outside(rule.low, whole_dimension);
    if (hi > extent && lo < hi && !whole_dimension) outside(rule.high, whole_dimension);
  } else {
    hi = lo;
  }
  if (whole_dimension) {
    lo = 0;
    hi = extent;
  }
}

}  // namespace

std::vector<box> disjoint(std::span<const box> boxes) {
  std::vector<box> result;
  for (const box& b : boxes) {
    if (b.empty()) continue;
    std::vector<box> pieces{b};
    for (const box& taken : result) remove(pieces, taken);
    result.insert(result.end(), pieces.begin(), pieces.end());
  }
  join_neighbors(result);
  return result;
}

schedule plan(const distribution& source, int rank, const needs_function& needs, const plan_options& options) {
  schedule mine;
  for (const box& b : missing(source, rank, needs, options.without_shard))
    for_each_piece(source, b, options.wrap, nullptr, [&](const dims& parts, const box& from, const box& to) {
      const int peer = source.owner(parts, rank);
      (peer == rank ? mine.copies : mine.receives).push_back({peer, from, to});
    });
  std::stable_sort(mine.receives.begin(), mine.receives.end(),
                   [](const transfer& a, const transfer& b) { return a.peer < b.peer; });

  if (source.shard(rank).empty()) return mine;
  const dims parts = source.parts_of(rank);
  for (int reader = 0; reader < source.mesh().size(); ++reader) {
    if (reader == rank || source.owner(parts, reader) != rank) continue;
    for (const box& b : missing(source, reader, needs, options.without_shard))
      for_each_piece(source, b, options.wrap, &parts, [&](const dims&, const box& from, const box& to) {
        mine.sends.push_back({reader, from, to});
      });
  }
  return mine;
}

box read_box(const box& out, const dims& offset, const shape& extents, std::span<const dimension_rule> rules) {
  const int skipped = out.ndim() - extents.size();
  box b{extents, extents};
  for (int d = 0; d < extents.size(); ++d) {
    const bool broadcast = extents[d] == 1;
    const std::int64_t shift = offset.empty() ? 0 : offset[d];
    b.lo[d] = (broadcast ? 0 : out.lo[d + skipped]) + shift;
    b.hi[d] = (broadcast ? 1 : out.hi[d + skipped]) + shift;
    apply_boundary(b.lo[d], b.hi[d], extents[d], rules[static_cast<std::size_t>(d)]);
  }
  return b;
}

std::vector<box> needed_boxes(const box& out, std::span<const dims> offsets, const shape& extents,
                              std::span<const dimension_rule> rules) {
  std::vector<box> boxes;
  if (out.empty()) return boxes;
  for (const dims& offset : offsets) {
    const box b = read_box(out, offset, extents, rules);
    if (!b.empty() && std::find(boxes.begin(), boxes.end(), b) == boxes.end()) boxes.push_back(b);
  }
  return boxes;
}

}  // namespace serried::inline v0::dist
