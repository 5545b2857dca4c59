"""Choosing between values, entry by entry: where and its kin, and clip.

What is chosen is decided by values and carries no derivative; the derivative is that of the
entries that were chosen. The branch that was not taken contributes an exact zero, whatever its
own slope.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.fast_paths.choices import chosen
from ..engine.levels.spec import Spec
from ..engine.levels.traced import TracedArray, raw
from ..engine.levels.values import as_operand, as_value
from ..engine.primitives.inplace import store
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from .constants import into
from .elementwise import elementwise
from .operands import as_array
from .registry import function, kinks
from .take import in_range
from .views import in_order

__all__ = ["where"]


# --- where -----------------------------------------------------------------------------------


def _where(cond: Any, x: Any, y: Any) -> Any:
    return np.where(cond, x, y)[()]


def _zero(ct: Any) -> Any:
    return np.zeros((), ct.dtype)


def _where_spec(cond: Any, x: Any, y: Any) -> Spec:
    shape = np.broadcast_shapes(*(np.shape(a) for a in (cond, x, y)))
    return Spec(shape, np.result_type(*(getattr(a, "dtype", a) for a in (x, y))))


where = Linear(
    _where,
    None,
    lambda ct, cond, x, y: where(cond, ct, _zero(ct)),
    lambda ct, cond, x, y: where(cond, _zero(ct), ct),
    joint=True,
    batch=lambda args, mine: where(*align(args, mine)),
    spec=_where_spec,
    show=lambda cond, x, y: f"np.where({cond}, {x}, {y})",
    name="where",
)


@function(np.where)
def np_where(condition: Any, /, *choices: Any) -> Any:
    condition = as_operand(condition)
    if not choices:
        return np.nonzero(condition)
    if len(choices) != 2:
        raise ValueError("either both or neither of x and y should be given")
    quick = chosen(where, condition, *choices)
    if quick is not None:
        return quick
    if getattr(condition, "dtype", np.dtype(bool)).kind != "b":
        condition = np.not_equal(condition, 0)
    return where(condition, *map(as_operand, choices))


@function(np.select)
def np_select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    choices = [as_operand(c) for c in choicelist]
    dtype = np.result_type(*choices, as_operand(default))
    shape = np.broadcast_shapes(*map(np.shape, condlist), *map(np.shape, choices))
    out = np.broadcast_to(as_array(default).astype(dtype), shape)
    for cond, choice in zip(reversed(condlist), reversed(choices), strict=True):
        out = np.where(cond, choice, out)
    return in_order(out, "C")


@function(np.choose)
def np_choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    choices = [as_array(c) for c in choices]
    a = in_range(as_array(a), len(choices), mode)
    if np.any((raw(a) < 0) | (raw(a) >= len(choices))):
        raise ValueError("invalid entry in choice array")
    return into(out, np.select([a == k for k in range(len(choices))], choices))


@function(np.piecewise)
def np_piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Each function sees the entries of its own piece; under vmap, where pieces differ, all."""
    if np.isscalar(condlist) or (np.ndim(condlist[0]) == 0 and x.ndim != 0):
        condlist = [condlist]
    conds = [as_array(c) for c in condlist]
    if len(funclist) == len(conds) + 1:
        rest = conds[0]
        for c in conds[1:]:
            rest = np.logical_or(rest, c)
        conds = [*conds, np.logical_not(rest)]
    if len(funclist) != len(conds):
        raise ValueError(
            f"with {len(condlist)} condition(s), either {len(condlist)} or {len(condlist) + 1} "
            f"functions are expected"
        )
    out = np.zeros_like(x)
    for cond, f in zip(conds, funclist, strict=True):
        value = f if callable(f) else lambda v, *args, f=f, **kw: f
        if isinstance(cond, TracedArray):
            chosen = np.where(cond, value(x, *args, **kw), out)
            out = chosen if chosen.dtype == out.dtype else chosen.astype(out.dtype)
        elif np.any(cond):
            at = cond if x.ndim else ...
            out[at] = value(x[at], *args, **kw)
    return out


# --- clip ------------------------------------------------------------------------------------

# At a bound the slope is that of x, as PyTorch has it; where bounds cross, that of the upper one.
bounded = elementwise(
    lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "(y <= x) & (x <= z)",
    "(x < y) & (y <= z)",
    "(z < x) & (y <= z) | (z < y)",
    name="clip",
    chooses=True,
)


@function(np.clip)
def np_clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    low, high = a_min if min is None else min, a_max if max is None else max
    a, low, high = as_value(a), as_operand(low), as_operand(high)
    if np.result_type(a).kind in "iub":
        dtype = np.result_type(*(v for v in (a, low, high) if v is not None))
        a = a if low is None else np.maximum(a, low)
        a = a if high is None else np.minimum(a, high)
        return into(out, a if a.dtype == dtype else a.astype(dtype))
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    return into(out, bounded(a, low, high))


@function(np.nan_to_num)
def np_nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """The identity on finite entries, constant elsewhere."""
    if np.dtype(x.dtype).kind == "c":
        parts = [np_nan_to_num(p, True, nan, posinf, neginf) for p in (np.real(x), np.imag(x))]
        out = parts[0] + 1j * parts[1]
    else:
        largest = np.finfo(np.dtype(x.dtype)).max
        out = np.where(np.isnan(x), nan, x)
        out = np.where(np.isposinf(x), largest if posinf is None else posinf, out)
        out = np.where(np.isneginf(x), -largest if neginf is None else neginf, out)
    return out if copy else store(x, out)


# --- where a derivative is not unique, or not finite ---------------------------------------------

# At a bound clip has the slope of x.
kinks(
    ("np.where(x > 0.0, x, 0.0)", "0.0", "0.0", "the comparison says which branch"),
    ("x * (x > 0.0)", "0.0", "0.0", "a comparison is a constant"),
    ("np.clip(x, 1.0, 2.0)", "1.0", "1.0", "the edge belongs to the interval"),
    ("np.clip(x, 1.0, 2.0)", "2.0", "1.0", "the edge belongs to the interval"),
    ("np.clip(x, 1.0, 2.0)", "3.0", "0.0", "outside it is constant"),
    ("np.clip(x, 0.0, None)", "0.0", "1.0", "the edge belongs to the interval"),
    (
        "np.clip(0.5, x, y)",
        "0.5, 2.0",
        "0.0, 0.0",
        "at a bound the slope is that of the first argument",
    ),
    ("np.nan_to_num(x)", "np.nan", "0.0", "what replaces it is constant"),
)

# A tangent or cotangent of exactly zero stays zero through any slope.
kinks(
    ("np.where(x > 0, x, np.sqrt(-x))", "1.0", "1.0", "the root was not taken"),
    ("np.where(x > 0, np.log(x), 0.0)", "0.0", "0.0", "the logarithm was not taken"),
    ("np.where(x == y, 0.0, np.arctan2(x, y))", "0.0, 0.0", "0.0, 0.0", "the angle was not taken"),
    ("np.where(x > 0, np.sin(x) / x, 1.0)", "0.0", "0.0", "the quotient was not taken"),
    ("np.where(x > 0, x ** 1.5, 0.0)", "-1.0", "0.0", "the power was not taken"),
    ("np.maximum(x, np.log(y))", "1.0, 0.0", "1.0, 0.0", "the logarithm was not chosen"),
    section="zero",
)
