// Other views of arrays, and arrays put together from others: NumPy's array manipulation routines.
#pragma once

#include <serried/array.hpp>
#include <serried/creation.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace serried::inline v0 {

// ---- views: they share the data of their argument (an expression is evaluated first)

struct axes_options {
  axes axis = {};  ///< {}: all
};

/// One-dimensional, in C order: a view where the strides allow, else a copy.
[[nodiscard]] inline array ravel(const array& a) { return a.ravel(); }
/// Axis source[i] becomes axis destination[i]; the others keep their order. Throws index_error for an axis outside the
/// array, value_error for one given twice or lists of different lengths.
[[nodiscard]] SERRIED_API array moveaxis(const array& a, const dims& source, const dims& destination);
/// Throws index_error.
[[nodiscard]] inline array swapaxes(const array& a, std::int64_t axis1, std::int64_t axis2) {
  return a.swapaxes(axis1, axis2);
}
/// Without the axes of length 1, or those of them that `axis` names. Throws shape_error when a named one is longer.
[[nodiscard]] SERRIED_API array squeeze(const array& a, const axes_options& options = {});
/// With new axes of length 1, which have these places in the result. Throws index_error or value_error, as moveaxis.
[[nodiscard]] SERRIED_API array expand_dims(const array& a, const dims& axis);
/// Backwards along the axes.
[[nodiscard]] SERRIED_API array flip(const array& a, const axes_options& options = {});
/// Columns backwards (axis 1). Throws index_error below two dimensions.
[[nodiscard]] inline array fliplr(const array& a) { return flip(a, {.axis = 1}); }
/// Rows backwards (axis 0). Throws index_error for a 0-dimensional array.
[[nodiscard]] inline array flipud(const array& a) { return flip(a, {.axis = 0}); }

struct rot90_options {
  dims axes = {0, 1};  ///< the plane: turned from the first towards the second
};
/// Turned by k right angles. Throws value_error unless there are two different axes, index_error outside the array.
[[nodiscard]] SERRIED_API array rot90(const array& a, std::int64_t k = 1, const rot90_options& options = {});

/// At least one dimension.
[[nodiscard]] SERRIED_API array atleast_1d(const array& a);
/// (n,) becomes (1, n).
[[nodiscard]] SERRIED_API array atleast_2d(const array& a);
/// (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1).
[[nodiscard]] SERRIED_API array atleast_3d(const array& a);

/// All windows of this shape: axis `axis[i]`, shortened by window[i] − 1, counts them, and the last axes walk one.
/// Windows share elements: where they do, writing throws value_error. Throws value_error unless there is one extent for
/// each axis, none negative or larger than the array's, index_error for an axis outside the array.
[[nodiscard]] SERRIED_API array sliding_window_view(const array& a, const shape& window,
                                                    const axes_options& options = {});

struct diagonal_options {
  std::int64_t axis1 = 0;
  std::int64_t axis2 = 1;
  std::int64_t offset = 0;  ///< positive: above the main diagonal
};
/// The elements whose index along axis2 is that along axis1 plus `offset`: the two axes go, the diagonal is the last
/// one. A view to read and write. Throws index_error for axes outside the array, value_error when they are the same.
[[nodiscard]] SERRIED_API array diagonal(const array& a, const diagonal_options& options = {});
/// The sum along the diagonal, as `sum` adds.
[[nodiscard]] inline expr trace(const array& a, const diagonal_options& options = {}) {
  return sum(diagonal(a, options), {.axis = -1});
}

/// One integer, or a list of them, of any mix of integer types: `3`, `{2, 5}`, `{3}`, `{}`, a std::vector.
class integers {
 public:
  integers() : is_list_(true) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  integers(T one) : values_{static_cast<std::int64_t>(one)} {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  integers(std::initializer_list<T> list)  // NOLINT(google-explicit-constructor)
      : is_list_(true), values_(list.begin(), list.end()) {}
  template <std::integral... T>
    requires(sizeof...(T) > 1 && (!std::same_as<T, bool> && ...))
  integers(T... list) : is_list_(true), values_{static_cast<std::int64_t>(list)...} {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  integers(const std::vector<T>& list)  // NOLINT(google-explicit-constructor)
      : is_list_(true), values_(list.begin(), list.end()) {}

  [[nodiscard]] bool is_list() const noexcept { return is_list_; }
  [[nodiscard]] const std::vector<std::int64_t>& values() const noexcept { return values_; }

 private:
  bool is_list_ = false;
  std::vector<std::int64_t> values_;
};

struct split_options {
  std::int64_t axis = 0;
};
/// Cut along an axis, into so many equal parts, or, given a list, before each of these indices. Throws value_error for
/// a number of parts that does not divide the axis, index_error for an axis outside the array.
[[nodiscard]] SERRIED_API std::vector<array> split(const array& a, const integers& where,
                                                   const split_options& options = {});
/// As split, but the first parts are longer by one where the axis does not divide evenly. Throws value_error for a
/// number below 1.
[[nodiscard]] SERRIED_API std::vector<array> array_split(const array& a, const integers& where,
                                                         const split_options& options = {});
/// Along axis 1, of a one-dimensional array axis 0. Throws shape_error for a 0-dimensional one.
[[nodiscard]] SERRIED_API std::vector<array> hsplit(const array& a, const integers& where);
/// Along axis 0. Throws shape_error below two dimensions.
[[nodiscard]] SERRIED_API std::vector<array> vsplit(const array& a, const integers& where);
/// Along axis 2. Throws shape_error below three dimensions.
[[nodiscard]] SERRIED_API std::vector<array> dsplit(const array& a, const integers& where);

namespace detail {
SERRIED_API void broadcast_together(std::span<array> arrays);
}  // namespace detail

/// Views of one shape: `auto [x, y] = broadcast_arrays({a, b})`. Throws shape_error.
template <std::size_t N>
[[nodiscard]] std::array<array, N> broadcast_arrays(const array (&arrays)[N]) {
  auto result = std::to_array(arrays);
  detail::broadcast_together(result);
  return result;
}
template <std::same_as<array> A>  // (a template, so that braces mean the one above)
[[nodiscard]] std::vector<A> broadcast_arrays(std::vector<A> arrays) {
  detail::broadcast_together(arrays);
  return arrays;
}

// ---- new arrays

/// A copy of one dimension, in C order.
[[nodiscard]] inline array flatten(const array& a) { return a.flatten(); }

/// Arrays in braces, in a std::vector, or in a std::array, as broadcast_arrays and meshgrid give it.
class array_list {
 public:
  array_list(std::initializer_list<array> list) : values_(list) {}
  array_list(std::vector<array> list) : values_(std::move(list)) {}  // NOLINT(google-explicit-constructor)
  template <std::size_t N>
  array_list(const std::array<array, N>& list)  // NOLINT(google-explicit-constructor)
      : values_(list.begin(), list.end()) {}

  [[nodiscard]] const std::vector<array>& values() const noexcept { return values_; }

 private:
  std::vector<array> values_;
};

struct concatenate_options {
  std::optional<std::int64_t> axis = 0;      ///< std::nullopt: of the raveled arrays
  std::optional<serried::dtype> dtype = {};  ///< default: the one that holds all
};
/// One after the other along an axis that they have. Throws value_error when there are none, shape_error unless their
/// other extents agree, index_error for an axis outside them, dtype_error as assign does.
[[nodiscard]] SERRIED_API array concatenate(const array_list& arrays, const concatenate_options& options = {});

struct stack_options {
  std::int64_t axis = 0;                     ///< its place in the result
  std::optional<serried::dtype> dtype = {};  ///< default: the one that holds all
};
/// Side by side along a new axis. Throws as concatenate, shape_error unless all shapes are the same.
[[nodiscard]] SERRIED_API array stack(const array_list& arrays, const stack_options& options = {});
/// Concatenated along axis 1; one-dimensional ones along axis 0.
[[nodiscard]] SERRIED_API array hstack(const array_list& arrays, const create_options& options = {});
/// Concatenated along axis 0, where one-dimensional ones are rows.
[[nodiscard]] SERRIED_API array vstack(const array_list& arrays, const create_options& options = {});
/// Concatenated along axis 2, each at least three-dimensional (atleast_3d).
[[nodiscard]] SERRIED_API array dstack(const array_list& arrays);
/// Concatenated along axis 1, where one-dimensional ones are columns.
[[nodiscard]] SERRIED_API array column_stack(const array_list& arrays);

/// Along one axis, or of the flattened array.
struct flat_axis_options {
  std::optional<std::int64_t> axis = {};  ///< {}: flattened
};
/// A copy with `values` behind the array. Throws as concatenate.
[[nodiscard]] SERRIED_API array append(const array& a, const array& values, const flat_axis_options& options = {});
/// The value has its own dtype, as in `full`.
template <scalar_operand T>
[[nodiscard]] array append(const array& a, const T& value, const flat_axis_options& options = {}) {
  return append(a, full({}, value), options);
}
/// A copy with `values` before the index (up to the length) along the axis; broadcast and cast as assign does. Throws
/// index_error for an index or axis outside the array.
[[nodiscard]] SERRIED_API array insert(const array& a, std::int64_t index, const array& values,
                                       const flat_axis_options& options = {});
/// The value is converted to the array's dtype as fill does.
template <scalar_operand T>
[[nodiscard]] array insert(const array& a, std::int64_t index, const T& value, const flat_axis_options& options = {}) {
  return insert(a, index, full({}, value, {.dtype = a.dtype()}), options);
}
/// A copy without what stands at these indices along the axis. Throws index_error for an index or axis outside the
/// array.
// NOLINTNEXTLINE(readability-identifier-naming): `delete` is a keyword
[[nodiscard]] SERRIED_API array delete_(const array& a, const integers& indices, const flat_axis_options& options = {});

/// The array laid out as tiles, so many along each axis; the shorter of the two lists gets ones in front. Throws
/// shape_error for a negative number or a result too large to address.
[[nodiscard]] SERRIED_API array tile(const array& a, const dims& repetitions);
/// Each element so many times, or element i along the axis repeats[i] times (one pass for each run of equal numbers).
/// Throws value_error for a negative number, shape_error unless there is one or one for each element of the axis,
/// index_error for an axis outside the array.
[[nodiscard]] SERRIED_API array repeat(const array& a, const integers& repeats, const flat_axis_options& options = {});
/// Shifted by shift[i] along axis[i] (a positive shift moves elements to higher indices), what leaves one end coming
/// in at the other; {} for the axis: in the flattened array. One shift or one axis stands for all. Throws value_error
/// for lists that do not match, index_error for an axis outside the array.
[[nodiscard]] SERRIED_API array roll(const array& a, const dims& shift, const axes_options& options = {});
/// The elements in C order, over and over, in a new shape; zeros if there are none. Throws shape_error for a negative
/// extent or a shape too large to address.
[[nodiscard]] SERRIED_API array resize(const array& a, const shape& s);

namespace detail {
template <class V, class T>
concept side_of = std::convertible_to<V, T> && (!std::integral<T> || std::integral<V>);
}  // namespace detail

template <class T>
struct side_pair {
  template <detail::side_of<T> B, detail::side_of<T> A>
  side_pair(const B& b, const A& a) : before(static_cast<T>(b)), after(static_cast<T>(a)) {}
  T before;
  T after;
};
/// Something for both sides of every axis: `1`; for their two sides: `{1, 2}`; or for each axis: `{{1, 2}, {0, 3}}`.
template <class T>
class sides {
 public:
  template <detail::side_of<T> V>
  sides(const V& both) : pairs_{{both, both}} {}  // NOLINT(google-explicit-constructor)
  template <detail::side_of<T> B, detail::side_of<T> A>
  sides(const B& before, const A& after) : pairs_{{before, after}} {}
  sides(std::initializer_list<side_pair<T>> each_axis) : pairs_(each_axis) {}
  explicit sides(std::vector<side_pair<T>> each_axis) : pairs_(std::move(each_axis)) {}

  /// One for all axes, or one for each.
  [[nodiscard]] const std::vector<side_pair<T>>& pairs() const noexcept { return pairs_; }

 private:
  std::vector<side_pair<T>> pairs_;
};

enum class pad_mode : std::uint8_t {
  constant,   ///< the constant values; where two axes are padded, those of the later one
  edge,       ///< the outermost element
  reflect,    ///< mirrored at the outermost element: 2 1 | 0 1 2 | 1 0
  symmetric,  ///< mirrored beside it: 1 0 | 0 1 2 | 2 1
  wrap        ///< from the other end: 1 2 | 0 1 2 | 0 1
};
struct pad_options {
  pad_mode mode = pad_mode::constant;
  sides<scalar> constant_values = 0;  ///< converted to the array's dtype as fill does
};
/// A copy with `width` elements more on the sides of its axes. Throws value_error for a negative width, a list that is
/// not one pair or one for each axis, or an empty axis that a mode other than constant should continue, shape_error for
/// a result too large to address, value_error or dtype_error for a constant that fill does not take.
[[nodiscard]] SERRIED_API array pad(const array& a, const sides<std::int64_t>& width, const pad_options& options = {});

}  // namespace serried::inline v0
