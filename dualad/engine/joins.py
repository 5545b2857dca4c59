"""np.stack of numbers and np.concatenate of vectors: the fast paths of what puts results together.

They take plain float64 values and duals, batched duals and recorded values of one level. For all
else they say None, and the caller takes the general path, the linear primitives `stack` and
`concatenate`, which they agree with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .batched_dual import BatchedDual, make_batched_dual
from .dual import Dual, make_dual
from .recorded import Recorded, recorded
from .shape import BOUND
from .tape import add_cotangent, pull_linear
from .traced import Spec, TracedArray

__all__ = ["joined", "stacked"]

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)
NUMBER = Spec((), F64)


def stacked(parts: Sequence[Any]) -> Any:
    """The vector of these numbers; None where that is not for here."""
    top = of_one_level(parts)
    return None if top is None else STACK[type(top)](parts, top)


def joined(parts: Sequence[Any]) -> Any:
    """These vectors one after the other; None where that is not for here."""
    top = of_one_level(parts)
    return None if top is None else JOIN[type(top)](parts, top)


def of_one_level(parts: Sequence[Any]) -> Any:
    """A traced part, if all traced parts are of its kind and level, and that is known here."""
    top = None
    for p in parts:
        kind = type(p)
        if kind in STACK:
            if top is None:
                top, level = p, p.level
            elif kind is not type(top) or p.level is not level:
                return None
        elif isinstance(p, TracedArray):
            return None
    return top


def is_vector(x: Any) -> bool:
    return type(x) is ndarray and x.ndim == 1 and x.dtype is F64


# --- numbers -----------------------------------------------------------------------------------


def stack_duals(parts: Sequence[Any], top: Dual) -> Any:
    values: list[Any] = []
    moves: list[Any] = []
    for p in parts:
        kind = type(p)
        if kind is Dual:
            if not type(p.primal) is type(p.tangent) is float64:
                return None
            values.append(p.primal)
            moves.append(p.tangent)
        elif kind is float or kind is float64:
            values.append(p)
            moves.append(0.0)
        else:
            return None
    return make_dual(top.level, np.array(values), np.array(moves))


def stack_batched_duals(parts: Sequence[Any], top: BatchedDual) -> Any:
    values, moves, still = [], [], None
    for p in parts:
        kind = type(p)
        if kind is BatchedDual:
            if type(p.primal) is not float64:
                return None
            values.append(p.primal)
            moves.append(p.tangent)
        elif kind is float or kind is float64:
            if still is None:
                still = np.zeros(top.tangent.shape[0])
            values.append(p)
            moves.append(still)
        else:
            return None
    return make_batched_dual(top.level, np.array(values), np.array(moves).T)


def stack_recorded(parts: Sequence[Any], top: Recorded) -> Any:
    values: list[Any] = []
    parents: list[int | None] = []
    plain = True
    for p in parts:
        kind = type(p)
        if kind is Recorded:
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
    return None if out is None else noted(top, out, (pull_stack, tuple(parents)))


# --- vectors -----------------------------------------------------------------------------------


def join_duals(parts: Sequence[Any], top: Dual) -> Any:
    values, moves = [], []
    for p in parts:
        x, t = (p.primal, p.tangent) if type(p) is Dual else (p, None)
        if not is_vector(x) or not (t is None or is_vector(t)):
            return None
        values.append(x)
        moves.append(np.zeros(x.shape) if t is None else t)
    return make_dual(top.level, np.concatenate(values), np.concatenate(moves))


def join_batched_duals(parts: Sequence[Any], top: BatchedDual) -> Any:
    values, moves, n = [], [], top.tangent.shape[0]
    for p in parts:
        x, t = (p.primal, p.tangent) if type(p) is BatchedDual else (p, None)
        if not is_vector(x):
            return None
        values.append(x)
        moves.append(np.zeros((n, len(x))) if t is None else t)
    return make_batched_dual(top.level, np.concatenate(values), np.concatenate(moves, axis=1))


def join_recorded(parts: Sequence[Any], top: Recorded) -> Any:
    values: list[Any] = []
    parents: list[int | None] = []
    sizes, plain = [], True
    for p in parts:
        x, i = (p.primal, p.tangent) if type(p) is Recorded else (p, None)
        if not is_vector(x):
            if i is None or type(x) not in STACK or len(x.shape) != 1 or x.dtype is not F64:
                return None
            plain = False
        values.append(x)
        parents.append(i)
        sizes.append(x.shape[0])
    out = np.concatenate(values) if plain else joined(values)
    return None if out is None else noted(top, out, (pull_join, tuple(parents), tuple(sizes)))


# --- what is recorded --------------------------------------------------------------------------


def noted(top: Recorded, out: Any, entry: tuple) -> Recorded:
    """The result of an operation, with its entry on the tape."""
    tape = top.level.tape
    r = recorded(top.level, out, len(tape))
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
