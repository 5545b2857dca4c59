"""Sums of results that are put off, and numbers that are linear in them: they wait as well.

What such a number is, is no part of the entries on the tape. So the sweep can start from it before
the entries of the array are computed, which it then does once for both.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kinds.recorded import Recorded
from ..levels.spec import Spec
from ..levels.traced import SLOT
from ..primitives.elementwise import Elementwise
from ..primitives.formulas import Formulas
from ..programs.entries import pull_linear
from ..put_off.joint import Node
from ..put_off.late import Late, settle, state_of_result
from .record_state import RecordState

__all__ = ["LateTotal", "Total", "total_of"]

NUMBERS = (float, int, np.float64)
SCALAR = Spec((), np.dtype(np.float64))
#: How many operations on numbers may wait one for the other.
DEEPEST = 50


class Total:
    """The sum of the entries of a node."""

    __slots__ = ("alarms", "node", "state", "value")

    shape = ()
    depth = 0

    def __init__(self, node: Node, state: RecordState):
        self.node: Any = node
        self.state: Any = state
        self.alarms = state.alarms
        self.value: Any = None

    def found(self) -> Any:
        """The value, which is computed where it is not known."""
        node, state = self.node, self.state
        if self.value is None and node.done is None and not node.seen:
            state.compute(node, node if node.handle() is not None else None)
        if self.value is None:  # not finite, or the entries were computed before
            state.arrays([node])
            with self.alarms.of_the_operations():
                self.value = np.add.reduce(node.done.x, axis=tuple(range(len(node.shape))))
        return self.value

    def let_go(self) -> None:
        """Nobody asks for the value any more who does not have it: hold no arrays."""
        self.node.total = self.node = self.state = None


class Combined:
    """A number that is made of sums and numbers by one operation."""

    __slots__ = ("alarms", "depth", "formula", "operands", "value")

    shape = ()

    def __init__(self, formula: Callable[..., Any], operands: tuple, state: RecordState):
        self.formula, self.operands, self.alarms = formula, operands, state.alarms
        self.depth = 1 + max([x.depth for x in operands if type(x) in WAITING])
        self.value: Any = None

    def found(self) -> Any:
        if self.value is None:
            given = [x.found() if type(x) in WAITING else x for x in self.operands]
            with self.alarms.of_the_operations():
                self.value = self.formula(*given)
        return self.value


WAITING = (Total, Combined)


class LateTotal(Late, Recorded):
    """A recorded number that is not computed yet: a sum, or what is linear in sums."""

    __slots__ = ()

    @classmethod
    def bind(cls, primitive: Any, level: Any, args: tuple, params: dict) -> Any:
        if type(primitive) is Elementwise and not params:
            r = combined(primitive, level, args)
            if r is not None:
                return r
        return Recorded.bind(primitive, level, tuple(map(settle, args)), params)

    @property
    def content(self) -> Any:
        """What it is made of."""
        return SLOT.__get__(self)

    def compute(self) -> None:
        value = SLOT.__get__(self).found()
        SLOT.__set__(self, value)
        self.__class__ = Recorded  # type: ignore[assignment]


def can_wait(level: Any) -> bool:
    """Whether what warns now may do so later."""
    return bool(level.later) and level.later.alarms.are_the_same()


def total_of(d: Any, node: Node, primitive: Any, params: dict) -> Any:
    """The sum of the entries of a result that is put off."""
    level = d.level
    state = state_of_result(d)
    like = (Spec(node.shape, SCALAR.dtype),)
    if node.total is None:
        node.total = Total(node, state)
        state.totals.append(node.total)
    entry = (pull_linear, (d.tangent,), primitive, like, params, SCALAR, like)
    return waiting(level, state, node.total, entry)


def waiting(level: Any, state: RecordState, content: Any, entry: tuple) -> LateTotal:
    """A number that waits, with its entry on the tape."""
    r = level.new(LateTotal)
    r.level, r.tangent = level, len(level.tape)
    level.tape.append(entry)
    SLOT.__set__(r, content)
    state.handles.append(weakref.ref(r))
    return r


def combined(primitive: Elementwise, level: Any, args: tuple) -> Any:
    """An operation on numbers that wait; None where its entry would hold what they are."""
    operands, parents, pattern = [], [], ""
    for a, name in zip(args, "xy", strict=False):
        if type(a) is LateTotal and a.level is level:
            pattern += name
            parents.append(a.tangent)
            operands.append(SLOT.__get__(a))
        elif type(a) in NUMBERS:
            operands.append(a)
        else:
            return None
    if primitive.operator is None or len(args) > 2 or not can_wait(level):
        return None
    if len(args) == 2 and args[0] is args[1]:
        return None
    formulas = Formulas(primitive)
    reads = formulas.reads(pattern) if pattern in formulas.patterns() else ["out"]
    if "out" in reads or set(reads).intersection(pattern) or primitive.constant is not None:
        return None
    state = state_of_result(args["xy".index(pattern[0])])
    formula = formulas.function(", ".join(formulas.names), formulas.call)
    content = Combined(formula, tuple(operands), state)
    given = dict(zip("xy", args, strict=False))
    entry = (pull_of(primitive, pattern), *parents, *[given[n] for n in reads])
    r = waiting(level, state, content, entry)
    return settle(r) if content.depth > DEEPEST else r


def pull_of(primitive: Elementwise, pattern: str) -> Any:
    """The written pull of an operation whose operands in the pattern are recorded."""
    from ..fast_paths.codegen import generated

    return generated(primitive, "Recorded")[0].__globals__[f"pull_{pattern}"]
