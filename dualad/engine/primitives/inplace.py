"""Writing on the NumPy face: assignment, augmented assignment, out=, and views that follow.

Values are never changed in place. A traced array that is written to *becomes* the new value; its
views are read from it again, and what is written through a view is written to its base.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from ...errors import LostDerivativeError, ShapeError
from ..levels.buffer import BOTTOM, Buffer, frozen
from ..levels.traced import SLOT, TracedArray, memory_of
from .shape import BOUND

__all__ = ["augmented", "become", "frozen", "link", "link_part", "prune", "store", "write"]


def become(array: TracedArray, value: Any) -> None:
    """Turn a traced array into another value, which may belong to another level."""
    if isinstance(value, TracedArray):
        if value.waits:
            value.general()
        array.__class__ = type(value)
        array.level, array.primal, array.tangent = value.level, SLOT.__get__(value), value.tangent
    else:
        array.__class__ = Buffer
        array.level, array.primal, array.tangent = BOTTOM, value, None


def link(base: TracedArray, view: Any, read: Callable, put: Callable) -> Any:
    """Make `view` a view of `base`: its value is read(base), and put(base, value) writes to it."""
    if isinstance(view, TracedArray) and view is not base and holds_array(base):
        view._base = (base, read, put)
        _follow(base, view)
    return view


def link_part(base: TracedArray, view: TracedArray, index: tuple) -> TracedArray:
    """The same for base[index], where base has an axis and the index is basic: with less work."""
    view._base = (base, None, index)
    views = getattr(base, "_views", None)  # quick where it is set, if only to None
    if views is None:
        base._views = [ref(view)]
    else:
        views.append(ref(view))
        if len(views) & 63 == 0:
            prune(base)
    return view


def _follow(base: TracedArray, view: TracedArray) -> None:
    """Let a view be read again when its base is written to."""
    views = getattr(base, "_views", None)
    if views is None:
        base._views = [ref(view)]
        return
    views.append(ref(view))
    prune(base)


def prune(base: TracedArray) -> None:
    """Forget the views that are gone, each time that there are twice as many."""
    n = len(base._views)
    if n >= 64 and n & (n - 1) == 0:
        base._views = [view for view in base._views if view() is not None]


def holds_array(x: TracedArray) -> bool:
    """Whether x stands for an array, which can be written to, and not for a NumPy scalar."""
    if x.shape or getattr(x, "_base", None) is not None:
        return True
    value = memory_of(x)
    return type(value) is np.ndarray and value.ndim == 0


def write(array: TracedArray, value: Any) -> None:
    """Give an array a new value: its base changes with it, and all views of that."""
    try:
        base, read, put = array._base
    except AttributeError:
        if layout(value) != layout(array):
            value = BOUND["index_set"](frozen(array), value, index=(...,))
        become(array, value)
        _refresh(array)
        return
    if read is None:
        write(base, BOUND["index_set"](frozen(base), value, index=put))
    else:
        write(base, put(frozen(base), value))


def layout(x: Any) -> tuple | None:
    """How the entries lie in memory: the steps of the axes longer than one, in entries.

    A write leaves it as it is; it decides which reshapes are views. None for a linear variable,
    which has no memory, and for an array without entries.
    """
    value = memory_of(x)
    if not isinstance(value, np.ndarray) or not x.size:
        return None
    lead = value.ndim - x.ndim
    batch = list(zip(map(abs, value.strides[:lead]), value.shape[:lead], strict=True))
    return tuple(
        [
            # A batch axis inside of this one lengthens its step.
            s // (value.itemsize * math.prod(m for step, m in batch if 0 < step < abs(s)))
            for s, n in zip(value.strides[lead:], x.shape, strict=True)
            if n != 1
        ]
    )


def _refresh(base: TracedArray) -> None:
    views = getattr(base, "_views", None)
    if views is None:
        return
    alive = []
    for reference in views:
        view = reference()
        if view is not None:
            _, read, index = view._base
            now = frozen(base)
            become(view, BOUND["getitem"](now, index=index) if read is None else read(now))
            _refresh(view)
            alive.append(reference)
    base._views = alive


def augmented(operation: Callable[..., Any], array: Any, other: Any) -> Any:
    """array op= other: in place for arrays, a new value for scalars, as NumPy does."""
    out = operation(array, other)
    return store(array, out) if holds_array(array) else out


def not_a_buffer() -> LostDerivativeError:
    """The error for a traced value on its way into a plain array."""
    return LostDerivativeError(
        "a traced result cannot be stored into a plain ndarray (out=, or an augmented "
        "assignment to one): make the buffer with np.zeros_like(x) of a traced x, or with "
        "dualad.numpy.zeros."
    )


def store(target: Any, value: Any, casting: Any = "same_kind") -> Any:
    """Write a whole value into an output array; return that array."""
    if not isinstance(target, TracedArray):
        raise not_a_buffer()
    if value.shape != target.shape:
        raise ShapeError(
            f"non-broadcastable output operand with shape {target.shape} doesn't match the "
            f"broadcast shape {value.shape}"
            if np.broadcast_shapes(value.shape, target.shape) != target.shape
            else f"cannot store shape {value.shape} into an array of shape {target.shape}"
        )
    if value.dtype != target.dtype:
        if not np.can_cast(value.dtype, target.dtype, casting):
            raise np.exceptions.DTypePromotionError(
                f"cannot cast the result from {value.dtype} to {target.dtype} in place"
            )
        value = value.astype(target.dtype)
    write(target, value)
    return target
