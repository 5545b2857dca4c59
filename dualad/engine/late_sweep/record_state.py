"""What a level that records has put off: see `late_records`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..arrays.sums import sum_of_parts
from ..put_off.joint import Node, Pass, in_order
from ..put_off.postponed import done
from ..put_off.waiting import State

__all__ = ["RecordState", "finite_sum"]


#: How many operations are carried out at once rather than copy what the user may write to.
FEW = 2


#: Of so few operations, which somebody looks at before the sweep, all is kept that this reads:
#: to compute it again saves no time, and keeping it is not much memory.
SHORT = 12


class RecordState(State):
    """The same as for duals; what nobody has asked for is left to the sweep."""

    __slots__ = ("begun", "totals")

    def __init__(self, values: Iterable[Any], f: Any = None) -> None:
        """The values that the user has, and may write to, and the function f of them."""
        super().__init__(values, (), f)
        #: the sums that may not be computed yet
        self.totals: list[Any] = []
        #: how many operations were carried out at once for what is said in `is_early`
        self.begun = 0

    def is_early(self, operands: Sequence[Any], may_be_written: bool) -> bool:
        """Whether an operation is carried out at once rather than copy something.

        That is one whose constant would have to be copied: many constants would take much memory.
        And it is one of the first that would have to copy an operand: perhaps there are not many
        more, and a copy costs as much as two; but not where there were many last time.
        """
        if may_be_written:
            return True
        if self.has_many or self.begun >= FEW or any(type(n) is Node for n in operands):
            return False
        if any(self.would_copy(n.x) for n in operands):
            self.begun += 1
            return True
        return False

    def would_copy(self, x: np.ndarray) -> bool:
        """Whether an array is one of the user's, of which there is no copy."""
        a = self.whose(x)
        return a is not None and (id(a), 0, a.shape) not in self.copies

    def leave(self, failure: Any) -> None:
        """The function has returned; if it has failed, there is no sweep."""
        self.remember()
        if failure is not None:
            self.finish(failure)

    def finish(self, failure: Any = None) -> None:
        """Compute what nobody asked for: it may have something to warn of."""
        unseen, totals, self.totals = self.unseen, self.totals, []
        if failure is not None:
            self.unseen = []
        try:
            if isinstance(failure, (MemoryError, KeyboardInterrupt)):
                return
            for n in unseen:
                n.is_kept = False
            for shape in {n.shape: None for n in unseen}:
                nodes = in_order([n for n in unseen if n.shape == shape])
                self.carry_out(nodes, Pass(nodes))
            for total in totals if failure is None else ():
                total.found()
        finally:
            for total in totals:
                total.let_go()

    def compute(self, node: Node, target: Node | None) -> None:
        """Compute a node, and on the way all of its shape that was put off; keep the target."""
        nodes = in_order([*(n for n in self.unseen if n.shape == node.shape), node])
        if len(nodes) <= SHORT:
            for n in nodes:
                n.is_kept = n.is_kept or n.is_read
        self.carry_out(nodes, Pass(nodes, target))

    def carry_out(self, nodes: Sequence[Node], joint: Pass) -> None:
        """Compute nodes, with the sums of them that are waited for."""
        waiting = [n for n in nodes if n.total is not None and n.total.value is None]
        with self.alarms.of_the_operations():
            parts = joint.sums([joint.homes[id(n)][0] for n in waiting])
            for n, sums in zip(waiting, parts, strict=True):
                n.total.value = finite_sum(joint.size, joint.block, sums)
        done(self, list(nodes), joint.results())

    def have_been_seen(self, nodes: Sequence[Node]) -> None:
        """Nodes were computed, and not kept."""
        for n in nodes:
            n.seen = True
        self.unseen = [n for n in self.unseen if not n.seen]

    def arrays(self, nodes: Sequence[Node]) -> None:
        """Compute nodes, and keep them all."""
        for shape in {n.shape: None for n in nodes}:
            wanted = [n for n in nodes if n.shape == shape and n.done is None]
            for n in wanted:
                n.is_kept = True
            if wanted:
                order = in_order(wanted)
                self.carry_out(order, Pass(order))

    def settled(self, entry: tuple) -> tuple:
        """An entry of a tape with arrays in the place of nodes."""
        if Node not in map(type, entry):
            return entry
        self.arrays([x for x in entry if type(x) is Node])
        return tuple([x.done.x if type(x) is Node else x for x in entry])

    def keep(self, tape: list) -> None:
        """Let all entries of a tape hold arrays."""
        self.arrays([x for e in tape if type(e) is tuple for x in e if type(x) is Node])
        tape[:] = [self.settled(e) if type(e) is tuple else e for e in tape]


def finite_sum(size: int, block: int, sums: Sequence[Any]) -> Any:
    """The sum of all entries, to the last bit as NumPy's; None where it is not finite."""
    total = sum_of_parts(size, block, sums)
    return total if np.isfinite(total) else None
