"""Groups: operations entry by entry on large arrays of one shape, which run block by block.

On blocks that stay in the cache a value between two operations never becomes a whole array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.staged import Guard, Operation, Variable
from .loop import Loop
from .passes.constants import is_elementwise
from .program import variables_of

__all__ = ["LEAST", "Group", "belongs", "shape_of_group"]

#: From how many entries blocks pay: below, whole arrays stay in the cache themselves.
LEAST = 32768


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
    def is_flat(self) -> bool:
        """Whether all operands lie in memory like the result, so that blocks know no axes."""
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


def shape_of_group(step: Operation | Guard) -> tuple[int, ...] | None:
    """The shape of the group that a step may start."""
    if type(step) is not Operation or not is_elementwise(step):
        return None
    r = step.results[0]
    if r.size < LEAST or not (r.is_array and r.contiguous) or r.dtype.kind not in "fciub":
        return None
    # Of more than one axis blocks are rows, of which some must fit.
    flat = Group(r.shape, (step,), ()).is_flat
    return r.shape if flat or r.size // r.shape[0] <= LEAST // 4 else None


def belongs(step: Operation | Guard, shape: tuple[int, ...], members: set[Variable]) -> bool:
    """Whether a step can run in a group of this shape that computes `members`."""
    if isinstance(step, Guard):
        return step.question == "has_nan" and not step.answer and step.variable in members
    if type(step) is Operation and step.primitive.name == "sum_axes":
        (x,) = step.operands
        return x in members and len(step.params["axes"]) == len(shape)
    return shape_of_group(step) == shape


def results_of(steps: list[Operation | Guard], others: set[Variable]) -> tuple[Variable, ...]:
    """What a group makes for others."""
    return tuple([r for s in steps if type(s) is Operation for r in s.results if r in others])


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
