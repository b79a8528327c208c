// Groups of elements in kernels, and how they are read and written: in pieces as wide as an address is aligned.
#pragma once

#include "local/ops/prelude.hpp"

namespace serried::inline v0::cuda {

/// n elements, with the alignment of a single access where there is one for so many bytes.
template <class T, int n>
struct alignas(n * sizeof(T) < 16 ? n * sizeof(T) : 16) pack {
  T at[n];
};
template <class T>
struct pack<T, 1> {
  T at[1];
};

template <int bytes>
struct piece {
  using type = typename ops::unsigned_of_size<bytes>::type;
};
template <>
struct piece<16> {
  struct alignas(16) type {
    ops::u32 part[4];
  };
};

/// A pack as the pieces that it is moved in: `width` bytes each, a power of two.
template <class T, int n, int width>
struct pieces {
  static constexpr int bytes = static_cast<int>(sizeof(pack<T, n>));
  using type = typename piece<(width < bytes ? width : bytes)>::type;
  static constexpr int count = bytes / static_cast<int>(sizeof(type));
  type at[count];
};

/// Arrays lie in global memory. Told so, the compiler uses its instructions also where it looks no further.
SERRIED_HD inline void assume_global(const void* address) { __builtin_assume(__isGlobal(address)); }

template <class T, int n, int width>
SERRIED_HD inline pack<T, n> load(const char* address) {
  using parts = pieces<T, n, width>;
  using whole = pack<T, n>;
  parts x;
  assume_global(address);
  for (int i = 0; i < parts::count; ++i) x.at[i] = reinterpret_cast<const typename parts::type*>(address)[i];
  return __builtin_bit_cast(whole, x);
}
/// n elements `stride` bytes apart.
template <class T, int n, int width, class Stride>
SERRIED_HD inline pack<T, n> load_strided(const char* address, Stride stride) {
  pack<T, n> x;
  for (int i = 0; i < n; ++i) x.at[i] = load<T, 1, width>(address + i * stride).at[0];
  return x;
}
/// Element number `i` of `count` contiguous ones; beyond them 0, and nothing is read.
template <class T>
SERRIED_HD inline T element(unsigned long long address, unsigned long long count, long long i) {
  if (static_cast<unsigned long long>(i) >= count) return T{};
  const char* const from = reinterpret_cast<const char*>(address) + i * static_cast<long long>(sizeof(T));
  return load<T, 1, static_cast<int>(sizeof(T))>(from).at[0];
}
/// The same element n times.
template <class T, int n>
SERRIED_HD inline pack<T, n> fill(T value) {
  pack<T, n> x;
  for (int i = 0; i < n; ++i) x.at[i] = value;
  return x;
}

template <class T, int n, int width>
SERRIED_HD inline void store(char* address, const pack<T, n>& value) {
  using parts = pieces<T, n, width>;
  const parts x = __builtin_bit_cast(parts, value);
  assume_global(address);
  for (int i = 0; i < parts::count; ++i) reinterpret_cast<typename parts::type*>(address)[i] = x.at[i];
}
template <class T, int n, int width, class Stride>
SERRIED_HD inline void store_strided(char* address, Stride stride, const pack<T, n>& value) {
  for (int i = 0; i < n; ++i) store<T, 1, width>(address + i * stride, {{value.at[i]}});
}

/// n / divisor for n < 2^31, with the numbers that divisor.hpp gives (T. Granlund and P. Montgomery, "Division by
/// invariant integers using multiplication", PLDI 1994).
SERRIED_HD inline ops::u32 divide(ops::u32 n, unsigned long long factor, unsigned long long shift) {
  return static_cast<ops::u32>((static_cast<unsigned long long>(n << 1) * static_cast<ops::u32>(factor)) >> 32) >>
         static_cast<ops::u32>(shift);
}
/// For n < 2^63.
SERRIED_HD inline unsigned long long divide(unsigned long long n, unsigned long long factor, unsigned long long shift) {
  return __umul64hi(n << 1, factor) >> shift;
}

/// i mod extent, not negative.
template <class Index>
SERRIED_HD inline Index wrap(Index i, Index extent) {
  const Index rest = i % extent;
  return rest < 0 ? rest + extent : rest;
}

}  // namespace serried::inline v0::cuda
