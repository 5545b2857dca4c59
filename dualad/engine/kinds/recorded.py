"""Reverse mode: a dual whose tangent is a recorded linear variable."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..arrays.memory import LARGE
from ..levels.buffer import buffer, frozen
from ..levels.level import Level
from ..levels.spec import Spec, spec_of
from ..levels.traced import TracedArray
from ..primitives.composite import Composite
from ..primitives.elementwise import INPUTS, Elementwise
from ..primitives.linear import Linear
from ..programs.entries import pull_elementwise, pull_linear, pull_part, specs
from ..programs.kept import kept
from ..programs.linear import pull_composite
from .dual import Dual

__all__ = ["Recorded", "entry_for", "recorded", "value_of"]


PLAIN = {np.ndarray}


class Recorded(TracedArray):
    """A value whose tangent is the number of a linear variable on its level's tape."""

    __slots__ = ()
    kind = "recorded"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        if len(args) == 1:
            x = args[0].primal
            primals, parents = (x,), (args[0].tangent,)
            if primitive.family == "linear":
                plain = type(x) is np.ndarray
                out = primitive.impl(x, **params) if plain else primitive(x, **params)
                tape, like = level.tape, (spec_of(value_of(x)),)
                k = len(tape)
                spec = spec_of(value_of(out))
                tape.append((pull_linear, parents, primitive, like, params, spec, like))
                return recorded(level, out, k)
            if type(x) is np.ndarray and primitive.family == "composite":
                return cls.record(
                    primitive, level, (x,), parents, primitive.impl(x, **params), params
                )
        else:
            primals, parents = parts(level, args)
            if primitive.family == "linear" and set(map(type, primals)) == PLAIN:
                if not primitive.joint:
                    primals = with_copies(primals, parents)
                out = primitive.impl(*primals, **params)
                return cls.record(primitive, level, primals, parents, out, params)
        out = primitive(*primals, **params)
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


def value_of(x: Any) -> Any:
    """What has the shape and dtype of x and is asked for them without a detour."""
    return x.primal if type(x) is Dual else x


def parts(level: Level, args: tuple) -> tuple[tuple, tuple]:
    """The primals and variables of arguments, of which some are recorded at the level."""
    primals, parents = [], []
    for a in args:
        if type(a) is Recorded and a.level is level:
            primals.append(a.primal)
            parents.append(a.tangent)
        elif isinstance(a, Recorded) and a.level is level:  # it was not computed yet
            primals.append(a.primal)
            parents.append(a.tangent)
        else:
            primals.append(frozen(a))
            parents.append(None)
    return tuple(primals), tuple(parents)


def with_copies(primals: tuple, parents: tuple) -> tuple:
    """Plain operands, of which large constants are copied as they are kept.

    Copied now they are in the cache when the operation reads them.
    """
    pairs = zip(primals, parents, strict=True)
    return tuple([
        kept_before(a) if i is None and a.size >= LARGE and a.flags.c_contiguous else a
        for a, i in pairs
    ])  # fmt: skip


def kept_before(constant: np.ndarray) -> np.ndarray:
    """The same as `kept`, for an operation that will read what is kept."""
    copy = kept(constant)
    if copy is not constant:
        copy.flags.writeable = False  # it is kept as it is
    return copy


def recorded(level: Level, primal: Any, variable: int) -> Recorded:
    """A value whose tangent is a variable of an open level."""
    if level.closed:
        level.new(Recorded)
    r = Recorded()
    r.level, r.primal, r.tangent = level, primal, variable
    return r


def entry_for(primitive: Any, args: tuple, parents: tuple, out: Any, params: dict) -> tuple | None:
    """The tape entry of an operation, keeping what its rule reads; None for a zero derivative."""
    if isinstance(primitive, Elementwise):
        moving = tuple([i is not None for i in parents])
        plan = plan_for(primitive, moving)
        if plan is None:
            return None
        if plan is EVERYTHING:
            like = tuple([
                Spec(a.shape, a.dtype) if type(a) is np.ndarray else spec_of(a) for a in args
            ])  # fmt: skip
            return (pull_elementwise, parents, primitive, like, params, spec_of(out), like)
        moved, kinds, shapes = [], [], []
        for a, i, (is_active, is_read) in zip(args, parents, plan[0], strict=True):
            spec = None if is_read and not is_active else spec_of(a)
            moved.append(i if is_active else None)
            kinds.append(spec if not is_read else a if is_active else kept(a))
            shapes.append(spec if is_active else None)
        result = out if plan[1] else spec_of(out)
        return (
            pull_elementwise, tuple(moved), primitive, tuple(kinds), params, result, tuple(shapes)
        )  # fmt: skip
    if isinstance(primitive, Linear):
        if len(args) == 1:
            like = (spec_of(args[0]),)
            return (pull_linear, parents, primitive, like, params, spec_of(out), like)
        rules = primitive.rules
        if rules and any(i is not None and r for i, r in zip(parents, rules, strict=False)):
            return entry_of_rule(primitive, args, parents, out, params)
        return entry_of_linear(primitive, args, parents, out, params)
    if isinstance(primitive, Composite):
        return entry_of_rule(primitive, args, parents, out, params)
    return None


def entry_of_linear(
    primitive: Linear, args: tuple, parents: tuple, out: Any, params: dict
) -> tuple | None:
    """The entry of a linear operation of several arguments; None for a zero derivative."""
    movable = primitive.movable(len(args))
    active = tuple([i if moves else None for i, moves in zip(parents, movable, strict=True)])
    moving = len(active) - active.count(None)
    if moving == 0:
        return None
    reads, like = [], []
    for a, i, moves in zip(args, active, movable, strict=True):
        spec = None if i is None else spec_of(a)
        like.append(spec)
        # A rule never reads an argument in which the operation is linear together with others.
        if primitive.joint and moves:
            reads.append(spec_of(a) if spec is None else spec)
        elif spec is None:
            reads.append(kept(a))
        else:
            reads.append(spec if moving == 1 else a)
    return (pull_linear, active, primitive, tuple(reads), params, spec_of(out), tuple(like))


#: The plan of an operation in which every argument is active and nothing is read.
EVERYTHING: tuple[tuple[tuple[bool, bool], ...], bool] = (), False


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
    if all(active) and not names:
        return EVERYTHING
    steps = tuple([(on, n in names) for on, n in zip(active, INPUTS, strict=False)])
    return steps, "out" in names


def entry_of_rule(primitive: Any, args: tuple, parents: tuple, out: Any, params: dict) -> tuple:
    """The entry of an operation whose forward rule is transposed when it is needed."""
    kind = getattr(primitive, "reads", "both")
    if kind == "out":
        reads = tuple(map(spec_of, args))
    else:
        reads = tuple([kept(a) if i is None else a for a, i in zip(args, parents, strict=True)])
    if kind == "args":
        out = tuple(map(spec_of, out)) if isinstance(out, tuple) else spec_of(out)
    return (pull_composite, parents, primitive, reads, params, out, specs(args, parents))
