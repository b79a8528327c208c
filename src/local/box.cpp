#include "local/box.hpp"

#include <fmt/format.h>

namespace serried::inline v0 {

bool box::empty() const noexcept {
  for (int d = 0; d < ndim(); ++d)
    if (hi[d] <= lo[d]) return true;
  return false;
}

std::int64_t box::volume() const noexcept {
  if (empty()) return 0;
  std::int64_t product = 1;
  for (int d = 0; d < ndim(); ++d) product *= hi[d] - lo[d];
  return product;
}

shape box::extents() const {
  shape result = lo;
  for (int d = 0; d < ndim(); ++d) result[d] = std::max<std::int64_t>(hi[d] - lo[d], 0);
  return result;
}

box box::shifted(const dims& offset) const {
  box result = *this;
  for (int d = 0; d < ndim(); ++d) {
    result.lo[d] += offset[d];
    result.hi[d] += offset[d];
  }
  return result;
}

box intersect(const box& a, const box& b) {
  box result = a;
  for (int d = 0; d < a.ndim(); ++d) {
    result.lo[d] = std::max(a.lo[d], b.lo[d]);
    result.hi[d] = std::min(a.hi[d], b.hi[d]);
  }
  return result;
}

bool contains(const box& outer, const box& inner) {
  if (inner.empty()) return true;
  for (int d = 0; d < outer.ndim(); ++d)
    if (inner.lo[d] < outer.lo[d] || inner.hi[d] > outer.hi[d]) return false;
  return true;
}

std::vector<box> subtract(const box& a, const box& b) {
  if (a.empty()) return {};
  const box hole = intersect(a, b);
  if (hole.empty()) return {a};
  std::vector<box> pieces;
  box rest = a;  // what is not yet cut off; shrinks to the hole, dimension by dimension
  for (int d = 0; d < a.ndim(); ++d) {
    if (rest.lo[d] < hole.lo[d]) {
      box below = rest;
      below.hi[d] = hole.lo[d];
      pieces.push_back(below);
    }
    if (hole.hi[d] < rest.hi[d]) {
      box above = rest;
      above.lo[d] = hole.hi[d];
      pieces.push_back(above);
    }
    rest.lo[d] = hole.lo[d];
    rest.hi[d] = hole.hi[d];
  }
  return pieces;
}

std::string to_string(const box& b) {
  std::string text = "[";
  for (int d = 0; d < b.ndim(); ++d) text += fmt::format("{}{}:{}", d == 0 ? "" : ", ", b.lo[d], b.hi[d]);
  return text + "]";
}

}  // namespace serried::inline v0
