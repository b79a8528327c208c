#include <serried/dtype.hpp>

#include "local/ops/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>

namespace serried::testing {
namespace {

TEST(dtype, names_and_sizes) {
  EXPECT_EQ(name(float16), "float16");
  EXPECT_EQ(name(bool_), "bool");
  EXPECT_EQ(name(complex128), "complex128");
  EXPECT_EQ(item_size(bool_), 1u);
  EXPECT_EQ(item_size(bfloat16), 2u);
  EXPECT_EQ(item_size(complex128), 16u);
  for (int t = 0; t < dtype_count; ++t)
    visit_dtype(static_cast<dtype>(t), [&]<class T>() {
      EXPECT_EQ(dtype_of<T>, static_cast<dtype>(t));
      EXPECT_EQ(sizeof(T), item_size(static_cast<dtype>(t)));
    });
}

/// The value of a binary16 by its definition.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = (bits >> 15) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

TEST(float16, widening_is_exact_for_all_numbers) {
  for (int i = 0; i < 65536; ++i) {
    const auto h = float16_t::from_bits(static_cast<std::uint16_t>(i));
    const auto got = static_cast<float>(h);
    const double want = half_value(h.bits);
    if (std::isnan(want)) EXPECT_TRUE(std::isnan(got));
    else EXPECT_EQ(got, want);
    EXPECT_EQ(std::signbit(got), i >= 32768);
    if (!std::isnan(got)) EXPECT_EQ(float16_t(got).bits, i);
    else EXPECT_TRUE(std::isnan(static_cast<float>(float16_t(got))));
  }
}

TEST(float16, narrowing_rounds_to_nearest_even_between_all_neighbors) {
  for (int i = 0; i < 0x7bff; ++i) {
    const double low = half_value(static_cast<std::uint16_t>(i));
    const double high = half_value(static_cast<std::uint16_t>(i + 1));
    const double middle = (low + high) / 2;
    const auto even = static_cast<std::uint16_t>(i % 2 == 0 ? i : i + 1);
    EXPECT_EQ(float16_t(static_cast<float>(middle)).bits, even);
    EXPECT_EQ(float16_t(std::nextafterf(static_cast<float>(middle), 1e9f)).bits, i + 1);
    EXPECT_EQ(float16_t(std::nextafterf(static_cast<float>(middle), -1e9f)).bits, i);
    // From double in one rounding: a double just off the middle, which float would round onto it.
    EXPECT_EQ(ops::to_half(middle).bits, even);
    EXPECT_EQ(ops::to_half(std::nextafter(middle, 1e9)).bits, i + 1);
    EXPECT_EQ(ops::to_half(-std::nextafter(middle, -1e9)).bits, i | 0x8000);
  }
  EXPECT_EQ(float16_t(65519.99f).bits, 0x7bff);
  EXPECT_EQ(float16_t(65520.0f).bits, 0x7c00);
  EXPECT_EQ(float16_t(-1e30f).bits, 0xfc00);
  EXPECT_EQ(float16_t(0x1p-25f).bits, 0);
  EXPECT_EQ(float16_t(-0x1.8p-25f).bits, 0x8001);
}

TEST(bfloat16, narrowing_rounds_to_nearest_even_between_all_neighbors) {
  for (int i = 0; i < 0x7f7f; ++i) {
    const auto low = static_cast<float>(bfloat16_t::from_bits(static_cast<std::uint16_t>(i)));
    const auto high = static_cast<float>(bfloat16_t::from_bits(static_cast<std::uint16_t>(i + 1)));
    EXPECT_EQ(bfloat16_t(low).bits, i);
    const double middle = (static_cast<double>(low) + static_cast<double>(high)) / 2;  // a float as well
    const auto even = static_cast<std::uint16_t>(i % 2 == 0 ? i : i + 1);
    EXPECT_EQ(bfloat16_t(static_cast<float>(middle)).bits, even);
    EXPECT_EQ(ops::to_bfloat(middle).bits, even);
    EXPECT_EQ(ops::to_bfloat(std::nextafter(middle, 1e39)).bits, i + 1);
    EXPECT_EQ(ops::to_bfloat(std::nextafter(middle, -1e39)).bits, i);
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16_t(std::nanf("")))));
  EXPECT_EQ(bfloat16_t(3.4e38f).bits, 0x7f80);
  EXPECT_EQ(ops::to_bfloat(1e300).bits, 0x7f80);
  EXPECT_EQ(ops::to_bfloat(-std::numeric_limits<double>::infinity()).bits, 0xff80);
}

/// dtypes in the order of the letters in data/operations.txt.
constexpr dtype lettered[] = {bool_,  int8,   int16,   int32,   int64,   uint8,     uint16,
                              uint32, uint64, float16, float32, float64, complex64, complex128};
constexpr const char* letters = "?bhilBHILefdFD";

std::string line_of(const std::string& key) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "data" / "operations.txt");
  std::string word;
  while (file >> word)
    if (word == key) {
      file >> word;
      return word;
    }
  return {};
}

TEST(dtype, promotion_and_safe_casts_are_numpys) {
  const std::string promoted = line_of("promote");
  const std::string safe = line_of("safe");
  ASSERT_EQ(promoted.size(), 14u * 14u);
  ASSERT_EQ(safe.size(), 14u * 14u);
  for (std::size_t a = 0; a < 14; ++a)
    for (std::size_t b = 0; b < 14; ++b) {
      const dtype want = lettered[static_cast<std::size_t>(std::strchr(letters, promoted[a * 14 + b]) - letters)];
      EXPECT_EQ(promote(lettered[a], lettered[b]), want) << name(lettered[a]) << ", " << name(lettered[b]);
      EXPECT_EQ(can_cast_safely(lettered[a], lettered[b]), safe[a * 14 + b] == '1')
          << name(lettered[a]) << " to " << name(lettered[b]);
    }
}

TEST(dtype, bfloat16_stands_beside_float16) {
  EXPECT_EQ(promote(bfloat16, float16), float32);
  EXPECT_EQ(promote(bfloat16, bool_), bfloat16);
  EXPECT_EQ(promote(uint8, bfloat16), bfloat16);
  EXPECT_EQ(promote(bfloat16, int16), float32);
  EXPECT_EQ(promote(bfloat16, int64), float64);
  EXPECT_EQ(promote(bfloat16, float32), float32);
  EXPECT_EQ(promote(bfloat16, complex64), complex64);
  EXPECT_FALSE(can_cast_safely(float16, bfloat16));
  EXPECT_TRUE(can_cast_safely(bfloat16, float32));
}

}  // namespace
}  // namespace serried::testing
