#include <serried/shape.hpp>

#include <serried/error.hpp>

#include "local/box.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace serried::testing {
namespace {

TEST(dims, holds_up_to_32) {
  dims d{1, std::size_t{2}, 3u};
  EXPECT_EQ(d.size(), 3);
  d.insert(1, 9);
  EXPECT_EQ(d, (dims{1, 9, 2, 3}));
  d.erase(0);
  EXPECT_EQ(d, (dims{9, 2, 3}));
  d.insert(3, 4);
  EXPECT_EQ(d, (dims{9, 2, 3, 4}));
  dims full = dims::filled(32, 5);
  EXPECT_THROW(full.push_back(1), shape_error);
  EXPECT_THROW(full.insert(0, 1), shape_error);
  EXPECT_THROW((void)dims::filled(33, 0), shape_error);
  EXPECT_THROW((void)dims::filled(-1, 0), shape_error);
  EXPECT_NE((dims{1, 2}), (dims{1, 2, 3}));
}

TEST(shape, prints_as_numpy) {
  EXPECT_EQ(to_string(shape{}), "()");
  EXPECT_EQ(to_string(shape{5}), "(5,)");
  EXPECT_EQ(to_string(shape{3, 4}), "(3, 4)");
}

TEST(shape, counts_elements) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 4, 5}), 60);
  EXPECT_EQ(element_count({std::int64_t{1} << 40, std::int64_t{1} << 22}), std::int64_t{1} << 62);
  EXPECT_THROW((void)element_count({std::int64_t{1} << 40, std::int64_t{1} << 23}), shape_error);
  EXPECT_EQ(element_count({std::int64_t{1} << 40, 0, std::int64_t{1} << 40}), 0);
  EXPECT_THROW((void)element_count({3, -1}), shape_error);
}

TEST(shape, strides_of_c_order) {
  EXPECT_EQ(contiguous_strides({3, 4, 5}, 8), (strides{160, 40, 8}));
  EXPECT_EQ(contiguous_strides({}, 8), strides{});
  EXPECT_EQ(contiguous_strides({3, 0, 5}, 2)[2], 2);
}

TEST(shape, broadcasts_as_numpy) {
  EXPECT_EQ(broadcast_shapes({3, 1}, {4}), (shape{3, 4}));
  EXPECT_EQ(broadcast_shapes({}, {2, 3}), (shape{2, 3}));
  EXPECT_EQ(broadcast_shapes({0, 1}, {1, 5}), (shape{0, 5}));
  EXPECT_EQ(broadcast_shapes({1}, {0}), shape{0});
  try {
    (void)broadcast_shapes({3, 2}, {3}, "add");
    ADD_FAILURE() << "(3, 2) and (3,) were broadcast";
  } catch (const shape_error& e) {
    EXPECT_STREQ(e.what(), "add: shapes (3, 2) and (3,) do not broadcast: extents must be equal or 1");
  }
}

std::set<std::vector<std::int64_t>> members(const box& b) {
  std::set<std::vector<std::int64_t>> all;
  for (std::int64_t i = b.lo[0]; i < b.hi[0]; ++i)
    for (std::int64_t j = b.lo[1]; j < b.hi[1]; ++j) all.insert({i, j});
  return all;
}

TEST(box, volume_and_emptiness) {
  EXPECT_EQ(box::whole({}).volume(), 1);
  EXPECT_FALSE(box::whole({}).empty());
  EXPECT_EQ((box{{2, 5}, {4, 5}}).volume(), 0);
  EXPECT_EQ((box{{2, 5}, {1, 9}}).volume(), 0);
  EXPECT_EQ((box{{2, 5}, {1, 9}}).extents(), (shape{0, 4}));
  EXPECT_EQ((box{{2, 5}, {4, 9}}).shifted({-2, 1}), (box{{0, 6}, {2, 10}}));
  EXPECT_EQ(to_string(box{{2, 5}, {4, 9}}), "[2:4, 5:9]");
  EXPECT_TRUE(contains({{0}, {3}}, {{7}, {7}}));
  EXPECT_FALSE(contains({{0}, {3}}, {{2}, {4}}));
}

TEST(box, set_operations_agree_with_sets_of_indices) {
  std::mt19937 g(1);
  const auto random_box = [&] {
    box b;
    for (int d = 0; d < 2; ++d) {
      b.lo.push_back(static_cast<std::int64_t>(g() % 6));
      b.hi.push_back(b.lo[d] + static_cast<std::int64_t>(g() % 5));
    }
    return b;
  };
  for (int trial = 0; trial < 500; ++trial) {
    const box a = random_box();
    const box b = random_box();
    std::set<std::vector<std::int64_t>> both, rest;
    for (const auto& i : members(a)) (members(b).contains(i) ? both : rest).insert(i);
    EXPECT_EQ(members(intersect(a, b)), both);
    EXPECT_EQ(contains(b, a), rest.empty());
    const auto pieces = subtract(a, b);
    EXPECT_LE(pieces.size(), 4u);
    std::set<std::vector<std::int64_t>> covered;
    std::size_t total = 0;
    for (const box& piece : pieces) {
      const auto m = members(piece);
      total += m.size();
      covered.insert(m.begin(), m.end());
    }
    EXPECT_EQ(covered, rest);
    EXPECT_EQ(total, rest.size());  // disjoint
  }
  EXPECT_EQ(subtract(box::whole({}), box::whole({})), std::vector<box>{});
}

}  // namespace
}  // namespace serried::testing
