"""What x[k], x[i:j] and x[k] = v write on a tape, and where the cotangents of that go."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.memory import LARGE, zeros as lent_zeros
from ..kinds.dual import Dual
from ..kinds.parts import add_placed, as_index
from ..levels.spec import Spec
from ..primitives.shape import BOUND, zeros
from ..programs.entries import add_cotangent, pull_linear

__all__ = ["append_set", "pull_get", "pull_slice"]

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)
NUMBER = Spec((), F64)


def append_set(x: Any, level: Any, i: Any, j: Any, key: Any, shape: tuple) -> None:
    """Record that an entry of variable i (None: zeros) becomes variable j (None: a constant)."""
    tape = level.tape
    k = len(tape)
    tape.append((pull_set, i, j, key, k, shape))
    x.tangent = k


def pull_get(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """Add the cotangent of one entry to that of the array."""
    _, i, key, shape = entry
    into = g[i]
    if type(ct) is float64:
        if into is None:
            into = g[i] = np.zeros(shape)
            into[key] = ct
            own.add(i)
            return
        if i in own and type(into) is ndarray:
            into[key] += ct
            return
    elif add_placed(ct, i, key, shape, g, own):
        return
    array, params = (Spec(shape, F64),), {"index": as_index(key)}
    pull_linear(ct, (pull_linear, (i,), BOUND["getitem"], array, params, NUMBER, array), g, own)


def pull_slice(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """Add the cotangent of a slice to that of the array."""
    _, i, key, shape, sliced = entry
    if type(ct) is ndarray and ct.dtype is F64:
        into = g[i]
        if into is None:
            if len(shape) == 2 and shape[0] * shape[1] >= LARGE:
                into = g[i] = lent_zeros(shape, F64)
            else:
                into = g[i] = np.zeros(shape)
            into[key] = ct
            own.add(i)
            return
        if i in own and type(into) is ndarray and into.dtype is F64:
            part = into[key]
            part += ct
            return
    elif type(ct) is Dual and type(ct.primal) is ndarray is type(ct.tangent):  # as `add_placed`
        x, t, into = ct.primal, ct.tangent, g[i]
        if x.dtype is F64 is t.dtype:
            if into is None:
                level = ct.level
                if level.closed:
                    level.new(Dual)
                d = g[i] = Dual()
                d.level, d.primal, d.tangent = level, np.zeros(shape), np.zeros(shape)
                d.primal[key], d.tangent[key] = x, t
                own.add(~i)
                return
            if ~i in own and type(into) is Dual and into.level is ct.level:
                a, b = into.primal, into.tangent
                if type(a) is ndarray is type(b):
                    a, b = a[key], b[key]
                    a += x
                    b += t
                    return
        if add_placed(ct, i, key, shape, g, own):
            return
    elif add_placed(ct, i, key, shape, g, own):
        return
    array, params = (Spec(shape, F64),), {"index": as_index(key)}
    spec = Spec(sliced, F64)
    pull_linear(ct, (pull_linear, (i,), BOUND["getitem"], array, params, spec, array), g, own)


def pull_set(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """Hand the cotangent of the entry written to what was written, and the rest to the array."""
    _, i, j, key, k, _ = entry
    if j is not None:
        add_cotangent(g, j, ct[key])
    if i is None:
        return
    if type(ct) is not ndarray:
        add_cotangent(g, i, BOUND["index_set"](ct, 0.0, index=as_index(key)))
        return
    if k not in own:
        ct = ct.copy()
    ct[key] = 0.0
    add_cotangent(g, i, ct)
    own.add(i)


def push_set(entry: tuple, v: Any) -> Any:
    _, i, j, key, _, shape = entry
    x = zeros(Spec(shape, F64)) if i is None else v[i]
    return BOUND["index_set"](x, 0.0 if j is None else v[j], index=as_index(key))


pull_get.push = lambda entry, v: v[entry[1]][entry[2]]  # type: ignore[attr-defined]
pull_slice.push = pull_get.push  # type: ignore[attr-defined]
pull_set.push = push_set  # type: ignore[attr-defined]
