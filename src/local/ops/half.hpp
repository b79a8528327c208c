// The 16-bit floating types: exact conversions, in integer steps that vectorize and that no flush-to-zero mode changes;
// on devices by the instruction for it, which gives the same (but for the bits of a NaN).
// Self-contained (no standard headers): this text is also compiled for devices.
#pragma once

#include "local/ops/prelude.hpp"

namespace serried::inline v0::ops {

/// IEEE 754 binary16 as stored.
struct half {
  u16 bits;
};
/// The upper half of a binary32 as stored.
struct bfloat {
  u16 bits;
};

SERRIED_HD inline float to_float(half h) {
#ifdef __CUDA_ARCH__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(h.bits));
  return value;
#else
  const u32 magnitude = h.bits & 0x7fffu;
  // Normal: shift and re-bias. Subnormal: put the fraction under 2^-14 and take 2^-14 away, which is exact.
  const u32 normal = (magnitude << 13) + (112u << 23);
  const u32 subnormal = bits_of(float_of((magnitude << 13) + (113u << 23)) - 0x1p-14f);
  const u32 special = (magnitude << 13) | 0x7f800000u | (magnitude > 0x7c00u ? 0x400000u : 0u);
  const u32 small = magnitude < 0x400u ? subnormal : normal;
  return float_of((magnitude >= 0x7c00u ? special : small) | (static_cast<u32>(h.bits & 0x8000u) << 16));
#endif
}

SERRIED_HD inline float to_float(bfloat h) { return float_of(static_cast<u32>(h.bits) << 16); }

SERRIED_HD inline half to_half(float value) {
#ifdef __CUDA_ARCH__
  half h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(value));
  return h;
#else
  const u32 sign = (bits_of(value) >> 16) & 0x8000u;
  const u32 x = bits_of(value) & 0x7fffffffu;
  // Adding 0.5 rounds to units of 2^-24, binary16's smallest.
  const u32 subnormal = bits_of(float_of(x) + 0.5f) - 0x3f000000u;
  const u32 normal = (x + 0xfffu + ((x >> 13) & 1u) - (112u << 23)) >> 13;
  const u32 special = x > 0x7f800000u ? 0x7e00u | ((x >> 13) & 0x3ffu) : 0x7c00u;
  const u32 finite = x < 0x38800000u ? subnormal : normal;
  return {static_cast<u16>((x >= 0x47800000u ? special : finite) | sign)};
#endif
}

SERRIED_HD inline bfloat to_bfloat(float value) {
  const u32 x = bits_of(value);
  const u32 rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
  const u32 nan = (x >> 16) | 0x40u;
  return {static_cast<u16>((x & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

/// From double in one rounding (by way of float there would be two).
SERRIED_HD inline half to_half(double value) {
  const u64 sign = (bits_of(value) >> 48) & 0x8000u;
  const u64 x = bits_of(value) & 0x7fffffffffffffffu;
  const u64 subnormal = bits_of(double_of(x) + 0x1p28) - bits_of(0x1p28);
  const u64 normal = (x + 0x1ffffffffffu + ((x >> 42) & 1u) - (u64{1008} << 52)) >> 42;
  const u64 special = x > 0x7ff0000000000000u ? 0x7e00u | ((x >> 42) & 0x3ffu) : 0x7c00u;
  const u64 finite = x < 0x3f10000000000000u ? subnormal : normal;
  return {static_cast<u16>((x >= 0x40f0000000000000u ? special : finite) | sign)};
}

SERRIED_HD inline bfloat to_bfloat(double value) {
  const u64 sign = (bits_of(value) >> 48) & 0x8000u;
  const u64 x = bits_of(value) & 0x7fffffffffffffffu;
  const u64 subnormal = bits_of(double_of(x) + 0x1p-81) - bits_of(0x1p-81);
  const u64 normal = (x + 0xfffffffffffu + ((x >> 45) & 1u) - (u64{896} << 52)) >> 45;
  const u64 special = x > 0x7ff0000000000000u ? 0x7fc0u | ((x >> 45) & 0x7fu) : 0x7f80u;
  const u64 finite = x < 0x3810000000000000u ? subnormal : normal;
  return {static_cast<u16>((x >= 0x47f0000000000000u ? special : finite) | sign)};
}

}  // namespace serried::inline v0::ops
