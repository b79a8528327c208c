// Element types: known at run time, promoted as NumPy 2 does (NEP 50).
#pragma once

#include <serried/export.hpp>

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

namespace serried::inline v0 {

enum class dtype : std::uint8_t {
  bool_,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128,
};

inline constexpr int dtype_count = 15;

inline constexpr dtype bool_ = dtype::bool_;
inline constexpr dtype int8 = dtype::int8;
inline constexpr dtype int16 = dtype::int16;
inline constexpr dtype int32 = dtype::int32;
inline constexpr dtype int64 = dtype::int64;
inline constexpr dtype uint8 = dtype::uint8;
inline constexpr dtype uint16 = dtype::uint16;
inline constexpr dtype uint32 = dtype::uint32;
inline constexpr dtype uint64 = dtype::uint64;
inline constexpr dtype float16 = dtype::float16;
inline constexpr dtype bfloat16 = dtype::bfloat16;
inline constexpr dtype float32 = dtype::float32;
inline constexpr dtype float64 = dtype::float64;
inline constexpr dtype complex64 = dtype::complex64;
inline constexpr dtype complex128 = dtype::complex128;

/// One IEEE 754 half-precision number, as stored. Converting from float rounds to nearest even.
struct SERRIED_API float16_t {
  std::uint16_t bits = 0;

  float16_t() = default;
  explicit float16_t(float value);
  explicit operator float() const;
  static constexpr float16_t from_bits(std::uint16_t bits) {
    float16_t h;
    h.bits = bits;
    return h;
  }
};

/// One bfloat16 number (the upper half of a float32), as stored. Converting from float rounds to nearest even.
struct SERRIED_API bfloat16_t {
  std::uint16_t bits = 0;

  bfloat16_t() = default;
  explicit bfloat16_t(float value);
  explicit operator float() const;
  static constexpr bfloat16_t from_bits(std::uint16_t bits) {
    bfloat16_t h;
    h.bits = bits;
    return h;
  }
};

/// Bytes of one element.
[[nodiscard]] SERRIED_API std::size_t item_size(dtype type);
/// NumPy's name: "bool", "int8", …, "complex128"; "bfloat16" as ml_dtypes has it.
[[nodiscard]] SERRIED_API std::string_view name(dtype type);
SERRIED_API std::ostream& operator<<(std::ostream& out, dtype type);

[[nodiscard]] constexpr bool is_bool(dtype t) { return t == dtype::bool_; }
[[nodiscard]] constexpr bool is_signed_integer(dtype t) { return t >= dtype::int8 && t <= dtype::int64; }
[[nodiscard]] constexpr bool is_unsigned_integer(dtype t) { return t >= dtype::uint8 && t <= dtype::uint64; }
[[nodiscard]] constexpr bool is_integer(dtype t) { return t >= dtype::int8 && t <= dtype::uint64; }
[[nodiscard]] constexpr bool is_floating(dtype t) { return t >= dtype::float16 && t <= dtype::float64; }
[[nodiscard]] constexpr bool is_complex(dtype t) { return t >= dtype::complex64; }
/// The dtype of a complex dtype's real and imaginary parts; other dtypes are their own.
[[nodiscard]] constexpr dtype component_of(dtype t) {
  return t == dtype::complex64 ? dtype::float32 : t == dtype::complex128 ? dtype::float64 : t;
}

/// The dtype that holds both (NumPy 2's promotion; bfloat16 stands beside float16: the two together give float32).
[[nodiscard]] SERRIED_API dtype promote(dtype a, dtype b);
/// NumPy's casting="safe": every value of `from` is kept in `to`.
[[nodiscard]] SERRIED_API bool can_cast_safely(dtype from, dtype to);

/// The dtype of a C++ element type: `dtype_of<float> == sr::float32`. Not defined for other types.
template <class T>
inline constexpr dtype dtype_of = [] {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>) return dtype::bool_;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U>)
    return static_cast<dtype>(static_cast<int>(dtype::int8) + std::countr_zero(sizeof(U)));
  else if constexpr (std::is_integral_v<U>)
    return static_cast<dtype>(static_cast<int>(dtype::uint8) + std::countr_zero(sizeof(U)));
  else if constexpr (std::is_same_v<U, float16_t>) return dtype::float16;
  else if constexpr (std::is_same_v<U, bfloat16_t>) return dtype::bfloat16;
  else if constexpr (std::is_same_v<U, float>) return dtype::float32;
  else if constexpr (std::is_same_v<U, double>) return dtype::float64;
  else if constexpr (std::is_same_v<U, std::complex<float>>) return dtype::complex64;
  else {
    static_assert(std::is_same_v<U, std::complex<double>>, "serried: not an element type");
    return dtype::complex128;
  }
}();

/// True for the C++ types that `dtype_of` maps.
template <class T>
concept element = std::is_integral_v<T> || std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t> ||
                  std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>;

/// Calls `f.template operator()<T>()` with the C++ type of `type` and returns what it returns.
template <class F>
decltype(auto) visit_dtype(dtype type, F&& f) {
  switch (type) {
    case dtype::bool_: return f.template operator()<bool>();
    case dtype::int8: return f.template operator()<std::int8_t>();
    case dtype::int16: return f.template operator()<std::int16_t>();
    case dtype::int32: return f.template operator()<std::int32_t>();
    case dtype::int64: return f.template operator()<std::int64_t>();
    case dtype::uint8: return f.template operator()<std::uint8_t>();
    case dtype::uint16: return f.template operator()<std::uint16_t>();
    case dtype::uint32: return f.template operator()<std::uint32_t>();
    case dtype::uint64: return f.template operator()<std::uint64_t>();
    case dtype::float16: return f.template operator()<float16_t>();
    case dtype::bfloat16: return f.template operator()<bfloat16_t>();
    case dtype::float32: return f.template operator()<float>();
    case dtype::float64: return f.template operator()<double>();
    case dtype::complex64: return f.template operator()<std::complex<float>>();
    case dtype::complex128: break;
  }
  return f.template operator()<std::complex<double>>();
}

}  // namespace serried::inline v0
