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

/// a · b, rounded before anything is added to it: where two products stand beside each other, as below, GCC 12 makes
/// fused instructions of them in spite of -ffp-contract=off.
template <class T>
SERRIED_HD inline T product(T a, T b) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
  return __builtin_assoc_barrier(a * b);
#endif
#endif
  return a * b;
}

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
  return {product(a.re, b.re) - product(a.im, b.im), product(a.re, b.im) + product(a.im, b.re)};
}
/// Smith's method (R. L. Smith, Algorithm 116, 1962), in the order of operations that NumPy uses.
template <class T>
SERRIED_HD inline complex<T> operator/(complex<T> a, complex<T> b) {
  const T re = b.re > 0 ? b.re : T(0) - b.re;  // of −0 it is 0
  const T im = b.im > 0 ? b.im : T(0) - b.im;
  if (re == 0 && im == 0) return {a.re / re, a.im / re};
  if (re >= im) {
    const T ratio = b.im / b.re;
    const T scale = T(1) / (b.re + product(b.im, ratio));
    return {(a.re + product(a.im, ratio)) * scale, (a.im - product(a.re, ratio)) * scale};
  }
  const T ratio = b.re / b.im;
  const T scale = T(1) / (b.im + product(b.re, ratio));
  return {(product(a.re, ratio) + a.im) * scale, (product(a.im, ratio) - a.re) * scale};
}
/// 1/a in the same way.
template <class T>
SERRIED_HD inline complex<T> inverse(complex<T> a) {
  const T re = a.re < 0 ? -a.re : a.re;
  const T im = a.im < 0 ? -a.im : a.im;
  if (im <= re) {
    const T ratio = a.im / a.re;
    const T scale = a.re + product(a.im, ratio);
    return {T(1) / scale, -ratio / scale};
  }
  const T ratio = a.re / a.im;
  const T scale = product(a.re, ratio) + a.im;
  return {ratio / scale, T(-1) / scale};
}
template <class T>
SERRIED_HD inline bool operator==(complex<T> a, complex<T> b) {
  return a.re == b.re && a.im == b.im;
}
// By the real parts, then the imaginary ones; never with NaN in a part that decides.
template <class T>
SERRIED_HD inline bool operator<(complex<T> a, complex<T> b) {
  return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im < b.im);
}
template <class T>
SERRIED_HD inline bool operator<=(complex<T> a, complex<T> b) {
  return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im <= b.im);
}
template <class T>
SERRIED_HD inline bool operator>(complex<T> a, complex<T> b) {
  return b < a;
}

}  // namespace serried::inline v0::ops
