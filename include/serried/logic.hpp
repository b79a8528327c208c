// Comparison of whole arrays, and a choice between several.
#pragma once

#include <serried/array.hpp>
#include <serried/elementwise.hpp>
#include <serried/error.hpp>
#include <serried/reduce.hpp>

#include <cmath>
#include <complex>
#include <vector>

namespace serried::inline v0 {

namespace detail {

/// An operand as a floating or complex number; a C++ number in double precision.
template <class T>
auto inexact(const T& x) {
  if constexpr (!element<T>) {
    const expr_of<T> e(x);
    return e.astype(scalar(1.0).beside(e.dtype()));
  } else if constexpr (dtype_of<T> == dtype::float16 || dtype_of<T> == dtype::bfloat16) {
    return static_cast<double>(static_cast<float>(x));
  } else if constexpr (is_complex(dtype_of<T>)) {
    return std::complex<double>(x);
  } else {
    return static_cast<double>(x);
  }
}
template <class T>
auto is_finite(const T& x) {
  if constexpr (element<T>) return std::isfinite(std::abs(x));
  else return isfinite(x);
}
template <class T>
auto is_nan(const T& x) {
  if constexpr (element<T>) return x != x;
  else return isnan(x);
}

template <class Array>
bool all_true(const basic_expr<Array>& e) {
  return prod(e, {.dtype = dtype::bool_}).template item<bool>();
}

template <class A, class B>
concept comparable =
    operands<A, B> && !std::same_as<std::remove_cvref_t<A>, scalar> && !std::same_as<std::remove_cvref_t<B>, scalar>;

}  // namespace detail

struct isclose_options {
  double rtol = 1e-5;      ///< relative to the second operand
  double atol = 1e-8;      ///< absolute
  bool equal_nan = false;  ///< NaN is close to NaN
};
/// |a − b| ≤ atol + rtol · |b| where b is finite, else a = b; element by element. Throws shape_error.
template <class A, class B>
  requires detail::comparable<A, B>
[[nodiscard]] expr_of<A, B> isclose(const A& a, const B& b, const isclose_options& options = {}) {
  using std::abs;  // of a number
  const auto y = detail::inexact(b);
  const expr_of<A, B> near = absolute(a - y) <= options.atol + options.rtol * abs(y);
  const expr_of<A, B> close = (near & detail::is_finite(y)) | (a == y);
  return options.equal_nan ? close | (detail::is_nan(a) & detail::is_nan(y)) : close;
}
/// Whether all elements are close, as isclose has it. Throws shape_error.
template <class A, class B>
  requires detail::comparable<A, B>
[[nodiscard]] bool allclose(const A& a, const B& b, const isclose_options& options = {}) {
  return detail::all_true(isclose(a, b, options));
}

struct array_equal_options {
  bool equal_nan = false;  ///< NaN equals NaN
};
/// Whether two arrays have the same shape and equal elements.
template <class A, class B>
  requires operands<A> && operands<B> && operands<A, B>
[[nodiscard]] bool array_equal(const A& a, const B& b, const array_equal_options& options = {}) {
  if (a.shape() != b.shape()) return false;
  return detail::all_true(options.equal_nan ? (a == b) | (isnan(a) & isnan(b)) : a == b);
}
/// Whether two arrays have equal elements where they broadcast together, which they do.
template <class A, class B>
  requires operands<A> && operands<B> && operands<A, B>
[[nodiscard]] bool array_equiv(const A& a, const B& b) {
  try {
    (void)broadcast_shapes(a.shape(), b.shape());
  } catch (const shape_error&) {
    return false;
  }
  return detail::all_true(a == b);
}

/// Element by element the choice of the first condition that holds, else `otherwise`; all broadcast together. The dtype
/// is the choices' common one. Throws value_error unless there are as many choices as conditions, at least one,
/// dtype_error for conditions that are not bool, shape_error.
[[nodiscard]] SERRIED_API expr select(const std::vector<expr>& conditions, const std::vector<expr>& choices,
                                      const scalar& otherwise = 0);

}  // namespace serried::inline v0
