// Minima and maxima of floating numbers as integers: 64-bit keys in the numbers' order (−0 below +0), NaN beyond all,
// so that any order of comparing gives the same bits. Self-contained: this text is also compiled for devices.
#pragma once

#include "local/ops/prelude.hpp"

namespace serried::inline v0::ops::keys {

inline constexpr i64 lowest = -0x7fffffffffffffff - 1;  // NaN for a minimum; identity of a maximum
inline constexpr i64 highest = 0x7fffffffffffffff;      // NaN for a maximum; identity of a minimum

SERRIED_HD constexpr i64 of_number(double x) {
  const auto bits = static_cast<i64>(bits_of(x));
  return bits < 0 ? bits ^ highest : bits;
}

/// The number behind a key. Both ends stand for NaN, except that nothing at all has a minimum of +inf and a maximum of
/// −inf.
SERRIED_HD constexpr double to_number(i64 key, bool is_max) {
  if (key == lowest) return double_of(is_max ? 0xfff0000000000000u : 0x7ff8000000000000u);
  if (key == highest) return double_of(is_max ? 0x7ff8000000000000u : 0x7ff0000000000000u);
  return double_of(static_cast<u64>(key < 0 ? key ^ highest : key));
}

}  // namespace serried::inline v0::ops::keys
