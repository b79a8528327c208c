#!/usr/bin/env python3
"""Writes numpy_names.txt: the public names of NumPy 2 and of what SciPy has beside it, as docs/numpy.md writes them."""
import numpy as np
import scipy.ndimage
import scipy.special

assert int(np.__version__.split(".")[0]) >= 2

PLACES = {
    "": np,
    "fft.": np.fft,
    "lib.stride_tricks.": np.lib.stride_tricks,
    "linalg.": np.linalg,
    "ndarray.": np.ndarray,
    "random.": np.random,
    "random.Generator.": np.random.Generator,
    "scipy.ndimage.": scipy.ndimage,
    "scipy.special.": scipy.special,
}
names = {prefix + name for prefix, place in PLACES.items() for name in dir(place) if not name.startswith("_")}
with open("numpy_names.txt", "w") as file:
    file.writelines(name + "\n" for name in sorted(names))
