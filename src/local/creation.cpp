#include <serried/creation.hpp>

#include <serried/context.hpp>
#include <serried/error.hpp>

#include "local/evaluate.hpp"

#include <fmt/format.h>

#include <cmath>

namespace serried::inline v0 {

namespace {

double as_double(const scalar& s) {
  return std::visit(
      [](auto v) -> double {
        if constexpr (std::is_same_v<decltype(v), std::complex<double>>)
          throw dtype_error("arange: complex arguments have no order");
        else return static_cast<double>(v);
      },
      s.value());
}
bool is_integral(const scalar& s) { return is_integer(s.alone()) || is_bool(s.alone()); }
std::int64_t as_int64(const scalar& s) {
  return std::visit(
      [](auto v) -> std::int64_t {
        if constexpr (std::is_integral_v<decltype(v)>) {
          if constexpr (std::is_same_v<decltype(v), std::uint64_t>)
            if (!std::in_range<std::int64_t>(v)) throw value_error(fmt::format("arange: {} is past int64", v));
          return static_cast<std::int64_t>(v);
        }
        return 0;
      },
      s.value());
}

// 0, 1, … as an expression of n elements.
expr counting(std::int64_t n) {
  const array like = empty({1}, {.dtype = dtype::bool_});
  return index(like.broadcast_to({n}), 0);
}

}  // namespace

array empty(const shape& s, const create_options& options) {
  return allocate(context::current().device_engine(), s, options.dtype.value_or(dtype::float64));
}
array full(const shape& s, const scalar& value, const create_options& options) {
  array a = empty(s, {.dtype = options.dtype.value_or(value.alone())});
  a.fill(value);
  return a;
}
array zeros(const shape& s, const create_options& options) {
  return full(s, 0, {.dtype = options.dtype.value_or(dtype::float64)});
}
array ones(const shape& s, const create_options& options) {
  return full(s, 1, {.dtype = options.dtype.value_or(dtype::float64)});
}

array empty_like(const array& a, const create_options& options) {
  return empty(a.shape(), {.dtype = options.dtype.value_or(a.dtype())});
}
array full_like(const array& a, const scalar& value, const create_options& options) {
  return full(a.shape(), value, {.dtype = options.dtype.value_or(a.dtype())});
}
array zeros_like(const array& a, const create_options& options) { return full_like(a, 0, options); }
array ones_like(const array& a, const create_options& options) { return full_like(a, 1, options); }

array arange(const scalar& start, const scalar& stop, const scalar& step, const create_options& options) {
  if (as_double(step) == 0) throw value_error("arange: step is 0");
  if (is_integral(start) && is_integral(stop) && is_integral(step)) {
    const std::int64_t a = as_int64(start);
    const std::int64_t b = as_int64(stop);
    const std::int64_t by = as_int64(step);
    std::int64_t span = 0;
    if (__builtin_sub_overflow(b, a, &span)) throw shape_error("arange: the range is too long");
    const std::int64_t n = (by > 0) == (span > 0) && span != 0 ? (span - (by > 0 ? 1 : -1)) / by + 1 : 0;
    return (counting(n) * by + a).astype(options.dtype.value_or(dtype::int64)).eval();
  }
  const double a = as_double(start);
  const double by = as_double(step);
  const double length = std::ceil((as_double(stop) - a) / by);
  if (!(length < 0x1p62)) throw value_error("arange: the range is not finite");
  const std::int64_t n = length > 0 ? static_cast<std::int64_t>(length) : 0;
  return (counting(n) * by + a).astype(options.dtype.value_or(dtype::float64)).eval();
}
array arange(const scalar& start, const scalar& stop, const create_options& options) {
  return arange(start, stop, 1, options);
}
array arange(const scalar& stop, const create_options& options) { return arange(0, stop, 1, options); }

array linspace(double start, double stop, std::int64_t count, const create_options& options) {
  if (count < 0) throw value_error(fmt::format("linspace: {} numbers", count));
  const dtype type = options.dtype.value_or(dtype::float64);
  const auto i = counting(count);
  const double step = count > 1 ? (stop - start) / static_cast<double>(count - 1) : 0;
  const auto values = where(i == (count > 1 ? count - 1 : -1), stop, i * step + start);
  return (is_integer(type) ? floor(values) : values).astype(type).eval();  // as NumPy: towards minus infinity
}

array eye(std::int64_t n, const create_options& options) {
  const array like = empty({1}, {.dtype = dtype::bool_});
  const array grid = like.broadcast_to({n, n});
  return (index(grid, 0) == index(grid, 1)).astype(options.dtype.value_or(dtype::float64)).eval();
}

namespace detail {
array from_host(const void* values, dtype type, const shape& s) {
  const array a = empty(s, {.dtype = type});
  const storage& data = *a.data_storage();
  data.device()->copy_from_host(data.data(), values, data.bytes());
  return a;
}
}  // namespace detail

}  // namespace serried::inline v0
