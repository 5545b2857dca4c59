"""Compiled functions under transformations: their derivatives are compiled functions as well.

A transformation that meets a compiled function takes its jvp or its pullback as a program of its
own, whose primals belong to the levels below. So each level takes off itself, in any nesting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.kinds.batched_dual import general
from ..engine.kinds.dual import Dual, attach
from ..engine.kinds.recorded import Recorded, recorded
from ..engine.levels.buffer import buffer
from ..engine.levels.spec import spec_of
from ..engine.levels.traced import SLOT, TracedArray
from ..engine.levels.tree import flatten
from ..engine.programs.entries import pull_custom, pull_part
from ..engine.programs.kept import kept
from ..transforms.forward import jvp
from ..transforms.reverse import vjp

__all__ = ["Derivatives", "Written", "is_staged", "top_of", "without_writes"]


class Written(Exception):
    """A function writes into an argument, which its derivative as a program would not show."""


def without_writes(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function of values; it raises `Written` where it writes into one that is tracked.

    The value is then what it was, so that the function can run on it again.
    """

    def of_values(*values: Any) -> Any:
        before = [_state(v) for v in values]
        out = f(*values)
        written = [
            (old, v) for old, v in zip(before, values, strict=True) if _is_another(old, _state(v))
        ]
        for old, v in written:
            _put_back(v, old)
        if written:
            raise Written
        return out

    return of_values


def _state(v: Any) -> tuple:
    if not isinstance(v, TracedArray):
        return ()
    return SLOT.__get__(v), v.tangent, type(v), v.level, getattr(v, "_views", None)


def _is_another(old: tuple, new: tuple) -> bool:
    return any(a is not b for a, b in zip(old[:2], new[:2], strict=True))


def _put_back(v: TracedArray, state: tuple) -> None:
    primal, tangent, kind, level, views = state
    v.__class__ = kind
    v.level, v.tangent = level, tangent
    SLOT.__set__(v, primal)
    v._views = views


def top_of(values: Sequence[Any]) -> TracedArray | None:
    """The value of the highest level."""
    top: TracedArray | None = None
    for v in values:
        if isinstance(v, TracedArray) and (top is None or v.level.rank > top.level.rank):
            top = v
    return top


def is_staged(x: Any) -> bool:
    """Whether a trace is running below a value."""
    while isinstance(x, TracedArray):
        if x.ends:
            return True
        if x.kind in ("duck", "linear"):
            return False
        x = x.primal
    return False


class Derivatives:
    """A function of values, and its derivatives in some of them, compiled where they are used."""

    def __init__(self, function: Callable[..., Any], compiled: Callable[..., Any]):
        self.function = function
        self.compiled = compiled
        self._made: dict[Any, Any] = {}
        #: whether the function writes into its arguments, and so runs as it is
        self.writes = False

    def _compiled(self, key: Any, function: Callable[..., Any]) -> Any:
        if key not in self._made:
            self._made[key] = self.compiled(function)
        return self._made[key]

    def value(self, values: Sequence[Any]) -> Any:
        """The function itself."""
        return self._compiled("value", self.function)(*values)

    def pushed(self, values: Sequence[Any], at: tuple[int, ...], tangents: Sequence[Any]) -> Any:
        """The output and its tangent, for tangents of the values at some places."""

        def pushed(values: list, tangents: list) -> Any:
            return jvp(_in(self.function, values, at), [values[k] for k in at], tangents)

        return self._compiled(("jvp", at), pushed)(list(values), list(tangents))

    def pulled(self, values: Sequence[Any], at: tuple[int, ...], cotangent: Any) -> Any:
        """The cotangents of the values at some places."""

        def pulled(values: list, cotangent: Any) -> Any:
            f = _in(self.function, values, at)
            return vjp(f, *[values[k] for k in at])[1](cotangent)

        return self._compiled(("vjp", at), pulled)(list(values), cotangent)

    # --- by the kind of the highest level -------------------------------------------------------

    def under(self, values: Sequence[Any], top: TracedArray) -> Any:
        """The result for values of which some belong to levels; NotImplemented to run it as is."""
        if self.writes:
            return NotImplemented
        values, top = [general(v) for v in values], general(top)
        try:
            if type(top) is Dual:
                return self._dual(values, top.level)
            if type(top) is Recorded:
                return self._recorded(values, top.level)
        except Written:
            self.writes = True
        return NotImplemented

    def _dual(self, values: Sequence[Any], level: Any) -> Any:
        at = tuple([k for k, v in enumerate(values) if type(v) is Dual and v.level is level])
        primals = [v.primal if k in at else v for k, v in enumerate(values)]
        out, move = self.pushed(primals, at, [values[k].tangent for k in at])
        leaves, tree = flatten(out)
        if _escaped(leaves, level):
            return NotImplemented
        moves = flatten(move)[0]
        return tree.unflatten(
            [
                attach(level, o, t if _moves(o) else None)
                for o, t in zip(leaves, moves, strict=True)
            ]
        )

    def _recorded(self, values: Sequence[Any], level: Any) -> Any:
        mine = [type(v) is Recorded and v.level is level for v in values]
        at = tuple([k for k, m in enumerate(mine) if m])
        primals = [v.primal if m else kept(v) for v, m in zip(values, mine, strict=True)]
        out = self.value(primals)
        leaves, tree = flatten(out)
        if _escaped(leaves, level):
            return NotImplemented
        moving = [k for k, o in enumerate(leaves) if _moves(o)]
        if not moving:
            return out
        rule = _Rule(self, primals, at, leaves, tree)
        parents = tuple([values[k].tangent for k in at])
        like = tuple([spec_of(values[k]) for k in at])
        several = len(leaves) > 1
        shown: Any = tuple(leaves) if several else leaves[0]
        n = len(level.tape)
        level.tape.append((pull_custom, parents, rule, None, {}, shown, like))
        if not several:
            return tree.unflatten([recorded(level, leaves[0], n)])
        results: list[Any] = []
        for k, o in enumerate(leaves):
            if k not in moving:
                results.append(buffer(o))
                continue
            i = len(level.tape)
            level.tape.append((pull_part, n, k, len(leaves)))
            results.append(recorded(level, o, i))
        return tree.unflatten(results)


class _Rule:
    """What a tape asks of a compiled call: cotangents of inputs, or tangents of outputs."""

    def __init__(
        self, derivatives: Derivatives, values: list, at: tuple, leaves: list, tree: Any
    ) -> None:
        self.derivatives, self.values, self.at = derivatives, values, at
        self.leaves, self.tree = leaves, tree

    def pull(self, cotangents: Sequence[Any]) -> Sequence[Any]:
        filled = [
            np.zeros(np.shape(o), o.dtype if _moves(o) else float)[()] if ct is None else ct
            for ct, o in zip(cotangents, self.leaves, strict=True)
        ]
        return self.derivatives.pulled(self.values, self.at, self.tree.unflatten(filled))

    def push(self, tangents: Sequence[Any]) -> Sequence[Any]:
        moving = [
            np.zeros(self.values[k].shape, self.values[k].dtype)[()] if t is None else t
            for t, k in zip(tangents, self.at, strict=True)
        ]
        _, move = self.derivatives.pushed(self.values, self.at, moving)
        return flatten(move)[0]


def _in(f: Callable[..., Any], values: Sequence[Any], at: Sequence[int]) -> Callable[..., Any]:
    """The function of the values at some places."""

    def of_some(*moving: Any) -> Any:
        filled = list(values)
        for k, v in zip(at, moving, strict=True):
            filled[k] = v
        return f(*filled)

    return of_some


def _moves(x: Any) -> bool:
    return hasattr(x, "dtype") and np.dtype(x.dtype).kind in "fc"


def _escaped(leaves: Sequence[Any], level: Any) -> bool:
    """Whether the function uses a value of the level that is not among its arguments."""
    return any(isinstance(x, TracedArray) and x.level.rank >= level.rank for x in leaves)
