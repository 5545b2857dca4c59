"""Discrete convolution and correlation of sequences.

One bilinear primitive over the last axis. Its transposes are convolutions with the other factor
conjugated and reversed, the full one's a valid one and the valid one's a full one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from .operands import array_of
from .products import conj
from .registry import function

__all__ = ["convolution"]


def convolve_last(a: Any, v: Any, mode: Any) -> Any:
    """The convolution along the last axis, other axes broadcast; v is not longer than a."""
    if a.ndim == v.ndim == 1:
        return np.convolve(a, v, mode)
    n, m = a.shape[-1], v.shape[-1]
    shape = np.broadcast_shapes(a.shape[:-1], v.shape[:-1])
    out = np.zeros((*shape, n + m - 1), np.result_type(a, v))
    for k in range(m):
        out[..., k : k + n] += a * v[..., k : k + 1]
    return out if mode == "full" else out[..., m - 1 : n]


def _reversed(x: Any) -> Any:
    return np.flip(conj(x), -1)


def _pull_long(ct: Any, a: Any, v: Any, mode: str) -> Any:
    if mode == "full":
        return convolution(ct, _reversed(v), mode="valid")
    return _full(ct, _reversed(v))


def _pull_short(ct: Any, a: Any, v: Any, mode: str) -> Any:
    if mode == "full":
        return convolution(ct, _reversed(a), mode="valid")
    return np.flip(convolution(conj(a), np.flip(ct, -1), mode="valid"), -1)


def _full(a: Any, v: Any) -> Any:
    return convolution(*((a, v) if a.shape[-1] >= v.shape[-1] else (v, a)), mode="full")


def _spec(a: Any, v: Any, mode: str) -> Spec:
    n, m = a.shape[-1], v.shape[-1]
    length = n + m - 1 if mode == "full" else n - m + 1
    stack = np.broadcast_shapes(a.shape[:-1], v.shape[:-1])
    return Spec((*stack, length), np.result_type(a.dtype, v.dtype))


convolution = Linear(
    convolve_last,
    _pull_long,
    _pull_short,
    batch=lambda args, mine, mode: convolution(*align(args, mine), mode=mode),
    spec=_spec,
    name="convolve",
)


# --- NumPy's names -------------------------------------------------------------------------------


def _checked(a: Any, v: Any, mode: str) -> tuple[Any, Any]:
    a, v = array_of(a), array_of(v)
    a, v = np.reshape(a, (1,)) if a.ndim == 0 else a, np.reshape(v, (1,)) if v.ndim == 0 else v
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    if 0 in (a.shape[0], v.shape[0]):
        raise ValueError("a convolution needs two arrays that are not empty")
    return a, v


@function(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """The convolution of two sequences."""
    a, v = _checked(a, v, mode)
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    if mode != "same":
        return convolution(a, v, mode=mode)
    start = (v.shape[0] - 1) // 2
    return convolution(a, v, mode="full")[start : start + a.shape[0]]


@function(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """The correlation of two sequences; the second is conjugated."""
    a, v = _checked(a, v, mode)
    n, m = a.shape[0], v.shape[0]
    v = _reversed(v)
    if mode != "same":
        return convolution(*((a, v) if n >= m else (v, a)), mode=mode)
    start = (m - 1) // 2 if n >= m else n // 2
    return _full(a, v)[start : start + max(n, m)]
