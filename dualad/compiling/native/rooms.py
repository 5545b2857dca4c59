"""Memory of large values inside of a kernel: values that are not there at one time share it.

A kernel is written one level after the other, and the plan knows from which level on nobody reads
a value any more: there another may take its place. The memory of all is one block, which stays
between calls.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...engine.staging.operations import Variable
from ..workspace import MOST_BYTES
from .plan import Plan

__all__ = ["ALIGNED", "Block", "shared", "stays"]

#: Where memory begins, in bytes: at a line of the cache.
ALIGNED = 64


def shared(
    plan: Plan, temporaries: Iterable[Variable], outputs: Iterable[Variable]
) -> list[list[Variable]]:
    """The values that share memory, the largest of each group first."""
    ends: dict[Variable, float] = dict(plan.free)
    ends |= dict.fromkeys(
        [plan.layout_of(o).base for o in outputs if not plan.is_small(o)], math.inf
    )
    groups: list[list[Variable]] = []
    taken: list[float] = []
    for v in sorted(temporaries, key=lambda v: plan.level.get(v, -1)):
        start, end = plan.level.get(v), ends.get(v, math.inf)
        if start is None or end <= start:
            start, end = -1, math.inf
        free = [k for k, until in enumerate(taken) if until <= start]
        if not free:
            groups.append([v])
            taken.append(end)
            continue
        k = min(free, key=lambda k: abs(size_of(groups[k][0]) - size_of(v)))
        groups[k] = sorted([*groups[k], v], key=size_of, reverse=True)
        taken[k] = end
    return groups


def size_of(v: Variable) -> int:
    """Bytes of a value."""
    return v.size * v.dtype.itemsize


def stays(size: int) -> bool:
    """Whether a block of so many bytes is kept from call to call."""
    return size <= MOST_BYTES


class Block(np.ndarray):
    """The address of a kernel's block while no call has it, else 0."""

    def __new__(cls) -> Block:
        return np.zeros(1, np.uintp).view(cls)

    def __del__(self, free: Any = ctypes.pythonapi.PyMem_RawFree) -> None:
        if self.base is not None and self[0]:
            free(ctypes.c_void_p(int(self[0])))
            self[0] = 0
