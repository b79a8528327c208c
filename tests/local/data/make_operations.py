#!/usr/bin/env python3
"""Writes operations.txt: what NumPy 2 makes of every operation on special values of every dtype.

Lines (numbers are hexadecimal bit patterns, "-" marks a TypeError):
  values DTYPE x0 x1 ...             the operands of the lines below
  unary NAME DTYPE RESULT r0 r1 ...  one result for each value
  binary NAME DTYPE RESULT r00 r01 ...  for each pair, second operand fastest
  types1 NAME CODES                  result dtype for each operand dtype, one letter each
  types2 NAME CODES                  the same for each pair of operand dtypes
Functions of the C library are taken in a wider type and rounded; SciPy's, in float64.
bfloat16 stands for float32 arithmetic rounded.
"""
import ctypes
import warnings

import numpy as np
import scipy.special

assert int(np.__version__.split(".")[0]) >= 2
warnings.simplefilter("ignore")

LETTERS = "?bhilBHILefdFD"  # bool, int8 ... int64, uint8 ... uint64, float16, float32, float64, complex64, complex128
NAMES = {np.dtype(c): np.dtype(c).name for c in LETTERS}
ANALYTIC = """sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh
arctanh rint""".split()
C_LGAMMA = ctypes.CDLL("libm.so.6").lgammal  # SciPy's is not right for subnormals and less precise near -2.5
C_LGAMMA.restype, C_LGAMMA.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble]
SCIPYS = {"erf": scipy.special.erf, "erfc": scipy.special.erfc, "gamma": scipy.special.gamma,
          "lgamma": lambda x: np.array([C_LGAMMA(v) for v in x]), "xlogy": scipy.special.xlogy}
FUNCTIONS = ANALYTIC + ["cbrt", "arctan2", "hypot", "logaddexp", "logaddexp2"] + list(SCIPYS)
NOT_NUMPYS = ["frexp_mantissa", "frexp_exponent", "complex_of"] + list(SCIPYS)
UNARY = """negative absolute sign square reciprocal floor ceil trunc logical_not isnan isinf isfinite real imag
conj frexp_mantissa frexp_exponent cbrt erf erfc gamma lgamma""".split() + ANALYTIC
BINARY = """add subtract multiply divide floor_divide remainder fmod power minimum maximum fmin fmax equal not_equal less
less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift
right_shift gcd lcm copysign heaviside nextafter arctan2 hypot logaddexp logaddexp2 xlogy complex_of""".split()


def values(t):
    if t == np.bool_:
        return np.array([False, True])
    if t.kind in "iu":
        i = np.iinfo(t)
        some = [0, 1, 2, 3, 7, i.max, i.max - 1, i.min]
        return np.array(some + ([-1, -2, -7] if t.kind == "i" else [i.max // 2]), t)
    if t.kind == "c":
        special = [complex(*p) for p in ((-0.0, 0), (0, -0.0), (np.inf, 1), (-np.inf, -0.5), (1, -np.inf),
                                         (np.inf, -np.inf), (np.nan, 1), (2, np.nan), (np.nan, 0), (0, np.nan))]
        return np.array([0, 1, -2, 3 + 4j, -1 + 2j, 1j, -4j, 0.5 - 8j] + special, t)
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
    return {"frexp_mantissa": lambda x: np.frexp(x)[0], "frexp_exponent": lambda x: np.frexp(x)[1],
            "complex_of": complex_of, **SCIPYS}.get(name) or getattr(np, name)


def complex_of(re, im):
    result = np.empty(re.shape, np.complex128 if np.result_type(re, np.float16) == np.float64 else np.complex64)
    result.real, result.imag = re, im
    return result


def apply(name, *operands):
    t = operands[0].dtype
    if t.kind == "c" and name in NOT_NUMPYS:
        return None  # not offered for complex numbers
    try:
        if t.kind in "fc" and name in FUNCTIONS + ["power"] and (name not in ("sqrt", "rint") or t.kind == "c"):
            part = t.itemsize // 2 if t.kind == "c" else t.itemsize
            wide = np.float64 if part < 8 or name in SCIPYS else np.longdouble
            wide = np.result_type(wide, np.complex64) if t.kind == "c" else wide
            return function(name)(*(o.astype(wide) for o in operands)).astype(t)
        if t.kind in "biu" and name in SCIPYS:
            to = np.result_type(np.float16, t)
            return function(name)(*(o.astype(np.float64) for o in operands)).astype(to)
        if name == "nextafter" and t == np.float16:  # the second of two equal ones, as in the wider types
            a, b = operands
            return np.where(a == b, b, np.nextafter(a, b))
        if name in ("minimum", "maximum") and t.kind in "fc":  # the second of two equal ones, on any machine
            a, b = operands
            keep = (a < b if name == "minimum" else a > b) | np.isnan(a)
            return np.where(keep, a, b)
        if name in ("fmin", "fmax") and t.kind in "fc":
            a, b = operands
            return np.where((a < b if name == "fmin" else a > b) | np.isnan(b), a, b)
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

    for name in [n for n in UNARY if n not in NOT_NUMPYS]:
        print("types1", name, "".join(code(name, a) for a in LETTERS), file=out)
    for name in [n for n in BINARY if n not in NOT_NUMPYS]:
        print("types2", name, "".join(code(name, a, b) for a in LETTERS for b in LETTERS), file=out)
    print("promote", "".join(np.promote_types(a, b).char for a in LETTERS for b in LETTERS), file=out)
    print("safe", "".join("01"[np.can_cast(a, b)] for a in LETTERS for b in LETTERS), file=out)


if __name__ == "__main__":
    with open("operations.txt", "w") as out:
        write(out)
