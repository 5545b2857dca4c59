"""Programs with loops: each run of steps that repeats becomes one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...engine.staging.operations import Operation, Variable
from ..loop import Carry, Loop, Save, Stream
from ..program import Program
from .likeness import kinds_of, places, rebuilt
from .repetition import Run, runs

__all__ = ["rolled"]

#: How many turns make a loop, and how many steps it saves at least.
LEAST, WORTH = 4, 24
#: How many turns at the start may be left out of a loop because they read something else.
PEELED = 3
#: How many runs are tried for one stretch of a program.
TRIES = 8


def rolled(program: Program) -> Program:
    """The program with loops in place of what repeats."""
    steps = list(program.steps)
    if len(steps) < WORTH + LEAST:
        return program
    kinds = kinds_of(steps)
    found: list[Run] = []
    todo = [(0, len(steps))]
    roller = _Roller(steps)
    while todo:
        lo, hi = todo.pop()
        if hi - lo < WORTH + LEAST:
            continue
        for run in itertools.islice(runs(kinds[lo:hi], LEAST), TRIES):
            if run.period * (run.turns - 1) < WORTH:
                break
            fit = roller.fits(Run((run.start + lo, run.period, run.turns)))
            if fit is not None:
                found.append(fit)
                todo += [(lo, fit.start), (fit.start + fit.period * fit.turns, hi)]
                break
    if not found:
        return program
    return program.with_steps(roller.written(sorted(found), program.results()))


class _Roller:
    def __init__(self, steps: list[Any]):
        self.steps = steps
        self.made: dict[Variable, tuple[int, int]] = {
            r: (k, j)
            for k, s in enumerate(steps)
            if isinstance(s, Operation)
            for j, r in enumerate(s.results)
        }
        self.places: dict[int, list[Any]] = {}

    def _places(self, k: int) -> list[Any]:
        if k not in self.places:
            self.places[k] = places(self.steps[k])
        return self.places[k]

    # --- whether a run is a loop ----------------------------------------------------------------

    def fits(self, run: Run) -> Run | None:
        """The run, without the first turns that read something else; None if it is no loop."""
        for peel in range(PEELED + 1):
            smaller = Run((run.start + peel * run.period, run.period, run.turns - peel))
            if smaller.turns < LEAST:
                return None
            if self._is_loop(smaller):
                return smaller
        return None

    def _is_loop(self, run: Run) -> bool:
        for q in range(run.period):
            rows = [self._places(run.start + i * run.period + q) for i in range(run.turns)]
            for column in zip(*rows, strict=True):
                if self._role(run, q, column) is None:
                    return False
        return True

    def _role(self, run: Run, q: int, column: tuple) -> tuple[str, Any] | None:
        """What an operand is: the same in all turns, of this turn, carried, or from a row."""
        first = column[0]
        if all(v is first for v in column):
            inside = type(first) is Variable and self._turn(run, first) is not None
            return None if inside else ("same", first)
        turns = [self._turn(run, v) if type(v) is Variable else None for v in column]
        if all(t is None for t in turns):
            if not any(type(v) is Variable for v in column) and _equal(column):
                return ("same", first)
            return ("stream", None)
        last = turns[-1]
        if last is None:
            return None
        lag = run.turns - 1 - last[0]
        for i, t in enumerate(turns):
            if i < lag:
                if t is not None:
                    return None
            elif t is None or t[1:] != last[1:] or t[0] != i - lag:
                return None
        return ("local", last[1:]) if lag == 0 else ("carry", (lag, *last[1:]))

    def _turn(self, run: Run, v: Variable) -> tuple[int, int, int] | None:
        """Turn, place in the turn and number of the result that a variable is; None outside."""
        at = self.made.get(v)
        if at is None:
            return None
        k, j = at
        i, q = divmod(k - run.start, run.period)
        return (i, q, j) if 0 <= i < run.turns else None

    # --- the loops ------------------------------------------------------------------------------

    def written(self, found: list[Run], wanted: Iterable[Variable]) -> list[Any]:
        """The steps with a loop for each run."""
        used = self._used_outside(found, wanted)
        out: list[Any] = []
        k = 0
        for run in found:
            out += self.steps[k : run.start]
            out.append(self._loop(run, used))
            k = run.start + run.period * run.turns
        return out + self.steps[k:]

    def _used_outside(self, found: list[Run], wanted: Iterable[Variable]) -> set[Variable]:
        """The variables that are read by steps of another run than their own, or of none."""
        home: dict[int, int] = {}
        for n, run in enumerate(found):
            for k in range(run.start, run.start + run.period * run.turns):
                home[k] = n
        used = set(wanted)
        for k in range(len(self.steps)):
            here = home.get(k)
            for v in self._places(k):
                at = self.made.get(v) if type(v) is Variable else None
                if at is not None and (here is None or home.get(at[0]) != here):
                    used.add(v)
        return used

    def _loop(self, run: Run, used: set[Variable]) -> Loop:
        writer = _Writer(self, run)
        for q in range(run.period):
            writer.step(q)
        return writer.loop(used)


def _equal(column: tuple) -> bool:
    first = column[0]
    if isinstance(first, np.ndarray):
        return all(
            v.shape == first.shape and v.dtype == first.dtype and v.tobytes() == first.tobytes()
            for v in column
        )
    if isinstance(first, (float, np.generic)):
        return all(np.asarray(v).tobytes() == np.asarray(first).tobytes() for v in column)
    return all(type(v) is type(first) and v == first for v in column)


class _Writer:
    """Writes the loop of one run."""

    def __init__(self, roller: _Roller, run: Run):
        self.roller, self.run = roller, run
        self.body: list[Any] = []
        self.inside: dict[tuple[int, int], Variable] = {}
        self.carries: dict[Any, Carry] = {}
        self.pending: list[tuple[Any, Variable, Any, tuple[int, int]]] = []
        self.streams: dict[Any, Stream] = {}

    def step(self, q: int) -> None:
        """One step of the body."""
        run, roller = self.run, self.roller
        at = [run.start + i * run.period + q for i in range(run.turns)]
        rows = [roller._places(k) for k in at]
        values = [self._value(q, column) for column in zip(*rows, strict=True)]
        model = roller.steps[at[0]]
        results: tuple[Variable, ...] = ()
        if isinstance(model, Operation):
            results = tuple([r.another() for r in model.results])
            for j, r in enumerate(results):
                self.inside[q, j] = r
        self.body.append(rebuilt(model, values, results))

    def _value(self, q: int, column: tuple) -> Any:
        role = self.roller._role(self.run, q, column)
        assert role is not None
        kind, what = role
        if kind == "same":
            return what
        if kind == "local":
            return self.inside[what]
        if kind == "carry":
            lag, place = what[0], what[1:]
            return self._carry(lag, place, column[:lag])
        key = tuple([id(v) for v in column])
        if key not in self.streams:
            self.streams[key] = Stream(_variable_like(column[0]), column)
        return self.streams[key].inside

    def _carry(self, lag: int, place: tuple[int, int], initial: tuple) -> Variable:
        """The value of `lag` turns ago: a chain of carries, each one turn behind the next."""
        key = (lag, place, tuple([id(v) for v in initial]))
        known = next((v for k, v, _, _ in self.pending if k == key), None)
        if known is not None:
            return known
        model = self.roller.steps[self.run.start + place[0]].results[place[1]]
        v = model.another()
        if lag > 1:
            before = self._carry(lag - 1, place, initial[1:])
            self.pending.append((key, v, initial[0], (-1, 0)))
            self.carries[key] = Carry(v, initial[0], before)
        else:
            self.pending.append((key, v, initial[0], place))
        return v

    def loop(self, used: set[Variable]) -> Loop:
        run = self.run
        carries = []
        for key, v, initial, place in self.pending:
            update = self.carries[key].update if place[0] < 0 else self.inside[place]
            carries.append(Carry(v, initial, update))
        saves, results = [], []
        for (q, j), inside in self.inside.items():
            outside = tuple(
                [
                    self.roller.steps[run.start + i * run.period + q].results[j]
                    for i in range(run.turns)
                ]
            )
            if any(v in used for v in outside[:-1]):
                saves.append(Save(inside, outside))
            elif outside[-1] in used:
                results.append((outside[-1], inside))
        return Loop(
            run.turns,
            tuple(self.body),
            tuple(carries),
            tuple(self.streams.values()),
            tuple(saves),
            tuple(results),
        )


def _variable_like(x: Any) -> Variable:
    return x.another() if type(x) is Variable else Variable(x, -1)
