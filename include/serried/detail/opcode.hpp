// The opcodes of expression programs: the structural ones, then one per row of the operation table.
#pragma once

#include <cstdint>

namespace serried::inline v0 {

enum class opcode : std::uint16_t {
  load,    ///< args[0]: which load; out: the leaf's dtype
  scalar,  ///< args[0]: which scalar; out: its dtype
  index,   ///< args[0]: output axis; the global index along it; out: int64
  cast,    ///< args[0]: register of dtype `in`, converted to `out`
#define SERRIED_OPERATION(name, arity, rule, expression) name,
#include <serried/detail/operations.inc>
#undef SERRIED_OPERATION
  count_
};

}  // namespace serried::inline v0
