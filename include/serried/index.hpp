// What goes between the parentheses of `a(…)`.
#pragma once

#include <serried/export.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>

namespace serried::inline v0 {

class array;
template <class Array>
class basic_expr;
template <class Array>
struct expr_state;

/// "All of this axis" as an index, "to the end" as a bound of a slice.
struct all_t {};
inline constexpr all_t _{};
/// As many whole axes as are left over.
struct ellipsis_t {};
inline constexpr ellipsis_t ellipsis{};
/// A new axis of length 1.
struct newaxis_t {};
inline constexpr newaxis_t newaxis{};

/// A bound of a slice: an integer, negative ones counting from the end, or `_` for Python's omitted bound.
class slice_bound {
 public:
  slice_bound(all_t) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  slice_bound(T value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const std::optional<std::int64_t>& get() const noexcept { return value_; }

 private:
  std::optional<std::int64_t> value_;
};

/// Python's start:stop:step; bounds past the ends are cut off. `slice(1, _)` runs to the end, `slice(_, _, -1)`
/// backwards. A step of 0 throws value_error when used.
struct slice {
  slice_bound start = _;
  slice_bound stop = _;
  std::int64_t step = 1;

  explicit slice(slice_bound to) : stop(to) {}
  slice(slice_bound from, slice_bound to, std::int64_t by = 1) : start(from), stop(to), step(by) {}
};

/// One entry of an index: an integer (drops the axis), a slice, `_`, `ellipsis`, `newaxis`, or an array of integers.
class SERRIED_API index_item {
 public:
  enum class kind : std::uint8_t { integer, slice, all, rest, added, array };

  template <std::integral T>
    requires(!std::same_as<T, bool>)
  index_item(T i) : kind_(kind::integer), slice_(i, _) {}        // NOLINT(google-explicit-constructor)
  index_item(const slice& s) : kind_(kind::slice), slice_(s) {}  // NOLINT(google-explicit-constructor)
  index_item(all_t) : kind_(kind::all), slice_(_, _) {}          // NOLINT(google-explicit-constructor)
  index_item(ellipsis_t) : kind_(kind::rest), slice_(_, _) {}    // NOLINT(google-explicit-constructor)
  index_item(newaxis_t) : kind_(kind::added), slice_(_, _) {}    // NOLINT(google-explicit-constructor)
  index_item(const array& indices);                              // NOLINT(google-explicit-constructor)
  index_item(const basic_expr<array>& indices);                  // NOLINT(google-explicit-constructor)

  [[nodiscard]] kind type() const noexcept { return kind_; }
  [[nodiscard]] std::int64_t integer() const { return *slice_.start.get(); }
  [[nodiscard]] const slice& range() const noexcept { return slice_; }
  [[nodiscard]] basic_expr<array> indices() const;

 private:
  kind kind_;
  slice slice_;
  std::shared_ptr<const expr_state<array>> indices_;
};

}  // namespace serried::inline v0
