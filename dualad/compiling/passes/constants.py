"""Arrays of one repeated value become that value, where another operand has the shape.

A program sees what is written into an array between two calls. So only those arrays are taken as
constant that nobody can write to: who else refers to them is counted.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...engine.arrays.memory import has_own_memory
from ...engine.staging.operations import Operation, Variable
from ..loop import variables_of
from ..program import Program
from .rewriting import Known, Made, Rules

__all__ = ["constants_of", "is_elementwise", "private_arrays", "uniform"]


def is_elementwise(operation: Operation) -> bool:
    """Whether entries of the result come from the entries of the operands at their place."""
    primitive = operation.primitive
    if operation.params or len(operation.results) != 1:
        return False
    return primitive.name == "where" or (
        isinstance(primitive.impl, np.ufunc)
        and primitive.impl.nout == 1
        and primitive.impl.signature is None
        and primitive.impl.nin == len(operation.operands)
    )


def uniform(a: Any) -> Any:
    """The value that all entries of a constant have, as a scalar; None where they differ."""
    if isinstance(a, np.generic):
        return a
    if not isinstance(a, np.ndarray) or a.size == 0 or a.dtype.kind not in "fciub":
        return None
    first = a[(0,) * a.ndim]
    a = a[tuple([slice(0, 1) if step == 0 else slice(None) for step in a.strides])]
    if a[(-1,) * a.ndim] != first or not (a == first).all():
        return None
    if first == 0 and a.dtype.kind in "fc" and a.tobytes() != np.zeros_like(a).tobytes():
        return None  # zeros of either sign
    return first


def private_arrays(program: Program) -> set[int]:
    """The arrays, by identity, that nobody but the program refers to, or that nobody can write."""
    counts = Counter(id(a) for s in program.operations for a in _arrays(s))
    found: set[int] = set()
    for s in program.operations:
        for a in _arrays(s):
            if id(a) in found:
                continue
            frozen = a.base is None and not a.flags.writeable
            # besides the program: the loop's name, the generator's, and the call's argument
            alone = type(a.base) is np.ndarray and sys.getrefcount(a.base) <= 2
            own = has_own_memory(a) or alone
            if frozen or (own and sys.getrefcount(a) <= counts[id(a)] + EXTRA):
                found.add(id(a))
    return found


def _arrays(s: Operation) -> Iterator[np.ndarray]:
    for x in s.operands:
        if type(x) is np.ndarray:
            yield x


#: References that counting itself holds.
EXTRA = 3


def constants_of(private: set[int]) -> Rules:
    """The rules for constants, of which nobody else can write to the private ones."""
    known = set(private)

    def scalar_for_uniform(operation: Operation, made: Made) -> Operation | None:
        """An array of one value becomes a scalar where others have the shape of the result."""
        if not is_elementwise(operation):
            return None
        shape = operation.results[0].shape
        operands = list(operation.operands)
        for k, a in enumerate(operands):
            if isinstance(a, np.ndarray) and a.ndim and id(a) in known:
                others = [_shape(b) for n, b in enumerate(operands) if n != k]
                if np.broadcast_shapes(*others) == shape and (value := uniform(a)) is not None:
                    operands[k] = value
                    return operation._replace(operands=tuple(operands))
        return None

    def folded(operation: Operation, made: Made) -> Known | None:
        """An operation on constants alone is a constant."""
        if variables_of(operation):
            return None
        if not is_elementwise(operation) and operation.primitive.name not in ARRANGING:
            return None
        if not all(id(x) in known for x in operation.operands if isinstance(x, np.ndarray)):
            return None
        with np.errstate(all="ignore"):
            value = operation.primitive.impl(*operation.operands, **operation.params)
        kept.append(value)
        known.add(id(value))
        return Known(value)

    kept: list[Any] = []
    return Rules({"": (scalar_for_uniform, folded)}, reads_arrays)


def reads_arrays(operation: Operation) -> bool:
    """Whether an operation may read constants alone, or constants that are arrays."""
    first = True
    for x in operation.operands:
        if type(x) is np.ndarray:
            return True
        first = first and type(x) is not Variable
    return first


ARRANGING = ("reshape", "transpose", "broadcast_to", "getitem")


def _shape(x: Any) -> tuple[int, ...]:
    return x.shape if type(x) is Variable else np.shape(x)
