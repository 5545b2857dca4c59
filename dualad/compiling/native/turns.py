"""Repetitions: the body once, with what it carries from turn to turn, reads and saves."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.staging.operations import Guard, Variable
from ..loop import Stream
from .emitter import Emitter
from .entry import POINTER, TRUTH, Entry, integer, kind_of
from .layouts import Layout, contiguous
from .moves import copy, put
from .plan import Plan, Turns
from .scope import Scope
from .unrolled import entries_of

__all__ = ["write_turns"]


def write_turns(scope: Scope, turns: Turns) -> None:
    """Write a repetition."""
    Repeated(scope, turns).write()


class Body(Scope):
    """One turn: a guard fails where it fails in any turn."""

    def __init__(self, emitter: Emitter, plan: Plan, outer: Scope):
        super().__init__(emitter, plan, outer)
        self.places: list[tuple[Guard, Any]] = []

    def fails(self, guard: Guard, failing: Any) -> None:
        """Say whether a guard fails in this turn."""
        b = self.emitter.builder
        place = self.emitter.top.alloca(TRUTH)
        self.emitter.top.store(ir.Constant(TRUTH, 0), place)
        b.store(b.or_(b.load(place, typ=TRUTH), failing), place)
        self.places.append((guard, place))


class Repeated:
    """A repetition while it is written."""

    def __init__(self, scope: Scope, turns: Turns):
        self.outer, self.turns, self.loop = scope, turns, turns.loop
        self.e = scope.emitter
        self.body = Body(scope.emitter, turns.plan, scope)
        self.carried: dict[Variable, list[Any]] = {}
        self.sources: list[Any] = []

    def write(self) -> None:
        for v in self.turns.outside:
            if self.body.plan.is_small(v):
                self.body.entries[v] = self.outer.operand(v)
        for c in self.loop.carries:
            self._begin(c.inside, c.initial)
        for s, row in zip(self.loop.streams, self.turns.gathered, strict=True):
            self.sources.append(self._source(s, row))
        with self.e.loop(self.loop.turns) as turn:
            for v, places in self.carried.items():
                self._taken(v, places)
            for s, source in zip(self.loop.streams, self.sources, strict=True):
                self._streamed(s.inside, source, turn)
            self.body.write()
            for save, row in zip(self.loop.saves, self.turns.saved, strict=True):
                self._saved(save.inside, row, turn)
            self._hand_on()
        for guard, place in self.body.places:
            self.outer.fails(guard, self.e.builder.load(place, typ=TRUTH))
        for v, inside in self.loop.finals:
            if self.outer.plan.is_small(v):
                self.outer.entries[v] = self.body.operand(inside)

    # --- what is carried ---------------------------------------------------------------------

    def _begin(self, inside: Variable, initial: Any) -> None:
        e = self.e
        if not self.body.plan.is_small(inside):
            where = contiguous(inside, inside.shape)
            put(self.outer, initial, self.outer.pointer(inside), where, inside.dtype)
            return
        given = self.outer.operand(initial)
        if not isinstance(given, np.ndarray):
            given = entries_of([given], ())
        kind = kind_of(inside.dtype)
        entries = np.broadcast_to(given, inside.shape).reshape(-1)
        self.carried[inside] = [e.variable(kind, e.cast(x, inside.dtype).value) for x in entries]

    def _taken(self, v: Variable, places: list[Any]) -> None:
        kind = kind_of(v.dtype)
        loads = [Entry(self.e, self.e.builder.load(p, typ=kind), v.dtype) for p in places]
        self.body.entries[v] = entries_of(loads, v.shape)

    def _hand_on(self) -> None:
        updates = [
            (c.inside, self.body.operand(c.update))
            for c in self.loop.carries
            if c.inside in self.carried
        ]
        for v, entries in updates:
            for place, x in zip(self.carried[v], entries.reshape(-1), strict=True):
                self.e.builder.store(self.e.cast(x, v.dtype).value, place)
        for c in self.loop.carries:
            if c.inside not in self.carried and not self._is_in_place(c):
                self._copied(c.update, self.outer.pointer(c.inside), c.inside)

    def _is_in_place(self, c: Any) -> bool:
        """Whether a turn has written into the array that it carries."""
        return self.body.plan.layout_of(c.update).base is c.inside

    def _copied(self, v: Variable, target: Any, like: Variable) -> None:
        if self.body.plan.is_small(v):
            self.body.give(v, target)
        else:
            where = contiguous(like, like.shape)
            copy(self.body, self.body.plan.layout_of(v), target, where, like.dtype)

    # --- what is saved and read --------------------------------------------------------------

    def _moved(self, pointer: Any, turn: Any, step: int, dtype: np.dtype) -> Any:
        b = self.e.builder
        at = b.mul(turn, integer(step * dtype.itemsize), flags=("nsw",))
        return b.gep(pointer, [at], inbounds=True, source_etype=ir.IntType(8))

    def _saved(self, v: Variable, row: Variable, turn: Any) -> None:
        target = self._moved(self.outer.pointer(row), turn, v.size, v.dtype)
        self._copied(v, target, v)

    def _source(self, s: Stream, row: Variable) -> Any:
        """Where a stream is read: a pointer, the step of a turn (None: addresses), a layout."""
        found = self._in_steps(s)
        if found is not None:
            return found
        whole = contiguous(row, row.shape)
        size, inside = s.inside.size, s.inside
        target = self.outer.pointer(row)
        for t, n, source in self._stretches(s):
            where = Layout(row, t * size, (n, *inside.shape), whole.strides)
            if source is not None:
                copy(self.outer, source, target, where, inside.dtype)
                continue
            one = where._replace(shape=inside.shape, strides=whole.strides[1:])
            self._gathered(s.values[t], target, one, inside)
        return target, size, contiguous(inside, inside.shape)

    def _stretches(self, s: Stream) -> list[tuple[int, int, Layout | None]]:
        """A stream in stretches: start, length, and where it lies if that is in even steps."""
        places = [self.outer.plan.layout.get(v) if type(v) is Variable else None for v in s.values]
        found: list[tuple[int, int, Layout | None]] = []
        t = 0
        while t < len(places):
            n, first = 1, places[t]
            if first is None:
                found.append((t, 1, None))
                t += 1
                continue
            following = places[t + 1] if t + 1 < len(places) else None
            step = following.offset - first.offset if following is not None else 0
            while t + n < len(places) and places[t + n] == first._replace(
                offset=first.offset + n * step
            ):
                n += 1
            shape, strides = (n, *first.shape), (step, *first.strides)
            found.append((t, n, first._replace(shape=shape, strides=strides)))
            t += n
        return found

    def _gathered(self, v: Any, target: Any, where: Layout, like: Variable) -> None:
        small = type(v) is Variable and self.outer.plan.is_small(v)
        if not small:
            put(self.outer, v, target, where, like.dtype)
            return
        for k, x in enumerate(self.outer.operand(v).reshape(-1)):
            self.e.store(self.e.cast(x, like.dtype), target, integer(where.offset + k))

    def _in_steps(self, s: Stream) -> Any:
        """The source of values that lie in memory one after the other already."""
        if not any(type(v) is Variable for v in s.values):
            return self._constants(s)
        if not all(type(v) is Variable and v in self.outer.plan.layout for v in s.values):
            return None
        places = [self.outer.plan.layout[v] for v in s.values]
        first = places[0]
        step = places[1].offset - first.offset if len(places) > 1 else 0
        for t, p in enumerate(places):
            if p != first._replace(offset=first.offset + t * step):
                return None
        if any(v.dtype != s.inside.dtype for v in s.values):
            return None
        if not self._is_plain(s.inside, first.strides):
            return None
        pointer = self.outer.pointer(first.base)
        start = self._moved(pointer, integer(1), first.offset, s.inside.dtype)
        return start, step, first._replace(base=s.inside, offset=0)

    def _is_plain(self, inside: Variable, strides: tuple[int, ...]) -> bool:
        """Whether the body reads a value where it lies: large ones lie without gaps."""
        plain = contiguous(inside, inside.shape).strides
        return self.body.plan.is_small(inside) or strides == plain

    def _constants(self, s: Stream) -> Any:
        inside = s.inside
        row = self.outer.row(inside)
        if row is not None and s.values[0].dtype == inside.dtype:
            return self.outer.pointer(row), None, contiguous(inside, inside.shape)
        if inside.shape or any(isinstance(v, np.ndarray) for v in s.values):
            return None
        numbers = [self.e.constant(v, inside.dtype).value.constant for v in s.values]
        kind = ir.IntType(8) if inside.dtype.kind == "b" else kind_of(inside.dtype)
        held = self.e.table(kind, numbers)
        return held, 1, contiguous(inside, ())

    def _streamed(self, v: Variable, source: Any, turn: Any) -> None:
        pointer, step, where = source
        if step is None:
            place = self.e.builder.gep(pointer, [turn], inbounds=True, source_etype=POINTER)
            self.body.memory[v] = self.e.builder.load(place, typ=POINTER)
        else:
            self.body.memory[v] = self._moved(pointer, turn, step, v.dtype)
        if self.body.plan.is_small(v):
            self.body.entries[v] = self.body.loaded(where._replace(base=v), v.dtype)
