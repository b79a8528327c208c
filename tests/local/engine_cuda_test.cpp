// The CUDA engine against the conformance suite, and against the host engine, bit for bit, where both promise the same.
// Without a GPU all of it is skipped.
#include "local/engine_conformance.hpp"

#include <serried/error.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace serried::testing {
namespace {

/// One for all tests: starting CUDA takes a while. Null without a GPU.
std::shared_ptr<engine> cuda_engine() {
  static const std::shared_ptr<engine> e = make_cuda_engine();
  return e;
}

INSTANTIATE_TEST_SUITE_P(cuda, engine_conformance, ::testing::Values(engine_maker{"cuda", cuda_engine}),
                         [](const auto& info) { return info.param.name; });

class engine_cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_engine()) GTEST_SKIP() << "no GPU: " << why_no_cuda_engine();
  }
  engine& gpu() { return *cuda_engine(); }
  engine& host() { return *host_; }

 private:
  const std::shared_ptr<engine> host_ = make_host_engine(2);
};

/// Bytes of n elements of any dtype: random bits, with the numbers that matter among them.
std::vector<std::byte> wild_elements(dtype type, std::size_t n, unsigned seed) {
  std::mt19937_64 g(seed);
  std::vector<std::byte> bytes(n * item_size(type));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(g());
  if (type == dtype::bool_)
    for (std::byte& b : bytes) b &= std::byte{1};
  const auto put = [&]<class T>(std::initializer_list<T> special) {
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); i += 1 + g() % 3) {
      const T v = special.begin()[g() % special.size()];
      std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof v);
    }
  };
  const auto put_reals = [&]<class T>(T) {
    using limits = std::numeric_limits<T>;
    put({T(0), -T(0), T(1), T(-1), T(0.5), T(1.5), T(2.5), T(-3), T(7), T(1e9), T(-2147483648.0), T(9.3e18),
         limits::max(), limits::lowest(), limits::min(), limits::denorm_min(), limits::infinity(), -limits::infinity(),
         limits::quiet_NaN()});
  };
  switch (type) {
    case dtype::float32:
    case dtype::complex64: put_reals(0.0f); break;
    case dtype::float64:
    case dtype::complex128: put_reals(0.0); break;
    case dtype::int64: put({INT64_MIN, INT64_MAX, std::int64_t{-1}, std::int64_t{0}, std::int64_t{3}}); break;
    case dtype::int32: put({INT32_MIN, INT32_MAX, -1, 0, 7}); break;
    case dtype::bool_: break;
    default:  // the narrow ones meet all their values by themselves
      for (std::size_t i = 0; i < n; i += 5)
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * item_size(type)), item_size(type), std::byte{0});
  }
  return bytes;
}

template <class T>
bool same_number(const std::byte* a, const std::byte* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return std::memcmp(a, b, sizeof(T)) == 0 || (std::isnan(x) && std::isnan(y));  // NaNs' bits mean nothing
}
bool same_half(const std::byte* a, const std::byte* b, unsigned infinity) {
  std::uint16_t x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x == y || ((x & 0x7fffu) > infinity && (y & 0x7fffu) > infinity);
}
bool same_element(dtype type, const std::byte* a, const std::byte* b) {
  switch (type) {
    case dtype::float16: return same_half(a, b, 0x7c00u);
    case dtype::bfloat16: return same_half(a, b, 0x7f80u);
    case dtype::float32: return same_number<float>(a, b);
    case dtype::float64: return same_number<double>(a, b);
    case dtype::complex64: return same_number<float>(a, b) && same_number<float>(a + 4, b + 4);
    case dtype::complex128: return same_number<double>(a, b) && same_number<double>(a + 8, b + 8);
    default: return std::memcmp(a, b, item_size(type)) == 0;
  }
}

/// Zeros for what is infinite or NaN.
void make_finite(dtype type, std::vector<std::byte>& elements) {
  const auto clean = [&]<class T>(T exponent) {
    for (std::size_t i = 0; i < elements.size(); i += sizeof(T)) {
      T bits;
      std::memcpy(&bits, elements.data() + i, sizeof bits);
      if ((bits & exponent) == exponent)
        std::fill_n(elements.begin() + static_cast<std::ptrdiff_t>(i), sizeof(T), std::byte{0});
    }
  };
  switch (type) {
    case dtype::float16: return clean(std::uint16_t{0x7c00});
    case dtype::bfloat16: return clean(std::uint16_t{0x7f80});
    case dtype::float32:
    case dtype::complex64: return clean(std::uint32_t{0x7f800000});
    case dtype::float64:
    case dtype::complex128: return clean(std::uint64_t{0x7ff0000000000000});
    default: return;
  }
}

/// Runs a program with one output over one-dimensional leaves.
std::vector<std::byte> run_bytes(engine& e, const program& p, const std::vector<std::vector<std::byte>>& inputs,
                                 std::int64_t n) {
  std::vector<device_bytes> memory;
  std::vector<leaf_binding> leaves;
  memory.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    memory.emplace_back(e, inputs[i]);
    leaves.push_back(leaf_of(memory.back().data(), p.leaves[i], {n}));
  }
  const dtype type = p.code[p.outputs[0]].out;
  const auto item = static_cast<std::int64_t>(item_size(type));
  const device_bytes out(e, static_cast<std::size_t>(n * item));
  const output_binding o{out.data(), type, {item}};
  e.execute(p, leaves, {&o, 1}, box::whole({n}));
  return out.read<std::byte>(n * item);
}

void expect_same(dtype type, const std::vector<std::byte>& got, const std::vector<std::byte>& expected,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  const std::size_t item = item_size(type);
  std::size_t different = 0, first = 0;
  for (std::size_t i = 0; i < got.size() / item; ++i)
    if (!same_element(type, got.data() + i * item, expected.data() + i * item) && different++ == 0) first = i;
  EXPECT_EQ(different, 0u) << what << ": elements differ from the host's, the first is " << first;
}

/// The operations that both engines compute exactly or round correctly.
bool is_exact(opcode op, dtype type) {
  switch (op) {
    case opcode::cbrt:
    case opcode::exp:
    case opcode::exp2:
    case opcode::expm1:
    case opcode::log:
    case opcode::log2:
    case opcode::log10:
    case opcode::log1p:
    case opcode::sin:
    case opcode::cos:
    case opcode::tan:
    case opcode::arcsin:
    case opcode::arccos:
    case opcode::arctan:
    case opcode::arctan2:
    case opcode::sinh:
    case opcode::cosh:
    case opcode::tanh:
    case opcode::arcsinh:
    case opcode::arccosh:
    case opcode::arctanh:
    case opcode::hypot:
    case opcode::logaddexp:
    case opcode::logaddexp2:
    case opcode::erf:
    case opcode::erfc:
    case opcode::gamma:
    case opcode::lgamma:
    case opcode::xlogy: return false;
    case opcode::copysign: return type != dtype::float16;  // a GPU's conversion does not keep a NaN's sign
    case opcode::power: return !is_floating(type) && !is_complex(type) && !is_signed_integer(type);
    case opcode::absolute:
    case opcode::sign:
    case opcode::sqrt: return !is_complex(type);  // by way of hypot
    default: return true;
  }
}

TEST_F(engine_cuda, exact_operations_have_the_host_engines_bits) {
  const std::int64_t n = 4099;
  for (int number = static_cast<int>(opcode::cast) + 1; number < static_cast<int>(opcode::count_); ++number) {
    const auto op = static_cast<opcode>(number);
    for (int t = 0; t < dtype_count; ++t) {
      const auto type = static_cast<dtype>(t);
      if (!is_exact(op, type)) continue;
      program_writer w({type, type, type});
      program p;
      try {
        const auto a = w.load(0), b = w.load(1), c = w.load(2);
        const int arity = argument_count(op);
        p = w.finish(arity == 1 ? w(op, a) : arity == 2 ? w(op, a, b) : w(op, a, b, c));
      } catch (const dtype_error&) {
        continue;  // does not take it
      }
      const auto size = static_cast<std::size_t>(n);
      const std::vector inputs{wild_elements(type, size, 1), wild_elements(type, size, 2),
                               wild_elements(type, size, 3)};
      expect_same(p.code[p.outputs[0]].out, run_bytes(gpu(), p, inputs, n), run_bytes(host(), p, inputs, n),
                  std::string(name(op)) + " of " + std::string(name(type)));
    }
  }
}

TEST_F(engine_cuda, casts_have_the_host_engines_bits) {
  const std::int64_t n = 3001;
  for (int from = 0; from < dtype_count; ++from) {
    for (int to = 0; to < dtype_count; ++to) {
      const auto a = static_cast<dtype>(from), b = static_cast<dtype>(to);
      program_writer w({a});
      const program p = w.finish(w.cast(w.load(0), b));
      const std::vector<std::vector<std::byte>> inputs{wild_elements(a, static_cast<std::size_t>(n), 5)};
      expect_same(b, run_bytes(gpu(), p, inputs, n), run_bytes(host(), p, inputs, n),
                  std::string(name(a)) + " to " + std::string(name(b)));
    }
  }
}

TEST_F(engine_cuda, fused_and_unfused_have_the_same_bits) {
  const std::int64_t n = 10007;
  const auto numbers = wild_elements(dtype::float32, static_cast<std::size_t>(n), 9);
  program_writer fused({dtype::float32});
  const auto x = fused.load(0);
  const program p = fused.finish(fused(opcode::add, fused(opcode::multiply, x, x), fused.scalar(1.1f)));
  program_writer first({dtype::float32}), second({dtype::float32});
  const auto y = first.load(0);
  const program squares = first.finish(first(opcode::multiply, y, y));
  const program sums = second.finish(second(opcode::add, second.load(0), second.scalar(1.1f)));
  expect_same(dtype::float32, run_bytes(gpu(), p, {numbers}, n),
              run_bytes(gpu(), sums, {run_bytes(gpu(), squares, {numbers}, n)}, n), "x * x + 1.1");
}

TEST_F(engine_cuda, sums_have_the_host_engines_bits) {
  const std::int64_t n = 123456;
  for (const dtype type :
       {dtype::float16, dtype::float32, dtype::float64, dtype::complex64, dtype::complex128, dtype::int64}) {
    const auto item = static_cast<std::int64_t>(item_size(type));
    auto numbers = wild_elements(type, static_cast<std::size_t>(n), 11);
    for (const bool finite : {false, true}) {  // with one NaN, everything is one
      if (finite) make_finite(type, numbers);
      for (const std::uint32_t axes : {1u, 2u, 3u}) {
        for (const shape& s : {shape{1, n}, shape{n, 1}, shape{3, n / 3}, shape{n / 3, 3}, shape{384, n / 384}}) {
          const std::int64_t used = s[0] * s[1];
          const std::vector<std::byte> part(numbers.begin(), numbers.begin() + used * item);
          const auto sum = [&](engine& e) {
            program_writer w({type});
            const reduction r{reduce_kind::sum, axes, type};
            const program p = w.finish(w.load(0));
            const device_bytes x(e, part);
            const std::int64_t results = (axes & 1u ? 1 : s[0]) * (axes & 2u ? 1 : s[1]);
            const device_bytes out(e, static_cast<std::size_t>(results * item));
            const leaf_binding l = leaf_of(x.data(), type, s);
            e.reduce(p, {&l, 1}, box::whole(s), r, out.data());
            return out.read<std::byte>(results * item);
          };
          expect_same(type, sum(gpu()), sum(host()), "sum of " + std::string(name(type)));
        }
      }
    }
  }
}

TEST_F(engine_cuda, takes_hundreds_of_scalars) {
  program_writer w({dtype::int64});
  auto total = w.load(0);
  std::int64_t expected = 5;
  for (std::int64_t i = 0; i < 1000; ++i) {  // more than 4 KB of arguments
    total = w(opcode::add, total, w.scalar(i * i));
    expected += i * i;
  }
  const device_bytes x(gpu(), std::vector<std::int64_t>{5, 6});
  EXPECT_EQ(run<std::int64_t>(gpu(), w.finish(total), {leaf_of(x.data(), dtype::int64, {2})}, box::whole({2})),
            (std::vector<std::int64_t>{expected, expected + 1}));
}

TEST_F(engine_cuda, serves_several_threads) {
  const auto work = [this](int seed) {
    for (int i = 0; i < 50; ++i) {
      const std::int64_t n = 1000 + 10 * i;
      const std::vector<std::int64_t> values(static_cast<std::size_t>(n), seed);
      const device_bytes x(gpu(), values);
      program_writer w({dtype::int64});
      const program p = w.finish(w(opcode::add, w.load(0), w.scalar(std::int64_t{i})));
      const auto got = run<std::int64_t>(gpu(), p, {leaf_of(x.data(), dtype::int64, {n})}, box::whole({n}));
      EXPECT_EQ(got, std::vector<std::int64_t>(static_cast<std::size_t>(n), seed + i));
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work, 100 * t);
  for (std::thread& t : threads) t.join();
}

TEST_F(engine_cuda, knows_its_own_memory) {
  const device_bytes mine(gpu(), std::size_t{100});
  EXPECT_TRUE(gpu().holds(mine.data()));
  int other = 0;
  EXPECT_FALSE(gpu().holds(&other));
  EXPECT_FALSE(gpu().holds(nullptr));
  std::byte* const pinned = gpu().pinned().allocate(100);
  EXPECT_FALSE(gpu().holds(pinned));
  gpu().pinned().deallocate(pinned, 100);
}

TEST_F(engine_cuda, refuses_clearly_in_a_forked_child) {
  const device_bytes x(gpu(), std::vector<int>{1, 2, 3});
  const pid_t child = fork();
  if (child == 0) {
    int result = 1;
    try {
      (void)x.read<int>(3);
    } catch (const device_error& e) {
      result = std::string(e.what()).find("forked") != std::string::npos ? 0 : 2;
    }
    _exit(result);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(x.read<int>(3), (std::vector<int>{1, 2, 3}));
}

/// Reads where nothing is, in a process of its own: the GPU answers it no more.
void read_nowhere() {
  const auto e = make_cuda_engine();
  const auto* const nowhere = reinterpret_cast<const std::byte*>(std::uintptr_t{4096});
  program_writer w({dtype::float32});
  const program p = w.finish(w.load(0));
  try {
    (void)run<float>(*e, p, {leaf_of(nowhere, dtype::float32, {1000})}, box::whole({1000}));
  } catch (const device_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(7);
  }
  std::_Exit(1);
}

TEST_F(engine_cuda, says_when_the_gpu_is_lost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(read_nowhere(), ::testing::ExitedWithCode(7), "cudaErrorIllegalAddress.*cannot use the GPU any more");
}

}  // namespace
}  // namespace serried::testing
