// What an expression holds. The same for local and distributed arrays: only the leaves differ.
#pragma once

#include <serried/expr.hpp>

#include "local/program.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace serried::inline v0 {

/// The version of a leaf of which only the shape and place are asked: no write makes it stale.
inline constexpr std::uint64_t unread = ~std::uint64_t{0};

template <class Array>
struct leaf {
  Array data;
  std::uint64_t version;        ///< the data's when the expression was made, or `unread`
  std::vector<faces> boundary;  ///< empty: none
};

/// The reduction at an expression's root.
struct reduction_root {
  reduction what;
  bool keepdims;
  serried::shape shape;  ///< of the result

  [[nodiscard]] bool reduces(int d) const { return (what.axes >> d & 1U) != 0; }
};

template <class Array>
struct expr_state {
  program code;  ///< one output: the root
  std::vector<leaf<Array>> leaves;
  serried::shape shape;  ///< of the element-wise part
  dtype type = dtype::float64;
  std::optional<reduction_root> root;
};

/// A state to be changed: the very one where nobody else has it. (No state is made const.)
template <class Array>
std::shared_ptr<expr_state<Array>> to_change(std::shared_ptr<const expr_state<Array>> state) {
  if (state.use_count() > 1) return std::make_shared<expr_state<Array>>(*state);
  return std::const_pointer_cast<expr_state<Array>>(std::move(state));
}

/// Beyond these the operands of an operation are evaluated first.
inline constexpr std::size_t max_leaves = 32;
inline constexpr std::size_t max_instructions = 256;
/// Kernels on a GPU take 4095 words of arguments; this leaves room for what is not loads.
inline constexpr std::size_t max_words = 3900;
/// At most: an address, and per dimension a stride, where the array ends, and two values beyond.
constexpr std::size_t words_of_load(int ndim) { return 1 + 10 * static_cast<std::size_t>(ndim); }

/// Offsets of loads stay far from where sums of indices would overflow.
inline constexpr std::int64_t largest_offset = std::int64_t{1} << 32;

}  // namespace serried::inline v0
