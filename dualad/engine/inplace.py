"""Writing on the NumPy face: assignment, augmented assignment, out=, and views that follow.

Values are never changed in place. A traced array that is written to *becomes* the new value; its
views are read from it again, and what is written through a view is written to its base.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import LostDerivativeError, ShapeError
from .traced import BOTTOM, FUNCTIONS, Buffer, TracedArray, as_operand, frozen, raw, ufunc_rule

__all__ = ["augmented", "become", "frozen", "link", "store", "ufunc_with_keywords", "write"]


def become(array: TracedArray, value: Any) -> None:
    """Turn a traced array into another value, which may belong to another level."""
    if isinstance(value, TracedArray):
        array.__class__ = type(value)
        array.level, array.primal, array.tangent = value.level, value.primal, value.tangent
    else:
        array.__class__ = Buffer
        array.level, array.primal, array.tangent = BOTTOM, value, None


def link(base: TracedArray, view: Any, read: Callable, put: Callable) -> Any:
    """Make `view` a view of `base`: its value is read(base), and put(base, value) writes to it."""
    if isinstance(view, TracedArray) and holds_array(view):
        view._base = (base, read, put)
        try:
            views = base._views
        except AttributeError:
            views = base._views = []
        views.append(weakref.ref(view))
        n = len(views)
        if n >= 64 and n & (n - 1) == 0:
            base._views = [ref for ref in views if ref() is not None]
    return view


def holds_array(x: TracedArray) -> bool:
    """Whether x stands for an array, which can be written to, and not for a NumPy scalar."""
    if x.shape:
        return True
    value = raw(x)
    return type(value) is np.ndarray and value.ndim == 0


def write(array: TracedArray, value: Any) -> None:
    """Give an array a new value: its base changes with it, and all views of that."""
    try:
        base, _, put = array._base
    except AttributeError:
        become(array, value)
        _refresh(array)
        return
    write(base, put(frozen(base), value))


def _refresh(base: TracedArray) -> None:
    try:
        views = base._views
    except AttributeError:
        return
    alive = []
    for ref in views:
        view = ref()
        if view is not None:
            become(view, view._base[1](frozen(base)))
            _refresh(view)
            alive.append(ref)
    base._views = alive


def augmented(operation: Callable[..., Any], array: Any, other: Any) -> Any:
    """array op= other: in place for arrays, a new value for scalars, as NumPy does."""
    out = operation(array, other)
    return store(array, out) if holds_array(array) else out


def store(target: Any, value: Any) -> Any:
    """Write a whole value into an output array; return that array."""
    if not isinstance(target, TracedArray):
        raise LostDerivativeError(
            "a traced result cannot be stored into a plain ndarray (out=, or an augmented "
            "assignment to one): make the buffer with np.zeros_like(x) of a traced x, or with "
            "dualad.numpy.zeros."
        )
    if value.shape != target.shape:
        raise ShapeError(
            f"non-broadcastable output operand with shape {target.shape} doesn't match the "
            f"broadcast shape {value.shape}"
            if np.broadcast_shapes(value.shape, target.shape) != target.shape
            else f"cannot store shape {value.shape} into an array of shape {target.shape}"
        )
    if value.dtype != target.dtype:
        if not np.can_cast(value.dtype, target.dtype, "same_kind"):
            raise np.exceptions.DTypePromotionError(
                f"cannot cast the result from {value.dtype} to {target.dtype} in place"
            )
        value = value.astype(target.dtype)
    write(target, value)
    return target


def ufunc_with_keywords(ufunc: Any, method: str, inputs: tuple, kwargs: dict) -> Any:
    """ufunc calls with out=, where=, dtype= and the keywords of reductions."""
    out = kwargs.pop("out", None)
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(out, tuple):
        raise LostDerivativeError(f"{ufunc.__name__} with several outputs does not take out=.")
    kwargs = {k: v for k, v in kwargs.items() if not (k == "casting" and v == "same_kind")}
    inputs = tuple(map(as_operand, inputs))
    if method != "__call__":
        result = ufunc_rule(ufunc, method)(*inputs, **kwargs)
    else:
        where, dtype = kwargs.pop("where", True), kwargs.pop("dtype", None)
        if kwargs:
            raise TypeError(f"{ufunc.__name__} on traced arrays does not take {sorted(kwargs)}")
        if dtype is not None:
            inputs = tuple(
                a.astype(dtype) if hasattr(a, "astype") else np.asarray(a, dtype) for a in inputs
            )
        if not any(isinstance(a, TracedArray) for a in inputs):
            result = ufunc(*inputs)
        else:
            result = ufunc_rule(ufunc)(*inputs)
        if where is not True:
            if out is None:
                raise LostDerivativeError(
                    f"{ufunc.__name__}(..., where=mask) without out= leaves entries undefined: "
                    f"pass out= a traced buffer, or use np.where(mask, f(x), other)."
                )
            result = FUNCTIONS[np.where](
                where, result, frozen(out) if isinstance(out, TracedArray) else out
            )
    return result if out is None else store(out, result)
