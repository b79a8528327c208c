// Lazy expressions over arrays: what operators and functions return. The same for local and distributed arrays.
#pragma once

#include <serried/detail/opcode.hpp>
#include <serried/dtype.hpp>
#include <serried/export.hpp>
#include <serried/index.hpp>
#include <serried/scalar.hpp>
#include <serried/shape.hpp>

#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace serried::inline v0 {

/// Empty base of arrays and expressions, by which argument-dependent look-up finds this namespace's functions.
struct operand {};

struct reduce_options;
template <class Array>
class bounded;

namespace detail {
template <class... I>
concept index_items = (std::convertible_to<I, index_item> && ...);
[[noreturn]] SERRIED_API void throw_moved_from();
/// Some of them are arrays.
template <class... I>
concept picking_items = index_items<I...> && (std::derived_from<I, operand> || ...);
}  // namespace detail

/// A recipe: element-wise work on arrays, at most one reduction at its root. It shares ownership of its arrays, so
/// nothing dangles. It is evaluated when an array is made of it, by an assignment, by `eval`, or by a function that
/// is not element-wise.
///
/// An array that is written between the making of an expression over it and its evaluation makes the evaluation
/// throw value_error ("eval() it first"): never a silently different answer. An expression that was moved from throws
/// value_error whatever is asked of it.
template <class Array>
class [[nodiscard]] SERRIED_API basic_expr : public operand {
 public:
  basic_expr(const Array& a);           // NOLINT(google-explicit-constructor)
  basic_expr(const bounded<Array>& a);  // NOLINT(google-explicit-constructor)
  explicit basic_expr(std::shared_ptr<const expr_state<Array>> state) : state_(std::move(state)) {}
  basic_expr(const basic_expr&) = default;
  basic_expr(basic_expr&&) noexcept = default;
  ~basic_expr() = default;
  basic_expr& operator=(const basic_expr&) & = default;  ///< of a name: the values of an expression are nowhere yet
  basic_expr& operator=(basic_expr&&) & noexcept = default;

  [[nodiscard]] const serried::shape& shape() const;
  [[nodiscard]] int ndim() const { return shape().size(); }
  [[nodiscard]] std::int64_t size() const { return element_count(shape()); }
  [[nodiscard]] serried::dtype dtype() const;

  /// The values, as an array.
  [[nodiscard]] Array eval() const;
  /// The value of a one-element expression. Throws value_error for another size, dtype_error when T is not a
  /// NumPy-safe cast away.
  template <element T>
  [[nodiscard]] T item() const {
    return eval().template item<T>();
  }
  /// The values in C order; dtypes as for item.
  template <element T>
  [[nodiscard]] std::vector<T> to_vector() const {
    return eval().template to_vector<T>();
  }

  /// The part that the index selects; lazy for `_` and slices of step 1, and where arrays of integers pick from it.
  template <class... I>
    requires detail::index_items<I...> && (std::same_as<Array, array> || !detail::picking_items<I...>)
  basic_expr operator()(const I&... items) const {
    return select({index_item(items)...});
  }
  basic_expr select(const std::vector<index_item>& items) const;
  basic_expr astype(serried::dtype type) const;
  basic_expr sum() const;
  basic_expr sum(const reduce_options& options) const;
  basic_expr prod() const;
  basic_expr prod(const reduce_options& options) const;
  basic_expr min() const;
  basic_expr min(const reduce_options& options) const;
  basic_expr max() const;
  basic_expr max(const reduce_options& options) const;

  // Internal.
  [[nodiscard]] const std::shared_ptr<const expr_state<Array>>& state() const& {
    if (!state_) detail::throw_moved_from();
    return state_;
  }
  [[nodiscard]] std::shared_ptr<const expr_state<Array>> state() && {
    if (!state_) detail::throw_moved_from();
    return std::move(state_);
  }

 private:
  std::shared_ptr<const expr_state<Array>> state_;
};

using expr = basic_expr<array>;

namespace detail {

// The array type of an operand type: array for array, expr and bounded<array>; dist::array for their twins.
template <class T>
struct array_type {};
template <>
struct array_type<array> {
  using type = array;
};
template <class Array>
struct array_type<basic_expr<Array>> {
  using type = Array;
};
template <class Array>
struct array_type<bounded<Array>> {
  using type = Array;
};
template <class T>
  requires scalar_operand<T>
struct array_type<T> {
  using type = void;
};

template <class... A>
struct common_array {};
template <class A>
struct common_array<A> {
  using type = A;
};
template <class A, class... Rest>
struct common_array<A, A, Rest...> : common_array<A, Rest...> {};
template <class A, class... Rest>
  requires(!std::is_void_v<A>)
struct common_array<A, void, Rest...> : common_array<A, Rest...> {};
template <class A, class... Rest>
  requires(!std::is_void_v<A>)
struct common_array<void, A, Rest...> : common_array<A, Rest...> {};

/// An operand: an array, which it refers to, an expression, or a scalar.
template <class Array>
class argument {
 public:
  argument(const Array& a) : value_(&a) {}                               // NOLINT(google-explicit-constructor)
  argument(basic_expr<Array> e) : value_(std::move(e)) {}                // NOLINT(google-explicit-constructor)
  argument(const bounded<Array>& a) : argument(basic_expr<Array>(a)) {}  // NOLINT(google-explicit-constructor)
  argument(const scalar& s) : value_(s) {}                               // NOLINT(google-explicit-constructor)
  template <class T>
    requires element<T>
  argument(T value) : value_(scalar(value)) {}  // NOLINT(google-explicit-constructor)

  // Null unless it is one.
  [[nodiscard]] const Array* array() const noexcept {
    const auto* const a = std::get_if<const Array*>(&value_);
    return a == nullptr ? nullptr : *a;
  }
  [[nodiscard]] basic_expr<Array>* expression() noexcept { return std::get_if<basic_expr<Array>>(&value_); }
  [[nodiscard]] const scalar* number() const noexcept { return std::get_if<scalar>(&value_); }

 private:
  std::variant<const Array*, basic_expr<Array>, scalar> value_;
};

/// Appends one operation to its operands' programs, in place of what nobody else holds. Throws shape_error or
/// dtype_error, naming the operation.
template <class Array>
SERRIED_API basic_expr<Array> apply(opcode op, std::span<argument<Array>> operands);

template <class T>
concept has_array = requires { typename array_type<std::remove_cvref_t<T>>::type; };

}  // namespace detail

/// The array type that a set of operands has in common. Not defined when local and distributed ones are mixed
/// (`replicate(a, mesh)` converts) or when none is an array.
template <class... T>
using array_of = typename detail::common_array<typename detail::array_type<std::remove_cvref_t<T>>::type...>::type;

template <class... T>
concept operands =
    (detail::has_array<T> && ...) && requires { typename array_of<T...>; } && !std::is_void_v<array_of<T...>>;

/// What element-wise functions of these operands return.
template <class... T>
using expr_of = basic_expr<array_of<T...>>;

namespace detail {
template <class... T>
expr_of<T...> operation(opcode op, T&&... values) {
  argument<array_of<T...>> arguments[] = {argument<array_of<T...>>(std::forward<T>(values))...};
  return apply<array_of<T...>>(op, arguments);
}
}  // namespace detail

/// The values now, as an array: a line at which evaluation happens.
template <class T>
  requires operands<T>
[[nodiscard]] array_of<T> eval(const T& e) {
  return expr_of<T>(e).eval();
}

/// Converts the dtype, with C++'s conversions between numbers where they are defined.
template <class T>
  requires operands<T>
[[nodiscard]] expr_of<T> astype(const T& e, dtype type) {
  return expr_of<T>(e).astype(type);
}

}  // namespace serried::inline v0
