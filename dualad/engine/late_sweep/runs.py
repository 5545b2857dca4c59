"""One run of large elementwise entries: its blocks, and what is called for each of them.

See `fused`, which finds the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..arrays.cutting import TOGETHER
from ..arrays.guard import ignore, restore
from ..arrays.memory import F64, POOL
from ..arrays.spent import is_spent
from ..arrays.sums import add_parts
from ..programs.entries import add_cotangent
from ..put_off.joint import Node, in_blocks, quietly
from .record_state import RecordState, finite_sum

__all__ = ["Run", "RunWithValues", "Step", "is_plain"]

#: How many blocks there is room for in the cache: those in work, and some that pass by.
ROOM = 8
#: Blocks of runs that compute values are at least so long: what a call costs is little beside.
SHORTEST = 1 << 14


class Step(NamedTuple):
    """An entry of a run: its variable, those of its parents, its rules, what they read."""

    variable: int
    parents: tuple[int, ...]
    rules: list[Callable]
    reads: tuple
    #: which parents get the cotangent as it is
    hands_on: tuple[bool, ...]


def is_plain(ct: Any, shape: tuple) -> bool:
    """Whether a cotangent can be cut as if it had one axis."""
    return (
        type(ct) is np.ndarray and ct.dtype is F64 and ct.shape == shape
        and (ct.flags.c_contiguous or not any(ct.strides))
    )  # fmt: skip


def flat(array: np.ndarray) -> np.ndarray:
    if array.flags.c_contiguous:
        return array.reshape(-1)
    return np.broadcast_to(array[(0,) * array.ndim], (array.size,))


class Call(NamedTuple):
    """A function of blocks, and how what it is given is taken from all slots."""

    function: Callable[..., Any]
    given: Callable[[list], tuple]


class Run:
    """Where the blocks of a run lie: parts of whole arrays, numbers, and rows of the cache.

    All of them are slots, which are numbered; slot 0 is None, for a cotangent that is zero so far,
    and slot 1 has the blocks to work in.
    """

    def __init__(self, g: list[Any], first: int, shape: tuple):
        self.g, self.first, self.shape = g, first, shape
        self.slots: list[Any] = [None, None]
        self.cut: list[int] = []  # the slots that are parts of whole arrays
        self.rows: list[int] = []
        self.idle: list[int] = []
        self.known: dict[int, int] = {}
        self.homes: dict[int, int] = {}
        #: how many cotangents each row is
        self.held: dict[int, int] = {}
        self.results: dict[int, np.ndarray] = {}
        #: the variables of which the run adds to what had come before
        self.taken: set[int] = set()
        #: cotangents that have been read, and what is written over such
        self.spent: list[np.ndarray] = []
        self.over: set[int] = set()

    def whole(self, array: np.ndarray) -> int:
        """The slot of an array that is cut."""
        if id(array) not in self.known:
            self.known[id(array)] = self.slot(flat(array))
            self.cut.append(self.known[id(array)])
        return self.known[id(array)]

    def slot(self, content: Any) -> int:
        self.slots.append(content)
        return len(self.slots) - 1

    def row(self) -> int:
        """The slot of a row that is not in use."""
        if not self.idle:
            self.rows.append(self.slot(None))
            self.idle.append(self.rows[-1])
        return self.idle.pop()

    def home(self, variable: int) -> int:
        """A slot to write a cotangent to: a row inside of the run, a new array where it leaves it.

        It is what there is of the cotangent so far, unless that is another one's as well.
        """
        so_far = self.homes.get(variable)
        if variable < self.first:
            if so_far is None:
                return self.result(variable)
            return so_far
        if so_far is not None and self.held.get(so_far) == 1:
            return so_far
        home = self.homes[variable] = self.row()
        self.held[home] = 1
        if so_far is not None:
            self.let_go(so_far)
        return home

    def result(self, variable: int) -> int:
        """The slot of a cotangent that leaves the run, over one that nobody reads any more."""
        if self.spent:
            self.over.add(variable)
        self.results[variable] = self.spent.pop() if self.spent else POOL.lend(self.shape)
        home = self.homes[variable] = self.whole(self.results[variable])
        return home

    def given(self, variable: int) -> int:
        """The slot of what has come of a cotangent from beyond the run; 0 for nothing.

        It is added to, so that sums are in the order of the entries, however these are cut into
        runs.
        """
        ct = self.g[variable]
        if ct is None or not is_plain(ct, self.shape):
            return 0
        self.taken.add(variable)
        return self.whole(ct)

    def let_go(self, slot: int) -> None:
        """One cotangent less is in a slot."""
        if slot in self.held:
            self.held[slot] -= 1
            if not self.held[slot]:
                del self.held[slot]
                self.idle.append(slot)

    def planned(self, steps: list[Step]) -> list[Call]:
        """The calls that are made for every block."""
        calls: list[Call] = []
        for step in steps:
            k = step.variable
            is_last = k not in self.homes and is_spent(self.g, k) and not any(step.hands_on)
            c = self.homes[k] if k in self.homes else self.whole(self.g[k])
            reads = [self.operand(r) for r in step.reads]
            for n, (i, rule, hands_on) in enumerate(
                zip(step.parents, step.rules, step.hands_on, strict=True), 1
            ):
                if is_last and n == len(step.rules):
                    self.spent.append(self.g[k])
                so_far = self.homes[i] if i in self.homes else self.given(i)
                if hands_on and not so_far and i >= self.first:
                    self.homes[i] = c
                    if c in self.held:
                        self.held[c] += 1
                else:
                    home = self.home(i)
                    given = [home, so_far, 1, c, *reads]
                    if i in self.over:
                        given.append(self.slot(True))
                    calls.append(Call(rule, itemgetter(*given)))
            self.let_go(c)
            self.is_over(step.reads)
        return calls

    def operand(self, r: Any) -> int:
        """The slot of what is read."""
        if type(r) is Node:
            return self.whole(r.done.x)
        return self.whole(r) if type(r) is np.ndarray else self.slot(r)

    def is_over(self, reads: Sequence[Any]) -> None:
        """What a step reads has been read."""

    def carry_out(self, steps: list[Step], count: int) -> None:
        """Pull the steps block by block, with so many blocks to work in."""
        calls = self.planned(steps)
        for now in self.blocks(count, TOGETHER // ROOM):
            for function, given in calls:
                function(*given(now))
        self.finish(steps)

    def blocks(self, count: int, most: int) -> Iterator[list[Any]]:
        """The slots with the blocks of one part after the other, of `most` entries at most."""
        wholes = [(i, self.slots[i]) for i in self.cut]
        self.size, self.block = wholes[0][1].size, most
        for now, work in in_blocks(self.slots, wholes, self.rows, count, most):
            now[1] = work
            yield now

    def finish(self, steps: list[Step]) -> None:
        """Hand on the cotangents that leave the run."""
        for step in steps:
            self.g[step.variable] = None
        for i, total in self.results.items():
            if i in self.taken:
                self.g[i] = total
            else:
                add_cotangent(self.g, i, total)


class RunWithValues(Run):
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
            function = quietly(n.rule.function) if n.seen else n.rule.function
            calls.append(Call(function, itemgetter(out, 0, 1, *given)))
            self.is_over(n.active)
        return calls

    def carry_out(self, steps: list[Step], count: int) -> None:
        forward = self.forward(steps)
        sums = [self.values[id(n)] for n in self.waiting]
        self.is_over(self.waiting)
        calls = self.planned(steps)
        count = max(count, *(n.rule.rows for n in self.nodes))
        most = TOGETHER * 4 // 3 // (len(self.rows) + count)
        parts: list[list[Any]] = [[] for _ in sums]
        with self.late.alarms.of_the_operations():
            for now in self.blocks(count, min(max(most, SHORTEST), TOGETHER // ROOM)):
                for function, given in forward:
                    function(*given(now))
                add_parts(parts, [now[i] for i in sums])
                token = ignore()
                try:
                    for function, given in calls:
                        function(*given(now))
                finally:
                    restore(token)
        for n, found in zip(self.waiting, parts, strict=True):
            n.total.value = finite_sum(self.size, self.block, found)
        self.late.have_been_seen(self.nodes)
        self.finish(steps)
