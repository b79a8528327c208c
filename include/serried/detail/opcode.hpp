// The opcodes of expression programs, the structural ones and one per row of the operation table; kinds of reduction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace serried::inline v0 {

enum class opcode : std::uint16_t {
  load,    ///< args[0]: which load; out: the leaf's dtype
  scalar,  ///< args[0]: which scalar; out: its dtype
  index,   ///< args[0]: output axis; the global index along it; out: int64
  gather,  ///< args[0]: register of int64, an element number of (args[1]) the leaf; out: that leaf's dtype
  cast,    ///< args[0]: register of dtype `in`, converted to `out`
#define SERRIED_OPERATION(name, arity, rule, expression) name,
#include <serried/detail/operations.inc>
#undef SERRIED_OPERATION
  count_
};

namespace detail {
// clang-format off
inline constexpr std::array opcode_arguments{0, 0, 0, 1, 1,
#define SERRIED_OPERATION(name, arity, rule, expression) arity,
#include <serried/detail/operations.inc>
#undef SERRIED_OPERATION
};
inline constexpr std::array opcode_names{"load", "scalar", "index", "gather", "cast",
#define SERRIED_OPERATION(name, arity, rule, expression) #name,
#include <serried/detail/operations.inc>
#undef SERRIED_OPERATION
};
// clang-format on
}  // namespace detail

/// Registers that an instruction takes: its operation's arity, 1 for a gather or a cast, 0 for the other structural
/// ones.
[[nodiscard]] constexpr int argument_count(opcode op) { return detail::opcode_arguments[static_cast<std::size_t>(op)]; }

/// The operation's name in the table, as users write it.
[[nodiscard]] constexpr const char* name(opcode op) { return detail::opcode_names[static_cast<std::size_t>(op)]; }

enum class reduce_kind : std::uint8_t { sum, prod, min, max };

[[nodiscard]] constexpr const char* name(reduce_kind k) {
  constexpr std::array names{"sum", "prod", "min", "max"};
  return names[static_cast<std::size_t>(k)];
}

}  // namespace serried::inline v0
