"""Loops: a part of a program that repeats, as its body and what changes from turn to turn."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..engine.staging.operations import Guard, Operation, Variable

__all__ = ["Carry", "Loop", "Save", "Stream", "variables_of"]


class Carry(NamedTuple):
    """A value that a turn takes over from the turn before."""

    inside: Variable
    #: what it is in the first turn: a variable from outside, or a constant
    initial: Any
    #: the variable of the body, or another carry, that it is in the next turn
    update: Variable


class Stream(NamedTuple):
    """A value that each turn takes from a row: variables from outside, or constants."""

    inside: Variable
    values: tuple

    @property
    def line(self) -> tuple[int, int] | None:
        """Start and step, where the values are whole numbers in even steps."""
        if not all(type(v) is int for v in self.values):
            return None
        start = self.values[0]
        step = self.values[1] - start if len(self.values) > 1 else 0
        even = all(v == start + step * k for k, v in enumerate(self.values))
        return (start, step) if even else None


class Save(NamedTuple):
    """A value of the body that is asked for outside, for each turn."""

    inside: Variable
    #: one variable a turn
    outside: tuple[Variable, ...]


class Loop(NamedTuple):
    """A body that runs a number of times.

    The body is written in variables of its own: those of its operations, of carries and streams;
    all others are from outside and the same in every turn.
    """

    turns: int
    body: tuple[Operation | Guard, ...]
    carries: tuple[Carry, ...]
    streams: tuple[Stream, ...]
    saves: tuple[Save, ...]
    #: pairs of a variable outside and the one of the body that it is after the last turn
    finals: tuple[tuple[Variable, Variable], ...]

    @property
    def quiet(self) -> bool:
        """Whether no operation of the body gives warnings."""
        return all(s.quiet for s in self.body if isinstance(s, Operation))

    @property
    def asks(self) -> bool:
        """Whether there is a guard in the body."""
        return any(isinstance(s, Guard) for s in self.body)

    @property
    def results(self) -> tuple[Variable, ...]:
        """The variables outside that the loop gives a value."""
        return tuple([v for s in self.saves for v in s.outside] + [v for v, _ in self.finals])

    def reads(self) -> list[Variable]:
        """The variables from outside that the loop reads."""
        own = {c.inside for c in self.carries} | {s.inside for s in self.streams}
        found = [c.initial for c in self.carries if type(c.initial) is Variable]
        found += [v for s in self.streams for v in s.values if type(v) is Variable]
        for step in self.body:
            found += [v for v in variables_of(step) if v not in own]
            if not isinstance(step, Guard):
                own.update(step.results)
        return found


def variables_of(step: Any) -> list[Variable]:
    """The variables that a step reads, also inside of its parameters."""
    if isinstance(step, Guard):
        return [step.variable]
    if isinstance(step, Loop):
        return step.reads()
    found: list[Variable] = []
    for x in (*step.operands, *step.params.values()):
        _collect(x, found)
    return found


def _collect(x: Any, found: list[Variable]) -> None:
    if type(x) is Variable:
        found.append(x)
    elif type(x) in (tuple, list):
        for v in x:
            _collect(v, found)
    elif type(x) is slice:
        found += [v for v in (x.start, x.stop, x.step) if type(v) is Variable]
