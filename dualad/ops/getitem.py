"""Entries by an index of plain values: `getitem`, its transpose `scatter`, and `index_set`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.arrays.memory import F64
from ..engine.levels.spec import Spec
from ..engine.primitives.linear import Linear
from ..engine.primitives.shape import BOUND
from .batch_axis import batch_size, with_batch_axis
from .keys import FULL, is_array, place_of_batch, shape_at

__all__ = ["getitem", "index_set", "scatter"]


def _getitem(x: Any, index: tuple) -> Any:
    return x[index]


def scatter_add(values: Any, index: Any, shape: Any) -> Any:
    """Zeros of the given shape with the values added at an index."""
    out = np.zeros(shape, values.dtype)
    for k in index:
        if isinstance(k, np.ndarray):
            np.add.at(out, index, values)
            return out
    out[index] = values
    return out


def write_at(x: Any, v: Any, index: Any) -> Any:
    """A copy of x with the entries at an index replaced by v."""
    out = np.array(x)
    out[index] = v
    return out


def _add_into(out: np.ndarray, ct: Any, index: tuple) -> None:
    for k in index:
        if is_array(k):
            if out.ndim > 1 and ct.size >= MANY and ct.size >= out.size and is_plain(out, ct):
                # Entries of several axes NumPy adds one by one, those of one axis in a third.
                flat = np.arange(out.size).reshape(out.shape)[index]
                if flat.shape == ct.shape:
                    entries = out.reshape(-1)
                    entries += np.bincount(flat.reshape(-1), ct.reshape(-1), out.size)
                    return
            np.add.at(out, index, ct)
            return
    out[index] += ct


#: From so many entries on it is worth while to look where they belong.
MANY = 512


def is_plain(out: np.ndarray, ct: Any) -> bool:
    return type(ct) is np.ndarray and out.dtype is F64 is ct.dtype and out.flags.c_contiguous


def _getitem_batch(args: tuple, mine: tuple, index: tuple) -> Any:
    out = getitem(args[0], index=(FULL, *index))
    place = place_of_batch(index)
    return np.moveaxis(out, place, 0) if place else out


def _scatter_batch(args: tuple, mine: tuple, index: tuple, shape: tuple) -> Any:
    place = place_of_batch(index)
    values = np.moveaxis(args[0], 0, place) if place else args[0]
    return scatter(values, index=(FULL, *index), shape=(args[0].shape[0], *shape))


def _index_set_batch(args: tuple, mine: tuple, index: tuple) -> Any:
    n = batch_size(args, mine)
    x = with_batch_axis(args[0], mine[0], n)
    v = args[1] if hasattr(args[1], "ndim") else np.asarray(args[1], x.dtype)
    v = with_batch_axis(v, mine[1], n, len(shape_at(x.shape[1:], index)))
    return index_set(x, np.moveaxis(v, 0, place_of_batch(index)), index=(FULL, *index))


def last_writer(shape: tuple, index: Any) -> Any:
    """Which entries of a value written at an index stay: of repeated ones the last."""
    order = np.arange(int(np.prod(shape_at(shape, index)))).reshape(shape_at(shape, index))
    winner = np.empty(shape, order.dtype)
    winner[index] = order
    return winner[index] == order


def _written(ct: Any, x: Any, v: Any, index: tuple) -> Any:
    """The transpose of a write in the value written."""
    share = getitem(ct, index=index)
    if not any(map(is_array, index)):
        return share
    stays = last_writer(x.shape, index)
    return share if stays.all() else np.where(stays, share, np.zeros((), share.dtype))


getitem = Linear(
    _getitem,
    lambda ct, x, index: scatter(ct, index=index, shape=x.shape),
    batch=_getitem_batch,
    spec=lambda x, index: Spec(shape_at(x.shape, index), x.dtype),
    show=lambda x, index: f"{x}[{index}]",
    add_into=_add_into,
    name="getitem",
)
scatter = Linear(
    scatter_add,
    lambda ct, values, index, shape: getitem(ct, index=index),
    batch=_scatter_batch,
    spec=lambda values, index, shape: Spec(shape, values.dtype),
    name="scatter_add",
)
index_set = Linear(
    write_at,
    lambda ct, x, v, index: index_set(ct, np.zeros((), ct.dtype), index=index),
    _written,
    joint=True,
    batch=_index_set_batch,
    spec=lambda x, v, index: Spec(x.shape, x.dtype),
    name="index_set",
)

BOUND.update(getitem=getitem, index_set=index_set)
