"""What comes from outside: as what the engine computes with, or the error that refuses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError
from .rules import FUNCTIONS
from .traced import FLOAT64, OBJECT, TracedArray

__all__ = ["as_operand", "as_value", "stack_objects"]

#: Asked about an operand that is no array, and whether an operator has it, so that its own
#: reflected one may be tried: each may raise the error that says what to do.
FOREIGN: list[Callable[[Any, bool], None]] = []
#: Asked about an array of another library: a value that stands for it, or None.
VALUES: list[Callable[[Any], Any]] = []
#: What as_operand knows to be no foreign array.
PLAIN = (TracedArray, np.generic)
NUMBERS = (float, int, complex, bool)


def as_operand(x: Any) -> Any:
    """What an operation may meet beside a traced value: object arrays and lists are stacked."""
    if isinstance(x, TracedArray):
        return x
    if isinstance(x, np.ndarray):
        if type(x) is not np.ndarray:
            return plain_array(x, "an operand")
        return x if x.dtype is not OBJECT else stack_objects(x)
    if isinstance(x, (list, tuple)):
        return stack_objects(x)
    if type(x) is range:
        return np.asarray(x)
    if hasattr(x, "__array__") and not isinstance(x, PLAIN) and not hasattr(x, "__dualad_face__"):
        if not hasattr(x, "__dualad_value__"):
            return of_library(x, foreign(type(x), "an operand"))
    elif type(x) not in NUMBERS and not isinstance(x, PLAIN):
        for ask in FOREIGN:
            ask(x, False)
    return x


def of_library(x: Any, error: Exception) -> Any:
    """An array of another library as a value; the error where the library is not registered."""
    for ask in VALUES:
        value = ask(x)
        if value is not None:
            return value
    raise error


def with_values(t: type, x: Any, error: Exception) -> Any:
    """Arguments with the arrays of a type as values."""
    if type(x) is t:
        return of_library(x, error)
    if type(x) in (tuple, list):
        return type(x)(with_values(t, v, error) for v in x)
    return {k: with_values(t, v, error) for k, v in x.items()} if type(x) is dict else x


def plain_array(x: np.ndarray, name: str) -> np.ndarray:
    """A memory map as an array; any other subclass of ndarray has operations of its own."""
    if type(x) is np.memmap:
        return np.asarray(x)
    raise foreign(type(x), name)


def foreign(t: type, name: str) -> NotDifferentiableError:
    """The error for an array type that computes by rules of its own."""
    return NotDifferentiableError(
        f"{name} is a {t.__module__}.{t.__qualname__}, whose operations differ from ndarray's: "
        f"pass the plain array (x.to_numpy() for pandas, x.values for xarray, np.asarray(x) for "
        f"an ndarray subclass) and label the results afterwards."
    )


def stack_objects(x: Any) -> Any:
    """An object array, or a nested list, of traced scalars and numbers as one array."""
    if isinstance(x, np.ndarray) and x.dtype is not OBJECT:
        return x
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return as_value(x[()])
    if isinstance(x, (list, tuple, np.ndarray)):
        parts = [stack_objects(v) for v in x]
        if not any(isinstance(p, TracedArray) for p in parts):
            return np.asarray(parts, dtype=None if parts else FLOAT64)
        return FUNCTIONS[np.stack](parts)
    return x


def as_value(x: Any, name: str = "value") -> Any:
    """Bring something from outside to what the engine computes with, or refuse it."""
    if isinstance(x, TracedArray):
        return x.as_number() if x.ends else x
    t = type(x)
    if t is float:
        return np.float64(x)
    if t is complex:
        return np.complex128(x)
    if t in (list, tuple) or (t is np.ndarray and x.dtype is OBJECT):
        value = stack_objects(x)
        if isinstance(value, TracedArray) or value.dtype.kind in "fciub":
            return value
    elif t is np.ndarray or isinstance(x, np.generic):
        if x.dtype.kind in "fciub":
            return x
    elif t in (int, bool):
        return np.asarray(x)[()]
    elif isinstance(x, np.ndarray):
        return plain_array(x, name)
    error = NotDifferentiableError(
        f"{name} is of type {t.__module__}.{t.__qualname__}, which is not a numeric array: give "
        f"a float, a NumPy array (x.to_numpy() for pandas, x.data for xarray), or a container of "
        f"those."
    )
    return of_library(x, error)
