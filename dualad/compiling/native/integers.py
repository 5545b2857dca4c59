"""Elementwise functions of integers and truth values, with NumPy's wrapping and its zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .emitter import Emitter
from .entry import TRUTH

__all__ = ["TABLE"]

#: (emitter, whether the integers have signs, values) -> value
Lowering = Callable[..., Any]


def _arithmetic(integer: str, truth: str | None) -> Lowering:
    """An instruction of integers, and what it is of truth values."""

    def lowering(e: Emitter, signed: bool, x: Any, y: Any) -> Any:
        name = integer if x.type != TRUTH else truth
        if name is None:
            raise _refused("arithmetic of truth values")
        return getattr(e.builder, name)(x, y)

    return lowering


def _refused(what: str) -> Exception:
    from .entry import Refused

    return Refused(what)


def negative(e: Emitter, signed: bool, x: Any) -> Any:
    return e.builder.neg(x)


def absolute(e: Emitter, signed: bool, x: Any) -> Any:
    if not signed:
        return x
    zero = ir.Constant(x.type, 0)
    return e.builder.select(e.builder.icmp_signed("<", x, zero), e.builder.neg(x), x)


def sign(e: Emitter, signed: bool, x: Any) -> Any:
    b, zero, one = e.builder, ir.Constant(x.type, 0), ir.Constant(x.type, 1)
    out = b.select(b.icmp_unsigned("!=", x, zero), one, zero)
    return b.select(b.icmp_signed("<", x, zero), ir.Constant(x.type, -1), out) if signed else out


def _compared(sign: str) -> Lowering:
    def lowering(e: Emitter, signed: bool, x: Any, y: Any) -> Any:
        compare = e.builder.icmp_signed if signed else e.builder.icmp_unsigned
        return compare(sign, x, y)

    return lowering


def _chosen(sign: str) -> Lowering:
    def lowering(e: Emitter, signed: bool, x: Any, y: Any) -> Any:
        return e.builder.select(_compared(sign)(e, signed, x, y), x, y)

    return lowering


def _never(answer: int) -> Lowering:
    return lambda e, signed, x: ir.Constant(TRUTH, answer)


def _negative(e: Emitter, signed: bool, x: Any) -> Any:
    return _compared("<")(e, signed, x, ir.Constant(x.type, 0))


TABLE: dict[str, Lowering] = {
    "add": _arithmetic("add", "or_"),
    "subtract": _arithmetic("sub", None),
    "multiply": _arithmetic("mul", "and_"),
    "bitwise_and": _arithmetic("and_", "and_"),
    "bitwise_or": _arithmetic("or_", "or_"),
    "bitwise_xor": _arithmetic("xor", "xor"),
    "negative": negative,
    "absolute": absolute,
    "square": lambda e, signed, x: _arithmetic("mul", None)(e, signed, x, x),
    "sign": sign,
    "invert": lambda e, signed, x: e.builder.not_(x),
    "maximum": _chosen(">="),
    "minimum": _chosen("<="),
    "fmax": _chosen(">="),
    "fmin": _chosen("<="),
    "equal": _compared("=="),
    "not_equal": _compared("!="),
    "less": _compared("<"),
    "less_equal": _compared("<="),
    "greater": _compared(">"),
    "greater_equal": _compared(">="),
    "isnan": _never(0),
    "isinf": _never(0),
    "isfinite": _never(1),
    "signbit": _negative,
    "logical_and": lambda e, signed, x, y: e.builder.and_(x, y),
    "logical_or": lambda e, signed, x, y: e.builder.or_(x, y),
    "logical_xor": lambda e, signed, x, y: e.builder.xor(x, y),
    "logical_not": lambda e, signed, x: e.builder.not_(x),
    "floor": lambda e, signed, x: x,
    "ceil": lambda e, signed, x: x,
    "trunc": lambda e, signed, x: x,
}
