// Element-wise functions and operators: one function per row of the operation table, NumPy's name and semantics.
#pragma once

#include <serried/expr.hpp>

#include <utility>

namespace serried::inline v0 {

namespace detail {
template <class Array>
SERRIED_API basic_expr<Array> make_invert(const basic_expr<Array>& e);

template <opcode Op, class... T>
concept fits = operands<T...> && sizeof...(T) == static_cast<std::size_t>(argument_count(Op));
}  // namespace detail

// Each takes arrays, expressions, bounded arrays and (all but one operand) C++ numbers, which broadcast together. They
// throw shape_error and dtype_error, naming the operation, and value_error for an integer that does not fit the arrays'
// dtype.
#define SERRIED_OPERATION(name, count, rule, expression)                \
  template <class... T>                                                 \
    requires detail::fits<opcode::name, T...>                           \
  [[nodiscard]] expr_of<T...> name(T&&... values) {                     \
    return detail::operation(opcode::name, std::forward<T>(values)...); \
  }
#include <serried/detail/operations.inc>
#undef SERRIED_OPERATION

/// NumPy's short name of `absolute`.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> abs(T&& a) {
  return detail::operation(opcode::absolute, std::forward<T>(a));
}

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
/// NumPy's short name of `power`.
template <class A, class B>
  requires operands<A, B>
[[nodiscard]] expr_of<A, B> pow(A&& a, B&& b) {
  return detail::operation(opcode::power, std::forward<A>(a), std::forward<B>(b));
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
#undef SERRIED_UPDATE_OPERATOR

}  // namespace serried::inline v0
