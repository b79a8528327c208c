// Scalars as run-time arguments of programs.
#pragma once

#include <serried/scalar.hpp>

#include "local/program.hpp"

namespace serried::inline v0 {

/// `value` as a number of dtype `type`. Throws value_error, naming `operation`, for an integer outside an integer
/// dtype's range.
[[nodiscard]] scalar_value make_scalar(const scalar& value, dtype type, const char* operation);

}  // namespace serried::inline v0
