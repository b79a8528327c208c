// The reductions of the engine conformance suite.
#include "local/engine_conformance.hpp"

#include <serried/error.hpp>

#include "local/ops/bins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace serried::testing {
namespace {

using generator = std::mt19937;
int pick(generator& g, int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(g); }

/// Calls f(kept position, index) for every index.
template <class F>
void for_each_result(const box& where, std::uint32_t axes, F&& f) {
  for_each_index(where, [&](const dims& i) {
    std::int64_t position = 0;
    for (int d = 0; d < i.size(); ++d)
      if ((axes >> d & 1u) == 0) position = position * (where.hi[d] - where.lo[d]) + (i[d] - where.lo[d]);
    f(static_cast<std::size_t>(position), i);
  });
}

std::size_t results_of(const box& where, std::uint32_t axes) {
  std::size_t n = 1;
  for (int d = 0; d < where.ndim(); ++d)
    if ((axes >> d & 1u) == 0) n *= static_cast<std::size_t>(where.hi[d] - where.lo[d]);
  return n;
}

struct random_case {
  shape s;
  box where;
  std::uint32_t axes;
  strides order;  // a permuted C order, in elements
  std::int64_t count;
};

random_case make_case(generator& g) {
  random_case c;
  const int ndim = pick(g, 0, 4);
  c.s = dims::filled(ndim, 1);
  for (std::int64_t& extent : c.s) extent = pick(g, 1, 7);
  if (ndim > 0) c.s[pick(g, 0, ndim - 1)] = pick(g, 1, 3) == 1 ? pick(g, 500, 3000) : pick(g, 10, 200);
  c.where = box::whole(c.s);
  for (int d = 0; d < ndim; ++d) {
    if (pick(g, 0, 2) != 0) continue;
    c.where.lo[d] = pick(g, 0, static_cast<int>(c.s[d]) - 1);
    c.where.hi[d] = pick(g, static_cast<int>(c.where.lo[d]) + 1, static_cast<int>(c.s[d]));
  }
  c.axes = static_cast<std::uint32_t>(pick(g, 0, (1 << ndim) - 1));
  std::vector<int> memory_order(static_cast<std::size_t>(ndim));
  for (int d = 0; d < ndim; ++d) memory_order[static_cast<std::size_t>(d)] = d;
  if (pick(g, 0, 1) == 0) std::shuffle(memory_order.begin(), memory_order.end(), g);
  c.order = dims::filled(ndim, 0);
  c.count = 1;
  for (auto d = memory_order.rbegin(); d != memory_order.rend(); ++d) {
    c.order[*d] = c.count;
    c.count *= c.s[*d];
  }
  return c;
}

template <class T>
leaf_binding leaf_of_case(const device_bytes& memory, const random_case& c) {
  leaf_binding l = leaf_of(memory.data(), dtype_of<T>, c.s);
  for (int d = 0; d < c.s.size(); ++d) l.stride[d] = c.order[d] * static_cast<std::int64_t>(sizeof(T));
  return l;
}

std::size_t position_of(const random_case& c, const dims& i) {
  std::int64_t p = 0;
  for (int d = 0; d < i.size(); ++d) p += i[d] * c.order[d];
  return static_cast<std::size_t>(p);
}

/// Integers: every kind, against a loop in 64 bits that wraps.
template <class T>
void check_integers(engine& e, unsigned seed) {
  generator g(seed);
  const random_case c = make_case(g);
  std::vector<T> x(static_cast<std::size_t>(c.count));
  for (T& v : x) v = static_cast<T>(g());
  const device_bytes memory(e, x);
  program_writer w({dtype_of<T>});
  const program p = w.finish(w(opcode::add, w.load(0), w.scalar(T{1})));
  for (const reduce_kind kind : {reduce_kind::sum, reduce_kind::prod, reduce_kind::min, reduce_kind::max}) {
    std::map<std::size_t, T> expected;
    for_each_result(c.where, c.axes, [&](std::size_t k, const dims& i) {
      const T v = static_cast<T>(static_cast<std::uint64_t>(x[position_of(c, i)]) + 1);
      const auto [at, fresh] = expected.try_emplace(k, v);
      if (fresh) return;
      const auto a = static_cast<std::uint64_t>(at->second);
      const auto b = static_cast<std::uint64_t>(v);
      switch (kind) {
        case reduce_kind::sum: at->second = static_cast<T>(a + b); break;
        case reduce_kind::prod: at->second = static_cast<T>(a * b); break;
        case reduce_kind::min: at->second = std::min(at->second, v); break;
        case reduce_kind::max: at->second = std::max(at->second, v); break;
      }
    });
    const auto got = run_reduction<T>(e, p, {leaf_of_case<T>(memory, c)}, c.where, {kind, c.axes, dtype_of<T>});
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t k = 0; k < got.size(); ++k)
      ASSERT_EQ(got[k], expected[k]) << "seed " << seed << ", kind " << static_cast<int>(kind) << ", shape "
                                     << to_string(c.s) << ", axes " << c.axes << ", result " << k;
  }
}

/// Floating numbers that are multiples of 2^-10 below 2^10: double adds them up exactly, so the sum is known.
template <class T>
void check_floats(engine& e, unsigned seed) {
  generator g(seed);
  const random_case c = make_case(g);
  std::vector<T> x(static_cast<std::size_t>(c.count));
  for (T& v : x) v = static_cast<T>(std::ldexp(pick(g, -1024, 1024), -pick(g, 0, 10)));
  const bool with_nan = pick(g, 0, 3) == 0;
  if (with_nan) x[x.size() / 2] = -std::numeric_limits<T>::quiet_NaN();
  const device_bytes memory(e, x);
  program_writer w({dtype_of<T>});
  const program p = w.finish(w.load(0));
  const std::size_t n = results_of(c.where, c.axes);
  std::vector<double> sum(n, 0), low(n, std::numeric_limits<double>::infinity()), high(n, -low[0]);
  for_each_result(c.where, c.axes, [&](std::size_t k, const dims& i) {
    const auto v = static_cast<double>(x[position_of(c, i)]);
    sum[k] += v;
    low[k] = std::isnan(low[k]) || std::isnan(v) ? std::nan("") : std::min(low[k], v);
    high[k] = std::isnan(high[k]) || std::isnan(v) ? std::nan("") : std::max(high[k], v);
  });
  for (const auto& [kind, expected] :
       {std::pair{reduce_kind::sum, &sum}, {reduce_kind::min, &low}, {reduce_kind::max, &high}}) {
    const auto got = run_reduction<T>(e, p, {leaf_of_case<T>(memory, c)}, c.where, {kind, c.axes, dtype_of<T>});
    ASSERT_EQ(got.size(), n);
    for (std::size_t k = 0; k < n; ++k) {
      const auto want = static_cast<T>((*expected)[k]);
      ASSERT_TRUE(got[k] == want || (std::isnan(got[k]) && std::isnan(want)))
          << got[k] << " instead of " << want << ": seed " << seed << ", kind " << static_cast<int>(kind) << ", shape "
          << to_string(c.s) << ", axes " << c.axes << ", box " << to_string(c.where) << ", result " << k;
    }
  }
}

}  // namespace

TEST_P(engine_conformance, random_integer_reductions) {
  for (unsigned seed = 0; seed < 60 && !HasFatalFailure(); ++seed) {
    check_integers<std::int64_t>(e(), seed);
    check_integers<std::int32_t>(e(), seed + 100);
    check_integers<std::uint8_t>(e(), seed + 200);
    check_integers<std::uint16_t>(e(), seed + 300);
  }
}

TEST_P(engine_conformance, random_float_reductions) {
  for (unsigned seed = 0; seed < 150 && !HasFatalFailure(); ++seed) {
    check_floats<float>(e(), seed);
    check_floats<double>(e(), seed + 1000);
  }
}

TEST_P(engine_conformance, sums_do_not_depend_on_the_layout) {
  // The same 30,000 numbers over 600 binary orders of magnitude, added along either axis of different shapes.
  std::vector<double> x(30000);
  generator g(5);
  for (double& v : x) v = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(g), pick(g, -300, 300));
  ops::bins::state reference;
  for (const double v : x) ops::bins::add(reference, v);
  const double expected = ops::bins::finish_double(reference);
  for (const shape& s : {shape{30000}, shape{3, 10000}, shape{10000, 3}, shape{150, 200}, shape{30, 10, 100}}) {
    std::shuffle(x.begin(), x.end(), g);
    const device_bytes memory(e(), x);
    program_writer w({dtype::float64});
    const auto got = run_reduction<double>(e(), w.finish(w.load(0)), {leaf_of(memory.data(), dtype::float64, s)},
                                           box::whole(s), {reduce_kind::sum, (1u << s.size()) - 1, dtype::float64});
    EXPECT_EQ(got[0], expected) << to_string(s);
  }
}

namespace {

/// Numbers that upset what kernels assume about their neighbors.
template <class T>
std::vector<std::pair<const char*, std::vector<T>>> upsetting_numbers(std::size_t n) {
  generator g(6);
  const int low = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const int high = std::numeric_limits<T>::max_exponent - 1;
  const auto make = [&](auto&& exponent) {
    std::vector<T> x(n);
    for (std::size_t i = 0; i < n; ++i)
      x[i] = static_cast<T>(std::ldexp(std::uniform_real_distribution<double>(-1, 1)(g), exponent(i)));
    return x;
  };
  std::vector<std::pair<const char*, std::vector<T>>> all = {
      {"growing",
       make([&](std::size_t i) { return low + static_cast<int>(i * static_cast<std::size_t>(high - low) / n); })},
      {"shrinking",
       make([&](std::size_t i) { return high - static_cast<int>(i * static_cast<std::size_t>(high - low) / n); })},
      {"tiny", make([&](std::size_t) { return low + pick(g, 0, 30); })},
      {"huge", make([&](std::size_t) { return high - pick(g, 0, 3); })},
      {"mixed", make([&](std::size_t) { return pick(g, low, high); })},
      {"steps", make([&](std::size_t i) { return static_cast<int>(i / 700 % 5) * 20 - 40; })},
      {"ordinary", make([&](std::size_t) { return 0; })}};
  auto sparse = make([](std::size_t) { return 3; });
  for (std::size_t i = 0; i < n; ++i)
    if (i % 7 != 3 || i < n / 4) sparse[i] = 0;
  all.emplace_back("sparse", sparse);
  auto special = make([](std::size_t) { return 3; });
  for (std::size_t i = n / 3; i < n; i += 1009) special[i] = std::numeric_limits<T>::infinity();
  special[n / 2] = std::numeric_limits<T>::quiet_NaN();
  all.emplace_back("special", special);
  return all;
}

template <class T>
void check_sums_number_by_number(engine& e) {
  const std::size_t n = 30030;
  for (const auto& [what, x] : upsetting_numbers<T>(n)) {
    const device_bytes memory(e, x);
    program_writer w({dtype_of<T>});
    const program plain = w.finish(w.load(0));
    program_writer v({dtype_of<T>});
    const program negated = v.finish(v(opcode::negative, v.load(0)));
    for (const shape& s :
         {shape{30030}, shape{2, 15015}, shape{15015, 2}, shape{30, 1001}, shape{1001, 30}, shape{42, 715}}) {
      for (std::uint32_t axes = 0; axes < 1u << s.size(); ++axes) {
        std::vector<ops::bins::state> states(results_of(box::whole(s), axes));
        std::size_t i = 0;
        for_each_result(box::whole(s), axes,
                        [&](std::size_t k, const dims&) { ops::bins::add(states[k], static_cast<double>(x[i++])); });
        for (const bool negative : {false, true}) {
          const auto got = run_reduction<T>(e, negative ? negated : plain, {leaf_of(memory.data(), dtype_of<T>, s)},
                                            box::whole(s), {reduce_kind::sum, axes, dtype_of<T>});
          for (std::size_t k = 0; k < states.size(); ++k) {
            T want;
            if constexpr (std::is_same_v<T, float>) want = ops::bins::finish_float(states[k]);
            else want = ops::bins::finish_double(states[k]);
            if (negative) want = -want;
            ASSERT_TRUE(got[k] == want || (std::isnan(got[k]) && std::isnan(want)))
                << what << ", " << to_string(s) << ", axes " << axes << ", result " << k << ": " << got[k]
                << " instead of " << want;
          }
        }
      }
    }
  }
}

}  // namespace

TEST_P(engine_conformance, sums_agree_with_adding_number_by_number) {
  check_sums_number_by_number<float>(e());
  check_sums_number_by_number<double>(e());
}

TEST_P(engine_conformance, sums_of_all_floating_and_complex_dtypes) {
  const std::int64_t n = 4099;
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 16) - 4;  // sums to 2047 · …, all exact
  double expected = 0;
  for (const double v : x) expected += v;
  const device_bytes memory(e(), x);
  const leaf_binding l = leaf_of(memory.data(), dtype::float64, {n});
  const auto sum = [&]<class T>(std::uint32_t axes) {
    program_writer w({dtype::float64});
    const program p = w.finish(w.cast(w.load(0), dtype_of<T>));
    return run_reduction<T>(e(), p, {l}, box::whole({n}), {reduce_kind::sum, axes, dtype_of<T>});
  };
  EXPECT_EQ(static_cast<float>(sum.operator()<float16_t>(1)[0]),
            static_cast<float>(float16_t(static_cast<float>(expected))));
  EXPECT_EQ(static_cast<float>(sum.operator()<bfloat16_t>(1)[0]),
            static_cast<float>(bfloat16_t(static_cast<float>(expected))));
  EXPECT_EQ(sum.operator()<float>(1)[0], expected);
  EXPECT_EQ(sum.operator()<double>(1)[0], expected);
  EXPECT_EQ(sum.operator()<std::complex<float>>(1)[0], std::complex<float>(static_cast<float>(expected)));
  EXPECT_EQ(sum.operator()<std::complex<double>>(0)[5], std::complex<double>(x[5]));

  std::vector<std::complex<float>> z(3000);
  std::complex<double> total = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    z[i] = {static_cast<float>(i % 7), -static_cast<float>(i % 5)};
    total += z[i];
  }
  const device_bytes zs(e(), z);
  program_writer w({dtype::complex64});
  const program p = w.finish(w.load(0));
  for (const shape& s : {shape{3000}, shape{2, 1500}, shape{1500, 2}, shape{50, 60}}) {
    const auto all = (1u << s.size()) - 1;
    EXPECT_EQ(run_reduction<std::complex<float>>(e(), p, {leaf_of(zs.data(), dtype::complex64, s)}, box::whole(s),
                                                 {reduce_kind::sum, all, dtype::complex64})[0],
              std::complex<float>(total))
        << to_string(s);
    if (s.size() == 1) continue;
    const auto columns = run_reduction<std::complex<float>>(e(), p, {leaf_of(zs.data(), dtype::complex64, s)},
                                                            box::whole(s), {reduce_kind::sum, 1, dtype::complex64});
    std::complex<double> first = 0;
    for (std::int64_t r = 0; r < s[0]; ++r) first += z[static_cast<std::size_t>(r * s[1] + s[1] - 1)];
    EXPECT_EQ(columns.back(), std::complex<float>(first)) << to_string(s);
  }
}

TEST_P(engine_conformance, infinities_and_nan_in_sums) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto sum = [&](std::vector<double> x) {
    x.resize(100, 1.0);
    const device_bytes memory(e(), x);
    program_writer w({dtype::float64});
    return run_reduction<double>(e(), w.finish(w.load(0)), {leaf_of(memory.data(), dtype::float64, {100})},
                                 box::whole({100}), {reduce_kind::sum, 1, dtype::float64})[0];
  };
  EXPECT_EQ(sum({inf, 2}), inf);
  EXPECT_EQ(sum({2, -inf, -inf}), -inf);
  EXPECT_TRUE(std::isnan(sum({inf, -inf})));
  EXPECT_TRUE(std::isnan(sum({std::nan(""), 1})));
  EXPECT_EQ(sum({std::numeric_limits<double>::max(), std::numeric_limits<double>::max()}), inf);
  EXPECT_EQ(sum({1e308, 1e308, -1e308}), 1e308);  // no overflow on the way
}

TEST_P(engine_conformance, states_merge_after_alignment) {
  // As ranks do it: maximum of the tops, align, sum of the other words.
  const std::vector<double> parts[] = {{1e300, 3, -1e300}, {1, 2, 3}, {1e-300, -7, 0}};
  const reduction r{reduce_kind::sum, 1, dtype::float64};
  const int words = layout_of(r).words;
  program_writer w({dtype::float64});
  const program p = w.finish(w.load(0));
  std::vector<std::vector<std::int64_t>> states;
  std::int64_t top = std::numeric_limits<std::int64_t>::min();
  for (const auto& x : parts) {
    const device_bytes memory(e(), x);
    const device_bytes state(e(), static_cast<std::size_t>(words) * 8);
    const leaf_binding l = leaf_of(memory.data(), dtype::float64, {3});
    e().reduce_to_states(p, {&l, 1}, box::whole({3}), r, state.data());
    states.push_back(state.read<std::int64_t>(words));
    top = std::max(top, states.back()[0]);
  }
  std::vector<std::int64_t> total(static_cast<std::size_t>(words), 0);
  const device_bytes tops(e(), std::vector<std::int64_t>{top});
  for (const auto& s : states) {
    const device_bytes state(e(), s);
    e().align(r, state.data(), tops.data(), 1);
    const auto aligned = state.read<std::int64_t>(words);
    EXPECT_EQ(aligned[0], top);
    for (std::size_t k = 1; k < total.size(); ++k) total[k] += aligned[k];
  }
  total[0] = top;
  const device_bytes merged(e(), total);
  const device_bytes out(e(), 8);
  e().finish(r, merged.data(), 1, out.data());
  const std::vector<double> all{1e300, 3, -1e300, 1, 2, 3, 1e-300, -7, 0};
  const device_bytes memory(e(), all);
  EXPECT_EQ(out.read<double>(1),
            run_reduction<double>(e(), p, {leaf_of(memory.data(), dtype::float64, {9})}, box::whole({9}), r));
}

TEST_P(engine_conformance, reductions_of_nothing) {
  const device_bytes none(e(), 64);
  program_writer w({dtype::float64});
  const program p = w.finish(w.load(0));
  const box where{{0, 2}, {3, 2}};
  const leaf_binding l = leaf_of(none.data(), dtype::float64, {3, 2});
  EXPECT_EQ(run_reduction<double>(e(), p, {l}, where, {reduce_kind::sum, 2, dtype::float64}),
            std::vector<double>(3, 0.0));
  EXPECT_EQ(run_reduction<double>(e(), p, {l}, where, {reduce_kind::prod, 2, dtype::float64}),
            std::vector<double>(3, 1.0));
  EXPECT_TRUE(run_reduction<double>(e(), p, {l}, where, {reduce_kind::sum, 1, dtype::float64}).empty());
}

TEST_P(engine_conformance, minimum_of_zeros_and_bools) {
  const device_bytes zeros(e(), std::vector<float>{0.0f, -0.0f, 0.0f});
  program_writer w({dtype::float32});
  const program p = w.finish(w.load(0));
  const leaf_binding l = leaf_of(zeros.data(), dtype::float32, {3});
  EXPECT_TRUE(
      std::signbit(run_reduction<float>(e(), p, {l}, box::whole({3}), {reduce_kind::min, 1, dtype::float32})[0]));
  EXPECT_FALSE(
      std::signbit(run_reduction<float>(e(), p, {l}, box::whole({3}), {reduce_kind::max, 1, dtype::float32})[0]));

  const device_bytes flags(e(), std::vector<std::uint8_t>{1, 1, 0, 1});
  program_writer b({dtype::bool_});
  const program q = b.finish(b.load(0));
  const leaf_binding f = leaf_of(flags.data(), dtype::bool_, {2, 2});
  EXPECT_EQ(run_reduction<std::uint8_t>(e(), q, {f}, box::whole({2, 2}), {reduce_kind::min, 2, dtype::bool_}),
            (std::vector<std::uint8_t>{1, 0}));
  EXPECT_THROW(run_reduction<float16_t>(e(), q, {f}, box::whole({2, 2}), {reduce_kind::prod, 2, dtype::float16}),
               dtype_error);
}

TEST_P(engine_conformance, reduction_over_a_boundary) {
  // The sum of a periodic shift is the sum.
  const shape s{9, 130};
  std::vector<std::int64_t> x(static_cast<std::size_t>(element_count(s)));
  std::int64_t total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) total += x[i] = static_cast<std::int64_t>(i * i);
  const device_bytes memory(e(), x);
  leaf_binding l = leaf_of(memory.data(), dtype::int64, s);
  l.boundary = same_faces(2, {boundary_kind::periodic, {}});
  program_writer w({dtype::int64});
  const program p = w.finish(w.load(0, {-1, 1}));
  EXPECT_EQ(run_reduction<std::int64_t>(e(), p, {l}, box::whole(s), {reduce_kind::sum, 3, dtype::int64})[0], total);
}

}  // namespace serried::testing
