// Element-wise functions composed of those of the operation table: lazy like them, and one kernel with what is around
// them. NumPy's and SciPy's names, values and dtypes.
#pragma once

#include <serried/elementwise.hpp>
#include <serried/error.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

namespace serried::inline v0 {

namespace detail {

/// f(x) of real numbers: integers become floating numbers as for sin, and 16-bit ones are rounded once, at the end.
template <class T, class F>
expr_of<T> real_function(const char* function, const T& x, const F& f) {
  const expr_of<T> e(x);
  const dtype t = function_dtype(function, e.dtype());
  const bool narrow = item_size(t) == 2;
  return f(e.astype(narrow ? dtype::float32 : t)).astype(t);
}

/// An operand of float_power: an array in double precision at least, or a number.
template <class T>
auto in_double(const T& x) {
  if constexpr (scalar_operand<T>) {
    return scalar(x);
  } else {
    const expr_of<T> e(x);
    return e.astype(promote(e.dtype(), dtype::float64));
  }
}

}  // namespace detail

/// The operand itself. Throws dtype_error for bool.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> positive(const T& a) {
  const expr_of<T> e(a);
  if (is_bool(e.dtype())) throw dtype_error("positive(bool): not defined for bool");
  return e;
}
/// The magnitude as a floating number. Throws dtype_error for complex numbers.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> fabs(const T& x) {
  return detail::real_function("fabs", x, [](const auto& e) { return absolute(e); });
}
/// power in double precision at least. Throws as it does.
template <class A, class B>
  requires operands<A, B>
[[nodiscard]] expr_of<A, B> float_power(const A& a, const B& b) {
  return power(detail::in_double(a), detail::in_double(b));
}

// ---- Pairs of expressions: `auto [quotient, rest] = divmod(a, b)`.

/// floor_divide and remainder.
template <class A, class B>
  requires operands<A, B>
[[nodiscard]] std::pair<expr_of<A, B>, expr_of<A, B>> divmod(const A& a, const B& b) {
  return {floor_divide(a, b), remainder(a, b)};
}
/// Mantissa in [0.5, 1) and binary exponent (int32): x = mantissa · 2^exponent.
template <class T>
  requires operands<T>
[[nodiscard]] std::pair<expr_of<T>, expr_of<T>> frexp(const T& x) {
  return {frexp_mantissa(x), frexp_exponent(x)};
}
/// Fractional and integral part, both of x's sign. Throws dtype_error for complex numbers.
template <class T>
  requires operands<T>
[[nodiscard]] std::pair<expr_of<T>, expr_of<T>> modf(const T& x) {
  const expr_of<T> given(x);
  const expr_of<T> e = given.astype(detail::function_dtype("modf", given.dtype()));
  const expr_of<T> integral = trunc(e);
  return {copysign(where(isinf(e), 0, e - integral), e), integral};
}

// ---- Angles. All throw dtype_error for complex numbers, but for `angle`.

/// Radians to degrees.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> degrees(const T& x) {
  return detail::real_function("degrees", x, [](const auto& e) { return e * (180 / std::numbers::pi); });
}
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> rad2deg(const T& x) {
  return degrees(x);
}
/// Degrees to radians.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> radians(const T& x) {
  return detail::real_function("radians", x, [](const auto& e) { return e * (std::numbers::pi / 180); });
}
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> deg2rad(const T& x) {
  return radians(x);
}

struct angle_options {
  bool deg = false;  ///< in degrees
};
/// The argument of complex numbers, in (−π, π]; of real ones 0 or π.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> angle(const T& z, const angle_options& options = {}) {
  const expr_of<T> e(z);
  const expr_of<T> a = is_complex(e.dtype()) ? arctan2(imag(e), real(e)) : arctan2(0, e);
  return options.deg ? a * (180 / std::numbers::pi) : a;
}

// ---- Functions with a formula.

/// sin(πx) / πx, at 0 its limit 1.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> sinc(const T& x) {
  const expr_of<T> y = std::numbers::pi * x;
  const expr_of<T> divisor = where(y, y, y.dtype() == dtype::float16 ? 0x1p-14 : 1e-20);
  return sin(divisor) / divisor;
}
/// The logistic function 1 / (1 + e^−x). Throws dtype_error for complex numbers.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> expit(const T& x) {
  return detail::real_function("expit", x, [](const auto& e) {
    const auto small = exp(-absolute(e));
    return where(e >= 0, 1, small) / (1 + small);
  });
}
/// The inverse of expit: log(p / (1 − p)). Throws dtype_error for complex numbers.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> logit(const T& p) {
  return detail::real_function("logit", p, [](const auto& e) {  // close to 1/2 the logarithm would cancel
    return where((e >= 0.25) & (e <= 0.75), 2 * arctanh(2 * e - 1), log(e / (1 - e)));
  });
}

// ---- Rounding and limits.

/// To so many decimals (negative: to tens, hundreds, …), halves to even; integers stay integers. Throws dtype_error for
/// bool to other than 0 decimals.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> round(const T& x, std::int64_t decimals = 0) {
  const expr_of<T> e(x);
  const dtype t = e.dtype();
  if (is_complex(t)) return complex_of(round(real(e), decimals), round(imag(e), decimals));
  if (is_integer(t) && decimals >= 0) return e;
  if (decimals == 0) return rint(e);
  if (is_bool(t)) throw dtype_error("round(bool): only to 0 decimals; astype converts");
  const double scale = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  const expr_of<T> result = decimals < 0 ? rint(e / scale) * scale : rint(e * scale) / scale;
  return is_integer(t) ? result.astype(t) : result;
}
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> around(const T& x, std::int64_t decimals = 0) {
  return round(x, decimals);
}

/// Values below `low` become it, those above `high` that; `std::nullopt` stands for no limit. NaN stays, and integers
/// outside the range of an integer array are no limit.
template <class A, class Low, class High>
  requires operands<A>
[[nodiscard]] auto clip(const A& a, const Low& low, const High& high) {
  const auto from_below = [&] {
    if constexpr (std::same_as<Low, std::nullopt_t>) {
      return expr_of<A>(a);
    } else {
      if constexpr (scalar_operand<Low>)
        if (const expr_of<A> e(a); detail::is_below(low, e.dtype())) return e;
      return expr_of<A, Low>(maximum(a, low));
    }
  }();
  if constexpr (std::same_as<High, std::nullopt_t>) {
    return from_below;
  } else {
    if constexpr (scalar_operand<High>)
      if (detail::is_above(high, from_below.dtype())) return from_below;
    return expr_of<A, High>(minimum(from_below, high));
  }
}

struct nan_to_num_options {
  double nan = 0;
  std::optional<double> posinf = {};  ///< default: the dtype's largest number
  std::optional<double> neginf = {};  ///< default: its negative
};
/// Numbers in place of NaN and infinities, in both parts of complex numbers.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> nan_to_num(const T& x, const nan_to_num_options& options = {}) {
  const expr_of<T> e(x);
  const dtype t = e.dtype();
  if (is_complex(t)) return complex_of(nan_to_num(real(e), options), nan_to_num(imag(e), options));
  if (!is_floating(t)) return e;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double largest = detail::largest_number(t);
  return where(
      isnan(e), options.nan,
      where(e == inf, options.posinf.value_or(largest), where(e == -inf, options.neginf.value_or(-largest), e)));
}

/// From each number to the next one away from 0, with its sign; in float16, as in NumPy, to the next larger one.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> spacing(const T& x) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const expr_of<T> given(x);
  const expr_of<T> e = given.astype(detail::function_dtype("spacing", given.dtype()));
  const auto downwards = e.dtype() == dtype::float16 ? e == -inf : e < 0;
  return nextafter(e, where(downwards, -inf, inf).astype(e.dtype())) - e;
}

// ---- Classification.

/// True where the sign bit is set, that of −0 and NaN included. Throws dtype_error for complex numbers.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> signbit(const T& x) {
  return copysign(1, x) < 0;
}
/// Throws dtype_error for complex numbers.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> isposinf(const T& x) {
  (void)detail::function_dtype("isposinf", expr_of<T>(x).dtype());
  return x == std::numeric_limits<double>::infinity();
}
/// Throws dtype_error for complex numbers.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> isneginf(const T& x) {
  (void)detail::function_dtype("isneginf", expr_of<T>(x).dtype());
  return x == -std::numeric_limits<double>::infinity();
}
/// True where the imaginary part is 0.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> isreal(const T& x) {
  return imag(x) == 0;
}
/// True where the imaginary part is not 0.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> iscomplex(const T& x) {
  return imag(x) != 0;
}

}  // namespace serried::inline v0
