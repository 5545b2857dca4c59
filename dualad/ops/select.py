"""Choosing: where and its kin, take and its kin, clip, sorted order, and quantiles.

What is chosen is decided by values and carries no derivative; the derivative is that of the
entries that were chosen. The branch that was not taken contributes an exact zero, whatever its
own slope. Ties keep the order of the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.choices import chosen
from ..engine.inplace import store
from ..engine.primitive import Linear, Opaque, align
from ..engine.traced import Spec, TracedArray, as_operand, as_value, memory_of, raw
from .elementwise import elementwise
from .indexing import getitem, index
from .registry import function, kinks
from .structure import axes_of, axis_of, in_order

__all__ = ["where"]


def _into(out: Any, result: Any) -> Any:
    return result if out is None else store(out, result)


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
    out = np.broadcast_to(_as_array(default).astype(dtype), shape)
    for cond, choice in zip(reversed(condlist), reversed(choices), strict=True):
        out = np.where(cond, choice, out)
    return in_order(out, "C")


def _as_array(x: Any) -> Any:
    x = as_operand(x)
    return x if isinstance(x, TracedArray) else np.asarray(x)


@function(np.choose)
def np_choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    choices = [_as_array(c) for c in choices]
    a = _in_range(_as_array(a), len(choices), mode)
    if np.any((raw(a) < 0) | (raw(a) >= len(choices))):
        raise ValueError("invalid entry in choice array")
    return _into(out, np.select([a == k for k in range(len(choices))], choices))


@function(np.piecewise)
def np_piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Each function sees the entries of its own piece; under vmap, where pieces differ, all."""
    if np.isscalar(condlist) or (np.ndim(condlist[0]) == 0 and x.ndim != 0):
        condlist = [condlist]
    conds = [_as_array(c) for c in condlist]
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
        return _into(out, a if a.dtype == dtype else a.astype(dtype))
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    return _into(out, bounded(a, low, high))


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


# --- take ------------------------------------------------------------------------------------


def _in_range(at: Any, n: int, mode: str) -> Any:
    """Indices as NumPy's mode wants them; "raise" leaves that to the indexing itself."""
    return at % n if mode == "wrap" else np.clip(at, 0, n - 1) if mode == "clip" else at


def _lead(axis: int) -> tuple:
    return (slice(None),) * axis


@function(np.take)
def np_take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    a = _as_array(a)
    a, axis = (np.ravel(a), 0) if axis is None else (a, axis_of(axis, a.ndim))
    at = _in_range(_as_array(indices), a.shape[axis], mode)
    return _into(out, index(a, (*_lead(axis), at)))


def along_axis(at: Any, shape: tuple, axis: int) -> tuple:
    """The key that picks one entry along an axis at each place: x[key] is take_along_axis."""
    if at.ndim != len(shape):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return tuple(
        [
            at if k == axis else np.arange(n).reshape((n,) + (1,) * (len(shape) - k - 1))
            for k, n in enumerate(shape)
        ]
    )


@function(np.take_along_axis)
def np_take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    arr, indices = _as_array(arr), _as_array(indices)
    arr, axis = (np.ravel(arr), 0) if axis is None else (arr, axis_of(axis, arr.ndim))
    return index(arr, along_axis(indices, arr.shape, axis))


@function(np.compress)
def np_compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    a, axis = (np.ravel(a), 0) if axis is None else (a, axis_of(axis, a.ndim))
    return _into(out, index(a, (*_lead(axis), np.flatnonzero(condition))))


@function(np.extract)
def np_extract(condition: Any, arr: Any) -> Any:
    return index(np.ravel(arr), np.flatnonzero(condition))


@function(np.delete)
def np_delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr, axis = (np.ravel(arr), 0) if axis is None else (arr, axis_of(axis, arr.ndim))
    kept = np.delete(np.arange(arr.shape[axis]), obj)
    return index(arr, (*_lead(axis), kept))


@function(np.insert)
def np_insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """The entries of arr and of values, in the order in which NumPy inserts their positions."""
    arr, values = _as_array(arr), _as_array(values)
    arr, axis = (np.ravel(arr), 0) if axis is None else (arr, axis_of(axis, arr.ndim))
    n = arr.shape[axis]
    at = np.arange(n)[obj] if isinstance(obj, slice) else np.asarray(obj)
    at = np.flatnonzero(at) if at.dtype.kind == "b" else at
    if values.ndim < arr.ndim:
        values = np.reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
    if at.ndim == 0:
        values = np.moveaxis(values, 0, axis)
    shape = list(arr.shape)
    shape[axis] = values.shape[axis] if at.size == 1 else at.size
    order = np.insert(np.arange(n), at, np.arange(n, n + shape[axis]))
    joined = np.concatenate([arr, np.broadcast_to(values, shape).astype(arr.dtype)], axis)
    return index(joined, (*_lead(axis), order))


@function(np.trim_zeros)
def np_trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    filt = _as_array(filt)
    places = np.nonzero(filt)
    axes = axes_of(axis, filt.ndim)
    key = [slice(None)] * filt.ndim
    for k in axes:
        at = places[k]
        first, last = (int(at.min()), int(at.max()) + 1) if at.size else (0, 0)
        n = filt.shape[k] if at.size else 0
        key[k] = slice(first if "f" in trim.lower() else 0, last if "b" in trim.lower() else n)
    return index(filt, tuple(key))


# --- order -----------------------------------------------------------------------------------


def _flat_if_none(a: Any, axis: Any) -> tuple[Any, int]:
    return (np.ravel(a), 0) if axis is None else (a, axis_of(axis, a.ndim))


def _order(x: Any, axis: int) -> Any:
    """The order that sorts x; equal entries keep theirs, by a stable sort where there are any."""
    order = x.argsort(axis)
    if x.ndim == 1:
        ordered = x[order]
    else:
        ordered = np.moveaxis(np.take_along_axis(x, order, axis), axis, -1)
    if (ordered[..., 1:] == ordered[..., :-1]).any():
        return x.argsort(axis, kind="stable")
    return order


sorting_order = Opaque(
    _order,
    batch=lambda args, mine, axis: sorting_order(args[0], axis=axis + 1),
    name="sort",
)


@function(np.sort)
def np_sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    a, axis = _flat_if_none(a, axis)
    return _reordered(a, sorting_order, axis, {})


def _reordered(a: Any, order: Opaque, axis: int, params: dict[str, Any]) -> Any:
    """The entries in an order along an axis, which lie in memory as those of NumPy do."""
    if a.ndim > 1 and getattr(getattr(memory_of(a), "flags", None), "fnc", False):
        return np.transpose(_reordered(np.transpose(a), order, a.ndim - 1 - axis, params))
    at = order(a, axis=axis, **params)
    key = along_axis(at, a.shape, axis)
    return index(a, key) if isinstance(at, TracedArray) else getitem(a, index=key)


@function(np.sort_complex)
def np_sort_complex(a: Any) -> Any:
    ordered = np.sort(a)
    return ordered if np.dtype(a.dtype).kind == "c" else ordered + 0j


@function(np.partition)
def np_partition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    a, axis = _flat_if_none(a, axis)
    return _reordered(a, partitioning_order, axis, {"kth": kth})


def _partition_order(x: Any, kth: Any, axis: int) -> Any:
    """Where the entries of the partitioned array come from; that of argpartition is another."""
    at = np.empty(x.shape, np.intp)
    parted = np.partition(x, kth, axis).argsort(axis, "stable")
    np.put_along_axis(at, parted, x.argsort(axis, "stable"), axis)
    return at


partitioning_order = Opaque(
    _partition_order,
    batch=lambda args, mine, kth, axis: partitioning_order(args[0], kth=kth, axis=axis + 1),
    name="partition",
)


# --- where a derivative is not unique, or not finite ---------------------------------------------

# At a bound clip has the slope of x; equal entries keep their order.
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
    ("np.sort(x)[0]", "[2.0, 2.0]", "[1.0, 0.0]", "equal entries keep their order"),
    (
        "np.partition(x, 1)[1]",
        "[2.0, 3.0, 1.0]",
        "[1.0, 0.0, 0.0]",
        "the entry that comes to that place",
    ),
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
