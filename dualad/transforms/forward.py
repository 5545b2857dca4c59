"""Forward mode: jvp, and hvp on top of grad."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.kinds.batched import batched, unbatch
from ..engine.kinds.batched_dual import general, packed
from ..engine.kinds.dual import Dual, make_dual
from ..engine.kinds.duck import Duck, duck_under
from ..engine.levels.buffer import settled
from ..engine.levels.level import Level
from ..engine.levels.tree import flatten
from ..engine.put_off.late import settle
from ..engine.put_off.postponed import Postponed
from ..errors import ArgumentError
from .boundary import inputs_of, outputs_of, own, rebuild, restore, separated, tangents_for
from .plain import plain_duals, value_and_tangent

__all__ = ["basis", "jvp", "push", "push_many", "pushed", "split_columns"]


def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    strict: bool = False,
) -> Any:
    """The value of f at primals and its derivative along tangents, in one forward pass.

    Args:
        f: a function of arrays, floats or nested containers of them, written in NumPy.
        primals: a tuple with one entry per argument of f.
        tangents: a tuple of the same structure, shapes and kinds of dtype.
        has_aux: f returns (output, aux); aux is handed back without a derivative.
        strict: an output that does not depend on the inputs is an error.

    Returns:
        (output, tangent), or (output, tangent, aux). The tangent has the structure of the output.

    Raises:
        ArgumentError, StructureError, ShapeError: tangents that do not mirror the primals.
        NotDifferentiableError: an integer or otherwise not differentiable primal.

    >>> import numpy as np, dualad
    >>> dualad.jvp(lambda x, y: x * np.sin(y), (2.0, 0.0), (0.0, 1.0))
    (np.float64(0.0), np.float64(2.0))
    """
    primals, tangents = arguments(primals, "primals"), arguments(tangents, "tangents")
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"jvp got {len(primals)} primals and {len(tangents)} tangents: one tangent per primal"
        )
    level = Level("jvp")
    moves: Sequence[Any] = tangents
    level.given = primals, tangents, f
    duals = plain_duals(level, primals, tangents)
    if duals is None:
        duals, moves = lifted(level, primals, tangents)
    with level:
        result = f(*duals)
        if type(result) is Postponed:
            settle(result)
        pair = None if has_aux else value_and_tangent(level, result)
        if pair is not None:
            value, t = pair
            return value, own(t, moves) if type(t) is np.ndarray else t
        result, aux = split_aux(result, has_aux)
        out, tree, faces = outputs_of(result)
        pairs = [push(level, v, strict) for v in out]
        aux = strip(level, aux)
    primal_leaves, tangent_leaves = [], []
    moved = separated([own(t, moves) for _, t in pairs])
    for (p, _), t, face in zip(pairs, moved, faces, strict=True):
        primal_leaves.append(restore(p, type(p), face))
        tangent_leaves.append(restore(t, type(t), face))
    primal, tangent = tree.unflatten(primal_leaves), tree.unflatten(tangent_leaves)
    return (primal, tangent, aux) if has_aux else (primal, tangent)


def lifted(level: Level, primals: tuple, tangents: tuple) -> tuple[list[Any], list[Any]]:
    """The arguments as duals of a level, in the structure they have, and their tangents."""
    inputs, trees = inputs_of(primals, numbered("primal", len(primals)))
    moves = tangents_for(inputs, trees, tangents, "tangent")
    level.given = [i.value for i in inputs], moves, level.given[2]
    duals = [
        i.wrap(packed(make_dual(level, i.value, t))) for i, t in zip(inputs, moves, strict=True)
    ]
    return rebuild(trees, duals), moves


@functools.lru_cache(maxsize=64)
def numbered(what: str, n: int) -> tuple[str, ...]:
    """The names of n arguments."""
    return tuple([f"{what} {k}" for k in range(n)])


def arguments(x: Any, name: str) -> tuple:
    if type(x) is tuple:
        return x
    if not isinstance(x, (tuple, list)):
        raise ArgumentError(
            f"{name} must be a tuple with one entry per argument, got {type(x).__name__}: write "
            f"({name[:-1]},) for a function of one argument"
        )
    return tuple(x)


def split_aux(result: Any, has_aux: bool) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise ArgumentError("with has_aux=True the function must return a pair (output, aux)")
    return result


def push(level: Level, value: Any, strict: bool = False) -> tuple[Any, Any]:
    """Primal and tangent of an output with respect to a level."""
    value = general(value)
    if type(value) is Dual and value.level is level:
        return value.primal, value.tangent
    if strict:
        raise ArgumentError("strict=True: an output does not depend on the inputs")
    return value, zero_like(value)


def push_many(
    f: Callable[..., Any],
    inputs: Sequence[Any],
    trees: Sequence[Any],
    blocks: Sequence[Any],
    n: int,
    has_aux: bool = False,
) -> tuple[Any, list[Any], Any, list[Any], Any]:
    """Run f once with n tangents per input, along a leading axis of each block.

    Returns the value, the tangents of the output leaves with that axis, and the structure, faces
    and auxiliary result of the output.
    """
    with Level("jacfwd") as outer, Level("jacfwd") as level:
        duals = [
            i.wrap(packed(make_dual(level, i.value, batched(outer, t, n))))
            for i, t in zip(inputs, blocks, strict=True)
        ]
        return pushed(outer, level, f(*rebuild(trees, duals)), n, has_aux)


def pushed(
    lanes: Level, level: Level, result: Any, n: int, has_aux: bool = False
) -> tuple[Any, list[Any], Any, list[Any], Any]:
    """What `push_many` returns, from what the function gave at these levels."""
    result, aux = split_aux(result, has_aux)
    out, tree, faces = outputs_of(result)
    pairs = [push(level, v) for v in out]
    tangents = [unbatch(lanes, t, n) for _, t in pairs]
    value = tree.unflatten(
        [restore(p, type(p), face) for (p, _), face in zip(pairs, faces, strict=True)]
    )
    return value, tangents, tree, faces, strip(level, aux)


def basis(like: Sequence[Any], lo: int, hi: int) -> list[np.ndarray]:
    """Rows lo to hi of the identity over all entries of several arrays, cut into their shapes."""
    out, start = [], 0
    for x in like:
        shape = x.shape
        size = math.prod(shape)
        rows = np.zeros((hi - lo, size), x.dtype)
        first, last = max(lo, start), min(hi, start + size)
        if first < last:
            at, step = (first - lo) * size + first - start, size + 1
            rows.reshape(-1)[at : at + (last - first - 1) * step + 1 : step] = 1
        out.append(rows if len(shape) == 1 else rows.reshape((hi - lo, *shape)))
        start += size
    return out


def split_columns(rows: Any, inputs: Sequence[Any]) -> list[Any]:
    """Tangents of one output, (n, *out), as one block (*out, *in) per input."""
    n = rows.ndim
    moved = rows if n == 1 else rows.transpose((*range(1, n), 0))
    lead = moved.shape[:-1]
    blocks, start = [], 0
    for i in inputs:
        shape = i.shape
        size = math.prod(shape)
        part = moved if len(inputs) == 1 else moved[..., start : start + size]
        blocks.append(part if len(shape) == 1 else part.reshape((*lead, *shape)))
        start += size
    return blocks


def zero_like(value: Any) -> Any:
    model = duck_under(getattr(value, "value", value))
    if model is not None:
        return model.zeros()
    dtype = np.dtype(value.dtype)
    return np.zeros(value.shape, dtype if dtype.kind in "fc" else np.float64)[()]


def strip(level: Level, aux: Any, kept: Callable[[Any], Any] = lambda v: v) -> Any:
    """Auxiliary results without the derivative that a level tracks of them."""
    if aux is None:
        return None
    leaves, tree = flatten(aux)
    tree.settle(lambda x: _strip(level, x, kept))
    return tree.unflatten([_strip(level, x, kept) for x in leaves])


def _strip(level: Level, x: Any, kept: Callable[[Any], Any]) -> Any:
    face = getattr(x, "__dualad_face__", None)
    if face is not None:
        return face.wrap(_strip(level, face.unwrap(x), kept))
    value = kept(x.primal) if getattr(x, "level", None) is level else settled(x)
    return value.primal.array if type(value) is Duck else value
