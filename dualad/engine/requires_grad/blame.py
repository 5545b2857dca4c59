"""A sweep, step by step: which operation's derivative made the first NaN of it.

These sweeps run only while a watch is on, after an ordinary one has ended in a NaN.
"""

from __future__ import annotations

from typing import Any

from ..arrays.guard import quiet
from ..levels.watch import Place, Watch, holds_nan
from ..programs.entries import add_cotangent
from .backprop import Sweep

__all__ = ["blame_graph", "blame_push", "blame_tape"]


class _Cotangents:
    """The cotangents of a sweep, each looked at when it is stored."""

    #: the operation whose derivative is running; None where it was given a NaN
    running: Place | None = None

    def __setitem__(self, i: Any, ct: Any) -> None:
        if self.running is not None and holds_nan(ct):
            raise self.running.error("cotangent")
        super().__setitem__(i, ct)  # type: ignore[misc]

    def run(self, place: Place, ct: Any, entry: tuple) -> None:
        """From now on it is this operation; a NaN that it was given is not its own."""
        self.running = None if holds_nan((ct, entry[1:])) else place


class _OfTape(_Cotangents, list):
    pass


class _OfGraph(_Cotangents, dict):
    def __missing__(self, node: Any) -> None:
        return None


def blame_tape(watch: Watch, tape: list, inputs: int, seeds: list[tuple[int, Any]]) -> None:
    """Raise the error for the entry of a tape whose pull made the first NaN, if one did."""
    g = _OfTape([None] * len(tape))
    for i, ct in seeds:
        add_cotangent(g, i, ct)
    with quiet():
        for k in range(max((i for i, _ in seeds), default=-1), inputs - 1, -1):
            ct = g[k]
            if ct is not None:
                entry = tape[k]
                g.run(watch.entry(tape, k), ct, entry)
                getattr(entry[0], "guarded", entry[0])(ct, entry, g, set())


def blame_push(watch: Watch, tape: list, tangents: list[Any]) -> None:
    """The same for tangents that are pushed through a tape."""
    v: list[Any] = [*tangents, *[None] * (len(tape) - len(tangents))]
    with quiet():
        for k in range(len(tangents), len(tape)):
            entry = tape[k]
            pull = entry[0]
            v[k] = getattr(pull, "guarded_push", pull.push)(entry, v)
            if holds_nan(v[k]) and not holds_nan((entry[1:], v[:k])):
                raise watch.entry(tape, k).error("tangent")


class _Blame(Sweep):
    """A sweep back over the graph that knows which node is running."""

    def __init__(self, watch: Watch, sweep: Sweep):
        self.__dict__.update(vars(sweep))
        self.watch = watch

    def cotangents(self) -> Any:
        return _OfGraph()

    def _pull_between(self, node: Any, ct: Any, entry: tuple, g: Any, guarded: bool) -> None:
        g.run(self.watch.node(node), ct, entry)
        super()._pull_between(node, ct, entry, g, guarded)

    def pull(self, node: Any, ct: Any, entry: tuple, g: Any, own: set, guarded: bool) -> None:
        g.run(self.watch.node(node), ct, entry)
        super().pull(node, ct, entry, g, own, guarded)


def blame_graph(watch: Watch, sweep: Sweep) -> None:
    """The same for a sweep back over the requires_grad graph."""
    with quiet():
        _Blame(watch, sweep).run(guarded=True)
