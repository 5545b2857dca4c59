"""Which operations have a native form, what lies in registers, and which loops there are.

Small values are entries in registers, and their operations are unrolled. Operations on larger
arrays become loops: all elementwise operations and reductions of one shape that do not wait for
one another share a loop. The plan is a list of levels; a level's loops come first, then what it
computes in registers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...engine.staged import Guard, Operation, Variable
from ..loop import Loop as Repetition
from ..program import variables_of
from .elementwise import can_emit, is_elementwise
from .emitter import Refused, is_number
from .layouts import Layout, contiguous, view_of

__all__ = [
    "Loop", "Movement", "Plan", "Turns", "are_alike", "guards_of", "is_native", "operations_of",
]  # fmt: skip

REDUCTIONS = {"sum_axes", "max", "min", "all", "any"}
VIEWS = {"getitem", "reshape", "transpose", "broadcast_to"}
MOVES = {"concatenate", "stack", "scatter_add", "index_set", "add_at_slice"}
#: Operations whose index may change from turn to turn, and those that write into an array.
INDEXED = {"getitem", "scatter_add", "index_set", "add_at_slice"}
WRITES = {"index_set", "add_at_slice"}
#: How many entries may be unrolled in all, by the size of the largest value in registers.
BUDGET = ((64, 500), (32, 1000), (16, 2000), (8, 6000), (4, 30000), (1, 1 << 60))
#: Up to how many constants of a stream are gathered by code of their own.
FEW = 32
#: From how many multiplications on a product is the library's.
PRODUCT = 1 << 15


def name_of(s: Operation) -> str:
    """A primitive's name; elementwise primitives of one name in different disguises are one."""
    return s.primitive.name


NONE: frozenset[Variable] = frozenset()


def is_native(s: Any, numbers: frozenset[Variable] = NONE) -> bool:
    """Whether a step has a native form; numbers: what an index may hold, in a repetition."""
    if isinstance(s, Guard):
        return _is_native_guard(s)
    if isinstance(s, Repetition):
        return _is_native_repetition(s)
    values = [*s.operands, *s.results]
    if not all(map(_is_value, values)) or len(s.results) != 1:
        return False
    if not s.is_single or not all(is_number(r.dtype) for r in s.results):
        return False
    name = name_of(s)
    if any(isinstance(p, Variable) for p in s.params.values()):
        return False
    try:
        if is_elementwise(name):
            return _is_native_elementwise(s, name)
        return _is_native_structure(s, name, numbers)
    except Refused:
        return False


def _is_value(x: Any) -> bool:
    if type(x) in (bool, int, float):
        return True
    if isinstance(x, (np.ndarray, np.generic, Variable)):
        size = x.size
        return is_number(x.dtype) and size > 0
    return False


def _is_native_elementwise(s: Operation, name: str) -> bool:
    if s.params and name not in ("cast",):
        return False
    (result,) = s.results
    return can_emit(name, s.operands, result.dtype)


def _is_native_structure(s: Operation, name: str, numbers: frozenset[Variable]) -> bool:
    (result,) = s.results
    if name in REDUCTIONS:
        x = s.operands[0]
        keeps = s.params.get("keepdims", False)
        return isinstance(x, Variable) and x.shape != () and not keeps and "axes" in _axes(s)
    if name in VIEWS | MOVES:
        held = _held(s.params.values())
        if not held:
            return True
        return name in INDEXED and numbers.issuperset(held) and _is_basic(s.params["index"])
    if name in ("matmul", "gram"):
        return _products(s) <= PRODUCT and result.dtype.kind == "f"
    return False


def _axes(s: Operation) -> dict[str, tuple[int, ...]]:
    """The axes of a reduction, in one form."""
    axes = s.params.get("axes", s.params.get("axis"))
    if not isinstance(axes, (tuple, int)):
        return {}
    given = axes if isinstance(axes, tuple) else (axes,)
    return {"axes": tuple(a % len(s.operands[0].shape) for a in given)}


def _products(s: Operation) -> int:
    a, b = s.operands[0], s.operands[-1]
    if any(x.dtype != s.results[0].dtype for x in (a, b)) or len(a.shape) > 2 < len(b.shape) + 1:
        return 1 << 60
    return int(np.prod(s.results[0].shape, dtype=float)) * a.shape[-1]


def _held(params: Iterable[Any]) -> list[Variable]:
    """The variables inside of parameters."""
    out: list[Variable] = []
    for p in params:
        if isinstance(p, (tuple, list)):
            out += _held(p)
        elif isinstance(p, slice):
            out += _held((p.start, p.stop, p.step))
        elif isinstance(p, Variable):
            out.append(p)
    return out


def _is_basic(index: Any) -> bool:
    """Whether variables stand in an index by themselves, beside numbers and slices."""
    return all(
        k is None or k is Ellipsis or type(k) in (int, Variable)
        or (type(k) is slice and not _held([k]))
        for k in index
    )  # fmt: skip


def _is_native_repetition(s: Repetition) -> bool:
    inside = [c.inside for c in s.carries] + [t.inside for t in s.streams] + list(s.results)
    if not all(is_number(v.dtype) and v.size > 0 for v in inside):
        return False
    own = {c.inside for c in s.carries if c.inside.shape}
    taken = [c.update for c in s.carries] + [v for _, v in s.finals]
    if own.intersection(taken):  # an array that is handed on as it is would be overwritten
        return False
    values = [c.initial for c in s.carries] + [v for t in s.streams for v in t.values]
    numbers = frozenset(t.inside for t in s.streams if all(type(v) is int for v in t.values))
    return (
        all(map(_is_value, values))
        and all(_has_rows(t) for t in s.streams)
        and all(is_native(step, numbers) for step in s.body)
    )


def _has_rows(stream: Any) -> bool:
    """Whether the values of a stream are numbers, or arrays that are read one after the other."""
    values = [v for v in stream.values if type(v) is not Variable]
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    if len(arrays) < FEW:
        return len(values) < FEW or len(values) == len(stream.values)
    return len(arrays) == len(stream.values) and are_alike(arrays)


def are_alike(arrays: list[np.ndarray]) -> bool:
    """Whether arrays have one shape and dtype and lie in C order."""
    first = arrays[0]
    return all(
        a.shape == first.shape and a.dtype == first.dtype and a.flags.c_contiguous for a in arrays
    )


def _is_native_guard(g: Guard) -> bool:
    v = g.variable
    if not is_number(v.dtype) or v.size == 0:
        return False
    if g.question == "has_nan":
        return True
    if g.question in ("int", "index") and v.dtype.kind == "f":
        return False
    return v.size == 1 and g.question in ("bool", "int", "index", "float", "value")


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
    ):
        steps = list(steps)
        self.limit = _limit(steps) if limit is None else limit
        #: for what comes out of a loop, and for what is computed in registers: its level
        self.level: dict[Variable, int] = dict.fromkeys(inputs, -1)
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
        asked = list(asked)
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
        if name in INDEXED and _held(s.params.values()):
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
        self.level[s.results[0]] = level
        self.registers.setdefault(level, []).append(s)

    def _in_loop(
        self, s: Operation | Guard, shape: tuple[int, ...], result: Variable | None
    ) -> None:
        operands = (s.variable,) if isinstance(s, Guard) else s.operands
        level = 0
        for x in operands:
            joins = type(x) is Variable and self.member.get(x, (0, None))[1] == shape
            level = max(level, self._level(x) + (0 if joins else 1))
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
        read = [*s.operands, *_held(s.params.values())]
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
        self.level[result] = level
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
        return None if any(y is not x and y in sharing for y in s.operands) else base

    def _repeated(self, s: Repetition) -> None:
        read = [*s.reads(), *(c.initial for c in s.carries)]
        read += [v for t in s.streams for v in t.values]
        level = max([self._level(x) + 1 for x in read], default=0)
        for x in read:
            self._need(x, level)
        turns = Turns(s, self)
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


def operations_of(steps: Iterable[Any]) -> list[Operation]:
    """The operations of steps, those inside of repetitions too."""
    found: list[Operation] = []
    for s in steps:
        if isinstance(s, Repetition):
            found += operations_of(s.body)
        elif not isinstance(s, Guard):
            found.append(s)
    return found


def guards_of(steps: Iterable[Any]) -> list[Guard]:
    """The guards of steps, those inside of repetitions too."""
    found: list[Guard] = []
    for s in steps:
        if isinstance(s, Repetition):
            found += guards_of(s.body)
        elif isinstance(s, Guard):
            found.append(s)
    return found
