"""The families of formulas that are loaded when they are needed.

A look-up that misses loads the families of the function's package, and the others if it is in
none of those. Whoever walks over all rules calls `load_all` first.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from ..engine.levels.rules import FUNCTIONS, GENERAL, loading

__all__ = ["LATER", "load_all"]

#: In place of a package: what holds for every ufunc.
UFUNCS = "ufuncs"
#: Package of NumPy -> the files about it, each after those that it imports.
LATER = {
    "numpy.linalg": (
        "linalg", "lapack", "triangular", "known", "shared", "solve", "determinants", "gaps",
        "hermitian", "spectral", "decided", "eigen", "general_eigen", "in_place",
        "factorizations", "least_squares", "norms", "singular",
    ),
    "numpy": (
        "bessel", "convolution", "einsum", "grid", "histograms", "interpolate", "norms", "padding",
        "places", "polynomials", "python_functions", "scimath", "sets", "statistics", "quantiles",
    ),
    "numpy.fft": ("linalg", "fft"),
    UFUNCS: ("python_functions", "ufunc_methods"),
}  # fmt: skip

#: Packages whose files are not loaded yet.
_left = set(LATER)


def load_all(key: Any = None) -> bool:
    """Load all families of formulas; nothing is left afterwards."""
    _load(LATER)
    return True


def load_package(key: Any) -> bool:
    """Load the families of the package that a function of NumPy is in."""
    module = getattr(key, "__module__", None)
    if module in _left:
        _load((module,))
    return not _left


def load_general(key: Any) -> bool:
    """Load what holds for every ufunc."""
    _load((UFUNCS,))
    return True


def _load(packages: Iterable[str]) -> None:
    for package in packages:
        for file in LATER[package] if package in _left else ():
            with loading():
                importlib.import_module(f".{file}", __package__)
        _left.discard(package)


FUNCTIONS.loaders += [load_package, load_all]
GENERAL.loaders.append(load_general)
