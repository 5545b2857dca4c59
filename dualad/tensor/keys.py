"""Keys of x[key]: with tensors as plain indices, and whether they select a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .face import deep, operand

__all__ = ["at_entries", "index_key", "is_basic"]


def index_key(key: Any) -> Any:
    """A key with tensors as plain indices."""
    return deep(_index, key)


def _index(k: Any) -> Any:
    k = operand(k)
    if isinstance(k, np.ndarray) and k.ndim == 0 and k.dtype.kind in "iub":
        return k.item()
    return k


def is_basic(key: Any) -> bool:
    """Whether a key selects a view: it holds no arrays, lists or booleans."""
    items = key if isinstance(key, tuple) else (key,)
    return all(
        k is None or k is Ellipsis or isinstance(k, slice)
        or (isinstance(k, (int, np.integer)) and not isinstance(k, bool))
        for k in items
    )  # fmt: skip


def at_entries(key: Any) -> Callable[[Any], Any]:
    """Read a basic key; with an ellipsis one entry of an array is a view of it, not a scalar."""
    items = key if isinstance(key, tuple) else (key,)
    items = items if any(k is Ellipsis for k in items) else (*items, Ellipsis)
    return lambda v: v[items]
