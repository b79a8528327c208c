// Handles, views, creation, reading values.
#include <serried/array.hpp>
#include <serried/context.hpp>
#include <serried/creation.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <sstream>
#include <vector>

namespace sr = serried;
using sr::_;

namespace {

sr::array counting(const sr::shape& s) { return sr::arange(sr::element_count(s)).reshape(s); }
std::vector<std::int64_t> values(const sr::array& a) { return a.to_vector<std::int64_t>(); }
using ints = std::vector<std::int64_t>;

}  // namespace

TEST(array, default_is_empty) {
  const sr::array a;
  EXPECT_EQ(a.shape(), (sr::shape{0}));
  EXPECT_EQ(a.dtype(), sr::float64);
}

TEST(array, creation) {
  EXPECT_EQ(sr::zeros({2, 3}).to_vector<double>(), std::vector<double>(6, 0));
  EXPECT_EQ(sr::ones({2}, {.dtype = sr::int8}).to_vector<std::int8_t>(), (std::vector<std::int8_t>{1, 1}));
  EXPECT_EQ(sr::full({2}, 1.5, {.dtype = sr::float32}).to_vector<float>(), (std::vector<float>{1.5F, 1.5F}));
  EXPECT_EQ(sr::full({1}, 7).dtype(), sr::int64);
  EXPECT_EQ(sr::full({1}, true).dtype(), sr::bool_);
  EXPECT_EQ(sr::full({}, 2.5).item<double>(), 2.5);
  EXPECT_EQ(sr::eye(2).to_vector<double>(), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(sr::zeros(3).shape(), (sr::shape{3}));
  EXPECT_EQ(sr::zeros_like(counting({2, 2})).dtype(), sr::int64);
  EXPECT_EQ(sr::full_like(counting({2}), 2.5, {.dtype = sr::float64}).to_vector<double>(),
            (std::vector<double>{2.5, 2.5}));
  const std::vector<float> host{1, 2, 3, 4};
  EXPECT_EQ(sr::from_vector(host, {2, 2})(1, 0).item<float>(), 3);
  EXPECT_THROW((void)sr::from_vector(host, {3}), sr::shape_error);
  EXPECT_THROW((void)sr::full({1}, 300, {.dtype = sr::int8}), sr::value_error);
  EXPECT_THROW((void)sr::zeros({2, -1}), sr::shape_error);
}

TEST(array, size_overflow_is_found_before_allocation) {
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_THROW((void)sr::empty({big, big}), sr::shape_error);
  EXPECT_THROW((void)sr::empty({big, std::int64_t{1} << 22}), sr::shape_error);  // 2^62 elements, 2^65 bytes
  EXPECT_EQ(sr::empty({big, 0}).size(), 0);
}

TEST(array, nothing_may_be_of_any_length) {
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(sr::zeros({0, huge, huge}).shape(), (sr::shape{0, huge, huge}));
}

TEST(array, arange_and_linspace) {
  EXPECT_EQ(values(sr::arange(4)), (ints{0, 1, 2, 3}));
  EXPECT_EQ(values(sr::arange(5, 0, -2)), (ints{5, 3, 1}));
  EXPECT_EQ(values(sr::arange(3, 1)), ints{});
  EXPECT_EQ(sr::arange(0, 1, 0.25).to_vector<double>(), (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(sr::arange(3, {.dtype = sr::float32}).dtype(), sr::float32);
  EXPECT_THROW((void)sr::arange(0, 1, 0), sr::value_error);
  EXPECT_EQ(sr::linspace(0, 1, 5).to_vector<double>(), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(sr::linspace(2, 3, 1).to_vector<double>(), (std::vector<double>{2}));
  EXPECT_EQ(sr::linspace(2, 3, 0).size(), 0);
  EXPECT_EQ(values(sr::linspace(-1, 1, 4, {.dtype = sr::int64})), (ints{-1, -1, 0, 1}));
  EXPECT_EQ(values(sr::linspace(0, 1, 1, {.dtype = sr::int64})), (ints{0}));
}

TEST(array, slices_are_views) {
  sr::array a = counting({4, 5});
  sr::array row = a(1);
  EXPECT_EQ(row.shape(), (sr::shape{5}));
  EXPECT_EQ(values(a(sr::slice(1, _, 2), sr::slice(_, _, -2))), (ints{9, 7, 5, 19, 17, 15}));
  EXPECT_EQ(values(a(-1, sr::slice(-2, _))), (ints{18, 19}));
  EXPECT_EQ(a(sr::ellipsis, 0).shape(), (sr::shape{4}));
  EXPECT_EQ(a(sr::newaxis, _, 2, sr::newaxis).shape(), (sr::shape{1, 4, 1}));
  EXPECT_EQ(values(a(sr::slice(3, 1))), ints{});
  EXPECT_EQ(a(sr::slice(10, 20)).shape(), (sr::shape{0, 5}));
  a(1, _) = -1;
  EXPECT_EQ(values(row), (ints{-1, -1, -1, -1, -1}));
  row(sr::slice(0, 2)) = sr::from_vector(ints{7, 8});
  EXPECT_EQ(a(1, 1).item<std::int64_t>(), 8);
  EXPECT_THROW((void)a(4), sr::index_error);
  EXPECT_THROW((void)a(-5), sr::index_error);
  EXPECT_THROW((void)a(0, 0, 0), sr::index_error);
  EXPECT_THROW((void)a(sr::slice(0, 3, 0)), sr::value_error);
}

TEST(array, extreme_slice_steps) {
  const sr::array a = counting({5});
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(values(a(sr::slice(1, _, most))), (ints{1}));
  EXPECT_EQ(values(a(sr::slice(_, _, least))), (ints{4}));
  EXPECT_EQ(values(a(sr::slice(least + 1, most))), (ints{0, 1, 2, 3, 4}));
}

TEST(array, transpose_and_reshape) {
  const sr::array a = counting({2, 3});
  EXPECT_EQ(values(a.T()), (ints{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(a.T().strides(), (sr::strides{8, 24}));
  EXPECT_EQ(values(a.T().reshape({6})), (ints{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(a.reshape({-1, 2}).shape(), (sr::shape{3, 2}));
  EXPECT_THROW((void)a.reshape({4}), sr::shape_error);
  EXPECT_THROW((void)a.reshape({-1, -1}), sr::shape_error);
  EXPECT_THROW((void)a.reshape({-1, 4}), sr::shape_error);
  EXPECT_EQ(sr::zeros({0, 3}).reshape({3, 0}).shape(), (sr::shape{3, 0}));
  EXPECT_THROW((void)sr::zeros({0, 3}).reshape({-1, 0}), sr::shape_error);
  EXPECT_EQ(sr::zeros({0, 10})(_, sr::slice(_, _, 2)).reshape({0}).shape(), (sr::shape{0}));
  EXPECT_EQ(counting({2, 3, 4}).transpose({2, 0, -2}).shape(), (sr::shape{4, 2, 3}));
  EXPECT_THROW((void)a.transpose({0, 0}), sr::index_error);
}

TEST(array, reshape_of_a_view_shares_data_where_strides_allow) {
  sr::array a = counting({4, 6});
  sr::array columns = a(_, sr::slice(0, 3));  // rows of 3 within rows of 6
  sr::array split = columns.reshape({2, 2, 3});
  split(1, 1, 2) = 100;
  EXPECT_EQ(a(3, 2).item<std::int64_t>(), 100);
  sr::array flat = columns.reshape({12});  // not possible as a view
  flat(0) = -5;
  EXPECT_EQ(a(0, 0).item<std::int64_t>(), 0);
  sr::array strided = counting({10})(sr::slice(_, _, 2));
  EXPECT_EQ(values(strided.reshape({5, 1, 1})), (ints{0, 2, 4, 6, 8}));
}

TEST(array, broadcast_to) {
  const sr::array a = counting({3});
  EXPECT_EQ(values(a.broadcast_to({2, 3})), (ints{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(a.reshape({3, 1}).broadcast_to({3, 2}).strides(), (sr::strides{8, 0}));
  EXPECT_THROW((void)a.broadcast_to({4}), sr::shape_error);
  EXPECT_THROW((void)a.broadcast_to({}), sr::shape_error);
  EXPECT_THROW(a.broadcast_to({2, 3})(_) = 0, sr::value_error);
}

TEST(array, reading_values) {
  const sr::array a = sr::full({1, 1}, 2.5, {.dtype = sr::float32});
  EXPECT_EQ(a.item<double>(), 2.5);
  EXPECT_EQ(a.item<std::complex<double>>(), std::complex<double>(2.5));
  EXPECT_THROW((void)a.item<std::int32_t>(), sr::dtype_error);
  EXPECT_THROW((void)sr::zeros({2}).item<double>(), sr::value_error);
  EXPECT_THROW((void)sr::zeros({2}).item<float>(), sr::value_error);
  EXPECT_EQ(counting({2, 2}).T().to_vector<double>(), (std::vector<double>{0, 2, 1, 3}));
  EXPECT_THROW((void)a.data<double>(), sr::dtype_error);
  if (sr::context::current().device() == "host") {
    EXPECT_EQ(*a.data<float>(), 2.5F);
  }
}

TEST(array, a_pointer_handed_out_stays_valid) {
  sr::array a = counting({4});
  std::int64_t* const p = a.data<std::int64_t>();
  a += at(with_boundary(a, sr::periodic), {1});  // reads neighbors: would otherwise take a fresh buffer
  EXPECT_EQ(a.data<std::int64_t>(), p);
  EXPECT_EQ(values(a), (ints{1, 3, 5, 3}));
  if (sr::context::current().device() == "host") {
    EXPECT_EQ(ints(p, p + 4), (ints{1, 3, 5, 3}));
  }
}

TEST(array, copies_share_nothing) {
  sr::array a = counting({3});
  sr::array alias = a;
  sr::array own = a.copy();
  a(_) = 9;
  EXPECT_EQ(values(alias), (ints{9, 9, 9}));
  EXPECT_EQ(values(own), (ints{0, 1, 2}));
}

TEST(array, shapes_and_dtypes_print) {
  std::ostringstream out;
  out << sr::zeros({2, 3}).shape() << ' ' << sr::zeros(5).shape() << ' ' << sr::float32;
  EXPECT_EQ(out.str(), "(2, 3) (5,) float32");
}

TEST(array, thirty_two_dimensions) {
  const sr::array a = sr::zeros(sr::dims::filled(32, 1));
  EXPECT_EQ((a + 1).eval().ndim(), 32);
  EXPECT_THROW((void)a(sr::newaxis), sr::shape_error);
}
