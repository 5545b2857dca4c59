"""Entries by traced index arrays: `gather`, its transpose `scatter_at`, and `set_at`.

The index may differ from one entry of a batch to the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import Opaque
from .batch_axis import batch_size, with_batch_axis
from .getitem import last_writer

__all__ = ["gather", "scatter_at", "set_at"]


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
