// Arrays that continue beyond their faces, and reading neighbors: the two halves of a stencil.
#pragma once

#include <serried/expr.hpp>

#include <initializer_list>
#include <vector>

namespace serried::inline v0 {

/// What a read beyond one face of a dimension of length n gives.
class boundary {
 public:
  enum class kind : std::uint8_t { periodic, edge, value };

  constexpr explicit boundary(kind k) : kind_(k) {}
  boundary(kind k, const scalar& v) : kind_(k), value_(v) {}

  [[nodiscard]] kind type() const noexcept { return kind_; }
  [[nodiscard]] const scalar& constant() const noexcept { return value_; }

 private:
  kind kind_;
  scalar value_ = false;
};

inline constexpr boundary periodic{boundary::kind::periodic};  ///< u(i) = u(i mod n)
inline constexpr boundary edge{boundary::kind::edge};          ///< u(−1) = u(0), u(n) = u(n−1)
/// The constant v, converted to the array's dtype.
[[nodiscard]] inline boundary value(const scalar& v) { return {boundary::kind::value, v}; }

/// Both faces of one dimension. One boundary stands for both; periodic goes with periodic only (value_error).
struct boundary_pair {
  boundary low;
  boundary high;

  boundary_pair(const boundary& both) : low(both), high(both) {}  // NOLINT(google-explicit-constructor)
  boundary_pair(const boundary& l, const boundary& h) : low(l), high(h) {}
};

/// An array and what lies beyond it. A view: it follows writes to the array, not a rebinding of its name.
template <class Array>
class bounded : public operand {
 public:
  bounded(const Array& a, std::vector<boundary_pair> pairs) : array_(a), pairs_(std::move(pairs)) {}
  [[nodiscard]] const Array& base() const noexcept { return array_; }
  [[nodiscard]] const std::vector<boundary_pair>& pairs() const noexcept { return pairs_; }

 private:
  Array array_;
  std::vector<boundary_pair> pairs_;
};

namespace detail {
template <class Array>
SERRIED_API bounded<Array> make_bounded(const basic_expr<Array>& e, std::vector<boundary_pair> pairs);
template <class Array>
SERRIED_API basic_expr<Array> make_at(basic_expr<Array> e, const dims& offset);
template <class Array>
SERRIED_API basic_expr<Array> make_index(const basic_expr<Array>& like, int axis);
template <class Array>
SERRIED_API basic_expr<Array> make_on_border(const basic_expr<Array>& like, std::int64_t width);
}  // namespace detail

/// `u` with a boundary for each dimension, in order: `with_boundary(u, {periodic, {edge, value(0)}})`. An expression
/// is evaluated first. Throws value_error when the number of entries is not the number of dimensions.
template <class T>
  requires operands<T>
[[nodiscard]] bounded<array_of<T>> with_boundary(const T& u, std::initializer_list<boundary_pair> per_dimension) {
  return detail::make_bounded(expr_of<T>(u), per_dimension);
}
/// The same boundary on every face.
template <class T>
  requires operands<T>
[[nodiscard]] bounded<array_of<T>> with_boundary(const T& u, const boundary& everywhere) {
  expr_of<T> e(u);
  return detail::make_bounded(
      e, std::vector<boundary_pair>(static_cast<std::size_t>(e.ndim()), boundary_pair(everywhere)));
}

/// The neighbor at index + offset, for every index: `at(u, {+1, 0})(i, j)` is u(i+1, j). (NumPy's roll has the
/// opposite sign.) Anything but an array or a bounded array is evaluated first. Throws shape_error when the offset
/// has not one entry per dimension; evaluating throws index_error when it reaches beyond a face without a boundary
/// (a slice of step 1 of the result that stays inside is fine).
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> at(const T& u, const dims& offset) {
  return detail::make_at<array_of<T>>(expr_of<T>(u), offset);
}

/// The global index along `axis` of every element of u's shape: int64.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> index(const T& u, int axis) {
  return detail::make_index<array_of<T>>(expr_of<T>(u), axis);
}

/// True where the global index is within `width` of a face: bool, u's shape.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> on_border(const T& u, std::int64_t width = 1) {
  return detail::make_on_border<array_of<T>>(expr_of<T>(u), width);
}

}  // namespace serried::inline v0
