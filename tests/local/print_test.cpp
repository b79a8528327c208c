#include "local/print.hpp"

#include <serried/array.hpp>
#include <serried/creation.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace serried {
namespace {

struct print_case {
  std::string title;  // kind, dtype and shape
  std::string kind;
  dtype type = dtype::float64;
  shape extents;
  std::vector<std::byte> values;
  std::string text;
};

dtype dtype_named(const std::string& wanted) {
  for (int t = 0; t < dtype_count; ++t)
    if (name(static_cast<dtype>(t)) == wanted) return static_cast<dtype>(t);
  throw std::runtime_error("print.txt: dtype " + wanted);
}

/// The cases that data/make_print.py wrote.
std::vector<print_case> cases() {
  std::ifstream file(std::filesystem::absolute(__FILE__).parent_path() / "data" / "print.txt");
  std::vector<print_case> all;
  std::string line;
  while (std::getline(file, line)) {
    print_case c;
    c.title = line;
    std::istringstream head(line);
    std::string type;
    head >> c.kind >> type;
    c.type = dtype_named(type);
    for (std::int64_t n = 0; head >> n;) c.extents.push_back(n);
    if (c.kind != "ramp") {
      std::getline(file, line);
      std::istringstream bits(line);
      const std::size_t part = item_size(c.type) / (is_complex(c.type) ? 2 : 1);
      for (std::uint64_t b = 0; bits >> std::hex >> b;)
        for (std::size_t i = 0; i < part; ++i) c.values.push_back(static_cast<std::byte>(b >> 8 * i));
    }
    while (std::getline(file, line) && line != "=") c.text += line + '\n';
    c.text.pop_back();
    all.push_back(c);
  }
  return all;
}

std::string text_of(const array& a) {
  std::ostringstream out;
  out << a;
  return out.str();
}

template <class T>
std::string text_of(std::vector<T> values, const shape& s) {
  return format_array(values.data(), dtype_of<T>, s);
}

TEST(print, formats_as_numpy_does) {
  int seen = 0;
  for (const print_case& c : cases()) {
    if (c.kind != "bits") continue;
    ASSERT_EQ(c.values.size(), static_cast<std::size_t>(element_count(shown_shape(c.extents))) * item_size(c.type));
    EXPECT_EQ(format_array(c.values.data(), c.type, c.extents), c.text) << c.title;
    ++seen;
  }
  EXPECT_GT(seen, 300);
}

TEST(print, shows_the_corners_of_more_than_a_thousand_elements) {
  EXPECT_EQ(shown_shape({1000}), (shape{1000}));
  EXPECT_EQ(shown_shape({1001}), (shape{6}));
  EXPECT_EQ(shown_shape({6, 7, 100}), (shape{6, 6, 6}));
  EXPECT_EQ(shown_shape({5, 1, 201}), (shape{5, 1, 6}));
  EXPECT_EQ(shown_shape({2000, 0}), (shape{2000, 0}));
}

TEST(print, gives_bfloat16_the_digits_that_it_has) {
  const auto bfloats = [](auto... bits) { return std::vector{bfloat16_t::from_bits(bits)...}; };
  EXPECT_EQ(text_of(bfloats(0x3DCD, 0x4049, 0xBEAB), {3}), "[ 0.1    3.14  -0.334]");  // 0.1, pi and −1/3, rounded
  EXPECT_EQ(text_of(bfloats(0x7F7F, 0x0001), {2}), "[3.39e+38 9.18e-41]");  // 2^128 − 2^120 and 2^-133, rounded
  EXPECT_EQ(text_of(bfloats(0x3DCD), {}), "0.1");
  EXPECT_EQ(text_of(bfloats(0x4973), {1}), "[995000.]");    // 995328, 4096 from the next
  EXPECT_EQ(text_of(bfloats(0x4975), {1}), "[1.004e+06]");  // 1003520
  EXPECT_EQ(text_of(bfloats(0x5F80), {}), "1.85e+19");      // 2^64: 1.84e19 is nearer to the number below
}

TEST(print, writes_arrays_from_host_values) {
  int seen = 0;
  for (const print_case& c : cases()) {
    if (c.kind != "bits" || shown_shape(c.extents) != c.extents) continue;
    EXPECT_EQ(text_of(detail::from_host(c.values.data(), c.type, c.extents)), c.text) << c.title;
    ++seen;
  }
  EXPECT_GT(seen, 290);
}

TEST(print, writes_views_of_any_strides) {
  int seen = 0;
  for (const print_case& c : cases()) {
    if (c.kind != "ramp") continue;
    const array a = array(arange(element_count(c.extents)) * 0.25 - 3.0).reshape(c.extents);
    const array b = a.astype(c.type);
    EXPECT_EQ(text_of(b), c.text) << c.title;
    EXPECT_EQ(text_of(b.T().copy().T()), c.text) << c.title << ", Fortran order";
    const array backwards = b(ellipsis, slice(_, _, -1)).copy();
    EXPECT_EQ(text_of(backwards(ellipsis, slice(_, _, -1))), c.text) << c.title << ", negative stride";
    ASSERT_GT(c.extents.size(), 0);
    shape wide = c.extents;
    wide[0] = 2 * wide[0] + 1;
    const array sparse = zeros(wide, {.dtype = c.type});
    sparse(slice(1, _, 2)) = b;
    EXPECT_EQ(text_of(sparse(slice(1, _, 2))), c.text) << c.title << ", every second";
    ++seen;
  }
  EXPECT_EQ(seen, 9);
}

TEST(print, reads_no_more_than_it_shows) {
  int seen = 0;
  for (const print_case& c : cases()) {
    if (c.kind != "same") continue;  // 10^9 to 10^12 elements
    EXPECT_EQ(text_of(detail::from_host(c.values.data(), c.type, {}).broadcast_to(c.extents)), c.text) << c.title;
    ++seen;
  }
  EXPECT_EQ(seen, 3);
}

TEST(print, leaves_the_values_as_they_are) {
  const array a = arange(2000);
  const array view = a(slice(10, 20));
  EXPECT_EQ(text_of(view), "[10 11 12 13 14 15 16 17 18 19]");
  view(0) = 7;
  EXPECT_EQ(text_of(a(slice(9, 12))), "[ 9  7 11]");
}

TEST(print, evaluates_expressions) {
  const array a = arange(3);
  std::ostringstream out;
  out << a * 2 + 1 << ' ' << sum(a);
  EXPECT_EQ(out.str(), "[1 3 5] 3");
}

}  // namespace
}  // namespace serried
