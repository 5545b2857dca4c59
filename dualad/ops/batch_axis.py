"""The batch axis of the arguments of a batching rule: how long it is, and in front of each."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["batch_size", "with_batch_axis"]


def with_batch_axis(x: Any, mine: bool, n: int, ndim: int | None = None) -> Any:
    """x with the batch axis in front, and `ndim` axes behind it."""
    if ndim is not None and x.ndim - mine < ndim:
        x = np.reshape(x, x.shape[:mine] + (1,) * (ndim + mine - x.ndim) + x.shape[mine:])
    return x if mine else np.broadcast_to(x, (n, *x.shape))


def batch_size(args: tuple, mine: tuple) -> int:
    """How many entries the batch has: mine says which arguments carry it."""
    return next(a.shape[0] for a, m in zip(args, mine, strict=True) if m)
