#!/usr/bin/env python3
"""Measures what a Python user would reach for, as lines of JSON of serried-bench-core's form.

CuPy and PyTorch on a GPU, NumPy on the CPU: each library that is installed, or those that --libraries names. Times are
medians of device events (of a clock on the CPU). What a library does not have is left out.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

DTYPES = {"float32": 4, "float64": 8, "float16": 2, "int8": 1, "complex64": 8}


class Library:
    """One library: `xp`, its NumPy-like functions, and how its work is timed."""

    def __init__(self, options):
        self.options = options

    def ramp(self, shape, dtype="float32"):
        """From 0 to 1, as serried-bench-core has it."""
        count = 1
        for n in shape:
            count *= n
        return self.cast(self.linspace(count), dtype).reshape(shape)

    def waves(self, shape, dtype="float32"):
        count = 1
        for n in shape:
            count *= n
        return self.cast(self.xp.sin(self.counting(count) * 1.7), dtype).reshape(shape)

    def wants(self, name):
        return self.options.filter in name

    def release(self):
        """Gives memory back for the next library."""

    def report(self, name, shape, dtype, ms, byte_count=0, host_us=None, how=None):
        line = {"library": self.name if how is None else f"{self.name} {how}", "device": self.device, "name": name}
        line |= {"shape": list(shape), "dtype": dtype, "ms": ms}
        if byte_count:
            line |= {"bytes": byte_count, "gb_per_s": byte_count / ms / 1e6}
        if host_us is not None:
            line["host_us"] = host_us
        print(json.dumps(line), flush=True)

    def measure(self, name, shape, dtype, byte_count, work, how=None):
        if not self.wants(name):
            return
        try:
            for _ in range(3):
                work()
            self.synchronize()
            self.report(name, shape, dtype, statistics.median(self.times(work, 21)), byte_count, how=how)
        except Exception as error:  # a library may lack a dtype, a compiler or the memory
            print(f"{self.name}: {name} {list(shape)} {dtype}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)

    def measure_host(self, name, shape, dtype, work):
        if not self.wants(name):
            return
        calls = 10 if self.options.quick else 1000
        seconds = []
        for _ in range(16):
            start = time.perf_counter()
            for _ in range(calls):
                work()
            self.synchronize()
            seconds.append((time.perf_counter() - start) / calls)
        one = statistics.median(seconds[1:])
        self.report(name, shape, dtype, one * 1e3, host_us=one * 1e6)


class NumPy(Library):
    name = "numpy"
    device = "host"

    def __init__(self, options):
        super().__init__(options)
        import numpy

        self.xp = numpy
        self.newaxis = numpy.newaxis

    def linspace(self, count):
        return self.xp.linspace(0, 1, count, dtype="float32")

    def counting(self, count):
        return self.xp.arange(count)

    def cast(self, x, dtype):
        return x.astype(dtype)

    def copy(self, x):
        return x.copy()

    def transposed(self, x):
        return x.T.copy()

    def synchronize(self):
        pass

    def times(self, work, samples):
        result = []
        for _ in range(samples):
            start = time.perf_counter()
            work()
            result.append((time.perf_counter() - start) * 1e3)
        return result


class CuPy(NumPy):
    name = "cupy"
    device = "cuda"

    def __init__(self, options):
        Library.__init__(self, options)
        import cupy

        self.xp = cupy
        self.newaxis = cupy.newaxis
        cupy.cuda.Device().synchronize()  # throws where there is no GPU

    def synchronize(self):
        self.xp.cuda.Device().synchronize()

    def release(self):
        self.xp.get_default_memory_pool().free_all_blocks()

    def times(self, work, samples):
        events = [(self.xp.cuda.Event(), self.xp.cuda.Event()) for _ in range(samples)]
        for begin, end in events:
            begin.record()
            work()
            end.record()
        self.synchronize()
        return [self.xp.cuda.get_elapsed_time(begin, end) for begin, end in events]


class PyTorch(Library):
    name = "torch"
    device = "cuda"
    newaxis = None

    def __init__(self, options):
        super().__init__(options)
        import torch

        self.xp = torch
        torch.cuda.synchronize()

    def linspace(self, count):
        return self.xp.linspace(0, 1, count, dtype=self.xp.float32, device="cuda")

    def counting(self, count):
        return self.xp.arange(count, dtype=self.xp.float64, device="cuda")

    def cast(self, x, dtype):
        return x.to(getattr(self.xp, dtype))

    def copy(self, x):
        return x.clone()

    def transposed(self, x):
        return x.T.contiguous()

    def synchronize(self):
        self.xp.cuda.synchronize()

    def times(self, work, samples):
        def event():
            return self.xp.cuda.Event(enable_timing=True)

        events = [(event(), event()) for _ in range(samples)]
        for begin, end in events:
            begin.record()
            work()
            end.record()
        self.synchronize()
        return [begin.elapsed_time(end) for begin, end in events]


def elementwise(lib, n, side):
    xp = lib.xp
    x = lib.ramp([n])
    lib.measure("copy", [n], "float32", 2 * n * 4, lambda: lib.copy(x))
    for dtype in ("float32", "float64", "float16"):
        x = lib.ramp([n], dtype)
        size = 2 * n * DTYPES[dtype]
        lib.measure("exp", [n], dtype, size, lambda: xp.exp(x))
        lib.measure("sqrt", [n], dtype, size, lambda: xp.sqrt(x))

        def poly(x):
            return (x * 2 + xp.sin(x)) * x - 1

        lib.measure("poly", [n], dtype, size, lambda: poly(x))
        if lib.name == "cupy":
            fused = xp.fuse(poly)
            lib.measure("poly", [n], dtype, size, lambda: fused(x), how="fuse")
        elif lib.name == "torch" and dtype == "float32" and lib.wants("poly"):
            compiled = xp.compile(poly)
            lib.measure("poly", [n], dtype, size, lambda: compiled(x), how="compile")
    for dtype, size in DTYPES.items():
        x = lib.ramp([n], dtype)
        y = lib.ramp([n], dtype)
        lib.measure("add", [n], dtype, 3 * n * size, lambda: x + y)
        if dtype == "complex64":
            lib.measure("multiply", [n], dtype, 3 * n * size, lambda: x * y)
    for odd in (n - 1, n + 1):
        x = lib.ramp([odd])
        y = lib.ramp([odd])
        lib.measure("add", [odd], "float32", 3 * odd * 4, lambda: x + y)

    square = lib.ramp([side, side])
    row = lib.ramp([side])
    column = lib.ramp([side, 1])
    size = 2 * side * side * 4
    lib.measure("add_row", [side, side], "float32", size + 4 * side, lambda: square + row)
    lib.measure("add_column", [side, side], "float32", size + 4 * side, lambda: square + column)
    lib.measure("shifted_rows", [side, side - 1], "float32", size - 8 * side, lambda: square[:, 1:] * 2)
    lib.measure("transpose", [side, side], "float32", size, lambda: lib.transposed(square))
    line = lib.ramp([n])
    lib.measure("every_second", [n // 2], "float32", n * 4 + n // 2 * 4, lambda: line[::2] * 2)
    third = n // 4
    inner = lib.ramp([third, 3])
    outer = lib.ramp([3, third])
    three = lib.ramp([3])
    lib.measure("inner_3", [third, 3], "float32", 6 * third * 4, lambda: inner * three + 1)
    lib.measure("outer_3", [3, third], "float32", 6 * third * 4, lambda: outer * three[:, lib.newaxis] + 1)

    x = lib.ramp([1000])
    y = lib.ramp([1000])
    lib.measure_host("small_add", [1000], "float32", lambda: x + y)


def reductions(lib, n, side):
    xp = lib.xp
    for dtype in ("float32", "float64"):
        x = lib.waves([n], dtype)
        size = n * DTYPES[dtype]
        lib.measure("sum", [n], dtype, size, lambda: x.sum())
        lib.measure("max", [n], dtype, size, lambda: x.max())
        y = lib.copy(x)
        lib.measure("dot", [n], dtype, 2 * size, lambda: xp.dot(x, y))
        if dtype == "float32":
            square = x.reshape([side, side])
            lib.measure("sum_axis_0", [side, side], dtype, size, lambda: square.sum(0))
            lib.measure("sum_axis_1", [side, side], dtype, size, lambda: square.sum(1))


RAW_HEAT = r"""
extern "C" __global__ void heat(const REAL* __restrict__ u, REAL* v, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, i = blockIdx.z;
  if (i < 1 || j < 1 || k < 1 || i >= n - 1 || j >= n - 1 || k >= n - 1) return;
  const size_t plane = (size_t)n * n, c = i * plane + (size_t)j * n + k;
  v[c] = u[c] + (REAL)0.1 * (u[c + plane] + u[c - plane] + u[c + n] + u[c - n] + u[c + 1] + u[c - 1] - 6 * u[c]);
}
"""


def heat_3d(u, v):
    """The interior of v from u, in slices: what NumPy's users write."""
    c = u[1:-1, 1:-1, 1:-1]
    neighbors = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1]
    neighbors = neighbors + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
    v[1:-1, 1:-1, 1:-1] = c + 0.1 * (neighbors - 6 * c)


def heat_2d(u, v):
    c = u[1:-1, 1:-1]
    v[1:-1, 1:-1] = c + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * c)


def stencils(lib, n):
    if not lib.wants("heat_fixed"):
        return
    for shape, dtype in (
        ([n] * 3, "float32"),
        ([n - 12] * 3, "float32"),
        ([n + 1] * 3, "float32"),
        ([n] * 3, "float64"),
        ([32 * n] * 2, "float32"),
    ):
        u = lib.waves(shape, dtype)
        v = lib.copy(u)
        side = shape[0]
        size = (side ** len(shape) + (side - 2) ** len(shape)) * DTYPES[dtype]
        step = heat_3d if len(shape) == 3 else heat_2d
        lib.measure("heat_fixed", shape, dtype, size, lambda: step(u, v), how="slices")
        if lib.name == "cupy" and len(shape) == 3:
            code = RAW_HEAT.replace("REAL", "float" if dtype == "float32" else "double")
            kernel = lib.xp.RawKernel(code, "heat")
            grid = ((side + 127) // 128, (side + 1) // 2, side)
            lib.measure(
                "heat_fixed", shape, dtype, size, lambda: kernel(grid, (128, 2, 1), (u, v, side)), how="RawKernel"
            )
        elif lib.name == "torch" and shape == [n] * 3 and dtype == "float32":
            compiled = lib.xp.compile(step)
            lib.measure("heat_fixed", shape, dtype, size, lambda: compiled(u, v), how="compile")


def first_use(lib, name):
    """In a process of its own: kernels that were never used before in it."""
    import cupy

    x = cupy.ones(1000, dtype="float32")
    cupy.cuda.Device().synchronize()
    seconds = []
    for k in range(16):
        text = "x"
        for bit in range(4):
            text = f"sin({text})" if k >> bit & 1 else f"({text}) * 2 + 1"
        start = time.perf_counter()
        cupy.ElementwiseKernel("T x", "T y", f"y = {text}", f"varied_{k}")(x)
        cupy.cuda.Device().synchronize()
        seconds.append(time.perf_counter() - start)
    ms = statistics.median(seconds) * 1e3
    lib.report(f"{name}_elementwise", [1000], "float32", ms, host_us=ms * 1e3)


def start_first_uses():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first_use_compiled", "first_use_from_disk"):
            command = [sys.executable, __file__, "--first-use", name]
            subprocess.run(command, env=os.environ | {"CUPY_CACHE_DIR": folder}, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that everything runs")
    parser.add_argument("--filter", default="", metavar="TEXT", help="only what has TEXT in its name")
    parser.add_argument("--libraries", default="cupy,torch", metavar="LIST", help="of cupy, torch, numpy")
    parser.add_argument("--first-use", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first_use:
        first_use(CuPy(options), options.first_use)
        return
    n = 1 << (12 if options.quick else 28)
    side = 1 << (6 if options.quick else 14)
    for make in (CuPy, PyTorch, NumPy):
        if make.name not in options.libraries.split(","):
            continue
        try:
            lib = make(options)
        except Exception as error:  # not installed, or no GPU
            print(f"{make.name}: left out: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
            continue
        if lib.name == "cupy" and lib.wants("first_use"):
            start_first_uses()
        elementwise(lib, n, side)
        reductions(lib, n, side)
        stencils(lib, 16 if options.quick else 512)
        lib.release()


if __name__ == "__main__":
    main()
