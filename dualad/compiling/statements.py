"""One operation as statements: an expression given a name, or a write in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.arrays.memory import F64
from ..engine.arrays.rows import has_short_rows
from ..engine.staging.operations import Operation, Variable
from .passes.constants import is_elementwise
from .program import is_basic

if TYPE_CHECKING:
    from .numpy_source import NumpySource

__all__ = ["statements"]


def statements(source: NumpySource, s: Operation, k: int) -> list[str]:
    """The lines of the k-th piece of a program."""
    if s.primitive.name == "scatter_add" and s.results[0] in source.names:
        return []  # it is there already
    place = source.place(s.results[0])
    if place is not None:
        names = [*source.operands(s), f"out={place[1]}"]
        return [place[0], f"{source.function(s.primitive)}({', '.join(names)})"]
    way = WAYS.get(s.primitive.name)
    lines = None if way is None else way(source, s, k)
    if lines is not None:
        return lines
    lines = in_place(source, s, k)
    if lines is not None:
        return lines
    text = source.expression(s)
    ended = source.release(k)
    target = ", ".join([source.new_name(r) for r in s.results])
    if not s.is_single and len(s.results) == 1:
        target += ","
    return [f"{target} = {text}", *([f"del {', '.join(ended)}"] if ended else [])]


#: From how many bytes a result takes the memory of an operand that is not read again.
REUSED = 1 << 16


def in_place(source: NumpySource, s: Operation, k: int) -> list[str] | None:
    """An operation entry by entry, written over an operand that nobody reads after it."""
    r = s.results[0]
    if r.size * r.dtype.itemsize < REUSED or not r.contiguous or not is_elementwise(s):
        return None
    if s.primitive.name == "where" or s.primitive.impl is np.power:
        return None
    for n, x in enumerate(s.operands):
        if not source.may_replace(x, r, k):
            continue
        if (x.shape, x.dtype, x.contiguous) != (r.shape, r.dtype, r.contiguous):
            continue
        names = source.operands(s)
        operator = getattr(s.primitive, "operator", None)
        if n == 0 and operator is not None and len(names) == 2:
            return [f"{source.rename(r, x)} {operator}= {names[1]}"]
        function = source.function(s.primitive)
        return [f"{function}({', '.join(names)}, out={source.rename(r, x)})"]
    return into_workspace(source, s)


def into_workspace(source: NumpySource, s: Operation) -> list[str] | None:
    """An operation entry by entry, computed into memory that is there already."""
    r = s.results[0]
    home = source.home(r)
    if home is None:
        return None
    names = [*source.operands(s), f"out={home}"]
    call = f"{source.function(s.primitive)}("
    if has_short_rows(r.shape) and broadcasts(s):
        call = f"in_long_rows({call[:-1]}, "
    return [f"{source.new_name(r)} = {call}{', '.join(names)})"]


def broadcasts(s: Operation) -> bool:
    """Whether an operation entry by entry of float64 arrays and numbers has an array repeated."""
    arrays = [x for x in (*s.operands, *s.results) if hasattr(x, "shape") and x.shape]
    shape = s.results[0].shape
    return (
        isinstance(s.primitive.impl, np.ufunc)
        and all(x.dtype == F64 for x in arrays)
        and any(x.shape != shape for x in arrays)
    )


def _matmul(source: NumpySource, s: Operation, k: int) -> list[str] | None:
    """A product of matrices, computed into memory that is there already."""
    home = source.home(s.results[0])
    if home is None:
        return None
    a, b = map(source.value, s.operands)
    return [f"{source.new_name(s.results[0])} = np.matmul({a}, {b}, out={home})"]


def _gram(source: NumpySource, s: Operation, k: int) -> list[str] | None:
    """The product of a matrix with its transpose, in the same way."""
    home = source.home(s.results[0])
    if home is None or len(s.results[0].shape) != 2:
        return None
    a = source.value(s.operands[0])
    return [f"{source.new_name(s.results[0])} = np.matmul({a}, {a}.T, out={home})"]


def _has_arrays(index: tuple) -> bool:
    return not is_basic(index)


def _dtype(r: Variable) -> str:
    return "" if r.dtype.name == "float64" else f", {r.dtype.name!r}"


def _scatter(source: NumpySource, s: Operation, k: int) -> list[str] | None:
    """Zeros, and the values in their place."""
    if _has_arrays(s.params["index"]):
        return None
    value, index = source.value(s.operands[0]), source.brackets(s.params["index"])
    r = s.results[0]
    name = source.new_name(r)
    return [f"{name} = np.zeros({_shape(r)}{_dtype(r)})", f"{name}[{index}] = {value}"]


def _shape(r: Variable) -> str:
    return str(r.shape[0]) if len(r.shape) == 1 else str(r.shape)


def _written(source: NumpySource, s: Operation, k: int) -> list[str]:
    """A write in place where nobody else reads the array, else into a copy."""
    x, values = s.operands
    value, index = source.value(values), source.brackets(s.params["index"])
    r, sign = s.results[0], "+=" if s.primitive.name == "add_at_slice" else "="
    if source.may_replace(x, r, k) and not _reads(source, values, x):
        return [f"{source.rename(r, x)}[{index}] {sign} {value}"]
    old = source.named(x) if type(x) is not Variable else source.names[x]
    order = "" if r.contiguous else "'K'"
    copy = f"{old}.copy({order})" if type(x) is Variable else f"np.array({old})"
    name = source.new_name(r)
    return [f"{name} = {copy}", f"{name}[{index}] {sign} {value}"]


def _reads(source: NumpySource, values: object, x: object) -> bool:
    """Whether what is written lies in the memory written to."""
    return type(values) is Variable and x in source.life.roots(values)


def _stacked(source: NumpySource, s: Operation, k: int) -> list[str] | None:
    """A few small arrays, one after the other into a new one."""
    r, axis = s.results[0], s.params["axis"]
    if len(r.shape) < 2 or len(s.operands) > 8 or r.size > 4096:
        return None
    values = [source.value(x) for x in s.operands]
    name = source.new_name(r)
    before = ":, " * axis
    return [
        f"{name} = np.empty({_shape(r)}{_dtype(r)})",
        *[f"{name}[{before}{n}] = {v}" for n, v in enumerate(values)],
    ]


def _spread(source: NumpySource, s: Operation, k: int) -> list[str] | None:
    """A small array that is broadcast, as one of its own."""
    r = s.results[0]
    if r.size > 1024 or source.is_handed_out(r):
        return None
    value = source.value(s.operands[0])
    name = source.new_name(r)
    return [f"{name} = np.empty({_shape(r)}{_dtype(r)})", f"{name}[...] = {value}"]


WAYS = {
    "scatter_add": _scatter, "index_set": _written, "add_at_slice": _written,
    "matmul": _matmul, "gram": _gram, "stack": _stacked, "broadcast_to": _spread,
}  # fmt: skip
