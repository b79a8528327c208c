// Boxes of global indices: what the driver evaluates, what the planner intersects.
#pragma once

#include <serried/shape.hpp>

#include <string>
#include <vector>

namespace serried::inline v0 {

/// The half-open box [lo, hi) in each dimension. Empty when hi ≤ lo in any; a 0-d box holds one element.
struct box {
  dims lo;
  dims hi;

  [[nodiscard]] static box whole(const shape& s) { return {dims::filled(s.size(), 0), s}; }
  [[nodiscard]] int ndim() const noexcept { return lo.size(); }
  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] std::int64_t volume() const noexcept;  ///< 0 when empty
  [[nodiscard]] shape extents() const;                 ///< 0 in each dimension where hi < lo
  [[nodiscard]] box shifted(const dims& offset) const;
  friend bool operator==(const box&, const box&) = default;
};

[[nodiscard]] box intersect(const box& a, const box& b);
[[nodiscard]] bool contains(const box& outer, const box& inner);  ///< an empty inner box is in every box
/// `a` without `b`, as disjoint boxes that together hold every index of `a` outside `b`; at most 2·ndim of them.
[[nodiscard]] std::vector<box> subtract(const box& a, const box& b);
[[nodiscard]] std::string to_string(const box& b);

}  // namespace serried::inline v0
