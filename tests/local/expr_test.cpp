// Expressions: promotion, broadcasting, stencils, index nodes, reductions at the root.
#include <serried/array.hpp>
#include <serried/creation.hpp>

#include "local/expr_state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace sr = serried;
using sr::_;
using ints = std::vector<std::int64_t>;
using reals = std::vector<double>;

namespace {
sr::array counting(const sr::shape& s) { return sr::arange(sr::element_count(s)).reshape(s); }
ints values(const sr::expr& e) { return e.to_vector<std::int64_t>(); }
TEST(expr, says_so_when_it_was_moved_from) {
  const sr::array v = sr::arange(3);
  sr::expr e = v + 1;
  const sr::expr taken = std::move(e) * 2;
  EXPECT_EQ(taken.to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, 4, 6}));
  EXPECT_THROW((void)e.eval(), sr::value_error);   // NOLINT(bugprone-use-after-move)
  EXPECT_THROW((void)e.shape(), sr::value_error);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW((void)(e + v), sr::value_error);    // NOLINT(bugprone-use-after-move)
  e = v - 1;
  EXPECT_EQ(e.to_vector<std::int64_t>(), (std::vector<std::int64_t>{-1, 0, 1}));
}

}  // namespace

TEST(expr, scalars_are_weak) {
  const sr::array f = sr::ones({1}, {.dtype = sr::float32});
  const sr::array i = sr::ones({1}, {.dtype = sr::int8});
  const sr::array b = sr::ones({1}, {.dtype = sr::bool_});
  EXPECT_EQ((f * 2.0).dtype(), sr::float32);
  EXPECT_EQ((2 * f).dtype(), sr::float32);
  EXPECT_EQ((i + 1).dtype(), sr::int8);
  EXPECT_EQ((i + 1.0).dtype(), sr::float64);
  EXPECT_EQ((b + 1).dtype(), sr::int64);
  EXPECT_EQ((f * std::complex<double>(0, 1)).dtype(), sr::complex64);
  EXPECT_EQ((i / 2).dtype(), sr::float64);
  EXPECT_EQ((i + f).dtype(), sr::float32);
  EXPECT_THROW((void)(i + 1000), sr::value_error);
  EXPECT_EQ((i < 1).dtype(), sr::bool_);
}

TEST(expr, where_takes_scalars) {
  const sr::array a = counting({4});
  EXPECT_EQ(values(where(a > 1, a, -1)), (ints{-1, -1, 2, 3}));
  EXPECT_EQ(where(a > 1, 1.5, 0).to_vector<double>(), (reals{0, 0, 1.5, 1.5}));
  EXPECT_EQ(where(a > 1, sr::ones({4}, {.dtype = sr::float32}), 0).dtype(), sr::float32);
}

TEST(expr, broadcasting) {
  const sr::array row = counting({3});
  const sr::array column = counting({2}).reshape({2, 1}) * 10;
  EXPECT_EQ(values(row + column), (ints{0, 1, 2, 10, 11, 12}));
  EXPECT_EQ((row + column + sr::zeros({4, 1, 1})).shape(), (sr::shape{4, 2, 3}));
  EXPECT_THROW((void)(row + counting({2})), sr::shape_error);
  EXPECT_EQ((sr::zeros({0, 3}) + row).shape(), (sr::shape{0, 3}));
  EXPECT_THROW((void)(sr::zeros({0, 3}) + counting({2, 3})), sr::shape_error);
}

TEST(expr, errors_name_the_operation) {
  try {
    (void)(counting({3}) * counting({2}));
    FAIL();
  } catch (const sr::shape_error& e) {
    EXPECT_NE(std::string(e.what()).find("multiply"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("(3,)"), std::string::npos) << e.what();
  }
  EXPECT_THROW((void)-sr::ones({1}, {.dtype = sr::bool_}), sr::dtype_error);
  EXPECT_THROW((void)(sr::ones({1}) & 1), sr::dtype_error);
}

TEST(expr, long_chains) {
  // Past the limit of leaves and instructions operands are evaluated on the way; the values must not notice.
  const sr::array one = sr::ones({5}, {.dtype = sr::int64});
  sr::expr total = one + 0;
  for (int i = 0; i < 1000; ++i) total = total + one * i;
  EXPECT_EQ(values(total), ints(5, 1 + 999 * 1000 / 2));
  sr::expr many = sr::full({5}, 0) + 0;
  for (int i = 0; i < 100; ++i) many = many + sr::full({5}, i);
  EXPECT_EQ(values(many), ints(5, 99 * 100 / 2));
}

TEST(expr, loads_stay_within_what_a_kernel_takes) {
  // All elements of a torus, twice: 162 loads of 41 words at most.
  const sr::array u = counting({3, 3, 3, 3});
  const auto p = with_boundary(u, sr::periodic);
  sr::expr sum = sr::full({1}, 0) + 0;
  for (const int first : {-1, 2})
    for (int k = 0; k < 81; ++k) {
      sum = sum + at(p, {first + k / 27, first + k / 9 % 3, first + k / 3 % 3, first + k % 3});
      EXPECT_LE(sum.state()->code.loads.size() * 41, 4095u);
    }
  EXPECT_EQ(values(sum), ints(81, 2 * 80 * 81 / 2));
}

TEST(expr, neighbors) {
  const sr::array u = counting({4});
  const auto p = with_boundary(u, sr::periodic);
  EXPECT_EQ(values(at(p, {1})), (ints{1, 2, 3, 0}));
  EXPECT_EQ(values(at(p, {-1})), (ints{3, 0, 1, 2}));
  EXPECT_EQ(values(at(p, {9})), (ints{1, 2, 3, 0}));
  const auto c = with_boundary(u, sr::edge);
  EXPECT_EQ(values(at(c, {2})), (ints{2, 3, 3, 3}));
  EXPECT_EQ(values(at(c, {-9})), (ints{0, 0, 0, 0}));
  const auto v = with_boundary(u, {{sr::value(-7), sr::edge}});
  EXPECT_EQ(values(at(v, {-2})), (ints{-7, -7, 0, 1}));
  EXPECT_EQ(values(at(v, {1}) + at(v, {-1})), (ints{1 - 7, 2, 4, 5}));
  EXPECT_THROW((void)at(u, {1}).eval(), sr::index_error);
  EXPECT_EQ(values(at(u, {0})), (ints{0, 1, 2, 3}));
  EXPECT_EQ(values(at(u, {1})(sr::slice(0, -1))), (ints{1, 2, 3}));
  EXPECT_THROW((void)at(u, {1})(sr::slice(1, _)).eval(), sr::index_error);
  EXPECT_THROW((void)at(u, {1, 0}), sr::shape_error);
  EXPECT_THROW((void)with_boundary(u, {sr::edge, sr::edge}), sr::value_error);
  EXPECT_THROW((void)with_boundary(u, {{sr::periodic, sr::edge}}), sr::value_error);
}

TEST(expr, one_array_with_two_boundaries) {
  const sr::array u = counting({3});
  const auto e = at(with_boundary(u, sr::periodic), {1}) * 10 + at(with_boundary(u, sr::edge), {1}) + u;
  EXPECT_EQ(values(e), (ints{11, 23, 4}));
}

TEST(expr, periodic_of_one_and_two) {
  const sr::array one = sr::full({1}, 5);
  const auto p1 = with_boundary(one, sr::periodic);
  EXPECT_EQ(values(at(p1, {1}) + at(p1, {-1})), (ints{10}));
  const sr::array two = counting({2});
  const auto p2 = with_boundary(two, sr::periodic);
  EXPECT_EQ(values(at(p2, {1}) + at(p2, {-1})), (ints{2, 0}));
}

TEST(expr, a_boundary_follows_writes_not_rebinding) {
  sr::array u = counting({3});
  const auto U = with_boundary(u, sr::periodic);
  u += 1;
  EXPECT_EQ(values(at(U, {1})), (ints{2, 3, 1}));
  u = counting({3}) * 100;
  EXPECT_EQ(values(at(U, {1})), (ints{2, 3, 1}));
}

TEST(expr, neighbors_broadcast) {
  const sr::array u = counting({1, 3});
  const auto U = with_boundary(u, sr::periodic);
  EXPECT_EQ(values(at(U, {1, 1}) + sr::zeros({2, 1}, {.dtype = sr::int64})), (ints{1, 2, 0, 1, 2, 0}));
  const sr::array v = counting({4, 3});
  // One row of an expression stands for all rows of another.
  EXPECT_EQ(values((v * 1)(sr::slice(2, 3)) + counting({2, 3})), (ints{6, 8, 10, 9, 11, 13}));
}

TEST(expr, slices_of_expressions) {
  const sr::array u = counting({4, 5});
  const auto e = u * 2 + 1;
  EXPECT_EQ(values(e(sr::slice(1, 3), sr::slice(4, _))), (ints{19, 29}));
  EXPECT_EQ(values(e(-1)), (ints{31, 33, 35, 37, 39}));
  EXPECT_EQ(values(e(_, sr::slice(_, _, -4))(0)), (ints{9, 1}));
  EXPECT_EQ(values(e(sr::slice(1, 4))(sr::slice(1, 3))(sr::slice(1, 2), 0)), (ints{31}));
  EXPECT_EQ(values(index(u, 1)(sr::slice(0, 1), sr::slice(2, 4))), (ints{2, 3}));
}

TEST(expr, index_nodes) {
  const sr::array u = sr::zeros({2, 3});
  EXPECT_EQ(values(index(u, 0)), (ints{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(values(index(u, -1)), (ints{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values(index(sr::zeros({3}), 0) + index(u, 0) * 10), (ints{0, 1, 2, 10, 11, 12}));
  EXPECT_EQ(values(index(sr::zeros({1, 3}), 0) + counting({2, 1})), (ints{0, 0, 0, 1, 1, 1}));
  EXPECT_THROW((void)index(u, 2), sr::index_error);
  EXPECT_EQ(values(where(on_border(sr::zeros({3, 4})), 1, 0)), (ints{1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1}));
}

TEST(expr, reductions) {
  const sr::array a = counting({2, 3});
  EXPECT_EQ(sr::sum(a).item<std::int64_t>(), 15);
  EXPECT_EQ(values(sr::sum(a, {.axis = 0})), (ints{3, 5, 7}));
  EXPECT_EQ(values(a.sum({.axis = -1})), (ints{3, 12}));
  EXPECT_EQ(sr::sum(a, {.axis = {0, 1}, .keepdims = true}).shape(), (sr::shape{1, 1}));
  EXPECT_EQ(values(sr::max(a * a, {.axis = 1, .keepdims = true})), (ints{4, 25}));
  EXPECT_EQ(sr::min(a).item<std::int64_t>(), 0);
  EXPECT_EQ(sr::prod(a + 1).item<std::int64_t>(), 720);
  EXPECT_EQ(values(a - sr::max(a, {.axis = 1, .keepdims = true})), (ints{-2, -1, 0, -2, -1, 0}));
  EXPECT_EQ(sr::sum(sr::sum(a, {.axis = 0}) * 2).item<std::int64_t>(), 30);
  EXPECT_EQ(sr::sum(a, {.dtype = sr::float32}).dtype(), sr::float32);
  EXPECT_EQ(sr::sum(sr::full({300}, 100, {.dtype = sr::int8})).item<std::int64_t>(), 30000);
  EXPECT_EQ(sr::sum(sr::full({3}, 200, {.dtype = sr::uint8})).dtype(), sr::uint64);
  EXPECT_EQ(sr::sum(a > 2).item<std::int64_t>(), 3);
  EXPECT_THROW((void)sr::sum(a, {.axis = 2}), sr::index_error);
  EXPECT_THROW((void)sr::sum(a, {.axis = {0, -2}}), sr::value_error);
}

TEST(expr, reductions_of_nothing) {
  const sr::array none = sr::zeros({0, 3});
  EXPECT_EQ(sr::sum(none).item<double>(), 0);
  EXPECT_EQ(sr::prod(none).item<double>(), 1);
  EXPECT_EQ(sr::sum(none, {.axis = 0}).to_vector<double>(), (reals{0, 0, 0}));
  EXPECT_THROW((void)sr::min(none), sr::value_error);
  EXPECT_THROW((void)sr::max(none, {.axis = 0}), sr::value_error);
  EXPECT_EQ(sr::max(none, {.axis = 1}).shape(), (sr::shape{0}));
  EXPECT_THROW((void)sr::max(sr::zeros({0, 0}), {.axis = 0}), sr::value_error);
  EXPECT_EQ(sr::sum(sr::full({}, 3.0)).item<double>(), 3);
}

TEST(expr, nan_wins_minima_and_maxima) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const sr::array a = sr::from_vector(reals{1, nan, -1});
  EXPECT_TRUE(std::isnan(sr::min(a).item<double>()));
  EXPECT_TRUE(std::isnan(sr::max(a).item<double>()));
}

TEST(expr, sums_do_not_depend_on_order) {
  reals x;
  double scale = 1;
  for (int i = 0; i < 5000; ++i) {
    x.push_back(std::sin(i) * scale);
    scale = i % 60 == 0 ? 1 : scale * 0.37;
  }
  const sr::array a = sr::from_vector(x);
  const double forwards = sr::sum(a).item<double>();
  EXPECT_EQ(forwards, sr::sum(a(sr::slice(_, _, -1))).item<double>());
  EXPECT_EQ(forwards, sr::sum(a.reshape({50, 100}).T()).item<double>());
  EXPECT_EQ(forwards, sr::sum(sr::sum(sr::from_vector(reals{forwards}), {.axis = 0})).item<double>());
}

TEST(expr, many_results_of_a_reduction) {
  const sr::array a = counting({2, 70'001, 3});
  const ints got = values(sr::sum(a, {.axis = 2}));
  for (std::int64_t i = 0; i < 140'002; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], 9 * i + 3);
  const auto halves = sr::sum(a.astype(sr::float32) * 0.5, {.axis = {0}}).to_vector<float>();
  for (std::int64_t i = 0; i < 210'003; ++i)
    ASSERT_EQ(halves[static_cast<std::size_t>(i)], static_cast<float>(0.5 * i + 0.5 * (i + 210'003)));
}

TEST(expr, more_elements_than_32_bits_count) {
  constexpr std::int64_t n = (std::int64_t{1} << 31) + 7;
  const sr::array ones = sr::full({1}, 1, {.dtype = sr::int8}).broadcast_to({n});
  EXPECT_EQ(sr::sum(ones).item<std::int64_t>(), n);
  const sr::array grid = sr::full({1, 1}, 1, {.dtype = sr::int8}).broadcast_to({1 << 20, 1 << 12});
  EXPECT_EQ(values(index(grid, 0)(sr::slice((1 << 20) - 1, _), sr::slice(0, 1))), (ints{(1 << 20) - 1}));
  EXPECT_EQ(values(index(ones, 0)(sr::slice(n - 2, _))), (ints{n - 2, n - 1}));
}

TEST(expr, comparisons_with_integers_out_of_range) {
  const sr::array a = sr::full({1}, 7, {.dtype = sr::uint8});
  EXPECT_TRUE((a < 300).item<bool>());
  EXPECT_TRUE((a > -1).item<bool>());
  EXPECT_FALSE((a == -249).item<bool>());
  EXPECT_THROW((void)(a + 300), sr::value_error);
}

TEST(expr, bits_turned_over) {
  EXPECT_EQ(values((~counting({3})).eval()), (ints{-1, -2, -3}));
  EXPECT_EQ((~sr::full({1}, 1, {.dtype = sr::uint16})).item<std::uint16_t>(), 65534);
  EXPECT_FALSE((~sr::full({1}, true)).item<bool>());
  EXPECT_THROW((void)~sr::ones({1}), sr::dtype_error);
}

TEST(expr, products_of_16_bit_numbers) {
  const sr::array a = sr::full({3}, 30.0, {.dtype = sr::float16});
  EXPECT_EQ(sr::prod(a).dtype(), sr::float16);
  EXPECT_EQ(sr::prod(a).item<float>(), 27008);  // 27000 rounded to float16, as NumPy gives it
}

TEST(expr, index_nodes_do_not_go_stale) {
  sr::array u = sr::ones({3, 3});
  const auto border = on_border(u);
  for (int i = 0; i < 3; ++i) u += where(border, 0, 1);
  EXPECT_EQ(u.to_vector<double>(), (reals{1, 1, 1, 1, 4, 1, 1, 1, 1}));
  const auto e = at(u, {0, 0});
  u += 1;
  EXPECT_THROW((void)e(0), sr::value_error);
  EXPECT_THROW((void)with_boundary(e, sr::edge), sr::value_error);
}

TEST(expr, methods_and_free_functions) {
  const sr::array a = counting({2, 3});
  EXPECT_EQ(values((a + a).sum({.axis = 0})), (ints{6, 10, 14}));
  EXPECT_EQ(values((a * 1).max()), (ints{5}));
  EXPECT_EQ(values(sr::transpose(a)), values(a.T()));
  EXPECT_EQ(sr::reshape(a, {3, 2}).shape(), (sr::shape{3, 2}));
  EXPECT_EQ(sr::broadcast_to(a, {4, 2, 3}).shape(), (sr::shape{4, 2, 3}));
  EXPECT_EQ(values(pow(a, 2)), (ints{0, 1, 4, 9, 16, 25}));
  EXPECT_EQ(values(a(0, sr::slice(2))), (ints{0, 1}));
  EXPECT_EQ(sr::arange(0, 3, {.dtype = sr::float32}).dtype(), sr::float32);
  EXPECT_EQ(sr::dims(std::span<const std::int64_t>(a.shape().begin(), 2)), a.shape());
}

TEST(expr, truth_values_accumulate_as_such) {
  const sr::array all = sr::ones({256}, {.dtype = sr::bool_});
  EXPECT_TRUE(sr::sum(all, {.dtype = sr::bool_}).item<bool>());
  EXPECT_FALSE(sr::sum(!all, {.dtype = sr::bool_}).item<bool>());
  EXPECT_FALSE(sr::prod(index(all, 0) > 0, {.dtype = sr::bool_}).item<bool>());
  EXPECT_TRUE(logical_and(all, std::complex<double>(0, 1)).eval()(0).item<bool>());
}

TEST(expr, many_leaves_behind_an_index_node) {
  sr::expr e = sr::ones({3}) + 0;
  for (int i = 0; i < 31; ++i) e = e + sr::ones({3});
  EXPECT_EQ((sr::ones({3}) + index(e, 0)).to_vector<double>(), (reals{1, 2, 3}));
}

TEST(expr, offsets_have_a_limit) {
  const auto z = with_boundary(sr::zeros({6}), sr::edge);
  EXPECT_THROW((void)at(z, {std::numeric_limits<std::int64_t>::max()}), sr::index_error);
  EXPECT_EQ(at(z, {std::int64_t{1} << 32}).to_vector<double>(), reals(6, 0));
}

TEST(expr, scalars_change_nothing_but_values) {
  const sr::array u = counting({3});
  for (int k = 0; k < 3; ++k) EXPECT_EQ(values(u * k), (ints{0, k, 2 * k}));
}

TEST(expr, astype) {
  const sr::array a = sr::from_vector(reals{1.7, -1.7, 0});
  EXPECT_EQ(a.astype(sr::int32).to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, -1, 0}));
  EXPECT_EQ(a.astype(sr::bool_).astype(sr::int64).to_vector<std::int64_t>(), (ints{1, 1, 0}));
  sr::array b = a.astype(sr::float64);
  b(0) = 9;
  EXPECT_EQ(a(0).item<double>(), 1.7);  // a result is never an alias
}
