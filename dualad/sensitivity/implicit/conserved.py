"""Conserved totals: what the equations leave undetermined, and the start decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError, ParameterError, unknown_name
from ..extras import extra
from ..given import numbers
from .equations import UserFunction
from .factor import combination, echelon

__all__ = ["Total", "WithTotals", "declared_totals", "found_totals"]

#: How many states are drawn, for each unknown, to see what combinations of rates vanish.
DRAWS = 6
#: Relative to the terms it sums, what a conserved combination may change by rounding.
ROUNDING = 1e-11

Total = tuple[str, Callable[[Any, Any], Any]]


def declared_totals(conserved: Any, user: UserFunction) -> list[Total]:
    """The totals that a user declared, each with a name and c(x, q).

    Args:
        conserved: a mapping of names to weights by unknown, to vectors of weights, or to functions
            c(x, p); or a matrix of weights, one row a total.
        user: the function whose unknowns and parameters they are of.

    Raises:
        ModelError, ParameterError: wrong shapes, or an unknown is not known.
    """
    names = user.unknowns.names
    if isinstance(conserved, Mapping):
        return [(str(name), _total(name, value, user)) for name, value in conserved.items()]
    rows = np.atleast_2d(numbers("conserved", conserved))
    if not np.isfinite(rows).all():
        raise ModelError("the weights of conserved hold NaN or infinity")
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise ModelError(
            f"conserved must be a mapping of names to weights or functions, or a matrix with one "
            f"column for each of the {len(names)} unknowns; got shape {np.shape(conserved)}"
        )
    return [(combination(row, names), _Weighted(row)) for row in rows]


def _total(name: Any, value: Any, user: UserFunction) -> Callable[[Any, Any], Any]:
    if callable(value):
        function = UserFunction(
            value, user.parameters, user.wrt, user.unknowns, user.args, f"the total {name!r}"
        )
        return _Declared(name, function)
    names = user.unknowns.names
    if isinstance(value, Mapping):
        for unknown in value:
            if unknown not in names:
                raise ParameterError(unknown_name("unknown", unknown, names))
        value = [value.get(n, 0.0) for n in names]
    weights = numbers(f"the conserved total {name!r}", value)
    if weights.shape != (len(names),):
        raise ModelError(
            f"the conserved total {name!r} has weights of shape {weights.shape}; there are "
            f"{len(names)} unknowns: {', '.join(names[:8])}"
        )
    return _Weighted(weights)


class _Weighted:
    """The sum of the unknowns with constant weights."""

    def __init__(self, weights: np.ndarray):
        self.weights = weights

    def __call__(self, x: Any, q: Any) -> Any:
        return self.weights @ x


class _Declared:
    """A total that is a function of the user's."""

    def __init__(self, name: Any, function: UserFunction):
        self.name, self.function = name, function

    def __call__(self, x: Any, q: Any) -> Any:
        value = self.function(x, q)
        if value.shape != ():
            raise ModelError(
                f"the conserved total {self.name!r} has shape {value.shape}, not one number"
            )
        return value


def found_totals(user: UserFunction, x0: np.ndarray, q: np.ndarray) -> list[Total]:
    """The weighted sums of the unknowns whose rate vanishes wherever it is evaluated.

    The rates at random states, spread over decades, are the columns of a matrix; its left null
    space holds the weights. They are accepted where they also vanish at states that did not take
    part. Weights may depend on parameters (volumes, say): their derivatives are then those of the
    solution of the linear system that the rates make.
    """
    points, rates = _draws(user, x0, q)
    n = len(x0)
    if len(points) < n + 2:
        return []
    weights = _left_null_space(rates)
    if not len(weights):
        return []
    weights = _rounded(echelon(weights), rates)
    names = user.unknowns.names
    if not _depends_on_parameters(user, points, weights):
        return [(combination(row, names), _Weighted(row)) for row in weights]
    moving = _MovingWeights(user, points, rates, weights)
    return [(combination(row, names), _Moving(moving, i)) for i, row in enumerate(weights)]


def _draws(user: UserFunction, x0: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Random states where the rates are finite, and the rates there as columns of about 1."""
    rng = np.random.default_rng(2024)
    n = len(x0)
    size = np.where(x0 != 0, np.abs(x0), np.abs(x0).max() or 1.0)
    sign = np.where(x0 < 0, -1.0, 1.0)
    points, columns = [], []
    for _ in range(DRAWS * n + 12):
        x = sign * size * 10.0 ** rng.uniform(-2.0, 2.0, n)
        with np.errstate(all="ignore"):
            rate = np.array(user.shaped_like_unknowns(x, q), float)
        largest = np.abs(rate).max()
        if np.isfinite(rate).all() and largest > 0:
            points.append(x)
            columns.append(rate / largest)
    return np.array(points), np.array(columns).T


def _left_null_space(rates: np.ndarray) -> np.ndarray:
    """Rows w with w @ rates = 0, each rate in units of its own."""
    scale = np.abs(rates).max(axis=1)
    unit = np.where(scale > 0, scale, 1.0)
    left, sizes, _ = np.linalg.svd(rates / unit[:, np.newaxis])
    rank = int((sizes > ROUNDING * max(sizes[0], 1e-300)).sum())
    return left[:, rank:].T / unit


def _rounded(weights: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """The weights as the small fractions that they are, if they are."""
    near = np.round(weights * 12.0) / 12.0
    close = np.abs(near - weights) <= 1e-9 * np.maximum(np.abs(weights), 1e-3)
    simple = np.where(close, near, weights)
    terms = np.abs(simple) @ np.abs(rates)
    fits = (np.abs(simple @ rates) <= ROUNDING * np.maximum(terms, 1e-300)).all(axis=1)
    return np.where(fits[:, np.newaxis], simple, weights)


def _depends_on_parameters(user: UserFunction, points: np.ndarray, weights: np.ndarray) -> bool:
    """Whether the same weights fail for other values of the parameters that move."""
    q = np.array([user.parameters[name] for name in user.wrt])
    rng = np.random.default_rng(7)
    moved = np.where(q != 0, q * rng.uniform(1.05, 1.3, len(q)), rng.uniform(0.05, 0.3, len(q)))
    for x in points[:8]:
        with np.errstate(all="ignore"):
            rate = np.array(user.shaped_like_unknowns(x, moved), float)
        if not np.isfinite(rate).all():
            continue
        if (np.abs(weights @ rate) > 1e-8 * (np.abs(weights) @ np.abs(rate))).any():
            return True
    return False


class _MovingWeights:
    """The weights as a function of the parameters: w = (I, G) with G' F_free = -F_fixed.

    F are the rates at as many states as there are free rows, chosen so that F_free is regular.
    """

    def __init__(
        self, user: UserFunction, points: np.ndarray, rates: np.ndarray, weights: np.ndarray
    ):
        n = rates.shape[0]
        self.user = user
        self.fixed = [int(np.flatnonzero(row)[0]) for row in weights]
        self.free = [i for i in range(n) if i not in self.fixed]
        pivots = extra("scipy.linalg").qr(rates[self.free], pivoting=True)[2]
        self.states = points[pivots[: len(self.free)]]
        self.eye = np.eye(n)

    def __call__(self, q: Any) -> Any:
        rates = np.stack([self.user.shaped_like_unknowns(x, q) for x in self.states], axis=1)
        others = np.linalg.solve(rates[self.free].T, rates[self.fixed].T).T
        return self.eye[self.fixed] - others @ self.eye[self.free]


class _Moving:
    """The sum of the unknowns with weights that depend on the parameters."""

    def __init__(self, weights: _MovingWeights, row: int):
        self.weights, self.row = weights, row

    def __call__(self, x: Any, q: Any) -> Any:
        return self.weights(q)[self.row] @ x


class WithTotals:
    """The equations with one row more for each total: its value is that at the start."""

    def __init__(self, user: UserFunction, totals: Sequence[Total]):
        self.user, self.totals = user, tuple(totals)
        self.names = user.unknowns.names + tuple(f"the total {name}" for name, _ in totals)

    def __call__(self, x: Any, q: Any) -> Any:
        user = self.user
        if not self.totals:
            return user.shaped_like_unknowns(x, q)
        start = user.unknowns.start_at(user.seen(q))
        more = [c(x, q) - c(start, q) for _, c in self.totals]
        return np.concatenate([user.shaped_like_unknowns(x, q), np.stack(more)])
