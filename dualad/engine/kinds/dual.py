"""Forward mode: a dual number is a primal with a tangent that is a value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..levels.buffer import Buffer, buffer
from ..levels.level import Level
from ..levels.traced import TracedArray
from ..primitives.linear import is_large

#: What an operation that is linear in its one argument does to value and tangent alike.
PLAIN = (np.ndarray, np.float64)

__all__ = ["Dual", "make_dual"]


class Dual(TracedArray):
    """A value with the value of its tangent."""

    __slots__ = ()
    kind = "dual"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        if primitive.family == "linear":
            done = linear_in_one(primitive, level, args, params)
            if done is not None:
                return done
        if len(args) == 1:
            primals, tangents = (args[0].primal,), (args[0].tangent,)
        else:
            primals, tangents = parts(level, args)
        out = primitive(*primals, **params)
        t = primitive.jvp(tangents, out, primals, params)
        if t is None or type(out) is tuple:
            return attach(level, out, t)
        return make_dual(level, out, t)

    def general(self) -> Dual:
        """The same as a dual of one tangent, which is computed."""
        return self


def linear_in_one(primitive: Any, level: Level, args: tuple, params: dict) -> Dual | None:
    """A linear operation of plain arguments of which one moves; None for anything else.

    It does to the tangent what it does to the value.
    """
    k, d = 0, args[0]
    if len(args) > 1:
        k = -1
        for j, a in enumerate(args):
            if isinstance(a, TracedArray):
                if k >= 0 or type(a) is not Dual or a.level is not level:
                    return None
                k, d = j, a
        if primitive.joint or not (primitive.variadic or primitive.transposes[k] is not None):
            return None
    x, t = d.primal, d.tangent
    kind = type(x)
    if kind is not type(t) or kind not in PLAIN or x.dtype is not t.dtype:
        return None
    impl, before, after = primitive.impl, args[:k], args[k + 1 :]
    out, moved = impl(*before, x, *after, **params), None
    if primitive.quick is not None and kind is np.ndarray and is_large(t, out):
        moved = primitive.quick(*before, t, *after, **params)
    if moved is None:
        moved = impl(*before, t, *after, **params)
    return make_dual(level, out, moved)


def parts(level: Level, args: tuple) -> tuple[tuple, tuple]:
    """The primals and tangents of arguments, of which some are duals of the level."""
    primals, tangents = [], []
    for a in args:
        if type(a) is Dual and a.level is level:
            primals.append(a.primal)
            tangents.append(a.tangent)
        elif isinstance(a, Dual) and a.level is level:
            d = a.general()
            primals.append(d.primal)
            tangents.append(d.tangent)
        else:
            primals.append(a.primal if type(a) is Buffer else a)
            tangents.append(None)
    return tuple(primals), tuple(tangents)


def attach(level: Level, out: Any, tangent: Any) -> Any:
    """out with its tangent; None, a tangent known to be zero, makes no dual."""
    if isinstance(out, tuple):
        parts = tangent if tangent is not None else (None,) * len(out)
        return tuple(attach(level, o, t) for o, t in zip(out, parts, strict=True))
    return buffer(out) if tangent is None else make_dual(level, out, tangent)


def make_dual(level: Level, primal: Any, tangent: Any) -> Dual:
    """A dual of a level that is open; a closed one raises the leak error."""
    if level.closed:
        level.new(Dual)
    d = Dual()
    d.level, d.primal, d.tangent = level, primal, tangent
    return d
