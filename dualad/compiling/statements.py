"""One operation as statements: an expression given a name, or a write in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.staged import Operation, Variable
from .program import is_basic

if TYPE_CHECKING:
    from .numpy_source import NumpySource

__all__ = ["statements"]


def statements(source: NumpySource, s: Operation, k: int) -> list[str]:
    """The lines of the k-th piece of a program."""
    way = WAYS.get(s.primitive.name)
    lines = None if way is None else way(source, s, k)
    if lines is not None:
        return lines
    text = source.expression(s)
    ended = source.release(k)
    target = ", ".join([source.new_name(r) for r in s.results])
    if not s.is_single and len(s.results) == 1:
        target += ","
    return [f"{target} = {text}", *([f"del {', '.join(ended)}"] if ended else [])]


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
    if source.life.is_free_to_write(x, k) and not _reads(source, values, x):
        return [f"{source.rename(r, x)}[{index}] {sign} {value}"]
    old = source.named(x) if type(x) is not Variable else source.names[x]
    copy = f"{old}.copy()" if type(x) is Variable and x.contiguous else f"np.array({old})"
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
    if r.size > 1024:
        return None
    value = source.value(s.operands[0])
    name = source.new_name(r)
    return [f"{name} = np.empty({_shape(r)}{_dtype(r)})", f"{name}[...] = {value}"]


WAYS = {
    "scatter_add": _scatter, "index_set": _written, "add_at_slice": _written,
    "stack": _stacked, "broadcast_to": _spread,
}  # fmt: skip
