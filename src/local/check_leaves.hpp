// Checks before anything is evaluated; for local and distributed leaves alike.
#pragma once

#include <serried/error.hpp>

#include "local/expr_state.hpp"

#include <fmt/format.h>

namespace serried::inline v0 {

/// Throws value_error when a leaf was written since the expression was made, index_error when a load leaves a leaf
/// that has no boundary there.
template <class Array>
void check_leaves(const expr_state<Array>& e) {
  for (const auto& l : e.leaves)
    if (l.version != unread && version_of(l.data) != l.version)
      throw value_error(
          fmt::format("an array of shape {} was written after this expression over it was made; eval() the expression "
                      "before the write",
                      to_string(l.data.shape())));
  if (element_count(e.shape) == 0) return;
  for (const leaf_load& ld : e.code.loads) {
    if (ld.offset.empty()) continue;
    const auto& l = e.leaves[ld.leaf];
    const shape& extent = l.data.shape();
    for (int d = 0; d < extent.size(); ++d) {
      const int out = d + e.shape.size() - extent.size();
      const std::int64_t last = extent[d] == 1 ? 0 : e.shape[out] - 1;
      const auto open = [&](bool low) {
        if (l.boundary.empty()) return true;
        const faces& f = l.boundary[static_cast<std::size_t>(d)];
        return (low ? f.low : f.high).kind == boundary_kind::none;
      };
      if ((ld.offset[d] < 0 && open(true)) || (last + ld.offset[d] >= extent[d] && open(false)))
        throw index_error(
            fmt::format("at: offset {} along dimension {} leaves the array of shape {}, which has no "
                        "boundary there (with_boundary gives it one)",
                        ld.offset[d], d, to_string(extent)));
    }
  }
}

}  // namespace serried::inline v0
