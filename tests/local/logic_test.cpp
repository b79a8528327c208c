#include <serried/array.hpp>
#include <serried/creation.hpp>
#include <serried/error.hpp>
#include <serried/logic.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

namespace serried {
namespace {

const double nan = std::nan("");

TEST(logic, allclose) {
  const array a = {1.0, 2.0};
  EXPECT_TRUE(allclose(a, a * (1 + 1e-6)));
  EXPECT_FALSE(allclose(a, a * (1 + 1e-4)));
  EXPECT_TRUE(allclose(a, a * (1 + 1e-4), {.rtol = 1e-3}));
  EXPECT_TRUE(allclose(array({1, 1}), 1) && allclose(1, array({1.0, 1.0})) && !allclose(a, 1));
  EXPECT_TRUE(allclose(array({std::complex(1.0, 2.0)}), std::complex(1.0, 2.0 + 1e-7)));
  EXPECT_TRUE(allclose(zeros({0}), ones({0}))) << "of nothing, all is close";
  EXPECT_FALSE(allclose(array({nan}), nan));
  EXPECT_TRUE(allclose(array({nan}), nan, {.equal_nan = true}));
  EXPECT_TRUE(allclose(array({INFINITY}), INFINITY) && !allclose(array({INFINITY}), -INFINITY) &&
              !allclose(array({1.0}), INFINITY));
  EXPECT_TRUE(allclose(array({2}, {.dtype = uint8}), array({2.0f}, {.dtype = float32})));
  EXPECT_THROW((void)allclose(zeros({2}), zeros({3})), shape_error);
}

TEST(logic, isclose_is_not_symmetric_and_broadcasts) {
  const array a = {10.0, 12.0};
  EXPECT_EQ(isclose(a.reshape({2, 1}), a, {.rtol = 0.18, .atol = 0}).eval().astype(uint8).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{1, 1, 0, 1}));
  EXPECT_EQ(isclose(array({INT64_MIN}), array({INT64_MIN})).item<bool>(), true);
}

TEST(logic, array_equal) {
  const array a = {{1, 2}, {3, 4}};
  EXPECT_TRUE(array_equal(a, a + 0));
  EXPECT_TRUE(array_equal(a, a.astype(float32)));
  EXPECT_FALSE(array_equal(a, a.T()));
  EXPECT_FALSE(array_equal(a, a(0)));
  EXPECT_TRUE(array_equal(a(slice(_, _, -1)), array({{3, 4}, {1, 2}})));
  EXPECT_TRUE(array_equal(zeros({0, 2}), ones({0, 2})));
  EXPECT_FALSE(array_equal(zeros({0, 2}), zeros({0, 3})));
  EXPECT_TRUE(array_equal(full({}, 3), full({}, 3)));
  const array x = {1.0, nan};
  EXPECT_FALSE(array_equal(x, x));
  EXPECT_TRUE(array_equal(x, x + 0, {.equal_nan = true}));
  EXPECT_FALSE(array_equal(x, array({nan, 1.0}), {.equal_nan = true}));
}

TEST(logic, array_equiv) {
  const array a = {{1, 2}, {1, 2}};
  EXPECT_TRUE(array_equiv(a, array({1, 2})));
  EXPECT_TRUE(array_equiv(array({1, 2}), a));
  EXPECT_FALSE(array_equiv(a, array({2, 1})));
  EXPECT_FALSE(array_equiv(a, array({1, 2, 3})));
}

TEST(logic, select_takes_the_first_that_holds) {
  const array x = arange(6);
  EXPECT_EQ(select({x<3, x> 3}, {x, x * x}, 42).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 2, 42, 16, 25}));
  EXPECT_EQ(select({x < 4, x < 5}, {-x, x}).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, -1, -2, -3, 4, 0}));
  const array column = x(slice(0, 2)).reshape({2, 1});
  EXPECT_EQ(select({column == 0}, {x(slice(0, 3))}, 9).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 2, 9, 9, 9}));
}

TEST(logic, select_has_the_choices_common_dtype) {
  const array c = array({true, false});
  const array i = array({1, 2}, {.dtype = int8});
  EXPECT_EQ(select({c, c}, {i, i.astype(float32)}, 2.5).dtype(), float32);
  EXPECT_EQ(select({c}, {i}, 3).dtype(), int8);
  EXPECT_EQ(select({c}, {i}, 0.5).dtype(), float64);
}

TEST(logic, select_says_what_is_wrong) {
  const array x = arange(3);
  EXPECT_THROW((void)select({x < 1}, {x, x}), value_error);
  EXPECT_THROW((void)select({}, {}), value_error);
  EXPECT_THROW((void)select({x}, {x}), dtype_error);
  EXPECT_THROW((void)select({x < 1}, {arange(4)}), shape_error);
}

}  // namespace
}  // namespace serried
