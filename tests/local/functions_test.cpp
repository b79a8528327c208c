// Functions composed of operations, on special values of every dtype, against NumPy (data/make_functions.py).
#include "local/operation_table.hpp"

#include <serried/array.hpp>
#include <serried/creation.hpp>
#include <serried/error.hpp>
#include <serried/functions.hpp>
#include <serried/logic.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace serried::testing {
namespace {

using unary = std::function<expr(const array&)>;
using binary = std::function<expr(const array&, const array&)>;

const std::map<std::string, unary> of_one = {
    {"positive", [](const array& x) { return positive(x); }},
    {"fabs", [](const array& x) { return fabs(x); }},
    {"degrees", [](const array& x) { return degrees(x); }},
    {"radians", [](const array& x) { return deg2rad(x); }},
    {"angle", [](const array& x) { return angle(x); }},
    {"angle_deg", [](const array& x) { return angle(x, {.deg = true}); }},
    {"sinc", [](const array& x) { return sinc(x); }},
    {"expit", [](const array& x) { return expit(x); }},
    {"logit", [](const array& x) { return logit(x); }},
    {"round", [](const array& x) { return round(x); }},
    {"round_2", [](const array& x) { return around(x, 2); }},
    {"round_-1", [](const array& x) { return round(x, -1); }},
    {"clip_0_2", [](const array& x) { return clip(x, 0, 2); }},
    {"clip_none_1", [](const array& x) { return clip(x, std::nullopt, 1); }},
    {"clip_-1000_none", [](const array& x) { return clip(x, -1000, std::nullopt); }},
    {"nan_to_num", [](const array& x) { return nan_to_num(x); }},
    {"nan_to_num_1_2_-3", [](const array& x) { return nan_to_num(x, {.nan = 1, .posinf = 2, .neginf = -3}); }},
    {"spacing", [](const array& x) { return spacing(x); }},
    {"signbit", [](const array& x) { return signbit(x); }},
    {"isposinf", [](const array& x) { return isposinf(x); }},
    {"isneginf", [](const array& x) { return isneginf(x); }},
    {"isreal", [](const array& x) { return isreal(x); }},
    {"iscomplex", [](const array& x) { return iscomplex(x); }},
    {"modf_0", [](const array& x) { return modf(x).first; }},
    {"modf_1", [](const array& x) { return modf(x).second; }},
    {"frexp_0", [](const array& x) { return frexp(x).first; }},
    {"frexp_1", [](const array& x) { return frexp(x).second; }},
    {"invert", [](const array& x) { return invert(x); }},
    {"ldexp_3", [](const array& x) { return ldexp(x, 3); }},
    {"ldexp_-20", [](const array& x) { return ldexp(x, -20); }},
    {"isclose_2.5", [](const array& x) { return isclose(x, 2.5); }},
};
const std::map<std::string, binary> of_two = {
    {"float_power", [](const array& x, const array& y) { return float_power(x, y); }},
    {"isclose", [](const array& x, const array& y) { return isclose(x, y); }},
    {"isclose_nan", [](const array& x, const array& y) { return isclose(x, y, {.equal_nan = true}); }},
    {"isclose_wide", [](const array& x, const array& y) { return isclose(x, y, {.rtol = 0.5, .atol = 1}); }},
    {"divmod_0", [](const array& x, const array& y) { return divmod(x, y).first; }},
    {"divmod_1", [](const array& x, const array& y) { return divmod(x, y).second; }},
};

bytes bytes_of(const array& a) {
  if (is_bool(a.dtype())) return bytes_of(a.astype(uint8));
  return visit_dtype(a.dtype(), [&]<class T>() {
    bytes all;
    if constexpr (!std::is_same_v<T, bool>) {
      const auto values = a.to_vector<T>();
      const auto raw = std::as_bytes(std::span(values));
      all.assign(raw.begin(), raw.end());
    }
    return all;
  });
}

TEST(functions, equal_numpys) {
  const table expected("functions.txt");
  ASSERT_EQ(expected.lines.size(), 14 * (of_one.size() + of_two.size()));
  for (const table_line& l : expected.lines) {
    const bytes& v = expected.values.at(l.operand);
    const array x = detail::from_host(v.data(), l.operand, {v.size() / item_size(l.operand)});
    const bool two = of_two.contains(l.operation);
    const auto call = [&] { return two ? of_two.at(l.operation)(x.reshape({-1, 1}), x) : of_one.at(l.operation)(x); };
    if (l.kind.starts_with("refused")) {
      EXPECT_THROW((void)call(), dtype_error) << l.operation << " of " << name(l.operand);
      continue;
    }
    const array got = call();
    EXPECT_EQ(got.dtype(), l.result) << l.operation << " of " << name(l.operand);
    if (got.dtype() == l.result) compare(l, bytes_of(got));
  }
}

TEST(functions, are_lazy_and_take_views_and_expressions) {
  const array x = linspace(-3, 3, 7);
  const array backwards = x(slice(_, _, -2));
  EXPECT_EQ(clip(backwards + 1, -1, backwards).eval().to_vector<double>(), (std::vector<double>{3, 1, -1, -3}));
  EXPECT_EQ(clip(x, std::nullopt, std::nullopt).eval().to_vector<double>(), x.to_vector<double>());
  EXPECT_EQ(clip(x.reshape({7, 1}), 0, array({1, 2})).eval().shape(), (shape{7, 2}));
  EXPECT_EQ(expit(zeros({0, 3})).shape(), (shape{0, 3}));
  EXPECT_EQ(sinc(full({}, 0.5)).item<double>(), std::sin(std::numbers::pi * 0.5) / (std::numbers::pi * 0.5));
  const auto [whole, rest] = divmod(7, array({2, -2}));
  EXPECT_EQ(whole.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, -4}));
  EXPECT_EQ(rest.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, -1}));
  EXPECT_THROW((void)clip(array({1}, {.dtype = int8}), 1000, 2000), value_error);
}

TEST(functions, of_numbers_and_arrays) {
  const array x = {0.0, 4.0};
  // A GPU's pow is right to two units in the last place.
  const auto roots = float_power(array({4, 9}), 0.5).to_vector<double>();
  EXPECT_DOUBLE_EQ(roots[0], 2);
  EXPECT_DOUBLE_EQ(roots[1], 3);
  const auto powers = float_power(2, array({3, -1}, {.dtype = float32})).to_vector<double>();
  EXPECT_DOUBLE_EQ(powers[0], 8);
  EXPECT_DOUBLE_EQ(powers[1], 0.5);
  EXPECT_EQ(float_power(array({4.0f}, {.dtype = float32}), std::complex(0.5, 0.0)).dtype(), complex128);
  EXPECT_EQ(heaviside(x, 0.5).to_vector<double>(), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(complex_of(x, 1).to_vector<std::complex<double>>(), (std::vector<std::complex<double>>{{0, 1}, {4, 1}}));
  EXPECT_EQ(ldexp(x, array({1, 3}, {.dtype = int8})).to_vector<double>(), (std::vector<double>{0, 32}));
  EXPECT_EQ(ldexp(array({1.0f}, {.dtype = float32}), array({-3})).dtype(), float32);
  EXPECT_EQ(ldexp(array({1.0}), array({std::int64_t{1} << 40})).item<double>(),
            std::numeric_limits<double>::infinity());
  EXPECT_THROW((void)ldexp(x, 0.5), dtype_error);
}

TEST(functions, other_names_are_the_same) {
  const array x = {0.25, 0.5};
  const array i = array({1, 2});
  const auto same = [](const expr& a, const expr& b) {
    return a.dtype() == b.dtype() && a.astype(float64).to_vector<double>() == b.astype(float64).to_vector<double>();
  };
  EXPECT_TRUE(same(asin(x), arcsin(x)) && same(acos(x), arccos(x)) && same(atan(x), arctan(x)));
  EXPECT_TRUE(same(asinh(x), arcsinh(x)) && same(acosh(x + 1), arccosh(x + 1)) && same(atanh(x), arctanh(x)));
  EXPECT_TRUE(same(atan2(x, 2), arctan2(x, 2)) && same(pow(x, 2), power(x, 2)) && same(mod(x, 2), remainder(x, 2)));
  EXPECT_TRUE(same(abs(-x), x) && same(fix(x), trunc(x)) && same(conjugate(x), x) && same(true_divide(i, 2), i / 2));
  EXPECT_TRUE(same(gammaln(x), lgamma(x)) && same(rad2deg(x), degrees(x)));
  EXPECT_TRUE(same(bitwise_not(i), ~i) && same(bitwise_invert(i), ~i));
  EXPECT_TRUE(same(bitwise_left_shift(i, 2), i << 2) && same(bitwise_right_shift(i, 1), i >> 1));
}

TEST(functions, shifts_are_operators) {
  array i = array({1, -8}, {.dtype = int16});
  EXPECT_EQ((i << 3).to_vector<std::int16_t>(), (std::vector<std::int16_t>{8, -64}));
  EXPECT_EQ((1 << array({3, 70})).to_vector<std::int64_t>(), (std::vector<std::int64_t>{8, 0}));
  i <<= 2;
  EXPECT_EQ(i.to_vector<std::int16_t>(), (std::vector<std::int16_t>{4, -32}));
  i >>= array({1, 40});
  EXPECT_EQ(i.to_vector<std::int16_t>(), (std::vector<std::int16_t>{2, -1}));
  EXPECT_THROW((void)(array({1.0}) << 1), dtype_error);
}

}  // namespace
}  // namespace serried::testing
