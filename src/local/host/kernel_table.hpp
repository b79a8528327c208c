// The kernels of one instruction set: what the engine's loops call for each block.
#pragma once

#include <serried/detail/opcode.hpp>
#include <serried/dtype.hpp>

#include "local/program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace serried::inline v0::host {

/// Blocks are whole multiples of this many elements, so that no kernel has a tail: which instructions compute an
/// element never depends on where a row or a shard ends.
inline constexpr std::int64_t grain = 64;

/// What a kernel reads: for each operand, the elements of the first grain and the elements from there to the next
/// grain's, which is 64, or 0 for a constant (of which one grain is kept).
struct operands {
  const void* a;
  const void* b;
  const void* c;
  std::int64_t step_a, step_b, step_c;
};
/// Computes grains · 64 elements. `out` may be an operand's own memory, but not overlap it otherwise.
using kernel = void (*)(std::int64_t grains, const operands& in, void* out);

/// Merges n contiguous elements into state i of `count` (stored as engine.hpp says).
using row_kernel = void (*)(const void* x, std::int64_t n, std::byte* states, std::int64_t count, std::int64_t i);
/// Merges a rows × columns tile, rows `stride` elements apart, into states 0 … columns − 1 of `count`.
using column_kernel = void (*)(const void* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                               std::byte* states, std::int64_t count);
struct reduction_kernels {
  row_kernel row = nullptr;
  column_kernel columns = nullptr;
};

template <class T>
using by_dtype = std::array<T, dtype_count>;

/// How the second of two operations in one kernel uses the first one's result r: the two round as they would apart.
enum class chain : std::uint8_t { add, subtract, subtract_from, multiply };  // r + c, r − c, c − r, r · c
inline constexpr std::size_t chain_count = 4;

struct kernel_table {
  std::array<by_dtype<kernel>, static_cast<std::size_t>(opcode::count_)> operations{};  // [opcode][operand]
  /// [first][second][operand]: (a first b) second c. The first is add, subtract or multiply, in their opcodes' order.
  std::array<std::array<by_dtype<kernel>, chain_count>, 3> chains{};
  by_dtype<by_dtype<kernel>> casts{};                       // [from][to]
  std::array<by_dtype<reduction_kernels>, 4> reductions{};  // [reduce_kind][accumulator]
};

/// Kernels of a pair that `lower` does not ask for are null.
const kernel_table& baseline_kernels();
const kernel_table& avx2_kernels();
const kernel_table& avx512_kernels();

/// The table that SERRIED_SIMD=baseline|avx2|avx512 asks for, by default the best that this machine has. Throws
/// value_error for a name it does not know or that the machine lacks.
const kernel_table& choose_kernels();

}  // namespace serried::inline v0::host
