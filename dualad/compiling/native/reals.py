"""Elementwise functions of real numbers, with NumPy's meaning of NaN, infinity and signed zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from . import slopes
from .emitter import Emitter
from .quotients import QUOTIENTS

__all__ = ["TABLE", "power_by"]

Lowering = Callable[..., Any]
TABLE: dict[str, Lowering] = {}
#: Up to which whole exponent a power is computed by multiplication.
MULTIPLIED = 8


def number(like: Any, x: float) -> Any:
    """A constant of the type of a value."""
    return ir.Constant(like.type, x)


def less(e: Emitter, x: Any, y: Any) -> Any:
    return e.builder.fcmp_ordered("<", x, y)


def is_nan(e: Emitter, x: Any) -> Any:
    return e.builder.fcmp_unordered("uno", x, x)


def is_zero(e: Emitter, x: Any) -> Any:
    return e.builder.fcmp_ordered("==", x, number(x, 0.0))


# --- arithmetic ------------------------------------------------------------------------------

TABLE.update(
    add=lambda e, x, y: e.builder.fadd(x, y),
    subtract=lambda e, x, y: e.builder.fsub(x, y),
    multiply=lambda e, x, y: e.builder.fmul(x, y),
    divide=lambda e, x, y: e.builder.fdiv(x, y),
    negative=lambda e, x: e.builder.fneg(x),
    absolute=lambda e, x: e.intrinsic("fabs", x),
    square=lambda e, x: e.builder.fmul(x, x),
    reciprocal=lambda e, x: e.builder.fdiv(number(x, 1.0), x),
    sqrt=lambda e, x: e.intrinsic("sqrt", x),
    floor=lambda e, x: e.intrinsic("floor", x),
    ceil=lambda e, x: e.intrinsic("ceil", x),
    trunc=lambda e, x: e.intrinsic("trunc", x),
    rint=lambda e, x: e.intrinsic("rint", x),
    copysign=lambda e, x, y: e.intrinsic("copysign", x, y),
    deg2rad=lambda e, x: e.builder.fmul(x, number(x, math.pi / 180)),
    rad2deg=lambda e, x: e.builder.fmul(x, number(x, 180 / math.pi)),
    fmod=lambda e, x, y: e.builder.frem(x, y),
)


TABLE.update(QUOTIENTS)


def power(e: Emitter, x: Any, y: Any) -> Any:
    return e.mathematics("power", x, y) or e.intrinsic("pow", x, y)


def power_by(e: Emitter, x: Any, exponent: float) -> Any:
    """A power by a number: by multiplication where it is whole and small, as NumPy's loops do."""
    special = {0.5: "sqrt", 1.0: None, 2.0: "square", -1.0: "reciprocal"}
    if exponent in special:
        name = special[exponent]
        return x if name is None else TABLE[name](e, x)
    if exponent == 0:
        return number(x, 1.0)
    if not 0 < exponent <= MULTIPLIED or exponent != int(exponent):
        return power(e, x, number(x, exponent))
    out, square, n = None, x, int(exponent)
    while n:
        if n & 1:
            out = square if out is None else e.builder.fmul(out, square)
        n >>= 1
        if n:
            square = e.builder.fmul(square, square)
    return out


def remainder(e: Emitter, x: Any, y: Any) -> Any:
    """The remainder with the sign of y."""
    b = e.builder
    rest = b.frem(x, y)
    differs = b.xor(less(e, rest, number(x, 0.0)), less(e, y, number(x, 0.0)))
    moved = b.select(differs, b.fadd(rest, y), rest)
    moved = b.select(is_zero(e, rest), e.intrinsic("copysign", number(x, 0.0), y), moved)
    return b.select(is_zero(e, y), rest, moved)


def floor_divide(e: Emitter, x: Any, y: Any) -> Any:
    """The quotient rounded down that goes with `remainder`, as NumPy computes it."""
    b, zero, one = e.builder, number(x, 0.0), number(x, 1.0)
    quotient, rest = b.fdiv(x, y), b.frem(x, y)
    whole = b.fdiv(b.fsub(x, rest), y)
    differs = b.and_(
        b.xor(less(e, rest, zero), less(e, y, zero)), b.fcmp_unordered("!=", rest, zero)
    )
    whole = b.select(differs, b.fsub(whole, one), whole)
    low = e.intrinsic("floor", whole)
    above = b.fcmp_ordered(">", b.fsub(whole, low), number(x, 0.5))
    low = b.select(above, b.fadd(low, one), low)
    out = b.select(is_zero(e, whole), e.intrinsic("copysign", zero, quotient), low)
    return b.select(is_zero(e, y), quotient, out)


TABLE.update(power=power, float_power=power, remainder=remainder, floor_divide=floor_divide)

# --- order -----------------------------------------------------------------------------------


def _chosen(sign: str, ignores: bool) -> Lowering:
    def extremum(e: Emitter, x: Any, y: Any) -> Any:
        first = e.builder.fcmp_ordered(sign, x, y)
        return e.builder.select(e.builder.or_(first, is_nan(e, y if ignores else x)), x, y)

    return extremum


TABLE.update(
    maximum=_chosen(">=", False),
    minimum=_chosen("<=", False),
    fmax=_chosen(">=", True),
    fmin=_chosen("<=", True),
    clip=lambda e, x, low, high: TABLE["minimum"](e, TABLE["maximum"](e, x, low), high),
)


def sign(e: Emitter, x: Any) -> Any:
    b, zero = e.builder, number(x, 0.0)
    small = b.select(is_zero(e, x), zero, x)  # a NaN stays
    small = b.select(less(e, x, zero), number(x, -1.0), small)
    return b.select(less(e, zero, x), number(x, 1.0), small)


def heaviside(e: Emitter, x: Any, at_zero: Any) -> Any:
    b, zero = e.builder, number(x, 0.0)
    out = b.select(is_zero(e, x), at_zero, x)
    out = b.select(less(e, x, zero), zero, out)
    return b.select(less(e, zero, x), number(x, 1.0), out)


def _compared(sign: str) -> Lowering:
    if sign == "!=":
        return lambda e, x, y: e.builder.fcmp_unordered(sign, x, y)
    return lambda e, x, y: e.builder.fcmp_ordered(sign, x, y)


def is_negative(e: Emitter, x: Any) -> Any:
    bits = e.builder.bitcast(x, ir.IntType(64 if x.type == ir.DoubleType() else 32))
    return e.builder.icmp_signed("<", bits, ir.Constant(bits.type, 0))


def is_infinite(e: Emitter, x: Any) -> Any:
    size = e.intrinsic("fabs", x)
    return e.builder.fcmp_ordered("==", size, number(x, math.inf))


def is_finite(e: Emitter, x: Any) -> Any:
    size = e.intrinsic("fabs", x)
    return e.builder.fcmp_ordered("<", size, number(x, math.inf))


TABLE.update(
    sign=sign,
    heaviside=heaviside,
    equal=_compared("=="),
    not_equal=_compared("!="),
    less=_compared("<"),
    less_equal=_compared("<="),
    greater=_compared(">"),
    greater_equal=_compared(">="),
    isnan=is_nan,
    isinf=is_infinite,
    isfinite=is_finite,
    signbit=is_negative,
)

# --- a zero that wins over infinity ----------------------------------------------------------


def zero_wins(e: Emitter, x: Any, y: Any) -> Any:
    return e.builder.select(is_zero(e, x), number(x, 0.0), e.builder.fmul(x, y))


def either_zero_wins(e: Emitter, x: Any, y: Any) -> Any:
    none = e.builder.or_(is_zero(e, x), is_zero(e, y))
    return e.builder.select(none, number(x, 0.0), e.builder.fmul(x, y))


TABLE.update(zero_wins=zero_wins, either_zero_wins=either_zero_wins)

# --- what the mathematical library computes ---------------------------------------------------


def _by_llvm(name: str) -> Lowering:
    return lambda e, *x: e.mathematics(name, *x) or e.intrinsic(name, *x)


def _by_library(name: str, symbol: str) -> Lowering:
    return lambda e, *x: e.mathematics(name, *x) or e.libm(symbol, *x)


TABLE.update({n: _by_llvm(n) for n in ("exp", "exp2", "log", "log2", "log10", "sin", "cos")})
TABLE.update(
    {
        name: _by_library(name, symbol)
        for name, symbol in {
            "expm1": "expm1", "log1p": "log1p", "tan": "tan", "arcsin": "asin", "arccos": "acos",
            "arctan": "atan", "arctan2": "atan2", "sinh": "sinh", "cosh": "cosh",
            "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "cbrt": "cbrt",
            "hypot": "hypot",
        }.items()
    }
)  # fmt: skip


def tanh_slope(e: Emitter, x: Any) -> Any:
    if e.is_long:
        return e.formula(slopes.slope, x)
    size = TABLE["cosh"](e, x)
    return e.builder.fdiv(number(x, 1.0), e.builder.fmul(size, size))


def sinc(e: Emitter, x: Any) -> Any:
    safe = e.builder.select(is_zero(e, x), number(x, 1e-20), x)
    angle = e.builder.fmul(number(x, math.pi), safe)
    return e.builder.fdiv(TABLE["sin"](e, angle), angle)


def _log_of_sum(exp: str, log1p: Lowering, twice: float) -> Lowering:
    def logaddexp(e: Emitter, x: Any, y: Any) -> Any:
        b = e.builder
        larger = TABLE["maximum"](e, x, y)
        distance = e.intrinsic("fabs", b.fsub(x, y))
        out = b.fadd(larger, log1p(e, TABLE[exp](e, b.fneg(distance))))
        # Equal infinities have no distance.
        return b.select(
            b.fcmp_ordered("==", x, y),
            b.fadd(x, number(x, twice)),
            b.select(is_nan(e, distance), distance, out),
        )

    return logaddexp


def _log2_1p(e: Emitter, x: Any) -> Any:
    return e.builder.fmul(TABLE["log1p"](e, x), number(x, 1 / math.log(2)))


def tanh(e: Emitter, x: Any) -> Any:
    if e.is_long and e.has_slopes:
        return e.formula(slopes.tanh, x)
    return e.mathematics("tanh", x) or e.libm("tanh", x)


TABLE.update(
    tanh=tanh,
    tanh_slope=tanh_slope,
    sinc=sinc,
    logaddexp=_log_of_sum("exp", TABLE["log1p"], math.log(2)),
    logaddexp2=_log_of_sum("exp2", _log2_1p, 1.0),
)
