"""One run of large elementwise entries whose values are put off.

See `late_records`, which puts them off, and `fused`, which finds the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from ..arrays.cutting import TOGETHER
from ..primitives.block_programs import Call
from ..put_off.joint import Node
from .record_state import RecordState, finite_sum
from .runs import ROOM, Run, Step

__all__ = ["LateRun"]

#: Blocks are at least so long: what a call costs is little beside them.
SHORTEST = 1 << 14


class LateRun(Run):
    """A run that computes a block of the values that it reads before it pulls that block.

    A value is in a row until nobody reads it any more.
    """

    def __init__(
        self, g: list[Any], first: int, shape: tuple, late: RecordState, nodes: list[Node]
    ):
        """nodes: what is computed, each after what it is made of."""
        super().__init__(g, first, shape)
        self.late, self.nodes = late, nodes
        self.values: dict[int, int] = {}
        #: how often each value is still read
        self.left: dict[int, int] = {id(n): 0 for n in nodes}
        self.waiting = [n for n in nodes if n.total is not None and n.total.value is None]

    def operand(self, r: Any) -> int:
        if type(r) is Node and id(r) in self.values:
            return self.values[id(r)]
        return super().operand(r)

    def is_over(self, reads: Sequence[Any]) -> None:
        for r in reads:
            if id(r) in self.left:
                self.left[id(r)] -= 1
                if not self.left[id(r)]:
                    self.idle.append(self.values[id(r)])

    def forward(self, steps: list[Step]) -> list[Call]:
        """The calls that compute the values."""
        readers = [n.active for n in self.nodes] + [step.reads for step in steps]
        for r in [r for reads in readers for r in reads] + self.waiting:
            if id(r) in self.left:
                self.left[id(r)] += 1
        calls = []
        for n in self.nodes:
            given = [self.operand(a if type(a) is Node else a.x) for a in n.active]
            given += [self.operand(c) for c in n.constants]
            out = self.values[id(n)] = self.row()
            calls.append(Call(n.rule.on_blocks, (out, 0, *given), n.seen))
            self.is_over(n.active)
        return calls

    def carry_out(self, steps: list[Step], inputs: int) -> dict[int, np.ndarray]:
        forward = self.forward(steps)
        sums = [self.values[id(n)] for n in self.waiting]
        self.is_over(self.waiting)
        calls = forward + self.planned(steps)
        ends = self.ends(inputs)
        rows = len(self.rows) + max(call.rule.spares for call in calls)
        most = min(max(TOGETHER * 4 // 3 // rows, SHORTEST), TOGETHER // ROOM)
        with self.late.alarms.of_the_operations():
            parts, squares = self.by_blocks(calls, most, sums, len(forward), ends.values())
        for n, found in zip(self.waiting, parts, strict=True):
            n.total.value = finite_sum(self.size, self.block, found)
        self.late.have_been_seen(self.nodes)
        return self.finish(steps, () if isnan(squares) else ends)
