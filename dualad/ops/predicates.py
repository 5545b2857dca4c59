"""Questions: comparisons and truth values, equality, types, memory and text.

The answers are NumPy's, plain, so that Python may branch on them; under vmap they are batched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.spec import Spec, spec_of
from ..engine.levels.traced import TracedArray, memory_of, raw
from ..engine.levels.values import as_operand
from ..engine.primitives.primitive import Opaque
from ..engine.primitives.shape import zeros
from .constants import entrywise, into, plain
from .registry import PREDICATE, function, ufunc, ufunc_method
from .structure import axes_of

__all__: list[str] = []

# --- elementwise -----------------------------------------------------------------------------

_f: Any
for _f in (
    np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal,
    np.isnan, np.isfinite, np.isinf, np.isnat, np.signbit,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift,
    np.bitwise_count, np.gcd, np.lcm,
):  # fmt: skip
    ufunc(_f, result=PREDICATE)(Opaque(_f, elementwise=True))

for _f in (np.isposinf, np.isneginf, np.isreal, np.iscomplex):
    function(_f, result=PREDICATE)(entrywise(_f))

# --- equality --------------------------------------------------------------------------------

_isclose = Opaque(np.isclose, elementwise=True)


@function(np.isclose, result=PREDICATE)
def np_isclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Any:
    rtol, atol = plain(rtol, "the rtol of np.isclose"), plain(atol, "the atol of np.isclose")
    a, b = as_operand(a), as_operand(b)
    return _isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def _verdict(x: Any) -> Any:
    return x if isinstance(x, TracedArray) else bool(x)


@function(np.allclose, result=PREDICATE)
def np_allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Any:
    return _verdict(np.all(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)))


@function(np.array_equal, result=PREDICATE)
def np_array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    if np.shape(a1) != np.shape(a2):
        return False
    same = np.equal(a1, a2)
    if equal_nan:
        same = np.logical_or(same, np.logical_and(np.not_equal(a1, a1), np.not_equal(a2, a2)))
    return _verdict(np.all(same))


@function(np.array_equiv, result=PREDICATE)
def np_array_equiv(a1: Any, a2: Any) -> Any:
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return _verdict(np.all(np.equal(a1, a2)))


# --- truth along axes ----------------------------------------------------------------------


def _behind_batch(name: str) -> Callable[..., Any]:
    def batch(args: tuple, mine: tuple, axis: tuple, **params: Any) -> Any:
        return truth[name](args[0], axis=tuple(a + 1 for a in axis), **params)

    return batch


#: All and any along axes, none of them negative.
truth = {f.__name__: Opaque(f, batch=_behind_batch(f.__name__)) for f in (np.all, np.any)}


def _masked(a: Any, where: Any, neutral: bool) -> Any:
    return a if where is True else np.where(where, a, neutral)


@function(np.all, result=PREDICATE)
def np_all(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    a = _masked(a, where, True)
    return into(out, truth["all"](a, axis=axes_of(axis, a.ndim), keepdims=keepdims))


@function(np.any, result=PREDICATE)
def np_any(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    a = _masked(a, where, False)
    return into(out, truth["any"](a, axis=axes_of(axis, a.ndim), keepdims=keepdims))


@ufunc_method(np.logical_and, "reduce")
def logical_and_reduce(a: Any, axis: Any = 0, dtype: Any = None, **options: Any) -> Any:
    """np.all, along the first axis by default."""
    return np_all(a, axis, **options)


@ufunc_method(np.logical_or, "reduce")
def logical_or_reduce(a: Any, axis: Any = 0, dtype: Any = None, **options: Any) -> Any:
    """np.any, along the first axis by default."""
    return np_any(a, axis, **options)


_isin = Opaque(np.isin)


@function(np.isin, result=PREDICATE)
def np_isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Any:
    """Which entries are among the test elements."""
    return _isin(as_operand(element), as_operand(test_elements), invert=invert)


# --- what needs no value ---------------------------------------------------------------------


def _type_of(x: Any) -> Any:
    return np.dtype(x.dtype) if isinstance(x, TracedArray) else x


@function(np.result_type, result=PREDICATE)
def np_result_type(*arrays_and_dtypes: Any) -> np.dtype:
    return np.result_type(*map(_type_of, arrays_and_dtypes))


@function(np.can_cast, result=PREDICATE)
def np_can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(_type_of(from_), _type_of(to), casting)


@function(np.min_scalar_type, result=PREDICATE)
def np_min_scalar_type(a: Any) -> np.dtype:
    return np.dtype(a.dtype)


@function(np.common_type, result=PREDICATE)
def np_common_type(*arrays: Any) -> Any:
    return np.common_type(*(np.empty(0, spec_of(a).dtype) for a in arrays))


@function(np.iscomplexobj, result=PREDICATE)
def np_iscomplexobj(x: Any) -> bool:
    return np.dtype(x.dtype).kind == "c"


@function(np.isrealobj, result=PREDICATE)
def np_isrealobj(x: Any) -> bool:
    return np.dtype(x.dtype).kind != "c"


def _memory(x: Any) -> Any:
    value = memory_of(x)
    return np.empty(0) if isinstance(value, Spec) else value


@function(np.may_share_memory, result=PREDICATE)
def np_may_share_memory(a: Any, b: Any, /, max_work: Any = 0) -> bool:
    return a is b or np.may_share_memory(_memory(a), _memory(b), max_work)


@function(np.shares_memory, result=PREDICATE)
def np_shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> bool:
    return a is b or np.shares_memory(_memory(a), _memory(b), max_work)


@function(np.einsum_path, result=PREDICATE)
def np_einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """The order of contraction, which depends on shapes alone."""
    empty = [zeros(spec_of(x)) if isinstance(x, TracedArray) else x for x in operands]
    return np.einsum_path(*empty, optimize=optimize, einsum_call=einsum_call)


@function(np.shape, result=PREDICATE)
def np_shape(a: Any) -> Any:
    return a.shape


@function(np.ndim, result=PREDICATE)
def np_ndim(a: Any) -> Any:
    return a.ndim


@function(np.size, result=PREDICATE)
def np_size(a: Any, axis: Any = None) -> Any:
    return a.size if axis is None else math.prod(a.shape[k] for k in axes_of(axis, a.ndim))


# --- text ------------------------------------------------------------------------------------


def _text(f: Any) -> Callable[..., str]:
    def text(a: Any, *args: Any, **kwargs: Any) -> str:
        return repr(a) if isinstance(raw(a), Spec) else f(raw(a), *args, **kwargs)

    return text


for _f in (np.array_str, np.array_repr, np.array2string):
    function(_f, result=PREDICATE)(_text(_f))
