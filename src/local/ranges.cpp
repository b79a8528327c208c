// Evenly spaced numbers.
#include <serried/creation.hpp>

#include <serried/error.hpp>

#include "local/ops/half.hpp"
#include "local/views.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>
#include <variant>

namespace serried::inline v0 {

namespace {

// Of a real number; complex ones have no order.
template <class R, class F>
R visit_real(const scalar& s, F&& f) {
  return std::visit(
      [&](auto v) -> R {
        if constexpr (std::is_same_v<decltype(v), std::complex<double>>)
          throw dtype_error("arange: complex arguments have no order");
        else return f(v);
      },
      s.value());
}
double as_double(const scalar& s) {
  return visit_real<double>(s, [](auto v) { return static_cast<double>(v); });
}
// Floating numbers are truncated.
std::int64_t as_int64(const scalar& s) {
  return visit_real<std::int64_t>(s, [](auto v) {
    bool fits = true;
    if constexpr (std::is_same_v<decltype(v), double>) fits = std::abs(v) < 0x1p63;
    if constexpr (std::is_same_v<decltype(v), std::uint64_t>) fits = std::in_range<std::int64_t>(v);
    if (!fits) throw value_error(fmt::format("arange: {} is past int64", v));
    return static_cast<std::int64_t>(v);
  });
}
bool is_integral(const scalar& s) { return is_integer(s.alone()) || is_bool(s.alone()); }

template <class T>
[[noreturn]] void too_long(T start, T stop, T step) {
  throw shape_error(fmt::format("arange: {} to {} by {} are more numbers than 63 bits can count", start, stop, step));
}

std::int64_t integer_count(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  // (The way from start to stop may be longer than int64 says.)
  const auto from = static_cast<std::uint64_t>(start);
  const auto to = static_cast<std::uint64_t>(stop);
  const auto by = static_cast<std::uint64_t>(step);
  const std::uint64_t count = (step > 0 ? (to - from - 1) / by : (from - to - 1) / (0 - by)) + 1;
  if (!std::in_range<std::int64_t>(count)) too_long(start, stop, step);
  return static_cast<std::int64_t>(count);
}

std::int64_t floating_count(double start, double stop, double step) {
  const double span = stop - start;
  const double steps = span / step;
  if (!std::isfinite(start) || !std::isfinite(stop) || std::isnan(step))
    throw value_error(fmt::format("arange: {} to {} by {} is not finite", start, stop, step));
  if (steps == 0 && span != 0) return std::signbit(steps) ? 0 : 1;
  const double count = std::ceil(steps);
  if (count >= 0x1p63) too_long(start, stop, step);
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

// What remains of x in a floating or complex dtype.
double rounded(double x, dtype type) {
  switch (component_of(type)) {
    case dtype::float16: return static_cast<float>(float16_t::from_bits(ops::to_half(x).bits));
    case dtype::bfloat16: return static_cast<float>(bfloat16_t::from_bits(ops::to_bfloat(x).bits));
    case dtype::float32: return static_cast<float>(x);
    default: return x;
  }
}

}  // namespace

array arange(const scalar& start, const scalar& stop, const scalar& step, const create_options& options) {
  if (as_double(step) == 0) throw value_error("arange: step is 0");
  const bool whole = is_integral(start) && is_integral(stop) && is_integral(step);
  const std::int64_t n = whole ? integer_count(as_int64(start), as_int64(stop), as_int64(step))
                               : floating_count(as_double(start), as_double(stop), as_double(step));
  const dtype type = options.dtype.value_or(whole ? dtype::int64 : dtype::float64);
  if (n == 0) return empty({0}, {.dtype = type});
  // As NumPy: the first two numbers, in the dtype, say how it goes on.
  const expr i = positions({n}, 0);
  if (is_integer(type) || is_bool(type)) {
    const std::int64_t first = as_int64(start);
    const std::int64_t second = n == 1  ? first
                                : whole ? first + as_int64(step)
                                        : as_int64(as_double(start) + as_double(step));
    for (const std::int64_t v : {first, second})
      if (!scalar(v).fits(type)) throw value_error(fmt::format("arange: {} is out of range for {}", v, name(type)));
    if (is_bool(type) && n > 2) throw dtype_error(fmt::format("arange: {} numbers of dtype bool; at most 2", n));
    std::int64_t by = 0;
    if (__builtin_sub_overflow(second, first, &by))
      throw value_error(fmt::format("arange: from {} to {} is a step past int64", first, second));
    return (i * by + first).astype(type).eval();
  }
  const dtype work = type == dtype::float64 || type == dtype::complex128 ? dtype::float64 : dtype::float32;
  const double first = rounded(as_double(start), type);
  const double second = n == 1 ? first : rounded(as_double(start) + as_double(step), type);
  const double by = rounded(second - first, work);
  return where(i == 1, second, i.astype(work) * by + first).astype(type).eval();
}
array arange(const scalar& start, const scalar& stop, const create_options& options) {
  return arange(start, stop, 1, options);
}
array arange(const scalar& stop, const create_options& options) { return arange(0, stop, 1, options); }

namespace {

expr counting(std::int64_t count, const char* operation) {
  if (count < 0) throw value_error(fmt::format("{}: {} numbers", operation, count));
  return positions({count}, 0);
}

// (Rounding may leave the last one beside the end.)
expr ending_in(double stop, const expr& values, const expr& i, bool endpoint) {
  return endpoint && i.size() > 1 ? where(i == i.size() - 1, stop, values) : values;
}

expr spaced(const expr& i, double start, double stop, bool endpoint) {
  const std::int64_t count = i.size();
  const std::int64_t intervals = endpoint ? count - 1 : count;
  const double span = stop - start;
  const double step = span / static_cast<double>(intervals);
  // (The step may underflow where the span does not.)
  const expr values = (intervals <= 0 ? i * span : step == 0 ? i / intervals * span : i * step) + start;
  return ending_in(stop, values, i, endpoint);
}

}  // namespace

array linspace(double start, double stop, std::int64_t count, const linspace_options& options) {
  const dtype type = options.dtype.value_or(dtype::float64);
  const expr values = spaced(counting(count, "linspace"), start, stop, options.endpoint);
  return (is_integer(type) ? floor(values) : values).astype(type).eval();  // as NumPy: towards minus infinity
}

array logspace(double start, double stop, std::int64_t count, const logspace_options& options) {
  return power(options.base, spaced(counting(count, "logspace"), start, stop, options.endpoint))
      .astype(options.dtype.value_or(dtype::float64))
      .eval();
}

array geomspace(double start, double stop, std::int64_t count, const linspace_options& options) {
  if (start == 0 || stop == 0) throw value_error("geomspace: a geometric sequence has no 0");
  const double sign = start < 0 ? -1 : 1;
  const expr i = counting(count, "geomspace");
  const expr inner = power(10.0, spaced(i, std::log10(start * sign), std::log10(stop * sign), options.endpoint)) * sign;
  return ending_in(stop, where(i == 0, start, inner), i, options.endpoint)
      .astype(options.dtype.value_or(dtype::float64))
      .eval();
}

}  // namespace serried::inline v0
