"""Numbers in registers: which dtypes have a native form, and entries that NumPy's ufuncs take."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

__all__ = [
    "BOOL",
    "F64",
    "I64",
    "INT",
    "POINTER",
    "TRUTH",
    "Entry",
    "Refused",
    "TooLong",
    "integer",
    "is_number",
    "kind_of",
]

F64, I64, BOOL = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_)
INT, POINTER = ir.IntType(64), ir.PointerType()
TRUTH = ir.IntType(1)


class Refused(Exception):
    """What has no native form; the operation stays NumPy's."""


class TooLong(Refused):
    """What takes too long to compile."""


def is_number(dtype: np.dtype) -> bool:
    """Whether entries of a dtype have a native form."""
    if dtype.kind == "f":
        return dtype.itemsize in (4, 8)
    return dtype.kind in "iub" and dtype.isnative


def kind_of(dtype: np.dtype) -> Any:
    """The type of an entry in a register."""
    if not is_number(dtype):
        raise Refused(f"dtype {dtype}")
    if dtype.kind == "f":
        return ir.DoubleType() if dtype.itemsize == 8 else ir.FloatType()
    return TRUTH if dtype.kind == "b" else ir.IntType(8 * dtype.itemsize)


class Entry:
    """One number in a register; its emitter writes the ufuncs and operators that take it."""

    __slots__ = ("dtype", "emitter", "value")

    def __init__(self, emitter: Any, value: Any, dtype: np.dtype):
        self.emitter, self.value, self.dtype = emitter, value, dtype

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise Refused(f"{ufunc.__name__}.{method}")
        return self.emitter.function(ufunc.__name__, args)

    def __add__(self, other: Any) -> Entry:
        return self.emitter.function("add", (self, other))

    def __radd__(self, other: Any) -> Entry:
        return self.emitter.function("add", (other, self))

    def __sub__(self, other: Any) -> Entry:
        return self.emitter.function("subtract", (self, other))

    def __rsub__(self, other: Any) -> Entry:
        return self.emitter.function("subtract", (other, self))

    def __mul__(self, other: Any) -> Entry:
        return self.emitter.function("multiply", (self, other))

    def __rmul__(self, other: Any) -> Entry:
        return self.emitter.function("multiply", (other, self))

    def __truediv__(self, other: Any) -> Entry:
        return self.emitter.function("divide", (self, other))

    def __rtruediv__(self, other: Any) -> Entry:
        return self.emitter.function("divide", (other, self))

    def __neg__(self) -> Entry:
        return self.emitter.function("negative", (self,))


def integer(x: int) -> Any:
    """A number of 64 bits."""
    return ir.Constant(INT, x)
