"""Elementwise functions by name: in which dtype each is computed, and what is computed."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir

from . import integers, reals
from .emitter import Emitter
from .entry import BOOL, Entry, Refused, is_number

__all__ = ["can_emit", "emit", "is_elementwise"]

#: Functions whose result is a truth value, computed in the dtype of what they compare.
QUESTIONS = {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf",
    "isfinite", "signbit",
}  # fmt: skip
#: Functions of the truth of their arguments.
LOGIC = {"logical_and", "logical_or", "logical_xor", "logical_not"}
OTHER = {"where", "cast", "positive", "stop_gradient"}
#: Names of primitives and ufuncs that are another name's.
SAME = {
    "polynomial_power": "power",
    "fabs": "absolute",
    "radians": "deg2rad",
    "degrees": "rad2deg",
    "fix": "trunc",
}
WEAK = (bool, int, float)


def is_elementwise(name: str) -> bool:
    """Whether a function of this name has a native form for some dtypes."""
    name = SAME.get(name, name)
    return name in QUESTIONS | LOGIC | OTHER or name in reals.TABLE or name in integers.TABLE


def _dtype_of(a: Any) -> Any:
    return a if type(a) in WEAK else a.dtype


def working_dtype(name: str, args: tuple, dtype: np.dtype | None) -> np.dtype:
    """The dtype in which a function computes; args have a dtype or are Python's numbers."""
    if name in LOGIC:
        return BOOL
    if dtype is not None and name not in QUESTIONS:
        found = dtype
    else:
        chosen = args[1:] if name == "where" else args
        found = np.result_type(*map(_dtype_of, chosen))
        if dtype is None and name in reals.TABLE and name not in integers.TABLE:
            found = np.result_type(found, np.float32) if found.kind != "f" else found
    if not is_number(found):
        raise Refused(f"dtype {found}")
    unsigned = [a for a in args if getattr(a, "dtype", BOOL).kind == "u"]
    if unsigned and found.kind == "f" and name in QUESTIONS:
        raise Refused("a comparison of unsigned and signed integers")
    return found


def emit(emitter: Emitter, name: str, args: tuple, dtype: np.dtype | None = None) -> Entry:
    """An elementwise function of entries and numbers; dtype is that of its result."""
    name = SAME.get(name, name)
    work = working_dtype(name, args, dtype)
    if name == "where":
        return _where(emitter, args, work)
    given = [emitter.cast(a, work) for a in args]
    if name in ("cast", "positive", "stop_gradient"):
        return given[0]
    table = reals.TABLE if work.kind == "f" else integers.TABLE
    if name not in table:
        raise Refused(f"{name} of {work}")
    signed = work.kind == "i"
    values = [g.value for g in given]
    if name == "power" and type(args[1]) in (*WEAK, np.float64) and work.kind == "f":
        return Entry(emitter, reals.power_by(emitter, values[0], float(args[1])), work)
    if work.kind == "f":
        value = table[name](emitter, *values)
    else:
        value = table[name](emitter, signed, *values)
    return Entry(emitter, value, BOOL if name in QUESTIONS | LOGIC else work)


def _where(emitter: Emitter, args: tuple, work: np.dtype) -> Entry:
    condition = emitter.cast(args[0], BOOL)
    x, y = (emitter.cast(a, work) for a in args[1:])
    return Entry(emitter, emitter.builder.select(condition.value, x.value, y.value), work)


def can_emit(name: str, args: tuple, dtype: np.dtype) -> bool:
    """Whether a function has a native form for arguments with dtypes, or numbers of Python."""
    return _can_emit(name, tuple([_described(a) for a in args]), dtype)


def _described(a: Any) -> Any:
    if type(a) in WEAK:
        return (type(a), a)
    if isinstance(a, np.float64):
        return (np.float64, float(a))
    return a.dtype


@functools.cache
def _can_emit(name: str, described: tuple, dtype: np.dtype) -> bool:
    scratch = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), []), "scratch")
    emitter = Emitter(scratch)
    args = [a[0](a[1]) if type(a) is tuple else emitter.constant(1, a) for a in described]
    try:
        return emit(emitter, name, tuple(args), dtype).dtype == dtype
    except (Refused, OverflowError):
        return False
