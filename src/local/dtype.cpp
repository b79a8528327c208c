#include <serried/dtype.hpp>

#include <ostream>

#include "local/ops/half.hpp"

#include <array>

namespace serried::inline v0 {
namespace {

constexpr std::array<std::string_view, dtype_count> names = {
    "bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",    "uint32",
    "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
constexpr std::array<std::size_t, dtype_count> sizes = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

constexpr std::size_t position(dtype t) { return static_cast<std::size_t>(t); }
constexpr dtype signed_of(std::size_t bytes) {
  return static_cast<dtype>(static_cast<int>(dtype::int8) + std::countr_zero(bytes));
}

/// The smallest floating type that keeps every value of an integer type (float64 for 64 bits, as NumPy has it).
constexpr dtype floating_for(dtype integer, dtype at_least) {
  switch (sizes[position(integer)]) {
    case 1: return at_least;
    case 2: return at_least == dtype::float64 ? dtype::float64 : dtype::float32;
    default: return dtype::float64;
  }
}

dtype promote_ordered(dtype low, dtype high) {  // low < high in the enumeration
  if (is_bool(low)) return high;
  if (is_integer(high)) {
    if (is_signed_integer(high) || is_unsigned_integer(low)) return high;  // both signed or both unsigned
    const std::size_t bytes = sizes[position(high)];                       // signed low, unsigned high
    if (sizes[position(low)] > bytes) return low;
    return bytes == 8 ? dtype::float64 : signed_of(2 * bytes);
  }
  if (is_floating(high)) {
    if (is_integer(low)) return floating_for(low, high);
    if (low == dtype::float16 && high == dtype::bfloat16) return dtype::float32;
    return high;
  }
  const bool wide = high == dtype::complex128 || low == dtype::float64 || (is_integer(low) && sizes[position(low)] > 2);
  return wide ? dtype::complex128 : dtype::complex64;
}

}  // namespace

float16_t::float16_t(float value) : bits(ops::to_half(value).bits) {}
float16_t::operator float() const { return ops::to_float(ops::half{bits}); }
bfloat16_t::bfloat16_t(float value) : bits(ops::to_bfloat(value).bits) {}
bfloat16_t::operator float() const { return ops::to_float(ops::bfloat{bits}); }

std::size_t item_size(dtype type) { return sizes[position(type)]; }
std::string_view name(dtype type) { return names[position(type)]; }

dtype promote(dtype a, dtype b) {
  if (a == b) return a;
  return a < b ? promote_ordered(a, b) : promote_ordered(b, a);
}

std::ostream& operator<<(std::ostream& out, dtype type) { return out << name(type); }

bool can_cast_safely(dtype from, dtype to) { return promote(from, to) == to; }

}  // namespace serried::inline v0
