// One read of each operand, one write of the result: all of these can run as fast as a copy.
#include "recorder.hpp"

namespace sr = serried;
using sr::_;

namespace bench {

namespace {

std::int64_t item(sr::dtype type) { return static_cast<std::int64_t>(sr::item_size(type)); }

// From 0 to 1.
sr::array ramp(const sr::shape& s, sr::dtype type = sr::float32) {
  return sr::array(sr::linspace(0, 1, sr::element_count(s), {.dtype = sr::float32}).astype(type)).reshape(s);
}

void measure_functions(recorder& r, std::int64_t n) {
  for (const sr::dtype type : {sr::float32, sr::float64, sr::float16}) {
    const sr::array x = ramp({n}, type);
    const std::int64_t bytes = 2 * n * item(type);
    r.measure({"exp", {n}, type}, bytes, [&] { const sr::array y = sr::exp(x); });
    r.measure({"sqrt", {n}, type}, bytes, [&] { const sr::array y = sr::sqrt(x); });
    r.measure({"poly", {n}, type}, bytes, [&] { const sr::array y = (x * 2 + sr::sin(x)) * x - 1; });
  }
}

void measure_sums_of_two(recorder& r, std::int64_t n) {
  for (const sr::dtype type : {sr::float32, sr::float64, sr::float16, sr::int8, sr::complex64}) {
    const sr::array x = ramp({n}, type);
    const sr::array y = ramp({n}, type);
    r.measure({"add", {n}, type}, 3 * n * item(type), [&] { const sr::array z = x + y; });
    if (type == sr::complex64)
      r.measure({"multiply", {n}, type}, 3 * n * item(type), [&] { const sr::array z = x * y; });
  }
  for (const std::int64_t odd : {n - 1, n + 1}) {
    const sr::array x = ramp({odd});
    const sr::array y = ramp({odd});
    r.measure({"add", {odd}, sr::float32}, 3 * odd * 4, [&] { const sr::array z = x + y; });
  }
}

void measure_layouts(recorder& r, std::int64_t n, std::int64_t side) {
  constexpr sr::dtype type = sr::float32;
  const sr::array square = ramp({side, side});
  const sr::array row = ramp({side});
  const sr::array column = ramp({side, 1});
  const std::int64_t all = side * side * 4;
  r.measure({"add_row", {side, side}, type}, 2 * all + side * 4, [&] { const sr::array y = square + row; });
  r.measure({"add_column", {side, side}, type}, 2 * all + side * 4, [&] { const sr::array y = square + column; });
  r.measure({"shifted_rows", {side, side - 1}, type}, 2 * all - 8 * side,
            [&] { const sr::array y = square(_, sr::slice(1, _)) * 2; });
  r.measure({"transpose", {side, side}, type}, 2 * all, [&] { const sr::array y = square.T().copy(); });

  const sr::array line = ramp({n});
  // Memory comes in pieces larger than two elements: all of the line is read.
  r.measure({"every_second", {n / 2}, type}, n * 4 + n / 2 * 4,
            [&] { const sr::array y = line(sr::slice(_, _, 2)) * 2; });

  const std::int64_t third = n / 4;
  const sr::array inner = ramp({third, 3});
  const sr::array outer = ramp({3, third});
  const sr::array three = ramp({3});
  r.measure({"inner_3", {third, 3}, type}, 2 * 3 * third * 4, [&] { const sr::array y = inner * three + 1; });
  r.measure({"outer_3", {3, third}, type}, 2 * 3 * third * 4,
            [&] { const sr::array y = outer * three(_, sr::newaxis) + 1; });
}

}  // namespace

void measure_elementwise(recorder& r) {
  const std::int64_t n = std::int64_t{1} << (r.quick() ? 12 : 28);
  const std::int64_t side = std::int64_t{1} << (r.quick() ? 6 : 14);
  {
    const sr::array x = ramp({n});
    r.measure({"copy", {n}, sr::float32}, 2 * n * 4, [&] { const sr::array y = x.copy(); });
  }
  measure_functions(r, n);
  measure_sums_of_two(r, n);
  measure_layouts(r, n, side);

  const sr::array x = ramp({1000});
  const sr::array y = ramp({1000});
  r.measure_host({"small_add", {1000}, sr::float32}, [&] { const sr::array z = x + y; });
}

}  // namespace bench
