"""Parts of values and tangents, taken and put back without asking who handles it.

They know duals and batches that are made of plain float64 arrays; for all else they say None or
False, and the caller takes the general path.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .batched import Batched, batched
from .batched_dual import BatchedDual, make_batched_dual
from .dual import Dual, make_dual

__all__ = ["add_placed", "as_index", "sliced"]

ndarray, float64, zeros = np.ndarray, np.float64, np.zeros
F64 = np.dtype(float64)
FULL = slice(None)


def as_index(key: Any) -> tuple:
    """A key as a tuple."""
    return key if type(key) is tuple else (key,)


def sliced(t: Any, key: Any) -> Any:
    """A part of a value or tangent, by slices; None where it is not one of the usual kinds."""
    if type(t) is ndarray:
        return t[key]
    if type(t) is Batched and type(t.primal) is ndarray:
        return batched(t.level, t.primal[(FULL, *as_index(key))], t.tangent)
    if type(t) is Dual and type(t.primal) is ndarray:
        moved = sliced(t.tangent, key)
        return None if moved is None else make_dual(t.level, t.primal[key], moved)
    if type(t) is BatchedDual and type(t.primal) is ndarray:
        moved = t.tangent[(FULL, *as_index(key))]
        return make_batched_dual(t.level, t.primal[key], moved)
    return None


def add_placed(ct: Any, i: int, key: Any, shape: tuple, g: Any, own: set) -> bool:
    """Add a cotangent that is a dual or a batch to a part of that of variable i, if it can be.

    A traced cotangent whose arrays belong to the sweep is in `own` as ~i: a sum of a plain array
    that belongs to it and a dual has the tangent of the latter, which does not.
    """
    into = g[i]
    if into is None:
        new = placed(ct, key, shape)
        if new is None:
            return False
        g[i] = new
        own.add(~i)
        return True
    if ~i not in own:
        return False
    if type(ct) is Dual is type(into) and into.level is ct.level:
        x, t = ct.primal, ct.tangent
        if type(x) is ndarray is type(t) and x.dtype is F64 is t.dtype:  # what most are
            if type(into.primal) is ndarray is type(into.tangent):
                add_at(into.primal, x, key)
                add_at(into.tangent, t, key)
                return True
    if are_alike(into, ct):
        add_at(into, ct, key)
        return True
    return False


def placed(ct: Any, key: Any, shape: tuple) -> Any:
    """Zeros of a shape with ct at a key; None where it is not made of plain float64 arrays."""
    if type(ct) is float64 or (type(ct) is ndarray and ct.dtype is F64):
        out = zeros(shape)
        out[key] = ct
        return out
    if type(ct) is Dual:
        x, dx = placed(ct.primal, key, shape), placed(ct.tangent, key, shape)
        return None if x is None or dx is None else make_dual(ct.level, x, dx)
    if type(ct) is BatchedDual:
        n = ct.tangent.shape[0]
        moves = placed(ct.tangent, (FULL, *as_index(key)), (n, *shape))
        return make_batched_dual(ct.level, placed(ct.primal, key, shape), moves)
    if type(ct) is Batched:
        x = placed(ct.primal, (FULL, *as_index(key)), (ct.tangent, *shape))
        return None if x is None else batched(ct.level, x, ct.tangent)
    return None


def are_alike(into: Any, ct: Any) -> bool:
    """Whether a cotangent is of the same kinds and levels as what it is to be added to."""
    if type(ct) is Dual:
        return (
            type(into) is Dual
            and into.level is ct.level
            and are_alike(into.primal, ct.primal)
            and are_alike(into.tangent, ct.tangent)
        )
    if type(ct) is BatchedDual:
        return type(into) is BatchedDual and into.level is ct.level
    if type(ct) is Batched:
        same = type(into) is Batched and into.level is ct.level
        return same and are_alike(into.primal, ct.primal)
    plain = type(ct) is float64 or (type(ct) is ndarray and ct.dtype is F64)
    return plain and type(into) is ndarray and into.dtype is F64


def add_at(into: Any, ct: Any, key: Any) -> None:
    """Add ct to the entries of what is like it at a key, in place."""
    if type(ct) is ndarray:
        part = into[key]
        if type(part) is ndarray:  # a view: writing to it is enough
            part += ct
        else:
            into[key] = part + ct
    elif type(ct) is Dual:
        add_at(into.primal, ct.primal, key)
        add_at(into.tangent, ct.tangent, key)
    elif type(ct) is BatchedDual:
        add_at(into.primal, ct.primal, key)
        add_at(into.tangent, ct.tangent, (FULL, *as_index(key)))
    elif type(ct) is Batched:
        add_at(into.primal, ct.primal, (FULL, *as_index(key)))
    else:
        into[key] += ct
