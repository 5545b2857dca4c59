"""Entries by index: x[key], and the array x[key] = v leaves behind.

Two trios of linear operations, each a read, the transpose of it, and a write: `getitem`, `scatter`
and `index_set` for indices that are plain values, `gather`, `scatter_at` and `set_at` for index
arrays that are themselves traced (one index per entry of a batch).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..engine.duck import duck_under
from ..engine.inplace import link
from ..engine.items import is_integer
from ..engine.primitive import Linear, Opaque
from ..engine.shape import BOUND, zeros
from ..engine.traced import Spec, TracedArray, as_operand
from ..errors import LostDerivativeError, NotDifferentiableError

__all__ = [
    "accumulated",
    "gather",
    "getitem",
    "index",
    "index_set",
    "replaced",
    "scatter",
    "scatter_at",
    "set_at",
]

FULL = slice(None)


# --- keys ------------------------------------------------------------------------------------


def is_array(k: Any) -> bool:
    return isinstance(k, (np.ndarray, TracedArray))


def normal_index(key: Any, shape: tuple) -> tuple:
    """A key as a tuple of ints, slices, None and integer arrays that speaks of every axis."""
    items: list[Any] = []
    masks: list[tuple[int, tuple]] = []
    for k in key if isinstance(key, tuple) else (key,):
        k = as_index(k) if isinstance(k, list) else k
        if isinstance(k, np.ndarray) and k.dtype.kind == "b":
            masks.append((len(items), k.shape))
        items += _normal(k)
    used = sum(1 for k in items if k is not None and k is not Ellipsis)
    if used > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {used} were "
            f"indexed"
        )
    at = next((n for n, k in enumerate(items) if k is Ellipsis), len(items))
    # An ellipsis that stands for no axis still keeps the index arrays beside it apart.
    rest = [FULL] * (len(shape) - used) or items[at : at + 1]
    full = (*items[:at], *rest, *items[at + 1 :])
    for n, mask in masks:
        _check_mask(full, n if n < at else n + len(full) - len(items), mask, shape)
    return full


def _check_mask(full: tuple, n: int, mask: tuple, shape: tuple) -> None:
    first = sum(k is not None and k is not Ellipsis for k in full[:n])
    for axis, size in enumerate(mask, first):
        if size != shape[axis]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is "
                f"{shape[axis]} but size of corresponding boolean axis is {size}"
            )


def as_index(k: Any) -> Any:
    """A list or object array in a key as the array it stands for."""
    k = as_operand(k)
    return k if is_array(k) else np.asarray(k)


def _normal(k: Any) -> list[Any]:
    if k is None or k is Ellipsis or isinstance(k, slice):
        return [k]
    if isinstance(k, TracedArray) and not (k.ends and k.dtype.kind == "b"):
        return [_traced_index(k)]
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
        return [int(k)]
    k = np.array(k)  # recorded operations keep it, whatever the user writes into it later
    if k.dtype.kind == "b":
        if k.ndim == 0:
            raise IndexError("a 0-d boolean inside an index of a traced array is not supported")
        return list(k.nonzero())
    if k.size == 0 and k.dtype.kind == "f":
        k = k.astype(np.intp)
    if k.dtype.kind not in "iu":
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
            "boolean arrays are valid indices"
        )
    return [int(k) if k.ndim == 0 else k]


def _traced_index(k: TracedArray) -> TracedArray:
    kind = np.dtype(k.dtype).kind
    if kind == "b" and duck_under(k) is not None:
        raise NotDifferentiableError(
            "a boolean mask of a lazy array selects a number of entries that is not known before "
            "it is computed: use np.where(mask, x, 0)."
        )
    if kind == "b":
        raise NotDifferentiableError(
            "a boolean mask that differs from one entry of a batch to the next selects a "
            "different number of elements in each: use np.where(mask, x, 0) under vmap."
        )
    if kind not in "iu":
        raise IndexError(
            f"a traced array of dtype {k.dtype} is not an index: indices are integers"
        )
    return k


def is_truth(key: Any) -> bool:
    """Whether a key is one truth value, which selects all or nothing along a new axis."""
    if isinstance(key, np.ndarray):
        return key.dtype.kind == "b" and key.ndim == 0
    return isinstance(key, (bool, np.bool))


def advanced(index: tuple) -> list[int]:
    """The positions of what NumPy treats as index arrays; integers are, beside an array."""
    if not any(map(is_array, index)):
        return []
    return [n for n, k in enumerate(index) if is_array(k) or isinstance(k, int)]


def adjacent(positions: list[int]) -> bool:
    return positions == list(range(positions[0], positions[-1] + 1))


def place_of_batch(index: tuple) -> int:
    """Where the batch axis ends up when the index is applied behind it.

    Index arrays that are separated by a slice or None put their axes in front of everything.
    """
    at = advanced(index)
    if not at or adjacent(at):
        return 0
    return np.broadcast(*[index[n] for n in at]).ndim


def shape_at(shape: tuple, index: tuple) -> tuple[int, ...]:
    """The shape of x[index] for an x of that shape."""
    return zeros(Spec(shape, np.dtype(bool)))[index].shape


# --- plain indices: getitem, scatter, index_set ----------------------------------------------


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
            np.add.at(out, index, ct)
            return
    out[index] += ct


def _getitem_batch(args: tuple, mine: tuple, index: tuple) -> Any:
    out = getitem(args[0], index=(FULL, *index))
    place = place_of_batch(index)
    return np.moveaxis(out, place, 0) if place else out


def _scatter_batch(args: tuple, mine: tuple, index: tuple, shape: tuple) -> Any:
    place = place_of_batch(index)
    values = np.moveaxis(args[0], 0, place) if place else args[0]
    return scatter(values, index=(FULL, *index), shape=(args[0].shape[0], *shape))


def with_batch_axis(x: Any, mine: bool, n: int, ndim: int | None = None) -> Any:
    """x with the batch axis in front, and `ndim` axes behind it."""
    if ndim is not None and x.ndim - mine < ndim:
        x = np.reshape(x, x.shape[:mine] + (1,) * (ndim + mine - x.ndim) + x.shape[mine:])
    return x if mine else np.broadcast_to(x, (n, *x.shape))


def batch_size(args: tuple, mine: tuple) -> int:
    return next(a.shape[0] for a, m in zip(args, mine, strict=True) if m)


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


# --- traced indices: gather, scatter_at, set_at ----------------------------------------------


def take_at(x: Any, at: Any) -> Any:
    """The entries of x at the integers at[0], at[1], ... along its first axes."""
    return x[tuple(at)]


def add_at(values: Any, at: Any, shape: Any) -> Any:
    """Zeros of the given shape with the values added at the integers `at`."""
    out = np.zeros(shape, values.dtype)
    np.add.at(out, tuple(at), values)
    return out


def put_at(x: Any, v: Any, at: Any) -> Any:
    """A copy of x with the entries at the integers `at` replaced by v."""
    out = np.array(x)
    out[tuple(at)] = v
    return out


def _batched_at(at: Any, mine: bool, n: int) -> Any:
    """Index arrays (k, *sel) as (k + 1, n, *sel): the first of them numbers the batch."""
    at = np.moveaxis(with_batch_axis(at, mine, n), 0, 1)
    row = np.reshape(np.arange(n), (1, n) + (1,) * (at.ndim - 2))
    return np.concatenate([np.broadcast_to(row, (1, *at.shape[1:])), at])


def _gather_batch(args: tuple, mine: tuple) -> Any:
    (x, at), (x_mine, at_mine) = args, mine
    if not x_mine:
        return gather(x, np.moveaxis(at, 0, 1))
    return gather(x, _batched_at(at, at_mine, x.shape[0]))


def _scatter_at_batch(args: tuple, mine: tuple, shape: tuple) -> Any:
    n = batch_size(args, mine)
    values = with_batch_axis(args[0], mine[0], n)
    return scatter_at(values, _batched_at(args[1], mine[1], n), shape=(n, *shape))


def _set_at_batch(args: tuple, mine: tuple) -> Any:
    n = batch_size(args, mine)
    x, v = (with_batch_axis(a, m, n) for a, m in zip(args[:2], mine[:2], strict=True))
    return set_at(x, v, _batched_at(args[2], mine[2], n))


def _gather_spec(x: Any, at: Any) -> Spec:
    return Spec(at.shape[1:] + x.shape[at.shape[0] :], x.dtype)


stays_at = Opaque(lambda at, shape: last_writer(shape, tuple(at)), name="last_writer")


def _written_at(ct: Any, x: Any, v: Any, at: Any) -> Any:
    share = gather(ct, at)
    return np.where(stays_at(at, shape=x.shape), share, np.zeros((), share.dtype))


gather = Linear(
    take_at,
    lambda ct, x, at: scatter_at(ct, at, shape=x.shape),
    None,
    batch=_gather_batch,
    spec=_gather_spec,
    name="gather",
)
scatter_at = Linear(
    add_at,
    lambda ct, values, at, shape: gather(ct, at),
    None,
    batch=_scatter_at_batch,
    spec=lambda values, at, shape: Spec(shape, values.dtype),
    name="scatter_at",
)
set_at = Linear(
    put_at,
    lambda ct, x, v, at: set_at(ct, np.zeros(v.shape, ct.dtype), at),
    _written_at,
    None,
    joint=True,
    batch=_set_at_batch,
    spec=lambda x, v, at: Spec(x.shape, x.dtype),
    name="set_at",
)


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
