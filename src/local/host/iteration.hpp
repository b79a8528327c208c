// How a box is walked: dimensions merged and ordered for memory, and where each array's elements lie along them.
#pragma once

#include "local/engine.hpp"
#include "local/host/lower.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace serried::inline v0::host {

/// A leaf dimension along which some index of the box lies outside the window.
struct guard {
  int dim;              ///< of the iteration; −1: every index lies outside, and `boundary` gives a value
  std::int64_t first;   ///< leaf index at iteration index 0
  std::int64_t lo, hi;  ///< the window
  std::int64_t extent;
  std::int64_t stride;
  faces boundary;
};

/// Where one load's elements are.
struct load_path {
  const std::byte* data;
  std::int64_t item;
  std::int64_t offset;               ///< bytes from data to the element at iteration index 0
  std::vector<std::int64_t> stride;  ///< bytes, per iteration dimension
  std::vector<guard> guards;         ///< by leaf dimension
  bool aligned;                      ///< every element is at a multiple of its size
  [[nodiscard]] const guard* guard_of(int dim) const;
  /// All elements are one and the same.
  [[nodiscard]] bool uniform() const;
};

struct output_path {
  std::byte* data;
  std::int64_t item;
  std::vector<std::int64_t> stride;
  bool aligned;
};

/// What an index slot counts.
struct index_path {
  std::int64_t first;
  int dim;  ///< of the iteration; −1: constant
};

struct iteration_dim {
  std::int64_t extent;
  bool reduced = false;
  std::int64_t result_stride = 0;  ///< of a kept dimension, in results of the reduction
};

/// The last dimension runs along a tile's rows ("columns"), the one before it over a tile's rows; both always
/// exist. Guarded and indexed dimensions stay by themselves; others merge where all strides allow.
struct iteration {
  std::vector<iteration_dim> dims;
  std::vector<load_path> loads;      ///< per load of the program
  std::vector<output_path> outputs;  ///< per output binding
  std::vector<index_path> indices;   ///< per output axis of the box
  bool transposed = false;           ///< some array runs along the rows' dimension

  [[nodiscard]] int rows_dim() const { return static_cast<int>(dims.size()) - 2; }
  [[nodiscard]] int columns_dim() const { return static_cast<int>(dims.size()) - 1; }
  [[nodiscard]] std::int64_t rows() const { return dims[dims.size() - 2].extent; }
  [[nodiscard]] std::int64_t columns() const { return dims.back().extent; }
};

/// For a box that is not empty. Throws index_error where a load leaves its array and no boundary says what lies there.
[[nodiscard]] iteration make_iteration(const program& p, std::span<const leaf_binding> leaves,
                                       std::span<const output_binding> outputs, const box& where);
/// The same for a reduction over `where`, a part of `whole`, whose results it strides over.
[[nodiscard]] iteration make_iteration(const program& p, std::span<const leaf_binding> leaves, const box& where,
                                       const reduction& r, const box& whole);

}  // namespace serried::inline v0::host
