"""Numbers with derivative zero: step functions and fresh buffers; and what is split off by steps.

The results are plain values, or, of floating dtype, buffers that traced values can be written
into; under vmap they are batched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.buffer import buffer
from ..engine.levels.traced import TracedArray, memory_of
from ..engine.levels.values import as_operand
from ..engine.primitives.inplace import store
from ..engine.primitives.primitive import Opaque
from ..errors import LinearityError, LostDerivativeError
from .elementwise import elementwise
from .registry import CONSTANT, function, kinks, ufunc

__all__ = ["entrywise", "into", "plain", "sign"]

# --- elementwise -----------------------------------------------------------------------------

for _step in (np.floor, np.ceil, np.rint, np.trunc, np.floor_divide, np.spacing):
    ufunc(_step, result=CONSTANT)(Opaque(_step, elementwise=True))

sign = Opaque(np.sign, elementwise=True)
integral = Opaque(lambda x: np.modf(x)[1], name="integral", elementwise=True)
exponent = Opaque(lambda x: np.frexp(x)[1], name="exponent", elementwise=True)

# fmt: off
fraction  = elementwise(lambda x: np.modf(x)[0],  "1", name="fraction")
mantissa  = elementwise(lambda x: np.frexp(x)[0], "ldexp(1.0, -frexp(x)[1])", name="mantissa",
                        singular=True)
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
    return fraction(x), integral(x)


@ufunc(np.frexp)
def np_frexp(x: Any) -> tuple[Any, Any]:
    """x = mantissa * 2**exponent with a locally constant exponent."""
    return mantissa(x), exponent(x)


def entrywise(f: Any) -> Callable[..., Any]:
    """The rule of a NumPy function of one array that acts on each entry."""
    primitive = Opaque(f, elementwise=True)

    def rule(x: Any, out: Any = None) -> Any:
        return into(out, primitive(x))

    return rule


def into(out: Any, result: Any) -> Any:
    """The result, or the array it was stored into."""
    return result if out is None else store(out, result)


function(np.fix, result=CONSTANT)(entrywise(np.fix))
_round = Opaque(np.round, elementwise=True)


@function(np.round, np.around, result=CONSTANT)
def np_round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Rounding: its slope is 0."""
    return into(out, _round(a, decimals=decimals))


# --- fresh buffers ---------------------------------------------------------------------------


def _fresh(make: Callable[..., Any], a: Any, dtype: Any, order: str, shape: Any) -> Any:
    flags = getattr(memory_of(a), "flags", None)
    fortran = order == "F" or (order in ("A", "K") and flags is not None and flags.fnc)
    shape = a.shape if shape is None else shape
    return buffer(make(shape, a.dtype if dtype is None else dtype, "F" if fortran else "C"))


@function(np.zeros_like, np.empty_like, result=CONSTANT)
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


@function(np.ones_like, result=CONSTANT)
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
    order: Any = "K",
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


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Steps have slope 0, also where they jump.
kinks(
    ("np.sign(x)", "0.0", "0.0", "a step has slope 0 on both sides"),
    ("np.floor(x)", "1.0", "0.0", "likewise"),
    ("np.ceil(x)", "1.0", "0.0", "likewise"),
    ("np.trunc(x)", "1.0", "0.0", "likewise"),
    ("np.rint(x)", "0.5", "0.0", "likewise"),
    ("np.round(x)", "0.5", "0.0", "likewise"),
    ("np.floor_divide(x, y)", "3.0, 1.5", "0.0, 0.0", "likewise"),
    ("np.spacing(x)", "1.0", "0.0", "likewise"),
    ("np.heaviside(x, y)", "0.0, 0.5", "0.0, 1.0", "a step in x; at 0 it is y"),
    ("np.nextafter(x, 9.0)", "1.0", "1.0", "the next number moves along"),
    ("np.modf(x)[0]", "2.0", "1.0", "the whole part is a step"),
    ("np.frexp(x)[0]", "2.0", "0.25", "x / 4: the exponent is a step"),
    ("np.ldexp(x, 3)", "1.0", "8.0", "x times a constant"),
)
