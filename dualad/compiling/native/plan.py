"""What lies in registers, and which loops there are.

Small values are entries in registers, and their operations are unrolled. Operations on larger
arrays become loops: all elementwise operations and reductions of one shape that do not wait for
one another share a loop. The plan is a list of levels; a level's loops come first, then what it
moves, then what it computes in registers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine.staging.operations import Guard, Operation, Variable
from ..loop import Loop as Repetition, variables_of
from .elementwise import is_elementwise
from .forms import INDEXED, REDUCTIONS, VIEWS, WRITES, held, name_of, operations_of
from .later import levels_where_read
from .layouts import Layout, contiguous, view_of

__all__ = ["Loop", "Movement", "Plan", "Turns"]

#: How many entries may be unrolled in all, by the size of the largest value in registers.
BUDGET = ((64, 500), (32, 1000), (16, 2000), (8, 6000), (4, 30000), (1, 1 << 60))


class Loop:
    """Elementwise operations and reductions over one shape, in the order of the program."""

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape
        self.steps: list[Operation | Guard] = []


class Movement:
    """An operation that has a loop of its own."""

    def __init__(self, operation: Operation):
        self.operation = operation


class Turns:
    """A repetition: the plan of its body, and where what it carries and saves lies."""

    def __init__(self, loop: Repetition, outer: Plan):
        self.loop = loop
        inside = [c.inside for c in loop.carries] + [s.inside for s in loop.streams]
        own = {*inside, *(r for s in loop.body if type(s) is Operation for r in s.results)}
        read = dict.fromkeys(v for s in loop.body for v in variables_of(s))
        taken = [c.update for c in loop.carries] + [s.inside for s in loop.saves]
        read.update(dict.fromkeys([*taken, *(v for _, v in loop.finals)]))
        outside = [v for v in read if v not in own]
        #: what the body reads from outside in every turn
        self.outside = outside
        asked = [c.update for c in loop.carries] + [s.inside for s in loop.saves]
        asked += [v for _, v in loop.finals]
        large = {v: outer.layout_of(v) for v in outside if not outer.is_small(v)}
        owned = [c.inside for c in loop.carries]
        self.plan = Plan(loop.body, [*inside, *outside], asked, outer.limit, large, owned)
        #: what each save writes, a row of all turns
        self.saved = [_row(s.inside, loop.turns) for s in loop.saves]
        #: what each stream reads that is no row yet
        self.gathered = [_row(s.inside, loop.turns) for s in loop.streams]

    def temporaries(self) -> list[Variable]:
        """The variables whose memory the repetition needs."""
        own = [c.inside for c in self.loop.carries if not self.plan.is_small(c.inside)]
        given = {*self.outside, *(s.inside for s in self.loop.streams)}
        return [*own, *self.saved, *self.gathered, *self.plan.temporaries({*given, *own})]


def _row(v: Variable, turns: int) -> Variable:
    row = v.another()
    row.shape, row.is_array = (turns, *v.shape), True
    return row


class Plan:
    """The order of steps that all have a native form."""

    def __init__(
        self,
        steps: Iterable[Any],
        inputs: Iterable[Variable],
        asked: Iterable[Variable],
        limit: int | None = None,
        layouts: dict[Variable, Layout] | None = None,
        owned: Iterable[Variable] = (),
        later: dict[Variable, int] | None = None,
    ):
        steps, inputs, asked, owned = list(steps), list(inputs), list(asked), list(owned)
        self.limit = _limit(steps) if limit is None else limit
        if later is None:
            first = Plan(steps, inputs, asked, self.limit, layouts, owned, {})
            later = levels_where_read(steps, first)
        #: levels that are not the first possible ones
        self.later = later
        #: for what comes out of a loop, and for what is computed in registers: its level
        self.level: dict[Variable, int] = dict.fromkeys(inputs, -1)
        #: by the identity of a step
        self.level_of: dict[int, int] = {}
        self.loops: dict[tuple[int, tuple[int, ...]], Loop] = {}
        self.moves: dict[int, list[Movement | Turns]] = {}
        self.registers: dict[int, list[Operation | Guard]] = {}
        #: the loop that gives a variable
        self.member: dict[Variable, tuple[int, tuple[int, ...]]] = {}
        #: where a variable lies that is in memory: a view, or all of it
        self.layout: dict[Variable, Layout] = dict(layouts or {})
        #: variables that are stored while their loop runs
        self.stored: dict[Variable, None] = {}
        #: from which level on nobody reads the memory of a variable any more
        self.free: dict[Variable, int] = {}
        self.last = {v: k for k, s in enumerate(steps) for v in variables_of(s)}
        self.last.update(dict.fromkeys(asked, len(steps)))
        #: arrays that belong to this plan, so that it may write into them
        self.own = set(owned)
        for k, s in enumerate(steps):
            self.at = k
            self._place(s)
        for v in asked:
            self._need(v, 0)

    def temporaries(self, given: set[Variable]) -> list[Variable]:
        """The variables whose memory nobody gives."""
        own = [v for v, where in self.layout.items() if where.base is v]
        made = dict.fromkeys([*self.stored, *own])
        found = [v for v in made if v not in given and not self.is_small(v)]
        for moves in self.moves.values():
            for m in moves:
                if isinstance(m, Turns):
                    found += m.temporaries()
        return found

    def cost(self) -> float:
        """About how many milliseconds it takes to compile, by measurement."""
        moves = [m for at in self.moves.values() for m in at]
        held = [s for at in self.registers.values() for s in at]
        entries = sum(s.results[0].size for s in held if not isinstance(s, Guard))
        total = 10.0 * (len(self.loops) + len(moves)) + 0.12 * entries
        total += 0.5 * sum(len(loop.steps) for loop in self.loops.values())
        return total + sum(m.plan.cost() for m in moves if isinstance(m, Turns))

    def is_small(self, x: Any) -> bool:
        """Whether a value lies in registers."""
        return not hasattr(x, "size") or x.size <= self.limit

    @property
    def levels(self) -> range:
        """The levels in their order."""
        last = [*self.registers, *self.moves, *(k for k, _ in self.loops)]
        return range(-1, max(last, default=-1) + 1)

    # --- levels ------------------------------------------------------------------------------

    def _place(self, s: Operation | Guard) -> None:
        if isinstance(s, Guard):
            self._place_guard(s)
            return
        if isinstance(s, Repetition):
            self._repeated(s)
            return
        (result,) = s.results
        name = name_of(s)
        if name in INDEXED and held(s.params.values()):
            self._moved(s)
            return
        if name in VIEWS and self._is_view(s, result):
            return
        large = [x for x in (*s.operands, result) if not self.is_small(x)]
        if not large or (self.is_small(result) and name == "getitem"):
            self._in_registers(s)
        elif is_elementwise(name):
            self._in_loop(s, result.shape, result)
        elif name in REDUCTIONS:
            self._in_loop(s, s.operands[0].shape, None)
        else:
            self._moved(s)

    def _in_registers(self, s: Operation) -> None:
        level = max([self._level(x) for x in s.operands], default=-1)
        for x in s.operands:
            self._need(x, level)
        self.level[s.results[0]] = self.level_of[id(s)] = level
        self.registers.setdefault(level, []).append(s)

    def _in_loop(
        self, s: Operation | Guard, shape: tuple[int, ...], result: Variable | None
    ) -> None:
        operands = (s.variable,) if isinstance(s, Guard) else s.operands
        level = 0
        for x in operands:
            joins = type(x) is Variable and self.member.get(x, (0, None))[1] == shape
            level = max(level, self._level(x) + (0 if joins else 1))
        level = max(level, self.later.get(result, 0)) if result is not None else level
        self.level_of[id(s)] = level
        key = (level, shape)
        for x in operands:
            if type(x) is not Variable or self.member.get(x) != key:
                self._need(x, level)
        self.loops.setdefault(key, Loop(shape)).steps.append(s)
        if result is not None:
            self.member[result] = key
        for r in () if isinstance(s, Guard) else s.results:
            self.level[r] = level
            if result is None and not self.is_small(r):
                self.layout[r] = contiguous(r, r.shape)

    def _moved(self, s: Operation) -> None:
        read = [*s.operands, *held(s.params.values())]
        level = max([self._level(x) + 1 for x in read], default=0)
        (result,) = s.results
        base = self._overwritten(s)
        if base is not None:
            level = max(level, self.free.get(base, 0))
            self.layout[result] = self.layout[base]
        else:
            self.layout[result] = contiguous(result, result.shape)
            self.own.add(result)
        for x in s.operands:
            self._need(x, level)
        self.level[result] = self.level_of[id(s)] = level
        self.moves.setdefault(level, []).append(Movement(s))

    def _overwritten(self, s: Operation) -> Variable | None:
        """The array that a write may change in place, since nobody reads it afterwards."""
        x, result = s.operands[0], s.results[0]
        if name_of(s) not in WRITES or type(x) is not Variable or self.is_small(x):
            return None
        where = self.layout_of(x)
        base = where.base
        if where != contiguous(base, result.shape) or x.dtype != result.dtype:
            return None
        if base not in self.own:
            return None
        sharing = [v for v, w in self.layout.items() if w.base is base]
        if any(self.last.get(v, -1) > self.at for v in sharing):
            return None
        return None if any(y in sharing for y in s.operands[1:]) else base

    def _repeated(self, s: Repetition) -> None:
        read = [*s.reads(), *(c.initial for c in s.carries)]
        read += [v for t in s.streams for v in t.values]
        level = max([self._level(x) + 1 for x in read], default=0)
        for x in read:
            self._need(x, level)
        turns = Turns(s, self)
        self.level_of[id(s)] = level
        for row, saved in zip(turns.saved, s.saves, strict=True):
            size = saved.inside.size
            for t, v in enumerate(saved.outside):
                where = contiguous(row, v.shape)
                self.layout[v] = where._replace(offset=t * size)
                self.level[v] = level
        for v, inside in s.finals:
            self.level[v] = level
            if not self.is_small(v):
                self.layout[v] = turns.plan.layout_of(inside)
        self.moves.setdefault(level, []).append(turns)

    def _place_guard(self, g: Guard) -> None:
        if self.is_small(g.variable):
            self.level_of[id(g)] = self._level(g.variable)
            self.registers.setdefault(self._level(g.variable), []).append(g)
        else:
            self._in_loop(g, g.variable.shape, None)

    def _level(self, x: Any) -> int:
        return self.level[x] if type(x) is Variable else -1

    # --- memory ------------------------------------------------------------------------------

    def _is_view(self, s: Operation, result: Variable) -> bool:
        """Whether an operation moves nothing; then where its result lies is known."""
        x = s.operands[0]
        if self.is_small(result) or type(x) is not Variable:
            return False
        self._need(x, self._level(x))
        found = view_of(self.layout_of(x), lambda a: s.primitive.impl(a, **s.params))
        if found is None:
            return False
        self.layout[result] = found
        self.level[result] = self._level(x)
        return True

    def _need(self, x: Any, level: int) -> None:
        """Say that a value is read from memory at a level."""
        if type(x) is Variable and not self.is_small(x):
            base = self.base_of(x)
            self.free[base] = max(self.free.get(base, 0), level + 1)

    def base_of(self, v: Variable) -> Variable:
        """The variable in whose memory another lies."""
        base = self.layout_of(v).base
        if base in self.member:
            self.stored[base] = None
        return base

    def layout_of(self, v: Variable) -> Layout:
        """Where a variable lies."""
        if v not in self.layout:
            self.layout[v] = contiguous(v, v.shape)
        return self.layout[v]


def _limit(steps: list[Any]) -> int:
    """Up to which size values lie in registers."""
    sizes = [max([v.size for v in s.results], default=1) for s in operations_of(steps)]
    for limit, budget in BUDGET:
        if sum(n for n in sizes if n <= limit) <= budget:
            return limit
    return 1
