// Making arrays.
#pragma once

#include <serried/array.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace serried::inline v0 {

/// Uninitialized.
[[nodiscard]] SERRIED_API array empty(const shape& s, const create_options& options = {});
[[nodiscard]] SERRIED_API array zeros(const shape& s, const create_options& options = {});
[[nodiscard]] SERRIED_API array ones(const shape& s, const create_options& options = {});
/// Every element `value`; its dtype is the value's own (bool, int64, float64, complex128) unless given.
[[nodiscard]] SERRIED_API array full(const shape& s, const scalar& value, const create_options& options = {});

struct like_options {
  std::optional<serried::dtype> dtype = {};  ///< default: the prototype's
  serried::shape shape = {-1};               ///< {-1}: the prototype's
};
/// In C order, whatever the prototype's strides.
[[nodiscard]] SERRIED_API array empty_like(const array& a, const like_options& options = {});
[[nodiscard]] SERRIED_API array zeros_like(const array& a, const like_options& options = {});
[[nodiscard]] SERRIED_API array ones_like(const array& a, const like_options& options = {});
[[nodiscard]] SERRIED_API array full_like(const array& a, const scalar& value, const like_options& options = {});

/// start, start + step, … up to but without stop: ceil((stop − start) / step) elements. int64 when all arguments are
/// integers, else float64, unless given: then the first two, in that dtype, say how it goes on. Throws value_error when
/// step is 0, start or stop is not finite, or those two are out of the dtype's range, dtype_error for complex arguments
/// or more than two bools, shape_error for more elements than can be addressed.
[[nodiscard]] SERRIED_API array arange(const scalar& start, const scalar& stop, const scalar& step = 1,
                                       const create_options& options = {});
[[nodiscard]] SERRIED_API array arange(const scalar& start, const scalar& stop, const create_options& options);
[[nodiscard]] SERRIED_API array arange(const scalar& stop, const create_options& options = {});

struct linspace_options {
  std::optional<serried::dtype> dtype = {};  ///< default: float64; integers are rounded down
  bool endpoint = true;                      ///< stop is the last one; else it would be the next
};
/// `count` evenly spaced numbers from start to stop. Throws value_error for a negative count, shape_error for one
/// too large to address.
[[nodiscard]] SERRIED_API array linspace(double start, double stop, std::int64_t count = 50,
                                         const linspace_options& options = {});
[[nodiscard]] inline array linspace(double start, double stop, const linspace_options& options) {
  return linspace(start, stop, 50, options);
}
struct logspace_options {
  std::optional<serried::dtype> dtype = {};  ///< default: float64; integers are truncated
  bool endpoint = true;                      ///< the last one is base^stop; else it would be the next
  double base = 10;
};
/// base^start to base^stop, the exponents evenly spaced. Throws as linspace.
[[nodiscard]] SERRIED_API array logspace(double start, double stop, std::int64_t count = 50,
                                         const logspace_options& options = {});
[[nodiscard]] inline array logspace(double start, double stop, const logspace_options& options) {
  return logspace(start, stop, 50, options);
}
/// start to stop, each a constant multiple of the one before. Throws value_error for a start or stop of 0, and as
/// linspace.
[[nodiscard]] SERRIED_API array geomspace(double start, double stop, std::int64_t count = 50,
                                          const linspace_options& options = {});
[[nodiscard]] inline array geomspace(double start, double stop, const linspace_options& options) {
  return geomspace(start, stop, 50, options);
}

/// n × m (n × n), ones where the column is the row + k.
[[nodiscard]] SERRIED_API array eye(std::int64_t n, std::int64_t m, std::int64_t k = 0,
                                    const create_options& options = {});
[[nodiscard]] inline array eye(std::int64_t n, std::int64_t m, const create_options& options) {
  return eye(n, m, 0, options);
}
[[nodiscard]] inline array eye(std::int64_t n, const create_options& options = {}) { return eye(n, n, 0, options); }
[[nodiscard]] inline array identity(std::int64_t n, const create_options& options = {}) { return eye(n, options); }
/// n × m (n × n), ones where the column is at most the row + k.
[[nodiscard]] SERRIED_API array tri(std::int64_t n, std::int64_t m, std::int64_t k = 0,
                                    const create_options& options = {});
[[nodiscard]] inline array tri(std::int64_t n, std::int64_t m, const create_options& options) {
  return tri(n, m, 0, options);
}
[[nodiscard]] inline array tri(std::int64_t n, const create_options& options = {}) { return tri(n, n, 0, options); }
/// The values of the last two dimensions where the column is at most the row + k, elsewhere 0. One dimension is taken
/// for each row of a square. Throws shape_error for a 0-dimensional array.
[[nodiscard]] SERRIED_API expr tril(const expr& e, std::int64_t k = 0);
/// As tril, where the column is at least the row + k.
[[nodiscard]] SERRIED_API expr triu(const expr& e, std::int64_t k = 0);
/// Of one dimension a square matrix that has it on its k-th diagonal, zeros elsewhere; of two their k-th diagonal, a
/// view (see `diagonal`). Throws shape_error for other dimensions or a matrix too large to address.
[[nodiscard]] SERRIED_API array diag(const array& a, std::int64_t k = 0);
/// diag of the raveled array.
[[nodiscard]] inline array diagflat(const array& a, std::int64_t k = 0) { return diag(a.ravel(), k); }

enum class indexing : std::uint8_t {
  xy,  ///< the first array runs along columns (axis 1), the second along rows (axis 0)
  ij   ///< array d runs along axis d
};
struct meshgrid_options {
  serried::indexing indexing = indexing::xy;
  bool sparse = false;  ///< of length 1 along the other axes
  bool copy = true;     ///< else views that share the data
};
namespace detail {
SERRIED_API void make_meshgrid(std::span<array> axes, const meshgrid_options& options);
}  // namespace detail
/// Coordinates of every point of a grid, from those along its axes (which are raveled):
/// `auto [x, y] = meshgrid({arange(4), arange(3)})`.
template <std::size_t N>
[[nodiscard]] std::array<array, N> meshgrid(const array (&axes)[N], const meshgrid_options& options = {}) {
  auto result = std::to_array(axes);
  detail::make_meshgrid(result, options);
  return result;
}
/// As many axes as the vector has arrays.
template <std::same_as<array> A>  // (a template, so that braces mean the one above)
[[nodiscard]] std::vector<A> meshgrid(std::vector<A> axes, const meshgrid_options& options = {}) {
  detail::make_meshgrid(axes, options);
  return axes;
}
/// indices(s)(d) is the index along dimension d of every element of the shape: shape (ndim, …s), int64 unless given.
/// Throws shape_error for a negative extent, dtype_error for bool and an extent past 2.
[[nodiscard]] SERRIED_API array indices(const shape& s, const create_options& options = {});

namespace detail {
SERRIED_API array from_host(const void* values, dtype type, const shape& s);
}

/// A copy of host values in C order, as many as `s` holds. Bytes of bool other than 0 are true.
template <element E>
[[nodiscard]] array from_pointer(const E* values, const shape& s) {
  return detail::from_host(values, dtype_of<E>, s);
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

struct frombuffer_options {
  std::optional<serried::dtype> dtype = {};  ///< default: float64
  std::int64_t count = -1;                   ///< elements; -1: all
  std::int64_t offset = 0;                   ///< bytes before the first
};
/// A copy of numbers of one dtype in host memory, one-dimensional; bytes of bool other than 0 are true. Throws
/// value_error for an offset or a count past the bytes or, without a count, when these are not whole elements.
[[nodiscard]] SERRIED_API array frombuffer(std::span<const std::byte> bytes, const frombuffer_options& options = {});

}  // namespace serried::inline v0
