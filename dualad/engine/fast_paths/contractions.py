"""Sums and products of small arrays: the fast paths of what contracts axes.

They take plain float64 arrays, for sums all that are not large, for products of up to `FEW`
entries, where they are recorded also of more; duals of them, and values recorded over either. For
all else they say None, and the caller takes the general path of the linear primitive, which they
agree with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.memory import LARGE
from ..kinds.batched_dual import BatchedDual, make_batched_dual
from ..kinds.dual import Dual
from ..kinds.recorded import Recorded, kept_before
from ..levels.level import Level
from ..levels.spec import Spec, spec_of
from ..levels.traced import TracedArray
from ..primitives.shape import BOUND, FEW, unfit
from ..programs.entries import add_cotangent, pull_linear
from ..programs.kept import kept
from .operators import WRITTEN

__all__ = ["install", "moved", "noted", "of_any_size", "of_two", "summed", "use"]

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)
add_up = np.add.reduce
FULL = slice(None)

#: Whether these paths are taken: not while somebody watches every operation.
_in_use = True


def use(these: bool) -> None:
    """Take these paths from now on, or the general one."""
    global _in_use
    _in_use = these


def is_small(x: Any) -> bool:
    return type(x) is ndarray and x.dtype is F64 and x.ndim > 0 and x.size <= FEW


def moved(level: Level, value: Any, tangent: Any) -> Dual:
    """A dual; `make_dual`, of which what is an array has no views yet."""
    if level.closed:
        level.new(Dual)
    d = Dual()
    d.level, d.primal, d.tangent, d._views = level, value, tangent, None
    return d


def noted(level: Level, out: Any, entry: tuple) -> Recorded:
    """The result of an operation, with its entry on the tape."""
    tape = level.tape
    r = Recorded()
    r.level, r.primal, r.tangent, r._views = level, out, len(tape), None
    tape.append(entry)
    return r


# --- sums --------------------------------------------------------------------------------------


def summed(a: Any, axes: tuple[int, ...] | None) -> Any:
    """The sum over axes, None standing for all; None where that is not for here."""
    if not _in_use:
        return None
    if type(a) is Dual:
        x, t = a.primal, a.tangent
        if type(x) is ndarray is type(t) and x.dtype is F64 is t.dtype and x.size < LARGE:
            return moved(a.level, add_up(x, axes), add_up(t, axes))
    elif type(a) is BatchedDual:
        x, t = a.primal, a.tangent
        if type(x) is ndarray and t.size < LARGE:
            others = range(x.ndim) if axes is None else axes
            t = add_up(t, tuple([k + 1 for k in others]))
            return make_batched_dual(a.level, add_up(x, axes), t)
    elif type(a) is Recorded:
        x = a.primal
        if type(x) is ndarray:
            if not (x.dtype is F64 and x.size < LARGE):
                return None
            out = add_up(x, axes)
        elif type(x) is Dual or type(x) is BatchedDual:
            out = summed(x, axes)
            if out is None:
                return None
            x = x.primal
        else:
            return None
        return noted(a.level, out, (pull_sum, a.tangent, x.shape, axes))
    return None


def pull_sum(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """Hand the cotangent of a sum to all that was summed."""
    _, i, shape, axes = entry
    if type(ct) is float64:
        put(ct, i, shape, g, own)
        return
    if type(ct) is ndarray and ct.dtype is F64 and axes is not None and len(axes) == 1:
        if g[i] is None and ct.flags.c_contiguous and math.prod(shape) > FEW:
            # np.broadcast_to, which takes six times as long
            at, steps = axes[0], ct.strides
            g[i] = s = ndarray(shape, F64, ct, 0, (*steps[:at], 0, *steps[at:]))
            s.flags.writeable = False
        else:
            put(ct[(FULL,) * axes[0] + (None,)], i, shape, g, own)
        return
    like, params = (Spec(shape, F64),), of_axes(axes, shape)
    pull_linear(ct, (pull_linear, (i,), BOUND["sum_axes"], like, params, None, like), g, own)


def put(ct: Any, i: int, shape: tuple[int, ...], g: Any, own: set) -> None:
    """Add a cotangent, broadcast to a shape, to that of a variable."""
    s = g[i]
    if s is not None:
        g[i] = s + ct
    elif math.prod(shape) <= FEW:
        g[i] = s = np.empty(shape)
        if type(ct) is float64:
            s.fill(ct)
        else:
            s[...] = ct
        own.add(i)
    elif type(ct) is float64:  # np.broadcast_to, which takes six times as long
        g[i] = s = ndarray(shape, F64, np.array(ct), 0, (0,) * len(shape))
        s.flags.writeable = False
    else:
        g[i] = np.broadcast_to(ct, shape)


def of_axes(axes: tuple[int, ...] | None, shape: tuple[int, ...]) -> dict[str, Any]:
    return {"axes": tuple(range(len(shape))) if axes is None else axes}


def push_sum(entry: tuple, v: Any) -> Any:
    _, i, shape, axes = entry
    return BOUND["sum_axes"](v[i], **of_axes(axes, shape))


pull_sum.push = push_sum  # type: ignore[attr-defined]


# --- what is linear in each of two arguments ---------------------------------------------------


def of_two(primitive: Any, f: Callable[..., Any], a: Any, b: Any) -> Any:
    """A primitive that is linear in each of its two arguments, which f computes on arrays.

    None where that is not for here.
    """
    if not _in_use:
        return None
    kind, other = type(a), type(b)
    if kind is Dual or other is Dual:
        return of_duals(f, a, b)
    if kind is Recorded:
        level = a.level
        x, i = a.primal, a.tangent
        if other is Recorded and b.level is level:
            y, j = b.primal, b.tangent
        elif other is ndarray and is_small(b):
            y, j = kept(b), None
        else:
            return None
    elif other is Recorded and is_small(a):
        level = b.level
        x, i, y, j = kept(a), None, b.primal, b.tangent
    else:
        return None
    if type(x) is Dual or type(y) is Dual:
        out = of_duals(f, x, y)
        if out is None:
            return None
    elif is_small(x) and is_small(y):
        out = f(x, y)
    else:
        return None
    # A transpose reads the other argument, and of its own one the shape.
    entry = pull_of_two, i, j, primitive, x.shape if j is None else x, y.shape if i is None else y
    return noted(level, out, entry)


def of_duals(f: Callable[..., Any], a: Any, b: Any) -> Any:
    """The same of two arguments of which one is a dual, or both are, of one level."""
    if type(a) is Dual:
        level, x, dx = a.level, a.primal, a.tangent
        if not (is_small(x) and is_small(dx)):
            return None
        if type(b) is ndarray:
            return moved(level, f(x, b), f(dx, b)) if is_small(b) else None
        if type(b) is not Dual or b.level is not level:
            return None
        y, dy = b.primal, b.tangent
        if not (is_small(y) and is_small(dy)):
            return None
        return moved(level, f(x, y), f(dx, y) + f(x, dy))
    level, y, dy = b.level, b.primal, b.tangent
    if not (is_small(a) and is_small(y) and is_small(dy)):
        return None
    return moved(level, f(a, y), f(a, dy))


def pull_of_two(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """The stated transpose in each argument."""
    _, i, j, primitive, x, y = entry
    if type(x) is tuple:
        x = Spec(x, F64)
    elif type(y) is tuple:
        y = Spec(y, F64)
    if i is not None:
        share = primitive.transposes[0](ct, x, y)
        add_cotangent(g, i, share if share.shape == x.shape else unfit(share, spec_of(x)))
    if j is not None:
        share = primitive.transposes[1](ct, x, y)
        add_cotangent(g, j, share if share.shape == y.shape else unfit(share, spec_of(y)))


def push_of_two(entry: tuple, v: Any) -> Any:
    _, i, j, primitive, x, y = entry
    total = None if i is None else primitive(v[i], y)
    if j is None:
        return total
    term = primitive(x, v[j])
    return term if total is None else total + term


pull_of_two.push = push_of_two  # type: ignore[attr-defined]


def of_any_size(primitive: Any, is_other: Callable[..., bool], a: Any, b: Any) -> Any:
    """The same of arrays of any size: duals, and what is recorded over plain arrays.

    The entry is that of the general path, which sweeps of large arrays know.
    """
    if not _in_use:
        return None
    kind, other = type(a), type(b)
    if kind is Dual or other is Dual:
        if kind is other:
            if a.level is not b.level or is_other(a, b):
                return None
        elif (other if kind is Dual else kind) is not ndarray:
            return None
        if a.dtype is not F64 or b.dtype is not F64 or not a.ndim or not b.ndim:
            return None
        return Dual.bind(primitive, (a if kind is Dual else b).level, (a, b), {})
    if kind is Recorded:
        level, x, i = a.level, a.primal, a.tangent
        if other is Recorded and b.level is level:
            if is_other(a, b):
                return None
            y, j = b.primal, b.tangent
        elif other is ndarray:
            y, j = b, None
        else:
            return None
    elif other is Recorded and kind is ndarray:
        level, x, i, y, j = b.level, a, None, b.primal, b.tangent
    else:
        return None
    if not (type(x) is ndarray is type(y) and x.dtype is F64 is y.dtype and x.ndim and y.ndim):
        return None
    # Of a constant in another order its copy could give another value, in the last bit.
    reads: tuple[Any, Any]
    like: tuple[Any, Any]
    if i is None:
        early = x.flags.c_contiguous
        is_safe = x.size >= LARGE and level.is_pure
        x = kept_before(x) if early and not is_safe else x
        out = primitive.impl(x, y)
        like = None, Spec(y.shape, F64)
        reads = x if early or is_safe else kept(x), like[1]
    elif j is None:
        early = y.flags.c_contiguous
        is_safe = y.size >= LARGE and level.is_pure
        y = kept_before(y) if early and not is_safe else y
        out = primitive.impl(x, y)
        like = Spec(x.shape, F64), None
        reads = like[0], y if early or is_safe else kept(y)
    else:
        out = primitive.impl(x, y)
        like, reads = (Spec(x.shape, F64), Spec(y.shape, F64)), (x, y)
    spec = Spec(out.shape, F64) if type(out) is ndarray else spec_of(out)
    return noted(level, out, (pull_linear, (i, j), primitive, reads, {}, spec, like))


def install(
    ufunc: np.ufunc,
    primitive: Any,
    operator: str,
    rule: Callable[..., Any],
    is_other: Callable[..., bool],
) -> None:
    """Take these paths where a ufunc, or the operator of that name, meets a dual or a record.

    The rule does the rest for the operator; is_other says whether two operands are left to it.
    """

    def quickly(u: Any, v: Any) -> Any:
        out = of_two(primitive, ufunc, u, v)
        return of_any_size(primitive, is_other, u, v) if out is None else out

    def op(u: Any, v: Any) -> Any:
        out = quickly(u, v)
        return TracedArray.__array_ufunc__(u, ufunc, "__call__", u, v) if out is None else out

    def rop(v: Any, u: Any) -> Any:
        out = quickly(u, v)
        return TracedArray.__array_ufunc__(v, ufunc, "__call__", u, v) if out is None else out

    def method(self: Any, other: Any) -> Any:
        out = quickly(self, other)
        return rule(self, other) if out is None else out

    for kind in (Dual, Recorded):
        WRITTEN[kind.__name__, ufunc] = op, rop
        setattr(kind, operator, method)
