// An expression as a flat program: instructions in SSA order over leaf slots and run-time scalars. Register i is
// the value of instruction i. The structure (everything but the scalars' values) is what kernels are made for.
#pragma once

#include <serried/detail/opcode.hpp>
#include <serried/dtype.hpp>
#include <serried/shape.hpp>

#include "local/box.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace serried::inline v0 {

/// args are registers of earlier instructions unless said otherwise above. For an operation, all operands have
/// dtype `in` (the first operand of `where` is bool) and the result has dtype `out`.
///
/// A gather reads element number 0, 1, … in C order of a leaf that is bound whole, contiguous and aligned, whatever
/// shape and boundary it has. Beyond the leaf nothing is read: the value is 0, and the program fails unless args[2] is
/// not 0.
struct instruction {
  opcode op;
  dtype in;
  dtype out;
  std::array<std::uint16_t, 3> args{};
  friend bool operator==(const instruction&, const instruction&) = default;
};

/// The index along an output axis.
[[nodiscard]] inline instruction index_along(int axis) {
  return {opcode::index, dtype::int64, dtype::int64, {static_cast<std::uint16_t>(axis)}};
}

/// One access to a leaf: its value at (index + offset). `offset` is empty when zero, else one entry per leaf
/// dimension.
struct leaf_load {
  std::uint16_t leaf;
  dims offset;
  friend bool operator==(const leaf_load&, const leaf_load&) = default;
};

/// A run-time scalar, already of its dtype: the first item_size(type) bytes of `bytes`.
struct scalar_value {
  dtype type = dtype::float64;
  alignas(16) std::array<std::byte, 16> bytes{};
  friend bool operator==(const scalar_value&, const scalar_value&) = default;
};

struct program {
  std::vector<instruction> code;
  std::vector<leaf_load> loads;
  std::vector<dtype> leaves;           ///< dtype of each leaf slot
  std::vector<scalar_value> scalars;   ///< run-time arguments: a changed value makes no new program
  std::vector<std::uint16_t> outputs;  ///< registers that are stored, one per output binding
};

/// What can go wrong while a program runs.
enum class failure : std::uint8_t {
  none,
  negative_power,  ///< an integer to a negative integer power
  outside,         ///< a gather beyond its leaf
};
/// How running the instruction can fail.
[[nodiscard]] constexpr failure failure_of(const instruction& i) {
  if (i.op == opcode::power && is_signed_integer(i.in)) return failure::negative_power;
  return i.op == opcode::gather && i.args[2] == 0 ? failure::outside : failure::none;
}
/// Throws value_error or index_error; nothing for `none`.
void report(failure what);

/// True when running the program can fail half-way.
[[nodiscard]] inline bool may_fail(const program& p) {
  return std::any_of(p.code.begin(), p.code.end(), [](const instruction& i) { return failure_of(i) != failure::none; });
}

/// The leaf slots that gathers read, each once.
[[nodiscard]] std::vector<std::uint16_t> gathered_leaves(const program& p);

/// What lies outside an array, beyond one face of one dimension of length N.
enum class boundary_kind : std::uint8_t {
  none,      ///< nothing: a load never goes there
  periodic,  ///< u(i) = u(i mod N)
  edge,      ///< u(−1) = u(0)
  value,     ///< a constant
};
struct face {
  boundary_kind kind = boundary_kind::none;
  scalar_value value{};  ///< of the leaf's dtype; meaningful for `value`
  friend bool operator==(const face&, const face&) = default;
};
struct faces {
  face low, high;
  friend bool operator==(const faces&, const faces&) = default;
};

/// The data behind a leaf slot. Leaf dimension d lines up with output dimension d + (output ndim − leaf ndim); a
/// leaf dimension of extent 1 is read at index 0 for every output index (broadcasting), before the offset is
/// added. An index inside `window` is read from `data` (a window may reach outside [0, extent): a periodic halo
/// that is already in place); any other index first goes through `boundary` and then lies inside `window`.
struct leaf_binding {
  const std::byte* data = nullptr;  ///< address of the element at window.lo
  dtype type = dtype::float64;
  shape extent;                 ///< the leaf's global shape
  box window;                   ///< the indices that `data` holds
  strides stride;               ///< bytes; may be negative or 0
  std::vector<faces> boundary;  ///< empty, or one per leaf dimension
};

/// What lies around the rows (along the last dimension) of a box that is written, up to the ends of the array's own
/// rows. It may be overwritten with the values that it has; nobody else writes there meanwhile.
struct rim {
  const std::byte* data = nullptr;  ///< has the same values: address of the element at the box's lo, of like strides
  std::int64_t before = 0, behind = 0;
  friend bool operator==(const rim&, const rim&) = default;
};

/// Where output k is stored.
struct output_binding {
  std::byte* data = nullptr;  ///< address of the element at the executed box's lo
  dtype type = dtype::float64;
  strides stride;  ///< bytes per dimension of the box; never 0 along an extent > 1
  rim around{};
};

/// A reduction of a program's one output over some of the box's dimensions. `type` is the output register's dtype,
/// which is also the accumulator's (the caller has cast).
struct reduction {
  reduce_kind kind = reduce_kind::sum;
  std::uint32_t axes = 0;  ///< bit d: dimension d is reduced
  dtype type = dtype::float64;
};

}  // namespace serried::inline v0
