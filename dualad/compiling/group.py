"""Groups: operations entry by entry on large arrays of one shape, which run block by block.

On blocks that stay in the cache a value between two operations never becomes a whole array.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.staging.operations import Guard, Operation, Variable
from .loop import Loop, variables_of
from .passes.constants import is_elementwise

__all__ = ["LEAST", "REDUCTIONS", "Group", "belongs", "is_total", "read_by", "shape_of_group"]

#: From how many entries blocks pay: below, whole arrays stay in the cache themselves.
LEAST = 16384
#: Up to how many entries blocks must save more than one pass.
MEDIUM = 65536
#: How many entries a row has at most, where blocks are rows.
WIDEST = 8192


@dataclass(frozen=True)
class Group:
    """Steps that run together, block by block."""

    shape: tuple[int, ...]
    steps: tuple[Operation | Guard, ...]
    #: what other steps read, or the caller
    results: tuple[Variable, ...]

    @property
    def operations(self) -> list[Operation]:
        return [s for s in self.steps if type(s) is Operation]

    @property
    def quiet(self) -> bool:
        """Whether none of its operations gives warnings."""
        return all(s.quiet for s in self.operations)

    @property
    def pays(self) -> bool:
        """Whether passes over memory are saved: a value stays in the block, or is read there."""
        made = {r for s in self.operations for r in s.results if r.shape == self.shape}
        saved = len(made.difference(self.results)) + len(self.steps) - len(made)
        return saved > (math.prod(self.shape) < MEDIUM)

    @property
    def is_flat(self) -> bool:
        """Whether all operands lie in memory like the result, so that blocks know no axes."""
        if any(s.results[0].shape != self.shape and not is_total(s) for s in self.operations):
            return False
        made = {r for s in self.operations for r in s.results}
        return all(
            _size(x) == 1 or (_shape(x) == self.shape and _is_contiguous(x))
            for s in self.operations
            for x in s.operands
            if type(x) is not Variable or x not in made
        )


def _shape(x: Any) -> tuple[int, ...]:
    return x.shape if type(x) is Variable else np.shape(x)


def _size(x: Any) -> int:
    return x.size if type(x) is Variable else np.size(x)


def _is_contiguous(x: Any) -> bool:
    return len(_shape(x)) == 1 or (
        x.contiguous if type(x) is Variable else np.asarray(x).flags.c_contiguous
    )


def shape_of_group(step: Operation | Guard | Loop) -> tuple[int, ...] | None:
    """The shape of the group that a step may start."""
    if type(step) is not Operation or not is_elementwise(step):
        return None
    r = step.results[0]
    if r.size < LEAST or not (r.is_array and r.contiguous) or r.dtype.kind not in "fciub":
        return None
    # Of more than one axis blocks are rows, of which some must fit.
    flat = Group(r.shape, (step,), ()).is_flat
    return r.shape if flat or r.size // r.shape[0] <= WIDEST else None


def belongs(
    step: Operation | Guard | Loop, shape: tuple[int, ...], members: set[Variable]
) -> bool:
    """Whether a step can run in a group of this shape that computes `members`."""
    if isinstance(step, Guard):
        return step.question == "has_nan" and not step.answer and step.variable in members
    if type(step) is not Operation:
        return False
    rows = len(shape) > 1 and shape[0] > 1 and math.prod(shape[1:]) <= WIDEST
    if step.primitive.name == "sum_axes" and 0 in step.params["axes"]:
        (x,) = step.operands
        return x in members and (rows or x.shape == shape) and (rows or is_total(step))
    if shape_of_group(step) == shape:
        return all(len(x.shape) == len(shape) for x in _members(step, members))
    smaller = step.results[0].size < math.prod(shape)
    return rows and smaller and is_by_rows(step, shape[0], members)


def is_total(step: Operation) -> bool:
    """Whether a step is a sum of all entries."""
    x = step.operands[0]
    return step.primitive.name == "sum_axes" and len(step.params["axes"]) == len(_shape(x))


def is_by_rows(step: Operation, n: int, members: set[Variable]) -> bool:
    """Whether a row of the result of a step comes from that row of the members."""
    r, found = step.results[0], _members(step, members)
    if not found or len(step.results) != 1 or r.dtype.kind not in "fciub":
        return False
    if not r.is_array or r.shape[0] != n or any(x.shape[0] != n for x in found):
        return False
    if step.primitive.name in REDUCTIONS:
        return 0 not in step.params["axes"]
    if step.primitive.name == "reshape":
        return True
    return is_elementwise(step) and all(len(x.shape) == len(r.shape) for x in found)


def _members(step: Operation, members: set[Variable]) -> list[Variable]:
    return [x for x in step.operands if type(x) is Variable and x in members]


#: Reductions whose result is one value for each row, with the functions that they are.
REDUCTIONS = {"sum_axes": "np.add", "max": "np.maximum", "min": "np.minimum"}


def read_by(step: Operation | Guard | Group | Loop) -> list[Variable]:
    """The variables that a step reads."""
    if isinstance(step, Guard):
        return [step.variable]
    if isinstance(step, Loop):
        return step.reads()
    if isinstance(step, Group):
        return [v for s in step.steps for v in read_by(s)]
    assert type(step) is Operation
    return variables_of(step)
