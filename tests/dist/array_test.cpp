// Distributed arrays against local ones: the same call on both, every mesh of this many ranks.
#include <serried/serried.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "mpi_main.hpp"

namespace sr = serried;
using serried::test::world;
using sr::_;
using ints = std::vector<std::int64_t>;

namespace {

// All meshes of this many ranks with two axes: 6 gives 6x1, 3x2, 2x3, 1x6.
std::vector<sr::mesh> meshes() {
  std::vector<sr::mesh> all;
  const int n = world().size();
  for (int first = n; first >= 1; --first)
    if (n % first == 0) all.push_back(sr::mesh(world(), {{"x", first}, {"y", n / first}}));
  return all;
}

// The layouts of a two-dimensional array on a mesh.
std::vector<sr::layout> layouts(const sr::mesh& m) {
  const auto x = m.axis("x");
  const auto y = m.axis("y");
  return {m.layout({x, y}),  m.layout({y, x}),
          m.layout({x}),     m.layout({sr::whole, y}),
          m.layout({x * y}), m.layout({sr::whole, y * x}),
          m.layout()};
}

const std::vector<sr::shape> shapes{{7, 5}, {3, 4}, {1, 9}, {9, 1}, {2, 2}, {0, 3}, {13, 8}};

sr::array counting(const sr::shape& s) { return sr::arange(sr::element_count(s)).reshape(s); }

// Not symmetric, not integral, with both signs.
sr::array field(const sr::shape& s) { return (sr::sin(counting(s) * 1.7) * 3 + counting(s) * 0.01).eval(); }

template <class T>
void expect_same(const sr::dist::expr& got, const sr::expr& wanted) {
  const sr::dist::array a(got);
  EXPECT_EQ(a.shape(), wanted.shape());
  EXPECT_EQ(a.dtype(), wanted.dtype());
  EXPECT_EQ(a.to_vector<T>(), wanted.to_vector<T>());
}

// Runs a check on every mesh, layout and shape of two-dimensional arrays.
template <class F>
void everywhere(F&& check) {
  for (const auto& m : meshes())
    for (const auto& l : layouts(m))
      for (const auto& s : shapes) {
        SCOPED_TRACE("layout " + to_string(l) + " on " + to_string(m) + ", shape " + to_string(s));
        check(l, s);
        if (testing::Test::HasFailure()) return;
      }
}

}  // namespace

TEST(dist_array, distribute_and_gather) {
  everywhere([](const sr::layout& l, const sr::shape& s) {
    const sr::dist::array d = sr::distribute(counting(s), l);
    EXPECT_EQ(d.to_vector<std::int64_t>(), counting(s).to_vector<std::int64_t>());
    const int root = world().size() - 1;
    const sr::array at_root = sr::gather(d, root);
    if (world().rank() == root) {
      EXPECT_EQ(at_root.to_vector<std::int64_t>(), counting(s).to_vector<std::int64_t>());
    } else {
      EXPECT_EQ(at_root.size(), 0);
    }
  });
}

TEST(dist_array, elementwise) {
  everywhere([](const sr::layout& l, const sr::shape& s) {
    const sr::array a = field(s);
    const sr::array row = field({s[1]});
    const sr::array column = field({s[0], 1});
    const sr::dist::array da = sr::distribute(a, l);
    expect_same<double>(sr::exp(da) * 2 - da / 3, sr::exp(a) * 2 - a / 3);
    const sr::mesh& m = l.mesh();
    expect_same<double>(da * sr::distribute(row, m.layout({m.axis("x")})) + sr::replicate(column, m), a * row + column);
    expect_same<double>(sr::where(da > 0, da, index(da, 1)), sr::where(a > 0, a, index(a, 1)));
  });
}

TEST(dist_array, operands_in_different_layouts) {
  for (const auto& m : meshes()) {
    const auto all = layouts(m);
    for (const auto& l1 : all)
      for (const auto& l2 : all) {
        const sr::array a = field({7, 5});
        const sr::array b = field({7, 5}) * 2;
        expect_same<double>(sr::distribute(a, l1) + sr::distribute(b, l2), a + b);
      }
  }
}

TEST(dist_array, redistribute_round_trip) {
  for (const auto& s : shapes)
    for (const auto& m : meshes())
      for (const auto& l1 : layouts(m))
        for (const auto& l2 : layouts(m)) {
          const sr::dist::array a = sr::distribute(counting(s), l1);
          const sr::dist::array b = sr::redistribute(a, l2);
          EXPECT_EQ(b.layout(), l2);
          expect_same<std::int64_t>(sr::redistribute(b, l1), counting(s));
        }
}

TEST(dist_array, meshes_over_the_same_ranks) {
  const sr::array a = field({9, 6});
  for (const auto& m1 : meshes())
    for (const auto& m2 : meshes()) {
      const auto l1 = m1.layout({m1.axis("x"), m1.axis("y")});
      const auto l2 = m2.layout({m2.axis("y"), m2.axis("x")});
      const sr::dist::array d = sr::distribute(a, l1);
      const sr::dist::array moved = sr::redistribute(d, l2);
      EXPECT_EQ(moved.layout(), l2);
      expect_same<double>(sr::redistribute(moved, l1), a);
      expect_same<double>(d * 2 - moved, a);
      moved(_) = at(with_boundary(d, sr::periodic), {1, 1});
      expect_same<double>(moved, at(with_boundary(a, sr::periodic), {1, 1}));
    }
}

TEST(dist_array, stencils) {
  const std::vector<std::vector<sr::boundary_pair>> boundaries{
      {sr::periodic, sr::periodic},
      {sr::edge, sr::edge},
      {sr::periodic, {sr::edge, sr::value(-2.5)}},
      {{sr::value(7), sr::value(8)}, sr::periodic},
  };
  const std::vector<sr::dims> offsets{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-2, 3}, {-11, 12}};
  everywhere([&](const sr::layout& l, const sr::shape& s) {
    const sr::array a = field(s);
    const sr::dist::array d = sr::distribute(a, l);
    for (const auto& b : boundaries) {
      const auto A = sr::bounded<sr::array>(a, b);
      const auto D = sr::bounded<sr::dist::array>(d, b);
      expect_same<double>(at(D, {1, 0}) + at(D, {-1, 0}) + at(D, {0, 1}) + at(D, {0, -1}) - 4 * d,
                          at(A, {1, 0}) + at(A, {-1, 0}) + at(A, {0, 1}) + at(A, {0, -1}) - 4 * a);
      sr::expr local = a * 0.5;
      sr::dist::expr global = d * 0.5;
      for (const auto& o : offsets) {
        local = local + at(A, o) * 0.3;
        global = global + at(D, o) * 0.3;
      }
      expect_same<double>(global, local);
    }
  });
}

TEST(dist_array, two_boundaries_of_one_array) {
  everywhere([](const sr::layout& l, const sr::shape& s) {
    const sr::array a = field(s);
    const sr::dist::array d = sr::distribute(a, l);
    expect_same<double>(at(with_boundary(d, sr::periodic), {1, 1}) - at(with_boundary(d, sr::edge), {1, 1}),
                        at(with_boundary(a, sr::periodic), {1, 1}) - at(with_boundary(a, sr::edge), {1, 1}));
  });
}

TEST(dist_array, many_steps_in_place) {
  everywhere([](const sr::layout& l, const sr::shape& s) {
    sr::array a = field(s);
    sr::dist::array d = sr::distribute(a, l);
    const auto A = with_boundary(a, {sr::periodic, sr::edge});
    const auto D = with_boundary(d, {sr::periodic, sr::edge});
    for (int i = 0; i < 10; ++i) {
      a += 0.1 * (at(A, {1, 0}) + at(A, {-1, 0}) + at(A, {0, 1}) + at(A, {0, -1}) - 4 * a);
      d += 0.1 * (at(D, {1, 0}) + at(D, {-1, 0}) + at(D, {0, 1}) + at(D, {0, -1}) - 4 * d);
    }
    expect_same<double>(d, a);
  });
}

TEST(dist_array, the_inside_in_place) {
  const auto inside = sr::slice(1, -1);
  everywhere([&](const sr::layout& l, const sr::shape& s) {
    sr::array a = field(s);
    sr::dist::array d = sr::distribute(a, l);
    for (int i = 0; i < 3; ++i) {
      a(inside, inside) += (at(a, {1, 0}) - at(a, {0, -1}) * 0.25)(inside, inside);
      d(inside, inside) += (at(d, {1, 0}) - at(d, {0, -1}) * 0.25)(inside, inside);
    }
    expect_same<double>(d, a);
  });
}

TEST(dist_array, slices) {
  everywhere([](const sr::layout& l, const sr::shape& s) {
    sr::array a = counting(s).copy();
    sr::dist::array d = sr::distribute(a, l);
    const auto rows = sr::slice(1, _);
    const auto columns = sr::slice(0, -1);
    expect_same<std::int64_t>(d(rows, columns), a(rows, columns));
    expect_same<std::int64_t>(d(rows)(sr::slice(1, 3), columns) * 2, a(rows)(sr::slice(1, 3), columns) * 2);
    expect_same<std::int64_t>((d * 3)(rows)-d(sr::slice(0, -1)), (a * 3)(rows)-a(sr::slice(0, -1)));
    a(rows, columns) = 5;
    d(rows, columns) = 5;
    d(sr::slice(0, -1)) = d(rows);
    a(sr::slice(0, -1)) = a(rows);
    expect_same<std::int64_t>(d, a);
    EXPECT_THROW((void)d(_, 0), sr::value_error);
    if (s[0] > 2) {
      EXPECT_THROW((void)d(sr::slice(_, _, 2)), sr::value_error);
    }
  });
}

TEST(dist_array, simultaneous) {
  everywhere([](const sr::layout& l, const sr::shape& s) {
    sr::array u = field(s);
    sr::array v = field(s) * -2;
    sr::dist::array du = sr::distribute(u, l);
    sr::dist::array dv = sr::distribute(v, l);
    const auto U = with_boundary(u, sr::periodic);
    const auto V = with_boundary(v, sr::periodic);
    const auto DU = with_boundary(du, sr::periodic);
    const auto DV = with_boundary(dv, sr::periodic);
    l.mesh().reset_exchange_statistics();
    sr::assign({u, v}, {at(V, {1, 0}) - u, at(U, {0, 1}) + v});
    sr::assign({du, dv}, {at(DV, {1, 0}) - du, at(DU, {0, 1}) + dv});
    EXPECT_LE(l.mesh().exchange_statistics().exchanges, 1);  // one exchange serves both
    expect_same<double>(du, u);
    expect_same<double>(dv, v);
  });
}

TEST(dist_array, reductions) {
  everywhere([](const sr::layout& l, const sr::shape& s) {
    const sr::array a = field(s);
    const sr::dist::array d = sr::distribute(a, l);
    expect_same<double>(sr::sum(d), sr::sum(a));
    expect_same<double>(sr::sum(d * d, {.axis = 0}), sr::sum(a * a, {.axis = 0}));
    expect_same<double>(sr::sum(d, {.axis = 1, .keepdims = true}), sr::sum(a, {.axis = 1, .keepdims = true}));
    expect_same<std::int64_t>(sr::sum(d > 0, {.axis = {0, 1}}), sr::sum(a > 0, {.axis = {0, 1}}));
    expect_same<std::int64_t>(sr::prod(index(d, 0) + 1, {.axis = 1}), sr::prod(index(a, 0) + 1, {.axis = 1}));
    expect_same<double>(d - sr::sum(d, {.axis = 0}), a - sr::sum(a, {.axis = 0}));
    const auto D = with_boundary(d, sr::edge);
    const auto A = with_boundary(a, sr::edge);
    expect_same<double>(sr::sum(abs(at(D, {1, 0}) - d)), sr::sum(abs(at(A, {1, 0}) - a)));
    if (s[0] > 0) {
      expect_same<double>(sr::min(d, {.axis = 0}), sr::min(a, {.axis = 0}));
      expect_same<double>(sr::max(d * -1), sr::max(a * -1));
      // An empty shard's identity must not show.
      expect_same<double>(sr::max(d * 0 - 5), sr::max(a * 0 - 5));
    } else {
      EXPECT_THROW((void)sr::max(d), sr::value_error);
    }
  });
}

TEST(dist_array, float_sums_are_bit_identical) {
  // Magnitudes that a plain sum would round differently in every order.
  std::mt19937_64 random(7);
  std::vector<double> x(37 * 11);
  for (double& v : x)
    v = std::ldexp(static_cast<double>(random() >> 11) - 0x1p52, static_cast<int>(random() % 120) - 110);
  const sr::array a = sr::from_vector(x, {37, 11});
  const double wanted = sr::sum(a).item<double>();
  const auto columns = sr::sum(a.astype(sr::float32), {.axis = 0}).to_vector<float>();
  for (const auto& m : meshes())
    for (const auto& l : layouts(m)) {
      const sr::dist::array d = sr::distribute(a, l);
      EXPECT_EQ(sr::sum(d).item<double>(), wanted);
      EXPECT_EQ(sr::sum(d.astype(sr::float32), {.axis = 0}).to_vector<float>(), columns);
    }
}

TEST(dist_array, complex_sums) {
  const sr::array a = field({5, 4}) * std::complex<double>(0, 1) + field({4});
  for (const auto& m : meshes())
    for (const auto& l : layouts(m))
      EXPECT_EQ(sr::sum(sr::distribute(a, l), {.axis = 0}).to_vector<std::complex<double>>(),
                sr::sum(a, {.axis = 0}).to_vector<std::complex<double>>());
}

TEST(dist_array, nan_wins_from_any_rank) {
  const sr::mesh m(world());
  std::vector<double> x(10, 1);
  x[7] = std::nan("");
  const sr::dist::array d = sr::distribute(sr::from_vector(x), m.layout({m.axis(0)}));
  EXPECT_TRUE(std::isnan(sr::min(d).item<double>()));
  EXPECT_TRUE(std::isnan(sr::max(d).item<double>()));
  EXPECT_TRUE(std::isnan(sr::sum(d).item<double>()));
}

TEST(dist_array, a_stale_expression_throws_on_all_ranks) {
  const sr::mesh m(world());
  sr::dist::array d = sr::zeros({5}, m.layout({m.axis(0)}));
  const auto e = d + 1;
  d(_) = 2;
  try {
    (void)e.eval();
    ADD_FAILURE();
  } catch (const sr::value_error& error) {
    EXPECT_TRUE(error.collective());
  }
}

TEST(dist_array, an_array_may_go_while_its_halo_travels) {
  const sr::mesh m(world());
  for (int i = 0; i < 50; ++i) {
    sr::dist::array result = [&] {
      const sr::dist::array d = sr::full({64, 3}, i, m.layout({m.axis(0)}));
      return at(with_boundary(d, sr::periodic), {1, 1}).eval();
    }();
    EXPECT_EQ(sr::sum(result).item<std::int64_t>(), 64 * 3 * i);
  }
}

TEST(dist_array, arrays_on_part_of_the_ranks) {
  const sr::communicator half = world().split(world().rank() % 2, world().rank());
  const sr::mesh m(half);
  const sr::dist::array d = sr::full({10}, world().rank() % 2 + 1, m.layout({m.axis(0)}));
  EXPECT_EQ(sr::sum(d).item<std::int64_t>(), 10 * (world().rank() % 2 + 1));
  const auto D = with_boundary(d, sr::periodic);
  EXPECT_EQ(sr::sum(at(D, {3})).item<std::int64_t>(), 10 * (world().rank() % 2 + 1));
}

TEST(dist_array, three_dimensions) {
  const int n = world().size();
  const sr::mesh m(world(), {{"x", 0}, {"y", 0}, {"z", 0}});
  const sr::array a = field({5, 4, 6});
  const sr::dist::array d = sr::distribute(a, m.layout({m.axis("z"), m.axis("x"), m.axis("y")}));
  const auto A = with_boundary(a, sr::periodic);
  const auto D = with_boundary(d, sr::periodic);
  sr::expr local = -6 * a;
  sr::dist::expr global = -6 * d;
  for (int axis = 0; axis < 3; ++axis)
    for (int side : {-1, 1}) {
      sr::dims o{0, 0, 0};
      o[axis] = side * (n > 4 ? 1 : n);
      local = local + at(A, o);
      global = global + at(D, o);
    }
  expect_same<double>(global, local);
}

TEST(dist_array, a_dimension_that_is_not_read_does_not_hide_another) {
  // The first load's rows are all a constant; its columns are looked at all the same.
  for (const auto& m : meshes()) {
    const auto x = m.axis("x");
    const auto y = m.axis("y");
    const sr::dist::array u = sr::zeros({1, 4}, m.layout({y, x}));
    const sr::dist::array w = sr::ones({1, 4}, m.layout({x, y}));
    const auto U = with_boundary(u, {{sr::value(3), sr::value(2)}, sr::edge});
    EXPECT_EQ((w + at(U, {5, -1})).to_vector<double>(), std::vector<double>(4, 3));
  }
}

TEST(dist_array, results_are_split_where_an_operand_is) {
  const sr::mesh m(world());
  const auto l = m.layout({m.axis(0)});
  const sr::dist::array whole = sr::replicate(sr::ones({100}), m);
  const sr::dist::array split = sr::ones({100}, l);
  EXPECT_EQ(sr::dist::array(whole + split).layout(), l);
  EXPECT_EQ(sr::dist::array(split + whole).layout(), l);
  EXPECT_EQ(sr::dist::array(whole + whole).layout(), m.layout());
  EXPECT_EQ(sr::zeros_like(split).layout(), l);
  EXPECT_EQ(sr::sum(whole * split).item<double>(), 100);
}

TEST(dist_array, simultaneous_into_parts_of_one_array) {
  const sr::mesh m(world());
  const sr::dist::array u = sr::distribute(counting({6, 4}), m.layout({m.axis(0)}));
  const auto top = u(sr::slice(0, 2));
  const auto bottom = u(sr::slice(4, 6));
  sr::assign({top, bottom}, {bottom + 0, top + 0});
  EXPECT_EQ(u(sr::slice(0, 2)).to_vector<std::int64_t>(), (ints{16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(u(sr::slice(4, 6)).to_vector<std::int64_t>(), (ints{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_THROW(sr::assign({top, u}, {top + 0, u + 0}), sr::value_error);
}

TEST(dist_array, an_assignment_that_fails_on_one_rank_changes_nothing_on_any) {
  everywhere([](const sr::layout& l, const sr::shape& s) {
    if (sr::element_count(s) == 0) return;
    const sr::dist::array a = sr::distribute(counting(s) + 2, l);
    const sr::array exponents = sr::full(s, 2);
    exponents(-1, -1) = -1;
    const sr::dist::array x = sr::distribute(exponents, l);
    EXPECT_THROW(assign(a, power(a, x)), sr::value_error);
    EXPECT_THROW(sr::sum(power(a, x)).eval(), sr::value_error);
    EXPECT_THROW(sr::sum(power(a, x), {.axis = 0}).eval(), sr::value_error);
    expect_same<std::int64_t>(a, counting(s) + 2);
  });
}

TEST(dist_array, many_results_of_a_reduction) {
  const sr::mesh m(world());
  const sr::array a = field({3, 70'000});
  const sr::dist::array d = sr::distribute(a, m.layout({sr::whole, m.axis(0)}));
  expect_same<double>(sr::sum(d, {.axis = 0}), sr::sum(a, {.axis = 0}));
  expect_same<double>(sr::max(sr::distribute(a, m.layout({m.axis(0)})), {.axis = 0}), sr::max(a, {.axis = 0}));
}

TEST(dist_array, random_programs) {
  const unsigned seed = 20240711;
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const sr::shape s{pick(9) + 1, pick(9) + 1};
    const auto all = meshes();
    const sr::mesh& m = all[static_cast<std::size_t>(pick(static_cast<int>(all.size())))];
    const auto ls = layouts(m);
    std::vector<sr::array> local;
    std::vector<sr::dist::array> global;
    for (int i = 0; i < 3; ++i) {
      local.push_back((field(s) + i).eval());
      global.push_back(sr::distribute(local.back(), ls[static_cast<std::size_t>(pick(static_cast<int>(ls.size())))]));
    }
    sr::expr e = local[0] * 1;
    sr::dist::expr g = global[0] * 1;
    for (int i = 0; i < 5; ++i) {
      const auto leaf = static_cast<std::size_t>(pick(3));
      const sr::boundary b = pick(2) == 0 ? sr::periodic : sr::edge;
      const sr::dims o{pick(7) - 3, pick(7) - 3};
      switch (pick(3)) {
        case 0:
          e = e + at(with_boundary(local[leaf], b), o);
          g = g + at(with_boundary(global[leaf], b), o);
          break;
        case 1:
          e = e * local[leaf] - 0.5;
          g = g * global[leaf] - 0.5;
          break;
        default: e = maximum(e, at(with_boundary(e, b), o)); g = maximum(g, at(with_boundary(g, b), o));
      }
    }
    const int target = pick(3);
    const auto t = static_cast<std::size_t>(target);
    assign(local[t], e);
    assign(global[t], g);
    expect_same<double>(global[t], local[t]);
    const int axis = pick(2);
    expect_same<double>(sr::sum(global[t] * global[t], {.axis = axis}), sr::sum(local[t] * local[t], {.axis = axis}));
  }
}
