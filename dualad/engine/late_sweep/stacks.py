"""Runs over stacks of small arrays: products of matrices, and operands that broadcast, by blocks.

Entries of one large shape, such as points seen from many centres, are swept together, some
entries of the first axis at a time: the cotangents of these pass all of them while they are in the
cache. What comes between, of other shapes, is pulled afterwards. Of a cotangent that is summed
over an axis in the end no more than the sum is computed, where that can be: the points are
thousands, and all that is asked for is what the centre gets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..arrays.cutting import TOGETHER, scratch
from ..arrays.memory import F64, workspace
from ..arrays.spent import is_spent
from ..fast_paths.contractions import pull_sum
from ..fast_paths.item_entries import pull_slice
from ..programs.entries import add_cotangent, pull_elementwise, pull_linear
from ..programs.linear import pull_composite
from ..put_off.joint import Node
from .run_steps import step_of
from .runs import Run
from .stack_entries import (
    shares_of_broadcast,
    shares_of_narrow,
    shares_of_stacks,
    shares_of_step,
)
from .stack_shares import Share, Summed

__all__ = ["is_stack", "pull_stack"]

#: How many entries of the tape are looked at for one run.
LONGEST = 64
#: How many entries the blocks of a run have together: 2 MB. Half of them is read only once.
ROOM = 2 * TOGETHER
#: How many entries are summed up at least where sums are taken first.
MANY = 8

PARENTS_FIRST = frozenset([pull_composite, pull_elementwise, pull_linear, pull_slice, pull_sum])

Shape = tuple[int, ...]


class Call(NamedTuple):
    """A function of blocks, and how what it is given is taken from all slots."""

    function: Callable[..., Any]
    given: Callable[[list], tuple]


class StackStep(NamedTuple):
    """An entry of a run: its variable, and what its parents get."""

    variable: int
    shares: list[Share]


def is_stack(ct: Any) -> bool:
    """Whether a cotangent is a large stack, of which some entries are in the cache together."""
    if type(ct) is not np.ndarray or ct.ndim < 3 or ct.size < TOGETHER or ct.dtype is not F64:
        return False
    each = ct.size // len(ct)
    if len(ct) < 2 or 4 * each > TOGETHER:
        return False
    return ct.flags.c_contiguous or not any(ct.strides) or is_narrow(ct)


def is_narrow(ct: np.ndarray) -> bool:
    """Whether an array repeats one entry along its last axis, and is in order otherwise."""
    return ct.strides[-1] == 0 and ct[..., 0].flags.c_contiguous


def pull_stack(tape: list, inputs: int, g: list[Any], last: int) -> bool:
    """Transpose the run of entries over stacks that ends at `last`; whether there is one.

    It is not one where flat blocks would do.
    """
    found = Found(g[last])
    #: what entries may still add to that are pulled after the run
    behind: set[int] = set()
    reached, k = {last}, last
    while k >= max(inputs, last + 1 - LONGEST):
        entry = tape[k]
        if type(entry) is not tuple:
            break
        if k not in reached:
            behind |= numbers_in(entry)
        elif k in behind or (k != last and g[k] is not None) or not found.take(k, entry):
            break
        else:
            reached.update([s.parent for s in found.steps[-1].shares if s.like == found.shape])
        k -= 1
    if found.is_flat or len(found.steps) < 2:
        return False
    StackRun(g, k + 1, found.shape, found.steps, found.is_spread).sweep(found.steps, found.rows)
    return True


class Found:
    """The steps that a run is made of, from its first cotangent on."""

    def __init__(self, ct: np.ndarray):
        self.shape = ct.shape
        #: kept where shares read it: what nobody else holds is written over
        self.narrow = ct if is_narrow(ct) else None
        self.steps: list[StackStep] = []
        #: how many blocks to work in they need
        self.rows = 1
        #: whether all of them are elementwise operations on arrays of one shape
        self.is_flat = True
        #: whether the cotangent repeats an entry, and is written out for each block
        self.is_spread = not ct.flags.c_contiguous

    def take(self, k: int, entry: tuple) -> bool:
        """Take an entry as the next step; whether it can be one."""
        shares, is_flat = None, False
        if not hasattr(entry[0], "shares"):
            shares = shares_of_stacks(entry, self.shape)
        elif not any(type(r) is Node and r.done is None for r in entry):
            step = step_of(k, entry, None, self.shape)
            if step is None:
                shares = shares_of_broadcast(entry, self.shape)
            else:
                is_flat = True
                if not self.steps and self.narrow is not None:
                    shares = shares_of_narrow(step, entry, self.narrow)
                    self.is_spread = shares is None
                if shares is None:
                    shares, rows = shares_of_step(step, self.shape)
                    self.rows = max(self.rows, rows)
        if not shares:
            return False
        self.is_flat = self.is_flat and is_flat
        self.steps.append(StackStep(k, shares))
        return True


def numbers_in(entry: tuple) -> set[int]:
    """Numbers that an entry holds, the variables of its parents among them."""
    found = set()
    # Of many kinds it is known that the parents come first.
    for part in entry[:2] if entry[0] in PARENTS_FIRST else entry:
        for i in part if type(part) is tuple else (part,):
            if type(i) is int:
                found.add(i)
    return found


def summed_variables(steps: list[StackStep], shape: Shape) -> dict[int, Shape]:
    """The variables of steps of which only the sum over some axes is asked for, and these."""
    found: dict[int, Shape] = {}
    for step in reversed(steps[1:]):
        wanted = {s.axes or found.get(s.parent, ()) for s in step.shares}
        axes = wanted.pop()
        if not axes or wanted or math.prod([shape[k] for k in axes]) < MANY:
            continue
        added = [s for other in steps for s in other.shares if s.parent == step.variable]
        if all(s.is_of_sums(axes) for s in (*added, *step.shares)):
            found[step.variable] = axes
    return found


class StackRun(Run):
    """A run that is cut along the first axis of its arrays.

    is_spread: whether a cotangent that has one entry for each row is spread over the row.
    """

    def __init__(
        self, g: list[Any], first: int, shape: Shape, steps: list[StackStep], is_spread: bool
    ):
        super().__init__(g, first, shape)
        self.is_spread = is_spread
        #: the slot of the blocks to work in
        self.work = self.slot(None)
        self.summed = summed_variables(steps, shape)
        #: the cotangents of other shapes that leave the run: (variable, whether of sums) -> both
        self.others: dict[tuple[int, bool], np.ndarray] = {}
        #: (slot of a cotangent, axes) -> the slot of its sum
        self.sums: dict[tuple[int, Shape], int] = {}
        #: what is called once, when all sums are there
        self.afterwards: list[Call] = []
        #: the slots of arrays that have one entry for each row, or for all
        self.narrow: list[int] = []

    def whole(self, array: np.ndarray) -> int:
        if id(array) not in self.known:
            is_short = not array.flags.c_contiguous and is_narrow(array)
            slot = self.known[id(array)] = self.slot(array[..., 0] if is_short else array)
            self.cut.append(slot)
            if self.is_spread and not array.flags.c_contiguous and not self.narrow:
                self.narrow.append(slot)
        return self.known[id(array)]

    def home(self, variable: int) -> int:
        home = super().home(variable)
        if self.sums:  # one that is added to has another sum
            self.sums = {k: slot for k, slot in self.sums.items() if k[0] != home}
        return home

    def of_other_shape(self, share: Share, of_sums: bool) -> tuple[int, int]:
        """Where a share goes that leaves the run with another shape, and what has come so far."""
        key = share.parent, of_sums
        if key in self.others:
            slot = self.whole(self.others[key])
            return slot, slot
        self.others[key] = workspace(share.like, F64)
        return self.whole(self.others[key]), 0

    def of_sums(self, variable: int) -> tuple[int, int]:
        """Where a share of sums goes, and what has come so far."""
        if variable in self.homes:
            return self.homes[variable], self.homes[variable]
        self.homes[variable] = self.room_for(self.summed[variable])
        return self.homes[variable], 0

    def room_for(self, axes: Shape) -> int:
        """The slot of an array for sums over axes."""
        reduced = [1 if k in axes else n for k, n in enumerate(self.shape)]
        return self.whole(workspace(tuple(reduced), F64))

    def sweep(self, steps: list[StackStep], count: int) -> None:
        """Pull the steps, some entries of the stacks at a time, with so many blocks to work in."""
        calls: list[Call] = []
        for k, shares in steps:
            hands_on = any(s.is_handed for s in shares)
            is_last = k not in self.homes and is_spent(self.g, k) and not hands_on
            c = self.homes[k] if k in self.homes else self.whole(self.g[k])
            for n, share in enumerate(shares, 1):
                if is_last and n == len(shares):
                    self.spent.append(self.g[k])
                self.plan(k, c, share, calls)
            self.let_go(c)
        for now in self.blocks(count):
            for function, given in calls:
                function(*given(now))
        for function, given in self.afterwards:
            function(*given(self.slots))
        self.finish(steps, ())  # type: ignore[arg-type]
        for (i, _), total in self.others.items():
            add_cotangent(self.g, i, total)

    def plan(self, k: int, c: int, share: Share, calls: list[Call]) -> None:
        """Let the call for a share of variable k, whose cotangent has slot c, be made."""
        i = share.parent
        of_sums = k in self.summed or i in self.summed
        if of_sums and k not in self.summed:
            c = self.sum_of(c, self.summed[i], calls)
        if share.like != self.shape:
            home, so_far = self.of_other_shape(share, of_sums)
        elif i in self.summed:
            home, so_far = self.of_sums(i)
        else:
            so_far = self.so_far(i)
            if share.is_handed and not so_far and i >= self.first:
                self.homes[i] = c
                if c in self.held:
                    self.held[c] += 1
                return
            home = self.home(i)
        rule, reads = share.rule(self.shape, of_sums)
        given = [home, so_far, self.work, c, *map(self.operand, reads)]
        if i in self.over:
            given.append(self.slot(True))
        (self.afterwards if of_sums else calls).append(Call(rule, itemgetter(*given)))

    def sum_of(self, c: int, axes: Shape, calls: list[Call]) -> int:
        """The slot of the sum of a cotangent over axes, which is computed once."""
        if (c, axes) not in self.sums:
            slot = self.sums[c, axes] = self.room_for(axes)
            calls.append(Call(Summed(0, (), axes, True).rule(self.shape, False)[0],
                              itemgetter(slot, 0, self.work, c)))  # fmt: skip
        return self.sums[c, axes]

    def blocks(self, count: int) -> Iterator[list[Any]]:
        n, inner, n_axes = self.shape[0], self.shape[1:], len(self.shape)
        each, wholes = math.prod(inner), [(i, self.slots[i]) for i in self.cut]
        together = len(self.rows) + count + sum(a.shape == self.shape for _, a in wholes)
        step = max(1, ROOM // (each * together))
        step = -(-n // -(-n // step))  # as many blocks, of nearly one size
        memory = [r.reshape(step, *inner) for r in scratch(len(self.rows) + count, step * each)]
        now = list(self.slots)
        for start in range(0, n, step):
            size = min(step, n - start)
            for i, array in wholes:
                now[i] = array[start : start + size]
            for i in self.narrow:
                if now[i].ndim == n_axes:
                    now[i] = now[i].copy()
                else:
                    now[i] = np.repeat(now[i].reshape(-1), inner[-1]).reshape(size, *inner)
            rows = memory if size == step else [r[:size] for r in memory]
            for i, row in zip(self.rows, rows, strict=False):
                now[i] = row
            now[self.work] = rows[len(self.rows) :]
            yield now
