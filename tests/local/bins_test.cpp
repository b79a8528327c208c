#include "local/ops/bins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace serried::testing {
namespace {

using ops::bins::state;

double double_of_hex(const std::string& hex) {
  const std::uint64_t bits = std::stoull(hex, nullptr, 16);
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

struct known_sum {
  std::string kind;
  std::vector<double> x;
  double sum;   // exact, rounded to double
  float sum32;  // exact, rounded to float
};

/// From tests/local/data/make_bins.py, which adds in rational arithmetic.
std::vector<known_sum> known_sums() {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "data" / "bins.txt");
  std::vector<known_sum> all;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    known_sum k;
    std::size_t n = 0;
    words >> k.kind >> n;
    std::string hex;
    for (std::size_t i = 0; i < n; ++i) {
      words >> hex;
      k.x.push_back(double_of_hex(hex));
    }
    words >> hex;
    k.sum = double_of_hex(hex);
    words >> hex;
    const auto bits = static_cast<std::uint32_t>(std::stoul(hex, nullptr, 16));
    std::memcpy(&k.sum32, &bits, sizeof k.sum32);
    all.push_back(k);
  }
  return all;
}

state sum(const std::vector<double>& x) {
  state s;
  for (const double v : x) ops::bins::add(s, v);
  return s;
}

/// The same number, whatever words it is made of.
bool same(const state& a, const state& b) {
  const double x = ops::bins::finish_double(a);
  const double y = ops::bins::finish_double(b);
  return std::memcmp(&x, &y, sizeof x) == 0;
}

/// What the bins may leave out: half a unit of the lowest one for each number.
double bound(const state& s, std::size_t n) {
  return std::ldexp(static_cast<double>(n), static_cast<int>(40 * (s.top - 2) - 1));
}

TEST(bins, sums_are_the_exact_ones_rounded_once) {
  const auto all = known_sums();
  ASSERT_GT(all.size(), 30u);
  for (const known_sum& k : all) {
    const state s = sum(k.x);
    const double got = ops::bins::finish_double(s);
    if (std::isinf(k.sum)) {
      EXPECT_EQ(got, k.sum) << k.kind;
      continue;
    }
    const double ulp = std::nextafter(std::fabs(k.sum), std::numeric_limits<double>::infinity()) - std::fabs(k.sum);
    const double left_out = bound(s, k.x.size());
    // Nothing is left out when the bins reach as low as the numbers do; and what is can only matter near a tie.
    EXPECT_LE(std::fabs(got - k.sum), left_out == 0 ? 0 : left_out + (left_out < ulp / 1e6 ? 0 : ulp)) << k.kind;
    if (left_out < ulp / 1e6) {
      EXPECT_EQ(ops::bins::finish_float(s), k.sum32) << k.kind;
    }
  }
}

std::vector<double> wild(std::mt19937_64& g, std::size_t n, int low, int high) {
  std::vector<double> x(n);
  for (double& v : x)
    v = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(g), std::uniform_int_distribution<int>(low, high)(g));
  return x;
}

TEST(bins, order_and_grouping_do_not_matter) {
  std::mt19937_64 g(7);
  for (const auto& [low, high] : {std::pair{-1080, 1023}, {-1080, -950}, {900, 1023}, {-60, 60}, {0, 1}}) {
    for (int trial = 0; trial < 60; ++trial) {
      auto x = wild(g, 300, low, high);
      const state reference = sum(x);
      std::shuffle(x.begin(), x.end(), g);
      ASSERT_TRUE(same(sum(x), reference));
      // Random chunks, merged in random order and shape.
      std::vector<state> parts;
      for (std::size_t i = 0; i < x.size();) {
        const std::size_t n = std::min(x.size() - i, static_cast<std::size_t>(1 + g() % 40));
        parts.push_back(
            sum({x.begin() + static_cast<std::ptrdiff_t>(i), x.begin() + static_cast<std::ptrdiff_t>(i + n)}));
        i += n;
      }
      while (parts.size() > 1) {
        const std::size_t i = g() % parts.size();
        const state one = parts[i];
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
        ops::bins::merge(parts[g() % parts.size()], one);
      }
      ASSERT_TRUE(same(parts[0], reference));
    }
  }
}

TEST(bins, float_range_is_exact_against_a_wider_sum) {
  // 40-bit numbers in one bin: long double adds a thousand of them exactly.
  std::mt19937_64 g(8);
  for (int trial = 0; trial < 100; ++trial) {
    const auto x = wild(g, 1000, 0, 6);
    std::vector<double> cut(x);
    for (double& v : cut) v = std::ldexp(std::nearbyint(std::ldexp(v, 40)), -40);
    long double exact = 0;
    for (const double v : cut) exact += v;
    EXPECT_EQ(ops::bins::finish_double(sum(cut)), static_cast<double>(exact));
  }
}

TEST(bins, many_numbers_fit) {
  // A state added to itself 60 times over stands for 2^60 of each number.
  for (const double v : {1.0, 0.75, std::ldexp(1.0, 39) - 1, -3.5e-5}) {
    state s = sum({v});
    for (int doubling = 0; doubling < 60; ++doubling) ops::bins::merge(s, state(s));
    EXPECT_EQ(ops::bins::finish_double(s), std::ldexp(v, 60));
  }
  // Without any normalization between: what an all-reduce over ranks does.
  state s = sum({1e10, -3.25});
  state total = s;
  for (int rank = 1; rank < 4096; ++rank)
    for (int k = 0; k < ops::bins::digits; ++k) {
      total.lo[k] += s.lo[k];
      total.hi[k] += s.hi[k];
    }
  EXPECT_EQ(ops::bins::finish_double(total), 4096 * (1e10 - 3.25));
}

TEST(bins, a_larger_number_drops_low_bins_as_a_whole) {
  // The same bits whether the large number comes first or last, though all that was below is gone.
  std::vector<double> x(1000, 1e-3);
  x.push_back(1e60);
  const state last = sum(x);
  std::rotate(x.begin(), x.end() - 1, x.end());
  EXPECT_TRUE(same(sum(x), last));
  x.push_back(-1e60);
  EXPECT_EQ(ops::bins::finish_double(sum(x)), 0.0);
}

TEST(bins, special_numbers) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ops::bins::finish_double(sum({})), 0.0);
  EXPECT_FALSE(std::signbit(ops::bins::finish_double(sum({-0.0, -0.0}))));  // as NumPy
  EXPECT_FALSE(std::signbit(ops::bins::finish_double(sum({5.0, -5.0}))));
  EXPECT_EQ(ops::bins::finish_double(sum({inf, 1})), inf);
  EXPECT_EQ(ops::bins::finish_double(sum({1, -inf})), -inf);
  EXPECT_TRUE(std::isnan(ops::bins::finish_double(sum({inf, -inf}))));
  EXPECT_TRUE(std::isnan(ops::bins::finish_double(sum({std::nan(""), inf}))));
  EXPECT_TRUE(std::isnan(ops::bins::finish_double(sum({-std::nan("")}))));
}

TEST(bins, narrow_results_round_once) {
  // 2049 is a tie for binary16 (goes to 2048), and just above it is not.
  EXPECT_EQ(ops::to_float(ops::bins::finish_half(sum({2048, 1}))), 2048.0f);
  EXPECT_EQ(ops::to_float(ops::bins::finish_half(sum({2048, 1, 1e-9}))), 2050.0f);
  EXPECT_EQ(ops::to_float(ops::bins::finish_half(sum({65519}))), 65504.0f);
  EXPECT_TRUE(std::isinf(ops::to_float(ops::bins::finish_half(sum({65520})))));
  EXPECT_EQ(ops::to_float(ops::bins::finish_half(sum({0x1p-24, 0x1p-25}))), 0x1p-23f);  // a tie
  EXPECT_EQ(ops::to_float(ops::bins::finish_half(sum({1e-300}))), 0.0f);
  EXPECT_EQ(ops::to_float(ops::bins::finish_bfloat(sum({256, 1}))), 256.0f);
  EXPECT_EQ(ops::to_float(ops::bins::finish_bfloat(sum({256, 1, 1e-9}))), 258.0f);
  EXPECT_EQ(ops::bins::finish_float(sum({16777216.0, 1, 1e-9})), 16777218.0f);
  EXPECT_TRUE(std::isinf(ops::bins::finish_float(sum({3.4e38, 3.4e38}))));
  EXPECT_EQ(ops::bins::finish_float(sum({0x1p-149, 0x1p-150, 0x1p-160})), 0x1p-148f);
}

}  // namespace
}  // namespace serried::testing
