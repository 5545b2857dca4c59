"""A mass matrix: M y' = f becomes y' = M^-1 f."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.traced import as_value
from ..errors import ModelError
from .pushing import gathered

__all__ = ["with_mass"]


def with_mass(rhs: Callable[..., Any], mass: Any, n: int) -> Callable[..., Any]:
    """The right-hand side M^-1 rhs; rhs itself where there is no mass matrix.

    Raises:
        ModelError: M has another shape, or is singular: the system would be one of algebraic
            equations too.
    """
    if mass is None:
        return rhs
    if not callable(mass):
        matrix = np.asarray(mass, float)
        if matrix.shape != (n, n):
            raise ModelError(f"mass has shape {matrix.shape}; there are {n} states")
        if np.linalg.matrix_rank(matrix) < n:
            raise ModelError(
                "mass is singular: some of the equations are algebraic. Eliminate their unknowns, "
                "or solve for them inside rhs"
            )
    return Divided(rhs, mass)


class Divided:
    """M^-1 rhs, under the name of rhs."""

    def __init__(self, rhs: Callable[..., Any], mass: Any):
        self.rhs, self.mass = rhs, mass
        self.__name__ = getattr(rhs, "__name__", type(rhs).__name__)
        self.__code__ = getattr(rhs, "__code__", None)

    def __call__(self, t: Any, y: Any, p: Any) -> Any:
        matrix = self.mass
        if callable(matrix):
            matrix = numbers(matrix(p), "the mass matrix")
        return np.linalg.solve(
            matrix, numbers(self.rhs(t, y, p), f"what {self.__name__} returned")
        )


def numbers(given: Any, what: str) -> Any:
    """Numbers, traced or not, that stand in lists or in an array of objects, as one array."""
    if isinstance(given, np.ndarray) and given.dtype != object:
        return given
    return as_value(gathered(given), what)
