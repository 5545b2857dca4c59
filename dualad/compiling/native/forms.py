"""Which steps of a program have a native form."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...engine.staging.operations import Guard, Operation, Variable
from ..loop import Loop as Repetition
from .elementwise import can_emit, is_elementwise
from .entry import F64, Refused, is_number
from .products import has_threads, shape_here

__all__ = [
    "INDEXED", "REDUCTIONS", "VIEWS", "WRITES", "are_alike", "guards_of", "held", "is_native",
    "is_tiled", "name_of", "operations_of",
]  # fmt: skip

REDUCTIONS = {"sum_axes", "max", "min", "all", "any"}
VIEWS = {"getitem", "reshape", "transpose", "broadcast_to"}
MOVES = {"concatenate", "stack", "scatter_add", "index_set", "add_at_slice"}
#: Operations whose index may change from turn to turn, and those that write into an array.
INDEXED = {"getitem", "scatter_add", "index_set", "add_at_slice"}
WRITES = {"index_set", "add_at_slice"}
#: Up to how many constants of a stream are gathered by code of their own.
FEW = 32
#: From how many multiplications on a product is the library's, where it does not go by tiles.
PRODUCT = 1 << 15
#: From how many multiplications on, and up to how many, it does.
TILED, LARGEST = 1 << 11, 1 << 29
#: Up to how many where the library has several threads for what is larger.
SHARED = 1 << 19


def name_of(s: Operation) -> str:
    """A primitive's name; elementwise primitives of one name in different disguises are one."""
    return s.primitive.name


NONE: frozenset[Variable] = frozenset()


def is_native(s: Any, numbers: frozenset[Variable] = NONE) -> bool:
    """Whether a step has a native form; numbers: what an index may hold, in a repetition."""
    if isinstance(s, Guard):
        return _is_native_guard(s)
    if isinstance(s, Repetition):
        return _is_native_repetition(s)
    values = [*s.operands, *s.results]
    if not all(map(_is_value, values)) or len(s.results) != 1:
        return False
    if not s.is_single or not all(is_number(r.dtype) for r in s.results):
        return False
    name = name_of(s)
    if any(isinstance(p, Variable) for p in s.params.values()):
        return False
    try:
        if is_elementwise(name):
            return _is_native_elementwise(s, name)
        return _is_native_structure(s, name, numbers)
    except Refused:
        return False


def _is_value(x: Any) -> bool:
    if type(x) in (bool, int, float):
        return True
    if isinstance(x, (np.ndarray, np.generic, Variable)):
        size = x.size
        return is_number(x.dtype) and size > 0
    return False


def _is_native_elementwise(s: Operation, name: str) -> bool:
    if s.params and name not in ("cast",):
        return False
    (result,) = s.results
    return can_emit(name, s.operands, result.dtype)


def _is_native_structure(s: Operation, name: str, numbers: frozenset[Variable]) -> bool:
    (result,) = s.results
    if name in REDUCTIONS:
        x = s.operands[0]
        keeps = s.params.get("keepdims", False)
        return isinstance(x, Variable) and x.shape != () and not keeps and "axes" in _axes(s)
    if name in VIEWS | MOVES:
        known = held(s.params.values())
        if not known:
            return True
        return name in INDEXED and numbers.issuperset(known) and _is_basic(s.params["index"])
    if name in ("matmul", "gram"):
        return result.dtype.kind == "f" and (_products(s) <= PRODUCT or is_tiled(s))
    return False


def is_tiled(s: Any) -> bool:
    """Whether a step is a product of two matrices of some size, or of stacks of such ones."""
    if isinstance(s, (Guard, Repetition)) or s.primitive.name != "matmul":
        return False
    shapes = [getattr(x, "shape", ()) for x in (*s.operands, *s.results)]
    if any(len(shape) < 2 for shape in shapes) or s.results[0].dtype != F64:
        return False
    count = _products(s) // math.prod(shapes[-1][:-2])
    most = SHARED if count > SHARED and has_threads() else LARGEST
    return TILED <= count <= most and shape_here() is not None


def _axes(s: Operation) -> dict[str, tuple[int, ...]]:
    """The axes of a reduction, in one form."""
    axes = s.params.get("axes", s.params.get("axis"))
    if not isinstance(axes, (tuple, int)):
        return {}
    given = axes if isinstance(axes, tuple) else (axes,)
    return {"axes": tuple(a % len(s.operands[0].shape) for a in given)}


def _products(s: Operation) -> int:
    a, b = s.operands[0], s.operands[-1]
    if any(x.dtype != s.results[0].dtype for x in (a, b)) or len(a.shape) < 2 < len(b.shape):
        return 1 << 60
    return math.prod(s.results[0].shape) * a.shape[-1]


def held(params: Iterable[Any]) -> list[Variable]:
    """The variables inside of parameters."""
    out: list[Variable] = []
    for p in params:
        if isinstance(p, (tuple, list)):
            out += held(p)
        elif isinstance(p, slice):
            out += held((p.start, p.stop, p.step))
        elif isinstance(p, Variable):
            out.append(p)
    return out


def _is_basic(index: Any) -> bool:
    """Whether variables stand in an index by themselves, beside numbers and slices."""
    return all(
        k is None or k is Ellipsis or type(k) in (int, Variable)
        or (type(k) is slice and not held([k]))
        for k in index
    )  # fmt: skip


def _is_native_repetition(s: Repetition) -> bool:
    inside = [c.inside for c in s.carries] + [t.inside for t in s.streams] + list(s.results)
    if not all(is_number(v.dtype) and v.size > 0 for v in inside):
        return False
    own = {c.inside for c in s.carries if c.inside.shape}
    taken = [c.update for c in s.carries] + [v for _, v in s.finals]
    if own.intersection(taken):  # an array that is handed on as it is would be overwritten
        return False
    values = [c.initial for c in s.carries] + [v for t in s.streams for v in t.values]
    numbers = frozenset(t.inside for t in s.streams if all(type(v) is int for v in t.values))
    return (
        all(map(_is_value, values))
        and all(_has_rows(t) for t in s.streams)
        and all(is_native(step, numbers) for step in s.body)
    )


def _has_rows(stream: Any) -> bool:
    """Whether the values of a stream are numbers, or arrays that are read one after the other."""
    values = [v for v in stream.values if type(v) is not Variable]
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    if len(arrays) < FEW:
        return len(values) < FEW or len(values) == len(stream.values)
    return len(arrays) == len(stream.values) and are_alike(arrays)


def are_alike(arrays: list[np.ndarray]) -> bool:
    """Whether arrays have one shape and dtype and lie in C order."""
    first = arrays[0]
    return all(
        a.shape == first.shape and a.dtype == first.dtype and a.flags.c_contiguous for a in arrays
    )


def _is_native_guard(g: Guard) -> bool:
    v = g.variable
    if not is_number(v.dtype) or v.size == 0:
        return False
    if g.question == "has_nan":
        return True
    if g.question in ("int", "index") and v.dtype.kind == "f":
        return False
    return v.size == 1 and g.question in ("bool", "int", "index", "float", "value")


def operations_of(steps: Iterable[Any]) -> list[Operation]:
    """The operations of steps, those inside of repetitions too."""
    found: list[Operation] = []
    for s in steps:
        if isinstance(s, Repetition):
            found += operations_of(s.body)
        elif not isinstance(s, Guard):
            found.append(s)
    return found


def guards_of(steps: Iterable[Any]) -> list[Guard]:
    """The guards of steps, those inside of repetitions too."""
    found: list[Guard] = []
    for s in steps:
        if isinstance(s, Repetition):
            found += guards_of(s.body)
        elif isinstance(s, Guard):
            found.append(s)
    return found
