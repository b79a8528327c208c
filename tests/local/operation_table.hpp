// What NumPy 2 makes of operations and functions of special values of every dtype (data/operations.txt), and the
// comparison with it.
//
// Exact, but for the sign and payload of NaN: arithmetic, comparison, logic, rounding, sqrt. Functions of the C
// library: within 4 units in the last place (libmvec's bound); float16, which is computed in float32: within 1.
#pragma once

#include <serried/dtype.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace serried::testing {

inline const std::set<std::string> functions = {
    "cbrt",    "exp",     "exp2",   "expm1",     "log",     "log2",    "log10",   "log1p",      "sin",        "cos",
    "tan",     "arcsin",  "arccos", "arctan",    "arctan2", "sinh",    "cosh",    "tanh",       "hypot",      "power",
    "erf",     "erfc",    "gamma",  "lgamma",    "arcsinh", "arccosh", "arctanh", "logaddexp",  "logaddexp2", "xlogy",
    "degrees", "radians", "angle",  "angle_deg", "sinc",    "expit",   "logit",   "float_power"};

inline dtype dtype_named(const std::string& text) {
  for (int t = 0; t < dtype_count; ++t)
    if (name(static_cast<dtype>(t)) == text) return static_cast<dtype>(t);
  throw std::runtime_error("no dtype " + text);
}

using bytes = std::vector<std::byte>;

/// A hexadecimal bit pattern (a complex number's two, one after the other) as stored.
inline void append(bytes& all, const std::string& hex, dtype type) {
  const std::size_t parts = is_complex(type) ? 2 : 1;
  const std::size_t digits = hex.size() / parts;
  for (std::size_t part = 0; part < parts; ++part)
    for (std::size_t i = digits; i > 0; i -= 2)
      all.push_back(static_cast<std::byte>(std::stoi(hex.substr(part * digits + i - 2, 2), nullptr, 16)));
}

struct table_line {
  std::string kind, operation;
  dtype operand, result;
  bytes expected;
};

struct table {
  std::map<dtype, bytes> values;
  std::vector<table_line> lines;
  std::map<std::string, std::string> types;

  explicit table(const char* name) {
    std::ifstream file(std::filesystem::absolute(__FILE__).parent_path() / "data" / name);
    std::string text, word;
    while (std::getline(file, text)) {
      std::istringstream words(text);
      table_line l;
      words >> l.kind;
      if (l.kind == "values") {
        words >> word;
        const dtype t = dtype_named(word);
        while (words >> word) append(values[t], word, t);
      } else if (l.kind == "unary" || l.kind == "binary") {
        words >> l.operation >> word;
        l.operand = dtype_named(word);
        words >> word;
        l.result = dtype_named(word);
        while (words >> word) append(l.expected, word, l.result);
        lines.push_back(l);
      } else if (l.kind.starts_with("refused")) {
        words >> l.operation >> word;
        l.operand = dtype_named(word);
        lines.push_back(l);
      } else {
        words >> l.operation >> types[l.kind + " " + l.operation];
      }
    }
  }
};

inline const table& numpy() {
  static const table t("operations.txt");
  return t;
}

/// Places of floating numbers on the line of all of them, to count units in the last place between two.
template <class T, class Bits>
std::int64_t place(T x) {
  Bits b;
  std::memcpy(&b, &x, sizeof b);
  return b < 0 ? std::numeric_limits<Bits>::min() - static_cast<std::int64_t>(b) : b;
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  else return std::isnan(static_cast<float>(x));
}

template <class T, class Bits>
void compare_parts(const table_line& l, const bytes& got, std::int64_t allowed) {
  for (std::size_t i = 0; i < got.size(); i += sizeof(T)) {
    T x, want;
    std::memcpy(&x, got.data() + i, sizeof x);
    std::memcpy(&want, l.expected.data() + i, sizeof want);
    if (is_nan(x) && is_nan(want)) continue;
    const std::int64_t off = std::abs(place<T, Bits>(x) - place<T, Bits>(want));
    const bool same =
        allowed == 0 ? std::memcmp(&x, &want, sizeof x) == 0 : off <= allowed && is_nan(x) == is_nan(want);
    EXPECT_TRUE(same) << l.operation << " of " << name(l.operand) << ", result " << i / sizeof(T) << ": "
                      << static_cast<double>(static_cast<float>(x)) << " instead of "
                      << static_cast<double>(static_cast<float>(want)) << ", " << off << " units off";
  }
}

/// Functions of complex numbers: within 4 units of the whole number's last place, powers, whose error grows with the
/// exponent's logarithm, within 16; NaN and infinities in the same part. Not specified: an infinity's sign beside NaN,
/// and in which part a power has the NaN.
template <class T>
void compare_complex(const table_line& l, const bytes& got) {
  for (std::size_t i = 0; i < got.size(); i += 2 * sizeof(T)) {
    T x[2], want[2];
    std::memcpy(x, got.data() + i, sizeof x);
    std::memcpy(want, l.expected.data() + i, sizeof want);
    const bool power = l.operation.ends_with("power");
    const bool undefined = std::isnan(want[0]) || std::isnan(want[1]);
    if (power && undefined && (std::isnan(x[0]) || std::isnan(x[1]))) continue;
    const T size = undefined ? std::fmax(std::abs(want[0]), std::abs(want[1])) : std::hypot(want[0], want[1]);
    const T allowed = (power ? 16 : 4) * std::numeric_limits<T>::epsilon() * (std::isnan(size) ? 0 : size);
    for (int part = 0; part < 2; ++part) {
      const bool same = std::isnan(want[part])   ? std::isnan(x[part])
                        : std::isinf(want[part]) ? x[part] == want[part] || (undefined && x[part] == -want[part])
                                                 : std::abs(x[part] - want[part]) <= allowed;
      EXPECT_TRUE(same) << l.operation << " of " << name(l.operand) << ", result " << i / sizeof x << ": (" << x[0]
                        << ", " << x[1] << ") instead of (" << want[0] << ", " << want[1] << ")";
    }
  }
}

inline void compare(const table_line& l, const bytes& got) {
  ASSERT_EQ(got.size(), l.expected.size()) << l.operation << " of " << name(l.operand);
  const bool function = functions.contains(l.operation) && is_floating(l.result);
  if (is_complex(l.operand) && is_complex(l.result) &&
      (functions.contains(l.operation) || l.operation == "sqrt" || l.operation == "sign"))
    return l.result == dtype::complex64 ? compare_complex<float>(l, got) : compare_complex<double>(l, got);
  switch (l.result) {
    case dtype::float16: return compare_parts<float16_t, std::int16_t>(l, got, function ? 1 : 0);
    case dtype::bfloat16: return compare_parts<bfloat16_t, std::int16_t>(l, got, 0);
    case dtype::float32:
    case dtype::complex64: return compare_parts<float, std::int32_t>(l, got, function ? 4 : 0);
    case dtype::float64:
    case dtype::complex128: return compare_parts<double, std::int64_t>(l, got, function ? 4 : 0);
    default: break;
  }
  for (std::size_t i = 0; i < got.size(); i += item_size(l.result))
    EXPECT_EQ(std::memcmp(got.data() + i, l.expected.data() + i, item_size(l.result)), 0)
        << l.operation << " of " << name(l.operand) << ", result " << i / item_size(l.result);
}

}  // namespace serried::testing
