// C++ numbers as operands: weak, as Python's are in NumPy 2 (NEP 50).
#pragma once

#include <serried/dtype.hpp>
#include <serried/export.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <variant>

namespace serried::inline v0 {

/// A number beside arrays in an expression: it takes the arrays' dtype where its kind (bool, integer, floating,
/// complex) is no higher than theirs, else the default dtype of its kind.
class SERRIED_API scalar {
 public:
  template <class T>
    requires element<T>
  constexpr scalar(T value) {  // NOLINT(google-explicit-constructor): `2 * a`
    if constexpr (std::same_as<T, bool>) value_ = value;
    else if constexpr (std::unsigned_integral<T>) value_ = static_cast<std::uint64_t>(value);
    else if constexpr (std::integral<T>) value_ = static_cast<std::int64_t>(value);
    else if constexpr (std::same_as<T, float16_t> || std::same_as<T, bfloat16_t>)
      value_ = static_cast<double>(static_cast<float>(value));
    else if constexpr (std::floating_point<T>) value_ = static_cast<double>(value);
    else value_ = std::complex<double>(value);
  }

  /// The dtype it takes beside arrays of dtype `other`.
  [[nodiscard]] dtype beside(dtype other) const;
  /// The dtype it has by itself: bool, int64 (uint64 past int64's range), float64, complex128.
  [[nodiscard]] dtype alone() const;

  /// False for an integer outside the range of an integer dtype.
  [[nodiscard]] bool fits(dtype type) const;

  using number = std::variant<bool, std::int64_t, std::uint64_t, double, std::complex<double>>;
  [[nodiscard]] const number& value() const noexcept { return value_; }

 private:
  number value_;
};

template <class T>
concept scalar_operand = element<std::remove_cvref_t<T>> || std::same_as<std::remove_cvref_t<T>, scalar>;

}  // namespace serried::inline v0
