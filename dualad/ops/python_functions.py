"""Python functions applied by NumPy: to every entry, along lines, over axes.

np.vectorize and np.frompyfunc call a function with one traced number at a time: right, but slow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..engine.levels.rules import GENERAL
from ..engine.levels.traced import TracedArray, objects
from ..engine.levels.values import stack_objects
from .registry import function
from .structure import axes_of, axis_of

__all__: list[str] = []


# --- entries -------------------------------------------------------------------------------------


def _of_objects(u: np.ufunc) -> Callable[..., Any] | None:
    """The rule of a ufunc of Python objects, which np.frompyfunc makes; no other has this one."""
    if u.types and all(set(loop) <= set("O->") for loop in u.types):
        return partial(_entry_by_entry, u)
    return None


def _entry_by_entry(u: np.ufunc, *inputs: Any) -> Any:
    out = u(*(objects(x) if isinstance(x, TracedArray) else np.asarray(x, object) for x in inputs))
    return tuple(map(stack_objects, out)) if isinstance(out, tuple) else stack_objects(out)


GENERAL["__call__"] = _of_objects


# --- lines, axes ---------------------------------------------------------------------------------


@function(np.apply_along_axis)
def np_apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of lines, its results in the place of the lines."""
    axis = axis_of(axis, arr.ndim)
    lines = np.moveaxis(arr, axis, -1)
    rest = lines.shape[:-1]
    if 0 in rest:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    out = np.stack([func1d(lines[at], *args, **kwargs) for at in np.ndindex(rest)])
    out = np.reshape(out, rest + out.shape[1:])
    new = tuple(range(len(rest), out.ndim))
    return np.moveaxis(out, new, tuple(range(axis, axis + len(new))))


@function(np.apply_over_axes)
def np_apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """A function of an array and an axis, one axis after the other."""
    for k in axes_of(axes if np.ndim(axes) else (axes,), a.ndim):
        out = func(a, k)
        a = out if out.ndim == a.ndim else np.expand_dims(out, k)
    return a
