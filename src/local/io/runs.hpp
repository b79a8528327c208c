// The stretches of a C-order array in a file that one box covers.
#pragma once

#include "local/box.hpp"

#include <serried/error.hpp>

#include <cstdint>

namespace serried::inline v0::io {

/// Calls visit(index, count) for each longest run of elements of a C-order array that `where` covers: linear index of
/// the first, and how many. In rising order, which is also C order in the box.
template <class Visit>
void for_each_run(const shape& extents, const box& where, Visit&& visit) {
  if (where.empty()) return;
  const int n = extents.size();
  const strides step = contiguous_strides(extents, 1);
  // Dimensions after `inner` are covered whole, so a run spans them.
  int inner = n - 1;
  while (inner > 0 && where.hi[inner] - where.lo[inner] == extents[inner]) --inner;
  const std::int64_t count = n == 0 ? 1 : (where.hi[inner] - where.lo[inner]) * step[inner];
  std::int64_t index = 0;
  for (int d = 0; d < n; ++d) index += where.lo[d] * step[d];
  dims at = where.lo;
  for (int d = 0; d >= 0;) {
    visit(index, count);
    for (d = inner - 1; d >= 0; --d) {
      index += step[d];
      if (++at[d] < where.hi[d]) break;
      index -= (where.hi[d] - where.lo[d]) * step[d];
      at[d] = where.lo[d];
    }
  }
}

/// Throws index_error when a box leaves the array.
inline void check_inside(const shape& extents, const box& where, const char* operation) {
  if (where.ndim() != extents.size() || !contains(box::whole(extents), where))
    throw index_error(std::string(operation) + ": box " + to_string(where) + " is not in an array of shape " +
                      to_string(extents));
}

}  // namespace serried::inline v0::io
