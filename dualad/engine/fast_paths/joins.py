"""np.stack of numbers and np.concatenate of vectors: the fast paths of what puts results together.

They take plain float64 values and duals, batched duals and recorded values of one level. For all
else they say None, and the caller takes the general path, the linear primitives `stack` and
`concatenate`, which they agree with.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kinds.batched_dual import BatchedDual, make_batched_dual
from ..kinds.dual import Dual, make_dual
from ..kinds.recorded import Recorded, recorded
from ..levels.level import Level
from ..levels.spec import Spec
from ..primitives.shape import BOUND
from ..programs.entries import add_cotangent, pull_linear

__all__ = ["joined", "stacked"]

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)
NUMBER = Spec((), F64)
#: Up to how many entries zeros are kept for the next call.
FEW = 1024


def stacked(parts: Sequence[Any]) -> Any:
    """The vector of these numbers; None where that is not for here."""
    for p in parts:
        if type(p) in STACK:
            return STACK[type(p)](parts, p.level)
    return None


def joined(parts: Sequence[Any]) -> Any:
    """These vectors one after the other; None where that is not for here."""
    for p in parts:
        if type(p) in STACK:
            return JOIN[type(p)](parts, p.level)
    return None


def is_vector(x: Any) -> bool:
    return type(x) is ndarray and x.ndim == 1 and x.dtype is F64


#: The function itself, without the question whether an argument handles it.
concatenate = getattr(np.concatenate, "__wrapped__", np.concatenate)


# --- numbers -----------------------------------------------------------------------------------


def stack_duals(parts: Sequence[Any], level: Level) -> Any:
    values: list[Any] = []
    moves: list[Any] = []
    for p in parts:
        kind = type(p)
        if kind is Dual:
            if p.level is not level or not type(p.primal) is type(p.tangent) is float64:
                return None
            values.append(p.primal)
            moves.append(p.tangent)
        elif kind is float or kind is float64:
            values.append(p)
            moves.append(0.0)
        else:
            return None
    return make_dual(level, np.array(values), np.array(moves))


def stack_batched_duals(parts: Sequence[Any], level: Level) -> Any:
    values: list[Any] = []
    moves: list[Any] = []
    constant: list[int] = []
    for p in parts:
        kind = type(p)
        if kind is BatchedDual:
            if p.level is not level or type(p.primal) is not float64:
                return None
            values.append(p.primal)
            moves.append(p.tangent)
        elif kind is float or kind is float64:
            constant.append(len(values))
            values.append(p)
            moves.append(None)
        else:
            return None
    if constant:
        still = np.zeros(next(t.shape[0] for t in moves if t is not None))
        for k in constant:
            moves[k] = still
    return make_batched_dual(level, np.array(values), np.array(moves).T)


def stack_recorded(parts: Sequence[Any], level: Level) -> Any:
    values: list[Any] = []
    parents: list[int | None] = []
    plain = True
    for p in parts:
        kind = type(p)
        if kind is Recorded and p.level is level:
            x = p.primal
            if type(x) is not float64:
                if type(x) not in STACK or x.shape or x.dtype is not F64:
                    return None
                plain = False
            values.append(x)
            parents.append(p.tangent)
        elif kind is float or kind is float64:
            values.append(p)
            parents.append(None)
        else:
            return None
    out = np.array(values) if plain else stacked(values)
    return None if out is None else noted(level, out, (pull_stack, tuple(parents)))


# --- vectors -----------------------------------------------------------------------------------


def join_duals(parts: Sequence[Any], level: Level) -> Any:
    values: list[Any] = []
    moves: list[Any] = []
    for p in parts:
        if type(p) is Dual and p.level is level:
            x, t = p.primal, p.tangent
            if type(x) is not ndarray or type(t) is not ndarray or x.ndim != 1:
                return None
            if not x.dtype is t.dtype is F64:
                return None
        elif is_vector(p):
            x, t = p, np.zeros(p.shape)
        else:
            return None
        values.append(x)
        moves.append(t)
    return make_dual(level, concatenate(values), concatenate(moves))


def join_batched_duals(parts: Sequence[Any], level: Level) -> Any:
    values: list[Any] = []
    moves: list[Any] = []
    constant, count = False, 0
    for p in parts:
        if type(p) is BatchedDual and p.level is level:
            x, t = p.primal, p.tangent
            if type(x) is not ndarray or x.ndim != 1:
                return None
            count = len(t)
        elif type(p) is ndarray and p.ndim == 1 and p.dtype is F64:
            x, t, constant = p, None, True
        else:
            return None
        values.append(x)
        moves.append(t)
    if constant:
        moves = [
            still(count, len(x)) if t is None else t for x, t in zip(values, moves, strict=True)
        ]
    return make_batched_dual(level, concatenate(values), concatenate(moves, 1))


def still(count: int, n: int) -> np.ndarray:
    """So many tangents of a vector of n constants, to be read only."""
    return few_zeros(count, n) if count * n <= FEW else np.zeros((count, n))


@functools.lru_cache(maxsize=64)
def few_zeros(count: int, n: int) -> np.ndarray:
    zeros = np.zeros((count, n))
    zeros.flags.writeable = False
    return zeros


def join_recorded(parts: Sequence[Any], level: Level) -> Any:
    values: list[Any] = []
    parents: list[int | None] = []
    sizes, plain = [], True
    for p in parts:
        x, i = (p.primal, p.tangent) if type(p) is Recorded and p.level is level else (p, None)
        if not is_vector(x):
            if i is None or type(x) not in STACK or len(x.shape) != 1 or x.dtype is not F64:
                return None
            plain = False
        values.append(x)
        parents.append(i)
        sizes.append(x.shape[0])
    out = concatenate(values) if plain else joined(values)
    return None if out is None else noted(level, out, (pull_join, tuple(parents), tuple(sizes)))


# --- what is recorded --------------------------------------------------------------------------


def noted(level: Level, out: Any, entry: tuple) -> Recorded:
    """The result of an operation, with its entry on the tape."""
    tape = level.tape
    r = recorded(level, out, len(tape))
    tape.append(entry)
    return r


def pull_stack(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """Hand each number its entry of the cotangent."""
    _, parents = entry
    if ct.dtype is not F64:
        like = (NUMBER,) * len(parents)
        pull_general("stack", ct, parents, like, g, own)
        return
    for k, i in enumerate(parents):
        if i is not None:
            add_cotangent(g, i, ct[k])


def pull_join(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """Hand each vector its part of the cotangent."""
    _, parents, sizes = entry
    if ct.dtype is not F64:
        like = tuple([Spec((n,), F64) for n in sizes])
        pull_general("concatenate", ct, parents, like, g, own)
        return
    start = 0
    for i, n in zip(parents, sizes, strict=True):
        stop = start + n
        if i is not None:
            add_cotangent(g, i, ct[start:stop])
        start = stop


def pull_general(name: str, ct: Any, parents: tuple, like: tuple, g: Any, own: set) -> None:
    entry = (pull_linear, parents, BOUND[name], like, {"axis": 0}, None, like)
    pull_linear(ct, entry, g, own)


def push_stack(entry: tuple, v: Any) -> Any:
    moves = [np.zeros(()) if i is None else v[i] for i in entry[1]]
    return BOUND["stack"](*moves, axis=0)


def push_join(entry: tuple, v: Any) -> Any:
    _, parents, sizes = entry
    moves = [np.zeros(n) if i is None else v[i] for i, n in zip(parents, sizes, strict=True)]
    return BOUND["concatenate"](*moves, axis=0)


pull_stack.push = push_stack  # type: ignore[attr-defined]
pull_join.push = push_join  # type: ignore[attr-defined]

Join = Callable[[Sequence[Any], Any], Any]
STACK: dict[type, Join] = {
    Dual: stack_duals,
    BatchedDual: stack_batched_duals,
    Recorded: stack_recorded,
}
JOIN: dict[type, Join] = {
    Dual: join_duals,
    BatchedDual: join_batched_duals,
    Recorded: join_recorded,
}
