// How the host walks a box: tiles of rows and columns.
#pragma once

#include "local/iteration.hpp"

#include <cstdint>
#include <span>

namespace serried::inline v0::host {

/// The last dimension runs along a tile's rows ("columns"), the one before it over a tile's rows; both always exist.
struct tiling : iteration {
  bool transposed = false;  ///< some array runs along the rows' dimension

  [[nodiscard]] int rows_dim() const { return static_cast<int>(dims.size()) - 2; }
  [[nodiscard]] int columns_dim() const { return static_cast<int>(dims.size()) - 1; }
  [[nodiscard]] std::int64_t rows() const { return dims[dims.size() - 2].extent; }
  [[nodiscard]] std::int64_t columns() const { return dims.back().extent; }
};

/// As make_iteration.
[[nodiscard]] tiling make_tiling(const program& p, std::span<const leaf_binding> leaves,
                                 std::span<const output_binding> outputs, const box& where);
[[nodiscard]] tiling make_tiling(const program& p, std::span<const leaf_binding> leaves, const box& where,
                                 const reduction& r, const box& whole);

}  // namespace serried::inline v0::host
