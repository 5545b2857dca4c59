"""Reverse mode: a dual whose tangent is a recorded linear variable."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .level import Level
from .linear import pull_composite
from .primitive import INPUTS, Composite, Elementwise, Linear
from .tape import kept, pull_elementwise, pull_linear, pull_part, specs
from .traced import Spec, TracedArray, buffer, frozen, spec_of

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
        moving = tuple([i is not None for i in parents])
        plan = plan_for(primitive, moving)
        if plan is None:
            return None
        moved, kinds, shapes = [], [], []
        for a, i, (is_active, is_read) in zip(args, parents, plan[0], strict=True):
            spec = None if is_read and not is_active else brief_spec(a)
            moved.append(i if is_active else None)
            kinds.append(spec if not is_read else a if is_active else kept(a))
            shapes.append(spec if is_active else None)
        result = out if plan[1] else brief_spec(out)
        return (
            pull_elementwise, tuple(moved), primitive, tuple(kinds), params, result, tuple(shapes)
        )  # fmt: skip
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


@functools.lru_cache(maxsize=4096)
def plan_for(
    primitive: Elementwise, moving: tuple[bool, ...]
) -> tuple[tuple[tuple[bool, bool], ...], bool] | None:
    """What the rule of an elementwise operation needs where these arguments have a tangent.

    For each argument whether it is active and whether it is read, and whether the result is read;
    None where the derivative is zero.
    """
    active = [m and p.constant != 0.0 for m, p in zip(moving, primitive.partials, strict=True)]
    if not any(active):
        return None
    names = set[str]().union(
        *(p.names for on, p in zip(active, primitive.partials, strict=True) if on)
    )
    steps = tuple([(on, n in names) for on, n in zip(active, INPUTS, strict=False)])
    return steps, "out" in names


#: The Spec of a Python number, which most constants are.
NUMBERS = {float: spec_of(1.0), int: spec_of(1)}


def brief_spec(x: Any) -> Spec:
    """The same as `spec_of`, quicker."""
    known = NUMBERS.get(type(x))
    if known is not None:
        return known
    try:
        return Spec(x.shape, x.dtype)
    except AttributeError:
        return spec_of(x)


def entry_of_rule(primitive: Any, args: tuple, parents: tuple, out: Any, params: dict) -> tuple:
    """The entry of an operation whose forward rule is transposed when it is needed."""
    reads = tuple([kept(a) if i is None else a for a, i in zip(args, parents, strict=True)])
    return (pull_composite, parents, primitive, reads, params, out, specs(args, parents))
