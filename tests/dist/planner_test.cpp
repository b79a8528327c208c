// Schedules are run here on integers that hold their own global index, all ranks in one process.
#include "dist/planner.hpp"
#include "dist/geometry.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace serried {
namespace {

using dist::dimension_rule;
using dist::distribution;
using dist::needed_boxes;
using dist::plan;
using dist::schedule;
using dist::transfer;
using testing::grid;

using index = std::vector<std::int64_t>;
using index_set = std::set<index>;

template <class F>
void for_each_index(const box& b, F&& f) {
  if (b.empty()) return;
  index i(b.lo.begin(), b.lo.end());
  for (int d = 0; d >= 0;) {
    f(i);
    for (d = b.ndim() - 1; d >= 0 && ++i[static_cast<std::size_t>(d)] == b.hi[d]; --d)
      i[static_cast<std::size_t>(d)] = b.lo[d];
  }
}

/// The global linear index of an index that may have to be wrapped.
std::int64_t linear(const shape& extents, const index& i) {
  std::int64_t n = 0;
  for (int d = 0; d < extents.size(); ++d) {
    const std::int64_t extent = extents[d];
    n = n * extent + ((i[static_cast<std::size_t>(d)] % extent) + extent) % extent;
  }
  return n;
}

/// Runs everybody's schedule; returns what each rank got, and checks that sends match receives pairwise and in order,
/// come from the sender's shard, and that nothing arrives twice.
std::vector<index_set> run_schedules(const distribution& source, const dist::needs_function& needs,
                                     const dist::plan_options& options) {
  const int ranks = source.mesh().size();
  std::vector<schedule> all;
  for (int r = 0; r < ranks; ++r) all.push_back(plan(source, r, needs, options));

  std::vector<index_set> got(static_cast<std::size_t>(ranks));
  const auto deliver = [&](int sender, int receiver, const transfer& t) {
    EXPECT_FALSE(t.source.empty());
    EXPECT_TRUE(contains(source.shard(sender), t.source));
    EXPECT_EQ(t.source.extents(), t.destination.extents());
    std::vector<std::int64_t> message;
    for_each_index(t.source, [&](const index& i) { message.push_back(linear(source.shape(), i)); });
    auto value = message.begin();
    for_each_index(t.destination, [&](const index& i) {
      EXPECT_EQ(*value++, linear(source.shape(), i));
      EXPECT_TRUE(got[static_cast<std::size_t>(receiver)].insert(i).second) << "arrived twice";
    });
  };
  for (int r = 0; r < ranks; ++r) {
    const schedule& mine = all[static_cast<std::size_t>(r)];
    for (const transfer& t : mine.copies) {
      EXPECT_EQ(t.peer, r);
      deliver(r, r, t);
    }
    const auto by_peer = [](const transfer& a, const transfer& b) { return a.peer < b.peer; };
    EXPECT_TRUE(std::is_sorted(mine.receives.begin(), mine.receives.end(), by_peer));
    EXPECT_TRUE(std::is_sorted(mine.sends.begin(), mine.sends.end(), by_peer));
    for (int peer = 0; peer < ranks; ++peer) {
      std::vector<transfer> sent, received;
      for (transfer t : all[static_cast<std::size_t>(peer)].sends)
        if (t.peer == r) sent.push_back((t.peer = 0, t));
      for (transfer t : mine.receives)
        if (t.peer == peer) received.push_back((t.peer = 0, t));
      EXPECT_EQ(sent, received) << "from " << peer << " to " << r;
      if (peer == r) {
        EXPECT_TRUE(received.empty());
      }
      for (const transfer& t : received) deliver(peer, r, t);
    }
  }
  return got;
}

struct random_geometry {
  explicit random_geometry(unsigned seed) : engine(seed) {}
  std::mt19937 engine;

  int upto(int lo, int hi) { return lo + static_cast<int>(engine() % static_cast<unsigned>(hi - lo + 1)); }

  mesh make_grid(int ranks) {
    std::vector<axis_extent> axes;
    const char* names[] = {"x", "y", "z"};
    const int count = upto(1, 3);
    for (int a = 0; a < count; ++a) axes.emplace_back(names[a], 0);
    // Sizes in any order, not only falling.
    std::vector<std::int64_t> sizes = dist::balanced_factors(ranks, count);
    std::shuffle(sizes.begin(), sizes.end(), engine);
    for (int a = 0; a < count; ++a) axes[static_cast<std::size_t>(a)].size = sizes[static_cast<std::size_t>(a)];
    return grid(ranks, axes);
  }

  shape make_shape(int ndim) {
    shape s;
    for (int d = 0; d < ndim; ++d) s.push_back(upto(0, 9) == 0 ? 0 : upto(1, 7));
    return s;
  }

  distribution make_distribution(const mesh& m, const shape& s) {
    std::vector<split_over> splits(static_cast<std::size_t>(s.size()), split_over(whole));
    for (int a = 0; a < m.ndim() && s.size() > 0; ++a) {
      const auto d = static_cast<std::size_t>(upto(-1, s.size() - 1));
      if (d < splits.size()) splits[d] = splits[d] * m.axis(a);
    }
    if (upto(0, 1) == 0) return distribution(m.layout(splits), s);
    std::vector<std::vector<std::int64_t>> offsets;
    for (int d = 0; d < s.size(); ++d) {
      std::vector<std::int64_t> list{0, s[d]};
      for (int p = 1; p < splits[static_cast<std::size_t>(d)].parts(); ++p)
        list.push_back(upto(0, static_cast<int>(s[d])));
      std::sort(list.begin(), list.end());
      offsets.push_back(list);
    }
    return distribution::from_offsets(m.layout(splits), offsets);
  }

  box make_box(const shape& s) {
    box b{s, s};
    for (int d = 0; d < s.size(); ++d) {
      b.lo[d] = upto(0, static_cast<int>(s[d]));
      b.hi[d] = upto(0, static_cast<int>(s[d]));
    }
    return b;
  }
};

/// What one load reads, element by element; false when nothing (a value lies there).
bool read_index(const shape& extents, const std::vector<dimension_rule>& rules, index& i) {
  for (int d = 0; d < extents.size(); ++d) {
    std::int64_t& at = i[static_cast<std::size_t>(d)];
    const dimension_rule& rule = rules[static_cast<std::size_t>(d)];
    if (at >= 0 && at < extents[d]) continue;
    const boundary_kind kind = at < 0 ? rule.low : rule.high;
    if (kind == boundary_kind::edge) at = at < 0 ? 0 : extents[d] - 1;
    else if (kind != boundary_kind::periodic) return false;
    else if (!rule.split) at = ((at % extents[d]) + extents[d]) % extents[d];
  }
  return true;
}

TEST(planner, random_halos_against_brute_force) {
  for (unsigned seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    random_geometry random(seed);
    const mesh m = random.make_grid(random.upto(1, 8));
    const int ndim = random.upto(1, 3);
    const distribution u = random.make_distribution(m, random.make_shape(ndim));

    const int reach = random.upto(0, 2) == 0 ? 9 : 1;
    std::vector<dims> loads(static_cast<std::size_t>(random.upto(1, 5)), dims::filled(ndim, 0));
    for (dims& o : loads)
      for (int d = 0; d < ndim; ++d) o[d] = random.upto(-reach, reach);

    dist::plan_options options{.wrap = 0, .without_shard = true};
    bool exact = true;
    std::vector<dimension_rule> rules;
    for (int d = 0; d < ndim; ++d) {
      constexpr boundary_kind kinds[] = {boundary_kind::none, boundary_kind::edge, boundary_kind::value,
                                         boundary_kind::periodic};
      dimension_rule rule{kinds[random.upto(0, 3)], kinds[random.upto(0, 2)], u.is_split(d)};
      if (rule.low == boundary_kind::periodic) {
        rule.high = rule.low;
        if (rule.split) options.wrap |= 1U << d;
        else exact = false;
      }
      rules.push_back(rule);
    }

    const auto needs = [&](int r) { return needed_boxes(u.shard(r), loads, u.shape(), rules); };
    const std::vector<index_set> got = run_schedules(u, needs, options);
    for (int r = 0; r < m.size(); ++r) {
      index_set expected;
      for_each_index(u.shard(r), [&](const index& i) {
        for (const dims& o : loads) {
          index at = i;
          for (int d = 0; d < ndim; ++d) at[static_cast<std::size_t>(d)] += o[d];
          if (read_index(u.shape(), rules, at)) expected.insert(at);
        }
      });
      for_each_index(u.shard(r), [&](const index& i) { expected.erase(i); });
      const index_set& mine = got[static_cast<std::size_t>(r)];
      if (exact) {
        EXPECT_EQ(mine, expected) << "rank " << r;
      } else {
        EXPECT_TRUE(std::includes(mine.begin(), mine.end(), expected.begin(), expected.end())) << "rank " << r;
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(planner, random_redistributions_gathers_and_slices) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    random_geometry random(seed);
    const int ranks = random.upto(1, 8);
    const shape s = random.make_shape(random.upto(0, 3));
    const distribution from = random.make_distribution(random.make_grid(ranks), s);
    const distribution to = random.make_distribution(random.make_grid(ranks), s);
    const int root = random.upto(0, ranks - 1);
    std::vector<std::vector<box>> slices(static_cast<std::size_t>(ranks));
    for (auto& list : slices)
      for (int k = random.upto(0, 3); k > 0; --k) list.push_back(random.make_box(s));

    const dist::needs_function kinds[] = {
        [&](int r) { return std::vector<box>{to.shard(r)}; },
        [&](int r) { return r == root ? std::vector<box>{box::whole(s)} : std::vector<box>{}; },
        [&](int) { return std::vector<box>{box::whole(s)}; },
        [&](int r) { return slices[static_cast<std::size_t>(r)]; },
    };
    for (const auto& needs : kinds) {
      const std::vector<index_set> got = run_schedules(from, needs, {});
      for (int r = 0; r < ranks; ++r) {
        index_set expected;
        for (const box& b : needs(r)) for_each_index(b, [&](const index& i) { expected.insert(i); });
        EXPECT_EQ(got[static_cast<std::size_t>(r)], expected) << "rank " << r;
      }
    }
    // Slices that wrap around many times, along every dimension.
    for (auto& list : slices)
      for (box& b : list)
        for (int d = 0; d < s.size(); ++d) {
          b.lo[d] -= random.upto(0, 12);
          b.hi[d] += random.upto(0, 12);
        }
    if (element_count(s) > 0) {
      const std::vector<index_set> got = run_schedules(from, kinds[3], {.wrap = ~0U});
      for (int r = 0; r < ranks; ++r) {
        index_set expected;
        for (const box& b : slices[static_cast<std::size_t>(r)])
          for_each_index(b, [&](const index& i) { expected.insert(i); });
        EXPECT_EQ(got[static_cast<std::size_t>(r)], expected) << "rank " << r;
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
}

constexpr dimension_rule periodic_split{boundary_kind::periodic, boundary_kind::periodic, true};

TEST(planner, five_points_need_no_corners_and_nine_do) {
  const mesh m = grid(9, {{"x", 3}, {"y", 3}});
  const distribution u(m.layout({m.axis("x"), m.axis("y")}), {9, 9});
  const std::vector<dimension_rule> rules(2, periodic_split);
  const auto peers = [&](const std::vector<dims>& loads) {
    const schedule s = plan(u, 4, [&](int r) { return needed_boxes(u.shard(r), loads, u.shape(), rules); },
                            {.wrap = 3, .without_shard = true});
    std::map<int, std::int64_t> cells;
    for (const transfer& t : s.receives) cells[t.peer] += t.source.volume();
    return cells;
  };
  const std::vector<dims> five{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {0, 0}};
  EXPECT_EQ(peers(five), (std::map<int, std::int64_t>{{1, 3}, {3, 3}, {5, 3}, {7, 3}}));
  std::vector<dims> nine;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) nine.push_back({i, j});
  EXPECT_EQ(peers(nine), (std::map<int, std::int64_t>{{0, 1}, {1, 3}, {2, 1}, {3, 3}, {5, 3}, {6, 1}, {7, 3}, {8, 1}}));
}

TEST(planner, a_full_halo_is_one_box_per_side_and_corner_at_most) {
  const mesh m = grid(9, {{"x", 3}, {"y", 3}});
  const distribution u(m.layout({m.axis("x"), m.axis("y")}), {300, 300});
  const std::vector<dimension_rule> rules(2, periodic_split);
  std::vector<dims> nine;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) nine.push_back({i, j});
  const schedule s = plan(u, 4, [&](int r) { return needed_boxes(u.shard(r), nine, u.shape(), rules); },
                          {.wrap = 3, .without_shard = true});
  EXPECT_EQ(s.receives.size(), 8U);
  EXPECT_EQ(s.sends.size(), 8U);
  EXPECT_TRUE(s.copies.empty());
}

TEST(planner, with_two_periodic_ranks_both_neighbors_are_the_same_peer_in_two_messages) {
  const mesh m = grid(2, {{"x", 2}});
  const distribution u(m.layout({m.axis("x")}), {8});
  const std::vector<dimension_rule> rules{periodic_split};
  const std::vector<dims> loads{{-1}, {1}};
  const auto needs = [&](int r) { return needed_boxes(u.shard(r), loads, u.shape(), rules); };
  const schedule s = plan(u, 0, needs, {.wrap = 1, .without_shard = true});
  EXPECT_EQ(s.receives, (std::vector<transfer>{{1, {{7}, {8}}, {{-1}, {0}}}, {1, {{4}, {5}}, {{4}, {5}}}}));
  EXPECT_EQ(s.sends, (std::vector<transfer>{{1, {{3}, {4}}, {{3}, {4}}}, {1, {{0}, {1}}, {{8}, {9}}}}));
}

TEST(planner, one_periodic_rank_copies_from_itself) {
  const mesh m = grid(1, {{"x", 1}});
  const distribution u(m.layout({m.axis("x")}), {3});
  const auto needs = [](int) { return std::vector<box>{{{-4}, {4}}}; };
  const schedule s = plan(u, 0, needs, {.wrap = 1, .without_shard = true});
  EXPECT_TRUE(s.receives.empty());
  EXPECT_TRUE(s.sends.empty());
  EXPECT_EQ(s.copies, (std::vector<transfer>{
                          {0, {{2}, {3}}, {{-4}, {-3}}}, {0, {{0}, {3}}, {{-3}, {0}}}, {0, {{0}, {1}}, {{3}, {4}}}}));
}

TEST(planner, what_leaves_the_array_is_refused) {
  const mesh m = grid(1, {{"x", 1}});
  const distribution u(m.layout(), {3, 3});
  const auto needs = [](int) { return std::vector<box>{{{0, 0}, {3, 4}}}; };
  EXPECT_THROW(static_cast<void>(plan(u, 0, needs, {.wrap = 1})), index_error);
  EXPECT_NO_THROW(static_cast<void>(plan(u, 0, needs, {.wrap = 2})));
}

TEST(needed_boxes, leaf_dimensions_line_up_with_the_last_and_extent_one_broadcasts) {
  const box out{{2, 4, 1}, {3, 6, 3}};
  const std::vector<dimension_rule> rules(2);
  const std::vector<dimension_rule> none;
  const std::vector<dims> plain{dims{}};
  EXPECT_EQ(needed_boxes(out, plain, {8, 9}, rules), (std::vector<box>{{{4, 1}, {6, 3}}}));
  EXPECT_EQ(needed_boxes(out, plain, {1, 9}, rules), (std::vector<box>{{{0, 1}, {1, 3}}}));
  EXPECT_EQ(needed_boxes(out, plain, shape{}, none), (std::vector<box>{box{}}));
  EXPECT_TRUE(needed_boxes({{2, 4}, {3, 4}}, plain, {8, 9}, rules).empty());
}

TEST(needed_boxes, an_unsplit_periodic_dimension_is_needed_whole_only_when_it_wraps) {
  const dimension_rule rule{boundary_kind::periodic, boundary_kind::periodic, false};
  const std::vector<dimension_rule> rules{rule};
  const std::vector<dims> right{{2}};
  EXPECT_EQ(needed_boxes({{1}, {3}}, right, {8}, rules), (std::vector<box>{{{3}, {5}}}));
  EXPECT_EQ(needed_boxes({{5}, {7}}, right, {8}, rules), (std::vector<box>{{{0}, {8}}}));
}

TEST(disjoint, keeps_every_index_once_and_joins_neighbors) {
  const std::vector<box> boxes{{{0, 0}, {2, 2}}, {{1, 1}, {3, 3}}, {{5, 5}, {5, 9}}, {{0, 2}, {1, 3}}};
  index_set seen;
  for (const box& b : dist::disjoint(boxes))
    for_each_index(b, [&](const index& i) { EXPECT_TRUE(seen.insert(i).second); });
  EXPECT_EQ(seen.size(), 8U);
  EXPECT_EQ(dist::disjoint(std::vector<box>{{{0}, {2}}, {{4}, {6}}, {{2}, {4}}}), (std::vector<box>{{{0}, {6}}}));
}

}  // namespace
}  // namespace serried
