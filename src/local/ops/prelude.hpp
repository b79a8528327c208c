// What the element functions stand on: fixed-width names and bit views, without standard headers.
#pragma once

// The device compiler defines it as __host__ __device__. On the host, the functions must melt into kernels that are
// compiled for other instruction sets than the rest.
#ifndef SERRIED_HD
#define SERRIED_HD [[gnu::always_inline]]
#endif

namespace serried::inline v0::ops {

using i8 = signed char;
using i16 = short;
using i32 = int;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
#if defined(__INT64_TYPE__)
using i64 = __INT64_TYPE__;  // the very type of std::int64_t, which is `long` on one system and `long long` on another
using u64 = __UINT64_TYPE__;
#else
using i64 = long long;
using u64 = unsigned long long;
#endif
static_assert(sizeof(i16) == 2 && sizeof(i32) == 4 && sizeof(i64) == 8);

SERRIED_HD constexpr u32 bits_of(float x) { return __builtin_bit_cast(u32, x); }
SERRIED_HD constexpr u64 bits_of(double x) { return __builtin_bit_cast(u64, x); }
SERRIED_HD constexpr float float_of(u32 bits) { return __builtin_bit_cast(float, bits); }
SERRIED_HD constexpr double double_of(u64 bits) { return __builtin_bit_cast(double, bits); }

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;

template <class T>
inline constexpr bool signed_integer = is_same<T, i8> || is_same<T, i16> || is_same<T, i32> || is_same<T, i64>;
template <class T>
inline constexpr bool unsigned_integer = is_same<T, u8> || is_same<T, u16> || is_same<T, u32> || is_same<T, u64>;
template <class T>
inline constexpr bool integer = signed_integer<T> || unsigned_integer<T>;

template <int Bytes>
struct unsigned_of_size;
template <>
struct unsigned_of_size<1> {
  using type = u8;
};
template <>
struct unsigned_of_size<2> {
  using type = u16;
};
template <>
struct unsigned_of_size<4> {
  using type = u32;
};
template <>
struct unsigned_of_size<8> {
  using type = u64;
};
template <class T>
using unsigned_of = typename unsigned_of_size<static_cast<int>(sizeof(T))>::type;

}  // namespace serried::inline v0::ops
