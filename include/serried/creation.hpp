// Making arrays.
#pragma once

#include <serried/array.hpp>

#include <optional>
#include <vector>

namespace serried::inline v0 {

struct create_options {
  std::optional<serried::dtype> dtype = {};  ///< default: float64, the value's, or the prototype's
};

/// Uninitialized.
[[nodiscard]] SERRIED_API array empty(const shape& s, const create_options& options = {});
[[nodiscard]] SERRIED_API array zeros(const shape& s, const create_options& options = {});
[[nodiscard]] SERRIED_API array ones(const shape& s, const create_options& options = {});
/// Every element `value`; its dtype is the value's own (bool, int64, float64, complex128) unless given.
[[nodiscard]] SERRIED_API array full(const shape& s, const scalar& value, const create_options& options = {});
[[nodiscard]] SERRIED_API array empty_like(const array& a, const create_options& options = {});
[[nodiscard]] SERRIED_API array zeros_like(const array& a, const create_options& options = {});
[[nodiscard]] SERRIED_API array ones_like(const array& a, const create_options& options = {});
[[nodiscard]] SERRIED_API array full_like(const array& a, const scalar& value, const create_options& options = {});

/// start, start + step, … up to but without stop: ceil((stop − start) / step) elements. int64 when all arguments are
/// integers, else float64, unless given. Throws value_error when step is 0.
[[nodiscard]] SERRIED_API array arange(const scalar& start, const scalar& stop, const scalar& step = 1,
                                       const create_options& options = {});
[[nodiscard]] SERRIED_API array arange(const scalar& start, const scalar& stop, const create_options& options);
[[nodiscard]] SERRIED_API array arange(const scalar& stop, const create_options& options = {});
/// `count` evenly spaced numbers from start to stop, both included.
[[nodiscard]] SERRIED_API array linspace(double start, double stop, std::int64_t count = 50,
                                         const create_options& options = {});
/// n × n, ones on the diagonal.
[[nodiscard]] SERRIED_API array eye(std::int64_t n, const create_options& options = {});

namespace detail {
SERRIED_API array from_host(const void* values, dtype type, const shape& s);
}

/// A copy of host values in C order. Throws shape_error unless there are as many as `s` holds.
template <element E>
[[nodiscard]] array from_span(std::span<const E> values, const shape& s) {
  if (static_cast<std::int64_t>(values.size()) != element_count(s))
    throw shape_error("from_span: " + std::to_string(values.size()) + " values do not make shape " + to_string(s));
  return detail::from_host(values.data(), dtype_of<E>, s);
}
template <element E>
[[nodiscard]] array from_vector(const std::vector<E>& values, const shape& s) {
  return from_span(std::span<const E>(values), s);
}
template <element E>
[[nodiscard]] array from_vector(const std::vector<E>& values) {
  return from_vector(values, {values.size()});
}

}  // namespace serried::inline v0
