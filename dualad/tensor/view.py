"""Views: tensors that are read from another one, and through which that one is written.

A view owns no value. It is a linear function of its base: `read` gives its value from that of the
base, and `put` the base's new value for a new one of the view. One rule then serves plain tensors,
duals, graph values and traced ones, and views of views.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..engine.arrays.storage import version
from ..engine.kinds.dual import Dual, make_dual
from ..engine.kinds.recorded import Recorded
from ..engine.levels.level import Level
from ..engine.levels.traced import TracedArray, raw
from ..engine.requires_grad.grad_mode import is_grad_enabled, no_grad
from ..engine.requires_grad.graph import GraphValue, rebased
from ..engine.requires_grad.visible import is_functional, levels_of, unrecorded
from ..errors import LevelError
from ..ops.structure import reshape
from .face import operand, unwrap

__all__ = [
    "ClosedView",
    "DetachedView",
    "DualView",
    "Put",
    "Read",
    "UnrecordedView",
    "View",
    "apart",
    "is_recorded",
    "node_of",
]

Read = Callable[[Any], Any]
Put = Callable[[Any, Any], Any]


class View:
    """How a tensor is read from its base, and how what is written to it gets there."""

    __slots__ = ("base", "put", "read", "seen")

    def __init__(self, base: Any, read: Read, put: Put):
        self.base, self.read, self.put = base, read, put
        self.seen = base._clock

    def current(self, view: Any) -> Any:
        """The value of the view, read again if the base was written to."""
        under = self.base._full()
        if self.base._clock != self.seen:
            self.seen = self.base._clock
            before = node_of(view._value)
            view._value = self.value(under)
            view._clock += 1
            view._move_retained(before)
        return view._value

    def value(self, under: Any) -> Any:
        """The value of the view for a value of its base, in the base's memory."""
        out = self.read(under)
        if not isinstance(out, TracedArray) or is_functional(under):
            return out
        if node_of(out) is node_of(under) is not None:
            # A view that moves nothing is an operation of its own all the same.
            out = reshape(out, shape=out.shape)
        return rebased(out, self.read(raw(under)))

    def write(self, view: Any, value: Any, written: bool) -> None:
        """Write a new value of the view to its base; written: the memory holds it already."""
        self.base._write(self.put(unwrap(self.base), value), written)

    def check(self, value: Any) -> None:
        """Refuse to write this value where PyTorch has no history for it."""


class UnrecordedView(View):
    """A view made under no_grad: it has no history, and gets none."""

    __slots__ = ()

    def value(self, under: Any) -> Any:
        return unrecorded(super().value(under))

    def write(self, view: Any, value: Any, written: bool) -> None:
        with no_grad():
            super().write(view, value, written)

    def check(self, value: Any) -> None:
        if is_grad_enabled() and (is_recorded(self.base._full()) or is_recorded(value)):
            raise LevelError(
                "a view that was created in no_grad mode is being modified in-place with grad "
                "mode enabled: create the view and modify it both within no_grad, or both "
                "outside"
            )


class DualView(View):
    """What make_dual gives: values and history of its base, and a tangent of its own.

    The tangent is that of a tensor `move`, if there is one: it holds what is written to either.
    """

    __slots__ = ("level", "move", "moved")

    def __init__(self, base: Any, level: Level, move: Any):
        # Not a method of its own: a cycle would keep the arrays until the garbage is collected.
        super().__init__(base, partial(_below, level), lambda old, new: new)
        self.level, self.move = level, move
        self.moved = None if move is None else version(move._value)

    def current(self, view: Any) -> Any:
        before = view._value
        super().current(view)
        if view._value is not before:
            self._give_tangent(view, before)
        if self.move is not None and version(self.move._value) != self.moved:
            self._read_tangent(view)
        return view._value

    def write(self, view: Any, value: Any, written: bool) -> None:
        before, mine = node_of(view._value), type(value) is Dual and value.level is self.level
        super().write(view, value.primal if mine else value, written)
        view._value, self.seen = self.value(self.base._full()), self.base._clock
        self._give_tangent(view, value)
        if mine and self.move is not None:
            self.move._write(value.tangent)
            self._read_tangent(view)
        view._clock += 1
        view._move_retained(before)

    def check(self, value: Any) -> None:
        under = self.base._full()
        if type(under) is Dual and under.level is self.level:
            raise LevelError(
                "a dual is written in place whose primal has got a tangent of its own since: the "
                "two share their values, but not their derivatives. clone() the primal first"
            )
        if self.move is not None:
            self.move._may_write(value)

    def _give_tangent(self, view: Any, dual: Any) -> None:
        if type(dual) is Dual and dual.level is self.level and self.level.is_open:
            view._value = make_dual(self.level, view._value, dual.tangent)

    def _read_tangent(self, view: Any) -> None:
        """Take the tangent from the tensor that was given for it, which was written to."""
        self.moved = version(self.move._value)
        if self.level.is_open:
            # A tangent of the tangent at this level is of second order there: it counts as zero.
            moving = apart(self.read(self.move._full()))
            if any(level.rank > self.level.rank for level in levels_of(moving)):
                raise LevelError(
                    "a dual of an inner level was written in place into the tensor that is the "
                    "tangent of a dual: give a clone() of it to make_dual"
                )
            view._value = make_dual(self.level, self.read(view._value), moving)
            view._clock += 1


def _below(level: Level, value: Any) -> Any:
    """A value without a tangent at this level."""
    mine = type(value) is Dual and value.level is level
    return value.primal if mine else value[...] if isinstance(value, np.ndarray) else value


def apart(value: Any) -> Any:
    """A value in memory of its own, which later writes into a tensor do not reach."""
    return value if is_functional(value) else rebased(value, np.array(raw(value)))


class ClosedView(View):
    """What a custom function returned of its input's memory: its history is the function's."""

    __slots__ = ("name", "version")

    def __init__(self, base: Any, value: Any, name: str):
        super().__init__(base, operand, lambda old, new: new)
        self.name, self.version = name, version(value)

    def current(self, view: Any) -> Any:
        value = view._value
        now = version(value)
        traced = isinstance(value, TracedArray) or isinstance(self.base._full(), TracedArray)
        if now != self.version and traced:
            raise LevelError(
                f"an output of {self.name} is a view of an input, and that or another view of it "
                "has been modified in-place since: the function's backward would be bypassed. "
                "clone() the output first"
            )
        self.version = now
        return value

    def check(self, value: Any) -> None:
        if isinstance(value, TracedArray) or isinstance(self.base._full(), TracedArray):
            raise LevelError(
                f"an output of {self.name} is a view of an input and is being modified in-place: "
                "the function's backward would be bypassed. clone() the output first"
            )


class DetachedView(View):
    """A detached alias inside a functional transformation: it follows, but cannot be written."""

    __slots__ = ()

    def check(self, value: Any) -> None:
        raise LevelError(
            "a detached tensor inside a transformation shares its values with the tensor it was "
            "detached from, and cannot be written in place: clone() it first"
        )


def node_of(value: Any) -> Any:
    """The node of a value in the requires_grad graph, if it has one."""
    while isinstance(value, TracedArray):
        if type(value) is GraphValue:
            return value.tangent
        value = value.primal
    return None


def is_recorded(value: Any) -> bool:
    """Whether a value has a history at some level."""
    while isinstance(value, TracedArray):
        if type(value) in (GraphValue, Recorded):
            return True
        value = value.primal
    return False
