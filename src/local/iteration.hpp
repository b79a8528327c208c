// How a box is walked: dimensions merged and ordered for memory, and where each array's elements lie along them.
#pragma once

#include "local/program.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace serried::inline v0 {

/// Either an index inside the window, or a value.
struct outside {
  std::int64_t index = 0;
  const scalar_value* value = nullptr;
};

/// Where leaf index `i`, outside the window [lo, hi) of a dimension of length `extent`, is read. The low face answers
/// for i < 0, the high one for i ≥ extent. Throws index_error where the faces do not say, or point outside the window.
[[nodiscard]] outside resolve_outside(std::int64_t i, std::int64_t lo, std::int64_t hi, std::int64_t extent,
                                      const faces& boundary);

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

/// A leaf that gathers read.
struct gather_source {
  const std::byte* data;
  std::int64_t count;  ///< elements
};

struct output_path {
  std::byte* data;
  std::int64_t item;
  std::vector<std::int64_t> stride;
  bool aligned;
  rim around;  ///< along the last dimension of the iteration
};

/// What an index slot counts.
struct index_path {
  std::int64_t first;
  int dim;  ///< of the iteration; −1: constant
};

struct iteration_dim {
  std::int64_t extent = 1;
  bool reduced = false;
  std::int64_t result_stride = 0;  ///< of a kept dimension, in results of the reduction
};

/// Dimensions of length 1 are left out, the others stand in the order of the first output's strides, the longest first
/// (for a reduction: of the sums of what is read). Guarded and indexed dimensions stay by themselves; others merge
/// where all strides allow. Nothing may be left: then there is one element.
struct iteration {
  std::vector<iteration_dim> dims;
  std::vector<load_path> loads;        ///< per load of the program
  std::vector<output_path> outputs;    ///< per output binding
  std::vector<index_path> indices;     ///< per output axis of the box
  std::vector<gather_source> gathers;  ///< per leaf of gathered_leaves()

  /// Gives the dimensions the order `from` (old numbers, outermost first; dimensions of length 1 may be left out). −1
  /// stands for a new one of length 1.
  void rearrange(std::span<const int> from);
};

/// For a box that is not empty. Throws index_error where a load leaves its array and no boundary says what lies there,
/// value_error for an output whose elements share memory.
[[nodiscard]] iteration make_iteration(const program& p, std::span<const leaf_binding> leaves,
                                       std::span<const output_binding> outputs, const box& where);
/// The same for a reduction over `where`, a part of `whole`, whose results it strides over.
[[nodiscard]] iteration make_iteration(const program& p, std::span<const leaf_binding> leaves, const box& where,
                                       const reduction& r, const box& whole);

}  // namespace serried::inline v0
