"""Padding: entries around an array, one axis after the other.

Modes that copy entries are a gather along an index that NumPy itself pads; an odd reflection is
the linear map that NumPy makes of the identity matrix; the statistics are what they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray
from ..errors import ArgumentError, NotDifferentiableError
from .operands import array_of
from .registry import function

__all__: list[str] = []

COPIES = ("edge", "wrap", "reflect", "symmetric")
STATISTICS: dict[str, Any] = {
    "maximum": np.max,
    "minimum": np.min,
    "mean": np.mean,
    "median": np.median,
}
#: The keyword that each mode takes, beside those that take none.
OPTIONS = {
    "constant": "constant_values",
    "linear_ramp": "end_values",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    **dict.fromkeys(STATISTICS, "stat_length"),
}


@function(np.pad)
def np_pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """Every mode but "empty", whose entries are undefined, carries the derivative."""
    array = array_of(array)
    widths = _pairs(_by_axis(pad_width, array.ndim), array.ndim).astype(np.intp).tolist()
    if np.min(widths, initial=0) < 0:
        raise ValueError("index can't contain negative values")
    if callable(mode):
        return _by_function(array, widths, mode, options)
    option = _option(mode, options)
    out = array
    for axis, width in enumerate(widths):
        if any(width):
            out = _pad_axis(out, axis, width, mode, option)
    return np.copy(array) if out is array else out


def _pairs(value: Any, ndim: int) -> Any:
    """One pair (before, after) an axis."""
    return np.broadcast_to(array_of(value), (ndim, 2))


def _by_axis(pad_width: Any, ndim: int) -> Any:
    if not isinstance(pad_width, dict):
        return pad_width
    pairs = {k % ndim: w if np.ndim(w) else (w, w) for k, w in pad_width.items()}
    return [pairs.get(k, (0, 0)) for k in range(ndim)]


def _option(mode: str, options: dict) -> Any:
    """The value of the one keyword of a mode, None where it is left out."""
    if mode == "empty":
        raise NotDifferentiableError(
            "np.pad with mode='empty' leaves entries undefined, which have no derivative: use "
            "mode='constant'."
        )
    if mode not in (*COPIES, *OPTIONS):
        raise ValueError(f"mode '{mode}' is not supported")
    name = OPTIONS.get(mode)
    wrong = set(options) - {name}
    if wrong:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {wrong}")
    return options.get(name)


def _pad_axis(x: Any, axis: int, width: list[int], mode: str, option: Any) -> Any:
    if mode in COPIES and option in (None, "even"):
        how: Any = {"mode": mode}
        at = np.pad(np.arange(x.shape[axis]), tuple(width), **how)
        return x[_along(axis, at)]
    if mode in COPIES:
        parts = _odd(x, axis, width, mode)
    elif mode in STATISTICS:
        parts = [
            _statistic(x, axis, n, STATISTICS[mode], side, option) for side, n in enumerate(width)
        ]
    else:
        ends = _pairs(0 if option is None else option, x.ndim)
        make = _ramp if mode == "linear_ramp" else _constant
        parts = [make(x, axis, n, side, ends[axis, side]) for side, n in enumerate(width)]
    before, after = (p.astype(x.dtype) for p in parts)
    return np.concatenate([before, x, after], axis)


def _along(axis: int, key: Any) -> tuple:
    return (*(slice(None),) * axis, key)


def _shape(x: Any, axis: int, n: int) -> tuple[int, ...]:
    return (*x.shape[:axis], n, *x.shape[axis + 1 :])


def _constant(x: Any, axis: int, n: int, side: int, value: Any) -> Any:
    return np.broadcast_to(value, _shape(x, axis, n))


def _ramp(x: Any, axis: int, n: int, side: int, end: Any) -> Any:
    """From the end value on the way to the edge, which it does not reach."""
    edge = x[_along(axis, -side)]
    ramp = np.linspace(np.broadcast_to(end, edge.shape), edge, n, endpoint=False, axis=axis)
    return np.flip(ramp, axis) if side else ramp


def _statistic(x: Any, axis: int, n: int, f: Callable[..., Any], side: int, length: Any) -> Any:
    """A statistic of as many entries as `length` says, counted from the side that is padded."""
    size = x.shape[axis]
    count = size
    if length is not None:
        count = min(int(_pairs(length, x.ndim)[axis, side]), size)
    if count < 1:
        raise ValueError("stat_length of 0 yields no value for padding")
    part = x[_along(axis, slice(size - count, None) if side else slice(count))]
    return np.broadcast_to(f(part, axis=axis, keepdims=True), _shape(x, axis, n))


def _odd(x: Any, axis: int, width: list[int], mode: str) -> list[Any]:
    """The reflection through the edge, as a matrix for each side."""
    n = x.shape[axis]
    how: Any = {"mode": mode, "reflect_type": "odd"}
    matrix = np.pad(np.eye(n), (tuple(width), (0, 0)), **how)
    columns = np.moveaxis(x, axis, 0)
    sides = (matrix[: width[0]], matrix[width[0] + n :])
    return [np.moveaxis(np.tensordot(m, columns, 1), 0, axis) for m in sides]


def _by_function(x: Any, widths: list[list[int]], f: Callable[..., Any], options: dict) -> Any:
    """A function that writes into the ends of each line along each axis."""
    if not isinstance(x, TracedArray):
        raise ArgumentError("np.pad: a mode that is a function needs a traced array to pad")
    padded = np_pad(x, widths)
    for axis, width in enumerate(widths):
        lines = np.moveaxis(padded, axis, -1)
        for at in np.ndindex(lines.shape[:-1]):
            f(lines[at], tuple(width), axis, options)
    return padded
