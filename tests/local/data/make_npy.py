#!/usr/bin/env python3
"""Writes the .npy files beside it, with NumPy (>= 2). npy_test.cpp has the same formulas for their values."""

import os

import numpy as np
from numpy.lib import format as npy

here = os.path.dirname(os.path.abspath(__file__))
TYPES = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
SCALE = {1: 1, 2: 257, 4: 196611, 8: 2**40 + 3}


def values(code, shape):
    i = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    kind, size = code[0], int(code[1:])
    if kind == "b":
        return i % 3 == 0
    if kind == "i":
        return ((i * 7 - 20) * SCALE[size]).astype(code)
    if kind == "u":
        return ((i * 9 + 1).astype("u8") * np.uint64(SCALE[size])).astype(code)
    if kind == "f":
        return (i * 1.25 - 3).astype(code)
    return (i * 1.25 - 3 + 0.5j * i).astype(code)


def path(name):
    return os.path.join(here, name + ".npy")


for code in TYPES:
    a = values(code, (2, 3, 4))
    np.save(path(f"{code}_c"), a)
    np.save(path(f"{code}_big_fortran"), np.asfortranarray(a.astype(a.dtype.newbyteorder(">"))))

for name, shape in {"scalar": (), "one": (1,), "none": (0, 3), "hollow": (2, 0, 4), "row": (1, 5), "line": (12,)}.items():
    np.save(path("f8_" + name), values("f8", shape))

for version in ((2, 0), (3, 0)):
    with open(path(f"f4_version{version[0]}"), "wb") as out:
        npy.write_array(out, values("f4", (3, 2)), version=version)

# What np.save writes for an array of ml_dtypes.bfloat16.
with open(path("bfloat16_c"), "wb") as out:
    a = values("f4", (2, 3))
    npy.write_array_header_1_0(out, {"descr": "<V2", "fortran_order": False, "shape": a.shape})
    out.write((a.view("u4") >> 16).astype("<u2").tobytes())

np.save(path("object"), np.array([None, 1], dtype=object), allow_pickle=True)
np.save(path("text"), np.array(["serried", "ranks"]))
np.save(path("structure"), np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]))
np.save(path("datetime"), np.zeros(2, dtype="M8[s]"))
np.save(path("longdouble"), np.zeros(2, dtype="g"))
