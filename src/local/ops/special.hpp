// Functions that few programs use: a kernel's text includes them only if its program does.
// Self-contained (no standard headers): this text is also compiled for devices.
#pragma once

#include "local/ops/functions.hpp"

#ifndef __CUDA_ARCH__
extern "C" float lgammaf_r(float, int*) noexcept;
extern "C" double lgamma_r(double, int*) noexcept;
#endif

namespace serried::inline v0::ops::special {

/// C's remainder: it has the dividend's sign.
template <class T>
SERRIED_HD inline T fmod(T a, T b) {
  if constexpr (integer<T>) {
    if (b == T(0) || (signed_integer<T> && b == static_cast<T>(-1))) return T(0);
    return static_cast<T>(a % b);
  } else {
    return c_fmod(a, b);
  }
}
/// The other one if one is NaN.
template <class T>
SERRIED_HD inline T fmin(T a, T b) {
  return a < b || b != b ? a : b;
}
template <class T>
SERRIED_HD inline T fmax(T a, T b) {
  return a > b || b != b ? a : b;
}
template <class T>
SERRIED_HD inline T heaviside(T a, T b) {
  return a != a ? a : a == T(0) ? b : T(a > T(0));
}

// ---- Exponentials. Where both are the same infinity, their difference is not a number.

template <class T>
SERRIED_HD inline T logaddexp(T a, T b) {
  if (a == b) return a + T(0.693147180559945309417);
  const T difference = a - b;
  return maximum(a, b) + log1p(exp(-absolute(difference)));
}
template <class T>
SERRIED_HD inline T logaddexp2(T a, T b) {
  if (a == b) return a + T(1);
  const T difference = a - b;
  return maximum(a, b) + T(1.44269504088896340736) * log1p(exp2(-absolute(difference)));
}
template <class T>
SERRIED_HD inline T xlogy(T a, T b) {
  return a == T(0) && b == b ? T(0) : a * log(b);
}

SERRIED_HD inline float erf(float a) { return SERRIED_MATHF(erf, a); }
SERRIED_HD inline double erf(double a) { return SERRIED_MATH(erf, a); }
SERRIED_HD inline float erfc(float a) { return SERRIED_MATHF(erfc, a); }
SERRIED_HD inline double erfc(double a) { return SERRIED_MATH(erfc, a); }
SERRIED_HD inline float gamma(float a) { return SERRIED_MATHF(tgamma, a); }
SERRIED_HD inline double gamma(double a) { return SERRIED_MATH(tgamma, a); }
#ifdef __CUDA_ARCH__
SERRIED_HD inline float lgamma(float a) { return ::lgammaf(a); }
SERRIED_HD inline double lgamma(double a) { return ::lgamma(a); }
#else
// The C library's lgamma writes a variable that all threads share.
SERRIED_HD inline float lgamma(float a) {
  int sign = 0;
  return ::lgammaf_r(a, &sign);
}
SERRIED_HD inline double lgamma(double a) {
  int sign = 0;
  return ::lgamma_r(a, &sign);
}
#endif

// ---- The parts of floating numbers.

SERRIED_HD inline float frexp_mantissa(float a) {
  int exponent = 0;
  return SERRIED_MATHF(frexp, a, &exponent);
}
SERRIED_HD inline double frexp_mantissa(double a) {
  int exponent = 0;
  return SERRIED_MATH(frexp, a, &exponent);
}
SERRIED_HD inline i32 frexp_exponent(double a) {  // a float's is the same
  int exponent = 0;
  (void)SERRIED_MATH(frexp, a, &exponent);
  return isfinite(a) ? exponent : 0;
}
/// a · 2^b, b being an integer.
SERRIED_HD inline float ldexp(float a, float b) { return SERRIED_MATHF(ldexp, a, convert<i32>(b)); }
SERRIED_HD inline double ldexp(double a, double b) { return SERRIED_MATH(ldexp, a, convert<i32>(b)); }

/// The next number after a in b's direction. The bits of numbers of one sign are in the order of their magnitudes.
template <class T>
SERRIED_HD inline T nextafter(T a, T b) {
  using word = unsigned_of<T>;
  const auto x = convert<double>(a);
  const auto y = convert<double>(b);
  if (x != x) return a;
  if (y != y || x == y) return b;
  constexpr word one = 1;
  if (x == 0) return __builtin_bit_cast(T, static_cast<word>(y < 0 ? one | one << (8 * sizeof(T) - 1) : one));
  const word bits = __builtin_bit_cast(word, a);
  return __builtin_bit_cast(T, static_cast<word>((x < y) == (x > 0) ? bits + one : bits - one));
}

template <class T>
SERRIED_HD inline complex<T> complex_of(T re, T im) {
  return {re, im};
}

// ---- Integers.

/// By Euclid's algorithm on the magnitudes.
template <class T>
SERRIED_HD inline T gcd(T a, T b) {
  auto x = static_cast<unsigned_of<T>>(absolute(a));
  auto y = static_cast<unsigned_of<T>>(absolute(b));
  while (y != 0) {
    const auto rest = static_cast<unsigned_of<T>>(x % y);
    x = y;
    y = rest;
  }
  return static_cast<T>(x);
}
/// Wraps.
template <class T>
SERRIED_HD inline T lcm(T a, T b) {
  const auto x = static_cast<unsigned_of<T>>(absolute(a));
  const auto y = static_cast<unsigned_of<T>>(absolute(b));
  const auto divisor = static_cast<unsigned_of<T>>(gcd(a, b));
  return divisor == 0 ? T(0) : static_cast<T>(multiply(static_cast<unsigned_of<T>>(x / divisor), y));
}
/// A negative number of places is taken for more than there are.
template <class T>
SERRIED_HD inline T left_shift(T a, T places) {
  constexpr unsigned_of<T> bits = 8 * sizeof(T);
  const auto n = static_cast<unsigned_of<T>>(places);
  return n < bits ? static_cast<T>(static_cast<unsigned_of<T>>(a) << n) : T(0);
}
template <class T>
SERRIED_HD inline T right_shift(T a, T places) {
  constexpr unsigned_of<T> bits = 8 * sizeof(T);
  const auto n = static_cast<unsigned_of<T>>(places);
  return static_cast<T>(a >> (n < bits ? n : bits - 1) >> (n < bits ? 0 : 1));
}

}  // namespace serried::inline v0::ops::special
