"""Jacobians with few entries: columns that share no row are found by one tangent.

Curtis, Powell, Reid, On the estimation of sparse Jacobian matrices (1974), with exact tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, NotDifferentiableError, ShapeError
from ..extras import required
from .boundary import inputs_of
from .colouring import coloured
from .forward import basis, push_many

__all__ = ["sparse_jacobian"]

#: How many columns of a Jacobian whose pattern is looked for are computed at a time.
AT_ONCE = 128
#: By how much the entries are moved, relatively, to see which ones are zero by chance.
NEAR = 1e-3


def sparse_jacobian(
    f: Callable[..., Any], sparsity: Any = None, *, chunk_size: int | None = None
) -> SparseJacobian:
    """A function that gives the Jacobian of f by its first argument as a sparse matrix.

    It takes as many tangents as there are groups of columns that share no row, however many
    columns there are. A random direction is carried along, so that an entry which the pattern
    lacks is noticed: a pattern that was found is then looked for again.

    Args:
        f: f(x, *args, **kwargs) of a real array x gives a real array; both are read flat.
        sparsity: the entries that may be other than zero, as a sparse or dense matrix of shape
            (outputs, inputs). None finds them at the first call, by the dense Jacobian at three
            points near x, a few columns at a time.
        chunk_size: how many tangents travel at a time; None: all.

    Returns:
        J(x, *args, **kwargs), a `scipy.sparse.csr_array`, as `least_squares`, `root` and
        `minimize` take it. `J.groups` says how many tangents it takes.

    Raises:
        ShapeError: sparsity has another shape, or lacks an entry.
        NotDifferentiableError: x or f(x) is complex, an integer, or no single array.

    >>> import numpy as np, dualad
    >>> J = dualad.sparse_jacobian(lambda x: x[1:] * x[:-1])
    >>> J(np.array([1.0, 2.0, 3.0])).toarray()
    array([[2., 1., 0.],
           [0., 3., 2.]])
    >>> J.groups
    2
    """
    return SparseJacobian(f, sparsity, chunk_size)


class SparseJacobian:
    """What `sparse_jacobian` gives: a function, and the pattern that it works by."""

    def __init__(self, f: Callable[..., Any], sparsity: Any, chunk_size: int | None):
        if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
            raise ArgumentError(
                f"chunk_size must be None or an integer greater than 0, got {chunk_size!r}"
            )
        self.f, self.chunk_size, self.given = f, chunk_size, sparsity is not None
        self._pattern = _Pattern(sparsity) if self.given else None
        self.__name__ = f"sparse_jacobian({getattr(f, '__name__', 'f')})"

    @property
    def groups(self) -> int | None:
        """How many groups of columns there are; None before the pattern is known."""
        return None if self._pattern is None else self._pattern.groups

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        run = _Run(self.f, x, args, kwargs, self.chunk_size)
        pattern = self._pattern
        if pattern is None or (not self.given and pattern.shape[1] != run.n):
            pattern = self._pattern = found(run)
        jacobian, lacking = pattern.jacobian(run)
        if lacking.size and self.given:
            raise ShapeError(
                f"output {lacking[0]} depends on entries of x of which sparsity says that it "
                f"does not: add them, or leave sparsity out to have the pattern found"
            )
        if lacking.size:
            pattern = self._pattern = found(run, pattern)
            jacobian, _ = pattern.jacobian(run)
        return jacobian


class _Run:
    """The function at one point, pushed along many tangents."""

    def __init__(self, f: Any, x: Any, args: tuple, kwargs: dict, chunk_size: int | None):
        self.f, self.args, self.kwargs, self.chunk_size = f, args, kwargs, chunk_size
        self.inputs, self.trees = inputs_of((x,), ("argument 0",))
        if len(self.inputs) != 1 or np.dtype(self.inputs[0].dtype).kind != "f":
            raise NotDifferentiableError(
                "sparse_jacobian takes one real array as the first argument of f: put several "
                "into one with np.concatenate, and cut them apart inside"
            )
        self.x = np.asarray(self.inputs[0].value)
        self.n = self.x.size

    def call(self, x: Any) -> Any:
        return self.f(x, *self.args, **self.kwargs)

    def push(self, seeds: np.ndarray, x: np.ndarray | None = None) -> np.ndarray:
        """The derivative of the flat output along each row of seeds, shape (rows, m)."""
        step = self.chunk_size or max(1, len(seeds))
        return np.concatenate(
            [self._push(seeds[i : i + step], x) for i in range(0, len(seeds), step)]
        )

    def _push(self, seeds: np.ndarray, x: np.ndarray | None) -> np.ndarray:
        inputs, trees = self.inputs, self.trees
        if x is not None:
            inputs, trees = inputs_of((x,), ("argument 0",))
        rows = seeds.astype(self.x.dtype).reshape(len(seeds), *self.x.shape)
        tangents = push_many(self.call, inputs, trees, [rows], len(seeds))[1]
        if len(tangents) != 1 or np.dtype(tangents[0].dtype).kind != "f":
            raise NotDifferentiableError(
                "sparse_jacobian takes a function of which the output is one real array: put "
                "several into one with np.concatenate"
            )
        return np.asarray(tangents[0]).reshape(len(seeds), -1)


class _Pattern:
    """Which entries there are, and the columns in groups of which no two share a row."""

    def __init__(self, entries: Any):
        sparse = required("scipy.sparse", "sparse_jacobian", "pip install scipy")
        self.entries = sparse.csc_array(sparse.csc_array(entries) != 0)
        self.entries.sort_indices()
        self.shape = self.entries.shape
        n = self.shape[1]
        self.colour = coloured(self.entries)
        self.groups = int(self.colour.max(initial=-1)) + 1
        self.columns = np.repeat(np.arange(n), np.diff(self.entries.indptr))
        probe = np.random.default_rng(20).uniform(0.5, 1.5, n)
        self.seeds = np.zeros((self.groups + 1, n))
        self.seeds[self.colour, np.arange(n)] = 1.0
        self.seeds[-1] = self.probe = probe

    def jacobian(self, run: _Run) -> tuple[Any, np.ndarray]:
        """The matrix, and the rows that have entries outside of the pattern."""
        if self.shape[1] != run.n:
            raise ShapeError(
                f"sparsity has shape {self.shape}; it must have one column for each of the "
                f"{run.n} entries of x"
            )
        rows = run.push(self.seeds)
        if self.shape[0] != rows.shape[1]:
            raise ShapeError(
                f"sparsity has shape {self.shape}; it must have one row for each of the "
                f"{rows.shape[1]} entries of f(x)"
            )
        at, m = self.entries.indices, rows.shape[1]
        values = rows[self.colour[self.columns], at]
        terms, moved = values * self.probe[self.columns], rows[-1]
        size = np.bincount(at, abs(terms), m) + abs(moved)
        expected = np.bincount(at, terms, m)
        with np.errstate(invalid="ignore"):
            off = abs(moved - expected) > np.finfo(rows.dtype).eps ** 0.6 * size
        off |= np.isfinite(moved) != np.isfinite(expected)
        sparse = required("scipy.sparse", "sparse_jacobian", "pip install scipy")
        matrix = sparse.csc_array((values, at.copy(), self.entries.indptr.copy()), self.shape)
        return matrix.tocsr(), np.flatnonzero(off)


def found(run: _Run, known: _Pattern | None = None) -> _Pattern:
    """The pattern at x and at two points near it, with the entries that are known."""
    sparse = required("scipy.sparse", "sparse_jacobian", "pip install scipy")
    rng = np.random.default_rng(7)
    scale = NEAR * (abs(run.x) + abs(run.x).max(initial=0.0) + NEAR)
    points = [None, *(run.x + scale * s * rng.random(run.x.shape) for s in (1.0, -1.0))]
    parts = []
    for lo in range(0, run.n, AT_ONCE):
        (seeds,) = basis([np.zeros(run.n)], lo, min(lo + AT_ONCE, run.n))
        columns = np.any([run.push(seeds, x) != 0 for x in points], axis=0)
        parts.append(sparse.csc_array(columns.T))
    whole = sparse.hstack(parts, format="csc")
    return _Pattern(whole if known is None else whole + known.entries)
