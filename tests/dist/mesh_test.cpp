#include "dist/geometry.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

namespace serried {
namespace {

using dist::balanced_factors;
using testing::grid;

template <class Error, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing of this type was thrown";
  return {};
}

TEST(mesh, balanced_factors_are_as_even_as_divisors_allow) {
  using list = std::vector<std::int64_t>;
  EXPECT_EQ(balanced_factors(1, 1), (list{1}));
  EXPECT_EQ(balanced_factors(1, 3), (list{1, 1, 1}));
  EXPECT_EQ(balanced_factors(6, 1), (list{6}));
  EXPECT_EQ(balanced_factors(6, 2), (list{3, 2}));
  EXPECT_EQ(balanced_factors(7, 2), (list{7, 1}));
  EXPECT_EQ(balanced_factors(12, 3), (list{3, 2, 2}));
  EXPECT_EQ(balanced_factors(20, 3), (list{5, 2, 2}));  // not 4 and a rest that is larger
  EXPECT_EQ(balanced_factors(24, 3), (list{4, 3, 2}));
  EXPECT_EQ(balanced_factors(36, 2), (list{6, 6}));
  EXPECT_EQ(balanced_factors(1024, 3), (list{16, 8, 8}));
}

TEST(mesh, zero_takes_what_the_fixed_sizes_leave) {
  EXPECT_EQ(grid(6, {{"x", 0}, {"y", 0}}).shape(), (shape{3, 2}));
  EXPECT_EQ(grid(6, {{"x", 2}, {"y", 0}}).shape(), (shape{2, 3}));
  EXPECT_EQ(grid(6, {{"x", 0}, {"y", 6}}).shape(), (shape{1, 6}));
  EXPECT_EQ(grid(12, {{"a", 0}, {"b", 2}, {"c", 0}}).shape(), (shape{3, 2, 2}));
  EXPECT_EQ(grid(4, {{"x", 4}}).shape(), (shape{4}));
  EXPECT_EQ(grid(5, {{"x", std::size_t{1}}, {"y", 0L}}).shape(), (shape{1, 5}));
}

TEST(mesh, sizes_that_do_not_fit_are_refused_with_both_numbers) {
  const std::string exact = message_of<value_error>([] { grid(6, {{"x", 2}, {"y", 2}}); });
  EXPECT_NE(exact.find("4 ranks"), std::string::npos) << exact;
  EXPECT_NE(exact.find("has 6"), std::string::npos) << exact;
  const std::string multiple = message_of<value_error>([] { grid(6, {{"x", 4}, {"y", 0}}); });
  EXPECT_NE(multiple.find("a multiple of 4 ranks"), std::string::npos) << multiple;
  EXPECT_NE(multiple.find("has 6"), std::string::npos) << multiple;
  EXPECT_THROW(grid(6, {{"x", 12}, {"y", 0}}), value_error);
  EXPECT_THROW(grid(6, {{"x", -6}}), value_error);
  EXPECT_THROW(grid(6, {{"x", std::int64_t{1} << 40}, {"y", std::int64_t{1} << 40}}), value_error);
}

TEST(mesh, names_are_checked) {
  EXPECT_THROW(grid(6, {}), value_error);
  EXPECT_THROW(grid(6, {{"x", 0}, {"x", 0}}), value_error);
  EXPECT_THROW(grid(6, {{"", 0}}), value_error);
  const mesh m = grid(6, {{"x", 0}, {"depth", 0}});
  const std::string unknown = message_of<value_error>([&] { static_cast<void>(m.axis("z")); });
  EXPECT_NE(unknown.find("'z'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("depth"), std::string::npos) << unknown;
  EXPECT_THROW(static_cast<void>(m.axis(2)), index_error);
  EXPECT_EQ(m.axis("depth").name(), "depth");
  EXPECT_EQ(m.axis("depth").index(), 1);
  EXPECT_EQ(m.axis("depth").size(), 2);
  EXPECT_EQ(m.axis("depth"), m.axis(1));
  EXPECT_NE(m.axis("depth"), m.axis(0));
}

TEST(mesh, ranks_are_in_row_major_order) {
  const mesh m = grid(12, {{"a", 3}, {"b", 2}, {"c", 2}});
  EXPECT_EQ(m.size(), 12);
  EXPECT_EQ(m.ndim(), 3);
  EXPECT_EQ(m.coordinates(0), (dims{0, 0, 0}));
  EXPECT_EQ(m.coordinates(1), (dims{0, 0, 1}));
  EXPECT_EQ(m.coordinates(7), (dims{1, 1, 1}));
  EXPECT_EQ(m.coordinates(11), (dims{2, 1, 1}));
  for (int r = 0; r < 12; ++r) EXPECT_EQ(m.rank_at(m.coordinates(r)), r);
  EXPECT_THROW(static_cast<void>(m.coordinates(12)), index_error);
  EXPECT_THROW(static_cast<void>(m.coordinates(-1)), index_error);
  EXPECT_THROW(static_cast<void>(m.rank_at({0, 2, 0})), index_error);
  EXPECT_THROW(static_cast<void>(m.rank_at({0, 0})), index_error);
}

TEST(mesh, equality_is_by_communicator_shape_and_names) {
  const mesh m = grid(6, {{"x", 3}, {"y", 2}});
  const mesh handle = m;
  EXPECT_EQ(m, handle);
  EXPECT_EQ(m, grid(6, {{"x", 0}, {"y", 0}}));
  EXPECT_FALSE(m == grid(6, {{"x", 2}, {"y", 3}}));
  EXPECT_FALSE(m == grid(6, {{"y", 3}, {"x", 2}}));
  EXPECT_EQ(m.axis("x"), grid(6, {{"x", 3}, {"y", 2}}).axis("x"));
  const mesh other = dist::make_mesh(communicator(), 6, {{"x", 3}, {"y", 2}});
  EXPECT_FALSE(m == other);
}

TEST(mesh, of_a_communicator) {
  const mesh alone{communicator()};
  EXPECT_EQ(alone.shape(), (shape{1}));
  EXPECT_EQ(alone.axis(0).name(), "ranks");
  EXPECT_EQ(alone.communicator().size(), 1);
  const mesh square(communicator(), {{"x", 0}, {"y", 0}});
  EXPECT_EQ(square.shape(), (shape{1, 1}));
  EXPECT_EQ(to_string(square), "(x: 1, y: 1)");
  EXPECT_THROW(mesh(communicator(), {{"x", 2}}), value_error);
}

}  // namespace
}  // namespace serried
