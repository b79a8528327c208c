// Shapes, strides, offsets: short vectors of 64-bit integers, one per dimension, that never allocate.
#pragma once

#include <serried/export.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

namespace serried::inline v0 {

inline constexpr int max_ndim = 32;

/// Up to 32 signed 64-bit integers. Any mix of integer types makes one: `shape{n, 3, std::size_t{4}}`.
class SERRIED_API dims {
 public:
  using value_type = std::int64_t;

  dims() noexcept {}  // NOLINT(modernize-use-equals-default): `{}` would then set all 32 numbers
  template <std::integral... T>
    requires(sizeof...(T) <= max_ndim)
  dims(T... values)  // NOLINT(google-explicit-constructor): `zeros(5)` is one-dimensional, as in NumPy
      : values_{static_cast<std::int64_t>(values)...}, size_(static_cast<int>(sizeof...(T))) {}
  /// Throws shape_error past 32 entries.
  explicit dims(std::span<const std::int64_t> values) {
    for (const std::int64_t v : values) push_back(v);
  }
  dims(const dims& other) noexcept : size_(other.size_) { std::copy(other.begin(), other.end(), begin()); }
  dims& operator=(const dims& other) noexcept {
    size_ = other.size_;
    std::copy(other.begin(), other.end(), begin());
    return *this;
  }

  /// `n` copies of `value`. Throws shape_error when n is negative or more than 32.
  [[nodiscard]] static dims filled(int n, std::int64_t value);

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::int64_t& operator[](int i) noexcept { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t operator[](int i) const noexcept { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t* begin() noexcept { return values_.data(); }
  [[nodiscard]] std::int64_t* end() noexcept { return values_.data() + size_; }
  [[nodiscard]] const std::int64_t* begin() const noexcept { return values_.data(); }
  [[nodiscard]] const std::int64_t* end() const noexcept { return values_.data() + size_; }

  /// Throws shape_error past 32 entries.
  void push_back(std::int64_t value);
  /// Inserts before position i. Throws shape_error past 32 entries.
  void insert(int i, std::int64_t value);
  void erase(int i) noexcept;

  friend bool operator==(const dims& a, const dims& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<std::int64_t, max_ndim> values_;
  int size_ = 0;
};

using shape = dims;    ///< extents, each ≥ 0
using strides = dims;  ///< bytes from one element to the next, signed

/// As NumPy writes it: "(3, 4)", "(5,)", "()".
[[nodiscard]] SERRIED_API std::string to_string(const dims& d);
SERRIED_API std::ostream& operator<<(std::ostream& out, const dims& d);
/// Number of elements. Throws shape_error when an extent is negative or the product does not fit in 63 bits.
[[nodiscard]] SERRIED_API std::int64_t element_count(const shape& s);
/// Strides in bytes of a C-order array.
[[nodiscard]] SERRIED_API strides contiguous_strides(const shape& s, std::size_t item_size);
/// The common shape under NumPy's broadcasting rules. Throws shape_error, naming `operation`.
[[nodiscard]] SERRIED_API shape broadcast_shapes(const shape& a, const shape& b, const char* operation = "broadcast");

}  // namespace serried::inline v0
