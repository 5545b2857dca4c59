"""Operations on small values: every entry in a register, arranged by NumPy itself.

A small value is an object array of entries. What only moves entries is the primitive's own
function, applied to that array.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...engine.staging.operations import Operation
from .elementwise import is_elementwise
from .emitter import Emitter
from .entry import BOOL, I64, Entry

__all__ = ["FOLDS", "axes_of", "entries_of", "unrolled"]

#: The elementwise function that a reduction repeats.
FOLDS = {
    "sum_axes": "add",
    "max": "maximum",
    "min": "minimum",
    "all": "logical_and",
    "any": "logical_or",
}


def entries_of(x: Any, shape: tuple[int, ...]) -> np.ndarray:
    """An object array of a list of entries."""
    out = np.empty(shape, object)
    flat = out.reshape(-1)
    for k, entry in enumerate(x):
        flat[k] = entry
    return out


def axes_of(s: Operation) -> tuple[int, ...]:
    """The axes of a reduction."""
    axes = s.params.get("axes", s.params.get("axis"))
    given = axes if isinstance(axes, tuple) else (axes,)
    ndim = len(s.operands[0].shape)
    return tuple([a % ndim for a in given])


def unrolled(emitter: Emitter, s: Operation, operands: list[Any]) -> np.ndarray:
    """The entries of an operation's result; operands are object arrays or Python's numbers."""
    (result,) = s.results
    name = s.primitive.name
    if is_elementwise(name):
        return _elementwise(emitter, name, operands, result)
    if name in FOLDS:
        return _folded(emitter, FOLDS[name], operands[0], axes_of(s), result)
    arrays = [x if isinstance(x, np.ndarray) else np.array(x, object) for x in operands]
    out = s.primitive.impl(*arrays, **s.params)
    return _entries(emitter, out, result)


def _elementwise(emitter: Emitter, name: str, operands: list[Any], result: Any) -> np.ndarray:
    spread = [
        np.broadcast_to(x, result.shape).reshape(-1) if isinstance(x, np.ndarray) else x
        for x in operands
    ]
    out = []
    for k in range(result.size):
        args = tuple([x[k] if isinstance(x, np.ndarray) else x for x in spread])
        out.append(emitter.function(name, args, result.dtype))
    return entries_of(out, result.shape)


def _folded(
    emitter: Emitter, name: str, x: np.ndarray, axes: tuple[int, ...], result: Any
) -> np.ndarray:
    kept = [a for a in range(x.ndim) if a not in axes]
    rows = x.transpose([*kept, *axes]).reshape(result.size, -1)
    out = []
    for row in rows:
        cast = [emitter.cast(v, result.dtype) for v in row]
        fold = functools.partial(_fold, emitter, name, result.dtype)
        start = emitter.constant(0, result.dtype)
        # Sums begin with zero, so that a sum of negative zeros is zero.
        out.append(functools.reduce(fold, cast, start) if name == "add" else _tree(fold, cast))
    return entries_of(out, result.shape)


def _fold(emitter: Emitter, name: str, dtype: np.dtype, x: Entry, y: Entry) -> Entry:
    return emitter.function(name, (x, y), dtype)


def _tree(fold: Any, row: list[Entry]) -> Entry:
    return functools.reduce(fold, row)


def _entries(emitter: Emitter, out: Any, result: Any) -> np.ndarray:
    """What moving gave, as entries of the dtype of the result."""
    flat = np.asarray(out, object).reshape(-1)
    return entries_of([_entry(emitter, x, result.dtype) for x in flat], result.shape)


def _entry(emitter: Emitter, x: Any, dtype: np.dtype) -> Entry:
    while isinstance(x, np.ndarray):
        x = x[()]
    return emitter.cast(x, dtype)


assert BOOL != I64
