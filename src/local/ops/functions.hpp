// One element of each operation, for host and device alike. NumPy's semantics; no undefined behavior for any input:
// - Integers wrap. Dividing by zero gives 0, and the smallest integer divided by −1 is itself.
// - float to integer truncates toward zero; NaN gives 0, and what is out of range the nearest bound.
// - Anything but zero, NaN included, is true.
// The 16-bit floating types do not appear here: engines widen them to float, which is exact, and round every result.
// Self-contained (no standard headers): this text is also compiled for devices.
#pragma once

#include "local/ops/complex.hpp"
#include "local/ops/half.hpp"
#include "local/ops/prelude.hpp"

// The C library's function of this name, for float and double.
#ifdef __CUDA_ARCH__
#define SERRIED_MATH(name, ...) ::name(__VA_ARGS__)
#define SERRIED_MATHF(name, ...) ::name##f(__VA_ARGS__)
#else
#define SERRIED_MATH(name, ...) __builtin_##name(__VA_ARGS__)
#define SERRIED_MATHF(name, ...) __builtin_##name##f(__VA_ARGS__)
#endif

namespace serried::inline v0::ops {

// ---- Arithmetic. Signed integers go through the unsigned type, whose overflow is defined.

template <class T>
SERRIED_HD inline T add(T a, T b) {
  if constexpr (is_same<T, bool>) return a || b;
  else if constexpr (integer<T>) return static_cast<T>(static_cast<unsigned_of<T>>(a) + static_cast<unsigned_of<T>>(b));
  else return a + b;
}
template <class T>
SERRIED_HD inline T subtract(T a, T b) {
  if constexpr (integer<T>) return static_cast<T>(static_cast<unsigned_of<T>>(a) - static_cast<unsigned_of<T>>(b));
  else return a - b;
}
template <class T>
SERRIED_HD inline T multiply(T a, T b) {
  if constexpr (is_same<T, bool>) return a && b;
  else if constexpr (integer<T>)  // by way of 32 bits: two promoted 16-bit numbers overflow int
    return static_cast<T>(
        static_cast<unsigned_of<T>>(1u * static_cast<unsigned_of<T>>(a) * static_cast<unsigned_of<T>>(b)));
  else return a * b;
}
template <class T>
SERRIED_HD inline T divide(T a, T b) {
  return a / b;
}
template <class T>
SERRIED_HD inline T negative(T a) {
  if constexpr (integer<T>) return static_cast<T>(0u - static_cast<unsigned_of<T>>(a));
  else return -a;
}

/// Remainder and floored quotient of floats as Python defines them: the remainder has the divisor's sign.
template <class T>
struct quotient_remainder {
  T quotient, remainder;
};
SERRIED_HD inline float c_fmod(float a, float b) { return SERRIED_MATHF(fmod, a, b); }
SERRIED_HD inline double c_fmod(double a, double b) { return SERRIED_MATH(fmod, a, b); }
SERRIED_HD inline float copysign(float a, float b) { return SERRIED_MATHF(copysign, a, b); }
SERRIED_HD inline double copysign(double a, double b) { return SERRIED_MATH(copysign, a, b); }
SERRIED_HD inline float floor(float a) { return SERRIED_MATHF(floor, a); }
SERRIED_HD inline double floor(double a) { return SERRIED_MATH(floor, a); }

template <class T>
SERRIED_HD inline quotient_remainder<T> divide_floored(T a, T b) {
  T remainder = c_fmod(a, b);
  if (b == T(0)) return {a / b, remainder};
  T quotient = (a - remainder) / b;  // an integer, but for rounding
  if (remainder == T(0)) {
    remainder = copysign(T(0), b);
  } else if ((b < T(0)) != (remainder < T(0))) {
    remainder += b;
    quotient -= T(1);
  }
  if (quotient == T(0)) return {copysign(T(0), a / b), remainder};
  T floored = floor(quotient);
  if (quotient - floored > T(0.5)) floored += T(1);
  return {floored, remainder};
}

template <class T>
SERRIED_HD inline T floor_divide(T a, T b) {
  if constexpr (integer<T>) {
    if (b == T(0)) return T(0);
    if constexpr (signed_integer<T>) {
      if (b == T(-1)) return negative(a);
      const T quotient = static_cast<T>(a / b);
      return static_cast<T>(quotient - T(a % b != 0 && (a < 0) != (b < 0)));
    } else {
      return static_cast<T>(a / b);
    }
  } else {
    return divide_floored(a, b).quotient;
  }
}
template <class T>
SERRIED_HD inline T remainder(T a, T b) {
  if constexpr (integer<T>) {
    if (b == T(0)) return T(0);
    if constexpr (signed_integer<T>) {
      if (b == T(-1)) return T(0);
      const T rest = static_cast<T>(a % b);
      return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    } else {
      return static_cast<T>(a % b);
    }
  } else {
    return divide_floored(a, b).remainder;
  }
}

SERRIED_HD inline float c_pow(float a, float b) { return SERRIED_MATHF(pow, a, b); }
SERRIED_HD inline double c_pow(double a, double b) { return SERRIED_MATH(pow, a, b); }
/// Integers: by squaring, wrapping. A negative exponent gives the reciprocal truncated to an integer (0 for base 0);
/// engines that can tell the caller throw value_error instead.
template <class T>
SERRIED_HD inline T power(T a, T b) {
  if constexpr (integer<T>) {
    if constexpr (signed_integer<T>) {
      if (b < T(0)) return static_cast<T>(a == T(1) ? 1 : a == T(-1) ? (b % 2 == 0 ? 1 : -1) : 0);
    }
    T result = T(1);
    T square = a;
    for (auto exponent = static_cast<unsigned_of<T>>(b); exponent != 0;) {
      if (exponent & 1u) result = multiply(result, square);
      square = multiply(square, square);
      exponent = static_cast<unsigned_of<T>>(exponent >> 1);
    }
    return result;
  } else {
    return c_pow(a, b);
  }
}

template <class T>
SERRIED_HD inline T reciprocal(T a) {
  if constexpr (integer<T>) return static_cast<T>(a == T(1) ? 1 : signed_integer<T> && a == T(-1) ? -1 : 0);
  else if constexpr (complex_number<T>) return inverse(a);
  else return T(1) / a;
}

SERRIED_HD inline float hypot(float a, float b) { return SERRIED_MATHF(hypot, a, b); }
SERRIED_HD inline double hypot(double a, double b) { return SERRIED_MATH(hypot, a, b); }
template <class T>
SERRIED_HD inline auto absolute(T a) {
  if constexpr (integer<T>) {
    if constexpr (signed_integer<T>) return a < T(0) ? negative(a) : a;
    else return a;
  } else if constexpr (is_same<T, float>) {
    return float_of(bits_of(a) & 0x7fffffffu);
  } else if constexpr (is_same<T, double>) {
    return double_of(bits_of(a) & 0x7fffffffffffffffu);
  } else if constexpr (is_same<T, bool>) {
    return a;
  } else {
    return hypot(a.re, a.im);  // does not overflow before the result does
  }
}
template <class T>
SERRIED_HD inline T sign(T a) {
  if constexpr (unsigned_integer<T>) return static_cast<T>(a != T(0));
  else if constexpr (integer<T>) return static_cast<T>((a > T(0)) - (a < T(0)));
  else return a > T(0) ? T(1) : a < T(0) ? T(-1) : a == T(0) ? T(0) : a;
}

// ---- Functions of the C library.

#define SERRIED_FUNCTION(name, c_name)                                       \
  SERRIED_HD inline float name(float a) { return SERRIED_MATHF(c_name, a); } \
  SERRIED_HD inline double name(double a) { return SERRIED_MATH(c_name, a); }
#define SERRIED_FUNCTION2(name, c_name)                                                  \
  SERRIED_HD inline float name(float a, float b) { return SERRIED_MATHF(c_name, a, b); } \
  SERRIED_HD inline double name(double a, double b) { return SERRIED_MATH(c_name, a, b); }
#ifdef __CUDA_ARCH__
// From this number on a device's functions reduce their argument in a long way. Called, not inlined, it takes little
// time to compile; the compiler sees that the other branch does not need it. The results are the same without.
#define SERRIED_PERIODIC(name)                                                      \
  __device__ __noinline__ inline float far_##name(float a) { return ::name##f(a); } \
  SERRIED_HD inline float name(float a) {                                           \
    if (::fabsf(a) >= 105615.0f) return far_##name(a);                              \
    return ::name##f(a);                                                            \
  }                                                                                 \
  SERRIED_HD inline double name(double a) { return ::name(a); }
#else
#define SERRIED_PERIODIC(name) SERRIED_FUNCTION(name, name)
#endif
SERRIED_FUNCTION(sqrt, sqrt)
SERRIED_FUNCTION(cbrt, cbrt)
SERRIED_FUNCTION(exp, exp)
SERRIED_FUNCTION(exp2, exp2)
SERRIED_FUNCTION(expm1, expm1)
SERRIED_FUNCTION(log, log)
SERRIED_FUNCTION(log2, log2)
SERRIED_FUNCTION(log10, log10)
SERRIED_FUNCTION(log1p, log1p)
SERRIED_PERIODIC(sin)
SERRIED_PERIODIC(cos)
SERRIED_PERIODIC(tan)
SERRIED_FUNCTION(arcsin, asin)
SERRIED_FUNCTION(arccos, acos)
SERRIED_FUNCTION(arctan, atan)
SERRIED_FUNCTION2(arctan2, atan2)
SERRIED_FUNCTION(sinh, sinh)
SERRIED_FUNCTION(cosh, cosh)
SERRIED_FUNCTION(tanh, tanh)
SERRIED_FUNCTION(arcsinh, asinh)
SERRIED_FUNCTION(arccosh, acosh)
SERRIED_FUNCTION(arctanh, atanh)
SERRIED_FUNCTION(ceil, ceil)
SERRIED_FUNCTION(trunc, trunc)
SERRIED_FUNCTION(rint, rint)
#undef SERRIED_FUNCTION
#undef SERRIED_FUNCTION2
#undef SERRIED_PERIODIC

// Integers are whole already.
template <class T>
  requires(integer<T> || is_same<T, bool>)
SERRIED_HD inline T floor(T a) {
  return a;
}
template <class T>
  requires(integer<T> || is_same<T, bool>)
SERRIED_HD inline T ceil(T a) {
  return a;
}
template <class T>
  requires(integer<T> || is_same<T, bool>)
SERRIED_HD inline T trunc(T a) {
  return a;
}

SERRIED_HD inline float fma(float a, float b, float c) { return SERRIED_MATHF(fma, a, b, c); }
SERRIED_HD inline double fma(double a, double b, double c) { return SERRIED_MATH(fma, a, b, c); }

// ---- Order and logic.

/// NaN if either is.
template <class T>
SERRIED_HD inline T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}
template <class T>
SERRIED_HD inline T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
SERRIED_HD inline bool equal(T a, T b) {
  return a == b;
}
template <class T>
SERRIED_HD inline T bitwise_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
SERRIED_HD inline T bitwise_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
SERRIED_HD inline T bitwise_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}

template <class T>
SERRIED_HD inline bool isinf(T a) {
  if constexpr (is_same<T, float>) return (bits_of(a) & 0x7fffffffu) == 0x7f800000u;
  else if constexpr (is_same<T, double>) return (bits_of(a) & 0x7fffffffffffffffu) == 0x7ff0000000000000u;
  else if constexpr (complex_number<T>) return isinf(a.re) || isinf(a.im);
  else return false;
}
template <class T>
SERRIED_HD inline bool isfinite(T a) {
  if constexpr (is_same<T, float>) return (bits_of(a) & 0x7fffffffu) < 0x7f800000u;
  else if constexpr (is_same<T, double>) return (bits_of(a) & 0x7fffffffffffffffu) < 0x7ff0000000000000u;
  else if constexpr (complex_number<T>) return isfinite(a.re) && isfinite(a.im);
  else return true;
}

template <class T>
SERRIED_HD inline auto real(T a) {
  if constexpr (complex_number<T>) return a.re;
  else return a;
}
template <class T>
SERRIED_HD inline auto imag(T a) {
  if constexpr (complex_number<T>) return a.im;
  else return T(0);
}
template <class T>
SERRIED_HD inline T conj(T a) {
  if constexpr (complex_number<T>) return {a.re, -a.im};
  else return a;
}

// ---- Conversion.

/// `value` as a To: the nearest, ties to even, where To is floating; see the top of this file for the rest.
template <class To, class From>
SERRIED_HD inline To convert(From value) {
  if constexpr (is_same<To, From>) {
    return value;
  } else if constexpr (is_same<From, half> || is_same<From, bfloat>) {
    return convert<To>(to_float(value));
  } else if constexpr (complex_number<From>) {
    if constexpr (complex_number<To>) return {convert<decltype(To::re)>(value.re), convert<decltype(To::re)>(value.im)};
    else if constexpr (is_same<To, bool>) return value.re != 0 || value.im != 0;
    else return convert<To>(value.re);
  } else if constexpr (complex_number<To>) {
    return {convert<decltype(To::re)>(value), 0};
  } else if constexpr (is_same<To, bool>) {
    return value != From(0);
  } else if constexpr (is_same<To, half>) {
    if constexpr (is_same<From, double>) return to_half(value);
    else return to_half(static_cast<float>(value));  // an integer that float rounds is beyond half's range anyway
  } else if constexpr (is_same<To, bfloat>) {
    if constexpr (is_same<From, float>) return to_bfloat(value);
    else return to_bfloat(static_cast<double>(value));
  } else if constexpr (integer<To> && (is_same<From, float> || is_same<From, double>)) {
    // Both bounds are exact in From: the smallest integer, and one past the largest.
    constexpr int bits = 8 * static_cast<int>(sizeof(To));
    constexpr From low = signed_integer<To> ? -static_cast<From>(u64{1} << (bits - 1)) : From(0);
    constexpr From high = From(2) * static_cast<From>(u64{1} << (signed_integer<To> ? bits - 2 : bits - 1));
    constexpr To largest =
        static_cast<To>(static_cast<unsigned_of<To>>(~unsigned_of<To>(0)) >> (signed_integer<To> ? 1 : 0));
    constexpr To smallest = static_cast<To>(~largest);
    const To inside = static_cast<To>(value >= low && value < high ? value : From(0));
    return value >= high ? largest : value < low ? smallest : inside;
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace serried::inline v0::ops
