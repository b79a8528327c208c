// Which dtypes an operation takes, and which one it gives.
#pragma once

#include <serried/detail/opcode.hpp>
#include <serried/dtype.hpp>

#include <span>

namespace serried::inline v0::ops {

struct signature {
  dtype operand;  ///< all operands are converted to it (`where`: all but the first, which is converted to bool)
  dtype result;
};

/// NumPy 2's choice for operands of these dtypes. One difference: int64 beside uint64 is compared as float64.
/// Throws dtype_error, naming the operation and the dtypes. `op` is an operation, not a structural opcode.
[[nodiscard]] signature resolve(opcode op, std::span<const dtype> operands);

/// Whether a dtype is a 16-bit float.
[[nodiscard]] constexpr bool is_narrow(dtype t) { return t == dtype::float16 || t == dtype::bfloat16; }
/// Whether an operation on the dtype computes in float32 and rounds the result.
[[nodiscard]] constexpr bool computes_in_float(opcode op, dtype t) {
  return is_narrow(t) && op != opcode::where && op != opcode::nextafter;
}

}  // namespace serried::inline v0::ops
