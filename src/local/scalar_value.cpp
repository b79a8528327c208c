#include "local/scalar_value.hpp"

#include <serried/error.hpp>

#include "local/ops/half.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace serried::inline v0 {

namespace {

// The order of kinds: bool < integer < floating < complex.
int kind_of(dtype t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : is_integer(t) ? 1 : 0; }
int kind_of(const scalar& s) {
  const auto i = s.value().index();
  return i == 0 ? 0 : i <= 2 ? 1 : i == 3 ? 2 : 3;
}

template <class T, class V>
T convert(V v, dtype type, const char* operation) {
  if constexpr (std::is_same_v<V, std::complex<double>>) {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) return T(v);
    if constexpr (std::is_same_v<T, bool>) return v != V{};
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return {static_cast<float>(v), 0};
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return {static_cast<double>(v), 0};
  } else if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
    // In one rounding: by way of float it would be two.
    return std::bit_cast<T>(std::is_same_v<T, float16_t> ? ops::to_half(static_cast<double>(v)).bits
                                                         : ops::to_bfloat(static_cast<double>(v)).bits);
  } else if constexpr (std::is_same_v<T, bool>) {
    return v != V{};
  } else if constexpr (std::is_integral_v<T> && std::is_integral_v<V> && !std::is_same_v<V, bool>) {
    if (std::in_range<T>(v)) return static_cast<T>(v);
    throw value_error(fmt::format("{}: the integer {} is out of range for {}", operation, v, name(type)));
  } else if constexpr (!(std::is_integral_v<T> && std::is_same_v<V, double>)) {
    return static_cast<T>(v);
  }
  throw dtype_error(fmt::format("{}: the scalar does not convert to {}", operation, name(type)));
}

}  // namespace

dtype scalar::alone() const {
  switch (value_.index()) {
    case 0: return dtype::bool_;
    case 1: return dtype::int64;
    case 2: return std::in_range<std::int64_t>(std::get<std::uint64_t>(value_)) ? dtype::int64 : dtype::uint64;
    case 3: return dtype::float64;
    default: return dtype::complex128;
  }
}

dtype scalar::beside(dtype other) const {
  if (kind_of(*this) <= kind_of(other)) return other;
  if (kind_of(*this) == 3 && (other == dtype::float16 || other == dtype::bfloat16 || other == dtype::float32))
    return dtype::complex64;
  return alone();
}

bool scalar::fits(dtype type) const {
  if (!is_integer(type)) return true;
  return visit_dtype(type, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (const auto* v = std::get_if<std::int64_t>(&value_)) return std::in_range<T>(*v);
      if (const auto* v = std::get_if<std::uint64_t>(&value_)) return std::in_range<T>(*v);
    }
    return true;
  });
}

scalar_value make_scalar(const scalar& value, dtype type, const char* operation) {
  scalar_value result;
  result.type = type;
  std::visit(
      [&](auto v) {
        visit_dtype(type, [&]<class T>() {
          const T converted = convert<T>(v, type, operation);
          std::memcpy(result.bytes.data(), &converted, sizeof(T));
        });
      },
      value.value());
  return result;
}

}  // namespace serried::inline v0
