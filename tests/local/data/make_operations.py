#!/usr/bin/env python3
"""Writes operations.txt: what NumPy 2 makes of every operation on special values of every dtype.

Lines (numbers are hexadecimal bit patterns, "-" marks a TypeError):
  values DTYPE x0 x1 ...             the operands of the lines below
  unary NAME DTYPE RESULT r0 r1 ...  one result for each value
  binary NAME DTYPE RESULT r00 r01 ...  for each pair, second operand fastest
  types1 NAME CODES                  result dtype for each operand dtype, one letter each
  types2 NAME CODES                  the same for each pair of operand dtypes
Functions of the C library are taken in a wider type and rounded. bfloat16 stands for float32 arithmetic rounded.
"""
import warnings

import numpy as np

assert int(np.__version__.split(".")[0]) >= 2
warnings.simplefilter("ignore")

LETTERS = "?bhilBHILefdFD"  # bool, int8 ... int64, uint8 ... uint64, float16, float32, float64, complex64, complex128
NAMES = {np.dtype(c): np.dtype(c).name for c in LETTERS}
FUNCTIONS = """sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh
hypot rint""".split()
UNARY = """negative absolute sign square reciprocal floor ceil trunc logical_not isnan isinf isfinite real imag
conj""".split() + [f for f in FUNCTIONS if f not in ("arctan2", "hypot")]
BINARY = """add subtract multiply divide floor_divide remainder power minimum maximum equal not_equal less less_equal
greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor arctan2 hypot""".split()


def values(t):
    if t == np.bool_:
        return np.array([False, True])
    if t.kind in "iu":
        i = np.iinfo(t)
        some = [0, 1, 2, 3, 7, i.max, i.max - 1, i.min]
        return np.array(some + ([-1, -2, -7] if t.kind == "i" else [i.max // 2]), t)
    if t.kind == "c":
        return np.array([0, 1, -2, 3 + 4j, -1 + 2j, 1j, -4j, 0.5 - 8j], t)
    f = np.finfo(t)
    return np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 3, np.inf, -np.inf, np.nan, f.max, f.smallest_normal,
                     -f.smallest_subnormal * 3], t)


def bits(a):
    a = np.ascontiguousarray(a).ravel()
    raw = a.view(np.uint8).reshape(len(a), a.itemsize)
    if a.dtype.kind == "c":  # the real part, then the imaginary part
        half = a.itemsize // 2
        return [bytes(r[:half][::-1]).hex() + bytes(r[half:][::-1]).hex() for r in raw]
    return [bytes(r[::-1]).hex() for r in raw]


def function(name):
    return getattr(np, name)


def apply(name, *operands):
    t = operands[0].dtype
    if t.kind == "c" and name in FUNCTIONS + ["sign", "minimum", "maximum", "power", "less", "less_equal", "greater",
                                               "greater_equal"]:
        return None  # not offered for complex numbers
    if t.kind == "f" and name in FUNCTIONS + ["power"] and name not in ("sqrt", "rint"):
        wide = {2: np.float64, 4: np.float64, 8: np.longdouble}[t.itemsize]
        return function(name)(*(o.astype(wide) for o in operands)).astype(t)
    try:
        if name in ("minimum", "maximum") and t.kind == "f":  # the second of two equal ones, on any machine
            a, b = operands
            keep = (a < b if name == "minimum" else a > b) | np.isnan(a)
            return np.where(keep, a, b)
        if name == "power" and t.kind == "i":
            a, b = operands
            return np.where(b < 0, 0, function(name)(a, np.where(b < 0, 0, b).astype(t))).astype(t)
        if name == "reciprocal" and t.kind in "iu":
            a = operands[0]
            return np.where(a == 0, 0, function(name)(np.where(a == 0, 1, a).astype(t))).astype(t)
        return function(name)(*operands)
    except TypeError:
        return None


def pairs(v):
    return np.repeat(v, len(v)), np.tile(v, len(v))


def to_bfloat(a):
    b = a.astype(np.float32).view(np.uint32).astype(np.uint64)
    r = ((b + 0x7FFF + ((b >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(a), np.uint16(0x7FC0), r)


def from_bfloat(b):
    return (b.astype(np.uint32) << 16).view(np.float32)


def write(out):
    for letter in LETTERS:
        t = np.dtype(letter)
        v = values(t)
        print("values", NAMES[t], *bits(v), file=out)
        for name, kind, operands in [(n, "unary", (v,)) for n in UNARY] + [(n, "binary", pairs(v)) for n in BINARY]:
            r = apply(name, *operands)
            if r is not None:
                print(kind, name, NAMES[t], NAMES[np.dtype(r.dtype)], *bits(r), file=out)

    v = to_bfloat(np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 3, 7.25, np.inf, -np.inf, np.nan, 3.3895e38, 1e-38, 1e-40], np.float32))
    print("values bfloat16", *bits(v), file=out)
    for name in "add subtract multiply divide less equal".split():
        r = function(name)(*(from_bfloat(o) for o in pairs(v)))
        if r.dtype == np.bool_:
            print("binary", name, "bfloat16 bool", *bits(r), file=out)
        else:
            print("binary", name, "bfloat16 bfloat16", *bits(to_bfloat(r)), file=out)
    for name in "negative absolute sqrt square reciprocal".split():
        print("unary", name, "bfloat16 bfloat16", *bits(to_bfloat(function(name)(from_bfloat(v)))), file=out)

    def code(name, *letters):
        try:
            return function(name)(*(np.ones(1, c) for c in letters)).dtype.char.replace("q", "l").replace("Q", "L")
        except TypeError:
            return "-"

    for name in UNARY:
        print("types1", name, "".join(code(name, a) for a in LETTERS), file=out)
    for name in BINARY:
        print("types2", name, "".join(code(name, a, b) for a in LETTERS for b in LETTERS), file=out)
    print("promote", "".join(np.promote_types(a, b).char for a in LETTERS for b in LETTERS), file=out)
    print("safe", "".join("01"[np.can_cast(a, b)] for a in LETTERS for b in LETTERS), file=out)


if __name__ == "__main__":
    with open("operations.txt", "w") as out:
        write(out)
