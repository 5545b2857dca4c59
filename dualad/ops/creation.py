"""New arrays: from sizes, from values, from other arrays.

NumPy asks for these rules where it is told to make an array `like` a traced one, and so does the
drop-in namespace. Fresh floating arrays are buffers, which take traced values by assignment.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.buffer import Buffer, buffer
from ..engine.levels.traced import TracedArray, raw
from ..engine.levels.values import stack_objects
from .constants import plain
from .registry import CONSTANT, function
from .views import in_order

__all__ = ["holds_traced"]


# --- of given size, or read from somewhere -------------------------------------------------------


def _fresh(f: Any, make: Any = None) -> None:
    """NumPy's function, its result a buffer."""
    make = make or f

    @function(f, result=CONSTANT)
    def rule(*args: Any, **kwargs: Any) -> Any:
        return buffer(make(*args, **kwargs))


for _f in (
    np.zeros, np.ones, np.eye, np.identity, np.tri,
    np.frombuffer, np.fromfile, np.fromstring, np.genfromtxt, np.loadtxt,
):  # fmt: skip
    _fresh(_f)
# What is in memory by chance may be a NaN.
_fresh(np.empty, np.zeros)


@function(np.full)
def np_full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None
) -> Any:
    """One value everywhere, which keeps its derivative."""
    fill = np_asarray(fill_value, dtype)
    if isinstance(fill, TracedArray) and not isinstance(fill, Buffer):
        return in_order(np.copy(np.broadcast_to(fill, shape)), order)
    return buffer(np.full(shape, raw(fill), order=order))


@function(np.arange)
def np_arange(
    start_or_stop: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Any:
    """start + k step; how many there are carries no derivative."""
    start, stop = (0, start_or_stop) if stop is None else (start_or_stop, stop)
    ends = [plain(v, "an end or a step of np.arange") for v in (start, stop, step)]
    numbers: list[Any] = [v[()] if isinstance(v, np.ndarray) else v for v in ends]
    out = np.arange(*numbers, dtype=dtype)
    if not isinstance(start, TracedArray) and not isinstance(step, TracedArray):
        return buffer(out)
    return (start + step * np.arange(len(out))).astype(out.dtype)


@function(np.fromfunction)
def np_fromfunction(f: Callable[..., Any], shape: Any, *, dtype: Any = float, **kw: Any) -> Any:
    """A function of the indices."""
    out = f(*np.indices(shape, dtype=dtype), **kw)
    return buffer(out) if isinstance(out, np.ndarray) else out


@function(np.fromiter)
def np_fromiter(iter: Any, dtype: Any, count: int = -1) -> Any:
    """The values that an iterator gives."""
    values = list(iter if count < 0 else itertools.islice(iter, count))
    return np_array(values, dtype) if holds_traced(values) else buffer(np.fromiter(values, dtype))


# --- from values ---------------------------------------------------------------------------------


def holds_traced(x: Any) -> bool:
    """Whether traced values are in nested lists, tuples and object arrays."""
    if isinstance(x, TracedArray):
        return True
    if isinstance(x, (list, tuple)) or (isinstance(x, np.ndarray) and x.dtype == object):
        return any(map(holds_traced, x.flat if isinstance(x, np.ndarray) else x))
    return False


@function(np.array)
def np_array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    **more: Any,
) -> Any:
    """An array of numbers, traced or not; by default a copy."""
    if not holds_traced(object):
        out = np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **more)
        return out if isinstance(object, np.ndarray) and not copy else buffer(out)
    out = stack_objects(object)
    if dtype is not None and np.dtype(dtype) != out.dtype:
        out = out.astype(dtype)
    elif copy and out is object:
        out = np.copy(out)
    out = np.reshape(out, (1,) * (ndmin - out.ndim) + out.shape)
    return in_order(out, order)


@function(np.asarray, np.asanyarray)
def np_asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None
) -> Any:
    """A traced array is itself, unless it is asked for in another dtype."""
    return np_array(a, dtype, copy=copy, order=order or "K")


@function(np.ascontiguousarray)
def np_ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """An array of at least one axis whose entries lie in C order."""
    return np.atleast_1d(np_asarray(a, dtype, "C"))


@function(np.asfortranarray)
def np_asfortranarray(a: Any, dtype: Any = None) -> Any:
    """An array of at least one axis whose entries lie in Fortran order."""
    return np.atleast_1d(np_asarray(a, dtype, "F"))


@function(np.require)
def np_require(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    """An array in the memory order that is required."""
    wanted = {str(r).upper()[0] for r in requirements or ()}
    return np_asarray(a, dtype, "F" if "F" in wanted else "C" if "C" in wanted else None)


@function(np.asarray_chkfinite)
def np_asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """An array without NaN and infinity."""
    a = np_asarray(a, dtype, order)
    if not np.all(np.isfinite(raw(a))):
        raise ValueError("array must not contain infs or NaNs")
    return a
