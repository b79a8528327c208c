#!/usr/bin/env python3
"""Writes indexing.txt: what NumPy (>= 2) makes of the expressions below, in the form of make_manipulation.py."""

import os

import numpy as np

from make_manipulation import a, c, f, m, n, o, one, s, t, u, v, write, z

# The tests make the same index arrays.
i = np.array([1, 0, -1])
j = np.array([[0, 2], [1, -3]])
k = np.array([[2], [0]])
p = np.array(1)
e = np.array([], np.int64)
h = np.array([0, -2, 1], np.int8)
w = np.array([1, 0], np.uint16)
far = np.array([[5, -7], [0, 100]])

INDEXING = """
v[i]
v[j]
v[p]
v[e]
v[h]
v[w]
v[i + 1]
v[i][::-1]
v[::-1][i]
v[::2][i]
v[None][:, i]
m[i]
m[j]
m[w]
m[p]
m[e]
m[:, i]
m[:, j]
m[..., i]
m[1, i]
m[i, 1]
m[i, -1]
m[i, i]
m[k, i]
m[i, k]
m[i, h]
m[i, ::2]
m[::-1, i]
m[1:, i]
m[None, i]
m[i, None]
m[i, None, h]
m[:, e]
m[e, e]
m[p, p]
n[i]
n[:, w]
n[i, w[:1]]
t[i]
t[i, h]
o[i]
o[i, i]
o[:, i]
a[w]
a[w, w]
a[w, w, w]
a[w, :, w]
a[:, w, w]
a[:, w, 2]
a[:, 2, w]
a[0, :, w]
a[0, w]
a[w, ..., w]
a[..., w, w]
a[:, i, ..., h]
a[w, w, ...]
a[w, None, :, w]
a[0, None, w]
a[None, :, w]
a[:, w, None, w]
a[:, :, j]
a[:, j]
a[j[:, :1] * 0, :, i]
a[::-1, i, ::2]
a[p, :, p]
a[:, p]
c[w]
u[w]
f[i]
one[:, i]
(m > 3)[i]
m.astype(np.float16)[i]
c.astype(np.complex64)[w]
v[i] + m[1, i]
v[v[i]]
m[i].sum()
m[i, 1:].sum(0)
z[e]
z[:, i]
np.take(v, i)
np.take(m, i)
np.take(n, i)
np.take(t, far, mode="wrap")
np.take(m, far, mode="clip")
np.take(m, far, axis=0, mode="clip")
np.take(m, far, axis=0, mode="wrap")
np.take(m, far, axis=-1, mode="wrap")
np.take(n, far, axis=1, mode="wrap")
np.take(a, i, axis=1)
np.take(a, j, axis=1)
np.take(a, i, axis=2)
np.take(a, w, axis=0)
np.take(a, p, axis=1)
np.take(a, e, axis=1)
np.take(s, e)
np.take(s, w * 0)
np.take(z, e, axis=0)
np.take(z, i, axis=1)
np.take(v, m > 3)
np.take(v + 1, i)
np.take_along_axis(m, k[:1], 0)
np.take_along_axis(m, k[:1])
np.take_along_axis(m, j[:, :1].repeat(2, 1)[:1], 1)
np.take_along_axis(m[:1], j, 1)
np.take_along_axis(m, m % 3, 0)
np.take_along_axis(m, m[::-1] % 4, 1)
np.take_along_axis(n, n % 2, 1)
np.take_along_axis(a, k[None], 1)
np.take_along_axis(m, i, None)
np.take_along_axis(one, j[None], 1)
""".strip().splitlines()


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "indexing.txt"), "w", newline="\n") as out:
        for expression in INDEXING:
            write(out, expression, eval(expression))


if __name__ == "__main__":
    main()
