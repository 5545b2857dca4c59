"""What carries no derivative: predicates, indices, step functions, and fresh buffers.

Their results are plain values, or, of floating dtype, buffers that traced values can be written
into; under vmap they are batched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.inplace import store
from ..engine.primitive import Opaque, Primitive
from ..engine.traced import FUNCTIONS, UFUNCS, Spec, TracedArray, as_operand, buffer, raw, spec_of
from ..errors import LinearityError, LostDerivativeError
from .elementwise import elementwise
from .registry import function, ufunc
from .structure import axes_of, axis_of

__all__ = ["plain"]

# --- elementwise -----------------------------------------------------------------------------

for _step in (
    np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal,
    np.isnan, np.isfinite, np.isinf, np.signbit,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.floor, np.ceil, np.rint, np.trunc, np.floor_divide, np.spacing,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift,
    np.bitwise_count, np.gcd, np.lcm,
):  # fmt: skip
    UFUNCS[_step] = Opaque(_step, elementwise=True)

sign = Opaque(np.sign, elementwise=True)
exponent = Opaque(lambda x: np.frexp(x)[1], name="exponent", elementwise=True)

# fmt: off
fraction  = elementwise(lambda x: np.modf(x)[0],  "1", name="fraction")
mantissa  = elementwise(lambda x: np.frexp(x)[0], "ldexp(1.0, -frexp(x)[1])", name="mantissa", singular=True)
ldexp     = elementwise(np.ldexp,      "ldexp(1.0, y)", None, linear=(0,))
heaviside = elementwise(np.heaviside,  None, "x == 0")
nextafter = elementwise(np.nextafter,  "1", None)
# fmt: on


@ufunc(np.divmod)
def np_divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """The quotient is locally constant, the remainder carries the derivative."""
    return np.floor_divide(x, y), np.remainder(x, y)


@ufunc(np.modf)
def np_modf(x: Any) -> tuple[Any, Any]:
    """The fractional part has slope 1, the integral part none."""
    return fraction(x), np.trunc(x)


@ufunc(np.frexp)
def np_frexp(x: Any) -> tuple[Any, Any]:
    """x = mantissa * 2**exponent with a locally constant exponent."""
    return mantissa(x), exponent(x)


def constant(f: Any) -> Callable[..., Any]:
    """A NumPy function of one array that acts on each entry."""
    primitive = Opaque(f, elementwise=True)

    def rule(x: Any, out: Any = None) -> Any:
        return _into(out, primitive(x))

    return rule


def _into(out: Any, result: Any) -> Any:
    return result if out is None else store(out, result)


for _step in (np.fix, np.isposinf, np.isneginf, np.isreal, np.iscomplex):
    FUNCTIONS[_step] = constant(_step)

_round = Opaque(np.round, elementwise=True)
_isclose = Opaque(np.isclose, elementwise=True)


@function(np.round, np.around)
def np_round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return _into(out, _round(a, decimals=decimals))


@function(np.isclose)
def np_isclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Any:
    rtol, atol = plain(rtol, "the rtol of np.isclose"), plain(atol, "the atol of np.isclose")
    a, b = as_operand(a), as_operand(b)
    return _isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def _verdict(x: Any) -> Any:
    return x if isinstance(x, TracedArray) else bool(x)


@function(np.allclose)
def np_allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Any:
    return _verdict(np.all(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)))


@function(np.array_equal)
def np_array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    if np.shape(a1) != np.shape(a2):
        return False
    same = np.equal(a1, a2)
    if equal_nan:
        same = np.logical_or(same, np.logical_and(np.not_equal(a1, a1), np.not_equal(a2, a2)))
    return _verdict(np.all(same))


@function(np.array_equiv)
def np_array_equiv(a1: Any, a2: Any) -> Any:
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return _verdict(np.all(np.equal(a1, a2)))


# --- along axes ------------------------------------------------------------------------------


def _behind_batch(name: str) -> Callable[..., Any]:
    """The batch rule of an operation along an axis, or axes, of its only argument."""

    def batch(args: tuple, mine: tuple, axis: Any, **params: Any) -> Any:
        axis = tuple(a + 1 for a in axis) if isinstance(axis, tuple) else axis + 1
        return along[name](args[0], axis=axis, **params)

    return batch


#: Operations without derivative along an axis, which is never negative or None.
along = {
    f.__name__: Opaque(f, batch=_behind_batch(f.__name__))
    for f in (np.all, np.any, np.count_nonzero, np.argmax, np.argmin, np.argsort, np.argpartition)
}


def _masked(a: Any, where: Any, neutral: bool) -> Any:
    return a if where is True else np.where(where, a, neutral)


@function(np.all)
def np_all(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    a = _masked(a, where, True)
    return _into(out, along["all"](a, axis=axes_of(axis, a.ndim), keepdims=keepdims))


@function(np.any)
def np_any(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    a = _masked(a, where, False)
    return _into(out, along["any"](a, axis=axes_of(axis, a.ndim), keepdims=keepdims))


@function(np.count_nonzero)
def np_count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return along["count_nonzero"](a, axis=axes_of(axis, a.ndim), keepdims=keepdims)


def _extreme(name: str, a: Any, axis: Any, keepdims: bool) -> Any:
    if axis is not None:
        return along[name](a, axis=axis_of(axis, a.ndim), keepdims=keepdims)
    at = along[name](np.ravel(a), axis=0)
    return np.reshape(at, (1,) * a.ndim) if keepdims else at


@function(np.argmax)
def np_argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    return _into(out, _extreme("argmax", a, axis, keepdims))


@function(np.argmin)
def np_argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    return _into(out, _extreme("argmin", a, axis, keepdims))


def _flat_if_none(a: Any, axis: Any) -> tuple[Any, int]:
    return (np.ravel(a), 0) if axis is None else (a, axis_of(axis, a.ndim))


@function(np.argsort)
def np_argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    a, axis = _flat_if_none(a, axis)
    return along["argsort"](a, axis=axis, kind="stable" if stable else kind)


@function(np.argpartition)
def np_argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    a, axis = _flat_if_none(a, axis)
    return along["argpartition"](a, axis=axis, kth=kth, kind=kind)


_lexsort = Opaque(np.lexsort)


@function(np.lexsort)
def np_lexsort(keys: Any, axis: int = -1) -> Any:
    keys = keys if isinstance(keys, TracedArray) else np.stack(np.broadcast_arrays(*keys))
    return _lexsort(keys, axis=axis)


# --- places ----------------------------------------------------------------------------------


def _of_many_sizes(name: str) -> Callable[..., Any]:
    def batch(args: tuple, mine: tuple, **params: Any) -> Any:
        raise LostDerivativeError(
            f"{name} under vmap gives a different number of results for each entry of the batch, "
            f"which no array holds: use np.where(mask, x, 0), or a Python loop instead of vmap."
        )

    return batch


_nonzero = Opaque(np.nonzero, batch=_of_many_sizes("np.nonzero"))


@function(np.nonzero)
def np_nonzero(a: Any) -> Any:
    return _nonzero(a)


@function(np.flatnonzero)
def np_flatnonzero(a: Any) -> Any:
    return _nonzero(np.ravel(a))[0]


@function(np.argwhere)
def np_argwhere(a: Any) -> Any:
    return np.transpose(np.nonzero(np.atleast_1d(a)))[:, : a.ndim]


def _searchsorted_batch(args: tuple, mine: tuple, **params: Any) -> Any:
    if mine == (False, True):
        return _searchsorted(*args, **params)
    return Primitive.batch(_searchsorted, args, mine, params)


_searchsorted = Opaque(np.searchsorted, batch=_searchsorted_batch)


@function(np.searchsorted)
def np_searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    return _searchsorted(as_operand(a), as_operand(v), side=side, sorter=sorter)


@function(np.digitize)
def np_digitize(x: Any, bins: Any, right: bool = False) -> Any:
    bins = as_operand(bins)
    side = "left" if right else "right"
    if np.all(bins[1:] >= bins[:-1]):
        return np.searchsorted(bins, x, side=side)
    if not np.all(bins[1:] <= bins[:-1]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return bins.shape[0] - np.searchsorted(bins[::-1], x, side=side)


# --- what needs no value ---------------------------------------------------------------------


def _type_of(x: Any) -> Any:
    return np.dtype(x.dtype) if isinstance(x, TracedArray) else x


@function(np.result_type)
def np_result_type(*arrays_and_dtypes: Any) -> np.dtype:
    return np.result_type(*map(_type_of, arrays_and_dtypes))


@function(np.can_cast)
def np_can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(_type_of(from_), _type_of(to), casting)


@function(np.min_scalar_type)
def np_min_scalar_type(a: Any) -> np.dtype:
    return np.dtype(a.dtype)


@function(np.common_type)
def np_common_type(*arrays: Any) -> Any:
    return np.common_type(*(np.empty(0, spec_of(a).dtype) for a in arrays))


@function(np.iscomplexobj)
def np_iscomplexobj(x: Any) -> bool:
    return np.dtype(x.dtype).kind == "c"


@function(np.isrealobj)
def np_isrealobj(x: Any) -> bool:
    return np.dtype(x.dtype).kind != "c"


def _memory(x: Any) -> Any:
    value = raw(x)
    return np.empty(0) if isinstance(value, Spec) else value


@function(np.may_share_memory)
def np_may_share_memory(a: Any, b: Any, /, max_work: Any = 0) -> bool:
    return a is b or np.may_share_memory(_memory(a), _memory(b), max_work)


@function(np.shares_memory)
def np_shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> bool:
    return a is b or np.shares_memory(_memory(a), _memory(b), max_work)


# --- text ------------------------------------------------------------------------------------


def _text(f: Any) -> Callable[..., str]:
    def text(a: Any, *args: Any, **kwargs: Any) -> str:
        return repr(a) if isinstance(raw(a), Spec) else f(raw(a), *args, **kwargs)

    return text


for _f in (np.array_str, np.array_repr, np.array2string):
    FUNCTIONS[_f] = _text(_f)


# --- fresh buffers ---------------------------------------------------------------------------


def _fresh(make: Callable[..., Any], a: Any, dtype: Any, order: str, shape: Any) -> Any:
    flags = getattr(raw(a), "flags", None)
    fortran = order == "F" or (order in ("A", "K") and flags is not None and flags.fnc)
    shape = a.shape if shape is None else shape
    return buffer(make(shape, a.dtype if dtype is None else dtype, "F" if fortran else "C"))


@function(np.zeros_like, np.empty_like)
def np_zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """A buffer of zeros; an empty one too, because what is in memory by chance may be a NaN."""
    return _fresh(np.zeros, a, dtype, order, shape)


@function(np.ones_like)
def np_ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    return _fresh(np.ones, a, dtype, order, shape)


@function(np.full_like)
def np_full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """A buffer with one value, which keeps its derivative."""
    out = np.zeros_like(as_operand(a), dtype, order, subok, shape)
    if isinstance(fill_value, TracedArray) and not isinstance(out, TracedArray):
        out = buffer(out)
    out[...] = fill_value
    return out


# --- values ----------------------------------------------------------------------------------


def plain(x: Any, what: str) -> Any:
    """The value of x where only a plain one will do, because no derivative can depend on it."""
    value = x
    while isinstance(value, TracedArray):
        if value.kind in ("batched", "linear"):
            error = LinearityError if value.kind == "linear" else LostDerivativeError
            raise error(f"{what} must be one plain value, not a {value.kind} array.")
        value = value.primal
    return value
