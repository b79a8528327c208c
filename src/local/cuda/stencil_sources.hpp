// Which loads of a program read one array, and at which offsets.
#pragma once

#include "local/iteration.hpp"
#include "local/program.hpp"

#include <cstdint>
#include <vector>

namespace serried::inline v0::cuda::stencil {

// Coordinates are 32-bit numbers, with room for offsets and for the last blocks' overhang; addresses are 64-bit.
inline constexpr std::int64_t largest = std::int64_t{1} << 30;

/// Loads of one array whose addresses differ by offsets, which are counted from the middle of all.
struct source {
  int leaf;
  dtype type;
  std::int64_t item;
  const std::vector<std::int64_t>* stride;
  std::uint64_t base;  ///< address at iteration index 0 and offset 0
  std::vector<std::size_t> loads;
  std::vector<int> lo, hi;           ///< of the offsets, per dimension
  std::vector<const guard*> guards;  ///< per dimension; null: none
  std::vector<std::int64_t> first;   ///< leaf index at offset 0 of the guarded dimensions
  [[nodiscard]] bool contiguous() const { return stride->back() == item; }
  [[nodiscard]] bool moves() const { return lo != hi; }
};

struct source_table {
  std::vector<source> sources;
  std::vector<std::vector<int>> offsets;  ///< per load, along the iteration's dimensions, from its source's middle
};

/// For an iteration of at least one dimension, whose guards all lie along one.
[[nodiscard]] source_table find_sources(const program& p, const iteration& where);

/// a − b.
[[nodiscard]] inline std::int64_t gap(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); }

template <class T>
[[nodiscard]] auto& at(std::vector<T>& v, int i) {
  return v[static_cast<std::size_t>(i)];
}
template <class T>
[[nodiscard]] const auto& at(const std::vector<T>& v, int i) {
  return v[static_cast<std::size_t>(i)];
}

}  // namespace serried::inline v0::cuda::stencil
