// What the kernels of reductions are made of (reduce.cpp writes the rest of their text). A thread adds its values to an
// accumulator, the threads of a block merge the parts that these give, and a block's part is written down as a state
// (engine.hpp) or finished as a number. No order of adding and merging changes a result, but for products of floating
// numbers.
#pragma once

#include "local/cuda/access.hpp"
#include "local/ops/bins.hpp"
#include "local/ops/functions.hpp"
#include "local/ops/keys.hpp"

namespace serried::inline v0::cuda::device {

using ops::i32;
using ops::i64;
using ops::u32;
using ops::u64;
namespace bins = ops::bins;
namespace keys = ops::keys;

inline constexpr int block_threads = 256;

// ---- Binned sums (ops/bins.hpp).

/// What up to 2^22 numbers add up to: digit k counts units of bin top − k.
struct digits {
  i64 digit[bins::digits];
  i32 top;
  i32 infinities;  // bit 0: +inf, bit 1: −inf, both: also NaN
};

__device__ inline void raise(digits& d, i32 top) {
  const i32 up = top - d.top;
  if (up <= 0) return;
  d.digit[2] = up == 1 ? d.digit[1] : up == 2 ? d.digit[0] : 0;
  d.digit[1] = up == 1 ? d.digit[0] : 0;
  d.digit[0] = 0;
  d.top = top;
}
__device__ inline void merge(digits& a, digits b) {
  raise(a, b.top);
  raise(b, a.top);
  for (int k = 0; k < bins::digits; ++k) a.digit[k] += b.digit[k];
  a.infinities |= b.infinities;
}
__device__ inline bins::state state_of(const digits& d) {
  bins::state s;
  s.top = d.top;
  for (int k = 0; k < bins::digits; ++k) s.lo[k] = d.digit[k];
  s.plus_infinities = d.infinities & 1;
  s.minus_infinities = d.infinities >> 1;
  bins::normalize(s);
  return s;
}

/// The same number, but what was computed from it before is computed anew, not kept in registers.
template <class T>
__device__ inline T again(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (ops::is_same<T, float>) asm volatile("" : "+f"(x));
  else asm volatile("" : "+d"(x));
#endif
  return x;
}

static_assert(bins::width == 40 && bins::digits == 3);  // powers of two stand below as numbers

// What is rarely needed stands apart from the usual way: it would take registers from it, and time to compile.

/// Adds the digits' sums, kept as doubles, to a total of the same top.
__device__ __noinline__ inline digits add_sums(digits total, double high, double middle, double low) {
  if (bins::scale_of(total.top) != 0) return total;  // there are none
  // The power of two that counts units is more than one double can be: multiplied twice by its root.
  const double root = bins::power_of_two(-bins::width / 2 * total.top);
  total.digit[0] += static_cast<i64>(high * root * root);
  total.digit[1] += static_cast<i64>(middle * (root * 0x1p20) * (root * 0x1p20));
  total.digit[2] += static_cast<i64>(low * (root * 0x1p40) * (root * 0x1p40));
  return total;
}

/// Adds any numbers to a total, raising its top as needed.
template <class T>
__device__ __noinline__ digits add_any(digits total, const T* x, int n) {
  const double infinity = ops::double_of(0x7ff0000000000000u);
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    const double value = x[k];
    const double magnitude = fabs(value);
    if (!(magnitude < infinity)) {
      total.infinities |= (value < 0 ? 0 : 1) | (value > 0 ? 0 : 2);
      continue;
    }
    if (magnitude > 0) raise(total, static_cast<i32>(bins::top_for(magnitude)));
    const i64 scale = bins::scale_of(total.top);
    double rest = value * bins::power_of_two(scale);
    double round = bins::rounder(bins::width * total.top + scale);
    for (int d = 0; d < bins::digits; ++d, round *= 0x1p-40) {
      const double sum = rest + round;
      total.digit[d] += bins::units_of(sum, round);
      rest -= sum - round;
    }
  }
  return total;
}

/// What the usual way needs to know of a top.
struct range {
  double round;  // the top bin's rounder
  u32 limit;     // of magnitudes: a float's bits, a double's upper half
  u32 least;     // float: what magnitudes need no third digit, as in add_digits
};
template <class T>
__device__ __noinline__ range range_of(i32 top) {
  const bool scaled = bins::scale_of(top) != 0;  // such numbers take the long way
  const double limit = bins::limit_of(top);
  range r{scaled ? 0 : bins::rounder(bins::width * top), 0, 0};
  if constexpr (ops::is_same<T, float>) {
    r.limit = limit > 0x1p127 ? 0x7f800000u : ops::bits_of(static_cast<float>(limit));
    // The last bit of a number from here on is at least the unit of the second bin.
    const double least = bins::power_of_two(bins::width * (top - 1) + 23);
    r.least = least < 0x1p-126 ? 0 : 2 * ops::bits_of(static_cast<float>(least)) - 1;
  } else {
    r.limit = scaled ? 0 : static_cast<u32>(ops::bits_of(limit) >> 32);
  }
  return r;
}

/// One thread's sum. A rounder cuts values into multiples of a bin's unit, and these add up exactly as doubles: no
/// value's digit has more than 2^39 units, so 2^13 of them stay below 2^53.
template <class T>
class binned_sum {
 public:
  using part = digits;
  using whole = bins::state;

  template <int N>
  __device__ void add(const T (&x)[N]) {
    constexpr int most_at_once = N < 4 ? N : 4;  // more would need too many registers
    static_assert(N % most_at_once == 0);
#pragma unroll
    for (int first = 0; first < N; first += most_at_once) {
      T few[most_at_once];
#pragma unroll
      for (int k = 0; k < most_at_once; ++k) few[k] = x[first + k];
      if (!add_digits < is_float ? 2 : 3 > (few)) add_others(few);
    }
    left_ -= N;
    if (left_ < N) count_units();
  }

  __device__ part finished() {
    count_units();
    return total_;
  }

 private:
  static constexpr bool is_float = ops::is_same<T, float>;
  static constexpr i32 most = 1 << 13;
  /// The smallest number's.
  static constexpr i32 lowest_top = is_float ? -4 : static_cast<i32>(bins::lowest_top);
  static_assert(!is_float || bins::top_for(0x1p-149) == lowest_top);

  template <int N>
  __device__ void add_others(const T (&x)[N]) {
    T copy[N];
#pragma unroll
    for (int k = 0; k < N; ++k) copy[k] = again(x[k]);
    if (is_float && add_digits<3>(copy)) return;
    count_units();
    T apart[N];
    for (int k = 0; k < N; ++k) apart[k] = copy[k];
    total_ = add_any(total_, apart, N);
    range_ = range_of<T>(total_.top);
  }

  /// Adds numbers below the present limit, by two digits only if what the first leaves over is a whole multiple of the
  /// second's unit for all of them. Else false, with nothing done. No branches on the way.
  template <int Count, int N>
  __device__ bool add_digits(const T (&x)[N]) {
    double high = high_;
    double middle = middle_;
    double low = low_;
    const double round = range_.round;
    const double round1 = round * 0x1p-40;  // the lower bins' rounders
    const double round2 = round * 0x1p-80;
    float largest = 0;
    u32 largest_word = 0;
    u32 smallest = ~0u;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if constexpr (is_float) {
        largest = fmaxf(largest, fabsf(x[k]));         // passes over NaN
        const u32 order = 2 * ops::bits_of(x[k]) - 1;  // of magnitudes; a zero's is the largest
        if constexpr (Count == 2) smallest = order < smallest ? order : smallest;
      } else {
        const u32 word = static_cast<u32>(ops::bits_of(x[k]) >> 32) & 0x7fffffffu;
        largest_word = word > largest_word ? word : largest_word;
      }
      const double value = x[k];
      const double digit = (value + round) - round;
      const double rest = value - digit;
      high += digit;
      if constexpr (Count == 2) {
        middle += rest;
      } else {
        const double digit1 = (rest + round1) - round1;
        middle += digit1;
        low += ((rest - digit1) + round2) - round2;
      }
    }
    if constexpr (is_float) largest_word = ops::bits_of(largest);
    const bool whole_units = Count == 3 || smallest >= range_.least;
    if (!(largest_word < range_.limit && whole_units && middle == middle)) return false;
    high_ = high;
    middle_ = middle;
    low_ = low;
    return true;
  }

  /// From doubles to integers, which have more room.
  __device__ void count_units() {
    total_ = add_sums(total_, high_, middle_, low_);
    high_ = middle_ = low_ = 0;
    left_ = most;
  }

  double high_ = 0, middle_ = 0, low_ = 0;  // three digits' sums since the last count
  i32 left_ = most;                         // numbers until the next count
  digits total_{{0, 0, 0}, lowest_top, 0};
  range range_ = range_of<T>(lowest_top);
};

template <class S>
struct pair {
  S re, im;
};
template <class S>
__device__ inline void merge(pair<S>& a, const pair<S>& b) {
  merge(a.re, b.re);
  merge(a.im, b.im);
}
__device__ inline pair<bins::state> state_of(const pair<digits>& d) { return {state_of(d.re), state_of(d.im)}; }

template <class T>
class complex_sum {
 public:
  using part = pair<digits>;
  using whole = pair<bins::state>;

  template <int N>
  __device__ void add(const ops::complex<T> (&x)[N]) {
    T re[N], im[N];
#pragma unroll
    for (int k = 0; k < N; ++k) {
      re[k] = x[k].re;
      im[k] = x[k].im;
    }
    re_.add(re);
    im_.add(im);
  }
  __device__ part finished() { return {re_.finished(), im_.finished()}; }

 private:
  binned_sum<T> re_, im_;
};

// ---- Minima and maxima of floating numbers.

template <class T>
struct signed_bits;
template <>
struct signed_bits<float> {
  using type = i32;
};
template <>
struct signed_bits<double> {
  using type = i64;
};

/// A key (ops/keys.hpp), which merges by minimum or maximum.
template <bool IsMax>
struct extreme_key {
  i64 key;
};
template <bool IsMax>
__device__ inline void merge(extreme_key<IsMax>& a, extreme_key<IsMax> b) {
  if (IsMax ? b.key > a.key : b.key < a.key) a = b;
}

/// One thread's: keys of the numbers' own size, NaN on the side.
template <class T, bool IsMax>
class extreme {
 public:
  using part = extreme_key<IsMax>;
  using whole = part;

  template <int N>
  __device__ void add(const T (&x)[N]) {
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const auto bits = static_cast<key_type>(ops::bits_of(x[k]));
      const key_type key = bits ^ ((bits >> (8 * sizeof(T) - 1)) & magnitude);
      key_ = (IsMax ? key > key_ : key < key_) ? key : key_;
      nan_ |= x[k] != x[k];
    }
  }
  __device__ part finished() const {
    if (nan_) return {IsMax ? keys::highest : keys::lowest};
    if (key_ == nothing) return {IsMax ? keys::lowest : keys::highest};
    const key_type bits = key_ < 0 ? key_ ^ magnitude : key_;
    return {keys::of_number(static_cast<double>(__builtin_bit_cast(T, bits)))};
  }

 private:
  using key_type = typename signed_bits<T>::type;
  static constexpr auto magnitude = static_cast<key_type>(~ops::unsigned_of<T>(0) >> 1);
  static constexpr key_type nothing = IsMax ? ~magnitude : magnitude;  // no number's key
  key_type key_ = nothing;
  bool nan_ = false;
};

// ---- Everything else: numbers of one type, combined as they are.

struct sum_of {
  template <class T>
  static __device__ T combine(T a, T b) {
    return ops::add(a, b);
  }
};
struct product_of {
  template <class T>
  static __device__ T combine(T a, T b) {
    return ops::multiply(a, b);
  }
};
struct minimum_of {
  template <class T>
  static __device__ T combine(T a, T b) {
    return ops::minimum(a, b);
  }
};
struct maximum_of {
  template <class T>
  static __device__ T combine(T a, T b) {
    return ops::maximum(a, b);
  }
};

template <class Of, class T>
__device__ inline T neutral() {
  if constexpr (ops::is_same<T, bool>) {
    return ops::is_same<Of, product_of> || ops::is_same<Of, minimum_of>;
  } else if constexpr (ops::complex_number<T>) {
    return {1, 0};  // of products
  } else if constexpr (ops::is_same<Of, minimum_of> || ops::is_same<Of, maximum_of>) {
    const T largest =
        static_cast<T>(static_cast<ops::unsigned_of<T>>(~ops::unsigned_of<T>(0)) >> (ops::signed_integer<T> ? 1 : 0));
    return ops::is_same<Of, minimum_of> ? largest : static_cast<T>(~largest);
  } else {
    return T(ops::is_same<Of, product_of> ? 1 : 0);
  }
}

template <class Of, class T>
struct number {
  T value;
};
template <class Of, class T>
__device__ inline void merge(number<Of, T>& a, number<Of, T> b) {
  a.value = Of::combine(a.value, b.value);
}

template <class Of, class T>
class plain {
 public:
  using part = number<Of, T>;
  using whole = part;
  template <int N>
  __device__ void add(const T (&x)[N]) {
#pragma unroll
    for (int k = 0; k < N; ++k) value_ = Of::combine(value_, x[k]);
  }
  __device__ part finished() const { return {value_}; }

 private:
  T value_ = neutral<Of, T>();
};

template <class S>
__device__ inline S state_of(const S& s) {
  return s;
}

// ---- States in memory (engine.hpp): state i of n.

__device__ inline void write(char* states, i64 n, i64 i, const bins::state& s) {
  i64* const word = reinterpret_cast<i64*>(states) + i;
  word[0] = s.top;
#pragma unroll
  for (int k = 0; k < bins::digits; ++k) {
    word[(1 + k) * n] = s.lo[k];
    word[(1 + bins::digits + k) * n] = s.hi[k];
  }
  word[(1 + 2 * bins::digits) * n] = s.plus_infinities;
  word[(2 + 2 * bins::digits) * n] = s.minus_infinities;
}
__device__ inline void read(const char* states, i64 n, i64 i, bins::state& s) {
  const i64* const word = reinterpret_cast<const i64*>(states) + i;
  s.top = word[0];
#pragma unroll
  for (int k = 0; k < bins::digits; ++k) {
    s.lo[k] = word[(1 + k) * n];
    s.hi[k] = word[(1 + bins::digits + k) * n];
  }
  s.plus_infinities = word[(1 + 2 * bins::digits) * n];
  s.minus_infinities = word[(2 + 2 * bins::digits) * n];
}
__device__ inline void write(char* states, i64 n, i64 i, const pair<bins::state>& s) {
  write(states, n, i, s.re);
  write(states + bins::words * n * sizeof(i64), n, i, s.im);
}
__device__ inline void read(const char* states, i64 n, i64 i, pair<bins::state>& s) {
  read(states, n, i, s.re);
  read(states + bins::words * n * sizeof(i64), n, i, s.im);
}
template <class S>
__device__ inline void write(char* states, i64, i64 i, const S& s) {
  reinterpret_cast<S*>(states)[i] = s;
}
template <class S>
__device__ inline void read(const char* states, i64, i64 i, S& s) {
  s = reinterpret_cast<const S*>(states)[i];
}

// ---- Numbers from states.

template <class T>
__device__ inline T finish(const bins::state& s) {
  if constexpr (ops::is_same<T, ops::half>) return bins::finish_half(s);
  else if constexpr (ops::is_same<T, ops::bfloat>) return bins::finish_bfloat(s);
  else if constexpr (ops::is_same<T, float>) return bins::finish_float(s);
  else return bins::finish_double(s);
}
template <class T>
__device__ inline T finish(const pair<bins::state>& s) {
  using component = decltype(T::re);
  return {finish<component>(s.re), finish<component>(s.im)};
}
template <class T, bool IsMax>
__device__ inline T finish(extreme_key<IsMax> s) {
  return ops::convert<T>(keys::to_number(s.key, IsMax));
}
template <class T, class Of>
__device__ inline T finish(number<Of, T> s) {
  return s.value;
}

// ---- A block.

/// Merges what `along` threads (a power of two) hold, `lane` being a thread's number among them, and `apart` the
/// distance in the block between two of them. Lane 0 gets all. For every thread of the block.
template <class Part>
__device__ Part merge_block(Part mine, int lane, int along, int apart) {
  __shared__ uint4 memory[(sizeof(Part) * block_threads + 15) / 16];
  if (along == 1) return mine;
  Part* const all = reinterpret_cast<Part*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  all[thread] = mine;
  for (int half = along / 2; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) {
      merge(mine, all[thread + half * apart]);
      all[thread] = mine;
    }
  }
  return mine;
}

}  // namespace serried::inline v0::cuda::device
