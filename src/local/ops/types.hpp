// From dtypes to the element types of the operations.
#pragma once

#include <serried/dtype.hpp>

#include "local/ops/complex.hpp"
#include "local/ops/half.hpp"

namespace serried::inline v0::ops {

/// Calls `f.template operator()<T>()` with the operations' own type for `type`.
template <class F>
decltype(auto) visit_element(dtype type, F&& f) {
  switch (type) {
    case dtype::bool_: return f.template operator()<bool>();
    case dtype::int8: return f.template operator()<i8>();
    case dtype::int16: return f.template operator()<i16>();
    case dtype::int32: return f.template operator()<i32>();
    case dtype::int64: return f.template operator()<i64>();
    case dtype::uint8: return f.template operator()<u8>();
    case dtype::uint16: return f.template operator()<u16>();
    case dtype::uint32: return f.template operator()<u32>();
    case dtype::uint64: return f.template operator()<u64>();
    case dtype::float16: return f.template operator()<half>();
    case dtype::bfloat16: return f.template operator()<bfloat>();
    case dtype::float32: return f.template operator()<float>();
    case dtype::float64: return f.template operator()<double>();
    case dtype::complex64: return f.template operator()<complex<float>>();
    case dtype::complex128: break;
  }
  return f.template operator()<complex<double>>();
}

/// The dtype of an operations' type.
template <class T>
inline constexpr dtype type_of = is_same<T, half>              ? dtype::float16
                                 : is_same<T, bfloat>          ? dtype::bfloat16
                                 : is_same<T, complex<float>>  ? dtype::complex64
                                 : is_same<T, complex<double>> ? dtype::complex128
                                 : is_same<T, bool>            ? dtype::bool_
                                 : is_same<T, float>           ? dtype::float32
                                 : is_same<T, double>          ? dtype::float64
                                 : is_same<T, i8>              ? dtype::int8
                                 : is_same<T, i16>             ? dtype::int16
                                 : is_same<T, i32>             ? dtype::int32
                                 : is_same<T, i64>             ? dtype::int64
                                 : is_same<T, u8>              ? dtype::uint8
                                 : is_same<T, u16>             ? dtype::uint16
                                 : is_same<T, u32>             ? dtype::uint32
                                                               : dtype::uint64;

}  // namespace serried::inline v0::ops
