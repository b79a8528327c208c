// Scalars as run-time arguments of programs.
#pragma once

#include <serried/scalar.hpp>

#include "local/program.hpp"

namespace serried::inline v0 {

/// `value` as a number of dtype `type`. Throws value_error, naming `operation`, for an integer outside an integer
/// dtype's range.
[[nodiscard]] scalar_value make_scalar(const scalar& value, dtype type, const char* operation);

/// Registers that an instruction takes: 1 for a cast, the arity for an operation, 0 for the other structural ones.
[[nodiscard]] int argument_count(opcode op);
/// The operation's name in the table, as users write it.
[[nodiscard]] const char* name(opcode op);

}  // namespace serried::inline v0
