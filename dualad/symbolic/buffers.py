"""Arrays made like a symbolic one, and what NumPy asks of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from .moving import plain
from .tables import handles
from .value import FUNCTIONS, Symbolic, entries_of, symbolic

__all__ = ["buffer_of"]


def buffer_of(value: Any) -> Callable[..., Any]:
    """What np.zeros_like and np.ones_like do."""

    def like(a: Any, dtype: Any = None, *args: Any, shape: Any = None, **kwargs: Any) -> Symbolic:
        out = np.empty(symbolic(a).shape if shape is None else shape, object)
        out[...] = sympy.Integer(value)
        return Symbolic(out)

    return like


FUNCTIONS[np.zeros_like] = FUNCTIONS[np.empty_like] = buffer_of(0)
FUNCTIONS[np.ones_like] = buffer_of(1)


@handles(np.full_like)
def full_like(a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Symbolic:
    out = np.empty(symbolic(a).shape, object)
    out[...] = entries_of(fill_value)
    return Symbolic(out)


@handles(np.copyto)
def copyto(dst: Symbolic, src: Any, casting: Any = None, where: Any = True) -> None:
    dst[...] = src if where is True else FUNCTIONS[np.where](where, src, dst.copy())


@handles(np.fill_diagonal)
def fill_diagonal(a: Symbolic, val: Any, wrap: bool = False) -> None:
    np.fill_diagonal(a.entries, plain(symbolic(val)), wrap)


@handles(np.shape)
def shape(a: Symbolic) -> tuple[int, ...]:
    return a.shape


@handles(np.ndim)
def ndim(a: Symbolic) -> int:
    return a.ndim


@handles(np.size)
def size(a: Symbolic, axis: int | None = None) -> int:
    return a.size if axis is None else a.shape[axis]


@handles(np.result_type)
def result_type(*args: Any) -> np.dtype:
    return np.result_type(*(a.dtype if isinstance(a, Symbolic) else a for a in args))


@handles(np.iscomplexobj)
def iscomplexobj(x: Symbolic) -> bool:
    return x.dtype.kind == "c"


@handles(np.isrealobj)
def isrealobj(x: Symbolic) -> bool:
    return x.dtype.kind != "c"
