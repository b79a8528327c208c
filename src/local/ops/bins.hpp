// Reproducible sums: the same values give the same bits in any order, grouping and number of parts.
//
// J. Demmel and H. D. Nguyen, "Parallel reproducible summation", IEEE Trans. Computers 64 (2015); P. Ahrens,
// J. Demmel and H. D. Nguyen, "Algorithms for efficient reproducible floating point summation", ACM TOMS 46 (2020).
//
// The exponent range is cut into bins 40 bits wide at places that depend on nothing: bin j counts units of 2^(40 j).
// A number is cut into digits from the top down, each the nearest multiple of a bin's unit to what the bins above left
// over. A state keeps the digits of three bins, from `top` down; what is left below them is dropped. A top is
// high enough for x if |x| is under half a unit of the bin above: all higher digits of x are then exactly zero, so
// starting higher changes nothing. The final top is the smallest that is high enough for the largest |x|, and
// every digit kept depends on its x alone. Digits add as integers, and nothing ever carries from one bin to another:
// a bin that is dropped later takes along all that came through it.
//
// Error: at most half a unit in the last place of the result, plus n · 2^(40 (top − 2) − 1) ≤ n · max|x| · 2^-80.
// Up to 2^60 numbers. Self-contained (no standard headers): this text is also compiled for devices.
#pragma once

#include "local/ops/half.hpp"
#include "local/ops/prelude.hpp"

namespace serried::inline v0::ops::bins {

inline constexpr int width = 40;
inline constexpr int digits = 3;
inline constexpr int payload_words = 2 * digits + 2;
inline constexpr int words = 1 + payload_words;
inline constexpr i64 lowest_top = -25;  // its three bins hold every subnormal exactly
inline constexpr i64 highest_top = 25;

/// All but `top` add up when two states of the same top merge. Digit k belongs to bin top − k and is
/// hi[k] · 2^40 + lo[k].
struct state {
  i64 top = lowest_top;
  i64 lo[digits] = {};
  i64 hi[digits] = {};
  i64 plus_infinities = 0;  // a NaN counts as one of either sign
  i64 minus_infinities = 0;
};
static_assert(sizeof(state) == words * sizeof(i64));

/// 2^exponent for a normal double.
SERRIED_HD constexpr double power_of_two(i64 exponent) { return double_of(static_cast<u64>(exponent + 1023) << 52); }

/// Adding and subtracting this rounds to the nearest multiple of 2^exponent (ties to even), for anything below
/// 2^(exponent + 51).
SERRIED_HD constexpr double rounder(i64 exponent) { return 1.5 * power_of_two(exponent + 52); }

/// The multiple of the unit that a number rounded to: with a rounder's exponent, the bits count units.
SERRIED_HD constexpr i64 units_of(double sum, double rounder) {
  return static_cast<i64>(bits_of(sum) - bits_of(rounder));
}

/// The smallest top that is high enough for a finite number of this magnitude.
SERRIED_HD constexpr i64 top_for(double magnitude) {
  const auto biased = static_cast<i32>(bits_of(magnitude) >> 52 & 0x7ffu);  // 2^(biased − 1023) ≤ magnitude
  const i64 top = (biased - 1022 + 40 * width) / width - 40;                // floor; the dividend is positive
  return top < lowest_top ? lowest_top : top;
}
/// Magnitudes below this need no higher top. Infinity's own bits at the highest top.
SERRIED_HD constexpr double limit_of(i64 top) {
  return top >= highest_top ? double_of(0x7ff0000000000000u) : power_of_two(width * (top + 1) - 1);
}

/// At the ends of the exponent range the rounders are no normal doubles: numbers are scaled by 2^this.
SERRIED_HD constexpr i64 scale_of(i64 top) { return top == highest_top ? -64 : top == lowest_top ? 128 : 0; }

/// Keeps `lo` small, so that many states can be added: 0 ≤ lo < 2^40.
SERRIED_HD inline void normalize(state& s) {
  for (int k = 0; k < digits; ++k) {
    s.hi[k] += s.lo[k] >> width;
    s.lo[k] &= (i64{1} << width) - 1;
  }
}

/// Raises the top to at least `top`, dropping the bins that fall out.
SERRIED_HD inline void raise(state& s, i64 top) {
  if (top - s.top >= digits) {
    for (int k = 0; k < digits; ++k) s.lo[k] = s.hi[k] = 0;
    s.top = top;
  }
  for (; s.top < top; ++s.top) {
    for (int k = digits - 1; k > 0; --k) {
      s.lo[k] = s.lo[k - 1];
      s.hi[k] = s.hi[k - 1];
    }
    s.lo[0] = s.hi[0] = 0;
  }
}

SERRIED_HD inline void add(state& s, double x) {
  const double magnitude = double_of(bits_of(x) & 0x7fffffffffffffffu);
  if (bits_of(magnitude) >= 0x7ff0000000000000u) {
    s.plus_infinities += !(x < 0);
    s.minus_infinities += !(x > 0);
    return;
  }
  raise(s, top_for(magnitude));
  const i64 scale = scale_of(s.top);
  double rest = x * power_of_two(scale);
  for (int k = 0; k < digits; ++k) {
    const double round = rounder(width * (s.top - k) + scale);
    const double sum = rest + round;
    s.lo[k] += units_of(sum, round);
    rest -= sum - round;
  }
  normalize(s);
}

SERRIED_HD inline void merge(state& s, state other) {
  raise(s, other.top);
  raise(other, s.top);
  for (int k = 0; k < digits; ++k) {
    s.lo[k] += other.lo[k];
    s.hi[k] += other.hi[k];
  }
  s.plus_infinities += other.plus_infinities;
  s.minus_infinities += other.minus_infinities;
  normalize(s);
}

/// The sum as a number: ±(top bits + sticky) · 2^exponent.
struct exact_sum {
  u64 mantissa = 0;   // the highest bit set, unless the sum is zero
  bool more = false;  // something not zero lies below
  bool negative = false;
  i64 exponent = 0;  // of the mantissa's lowest bit
};

SERRIED_HD inline exact_sum add_bins(const state& s) {
  static_assert(digits == 3 && width == 40);
  // Least first, in units of the lowest bin; each limb 40 bits wide but for the last.
  i64 limb[digits + 1] = {s.lo[2], s.lo[1] + s.hi[2], s.lo[0] + s.hi[1], s.hi[0]};
  for (int i = 0; i < digits; ++i) {
    limb[i + 1] += limb[i] >> width;
    limb[i] &= (i64{1} << width) - 1;
  }
  // The same number in three words, two's complement, and its magnitude.
  u64 low = static_cast<u64>(limb[0]) | static_cast<u64>(limb[1]) << 40;
  u64 middle = static_cast<u64>(limb[1]) >> 24 | static_cast<u64>(limb[2]) << 16 | static_cast<u64>(limb[3]) << 56;
  u64 high = static_cast<u64>(limb[3] >> 8);
  exact_sum sum;
  sum.negative = limb[3] < 0;
  if (sum.negative) {
    low = 0 - low;
    middle = ~middle + (low == 0 ? 1 : 0);
    high = ~high + (low == 0 && middle == 0 ? 1 : 0);
  }
  // The highest word that is not zero moves up.
  sum.exponent = width * (s.top - (digits - 1)) + 128;
  for (int zeros = 0; zeros < 2 && high == 0; ++zeros) {
    high = middle;
    middle = low;
    low = 0;
    sum.exponent -= 64;
  }
  if (high == 0) return sum;
  // The highest bit's place, by conversion to double of a number that cannot round up to the next power of two.
  const auto place = static_cast<int>(bits_of(static_cast<double>(high & ~(high >> 1))) >> 52) - 1023;
  const int room = 63 - place;
  sum.mantissa = high << room | middle >> 1 >> place;
  sum.more = middle << room != 0 || low != 0;
  sum.exponent -= room;
  return sum;
}

/// The sum, rounded once (to nearest, ties to even) to a format of `precision` bits whose smallest number is
/// 2^smallest; overflow to infinity happens on conversion to that format, which is otherwise exact.
SERRIED_HD inline double finish(const state& s, int precision, int smallest) {
  const double infinity = double_of(0x7ff0000000000000u);
  if (s.plus_infinities != 0 && s.minus_infinities != 0) return double_of(0x7ff8000000000000u);
  if (s.plus_infinities != 0) return infinity;
  if (s.minus_infinities != 0) return -infinity;
  const exact_sum sum = add_bins(s);
  if (sum.mantissa == 0) return 0;

  const i64 above = sum.exponent + 64 - smallest;  // bits above the format's smallest number
  const i64 kept = above < precision ? above : precision;
  if (kept < 0) return sum.negative ? -0.0 : 0.0;
  const i64 dropped = 64 - kept;  // 11 to 64
  u64 mantissa = dropped == 64 ? 0 : sum.mantissa >> dropped;
  const u64 rest = sum.mantissa << kept;
  const u64 half = u64{1} << 63;
  if (rest > half || (rest == half && (sum.more || (mantissa & 1u) != 0))) ++mantissa;

  const i64 exponent = sum.exponent + dropped;
  double value = static_cast<double>(mantissa);
  if (exponent > 971) value = infinity;
  else if (exponent < -900) value = value * power_of_two(exponent + 200) * power_of_two(-200);
  else value = value * power_of_two(exponent);
  return sum.negative ? -value : value;
}

SERRIED_HD inline double finish_double(const state& s) { return finish(s, 53, -1074); }
SERRIED_HD inline float finish_float(const state& s) { return static_cast<float>(finish(s, 24, -149)); }
SERRIED_HD inline half finish_half(const state& s) { return to_half(finish(s, 11, -24)); }
SERRIED_HD inline bfloat finish_bfloat(const state& s) { return to_bfloat(finish(s, 8, -133)); }

}  // namespace serried::inline v0::ops::bins
