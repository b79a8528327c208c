#!/usr/bin/env python3
"""Writes functions.txt: what NumPy 2 (and SciPy) make of the functions that are composed of operations.

Lines as in operations.txt (make_operations.py), and
  refused1 NAME DTYPE, refused2 NAME DTYPE   a TypeError
"""
import warnings

import numpy as np
import scipy.special

from make_operations import LETTERS, NAMES, bits, pairs, values

warnings.simplefilter("ignore")


def in_double(f):
    """f in float64, in the dtype that NumPy's functions of real numbers give."""
    def g(x):
        if x.dtype.kind == "c":
            raise TypeError
        t = x.dtype if x.dtype.kind == "f" else np.result_type(np.float16, x.dtype)
        return f(x.astype(np.float64)).astype(t)
    return g


def to_tens(x):
    """np.round(x, -1); what an integer type does not hold becomes its nearest bound, instead of anything."""
    if x.dtype.kind not in "iu":
        return np.round(x, -1)
    rounded = np.round(x.astype(np.float64), -1)
    i = np.iinfo(x.dtype)
    inside = np.where((rounded < i.max) & (rounded > i.min), rounded, 0).astype(x.dtype)
    return np.where(rounded >= i.max, i.max, np.where(rounded <= i.min, i.min, inside)).astype(x.dtype)


def limited(x):
    """np.clip(x, 0, 2), of two equal ones the limit, on any machine."""
    clipped = np.clip(x, 0, 2)
    return np.where(clipped == 0, 0, clipped).astype(clipped.dtype)


UNARY = {
    "positive": np.positive, "fabs": np.fabs, "degrees": np.degrees, "radians": np.radians, "angle": np.angle,
    "angle_deg": lambda x: np.angle(x, deg=True), "sinc": np.sinc, "expit": in_double(scipy.special.expit),
    "logit": in_double(scipy.special.logit), "round": np.round, "round_2": lambda x: np.round(x, 2),
    "round_-1": to_tens, "clip_0_2": limited,
    "clip_none_1": lambda x: np.clip(x, None, 1), "clip_-1000_none": lambda x: np.clip(x, -1000, None),
    "nan_to_num": np.nan_to_num, "nan_to_num_1_2_-3": lambda x: np.nan_to_num(x, nan=1, posinf=2, neginf=-3),
    "spacing": np.spacing, "signbit": np.signbit, "isposinf": np.isposinf, "isneginf": np.isneginf,
    "isreal": np.isreal, "iscomplex": np.iscomplex, "modf_0": lambda x: np.modf(x)[0],
    "modf_1": lambda x: np.modf(x)[1], "frexp_0": lambda x: np.frexp(x)[0], "frexp_1": lambda x: np.frexp(x)[1],
    "invert": np.invert, "ldexp_3": lambda x: np.ldexp(x, 3), "ldexp_-20": lambda x: np.ldexp(x, -20),
    "isclose_2.5": lambda x: np.isclose(x, 2.5),
}
BINARY = {
    "float_power": np.float_power, "isclose": np.isclose, "isclose_nan": lambda x, y: np.isclose(x, y, equal_nan=True),
    "isclose_wide": lambda x, y: np.isclose(x, y, rtol=0.5, atol=1), "divmod_0": lambda x, y: np.divmod(x, y)[0],
    "divmod_1": lambda x, y: np.divmod(x, y)[1],
}

with open("functions.txt", "w") as out:
    for letter in LETTERS:
        t = np.dtype(letter)
        v = values(t)
        print("values", NAMES[t], *bits(v), file=out)
        for functions, kind, operands in (UNARY, "unary", (v,)), (BINARY, "binary", pairs(v)):
            for name, f in functions.items():
                try:
                    r = f(*operands)
                    print(kind, name, NAMES[t], NAMES[np.dtype(r.dtype)], *bits(r), file=out)
                except TypeError:
                    print("refused1" if kind == "unary" else "refused2", name, NAMES[t], file=out)
