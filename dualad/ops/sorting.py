"""Sorted order: sort, sort_complex, partition.

The order is decided by values and carries no derivative; equal entries keep theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray, memory_of
from ..engine.primitives.primitive import Opaque
from .getitem import getitem
from .indexing import index
from .operands import flat_if_none
from .registry import function, kinks
from .take import along_axis

__all__: list[str] = []


def _order(x: Any, axis: int) -> Any:
    """The order that sorts x; equal entries keep theirs, by a stable sort where there are any."""
    order = x.argsort(axis)
    if x.ndim == 1:
        ordered = x[order]
    else:
        ordered = np.moveaxis(np.take_along_axis(x, order, axis), axis, -1)
    if (ordered[..., 1:] == ordered[..., :-1]).any():
        return x.argsort(axis, kind="stable")
    return order


sorting_order = Opaque(
    _order,
    batch=lambda args, mine, axis: sorting_order(args[0], axis=axis + 1),
    name="sort",
)


@function(np.sort)
def np_sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    a, axis = flat_if_none(a, axis)
    return _reordered(a, sorting_order, axis, {})


def _reordered(a: Any, order: Opaque, axis: int, params: dict[str, Any]) -> Any:
    """The entries in an order along an axis, which lie in memory as those of NumPy do."""
    if a.ndim > 1 and getattr(getattr(memory_of(a), "flags", None), "fnc", False):
        return np.transpose(_reordered(np.transpose(a), order, a.ndim - 1 - axis, params))
    at = order(a, axis=axis, **params)
    key = along_axis(at, a.shape, axis)
    return index(a, key) if isinstance(at, TracedArray) else getitem(a, index=key)


@function(np.sort_complex)
def np_sort_complex(a: Any) -> Any:
    ordered = np.sort(a)
    return ordered if np.dtype(a.dtype).kind == "c" else ordered + 0j


@function(np.partition)
def np_partition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    a, axis = flat_if_none(a, axis)
    return _reordered(a, partitioning_order, axis, {"kth": kth})


def _partition_order(x: Any, kth: Any, axis: int) -> Any:
    """Where the entries of the partitioned array come from; that of argpartition is another."""
    at = np.empty(x.shape, np.intp)
    parted = np.partition(x, kth, axis).argsort(axis, "stable")
    np.put_along_axis(at, parted, x.argsort(axis, "stable"), axis)
    return at


partitioning_order = Opaque(
    _partition_order,
    batch=lambda args, mine, kth, axis: partitioning_order(args[0], kth=kth, axis=axis + 1),
    name="partition",
)


# --- where a derivative is not unique ------------------------------------------------------------

# Equal entries keep their order.
kinks(
    ("np.sort(x)[0]", "[2.0, 2.0]", "[1.0, 0.0]", "equal entries keep their order"),
    (
        "np.partition(x, 1)[1]",
        "[2.0, 3.0, 1.0]",
        "[1.0, 0.0, 0.0]",
        "the entry that comes to that place",
    ),
)
