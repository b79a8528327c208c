// Complex numbers with NumPy's arithmetic. Self-contained (no standard headers); laid out as std::complex.
#pragma once

#include "local/ops/prelude.hpp"

namespace serried::inline v0::ops {

template <class T>
struct complex {
  T re, im;
};

template <class T>
inline constexpr bool complex_number = false;
template <class T>
inline constexpr bool complex_number<complex<T>> = true;

template <class T>
SERRIED_HD inline complex<T> operator+(complex<T> a, complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
SERRIED_HD inline complex<T> operator-(complex<T> a, complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
SERRIED_HD inline complex<T> operator-(complex<T> a) {
  return {-a.re, -a.im};
}
template <class T>
SERRIED_HD inline complex<T> operator*(complex<T> a, complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// Smith's method (R. L. Smith, Algorithm 116, 1962), in the order of operations that NumPy uses.
template <class T>
SERRIED_HD inline complex<T> operator/(complex<T> a, complex<T> b) {
  const T re = b.re < 0 ? -b.re : b.re;
  const T im = b.im < 0 ? -b.im : b.im;
  if (re == 0 && im == 0) return {a.re / re, a.im / re};
  if (re >= im) {
    const T ratio = b.im / b.re;
    const T scale = T(1) / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  const T ratio = b.re / b.im;
  const T scale = T(1) / (b.im + b.re * ratio);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
/// 1/a in the same way.
template <class T>
SERRIED_HD inline complex<T> inverse(complex<T> a) {
  const T re = a.re < 0 ? -a.re : a.re;
  const T im = a.im < 0 ? -a.im : a.im;
  if (im <= re) {
    const T ratio = a.im / a.re;
    const T scale = a.re + a.im * ratio;
    return {T(1) / scale, -ratio / scale};
  }
  const T ratio = a.re / a.im;
  const T scale = a.re * ratio + a.im;
  return {ratio / scale, T(-1) / scale};
}
template <class T>
SERRIED_HD inline bool operator==(complex<T> a, complex<T> b) {
  return a.re == b.re && a.im == b.im;
}

}  // namespace serried::inline v0::ops
