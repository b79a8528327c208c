// Loads, boundaries, outputs and programs; engine_reductions.cpp has the reductions.
#include "local/engine_conformance.hpp"

#include <serried/error.hpp>

#include <cmath>
#include <numeric>
#include <random>
#include <thread>

namespace serried::testing {
namespace {

using generator = std::mt19937;
int pick(generator& g, int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(g); }

/// The definition, index by index, of what a load of leaf `l` reads (program.hpp); `at` gives the window's elements.
template <class T>
T expected_load(const leaf_binding& l, const dims& offset, const dims& out_index,
                const std::function<T(const dims&)>& at) {
  dims i = l.extent;
  const int lead = out_index.size() - l.extent.size();
  const scalar_value* value = nullptr;
  for (int d = 0; d < l.extent.size(); ++d) {
    i[d] = (l.extent[d] == 1 ? 0 : out_index[d + lead]) + (offset.empty() ? 0 : offset[d]);
    if (i[d] >= l.window.lo[d] && i[d] < l.window.hi[d]) continue;
    const faces& f = l.boundary[static_cast<std::size_t>(d)];
    const face& beyond = i[d] < 0 ? f.low : f.high;
    const std::int64_t n = l.extent[d];
    if (beyond.kind == boundary_kind::periodic) {
      while (i[d] < 0) i[d] += n;
      while (i[d] >= n) i[d] -= n;
    } else if (beyond.kind == boundary_kind::edge) {
      i[d] = i[d] < 0 ? 0 : n - 1;
    } else if (value == nullptr) {
      value = &beyond.value;
    }
  }
  if (value == nullptr) return at(i);
  T v;
  std::memcpy(&v, value->bytes.data(), sizeof v);
  return v;
}

/// A leaf of random shape, strides, window and boundary whose every element is different.
template <class T>
struct random_leaf {
  random_leaf(engine& e, generator& g, const shape& out, bool with_boundary) {
    const int ndim = pick(g, 0, out.size());
    leaf.type = dtype_of<T>;
    leaf.extent = dims::filled(ndim, 1);
    for (int d = 0; d < ndim; ++d)
      if (pick(g, 0, 4) != 0) leaf.extent[d] = out[d + out.size() - ndim];
    leaf.window = box::whole(leaf.extent);
    if (with_boundary) {
      for (int d = 0; d < ndim; ++d) {
        const auto side = [&] {
          const boundary_kind kinds[] = {boundary_kind::periodic, boundary_kind::edge, boundary_kind::value};
          return face{kinds[pick(g, 0, 2)], number(static_cast<T>(100 + pick(g, 0, 20)))};
        };
        leaf.boundary.push_back({side(), side()});
        if (pick(g, 0, 3) == 0) {  // a halo that is in place
          leaf.window.lo[d] -= pick(g, 0, 2);
          leaf.window.hi[d] += pick(g, 0, 2);
        }
      }
    }
    // Strides of a random memory order, some backward, some with holes.
    std::vector<int> order(static_cast<std::size_t>(ndim));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), g);
    leaf.stride = dims::filled(ndim, 0);
    std::int64_t step = 1;
    std::int64_t start = 0;
    for (const int d : order) {
      step *= pick(g, 0, 3) == 0 ? 2 : 1;
      const std::int64_t length = leaf.window.hi[d] - leaf.window.lo[d];
      const bool backward = pick(g, 0, 3) == 0;
      leaf.stride[d] = (backward ? -step : step) * static_cast<std::int64_t>(sizeof(T));
      if (backward && length > 0) start += (length - 1) * step;
      step *= length;
    }
    values.resize(static_cast<std::size_t>(std::max<std::int64_t>(step, 1)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 97);
    start_ = start;
    memory = std::make_unique<device_bytes>(e, values);
    leaf.data = memory->data() + start * static_cast<std::int64_t>(sizeof(T));
  }

  T at(const dims& i) const {
    std::int64_t position = start_;
    for (int d = 0; d < i.size(); ++d)
      position += (i[d] - leaf.window.lo[d]) * leaf.stride[d] / static_cast<std::int64_t>(sizeof(T));
    return values[static_cast<std::size_t>(position)];
  }

  leaf_binding leaf;
  std::vector<T> values;
  std::unique_ptr<device_bytes> memory;

 private:
  std::int64_t start_ = 0;
};

shape random_shape(generator& g) {
  const int ndim = pick(g, 0, 4);
  shape s = dims::filled(ndim, 1);
  for (std::int64_t& extent : s) extent = pick(g, 0, 4) == 0 ? 1 : pick(g, 1, 6);
  if (ndim > 0 && pick(g, 0, 3) == 0) s[pick(g, 0, ndim - 1)] = pick(g, 60, 400);
  return s;
}

template <class T>
void check_random_loads(engine& e, unsigned seed) {
  generator g(seed);
  const shape s = random_shape(g);
  box where = box::whole(s);
  for (int d = 0; d < s.size(); ++d) {
    if (pick(g, 0, 2) != 0) continue;
    where.lo[d] = pick(g, 0, static_cast<int>(s[d]));
    where.hi[d] = pick(g, static_cast<int>(where.lo[d]), static_cast<int>(s[d]));
  }
  const random_leaf<T> a(e, g, s, true);
  const random_leaf<T> b(e, g, s, false);
  dims offset = a.leaf.extent;
  for (std::int64_t& o : offset) o = pick(g, 0, 4) == 0 ? pick(g, -9, 9) : pick(g, -1, 1);

  program_writer w({dtype_of<T>, dtype_of<T>});
  const auto x = w.load(0, offset);
  const auto y = w.load(1);
  const auto sum = w(opcode::bitwise_xor, w.cast(x, dtype::int64), w.cast(y, dtype::int64));
  const program p = w.finish(x, sum);

  // The first output has a random memory order of its own.
  const shape extents = where.extents();
  const std::int64_t n = where.volume();
  strides order = contiguous_strides(extents, sizeof(T));
  if (s.size() > 1 && pick(g, 0, 1) == 0) {
    std::int64_t step = sizeof(T);
    for (int d = 0; d < s.size(); ++d) {
      order[d] = step;
      step *= std::max<std::int64_t>(extents[d], 1);
    }
  }
  const device_bytes first(e, static_cast<std::size_t>(n) * sizeof(T));
  const device_bytes second(e, static_cast<std::size_t>(n) * sizeof(std::int64_t));
  const output_binding outputs[] = {{first.data(), dtype_of<T>, order},
                                    {second.data(), dtype::int64, contiguous_strides(extents, sizeof(std::int64_t))}};
  const leaf_binding leaves[] = {a.leaf, b.leaf};
  e.execute(p, leaves, outputs, where);

  const auto got_first = first.read<T>(n);
  const auto got_second = second.read<std::int64_t>(n);
  std::size_t k = 0;
  for_each_index(where, [&](const dims& i) {
    const T want = expected_load<T>(a.leaf, offset, i, [&](const dims& at) { return a.at(at); });
    const T other = expected_load<T>(b.leaf, {}, i, [&](const dims& at) { return b.at(at); });
    std::int64_t position = 0;
    for (int d = 0; d < i.size(); ++d)
      position += (i[d] - where.lo[d]) * order[d] / static_cast<std::int64_t>(sizeof(T));
    ASSERT_EQ(got_first[static_cast<std::size_t>(position)], want)
        << "seed " << seed << ", index " << to_string(i) << ", offset " << to_string(offset) << ", shape "
        << to_string(s);
    ASSERT_EQ(got_second[k++], static_cast<std::int64_t>(want) ^ static_cast<std::int64_t>(other)) << "seed " << seed;
  });
}

}  // namespace

TEST_P(engine_conformance, random_loads) {
  for (unsigned seed = 0; seed < 150 && !HasFatalFailure(); ++seed) {
    check_random_loads<std::int32_t>(e(), seed);
    check_random_loads<double>(e(), seed + 1000);
    check_random_loads<std::uint8_t>(e(), seed + 2000);
    check_random_loads<std::int16_t>(e(), seed + 3000);
  }
}

TEST_P(engine_conformance, five_point_stencil_rounds_operation_by_operation) {
  for (const shape& s : {shape{1, 1}, shape{1, 5}, shape{2, 3}, shape{5, 64}, shape{70, 67}, shape{9, 1100}}) {
    std::vector<float> u(static_cast<std::size_t>(element_count(s)));
    generator g(1);
    for (float& v : u) v = std::uniform_real_distribution<float>(-1, 1)(g);
    const device_bytes memory(e(), u);
    program_writer w({dtype::float32});
    const auto sum =
        w(opcode::add, w(opcode::add, w(opcode::add, w.load(0, {1, 0}), w.load(0, {-1, 0})), w.load(0, {0, 1})),
          w.load(0, {0, -1}));
    const auto inner = w(opcode::subtract, sum, w(opcode::multiply, w.scalar(4.0f), w.load(0)));
    const program p = w.finish(w(opcode::add, w.load(0), w(opcode::multiply, w.scalar(0.1f), inner)));
    for (const boundary_kind kind : {boundary_kind::periodic, boundary_kind::edge, boundary_kind::value}) {
      leaf_binding l = leaf_of(memory.data(), dtype::float32, s);
      l.boundary = same_faces(2, {kind, number(0.5f)});
      const auto got = run<float>(e(), p, {l}, box::whole(s));
      std::size_t k = 0;
      for_each_index(box::whole(s), [&](const dims& i) {
        const auto at = [&](std::int64_t di, std::int64_t dj) {
          return expected_load<float>(l, {di, dj}, i,
                                      [&](const dims& x) { return u[static_cast<std::size_t>(x[0] * s[1] + x[1])]; });
        };
        volatile float t = at(1, 0) + at(-1, 0);
        t = t + at(0, 1);
        t = t + at(0, -1);
        volatile float four = 4.0f * at(0, 0);
        t = t - four;
        t = 0.1f * t;
        t = at(0, 0) + t;
        ASSERT_EQ(got[k++], t) << to_string(s) << " at " << to_string(i);
      });
    }
  }
}

TEST_P(engine_conformance, parts_of_a_box_equal_the_whole) {
  const shape s{37, 211};
  std::vector<float> u(static_cast<std::size_t>(element_count(s)));
  generator g(2);
  for (float& v : u) v = std::uniform_real_distribution<float>(-3, 3)(g);
  const device_bytes memory(e(), u);
  leaf_binding l = leaf_of(memory.data(), dtype::float32, s);
  l.boundary = same_faces(2, {boundary_kind::periodic, {}});
  program_writer w({dtype::float32});
  const auto x = w(opcode::exp, w(opcode::sin, w.load(0, {0, 1})));
  const program p = w.finish(w(opcode::divide, x, w(opcode::arctan2, w.load(0, {-1, 0}), w.scalar(0.3f))));
  const auto whole = run<float>(e(), p, {l}, box::whole(s));
  for (int trial = 0; trial < 40; ++trial) {
    box part;
    for (int d = 0; d < 2; ++d) {
      part.lo.push_back(pick(g, 0, static_cast<int>(s[d]) - 1));
      part.hi.push_back(pick(g, static_cast<int>(part.lo[d]), static_cast<int>(s[d])));
    }
    const auto got = run<float>(e(), p, {l}, part);
    std::size_t k = 0;
    for_each_index(part, [&](const dims& i) {
      ASSERT_EQ(got[k++], whole[static_cast<std::size_t>(i[0] * s[1] + i[1])]) << to_string(part);
    });
  }
}

TEST_P(engine_conformance, index_nodes_count_globally) {
  program_writer w;
  const program p = w.finish(w(opcode::add, w(opcode::multiply, w.index(0), w.scalar(std::int64_t{1000})), w.index(1)));
  const box where{{5, 900}, {9, 1400}};
  const auto got = run<std::int64_t>(e(), p, {}, where);
  std::size_t k = 0;
  for_each_index(where, [&](const dims& i) { ASSERT_EQ(got[k++], i[0] * 1000 + i[1]); });
  program_writer v;
  EXPECT_EQ(run<std::int64_t>(e(), v.finish(v.index(1)), {}, {{3, 8, 2}, {4, 9, 3}}), std::vector<std::int64_t>{8});
}

TEST_P(engine_conformance, zero_dimensional_and_empty) {
  const device_bytes x(e(), std::vector<double>{2.5});
  program_writer w({dtype::float64});
  const program p = w.finish(w(opcode::multiply, w.load(0), w.scalar(2.0)));
  EXPECT_EQ(run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {})}, box::whole({})), std::vector<double>{5.0});
  EXPECT_EQ(run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {1})}, box::whole({3})),
            std::vector<double>(3, 5.0));
  EXPECT_TRUE(run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {1})}, {{4}, {4}}).empty());
  EXPECT_TRUE(run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {1, 1})}, {{0, 2}, {7, 1}}).empty());
}

TEST_P(engine_conformance, unaligned_data) {
  const std::int64_t n = 1000;
  std::vector<double> x(static_cast<std::size_t>(n));
  std::iota(x.begin(), x.end(), 1.0);
  std::vector<std::byte> shifted(x.size() * sizeof(double) + 3);
  std::memcpy(shifted.data() + 3, x.data(), x.size() * sizeof(double));
  const device_bytes in(e(), shifted);
  const device_bytes out(e(), std::vector<std::byte>(shifted.size()));
  program_writer w({dtype::float64});
  const program p = w.finish(w(opcode::add, w.load(0), w.load(0)));
  const leaf_binding l = leaf_of(in.data() + 3, dtype::float64, {n});
  const output_binding o{out.data() + 3, dtype::float64, {8}};
  e().execute(p, {&l, 1}, {&o, 1}, box::whole({n}));
  const auto bytes = out.read<std::byte>(static_cast<std::int64_t>(shifted.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    double got;
    std::memcpy(&got, bytes.data() + 3 + i * sizeof got, sizeof got);
    ASSERT_EQ(got, 2 * x[i]);
  }
}

TEST_P(engine_conformance, outputs_see_nothing_that_is_written) {
  // Both outputs replace the leaves they are made of.
  const std::int64_t n = 5000;
  std::vector<float> x(static_cast<std::size_t>(n)), y(x);
  std::iota(x.begin(), x.end(), 0.0f);
  std::iota(y.begin(), y.end(), 7.0f);
  const device_bytes dx(e(), x);
  const device_bytes dy(e(), y);
  program_writer w({dtype::float32, dtype::float32});
  const program p = w.finish(w(opcode::add, w.load(0), w.load(1)), w(opcode::multiply, w.load(0), w.load(1)));
  const leaf_binding leaves[] = {leaf_of(dx.data(), dtype::float32, {n}), leaf_of(dy.data(), dtype::float32, {n})};
  const output_binding outputs[] = {{dx.data(), dtype::float32, {4}}, {dy.data(), dtype::float32, {4}}};
  e().execute(p, leaves, outputs, box::whole({n}));
  const auto sum = dx.read<float>(n);
  const auto product = dy.read<float>(n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(sum[i], x[i] + y[i]);
    ASSERT_EQ(product[i], x[i] * y[i]);
  }
}

TEST_P(engine_conformance, stored_constants_and_copies) {
  const device_bytes x(e(), std::vector<std::int16_t>{1, 2, 3});
  program_writer w({dtype::int16});
  const auto load = w.load(0);
  const program p = w.finish(w.scalar(std::int32_t{7}), load, load);
  const device_bytes a(e(), 3000 * 4), b(e(), 6), c(e(), 6);
  const leaf_binding l = leaf_of(x.data(), dtype::int16, {3});
  const output_binding outputs[] = {
      {a.data(), dtype::int32, {4}}, {b.data(), dtype::int16, {2}}, {c.data(), dtype::int16, {2}}};
  e().execute(p, {&l, 1}, outputs, box::whole({3}));
  EXPECT_EQ(a.read<std::int32_t>(3), std::vector<std::int32_t>(3, 7));
  EXPECT_EQ(b.read<std::int16_t>(3), (std::vector<std::int16_t>{1, 2, 3}));
  EXPECT_EQ(c.read<std::int16_t>(3), (std::vector<std::int16_t>{1, 2, 3}));
  program_writer v;
  EXPECT_EQ(run<std::int32_t>(e(), v.finish(v.scalar(std::int32_t{9})), {}, box::whole({3, 1000})),
            std::vector<std::int32_t>(3000, 9));
}

TEST_P(engine_conformance, refuses) {
  const device_bytes x(e(), std::vector<std::int32_t>(8, -1));
  const leaf_binding l = leaf_of(x.data(), dtype::int32, {8});
  const device_bytes out(e(), 64);
  const output_binding o{out.data(), dtype::int32, {4}};
  program_writer leaving({dtype::int32});
  const program leaves_array = leaving.finish(leaving.load(0, {1}));
  EXPECT_THROW(e().execute(leaves_array, {&l, 1}, {&o, 1}, box::whole({8})), index_error);
  EXPECT_NO_THROW(e().execute(leaves_array, {&l, 1}, {&o, 1}, box::whole({7})));

  // Both ends of what is read are there, but something between them is not: nothing is written then.
  const auto partial = [&](std::int64_t lo, std::int64_t hi, boundary_kind kind) {
    leaf_binding part = l;
    part.window = {{lo}, {hi}};
    part.boundary = same_faces(1, {kind, number(std::int32_t{5})});
    return part;
  };
  using k = boundary_kind;
  for (const auto& [leaf, offset] : {std::pair{partial(1, 8, k::value), -1},
                                     {partial(2, 8, k::periodic), -2},
                                     {partial(0, 7, k::value), 1},
                                     {partial(0, 6, k::periodic), 2}}) {
    program_writer v({dtype::int32});
    const program shifted = v.finish(v.load(0, {offset}));
    const output_binding all{out.data(), dtype::int32, {4}};
    e().copy_from_host(out.data(), std::vector<std::int32_t>(8, 7).data(), 32);
    EXPECT_THROW(e().execute(shifted, {&leaf, 1}, {&all, 1}, box::whole({8})), index_error) << offset;
    EXPECT_EQ(out.read<std::int32_t>(8), std::vector<std::int32_t>(8, 7));
  }

  program_writer w({dtype::int32});
  const program power = w.finish(w(opcode::power, w.scalar(std::int32_t{2}), w.load(0)));
  EXPECT_THROW(e().execute(power, {&l, 1}, {&o, 1}, box::whole({8})), value_error);

  program_writer v({dtype::int32});
  const output_binding shared{out.data(), dtype::int32, {0}};
  EXPECT_THROW(e().execute(v.finish(v.load(0)), {&l, 1}, {&shared, 1}, box::whole({8})), value_error);
}

TEST_P(engine_conformance, serves_several_threads) {
  const std::int64_t n = 100000;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const device_bytes x(e(), std::vector<double>(static_cast<std::size_t>(n), t));
      program_writer w({dtype::float64});
      const program p = w.finish(w(opcode::add, w.load(0), w.scalar(1.0)));
      for (int repeat = 0; repeat < 10; ++repeat) {
        const auto got = run<double>(e(), p, {leaf_of(x.data(), dtype::float64, {n})}, box::whole({n}));
        for (const double v : got) wrong[static_cast<std::size_t>(t)] += v != t + 1.0;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace serried::testing
