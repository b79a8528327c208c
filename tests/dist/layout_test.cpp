#include "dist/geometry.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

#include <map>

namespace serried {
namespace {

using dist::distribution;
using testing::grid;
using offsets = std::vector<std::int64_t>;

TEST(layout, entries_are_axes_products_or_whole) {
  const mesh m = grid(12, {{"x", 3}, {"y", 2}, {"z", 2}});
  const mesh_axis x = m.axis("x"), y = m.axis("y"), z = m.axis("z");
  EXPECT_EQ(to_string(m.layout({x, whole, y * z})), "(x, whole, y*z)");
  EXPECT_EQ(to_string(m.layout()), "()");
  EXPECT_EQ((x * y * z).parts(), 12);
  EXPECT_EQ(((x * y) * z), (x * (y * z)));
  EXPECT_NE(x * y, y * x);
  EXPECT_EQ(split_over(whole).parts(), 1);
  EXPECT_EQ(m.layout({x, whole, whole}), m.layout({x}));
  EXPECT_NE(m.layout({x}), m.layout({y}));
  EXPECT_NE(m.layout({x}), m.layout({whole, x}));
}

TEST(layout, an_axis_splits_one_dimension_of_its_own_mesh) {
  const mesh m = grid(6, {{"x", 3}, {"y", 2}});
  const mesh_axis x = m.axis("x"), y = m.axis("y");
  EXPECT_THROW(static_cast<void>(m.layout({x, x})), value_error);
  EXPECT_THROW(static_cast<void>(m.layout({x * x})), value_error);
  EXPECT_THROW(static_cast<void>(m.layout({x * y, y})), value_error);
  EXPECT_THROW(static_cast<void>(m.layout({grid(6, {{"x", 6}}).axis("x")})), value_error);
  EXPECT_NO_THROW(static_cast<void>(m.layout({grid(6, {{"x", 3}, {"y", 2}}).axis("x")})));  // an equal mesh
}

TEST(distribution, blocks_are_balanced_and_the_first_are_larger) {
  EXPECT_EQ(dist::block_offsets(10, 3), (offsets{0, 4, 7, 10}));
  EXPECT_EQ(dist::block_offsets(6, 3), (offsets{0, 2, 4, 6}));
  EXPECT_EQ(dist::block_offsets(3, 4), (offsets{0, 1, 2, 3, 3}));
  EXPECT_EQ(dist::block_offsets(0, 2), (offsets{0, 0, 0}));
  EXPECT_EQ(dist::block_offsets(5, 1), (offsets{0, 5}));
}

TEST(distribution, three_rows_on_four_ranks) {
  const mesh m = grid(4, {{"x", 4}});
  const distribution d(m.layout({m.axis("x")}), {3, 5});
  EXPECT_EQ(d.shard(0), (box{{0, 0}, {1, 5}}));
  EXPECT_EQ(d.shard(2), (box{{2, 0}, {3, 5}}));
  EXPECT_EQ(d.shard(3), (box{{3, 0}, {3, 5}}));
  EXPECT_TRUE(d.shard(3).empty());
  EXPECT_TRUE(d.is_split(0));
  EXPECT_FALSE(d.is_split(1));
  EXPECT_EQ(d.replicas(), 1);
  EXPECT_EQ(d.part_at(0, 2), 2);
}

TEST(distribution, the_first_axis_of_a_product_is_major) {
  const mesh m = grid(6, {{"x", 3}, {"y", 2}});
  const distribution xy(m.layout({m.axis("x") * m.axis("y")}), {12});
  const distribution yx(m.layout({m.axis("y") * m.axis("x")}), {12});
  for (int r = 0; r < 6; ++r) {
    const dims at = m.coordinates(r);
    EXPECT_EQ(xy.shard(r).lo, dims{2 * (2 * at[0] + at[1])});
    EXPECT_EQ(yx.shard(r).lo, dims{2 * (3 * at[1] + at[0])});
  }
}

TEST(distribution, unnamed_axes_replicate_and_readers_share_the_owners_evenly) {
  const mesh m = grid(6, {{"x", 3}, {"y", 2}});
  const distribution d(m.layout({m.axis("y")}), {7});
  EXPECT_EQ(d.replicas(), 3);
  for (std::int64_t i = 0; i < 7; ++i) {
    std::map<int, int> readers;
    for (int r = 0; r < 6; ++r) {
      const int owner = d.owner_at({i}, r);
      const box held = d.shard(owner);
      EXPECT_TRUE(held.lo[0] <= i && i < held.hi[0]);
      const box mine = d.shard(r);
      if (mine.lo[0] <= i && i < mine.hi[0]) {
        EXPECT_EQ(owner, r);
      }
      ++readers[owner];
    }
    EXPECT_EQ(readers.size(), 3U);
    for (const auto& [owner, count] : readers) EXPECT_EQ(count, 2) << owner;
  }
  const dist::distribution_ptr all = dist::replicated(m, {2, 3});
  EXPECT_EQ(all->replicas(), 6);
  for (int r = 0; r < 6; ++r) {
    EXPECT_EQ(all->shard(r), box::whole({2, 3}));
    EXPECT_EQ(all->owner_at({1, 2}, r), r);
  }
}

TEST(distribution, a_part_is_found_among_empty_ones) {
  const mesh m = grid(6, {{"x", 6}});
  const auto d = distribution::from_offsets(m.layout({m.axis("x")}), {{0, 0, 2, 2, 2, 5, 5}});
  EXPECT_EQ(d.shape(), (shape{5}));
  EXPECT_EQ(d.part_at(0, 0), 1);
  EXPECT_EQ(d.part_at(0, 1), 1);
  EXPECT_EQ(d.part_at(0, 2), 4);
  EXPECT_EQ(d.part_at(0, 4), 4);
}

TEST(distribution, equality_includes_the_offsets) {
  const mesh m = grid(2, {{"x", 2}});
  const serried::layout l = m.layout({m.axis("x")});
  EXPECT_EQ(distribution(l, {5}), distribution::from_offsets(l, {{0, 3, 5}}));
  EXPECT_FALSE(distribution(l, {5}) == distribution::from_offsets(l, {{0, 2, 5}}));
  EXPECT_FALSE(distribution(l, {5}) == distribution(l, {6}));
  EXPECT_FALSE(distribution(l, {5}) == distribution(m.layout(), {5}));
}

TEST(distribution, zero_dimensional_and_empty_arrays) {
  const mesh m = grid(4, {{"x", 2}, {"y", 2}});
  const distribution scalar(m.layout(), shape{});
  EXPECT_EQ(scalar.shard(3).volume(), 1);
  EXPECT_EQ(scalar.owner({}, 2), 2);
  const distribution none(m.layout({m.axis("x"), m.axis("y")}), {0, 3});
  for (int r = 0; r < 4; ++r) EXPECT_TRUE(none.shard(r).empty());
}

TEST(distribution, what_does_not_fit_is_refused) {
  const mesh m = grid(4, {{"x", 2}, {"y", 2}});
  const serried::layout l = m.layout({m.axis("x"), m.axis("y")});
  EXPECT_THROW(distribution(l, {5}), shape_error);
  EXPECT_THROW(distribution(l, {5, -1}), shape_error);
  EXPECT_THROW(distribution(l, (shape{std::int64_t{1} << 40, std::int64_t{1} << 40})), shape_error);
  EXPECT_THROW(static_cast<void>(distribution::from_offsets(l, {{0, 2, 5}})), shape_error);
  EXPECT_THROW(static_cast<void>(distribution::from_offsets(l, {{0, 2, 5}, {0, 2}})), value_error);
  EXPECT_THROW(static_cast<void>(distribution::from_offsets(l, {{0, 2, 5}, {1, 2, 3}})), value_error);
  EXPECT_THROW(static_cast<void>(distribution::from_offsets(l, {{0, 2, 5}, {0, 4, 3}})), value_error);
}

}  // namespace
}  // namespace serried
