"""Sums of arrays that are zero but for a slice, as they come from gradients of slices.

Zeros with a at a slice plus zeros with b at the same slice are zeros with a + b there; a value
plus zeros with b at a slice is the value with b added at the slice, in place where it is the
last use of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.primitives.primitive import Opaque
from ...engine.staging.operations import Operation, Variable
from ..program import Program, is_basic
from .arithmetic import applied
from .rewriting import Made, Rules, rewritten

__all__ = ["ADD_AT_SLICE", "summed_by_slices"]


def add_at_slice(x: Any, values: Any, index: tuple) -> Any:
    """x with the values added at an index of slices and numbers."""
    out = np.array(x)
    out[index] += values
    return out


ADD_AT_SLICE = Opaque(add_at_slice, builtin=False)


def summed_by_slices(program: Program) -> Program:
    """The program with sums of scattered values as sums at slices."""

    def once(x: Any, made: Made) -> Operation | None:
        maker = made.get(x) if type(x) is Variable and made.uses[x] == 1 else None
        return maker if maker is not None and maker.primitive.name == "scatter_add" else None

    def sums(operation: Operation, made: Made) -> Any:
        (a, b), result = operation.operands, operation.results[0]
        if not all(isinstance(x, (Variable, np.ndarray)) for x in (a, b)):
            return None
        if a.shape != b.shape or a.dtype != result.dtype or b.dtype != result.dtype:
            return None
        first, second = once(a, made), once(b, made)
        if second is None:
            a, b, first, second = b, a, second, first
        if second is None or not is_basic(second.params["index"]):
            return None
        if first is not None and _index(first) == _index(second):
            return _at_the_same(operation, first, second)
        if type(a) is Variable and not a.is_array:
            return None
        values = second.operands[0]
        return Operation(
            ADD_AT_SLICE, (a, values), {"index": second.params["index"]}, operation.results,
            True, operation.quiet, (),
        )  # fmt: skip

    return rewritten(program, Rules({"add": (sums,)}))


def _index(scatter: Operation) -> Any:
    index = scatter.params["index"]
    return tuple(map(_part, index)) if is_basic(index) else object()


def _part(k: Any) -> Any:
    return (k.start, k.stop, k.step) if type(k) is slice else (k,)


def _at_the_same(operation: Operation, first: Operation, second: Operation) -> Any:
    v, w = first.operands[0], second.operands[0]
    if type(v) is not Variable or type(w) is not Variable or v.shape != w.shape:
        return None
    total = v.another()
    added = applied("add", operation, v, w, result=total)
    return [added, first._replace(operands=(total,), results=operation.results, aliases=())]
