// Functions of complex numbers, with the special values of C's Annex G: a kernel's text includes them only if its
// program does. Self-contained (no standard headers): this text is also compiled for devices.
#pragma once

#include "local/ops/functions.hpp"

// On the host they are called, not melted into kernels: no vector instruction would help them.
#ifdef __CUDA_ARCH__
#define SERRIED_CALLED SERRIED_HD inline
#else
#define SERRIED_CALLED inline
#endif

namespace serried::inline v0::ops {

template <class T>
inline constexpr T ln2 = T(0.693147180559945309417);
template <class T>
inline constexpr T half_pi = T(1.57079632679489661923);
/// x² + 1 is x² beyond it.
template <class T>
inline constexpr T large = is_same<T, float> ? T(0x1p14) : T(0x1p28);

/// The logarithm of |x + iy|, right where that is close to 1, overflows or has few bits.
template <class T>
SERRIED_CALLED T log_magnitude(T x, T y) {
  constexpr T huge = is_same<T, float> ? T(0x1p126) : T(0x1p1022);
  constexpr T tiny = is_same<T, float> ? T(0x1p-100) : T(0x1p-900);
  constexpr int scale = is_same<T, float> ? 30 : 60;
  x = absolute(x);
  y = absolute(y);
  const T a = x < y ? y : x;
  const T b = x < y ? x : y;
  if (a > huge) return log(hypot(T(0.5) * a, T(0.5) * b)) + ln2<T>;
  if (a < tiny) {
    constexpr T factor = T(u64{1} << scale);
    return log(hypot(factor * a, factor * b)) - T(scale) * ln2<T>;
  }
  const T squared = a * a;
  if (squared < T(0.5) || squared > T(2)) return log(hypot(a, b));
  // a² + b² − 1 with what the squares' rounding took.
  const T other = b * b;
  const T lost = fma(a, a, -squared) + fma(b, b, -other);
  return squared == squared ? T(0.5) * log1p(((squared - T(1)) + other) + lost) : log(hypot(a, b));
}

/// factor · e^z, also where e^x alone overflows.
template <class T>
SERRIED_CALLED complex<T> scaled_exp(T factor, T x, T y) {
  const bool twice = x > (is_same<T, float> ? T(88) : T(709));
  const T e = exp(twice ? T(0.5) * x : x);
  const T re = factor * e * cos(y);
  const T im = factor * e * sin(y);
  return twice ? complex<T>{re * e, im * e} : complex<T>{re, im};
}

template <class T>
SERRIED_CALLED complex<T> exp(complex<T> z) {
  if (z.im == T(0)) return {exp(z.re), z.im};
  if (isinf(z.re) && !isfinite(z.im)) return z.re < T(0) ? complex<T>{0, 0} : complex<T>{z.re, z.im - z.im};
  return scaled_exp(T(1), z.re, z.im);
}
template <class T>
SERRIED_CALLED complex<T> exp2(complex<T> z) {
  return exp(complex<T>{z.re * ln2<T>, z.im * ln2<T>});
}
template <class T>
SERRIED_CALLED complex<T> expm1(complex<T> z) {
  const T s = sin(T(0.5) * z.im);
  return {expm1(z.re) * cos(z.im) - T(2) * s * s, exp(z.re) * sin(z.im)};
}

template <class T>
SERRIED_CALLED complex<T> log(complex<T> z) {
  return {log_magnitude(z.re, z.im), arctan2(z.im, z.re)};
}
template <class T>
SERRIED_CALLED complex<T> log2(complex<T> z) {
  constexpr T factor = T(1.44269504088896340736);
  const complex<T> l = log(z);
  return {l.re * factor, l.im * factor};
}
template <class T>
SERRIED_CALLED complex<T> log10(complex<T> z) {
  constexpr T factor = T(0.434294481903251827651);
  const complex<T> l = log(z);
  return {l.re * factor, l.im * factor};
}
template <class T>
SERRIED_CALLED complex<T> log1p(complex<T> z) {
  const bool small = absolute(z.re) < T(0.5) && absolute(z.im) < T(0.5);
  return {small ? T(0.5) * log1p(T(2) * z.re + (z.re * z.re + z.im * z.im)) : log_magnitude(z.re + T(1), z.im),
          arctan2(z.im, z.re + T(1))};
}

template <class T>
SERRIED_CALLED complex<T> sqrt(complex<T> z) {
  if (z.re == T(0) && z.im == T(0)) return {0, z.im};
  if (isinf(z.im)) return {absolute(z.im), z.im};
  const T other = z.im - z.im;  // 0 or NaN
  if (isinf(z.re)) {
    return z.re > T(0) ? complex<T>{z.re, copysign(other, z.im)} : complex<T>{other, copysign(z.re, z.im)};
  }
  // Scaled by a power of 4, so that neither hypot overflows nor bits are lost.
  const T size = maximum(absolute(z.re), absolute(z.im));
  constexpr T huge = is_same<T, float> ? T(0x1p125) : T(0x1p1021);
  constexpr T tiny = is_same<T, float> ? T(0x1p-100) : T(0x1p-900);
  const T scale = size > huge ? T(0x1p-4) : size < tiny ? T(0x1p60) : T(1);
  const T back = size > huge ? T(0x1p2) : size < tiny ? T(0x1p-30) : T(1);
  const T re = absolute(z.re) * scale;
  const T im = z.im * scale;
  const T root = sqrt(T(0.5) * (re + hypot(re, im)));
  const T rest = T(0.5) * absolute(im) / root;
  return z.re < T(0) ? complex<T>{rest * back, copysign(root * back, z.im)}
                     : complex<T>{root * back, copysign(rest * back, z.im)};
}

// ---- Hyperbolic functions; the circular ones are those of iz.

/// i · z, and back: circular functions are hyperbolic ones of it.
template <class T>
SERRIED_HD inline complex<T> turned(complex<T> z) {
  return {-z.im, z.re};
}
template <class T>
SERRIED_HD inline complex<T> turned_back(complex<T> z) {
  return {z.im, -z.re};
}
template <class T>
SERRIED_CALLED complex<T> sinh(complex<T> z) {
  if (z.im == T(0)) return {sinh(z.re), z.im};
  if (!isfinite(z.im) && (z.re == T(0) || isinf(z.re))) return {z.re, z.im - z.im};
  if (absolute(z.re) < T(25)) return {sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)};
  const complex<T> e = scaled_exp(T(0.5), absolute(z.re), z.im);
  return {z.re < T(0) ? -e.re : e.re, e.im};
}
template <class T>
SERRIED_CALLED complex<T> cosh(complex<T> z) {
  if (z.im == T(0)) return {cosh(z.re), copysign(z.im, z.re) * copysign(T(1), z.im)};
  if (!isfinite(z.im) && z.re == T(0)) return {z.im - z.im, z.re};
  if (!isfinite(z.im) && isinf(z.re)) return {absolute(z.re), z.im - z.im};
  if (absolute(z.re) < T(25)) return {cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)};
  const complex<T> e = scaled_exp(T(0.5), absolute(z.re), z.im);
  return {e.re, z.re < T(0) ? -e.im : e.im};
}
/// W. Kahan, Branch cuts for complex elementary functions, 1987.
template <class T>
SERRIED_CALLED complex<T> tanh(complex<T> z) {
  if (z.im == T(0)) return {tanh(z.re), z.im};
  if (!isfinite(z.im)) {
    if (isinf(z.re)) return {copysign(T(1), z.re), 0};
    return {z.re == T(0) ? z.re : z.im - z.im, z.im - z.im};
  }
  if (absolute(z.re) > T(22)) {
    const T e = exp(-absolute(z.re));
    return {copysign(T(1), z.re), T(4) * sin(z.im) * cos(z.im) * e * e};
  }
  const T t = tan(z.im);
  const T b = T(1) + t * t;
  const T s = sinh(z.re);
  const T below = T(1) + b * s * s;
  return {b * sqrt(T(1) + s * s) * s / below, t / below};
}
template <class T>
SERRIED_CALLED complex<T> sin(complex<T> z) {
  return turned_back(sinh(turned(z)));
}
template <class T>
SERRIED_CALLED complex<T> cos(complex<T> z) {
  return cosh(turned(z));
}
template <class T>
SERRIED_CALLED complex<T> tan(complex<T> z) {
  return turned_back(tanh(turned(z)));
}

// ---- Inverse functions.

/// Of x + iy in the first quadrant: the real part of its arcsin is atan2(x, cosine), of its arccos atan2(cosine, x),
/// and the imaginary parts are ±height. By the sums without cancellation of Hull, Fairgrieve and Tang (Implementing the
/// complex arcsine and arccosine functions using exception handling, 1997).
template <class T>
struct arc {
  T cosine, height;
};
template <class T>
SERRIED_CALLED arc<T> arc_of(T x, T y) {
  if (x == T(0) && y != y) return {T(1), y};
  if (x > large<T> || y > large<T>) return {y, log_magnitude(x, y) + ln2<T>};
  const T r = hypot(x + T(1), y);
  const T s = hypot(x - T(1), y);
  const T a = T(0.5) * (r + s);
  const T far = r + (x + T(1));
  const T near = s + absolute(x - T(1));
  const T u = T(0.5) * (T(1) / far + T(1) / near);  // (a − 1) / y² for x < 1, (a − x) / y² for x > 1
  const T v = T(0.5) * (y * (y / far) + near);      // a − x for x ≤ 1, a − 1 for x ≥ 1
  return {x <= T(1) ? sqrt(v * (a + x)) : y * sqrt(u * (a + x)),
          log1p(x < T(1) ? u * y * y + y * sqrt(u * (a + T(1))) : v + sqrt(v * (a + T(1))))};
}

template <class T>
SERRIED_CALLED complex<T> arcsin(complex<T> z) {
  const arc<T> w = arc_of(absolute(z.re), absolute(z.im));
  return {arctan2(z.re, w.cosine), copysign(w.height, z.im)};
}
template <class T>
SERRIED_CALLED complex<T> arccos(complex<T> z) {
  const arc<T> w = arc_of(absolute(z.re), absolute(z.im));
  return {arctan2(w.cosine, z.re), -copysign(w.height, z.im)};
}
template <class T>
SERRIED_CALLED complex<T> arcsinh(complex<T> z) {
  return turned_back(arcsin(turned(z)));
}
template <class T>
SERRIED_CALLED complex<T> arccosh(complex<T> z) {
  const complex<T> w = arccos(z);
  return {absolute(w.im), copysign(w.re, z.im)};
}
template <class T>
SERRIED_CALLED complex<T> arctanh(complex<T> z) {
  const T x = absolute(z.re);
  const T y = absolute(z.im);
  if (x == T(0) && y != y) return z;
  if (x > large<T> || y > large<T>) {
    const T size = T(0.5) * hypot(T(0.5) * x, T(0.5) * y);
    const T re = isinf(size) ? T(0) : T(0.25) * (T(0.25) * x / size) / size;
    return {copysign(re, z.re), y != y ? y : copysign(half_pi<T>, z.im)};
  }
  const T left = T(1) - x;
  const T re = x == T(1) ? T(0.5) * (log(hypot(T(2), y)) - log(y)) : T(0.25) * log1p(T(4) * x / (left * left + y * y));
  return {copysign(re, z.re), T(0.5) * arctan2(T(2) * z.im, left * (T(1) + x) - y * y)};
}
template <class T>
SERRIED_CALLED complex<T> arctan(complex<T> z) {
  return turned_back(arctanh(turned(z)));
}

// ---- The rest.

template <class T>
SERRIED_CALLED complex<T> rint(complex<T> z) {
  return {rint(z.re), rint(z.im)};
}
/// z / |z|; the limit where one part alone is infinite.
template <class T>
SERRIED_CALLED complex<T> sign(complex<T> z) {
  const T size = absolute(z);
  if (size == T(0)) return {0, 0};
  if (!isinf(size)) return {z.re / size, z.im / size};
  if (isinf(z.re) && isinf(z.im)) return {z.re - z.re, z.im - z.im};
  if (isinf(z.re)) return {copysign(T(1), z.re), 0};
  if (isinf(z.im)) return {0, copysign(T(1), z.im)};
  return {z.re / size, z.im / size};
}
/// Small integer powers by squaring, the others as e^(b log a).
template <class T>
SERRIED_CALLED complex<T> power(complex<T> a, complex<T> b) {
  if (b == complex<T>{0, 0}) return {1, 0};
  if (a == complex<T>{0, 0}) {
    if (b.re > T(0)) return {0, 0};
    const T undefined = a.re / absolute(a.re);
    return {undefined, undefined};
  }
  if (b.im != T(0) || absolute(b.re) >= T(100) || rint(b.re) != b.re) return exp(b * log(a));
  int n = static_cast<int>(absolute(b.re));
  complex<T> square = a;
  for (; n % 2 == 0; n /= 2) square = square * square;
  complex<T> result = square;
  while ((n /= 2) != 0) {
    square = square * square;
    if (n % 2 != 0) result = result * square;
  }
  return b.re < T(0) ? complex<T>{1, 0} / result : result;
}

}  // namespace serried::inline v0::ops

#undef SERRIED_CALLED
