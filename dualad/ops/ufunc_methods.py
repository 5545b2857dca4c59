"""reduce, accumulate, reduceat, outer and at of every ufunc that has a rule.

Sums, products and extrema state theirs in files of their own. All others are what the names say:
the ufunc, applied to one slice after another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..engine.levels.missing import name_of
from ..engine.levels.protocols import plain_rule
from ..engine.levels.rules import GENERAL
from ..engine.levels.traced import TracedArray
from ..engine.levels.values import as_operand
from ..engine.primitives.inplace import not_a_buffer, store
from ..engine.primitives.primitive import Opaque
from .constants import plain
from .operands import array_of
from .reduce import all_axes, finish, given, prepared
from .structure import axis_of

__all__: list[str] = []

#: Ufuncs without an identity whose result does not depend on the order of what they reduce.
REORDERABLE = (np.maximum, np.minimum, np.fmax, np.fmin)


def general(method: str, inputs: tuple[int, ...] = (2,)) -> Callable[[Any], Any]:
    """The decorated function handles a method of every ufunc that has a rule for plain calls."""

    def register(f: Any) -> Any:
        def rule_of(u: Any) -> Callable[..., Any] | None:
            if u.nin not in inputs or u.nout != 1 or u.signature or plain_rule(u) is None:
                return None
            return partial(f, u)

        GENERAL[method] = rule_of
        return f

    return register


def _constant(u: np.ufunc, method: str) -> Opaque | None:
    """NumPy's own method where the ufunc, and so the result, has no derivative."""
    rule = plain_rule(u)
    if not isinstance(rule, Opaque):
        return None
    key = (u, method)
    if key not in _constants:
        _constants[key] = Opaque(getattr(u, method), name=f"{rule.name}.{method}", builtin=False)
    return _constants[key]


_constants: dict[tuple[np.ufunc, str], Opaque] = {}


# --- outer ---------------------------------------------------------------------------------------


@general("outer")
def outer(u: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    """Every entry of a with every entry of b."""
    a, b = array_of(a), array_of(b)
    return u(np.reshape(a, a.shape + (1,) * b.ndim), b, **options)


# --- reduce --------------------------------------------------------------------------------------


@general("reduce")
def reduce(
    u: np.ufunc,
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    """u(u(u(initial, a[0]), a[1]), ...) along axes."""
    if constant := _constant(u, "reduce"):
        options = {} if initial is np._NoValue else {"initial": initial}
        return constant(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where, **options)
    a = prepared(a, dtype, True, None)
    axes = all_axes(axis, a.ndim) if a.ndim else ()
    if len(axes) > 1 and u.identity is None and u not in REORDERABLE:
        raise ValueError(
            f"reduction operation '{u.__name__}' is not reorderable, so at most one axis may be "
            f"specified"
        )
    rest = tuple(n for k, n in enumerate(a.shape) if k not in axes)
    rows = _rows(a, axes, rest)
    mask = None if where is True else _rows(np.broadcast_to(where, a.shape), axes, rest)
    result, start = _first(u, rows, initial, mask is not None)
    for k in range(start, rows.shape[0]):
        new = u(result, rows[k])
        result = new if mask is None else np.where(mask[k], new, result)
    return finish(np.broadcast_to(result, rest), a, axes, keepdims, None)


def _rows(a: Any, axes: tuple[int, ...], rest: tuple[int, ...]) -> Any:
    """a with the axes to reduce made one, the first."""
    moved = np.moveaxis(a, axes, tuple(range(len(axes))))
    n = 1
    for k in axes:
        n *= a.shape[k]
    return np.reshape(moved, (n, *rest))


def _first(u: np.ufunc, rows: Any, initial: Any, masked: bool) -> tuple[Any, int]:
    """The value to begin with, and the first row that is still to be taken in."""
    start = u.identity if initial is np._NoValue else initial
    if given(start):
        return np.asarray(start, rows.dtype) if np.isscalar(start) else start, 0
    if masked:
        raise ValueError(
            f"reduction operation '{u.__name__}' does not have an identity, so to use a where "
            f"mask one has to specify 'initial'"
        )
    if rows.shape[0] == 0:
        raise ValueError(
            f"zero-size array to reduction operation {u.__name__} which has no identity"
        )
    return rows[0], 1


# --- accumulate, reduceat ------------------------------------------------------------------------


def _along(axis: int, key: Any) -> tuple:
    return (*(slice(None),) * axis, key)


@general("accumulate")
def accumulate(u: np.ufunc, a: Any, axis: int = 0, dtype: Any = None) -> Any:
    """The results of reduce over the first 1, 2, 3, ... entries."""
    if constant := _constant(u, "accumulate"):
        return constant(a, axis=axis, dtype=dtype)
    a = prepared(a, dtype, True, None)
    axis = axis_of(axis, a.ndim)
    if a.shape[axis] == 0:
        return a
    results = [a[_along(axis, 0)]]
    for k in range(1, a.shape[axis]):
        results.append(u(results[-1], a[_along(axis, k)]))
    return np.stack(results, axis)


@general("reduceat")
def reduceat(u: np.ufunc, a: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    """Reductions of slices; a start that is not below the next one takes a single entry."""
    if constant := _constant(u, "reduceat"):
        return constant(a, plain(indices, "an index"), axis=axis, dtype=dtype)
    a = prepared(a, dtype, True, None)
    axis = axis_of(axis, a.ndim)
    starts = np.asarray(plain(indices, "an index of reduceat")).tolist()
    ends = [*starts[1:], a.shape[axis]]
    if any(not 0 <= i < a.shape[axis] for i in starts):
        raise IndexError(f"an index of {name_of(u)}.reduceat is out of bounds")
    parts = [
        u.reduce(a[_along(axis, slice(i, j))], axis=axis) if i < j else a[_along(axis, i)]
        for i, j in zip(starts, ends, strict=True)
    ]
    return np.stack(parts, axis)


# --- at ------------------------------------------------------------------------------------------


@general("at", inputs=(1, 2))
def at(u: np.ufunc, a: Any, indices: Any, *operand: Any) -> None:
    """a[indices] = u(a[indices], b) with repeated indices taken one after the other."""
    if not isinstance(a, TracedArray):
        raise not_a_buffer()
    key = indices if isinstance(indices, tuple) else (indices,)
    key = tuple(plain(k, f"an index of {name_of(u)}.at") for k in key)
    places = np.arange(a.size).reshape(a.shape)[key]
    others = [np.ravel(np.broadcast_to(array_of(as_operand(b)), places.shape)) for b in operand]
    flat = np.ravel(a)
    places = np.ravel(places)
    for chosen in _rounds(places):
        entries = u(flat[places[chosen]], *(b[chosen] for b in others))
        new = np.copy(flat)
        new[places[chosen]] = entries.astype(a.dtype)
        flat = new
    store(a, np.reshape(flat, a.shape))


def _rounds(places: np.ndarray) -> list[np.ndarray]:
    """The positions of each place's first occurrence, of its second, ..."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.searchsorted(ordered, ordered)
    turn = np.arange(len(places)) - starts
    return [order[turn == k] for k in range(turn.max(initial=-1) + 1)]
