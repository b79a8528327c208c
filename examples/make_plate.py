#!/usr/bin/env python3
"""Makes plate.npy, the initial temperatures of the demo: a cold plate of 512 x 768 cells (float32, degrees Celsius)
with the word SERRIED in hot metal, glowing rings, a few hot and cold spots, and a border that is held hot at the
bottom and cold at the top."""

import pathlib

import numpy as np

HEIGHT, WIDTH = 512, 768
y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)

# Each letter is a chain of strokes on a grid 2 wide and 4 high, (0, 0) at the lower left.
LETTERS = {
    "S": [(2, 4), (0, 4), (0, 2), (2, 2), (2, 0), (0, 0)],
    "E": [(2, 4), (0, 4), (0, 2), (1.6, 2), (0, 2), (0, 0), (2, 0)],
    "R": [(0, 0), (0, 4), (2, 4), (2, 2), (0, 2), (0.8, 2), (2, 0)],
    "I": [(1, 0), (1, 4)],
    "D": [(0, 0), (0, 4), (1.2, 4), (2, 3.2), (2, 0.8), (1.2, 0), (0, 0)],
}


def distance_to_stroke(a, b):
    """Distance of each cell from the line segment a-b; points are (x, y) in cells."""
    (ax, ay), (bx, by) = a, b
    dx, dy = bx - ax, by - ay
    t = np.clip(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy), 0, 1)
    return np.hypot(x - ax - t * dx, y - ay - t * dy)


def disc(center_x, center_y, radius):
    return np.hypot(x - center_x, y - center_y) <= radius


def ring(center_x, center_y, radius, width):
    return np.abs(np.hypot(x - center_x, y - center_y) - radius) <= width / 2


plate = np.full((HEIGHT, WIDTH), 20.0)

plate[ring(170, 370, 88, 22)] = 100
plate[ring(170, 370, 52, 22)] = -20
plate[disc(170, 370, 24)] = 100
for k in range(5):
    plate[disc(340 + 75 * k, 340, 6 + 5 * k)] = 100
    plate[disc(340 + 75 * k, 410, 26 - 5 * k)] = -20
for k in range(24):
    plate[disc(24 + 31.3 * k, 52 + 14 * np.sin(0.7 * k), 9)] = 100

cell, gap, left, base = 28, 34, 86, 228  # a letter is 2 cells wide
for k, letter in enumerate("SERRIED"):
    chain = [(left + k * (2 * cell + gap) + cx * cell, base - cy * cell) for cx, cy in LETTERS[letter]]
    for a, b in zip(chain, chain[1:]):
        plate[distance_to_stroke(a, b) <= 8] = 100

plate[0, :] = 0
plate[-1, :] = 100
plate[:, 0] = plate[:, -1] = np.linspace(0, 100, HEIGHT)

np.save(pathlib.Path(__file__).with_name("plate.npy"), plate.astype(np.float32))
