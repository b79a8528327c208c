// Reductions. Each returns an expression with the reduction at its root, so that `sum(f(x))` is one kernel.
#pragma once

#include <serried/expr.hpp>

#include <initializer_list>
#include <optional>

namespace serried::inline v0 {

/// Which axes: `0`, `{0, 2}`, or `{}` for all. Negative ones count from the end.
class SERRIED_API axes {
 public:
  axes() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  axes(T axis) : all_(false), list_(axis) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  axes(std::initializer_list<T> list) : all_(false) {  // NOLINT(google-explicit-constructor)
    for (T a : list) list_.push_back(static_cast<std::int64_t>(a));
  }
  explicit axes(const dims& list) : all_(false), list_(list) {}

  /// Bit d set: dimension d of `ndim` is meant. Throws index_error outside it, value_error on a repetition, naming
  /// `operation`.
  [[nodiscard]] std::uint32_t mask(int ndim, const char* operation) const;

  [[nodiscard]] bool all() const noexcept { return all_; }
  [[nodiscard]] const dims& list() const noexcept { return list_; }  ///< as given

 private:
  bool all_ = true;
  dims list_;
};

struct reduce_options {
  axes axis = {};                            ///< reduced axes; {}: all
  std::optional<serried::dtype> dtype = {};  ///< converted to this first, and the result's dtype
  bool keepdims = false;                     ///< reduced axes stay, with length 1
};

namespace detail {
template <class Array>
SERRIED_API basic_expr<Array> make_reduction(reduce_kind kind, const basic_expr<Array>& e,
                                             const reduce_options& options);
}  // namespace detail

/// Sums over the axes. Integers and bools accumulate in 64 bits (wrapping). Floating and complex sums are the same
/// bits for every thread count, block size, rank count and layout (binned summation, Demmel and Nguyen 2015; Ahrens,
/// Demmel and Nguyen 2020). Empty: 0.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> sum(const T& e, const reduce_options& options = {}) {
  return detail::make_reduction<array_of<T>>(reduce_kind::sum, expr_of<T>(e), options);
}
/// Products over the axes, accumulated as for sum; floating products are rounded in an order that may depend on the
/// number of ranks. Empty: 1.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> prod(const T& e, const reduce_options& options = {}) {
  return detail::make_reduction<array_of<T>>(reduce_kind::prod, expr_of<T>(e), options);
}
/// Minima over the axes; NaN wins. Throws value_error when a reduced axis is empty,
/// dtype_error for complex numbers.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> min(const T& e, const reduce_options& options = {}) {
  return detail::make_reduction<array_of<T>>(reduce_kind::min, expr_of<T>(e), options);
}
/// Maxima, as min.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> max(const T& e, const reduce_options& options = {}) {
  return detail::make_reduction<array_of<T>>(reduce_kind::max, expr_of<T>(e), options);
}

}  // namespace serried::inline v0
