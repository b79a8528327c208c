// The host engine against the conformance suite, for each instruction set, on one thread and on several; and all of
// them against each other.
#include "local/engine_conformance.hpp"

#include <serried/error.hpp>

#include <random>

namespace serried::testing {
namespace {

/// A host engine with SERRIED_SIMD set while it is made; null where the machine lacks the instructions.
std::shared_ptr<engine> host_engine(const char* simd, int threads) {
  setenv("SERRIED_SIMD", simd, 1);
  std::shared_ptr<engine> made;
  try {
    made = make_host_engine(threads);
  } catch (const value_error&) {
    if (std::string(simd) == "baseline") throw;
  }
  unsetenv("SERRIED_SIMD");
  return made;
}

std::vector<engine_maker> makers() {
  std::vector<engine_maker> all;
  for (const char* simd : {"baseline", "avx2", "avx512"})
    for (const int threads : {1, 3})
      all.push_back({std::string(simd) + "_" + std::to_string(threads), [=] { return host_engine(simd, threads); }});
  return all;
}

INSTANTIATE_TEST_SUITE_P(host, engine_conformance, ::testing::ValuesIn(makers()),
                         [](const auto& info) { return info.param.name; });

/// Runs with every engine and compares with the first one's bits.
template <class T, class F>
void expect_same_everywhere(F&& compute, const char* what) {
  std::vector<T> first;
  for (const engine_maker& m : makers()) {
    const auto e = m.make();
    if (!e) continue;
    const std::vector<T> got = compute(*e);
    if (first.empty()) first = got;
    EXPECT_TRUE(same_bits(first, got)) << what << " on " << m.name;
  }
}

std::vector<double> wild_numbers(std::size_t n) {
  std::mt19937_64 g(3);
  std::vector<double> x(n);
  for (double& v : x) {
    const auto bits = g();
    std::memcpy(&v, &bits, sizeof v);
    if (!std::isfinite(v)) v = 1;
  }
  return x;
}

template <class T>
void check_arithmetic() {
  const std::int64_t n = 40000 + 37;
  const auto wild = wild_numbers(static_cast<std::size_t>(n));
  const std::vector<T> x(wild.begin(), wild.end());
  for (const opcode op : {opcode::add, opcode::subtract, opcode::multiply, opcode::divide, opcode::minimum,
                          opcode::remainder, opcode::floor_divide}) {
    expect_same_everywhere<T>(
        [&](engine& e) {
          const device_bytes dx(e, x);
          program_writer w({dtype_of<T>});
          const auto a = w.load(0);
          const auto b = w.load(0, {5});
          const program p = w.finish(w(opcode::sqrt, w(opcode::absolute, w(op, a, b))));
          return run<T>(e, p, {leaf_of(dx.data(), dtype_of<T>, {n})}, {{0}, {n - 5}});
        },
        name(op));
  }
}

TEST(engine_host, arithmetic_has_the_same_bits_for_all_instruction_sets_and_threads) {
  check_arithmetic<float>();
  check_arithmetic<double>();
}

TEST(engine_host, casts_have_the_same_bits_for_all_instruction_sets_and_threads) {
  const std::int64_t n = 3001;
  const auto wild = wild_numbers(static_cast<std::size_t>(n));
  for (int from = 0; from < dtype_count; ++from) {
    for (int to = 0; to < dtype_count; ++to) {
      expect_same_everywhere<std::byte>(
          [&](engine& e) {
            const device_bytes dx(e, wild);
            program_writer w({dtype::float64});
            const program p = w.finish(w.cast(w.cast(w.load(0), static_cast<dtype>(from)), static_cast<dtype>(to)));
            const auto item = static_cast<std::int64_t>(item_size(static_cast<dtype>(to)));
            const device_bytes out(e, static_cast<std::size_t>(n * item));
            const leaf_binding l = leaf_of(dx.data(), dtype::float64, {n});
            const output_binding o{out.data(), static_cast<dtype>(to), {item}};
            e.execute(p, {&l, 1}, {&o, 1}, box::whole({n}));
            return out.read<std::byte>(n * item);
          },
          "a cast");
    }
  }
}

TEST(engine_host, sums_have_the_same_bits_for_all_instruction_sets_and_threads) {
  const auto x = wild_numbers(123457);
  for (const std::uint32_t axes : {1u, 2u, 3u}) {
    for (const shape& s : {shape{1, 123457}, shape{123457, 1}, shape{3, 41152}, shape{41152, 3}, shape{351, 351}}) {
      expect_same_everywhere<double>(
          [&](engine& e) {
            const device_bytes dx(e, x);
            program_writer w({dtype::float64});
            return run_reduction<double>(e, w.finish(w.load(0)), {leaf_of(dx.data(), dtype::float64, s)}, box::whole(s),
                                         {reduce_kind::sum, axes, dtype::float64});
          },
          "a sum");
    }
  }
}

TEST(engine_host, products_do_not_depend_on_threads) {
  std::vector<float> x(100000);
  std::mt19937 g(4);
  for (float& v : x) v = std::uniform_real_distribution<float>(0.99f, 1.01f)(g);
  expect_same_everywhere<float>(
      [&](engine& e) {
        const device_bytes dx(e, x);
        program_writer w({dtype::float32});
        return run_reduction<float>(e, w.finish(w.load(0)), {leaf_of(dx.data(), dtype::float32, {100000})},
                                    box::whole({100000}), {reduce_kind::prod, 1, dtype::float32});
      },
      "a product");
}

TEST(engine_host, names_what_it_knows) {
  setenv("SERRIED_SIMD", "neon", 1);
  try {
    (void)make_host_engine(1);
    ADD_FAILURE() << "an unknown instruction set was accepted";
  } catch (const value_error& error) {
    EXPECT_STREQ(error.what(), "SERRIED_SIMD=neon: not one of baseline, avx2, avx512");
  }
  unsetenv("SERRIED_SIMD");
  EXPECT_EQ(make_host_engine(2)->name(), "host");
}

}  // namespace
}  // namespace serried::testing
