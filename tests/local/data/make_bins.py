#!/usr/bin/env python3
"""Writes bins.txt: lists of doubles and their exact sum, correctly rounded to float64 and to float32.

Each line: KIND n x0 ... xn-1 sum64 sum32, all numbers as hexadecimal bit patterns. The exact sum is taken in rational
arithmetic.
"""
import math
import random
import struct
from fractions import Fraction


def bits64(x):
    return struct.pack(">d", x).hex()


def bits32(exact):
    # Round to float32 in one step: the float64 that is rounded to odd has all that the second rounding needs.
    x = float(exact)
    if math.isinf(x):
        return struct.pack(">f", x).hex()
    if Fraction(x) != exact:
        b = struct.unpack(">q", struct.pack(">d", x))[0]
        toward_zero = b if abs(Fraction(x)) < abs(exact) else b - 1
        x = struct.unpack(">d", struct.pack(">q", toward_zero | 1))[0]
    try:
        return struct.pack(">f", x).hex()
    except OverflowError:
        return struct.pack(">f", math.copysign(math.inf, x)).hex()


def number(rng, low, high):
    return math.ldexp(rng.uniform(0.5, 1) * rng.choice((-1, 1)), rng.randint(low, high))


def lists(rng):
    for low, high in [(-2, 2), (-30, 30), (-1074, -1000), (-1074, -960), (980, 1023), (-149, 127), (-25, 15)]:
        for n in (1, 2, 10, 100):
            yield "plain", [number(rng, low, high) for _ in range(n)]
    for scale in (-1000, -300, 0, 500, 1000):
        x = [number(rng, scale - 5, scale) for _ in range(50)]
        yield "cancelling", x + [-v for v in reversed(x)] + [number(rng, scale - 40, scale - 30)]
    yield "half", [1.0, 2.0**-53]
    yield "half", [1.0 + 2.0**-52, 2.0**-53]
    yield "half", [1.0, 2.0**-53, 2.0**-70]
    yield "half", [1.0, 2.0**-24, 2.0**-60]
    yield "overflow", [1.7e308, 1.7e308]
    yield "overflow", [1.7e308, 1.7e308, -1.7e308]
    yield "subnormal", [5e-324] * 7
    yield "subnormal", [2.0**-1022, -5e-324]


def main():
    rng = random.Random(1)
    with open("bins.txt", "w") as out:
        for kind, x in lists(rng):
            exact = sum(map(Fraction, x), Fraction(0))
            try:
                rounded = float(exact)
            except OverflowError:
                rounded = math.inf if exact > 0 else -math.inf
            print(kind, len(x), *map(bits64, x), bits64(rounded),
                  bits32(exact) if not math.isinf(rounded) else struct.pack(">f", rounded).hex(), file=out)


if __name__ == "__main__":
    main()
