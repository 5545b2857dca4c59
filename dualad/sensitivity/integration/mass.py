"""A mass matrix: M y' = f becomes y' = M^-1 f, or where M is singular, a system of index 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.levels.values import as_value
from ...errors import DualADError
from ..errors import ModelError
from ..parameters.parameters import ModelParameters, Parameters
from ..user_errors import failure
from .algebraic import Algebraic
from .pushing import gathered

__all__ = ["with_mass"]


def with_mass(
    rhs: Callable[..., Any], mass: Any, parameters: Parameters, states: Sequence[str]
) -> Callable[..., Any]:
    """The right-hand side M^-1 rhs; rhs itself where there is no mass matrix.

    Where M is singular, it is an `Algebraic`.

    Raises:
        ModelError: M has another shape, or what is algebraic depends on the parameters.
    """
    if mass is None:
        return rhs
    of = Mass(mass)
    matrix, n = np.asarray(of(ModelParameters(parameters)), float), len(states)
    if matrix.shape != (n, n):
        raise ModelError(f"mass has shape {matrix.shape}; there are {n} states")
    if not np.isfinite(matrix).all():
        raise ModelError("mass is not finite")
    numerator = Numerator(rhs)
    if np.linalg.matrix_rank(matrix) == n:
        return Divided(numerator, of)
    out = Algebraic(numerator, of, matrix, states)
    out.require_constant_rows(parameters)
    return out


class Mass:
    """M(p) as one array, traced or not."""

    def __init__(self, mass: Any):
        self.mass = mass if callable(mass) else constant(mass)

    def __call__(self, p: Any) -> Any:
        if not callable(self.mass):
            return self.mass
        try:
            given = self.mass(p)
        except Exception as error:
            raise ModelError(failure("mass", self.mass, error)) from error
        try:
            return numbers(given, "the mass matrix")
        except (DualADError, ValueError) as error:
            raise ModelError(f"mass: {error}") from error


def constant(mass: Any) -> np.ndarray:
    """A constant mass matrix, dense or sparse, as an array."""
    try:
        return np.array(mass.toarray() if hasattr(mass, "toarray") else mass, float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"mass is no matrix of numbers: {error}") from error


class Numerator:
    """rhs as one array, under its name."""

    def __init__(self, rhs: Callable[..., Any]):
        self.rhs = rhs
        self.__name__ = getattr(rhs, "__name__", type(rhs).__name__)
        self.__code__ = getattr(rhs, "__code__", None)

    def __call__(self, t: Any, y: Any, p: Any) -> Any:
        return numbers(self.rhs(t, y, p), f"what {self.__name__} returned")


class Divided:
    """M^-1 rhs, under the name of rhs."""

    def __init__(self, rhs: Numerator, mass: Mass):
        self.rhs, self.mass = rhs, mass
        self.__name__, self.__code__ = rhs.__name__, rhs.__code__

    def __call__(self, t: Any, y: Any, p: Any) -> Any:
        return np.linalg.solve(self.mass(p), self.rhs(t, y, p))


def numbers(given: Any, what: str) -> Any:
    """Numbers, traced or not, that stand in lists or in an array of objects, as one array."""
    if isinstance(given, np.ndarray) and given.dtype != object:
        return given
    return as_value(gathered(given), what)
