#!/usr/bin/env python3
"""Makes the inputs of heat_test and NumPy's answers to them, in float64, after 500 steps."""
import pathlib

import numpy as np

here = pathlib.Path(__file__).parent
STEPS = 500


def fixed(u, alpha):
    inside = (slice(1, -1),) * u.ndim
    total = np.zeros_like(u[inside])
    for axis in range(u.ndim):
        for part in (slice(2, None), slice(None, -2)):
            at = list(inside)
            at[axis] = part
            total += u[tuple(at)]
    v = u.copy()
    v[inside] += alpha * (total - 2 * u.ndim * u[inside])
    return v


def padded(mode):
    def step(u, alpha):
        p = np.pad(u, 1, mode=mode)
        total = np.zeros_like(u)
        for axis in range(u.ndim):
            for part in (slice(2, None), slice(None, -2)):
                at = [slice(1, -1)] * u.ndim
                at[axis] = part
                total += p[tuple(at)]
        return u + alpha * (total - 2 * u.ndim * u)

    return step


STEP = {"fixed": fixed, "periodic": padded("wrap"), "insulated": padded("edge")}
SHAPES = {"1d": (37,), "2d": (23, 17), "3d": (9, 7, 8), "row": (1, 40), "two": (2, 5), "cube": (1, 2, 3)}

if __name__ == "__main__":
    rng = np.random.default_rng(2024)
    for name, shape in SHAPES.items():
        field = rng.normal(20, 30, shape)
        alpha = 0.4 / len(shape)
        for dtype in ("float32", "float64"):
            u0 = field.astype(dtype)
            np.save(here / f"heat_{name}_{dtype}.npy", u0)
            for kind, step in STEP.items():
                u = u0.astype(np.float64)
                for _ in range(STEPS):
                    u = step(u, alpha)
                np.save(here / f"heat_{name}_{dtype}_{kind}.npy", u)
    # The same field, stored otherwise: Fortran order, big-endian.
    f = np.load(here / "heat_2d_float64.npy")
    np.save(here / "heat_2d_fortran_big.npy", np.asfortranarray(f.astype(">f8")))
