"""Sweeps over large arrays: a run of elementwise operations is transposed block by block.

Where neighbouring entries of a tape are elementwise, of one large shape, their cotangents need
never be whole arrays: a block of each passes all of these entries while it is in the cache. Only
what leaves the run is written to memory, over the cotangents that the run has read where nobody
else holds them. The shares are those of the entries' own pulls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .blocks import share_rule
from .cutting import TOGETHER, scratch
from .guard import has_nan
from .memory import F64, LARGE, POOL
from .spent import SPENT, is_spent
from .tape import add_cotangent, pull_linear

__all__ = ["sweep_large"]

#: How many blocks there is room for in the cache: those in work, and some that pass by.
ROOM = 8
NUMBERS = (float, int, np.float64)
#: (pull, which of its reads are arrays) -> its rules on blocks and how many rows they take
_rules: dict[tuple[Callable, tuple[bool, ...]], tuple[list[Callable], int] | None] = {}


class Step(NamedTuple):
    """An entry of a run: its variable, those of its parents, its rules, what they read.

    One that `computes` nothing hands its cotangent on.
    """

    variable: int
    parents: tuple[int, ...]
    rules: list[Callable]
    reads: tuple
    computes: bool


def sweep_large(
    tape: list, inputs: int, g: list[Any], last: int, own: set[int]
) -> dict[int, np.ndarray]:
    """Pull the entries of a tape from `last` down, runs of large elementwise ones as one.

    Gives the cotangents of inputs, by their numbers, of which it is known that they hold no NaN
    that another sweep could avoid, unless others are found in their places.
    """
    known: dict[int, np.ndarray] = {}
    k = last
    while k >= inputs:
        ct = g[k]
        if ct is None:
            k -= 1
            continue
        entry = tape[k]
        pull = entry[0]
        if pull is pull_linear and type(ct) is np.ndarray:
            new = larger_shares(ct, entry, inputs, g)
            has_none = new and not has_nan(ct)
            g[k] = None
            pull(ct, entry, g, own)
            if has_none:
                known.update([(i, g[i]) for i in new])
        elif type(ct) is np.ndarray and ct.size >= LARGE and hasattr(pull, "shares"):
            del ct  # what nobody else holds is written over
            first = pull_run(tape, inputs, g, k)
            if first is None:
                pull_one(entry, g, k, own)
            else:
                k = first
        else:
            g[k] = None
            pull(ct, entry, g, own)
        k -= 1
    return known


def pull_one(entry: tuple, g: list[Any], k: int, own: set[int]) -> None:
    """Pull a large elementwise entry, over its own cotangent where that is spent."""
    if is_spent(g, k):
        own.add(SPENT)
    ct, g[k] = g[k], None
    entry[0](ct, entry, g, own)
    own.discard(SPENT)


def larger_shares(ct: np.ndarray, entry: tuple, inputs: int, g: list[Any]) -> list[int]:
    """The inputs whose cotangents begin as shares of a linear operation larger than its own.

    What a sweep does that avoids a NaN is no other for linear operations: the look for one may as
    well be at what they are given.
    """
    like, least = entry[6], max(LARGE, 2 * ct.size)
    return [
        i
        for n, i in enumerate(entry[1])
        if i is not None and i < inputs and g[i] is None and math.prod(like[n].shape) >= least
    ]


def pull_run(tape: list, inputs: int, g: list[Any], last: int) -> int | None:
    """Transpose the run of entries that ends at `last`; where it begins, None where none does."""
    below = last - 1
    if below < inputs:
        return None
    if not hasattr(tape[below][0], "shares"):
        parents = tape[last][1 : 1 + len(tape[last][0].shares.terms)]
        if g[below] is not None or below in parents:
            return None
    shape = g[last].shape
    steps: list[Step] = []
    reached, rows, k = {last}, 1, last
    while k >= inputs:
        if k in reached or g[k] is not None:
            found = step_of(k, tape[k], g[k], shape)
            if found is None:
                break
            step, needed = found
            steps.append(step)
            reached.update(step.parents)
            rows = max(rows, needed)
        k -= 1
    if len(steps) < 2 or not any(step.computes for step in steps):
        return None
    _Run(g, k + 1, shape).carry_out(steps, rows)
    return k + 1


def step_of(k: int, entry: tuple, ct: Any, shape: tuple) -> tuple[Step, int] | None:
    """An entry as a step of a run over arrays of that shape; None where it is no such entry."""
    stated = getattr(entry[0], "shares", None)
    if stated is None or not (ct is None or is_plain(ct, shape)):
        return None
    count = len(stated.terms)
    reads = entry[1 + count :]
    kinds = []
    for r in reads:
        is_array = type(r) is np.ndarray
        if is_array and not (r.shape == shape and r.dtype is F64 and r.flags.c_contiguous):
            return None
        if not is_array and type(r) not in NUMBERS:
            return None
        kinds.append(is_array)
    key = (entry[0], tuple(kinds))
    if key not in _rules:
        _rules[key] = rules_of(stated, tuple(kinds))
    found = _rules[key]
    if found is None:
        return None
    computes = any(term != ("+", "c") for term in stated.terms)
    return Step(k, entry[1 : 1 + count], found[0], reads, computes), found[1]


def rules_of(stated: Any, kinds: tuple[bool, ...]) -> tuple[list[Callable], int] | None:
    """The shares of an entry as functions on blocks; None where one is more than ufuncs."""
    numbers = {name for name, is_array in zip(stated.reads, kinds, strict=True) if not is_array}
    rules, rows = [], 1
    for sign, term in stated.terms:
        made = share_rule(stated.namespace, term, sign, stated.reads, numbers)
        if made is None:
            return None
        rules.append(made[0])
        rows = max(rows, made[1])
    return rules, rows


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


class _Run:
    """Where the blocks of a run lie: parts of whole arrays, numbers, and rows of the cache.

    All of them are slots, which are numbered; slot 0 is None, for a cotangent that is zero so far.
    """

    def __init__(self, g: list[Any], first: int, shape: tuple):
        self.g, self.first, self.shape = g, first, shape
        self.block = TOGETHER // ROOM
        self.slots: list[Any] = [None]
        self.cut: list[int] = []  # the slots that are parts of whole arrays
        self.rows: list[int] = []
        self.idle: list[int] = []
        self.known: dict[int, int] = {}
        self.homes: dict[int, int] = {}
        self.results: dict[int, np.ndarray] = {}
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

    def home(self, variable: int) -> int:
        """A slot for a cotangent: a row inside of the run, a new array where it leaves it."""
        if variable < self.first:
            if self.spent:
                self.over.add(variable)
            out = self.spent.pop() if self.spent else POOL.lend(self.shape)
            self.results[variable] = out
            return self.whole(out)
        if not self.idle:
            self.rows.append(self.slot(None))
            self.idle.append(self.rows[-1])
        return self.idle.pop()

    def planned(self, steps: list[Step]) -> list[tuple]:
        """The calls that are made for every block, by slots."""
        calls: list[tuple] = []
        for step in steps:
            k = step.variable
            is_last = self.g[k] is not None and is_spent(self.g, k)
            given = self.g[k]
            if k not in self.homes:
                c = self.whole(given)
            else:
                c = self.homes[k]
                if given is not None:
                    calls.append((_add, self.whole(given), c, c, ()))
            reads = [self.whole(r) if type(r) is np.ndarray else self.slot(r) for r in step.reads]
            for n, (i, rule) in enumerate(zip(step.parents, step.rules, strict=True), 1):
                if is_last and n == len(step.rules):
                    self.spent.append(given)
                so_far = self.homes.get(i, 0)
                if not so_far:
                    self.homes[i] = self.home(i)
                over = [self.slot(True)] if i in self.over else []
                calls.append((rule, c, so_far, self.homes[i], (*reads, *over)))
            if k in self.homes:
                self.idle.append(self.homes[k])
        return calls

    def carry_out(self, steps: list[Step], count: int) -> None:
        """Pull the steps block by block, with so many blocks to work in."""
        calls = self.planned(steps)
        wholes = [self.slots[i] for i in self.cut]
        rows = list(scratch(len(self.rows) + count, self.block))
        now, n = list(self.slots), wholes[0].size
        for start in range(0, n, self.block):
            at = slice(start, start + self.block)
            for i, array in zip(self.cut, wholes, strict=True):
                now[i] = array[at]
            if n - start < self.block:
                rows = [r[: n - start] for r in rows]
            for i, row in zip(self.rows, rows, strict=False):
                now[i] = row
            work = rows[len(self.rows) :]
            for rule, c, so_far, out, reads in calls:
                rule(now[out], now[so_far], work, now[c], *[now[i] for i in reads])
        for step in steps:
            self.g[step.variable] = None
        for i, total in self.results.items():
            add_cotangent(self.g, i, total)


def _add(out: Any, s: Any, work: list, c: Any) -> None:
    """A cotangent that had come from beyond the run."""
    np.add(s, c, out)
