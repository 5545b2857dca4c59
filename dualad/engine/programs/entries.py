"""The pull rules of entries: what an operation of each family gives to its parents."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..arrays.memory import F64, LARGE, zeros
from ..arrays.spent import added, is_spent
from ..levels.spec import Spec, spec_of
from ..levels.traced import TracedArray
from ..primitives.blocks import blockwise_pull
from ..primitives.shape import either_zero_wins, fit, unfit, zero_wins

__all__ = [
    "add_cotangent",
    "conjugate",
    "multiply",
    "pull_custom",
    "pull_elementwise",
    "pull_linear",
    "pull_part",
    "specs",
]


def specs(args: tuple, parents: tuple) -> tuple:
    """The Spec of each argument that has a parent."""
    return tuple([None if i is None else spec_of(a) for a, i in zip(args, parents, strict=True)])


def add_cotangent(g: Any, i: Any, ct: Any) -> None:
    """Add a share to the cotangent of a variable."""
    s = g[i]
    if s is None:
        g[i] = ct
    elif type(s) is np.ndarray is type(ct) and s.size >= LARGE:
        g[i] = added(ct, s)
    else:
        g[i] = s + ct


def multiply(a: Any, b: Any) -> Any:
    """The product of a cotangent and a slope, unguarded."""
    return a * b


def conjugate(d: Any) -> Any:
    """The complex conjugate; a real value itself."""
    if type(d) is np.ndarray and d.dtype is F64:  # what most are
        return d
    if type(d) is complex:
        return d.conjugate()
    return d.conj() if hasattr(d, "dtype") and d.dtype.kind == "c" else d


def scaled(t: Any, d: Any, primitive: Any, product: Callable[..., Any]) -> Any:
    """A tangent or cotangent times a partial derivative; None stands for one."""
    if d is None:
        return t
    return zero_wins(d, t) if primitive.chooses and product is zero_wins else product(t, d)


def pull_elementwise(
    ct: Any, entry: tuple, g: Any, own: set, product: Callable[..., Any] = multiply
) -> None:
    """The cotangent times each conjugate partial derivative."""
    _, parents, primitive, args, _, out, like = entry
    for k, i in enumerate(parents):
        if i is not None:
            constant = primitive.partials[k].constant
            if constant == 1.0 or constant == -1.0:
                share = ct if ct.shape == like[k].shape else unfit(ct, like[k])
                if share.dtype is not like[k].dtype:
                    share = unfit(share, like[k])
                add_cotangent(g, i, share if constant == 1.0 else -share)
                continue
            d = primitive.coefficient(k, out, args)
            if product is multiply and type(ct) is np.ndarray is type(d) and ct.size >= LARGE:
                s = g[i]
                alike = ct.shape == like[k].shape and like[k].dtype is d.dtype
                total = _product(ct, s, (d,)) if alike else None
                if total is not None:
                    g[i] = total
                    continue
                share = summed_product(ct, d, like[k])
            else:
                share = None
            if share is None:
                share = scaled(ct, conjugate(d), primitive, product)
            add_cotangent(g, i, unfit(share, like[k]))


#: c * d added to what has come so far, by blocks.
_product: Any = blockwise_pull({}, "c * d", "+", ["d"], [])


def summed_product(ct: Any, d: Any, like: Spec) -> Any:
    """Large ct * d, summed to the shape of an argument that was broadcast, in one pass.

    None where the arrays are not plain float64 of one shape, or the last axis is summed, over
    which NumPy adds in pairs, with less rounding error.
    """
    shape, last = ct.shape, ct.ndim - 1
    if d.shape != shape or like.shape == shape or len(like.shape) != ct.ndim:
        return None
    if like.shape[last] != shape[last] or not (ct.dtype.char == d.dtype.char == "d"):
        return None
    axes = list(range(ct.ndim))
    kept_axes = [k for k in axes if like.shape[k] == shape[k]]
    return np.einsum(ct, axes, d, axes, kept_axes).reshape(like.shape)


def push_elementwise(entry: tuple, v: Any, product: Callable[..., Any] = multiply) -> Any:
    _, parents, primitive, args, _, out, _ = entry
    total = None
    for k, i in enumerate(parents):
        if i is not None:
            d = primitive.coefficient(k, out, args)
            term = scaled(v[i], d, primitive, product)
            total = term if total is None else total + term
    return fit(total, out)


def pull_linear(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """The stated transpose in each argument."""
    _, parents, primitive, args, params, _, like = entry
    for k, i in enumerate(parents):
        if i is None:
            continue
        if primitive.transpose_all is not None:
            for j, share in primitive.transpose_all(ct, parents, *args, **params):
                add_cotangent(g, parents[j], unfit(share, like[j]))
            return
        if primitive.add_into is not None and not isinstance(ct, TracedArray):
            if add_in_place(ct, primitive, params, g, i, own, like[k]):
                continue
        if primitive.add_share is not None and type(g[i]) is np.ndarray and is_spent(g, i):
            if primitive.add_share(k, g[i], ct, *args, **params):
                continue
        transpose = primitive.transpose_in(k) if primitive.variadic else primitive.transposes[k]
        share, spec = transpose(ct, *args, **params), like[k]
        if share.shape != spec.shape or share.dtype is not spec.dtype:
            share = unfit(share, spec)
        s = g[i]
        if s is None:
            g[i] = share
        elif type(s) is np.ndarray and s.size >= LARGE:
            s = None  # one who holds it less
            add_cotangent(g, i, share)
        else:
            g[i] = s + share


def add_in_place(
    ct: Any, primitive: Any, params: dict, g: Any, i: Any, own: set, like: Spec
) -> bool:
    """Scatter into an array the sweep owns: n indexings of one array cost O(n) in all."""
    into = g[i]
    if not like.shape:  # a sum of arrays without axes is a scalar, which nothing is added to
        return False
    if i not in own:
        if isinstance(into, TracedArray) or ct.dtype.kind == "c" != like.dtype.kind:
            return False
        if into is None:
            new = zeros if math.prod(like.shape) >= LARGE else np.zeros
            into = new(like.shape, like.dtype)
        else:
            into = np.array(into, like.dtype)
        own.add(i)
        g[i] = into
    elif isinstance(into, TracedArray) or ct.dtype.kind == "c" != like.dtype.kind:
        return False
    primitive.add_into(into, ct, **params)
    return True


def push_linear(entry: tuple, v: Any) -> Any:
    _, parents, primitive, args, params, out, _ = entry
    tangents = tuple([None if i is None else v[i] for i in parents])
    return primitive.jvp(tangents, out, args, params)


def pull_part(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """One output of an operation that has several."""
    _, k, j, n = entry
    if g[k] is None:
        g[k] = [None] * n
    g[k][j] = ct if g[k][j] is None else g[k][j] + ct


def push_part(entry: tuple, v: Any) -> Any:
    _, k, j, _ = entry
    return v[k][j]


def pull_custom(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """A custom rule: entry[2].pull gives one cotangent (None for zero) per input."""
    _, parents, rule, _, _, _, like = entry
    shares = rule.pull(ct if isinstance(ct, list) else [ct])
    for k, (i, share) in enumerate(zip(parents, shares, strict=True)):
        if i is not None and share is not None:
            add_cotangent(g, i, unfit(share, like[k]))


def push_custom(entry: tuple, v: Any) -> Any:
    _, parents, rule, _, _, out, _ = entry
    tangents = rule.push([None if i is None else v[i] for i in parents])
    return tuple(tangents) if isinstance(out, tuple) else tangents[0]


pull_elementwise.push = push_elementwise  # type: ignore[attr-defined]
pull_elementwise.guarded = partial(pull_elementwise, product=either_zero_wins)  # type: ignore[attr-defined]
pull_elementwise.guarded_push = partial(push_elementwise, product=zero_wins)  # type: ignore[attr-defined]
pull_linear.push = push_linear  # type: ignore[attr-defined]
pull_part.push = push_part  # type: ignore[attr-defined]
pull_custom.push = push_custom  # type: ignore[attr-defined]
