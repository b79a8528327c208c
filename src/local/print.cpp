#include "local/print.hpp"

#include <serried/array.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace serried::inline v0 {
namespace {

constexpr std::int64_t threshold = 1000;  // elements that are all printed
constexpr std::int64_t edge_items = 3;
constexpr std::size_t line_width = 75;
constexpr int precision = 8;  // most digits behind the point

bool is_cut(const shape& s, int axis) { return s[axis] > 2 * edge_items && element_count(s) > threshold; }

// ---- one number as decimal digits

/// A magnitude d.ddd… × 10^exponent.
struct decimal {
  std::string digits;
  int exponent = 0;

  [[nodiscard]] int fraction_digits() const { return static_cast<int>(digits.size()) - 1; }
};

/// From what std::to_chars made: d.ddde±xx.
decimal parse(std::string_view scientific) {
  const std::size_t e = scientific.find('e');
  decimal d{std::string(1, scientific.front())};
  if (e > 1) d.digits += scientific.substr(2, e - 2);
  const std::size_t exponent = e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(scientific.data() + exponent, scientific.data() + scientific.size(), d.exponent);
  return d;
}

template <class F, class... Digits>
decimal to_decimal(F magnitude, Digits... fraction_digits) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), magnitude, std::chars_format::scientific,
                                 fraction_digits...);
  return parse({text.data(), end.ptr});
}

bool reads_back(const decimal& d, auto magnitude) {
  const std::string text = fmt::format("{}e{}", d.digits, d.exponent - d.fraction_digits());
  float value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return decltype(magnitude)(value).bits == magnitude.bits;
}

/// The fewest digits that read back as the same T; of those the nearest to it.
template <class T>
decimal shortest(T magnitude) {
  if constexpr (std::is_floating_point_v<T>) {
    return to_decimal(magnitude);
  } else {
    for (int n = 0;; ++n) {
      decimal d = to_decimal(static_cast<float>(magnitude), n);
      if (reads_back(d, magnitude)) return d;
      // Above a power of two the numbers are twice as far apart: what is a little more may do when less does not.
      d.digits = std::to_string(std::stoi(d.digits) + 1);
      if (reads_back(d, magnitude)) return d;
    }
  }
}

template <class T>
auto widened(T value) {
  if constexpr (std::is_same_v<T, double>) return value;
  else return static_cast<float>(value);
}

/// With exactly so many digits behind the point of d.ddd, the last one rounded, half to even.
template <class T>
decimal with_digits(T magnitude, int fraction_digits) {
  const decimal d = shortest(magnitude);
  return d.fraction_digits() == fraction_digits ? d : to_decimal(widened(magnitude), fraction_digits);
}

/// With no more digits than are needed, and no more than `fraction_digits` behind the point of d.ddd.
template <class T>
decimal with_at_most(T magnitude, int fraction_digits) {
  decimal d = shortest(magnitude);
  if (d.fraction_digits() <= fraction_digits) return d;
  d = to_decimal(widened(magnitude), fraction_digits);
  d.digits.erase(std::max<std::size_t>(d.digits.find_last_not_of('0') + 1, 1));
  return d;
}

/// What stands before and behind the point.
struct parts {
  std::string whole;
  std::string fraction;
};

parts positional(const decimal& d) {
  const auto point = static_cast<std::size_t>(std::max(d.exponent + 1, 0));
  std::string digits = d.digits;
  if (d.exponent < 0) digits.insert(0, static_cast<std::size_t>(-d.exponent - 1), '0');
  if (digits.size() < point) digits.append(point - digits.size(), '0');
  return {point == 0 ? "0" : digits.substr(0, point), digits.substr(point)};
}

std::string exponent_text(int exponent, int digits) {
  return fmt::format("e{}{:0{}}", exponent < 0 ? '-' : '+', std::abs(exponent), digits);
}

template <class V>
const char* sign_of(V value, bool plus) {
  if (std::signbit(value) && !std::isnan(value)) return "-";
  return plus ? "+" : "";
}

template <class V>
std::string non_finite_text(V value, bool plus) {
  return fmt::format("{}{}", sign_of(value, plus), std::isnan(value) ? "nan" : "inf");
}

/// From where on a number is printed with an exponent, because not all digits before the point would be known.
template <class T>
constexpr double known_digits_end(double widest) {
  if constexpr (std::is_same_v<T, float16_t>) return 1e3;
  else if constexpr (std::is_same_v<T, double>) return widest;
  else return 1e6;
}

// ---- columns of numbers

/// One way to print all of `values`, points and exponents one below the other.
template <class T>
class float_format {
 public:
  float_format(std::span<const T> values, bool plus) : plus_(plus) {
    std::vector<T> finite;
    bool negative_infinity = false;
    for (const T v : values) {
      if (std::isfinite(widened(v))) finite.push_back(v);
      else negative_infinity = negative_infinity || widened(v) < 0;
    }
    exponential_ = spans_much(finite);
    for (const T v : finite) measure(v);
    if (finite.size() < values.size()) {
      const std::size_t behind = right_ + 1;
      const std::size_t widest = plus_ || negative_infinity ? 4 : 3;
      left_ = std::max(left_, widest - std::min(widest, behind));
    }
  }

  std::string operator()(T v) const {
    const auto value = widened(v);
    if (!std::isfinite(value)) return fmt::format("{:>{}}", non_finite_text(value, plus_), left_ + 1 + right_);
    if (exponential_) {
      const decimal d = with_digits(magnitude(v), fraction_);
      return fmt::format("{:>{}}.{}{}", sign_of(value, plus_) + d.digits.substr(0, 1), left_, d.digits.substr(1),
                         exponent_text(d.exponent, exponent_digits_));
    }
    const parts p = positional_parts(v);
    return fmt::format("{:>{}}.{:<{}}", sign_of(value, plus_) + p.whole, left_, p.fraction, right_);
  }

 private:
  static T magnitude(T v) {
    if constexpr (std::is_floating_point_v<T>) return std::abs(v);
    else return T::from_bits(v.bits & 0x7FFFU);
  }

  static bool spans_much(const std::vector<T>& finite) {
    using value_type = decltype(widened(T()));
    value_type largest = 0;
    value_type smallest = std::numeric_limits<value_type>::infinity();
    for (const T v : finite) {
      const value_type m = widened(magnitude(v));
      if (m == 0) continue;
      largest = std::max(largest, m);
      smallest = std::min(smallest, m);
    }
    if (largest == 0) return false;
    return largest >= known_digits_end<T>(1e8) || smallest < static_cast<value_type>(1e-4) ||
           widened(T(largest / smallest)) > 1000;  // the ratio as a T, as NumPy has it
  }

  static parts positional_parts(T v) {
    const T m = magnitude(v);
    return positional(with_at_most(m, shortest(m).exponent + precision));
  }

  void measure(T v) {
    const std::size_t sign = std::string_view(sign_of(widened(v), plus_)).size();
    if (exponential_) {
      const decimal d = with_at_most(magnitude(v), precision);
      fraction_ = std::max(fraction_, d.fraction_digits());
      exponent_digits_ = std::abs(d.exponent) > 99 ? 3 : exponent_digits_;
      left_ = std::max(left_, sign + 1);
      right_ = static_cast<std::size_t>(fraction_ + 2 + exponent_digits_);
    } else {
      const parts p = positional_parts(v);
      left_ = std::max(left_, sign + p.whole.size());
      right_ = std::max(right_, p.fraction.size());
    }
  }

  bool plus_;
  bool exponential_ = false;
  int fraction_ = 0;  // with an exponent: digits behind the point
  int exponent_digits_ = 2;
  std::size_t left_ = 0;   // characters before the point, sign included
  std::size_t right_ = 0;  // characters behind it, exponent included
};

template <class T>
std::vector<std::string> column(std::span<const T> values) {
  std::vector<std::string> words;
  words.reserve(values.size());
  if constexpr (std::is_same_v<T, bool>) {
    for (const bool v : values) words.emplace_back(v ? " True" : "False");
  } else if constexpr (std::is_integral_v<T>) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const std::size_t width = std::max(fmt::formatted_size("{}", *least), fmt::formatted_size("{}", *most));
    for (const T v : values) words.push_back(fmt::format("{:{}}", v, width));
  } else {
    const float_format<T> format(values, false);
    for (const T v : values) words.push_back(format(v));
  }
  return words;
}

template <class T>
std::vector<std::string> column(std::span<const std::complex<T>> values) {
  std::vector<T> real;
  std::vector<T> imaginary;
  for (const auto& v : values) {
    real.push_back(v.real());
    imaginary.push_back(v.imag());
  }
  const float_format<T> real_format(real, false);
  const float_format<T> imaginary_format(imaginary, true);
  std::vector<std::string> words;
  words.reserve(values.size());
  for (const auto& v : values) {
    std::string i = imaginary_format(v.imag());
    i.insert(i.find_last_not_of(' ') + 1, 1, 'j');
    words.push_back(real_format(v.real()) + i);
  }
  return words;
}

// ---- a number that stands alone: an array without axes

/// All the digits that are needed; ".0" behind a whole number if `point`.
template <class T>
std::string alone(T v, bool plus, bool point) {
  const auto value = widened(v);
  if (!std::isfinite(value)) return non_finite_text(value, plus);
  const auto size = static_cast<double>(std::abs(value));
  const decimal d = shortest(T(std::abs(value)));
  if (size == 0 || (size >= 1e-4 && size < known_digits_end<T>(1e16))) {
    const parts p = positional(d);
    const std::string fraction = !p.fraction.empty() ? '.' + p.fraction : point ? ".0" : "";
    return fmt::format("{}{}{}", sign_of(value, plus), p.whole, fraction);
  }
  return fmt::format("{}{}{}{}{}", sign_of(value, plus), d.digits.front(), d.digits.size() > 1 ? "." : "",
                     d.digits.substr(1), exponent_text(d.exponent, 2));
}

template <class T>
std::string alone(T v) {
  if constexpr (std::is_same_v<T, bool>) return v ? "True" : "False";
  else if constexpr (std::is_integral_v<T>) return std::to_string(v);
  else return alone(v, false, true);
}

template <class T>
std::string alone(std::complex<T> v) {
  if (v.real() == 0 && !std::signbit(v.real())) return alone(v.imag(), false, false) + 'j';
  return fmt::format("({}{}j)", alone(v.real(), false, false), alone(v.imag(), true, false));
}

// ---- brackets and lines

/// Puts words between the brackets of an array. Each bracket moves what it holds one column to the right.
class writer {
 public:
  writer(const shape& s, const std::vector<std::string>& words) : shape_(s), next_(words.begin()) {}

  std::string block(int axis) {
    if (axis == shape_.size() - 1) return row(axis);
    const std::string between = std::string(static_cast<std::size_t>(shape_.size() - 1 - axis), '\n') +
                                std::string(static_cast<std::size_t>(axis) + 1, ' ');
    std::string text = "[";
    const bool cut = is_cut(shape_, axis);
    const std::int64_t count = cut ? 2 * edge_items : shape_[axis];
    for (std::int64_t i = 0; i < count; ++i) {
      if (cut && i == edge_items) text += between + "...";
      if (i > 0) text += between;
      text += block(axis + 1);
    }
    return text + ']';
  }

 private:
  std::string row(int axis) {
    const auto indent = static_cast<std::size_t>(axis) + 1;
    const std::size_t width = line_width - indent;  // room for the closing brackets
    std::string text(indent, ' ');
    std::size_t line = 0;  // where the last line begins
    const auto append = [&](const std::string& word) {
      const std::size_t length = text.size() - line;
      if (length > indent && length + word.size() > width) {
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
        line = text.size();
        text.append(indent, ' ');
      }
      text += word;
    };
    const bool cut = is_cut(shape_, axis);
    const std::int64_t count = cut ? 2 * edge_items : shape_[axis];
    for (std::int64_t i = 0; i < count; ++i) {
      if (cut && i == edge_items) {
        append("...");
        text += ' ';
      }
      append(*next_++);
      if (i + 1 < count) text += ' ';
    }
    return '[' + text.substr(indent) + ']';
  }

  const shape& shape_;
  std::vector<std::string>::const_iterator next_;
};

/// A view of the elements that are printed: an axis that is cut becomes two, its ends and the elements of an end.
array corners(const array& a) {
  shape s;
  strides st;
  const auto push = [&](std::int64_t extent, std::int64_t stride) {
    s.push_back(extent);
    st.push_back(stride);
  };
  for (int d = 0; d < a.ndim(); ++d) {
    const std::int64_t extent = a.shape()[d];
    const std::int64_t stride = a.strides()[d];
    if (is_cut(a.shape(), d)) {
      push(2, (extent - edge_items) * stride);
      push(edge_items, stride);
    } else if (extent != 1) {  // keeps within 32 axes
      push(extent, stride);
    }
  }
  return {a.data_storage(), a.offset(), s, st, a.dtype()};
}

}  // namespace

shape shown_shape(const shape& s) {
  shape shown = s;
  for (int d = 0; d < s.size(); ++d)
    if (is_cut(s, d)) shown[d] = 2 * edge_items;
  return shown;
}

std::string format_array(const void* shown, dtype type, const shape& s) {
  const auto count = static_cast<std::size_t>(element_count(shown_shape(s)));
  if (count == 0) return "[]";
  return visit_dtype(type, [&]<class T>() -> std::string {
    const std::span values(static_cast<const T*>(shown), count);
    if (s.empty()) return alone(values.front());
    return writer(s, column(values)).block(0);
  });
}

std::ostream& operator<<(std::ostream& out, const array& a) {
  const array shown = corners(a);
  const std::string text = visit_dtype(a.dtype(), [&]<class T>() {
    using host = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
    return format_array(shown.to_vector<host>().data(), a.dtype(), a.shape());
  });
  return out << text;
}

}  // namespace serried::inline v0
