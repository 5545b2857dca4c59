"""Entries by index: x[key], and the array x[key] = v leaves behind.

Two trios of linear operations carry them, each a read, the transpose of it, and a write: those of
`getitem` for indices that are plain values, those of `gather` for index arrays that are themselves
traced (one index per entry of a batch).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..engine.fast_paths.items import is_integer
from ..engine.levels.traced import TracedArray
from ..engine.levels.values import as_operand
from ..engine.primitives.inplace import link
from ..errors import LostDerivativeError
from .gather import gather, scatter_at, set_at
from .getitem import getitem, index_set, scatter
from .keys import FULL, adjacent, advanced, is_array, is_truth, normal_index, shape_at

__all__ = ["accumulated", "index", "replaced"]


# --- x[key] ----------------------------------------------------------------------------------


def index(x: Any, key: Any) -> Any:
    """x[key], where x or the key is traced; the result of a basic index is a view."""
    kind = type(key)
    if kind is slice or (kind is int and x.ndim > 0):
        return _view(x, (key,) + (FULL,) * (x.ndim - 1))
    if is_truth(key):
        new = getitem(x, index=(None,) + (FULL,) * x.ndim)
        return new if key else index(new, slice(0))
    normal = normal_index(key, x.shape)
    if any(isinstance(k, TracedArray) for k in normal):
        return _read(x, _Moved(normal))
    if any(isinstance(k, np.ndarray) for k in normal):
        return getitem(x, index=normal)
    return _view(x, normal)


def _view(x: Any, basic: tuple) -> Any:
    out = getitem(x, index=basic)
    if is_integer(basic):
        return out
    return link(x, out, partial(getitem, index=basic), partial(index_set, index=basic))


class _Moved:
    """An index with traced arrays, as a basic index, then a transposition, then a gather."""

    def __init__(self, index: tuple):
        apart = not adjacent(advanced(index))
        index = tuple(k for k in index if k is not Ellipsis)
        at = advanced(index)
        arrays = [index[n] if is_array(index[n]) else np.asarray(index[n]) for n in at]
        self.arrays = np.stack(np.broadcast_arrays(*arrays))
        self.basic = tuple(FULL if n in at else k for n, k in enumerate(index))
        rest = [n for n in range(len(index)) if n not in at]
        self.front = tuple(at + rest)
        self.back = tuple(np.argsort(self.front).tolist())
        selected = self.arrays.ndim - 1
        self.place = 0 if apart else at[0]
        self.selected = tuple(range(selected))
        self.placed = tuple(range(self.place, self.place + selected))

    def spread(self, v: Any, front: tuple) -> Any:
        """v, broadcast to what is selected, with the axes of the index arrays first."""
        chosen, rest = self.arrays.shape[1:], front[self.arrays.shape[0] :]
        target = (*rest[: self.place], *chosen, *rest[self.place :])
        v = np.broadcast_to(_trimmed(v, len(target)), target)
        return np.moveaxis(v, self.placed, self.selected)


def _read(x: Any, moved: _Moved) -> Any:
    part = np.transpose(x[moved.basic], moved.front)
    return np.moveaxis(gather(part, moved.arrays), moved.selected, moved.placed)


# --- x[key] = v ------------------------------------------------------------------------------


def replaced(x: Any, key: Any, v: Any) -> Any:
    """The array that x[key] = v leaves behind."""
    v = _as_stored(x, v)
    if is_truth(key):
        return index_set(x, _trimmed(v, x.ndim), index=(FULL,) * x.ndim) if key else x
    normal = normal_index(key, x.shape)
    if any(isinstance(k, TracedArray) for k in normal):
        return _replaced(x, _Moved(normal), v)
    if v.ndim:
        v = _trimmed(v, len(shape_at(x.shape, normal)))
    return index_set(x, v, index=normal)


def _replaced(x: Any, moved: _Moved, v: Any) -> Any:
    part = np.transpose(x[moved.basic], moved.front)
    part = set_at(part, moved.spread(v, part.shape), moved.arrays)
    return index_set(x, np.transpose(part, moved.back), index=moved.basic)


def accumulated(shape: tuple, key: Any, v: Any) -> Any:
    """Zeros of a shape with v added at a key, repeated indices one after the other."""
    normal = normal_index(key, shape)
    if not any(isinstance(k, TracedArray) for k in normal):
        return scatter(np.broadcast_to(v, shape_at(shape, normal)), index=normal, shape=shape)
    moved = _Moved(normal)
    basic = shape_at(shape, moved.basic)
    front = tuple(basic[k] for k in moved.front)
    part = scatter_at(moved.spread(v, front), moved.arrays, shape=front)
    return scatter(np.transpose(part, moved.back), index=moved.basic, shape=shape)


def _trimmed(v: Any, ndim: int) -> Any:
    """v without leading axes of length one that the place it is written to does not have."""
    extra = v.ndim - ndim
    if extra > 0 and v.shape[:extra] == (1,) * extra:
        return np.reshape(v, v.shape[extra:])
    return v


def _as_stored(x: Any, v: Any) -> Any:
    """v as NumPy stores it in x: in the dtype of x."""
    v = as_operand(v)
    if not isinstance(v, TracedArray):
        return v if isinstance(v, np.ndarray) else np.asarray(v)
    have, want = np.dtype(v.dtype), np.dtype(x.dtype)
    if want.kind not in "fc" and have.kind in "fc":
        raise LostDerivativeError(
            f"storing a traced {have} in an array of dtype {want} would drop its derivative: make "
            f"the array with a floating dtype, or store dualad.stop_gradient(v).astype({want})."
        )
    return v if have == want else v.astype(want)
