"""One run of large elementwise entries: its blocks, and what is called for each of them.

See `fused`, which finds the runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import Any

import numpy as np

from ..arrays.cutting import TOGETHER
from ..arrays.memory import POOL
from ..arrays.spent import is_spent
from ..primitives.block_programs import Call, Program
from ..primitives.block_rules import BlockRule, ShareRules, known_rules, of_one
from ..programs.entries import add_cotangent
from ..put_off.joint import Node, in_blocks
from .run_steps import Step, is_plain

__all__ = ["ROOM", "Run"]

#: How many blocks there is room for in the cache: those in work, and some that pass by.
ROOM = 8
#: What adds a number to a cotangent that is an array.
PLUS = BlockRule(["total", "s", "c"], (), ["add(s, c, total)"], 0, {})


def number_all_over(ct: np.ndarray) -> np.float64 | None:
    """The number that every entry is, where the strides say that it is one."""
    return None if ct.flags.c_contiguous else ct[(0,) * ct.ndim]


class Run:
    """Where the blocks of a run lie: parts of whole arrays, numbers, and rows of the cache.

    All of them are slots, which are numbered; slot 0 stands for a cotangent that is zero so far.
    """

    def __init__(self, g: list[Any], first: int, shape: tuple):
        self.g, self.first, self.shape = g, first, shape
        self.slots: list[Any] = [None]
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
        #: cotangents that are one number all over
        self.numbers: dict[int, np.float64] = {}
        self.calls: list[Call] = []

    def whole(self, array: np.ndarray) -> int:
        """The slot of an array that is cut."""
        if id(array) not in self.known:
            self.known[id(array)] = self.slot(array.reshape(-1))
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

    def so_far(self, variable: int) -> int:
        """The slot of what has come of a cotangent, a block or a number; 0 for nothing.

        What has come from beyond the run is added to, so that sums are in the order of the
        entries, however these are cut into runs.
        """
        if variable in self.homes:
            return self.homes[variable]
        number = self.numbers.pop(variable, None)
        if number is None:
            ct = self.g[variable]
            if ct is None or not is_plain(ct, self.shape):
                return 0
            self.taken.add(variable)
            number = number_all_over(ct)
            if number is None:
                return self.whole(ct)
        return self.slot(number)

    def let_go(self, slot: int) -> None:
        """One cotangent less is in a slot."""
        if slot in self.held:
            self.held[slot] -= 1
            if not self.held[slot]:
                del self.held[slot]
                self.idle.append(slot)

    def planned(self, steps: list[Step]) -> list[Call]:
        """The calls that are made for every block."""
        for step in steps:
            k = step.variable
            number = self.numbers.pop(k, None)
            if number is None and k not in self.homes:
                number = number_all_over(self.g[k])
            if number is None:
                self.pull(step)
            else:
                self.pull_number(step, number)
            self.is_over(step.reads)
        return self.calls

    def pull(self, step: Step) -> None:
        """Add the shares of a step whose cotangent is an array."""
        k = step.variable
        is_last = k not in self.homes and is_spent(self.g, k) and not any(step.hands_on)
        c = self.homes[k] if k in self.homes else self.whole(self.g[k])
        reads = [self.operand(r) for r in step.reads]
        rules = known_rules(step.pull, step.kinds) or ()
        for n, (i, rule, hands_on) in enumerate(
            zip(step.parents, rules, step.hands_on, strict=True), 1
        ):
            if is_last and n == len(rules):
                self.spent.append(self.g[k])
            so_far = self.so_far(i)
            if hands_on and not so_far and i >= self.first:
                self.homes[i] = c
                if c in self.held:
                    self.held[c] += 1
            else:
                self.add(i, rule, so_far, c, reads)
        self.let_go(c)

    def pull_number(self, step: Step, c: np.float64) -> None:
        """Add the shares of a step whose cotangent is a number: what can be is one, too."""
        rules = known_rules(step.pull, step.kinds) or ()
        of_number = known_rules(step.pull, step.kinds, True) or ()
        for k, (i, rule) in enumerate(zip(step.parents, of_number, strict=True)):
            if rule is None:
                self.add_number(i, of_one(rules[k], c, step.reads))
            else:
                sign, term = step.pull.shares.terms[k]
                self.add_product(step, i, rule, c if sign == "+" else -c, term)

    def add_number(self, i: int, share: np.float64) -> None:
        """Add a share that is a number."""
        so_far = self.so_far(i)
        if not so_far:
            self.numbers[i] = share
        elif type(self.slots[so_far]) is np.float64:
            self.numbers[i] = self.slots[so_far] + share
        else:
            self.calls.append(Call(PLUS, (self.home(i), so_far, self.slot(share)), True))

    def add_product(self, step: Step, i: int, rule: ShareRules, c: np.float64, term: str) -> None:
        """Add a share that is an array, of a cotangent that is a number."""
        so_far = self.so_far(i)
        alone = self.read_alone(step, term) if c == 1 else 0
        if alone and not so_far and i >= self.first:
            self.homes[i] = alone
        else:
            reads = [self.operand(r) for r in step.reads]
            self.add(i, rule, so_far, self.slot(c), reads)

    def read_alone(self, step: Step, term: str) -> int:
        """The slot of an array that a share is the product of the cotangent with; 0 for none.

        A row is none: it is used again when it has been read.
        """
        for name, r in zip(step.pull.shares.reads, step.reads, strict=True):
            if term == f"c * ({name})":
                slot = self.operand(r)
                return slot if slot in self.cut else 0
        return 0

    def add(self, i: int, rule: ShareRules, so_far: int, c: int, reads: Sequence[int]) -> None:
        """Add a share of the cotangent in a slot."""
        home = self.home(i)
        if so_far:
            self.calls.append(Call(rule.added, (home, so_far, c, *reads), True))
        else:
            first = rule.over if i in self.over else rule.first
            self.calls.append(Call(first, (home, c, *reads), True))

    def operand(self, r: Any) -> int:
        """The slot of what is read."""
        if type(r) is Node:
            return self.whole(r.done.x)
        return self.whole(r) if type(r) is np.ndarray else self.slot(r)

    def is_over(self, reads: Sequence[Any]) -> None:
        """What a step reads has been read."""

    def carry_out(self, steps: list[Step], inputs: int) -> dict[int, np.ndarray]:
        """Pull the steps block by block; the gradients that hold no NaN, as far as is known.

        inputs: how many variables are inputs.
        """
        calls = self.planned(steps)
        ends = self.ends(inputs)
        _, squares = self.by_blocks(calls, TOGETHER // ROOM, looks=ends.values())
        return self.finish(steps, () if isnan(squares) else ends)

    def ends(self, inputs: int) -> dict[int, int]:
        """The slots of results that are gradients, where no entry is left below the run."""
        if any(
            self.g[k] is not None or k in self.results or k in self.numbers
            for k in reversed(range(inputs, self.first))
        ):
            return {}
        return {i: self.homes[i] for i in self.results if i < inputs}

    def by_blocks(
        self,
        calls: list[Call],
        most: int,
        sums: Iterable[int] = (),
        before: int = 0,
        looks: Iterable[int] = (),
    ) -> tuple[list[list[Any]], float]:
        """Carry calls out for blocks of `most` entries at most, as `Program` does."""
        if not calls:
            return [], 0.0
        wholes = [(i, self.slots[i]) for i in self.cut]
        self.size, self.block = wholes[0][1].size, most
        changing = frozenset([*self.cut, *self.rows])
        program = Program(tuple(calls), changing, tuple(sums), before, tuple(looks))
        blocks = in_blocks(self.slots, wholes, self.rows, program.spares, most)
        return program.carry_out(self.slots, blocks)

    def finish(self, steps: list[Step], seen: Iterable[int]) -> dict[int, np.ndarray]:
        """Hand on the cotangents that leave the run; those that were seen."""
        for step in steps:
            self.g[step.variable] = None
        numbers = {i: np.broadcast_to(n, self.shape) for i, n in self.numbers.items()}
        for i, total in (self.results | numbers).items():
            if i in self.taken:
                self.g[i] = total
            else:
                add_cotangent(self.g, i, total)
        return {i: self.results[i] for i in seen if self.g[i] is self.results[i]}
