#!/usr/bin/env python3
"""Writes print.txt beside it: arrays and their text, as NumPy (>= 2.4) prints them. A case is

    KIND DTYPE EXTENT...
    bits of the values, in hexadecimal (complex: real part, imaginary part, ...)
    the text
    =

KIND bits: the values that are shown, in C order; same: one value everywhere; ramp: 0.25 * i - 3 at C-order index i,
cast to the dtype, and no line of bits. NumPy does not know bfloat16: its cases are float32 numbers that bfloat16 holds
and that need no more digits in one than in the other."""

import os

import numpy as np

SHOWN = 3
rng = np.random.default_rng(20240607)
out = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "print.txt"), "w", newline="\n")
nan, inf = np.nan, np.inf
np.seterr(all="ignore")


def shown(a):
    if a.size > 1000:
        for axis, n in enumerate(a.shape):
            if n > 2 * SHOWN:
                a = a.take([*range(SHOWN), *range(n - SHOWN, n)], axis)
    return a


def bits(a):
    part = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
    return " ".join(f"{b:x}" for b in np.ascontiguousarray(a).reshape(-1).view(f"u{part}"))


def write(kind, a, values=None, name=None):
    print(kind, name or a.dtype.name, *a.shape, file=out)
    if values is not None:
        print(values, file=out)
    print(str(a), "=", sep="\n", file=out)


def case(values, dtype="float64"):
    a = np.asarray(values).astype(dtype)
    write("bits", a, bits(shown(a)))


def bfloat16(values):
    a = np.asarray(values, "float32")
    assert not (a.view("u4") & 0xFFFF).any()
    write("bits", a, " ".join(f"{b >> 16:x}" for b in a.reshape(-1).view("u4")), "bfloat16")


def same(value, shape, dtype):
    a = np.broadcast_to(np.array(value, dtype), shape)
    write("same", a, bits(np.array(value, dtype)))


def ramp(shape, dtype):
    write("ramp", (np.arange(np.prod(shape, dtype=int)) * 0.25 - 3).astype(dtype).reshape(shape))


# Choice between the two notations, at its limits.
for limit in (1e8, 1e6, 1e3, 1e-4, 1.0, 10.0):
    for dtype in ("float16", "float32", "float64"):
        x = np.array(limit, dtype)
        if np.isfinite(x):
            case([x, np.nextafter(x, x * 0)], dtype)
            case([np.nextafter(x, x * 2)], dtype)
for ratio in (999.0, 1000.0, np.nextafter(1000.0, 2000.0), 1001.0):
    for dtype in ("float16", "float32", "float64"):
        case([0.25, 0.25 * ratio, 0], dtype)

# Rounding at eight digits: ties, carries, trailing zeros; shortest digits at powers of two.
case([0.5 + 2.0**-9, 0.5 + 3 * 2.0**-9, 2.0**-9, 1.0])
case([9.999999999, 0.999999995, 0.99999999, 99999999.5])
case([9.999999999e9, 1.23456789012e-7, 1e100, 0.0, -0.0])
case([1e10, 2e11])
case([5e-324, 2.2250738585072014e-308, 1.7976931348623157e308])
case([1.000000004, 1.000000005, 1.00000001])
case(2.0 ** np.arange(-44, -38))
for k in (-96, 87, 90):
    case([2.0**k, 1.0], "float32")
case([0.1, 1.00000012e10, -3], "float32")
case([1e-45, 3.4028235e38], "float32")
case([2.0**-6, 6e-8, 65504, 0.1], "float16")
case([0.1, 0.2, 0.3, 1 / 3, -2 / 3], "float16")
case([0.1, 0.2, 0.3, 1 / 3, -2 / 3], "float32")

# nan and inf: how wide they are.
for values in ([nan], [inf], [-inf], [nan, inf], [nan, -inf], [1, nan], [-1, nan], [1, inf], [1, -inf], [-1.5, -inf],
               [100.25, nan, -inf], [1e10, nan], [1e10, -inf, 1.5], [0, nan], [-0.0, inf]):
    case(values)
    case(np.array(values) * (0.5 + 0j) + 1j * np.array(values[::-1]), "complex128")

# Complex numbers.
case([1 + 2j, -1.5 - 0.25j, 100 + 1e-3j], "complex64")
case([1e10 + 1j, 2 - 1e-7j], "complex128")
case([[1j, 2], [-0.5, 1e3 - 1e3j]], "complex128")
case(rng.normal(size=9) + 1j * rng.normal(size=9), "complex128")
case((rng.normal(size=9) + 1j * rng.normal(size=9)), "complex64")

# No axes: printed as a scalar.
for dtype in ("float16", "float32", "float64"):
    for v in (0, -0.0, 1, -1.5, 0.1, 1e-4, 9e-5, 999, 1e3, 65504, 999999, 1e6, 16777216, 9.9e15, 1e16, 1.5e16, 1e22, 1e100,
              1.2345678901234567, nan, inf, -inf):
        case(v, dtype)
for v in (1j, -1j, -0.0 + 1j, complex(0, -0.0), 1 + 0j, 1.5 - 2j, 1e16 + 1e-5j, 1e6 + 1j, complex(nan, inf),
          complex(0, nan), complex(0, -inf), complex(1, -inf), complex(-inf, nan), 0.1 + 0.2j):
    case(v, "complex64")
    case(v, "complex128")
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    info = np.iinfo(dtype)
    case(np.array(info.max, dtype), dtype)
    case(np.array([info.min, 0, info.max], dtype), dtype)
    case(rng.integers(0, 100, (2, 3)), dtype)
for b in (True, False):
    case(b, "bool")
    case([b], "bool")
case(rng.integers(0, 2, (2, 11)), "bool")

# bfloat16.
bfloat16([0.5, 1.5, -2.25, 96.0])
bfloat16([1.0, nan, -inf])
bfloat16([1000.0, 0.5])
bfloat16(1.5)
bfloat16(-inf)

# Brackets, blank lines, no elements.
for shape in ((0,), (0, 3), (2, 0), (3, 0, 2)):
    case(np.zeros(shape))
for shape in ((1,), (1, 1), (3, 1), (1, 3), (2, 3, 2), (2, 1, 2, 2), (2, 2, 1, 1, 2), (1,) * 32):
    case(np.arange(np.prod(shape)).reshape(shape), "int32")
case(np.arange(24).reshape(2, 3, 4) / 8)

# Lines that are full to the last column, or one more; words longer than a line, and lines within blocks.
for n in range(70, 78):
    case(np.array([10 ** (n - 60), 10**17 * 9, 10**18 * 9, 1]), "int64")
for count in (23, 24, 25, 36, 37, 38, 40):
    case(np.arange(count) % 10, "int8")
    case(np.arange(2 * count).reshape(2, 1, count) % 10, "int8")
for count in (5, 6, 7, 8):
    case(rng.normal(size=count) * 1e-5)
    case(rng.normal(size=(2, count)))
case(np.array([1, 2.5, 3.125] * 9))
case(rng.normal(size=3) * (1 + 1j) * 1e-200, "complex128")
case(np.arange(4).reshape((1,) * 30 + (2, 2)), "int8")
deep = 1e15 + np.arange(4.0).reshape((1,) * 28 + (4,))
case(deep)

# More than 1000 elements: only the corners count for the format.
middle = rng.normal(size=1001)
middle[500] = 1e300
case(middle)
case(np.arange(1000) % 7, "int8")
case(np.where(np.arange(1001) == 500, -100, 1), "int64")
case(rng.normal(size=(2, 501)), "float32")
case(rng.normal(size=(7, 2, 72)).round(2))
case(rng.integers(-99, 99, (1, 1001, 1)), "int16")
case(np.arange(6**4).reshape(6, 6, 6, 6) % 10, "int8")
case(rng.normal(size=(40, 40)) * 1e-7 + 1j, "complex64")
case(rng.integers(0, 2, (40, 40)), "bool")
case(np.zeros((2000, 0, 2)))
case(np.full((1001, 2), nan), "float16")

# Random numbers of many kinds.
for dtype in ("float16", "float32", "float64"):
    for scale in (1, 1e-3, 30, 1e5):
        x = rng.normal(size=7).astype(dtype) * np.array(scale, dtype)
        case(x, dtype)
        case(np.round(x, 2), dtype)
    case(10.0 ** rng.uniform(-4, 4, 6), dtype)
    case(rng.integers(0, 256, 8 * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype), dtype)

ramp((12,), "float64")
ramp((3, 4), "float32")
ramp((2, 3, 4), "float16")
ramp((10000,), "float64")
ramp((100, 100), "int64")
ramp((50, 2, 40), "float32")
ramp((2, 9, 1, 60), "complex64")
ramp((1, 2000), "bool")
ramp((3, 1, 1, 700), "int32")
same(0.1, (100000, 100000), "float32")
same(-7, (2, 10**9, 2), "int8")
same(1 + 2j, (10**12,), "complex128")
