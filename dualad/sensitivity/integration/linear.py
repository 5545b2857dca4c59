"""The variational equations at one point: s' = J s + c df/dp, for whatever s is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .sparsity import Colouring

__all__ = ["Dense", "Linear", "Products", "Sparse", "together"]


class Linear:
    """What a pass with tangents gave at (t, y): f, and the map from s to s', which is affine.

    Attributes:
        value: f(t, y), shape (n,).
        forcing: c_j df/dp_j, one row a parameter, shape (k, n); None where it is not known apart.
    """

    value: np.ndarray
    forcing: Any = None

    def finite(self) -> bool:
        """Whether all of it is."""
        return True

    def matrix(self) -> Any:
        """J = df/dy, an array or a sparse matrix; None where only products are known."""
        return None

    def __call__(self, s: np.ndarray) -> np.ndarray:
        """s' of shape (k, n) from s of that shape."""
        raise NotImplementedError

    @classmethod
    def together(cls, points: Sequence[Any]) -> Callable[[np.ndarray], np.ndarray]:
        """The maps of many points as one, of arrays of shape (points, k, n)."""
        return lambda s: np.stack([point(row) for point, row in zip(points, s, strict=True)])


class Dense(Linear):
    """With J in columns: columns[j] is df/dy_j."""

    def __init__(self, value: np.ndarray, columns: np.ndarray, forcing: np.ndarray):
        self.value, self.columns, self.forcing = value, columns, forcing

    def finite(self) -> bool:
        return bool(np.isfinite(self.columns).all() and np.isfinite(self.forcing).all())

    def matrix(self) -> np.ndarray:
        return self.columns.T

    def __call__(self, s: np.ndarray) -> np.ndarray:
        return s @ self.columns + self.forcing

    @classmethod
    def together(cls, points: Sequence[Any]) -> Callable[[np.ndarray], np.ndarray]:
        columns = np.stack([point.columns for point in points])
        forcing = np.stack([point.forcing for point in points])
        return lambda s: s @ columns + forcing


class Sparse(Linear):
    """With the entries of a sparse J."""

    def __init__(
        self, value: np.ndarray, colouring: Colouring, entries: np.ndarray, forcing: np.ndarray
    ):
        self.value, self.colouring = value, colouring
        self.entries, self.forcing = entries, forcing

    def finite(self) -> bool:
        return bool(np.isfinite(self.entries).all() and np.isfinite(self.forcing).all())

    def matrix(self) -> Any:
        return self.colouring.matrix(self.entries)

    def __call__(self, s: np.ndarray) -> np.ndarray:
        by_row = self.entries[self.colouring.by_row]
        return self.colouring.product(by_row, s) + self.forcing

    @classmethod
    def together(cls, points: Sequence[Any]) -> Callable[[np.ndarray], np.ndarray]:
        colouring = points[0].colouring
        if any(point.colouring is not colouring for point in points):
            return Linear.together(points)
        entries = np.stack([point.entries for point in points])[:, np.newaxis, colouring.by_row]
        forcing = np.stack([point.forcing for point in points])
        return lambda s: colouring.product(entries, s) + forcing


class Products(Linear):
    """Without a matrix: each product is a pass of its own."""

    def __init__(self, value: np.ndarray, product: Callable[[np.ndarray], np.ndarray]):
        self.value, self.product = value, product

    def __call__(self, s: np.ndarray) -> np.ndarray:
        return self.product(s)


def together(points: Sequence[Linear]) -> Callable[[np.ndarray], np.ndarray]:
    """The maps of many points as one, of arrays of shape (points, k, n)."""
    kinds = {type(point) for point in points}
    return (kinds.pop() if len(kinds) == 1 else Linear).together(points)
