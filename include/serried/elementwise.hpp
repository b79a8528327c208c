// Element-wise functions and operators: one function per row of the operation table, NumPy's name and semantics.
#pragma once

#include <serried/expr.hpp>

#include <utility>

namespace serried::inline v0 {

namespace detail {
template <class Array>
SERRIED_API basic_expr<Array> make_invert(const basic_expr<Array>& e);

/// The dtype in which NumPy evaluates a function of real numbers. Throws dtype_error, naming it, for complex ones.
SERRIED_API dtype function_dtype(const char* function, dtype t);
SERRIED_API double largest_number(dtype floating);  ///< that is finite
/// Whether an integer is too small, or too large, for an integer dtype.
SERRIED_API bool is_below(const scalar& number, dtype t);
SERRIED_API bool is_above(const scalar& number, dtype t);

template <opcode Op, class... T>
concept fits = operands<T...> && sizeof...(T) == static_cast<std::size_t>(argument_count(Op));
}  // namespace detail

// Each takes arrays, expressions, bounded arrays and (all but one operand) C++ numbers, which broadcast together. They
// throw shape_error and dtype_error, naming the operation, and value_error for an integer that does not fit the arrays'
// dtype. erf, erfc, gamma, lgamma and xlogy are SciPy's; frexp_mantissa and frexp_exponent are the parts of frexp, and
// complex_of(re, im) is the complex number with these.
#define SERRIED_OPERATION(name, count, rule, expression)                \
  template <class... T>                                                 \
    requires detail::fits<opcode::name, T...>                           \
  [[nodiscard]] expr_of<T...> name(T&&... values) {                     \
    return detail::operation(opcode::name, std::forward<T>(values)...); \
  }
#include <serried/detail/operations.inc>
#undef SERRIED_OPERATION

#define SERRIED_BINARY_OPERATOR(symbol, name)                                       \
  template <class A, class B>                                                       \
    requires operands<A, B>                                                         \
  [[nodiscard]] expr_of<A, B> operator symbol(A&& a, B&& b) {                       \
    return detail::operation(opcode::name, std::forward<A>(a), std::forward<B>(b)); \
  }
SERRIED_BINARY_OPERATOR(+, add)
SERRIED_BINARY_OPERATOR(-, subtract)
SERRIED_BINARY_OPERATOR(*, multiply)
SERRIED_BINARY_OPERATOR(/, divide)
SERRIED_BINARY_OPERATOR(%, remainder)
SERRIED_BINARY_OPERATOR(==, equal)
SERRIED_BINARY_OPERATOR(!=, not_equal)
SERRIED_BINARY_OPERATOR(<, less)
SERRIED_BINARY_OPERATOR(<=, less_equal)
SERRIED_BINARY_OPERATOR(>, greater)
SERRIED_BINARY_OPERATOR(>=, greater_equal)
SERRIED_BINARY_OPERATOR(&, bitwise_and)
SERRIED_BINARY_OPERATOR(|, bitwise_or)
SERRIED_BINARY_OPERATOR(^, bitwise_xor)
SERRIED_BINARY_OPERATOR(<<, left_shift)
SERRIED_BINARY_OPERATOR(>>, right_shift)
SERRIED_BINARY_OPERATOR(&&, logical_and)
SERRIED_BINARY_OPERATOR(||, logical_or)
#undef SERRIED_BINARY_OPERATOR

template <class A>
  requires operands<A>
[[nodiscard]] expr_of<A> operator-(A&& a) {
  return detail::operation(opcode::negative, std::forward<A>(a));
}
template <class A>
  requires operands<A>
[[nodiscard]] expr_of<A> operator!(A&& a) {
  return detail::operation(opcode::logical_not, std::forward<A>(a));
}

/// All bits turned over; `!` of a bool array.
template <class A>
  requires operands<A>
[[nodiscard]] expr_of<A> operator~(const A& a) {
  return detail::make_invert(expr_of<A>(a));
}

// In place: written through to whoever shares the data. The dtype stays (NumPy's same_kind rule).
#define SERRIED_UPDATE_OPERATOR(symbol)                        \
  template <class A, class T>                                  \
    requires operands<A, T> && std::same_as<A, array_of<A>>    \
  inline const A& operator symbol##=(const A& a, const T& b) { \
    assign(a, a symbol b);                                     \
    return a;                                                  \
  }
SERRIED_UPDATE_OPERATOR(+)
SERRIED_UPDATE_OPERATOR(-)
SERRIED_UPDATE_OPERATOR(*)
SERRIED_UPDATE_OPERATOR(/)
SERRIED_UPDATE_OPERATOR(%)
SERRIED_UPDATE_OPERATOR(&)
SERRIED_UPDATE_OPERATOR(|)
SERRIED_UPDATE_OPERATOR(^)
SERRIED_UPDATE_OPERATOR(<<)
SERRIED_UPDATE_OPERATOR(>>)
#undef SERRIED_UPDATE_OPERATOR

// ---- Other names that NumPy and SciPy have for some of these.

#define SERRIED_UNARY_ALIAS(alias, name)  \
  template <class T>                      \
    requires operands<T>                  \
  [[nodiscard]] expr_of<T> alias(T&& a) { \
    return name(std::forward<T>(a));      \
  }
#define SERRIED_BINARY_ALIAS(alias, name)                \
  template <class A, class B>                            \
    requires operands<A, B>                              \
  [[nodiscard]] expr_of<A, B> alias(A&& a, B&& b) {      \
    return name(std::forward<A>(a), std::forward<B>(b)); \
  }
SERRIED_UNARY_ALIAS(abs, absolute)
SERRIED_UNARY_ALIAS(acos, arccos)
SERRIED_UNARY_ALIAS(acosh, arccosh)
SERRIED_UNARY_ALIAS(asin, arcsin)
SERRIED_UNARY_ALIAS(asinh, arcsinh)
SERRIED_UNARY_ALIAS(atan, arctan)
SERRIED_UNARY_ALIAS(atanh, arctanh)
SERRIED_UNARY_ALIAS(conjugate, conj)
SERRIED_UNARY_ALIAS(fix, trunc)
SERRIED_UNARY_ALIAS(gammaln, lgamma)
SERRIED_UNARY_ALIAS(invert, operator~)
SERRIED_UNARY_ALIAS(bitwise_invert, operator~)
SERRIED_UNARY_ALIAS(bitwise_not, operator~)
SERRIED_BINARY_ALIAS(atan2, arctan2)
SERRIED_BINARY_ALIAS(bitwise_left_shift, left_shift)
SERRIED_BINARY_ALIAS(bitwise_right_shift, right_shift)
SERRIED_BINARY_ALIAS(mod, remainder)
SERRIED_BINARY_ALIAS(pow, power)
SERRIED_BINARY_ALIAS(true_divide, divide)
#undef SERRIED_UNARY_ALIAS
#undef SERRIED_BINARY_ALIAS

}  // namespace serried::inline v0
