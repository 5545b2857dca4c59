"""Events of the first-order system: what an event does to states and sensitivities together.

The rule of `events` for the time of an event and for the sensitivities after it is itself a
function of (t, z, p) with z = (y, s_1, ..., s_k). Given as an update of z, it is differentiated as
any update is, and so gives the second derivatives after the event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..parameters.parameters import ModelParameters
from .events import Event
from .handling import update_of_rows
from .pushing import derivative, pushed

if TYPE_CHECKING:
    from .second_order import FirstOrder

__all__ = ["TimeMoves", "lifted_event"]


def lifted_event(name: str, event: Event, first: FirstOrder) -> Event:
    """An event of the states as one of states and sensitivities."""
    moves = TimeMoves(name, event, first)
    update = None if event.update is None else LiftedUpdate(name, event, first, moves)
    return replace(event, g=moves.g, update=update, name=name)


class TimeMoves:
    """By how much the time of an event moves, dT/dp = -(g_y s + g_p) / (g_y f + g_t), scaled."""

    def __init__(self, name: str, event: Event, first: FirstOrder):
        self.name, self.event, self.first = name, event, first

    def g(self, t: Any, z: Any, p: Any) -> Any:
        """The function of the event."""
        return self.event.g(t, z[: len(self.first.model.states)], p)

    def of_states(self, t: Any, y: Any, q: list[Any]) -> Any:
        """The function of the event of all rows, and the values of the parameters."""
        first = self.first
        p = ModelParameters({**first.model.fixed, **dict(zip(first.wrt.names, q, strict=True))})
        what = f"the function of event {self.name!r}"
        return first.model.scalar(what, self.event.g, t, y[: len(first.model.states)], p)

    def __call__(self, t: Any, y: Any, s: Any, q: list[Any], slope: Any) -> Any:
        """dT/dp of shape (k,), where y has the slope f and the sensitivities s."""
        k = self.first.k
        units = np.concatenate([self.first.units, np.zeros((1, k))])
        value, moves = pushed(
            self.of_states, t, y, q, dt=np.eye(k + 1)[k],
            dy=np.concatenate((s, slope[np.newaxis])), dq=units,
        )  # fmt: skip
        moves = derivative(value, moves, k + 1)
        return -moves[:k] / moves[k]

    def at(self, t: Any, z: Any, q: list[Any]) -> Any:
        """dT/dp as a function of time, joint state and parameters."""
        first = self.first
        y, s = z[: first.n], z[first.n :].reshape((first.k, first.n))
        return self(t, y, s, q, first.f(t, y, q))


class LiftedUpdate:
    """z after an event: h(t, y, p), and h_y s + h_p + (h_y f- + h_t - f+) dT/dp."""

    def __init__(self, name: str, event: Event, first: FirstOrder, moves: TimeMoves):
        self.first, self.moves = first, moves
        self.h: Callable[..., Any] = update_of_rows(name, event, first.model, first.wrt.names)
        self.__code__ = getattr(event.update, "__code__", None)

    def __call__(self, t: Any, z: Any, p: Any) -> Any:
        first = self.first
        y, s, q = first.parts(z, p)
        before = first.f(t, y, q)
        moves = self.moves(t, y, s, q, before)
        carried = s + moves[:, np.newaxis] * before
        value, total = pushed(self.h, t, y, q, dt=moves, dy=carried, dq=first.units)
        after = first.f(t, value, q)
        total = derivative(value, total, first.k) - moves[:, np.newaxis] * after
        return first.joined(value, total)
