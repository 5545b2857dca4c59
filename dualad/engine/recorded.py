"""Reverse mode: a dual whose tangent is a recorded linear variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from .level import Level
from .linear import pull_composite
from .primitive import Composite, Elementwise, Linear
from .tape import kept, pull_elementwise, pull_linear, pull_part, specs
from .traced import TracedArray, buffer, frozen, spec_of

__all__ = ["Recorded", "entry_for", "recorded"]


class Recorded(TracedArray):
    """A value whose tangent is the number of a linear variable on its level's tape."""

    __slots__ = ()
    kind = "recorded"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        mine = [type(a) is Recorded and a.level is level for a in args]
        primals = tuple([a.primal if m else frozen(a) for a, m in zip(args, mine, strict=True)])
        out = primitive(*primals, **params)
        parents = tuple([a.tangent if m else None for a, m in zip(args, mine, strict=True)])
        return cls.record(primitive, level, primals, parents, out, params)

    @classmethod
    def record(
        cls, primitive: Any, level: Level, primals: tuple, parents: tuple, out: Any, params: dict
    ) -> Any:
        entry = entry_for(primitive, primals, parents, out, params)
        if entry is None:
            return tuple(map(buffer, out)) if isinstance(out, tuple) else buffer(out)
        k = len(level.tape)
        level.tape.append(entry)
        if not isinstance(out, tuple):
            return recorded(level, out, k)
        return tuple(cls._part(level, k, j, o, len(out)) for j, o in enumerate(out))

    @classmethod
    def _part(cls, level: Level, k: int, j: int, out: Any, n: int) -> Any:
        if np.dtype(out.dtype).kind not in "fc":
            return out
        i = len(level.tape)
        level.tape.append((pull_part, k, j, n))
        return recorded(level, out, i)


def recorded(level: Level, primal: Any, variable: int) -> Recorded:
    """A value whose tangent is a variable of an open level."""
    r = level.new(Recorded)
    r.level, r.primal, r.tangent = level, primal, variable
    return r


def entry_for(primitive: Any, args: tuple, parents: tuple, out: Any, params: dict) -> tuple | None:
    """The tape entry of an operation, keeping what its rule reads; None for a zero derivative."""
    if isinstance(primitive, Elementwise):
        active = tuple(
            None if p.constant == 0.0 else i
            for i, p in zip(parents, primitive.partials, strict=True)
        )
        if all(i is None for i in active):
            return None
        names = set().union(
            *(p.names for i, p in zip(active, primitive.partials, strict=True) if i is not None)
        )
        reads = tuple(
            [
                spec_of(a) if n not in names else kept(a) if i is None else a
                for a, n, i in zip(args, "xyzw", active, strict=False)
            ]
        )
        result = out if "out" in names else spec_of(out)
        return (pull_elementwise, active, primitive, reads, params, result, specs(args, active))
    if isinstance(primitive, Linear):
        if len(args) == 1:
            like = (spec_of(args[0]),)
            return (pull_linear, parents, primitive, like, params, spec_of(out), like)
        if any(i is not None and r for i, r in zip(parents, primitive.rules, strict=False)):
            return entry_of_rule(primitive, args, parents, out, params)
        active = tuple(
            None if i is None or primitive.transpose_in(k) is None else i
            for k, i in enumerate(parents)
        )
        n = sum(i is not None for i in active)
        if n == 0:
            return None
        # A rule never reads an argument in which the operation is linear together with others.
        joint = [
            primitive.joint and primitive.transpose_in(k) is not None for k in range(len(args))
        ]
        reads = tuple(
            [
                spec_of(a) if j or (n == 1 and i is not None) else kept(a) if i is None else a
                for a, i, j in zip(args, active, joint, strict=True)
            ]
        )
        return (pull_linear, active, primitive, reads, params, spec_of(out), specs(args, active))
    if isinstance(primitive, Composite):
        return entry_of_rule(primitive, args, parents, out, params)
    return None


def entry_of_rule(primitive: Any, args: tuple, parents: tuple, out: Any, params: dict) -> tuple:
    """The entry of an operation whose forward rule is transposed when it is needed."""
    reads = tuple([kept(a) if i is None else a for a, i in zip(args, parents, strict=True)])
    return (pull_composite, parents, primitive, reads, params, out, specs(args, parents))
