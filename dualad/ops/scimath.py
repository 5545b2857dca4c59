"""numpy.emath: the functions whose results are complex where real ones do not exist.

A result is complex if any entry needs it; of a batch, if any of its entries does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.traced import raw
from .operands import array_of
from .registry import function

__all__: list[str] = []


def _complex_if(outside: Callable[[Any], Any], x: Any) -> Any:
    """x as a complex array if any entry is real and outside of a real function's domain."""
    x = array_of(x)
    value = raw(x)
    if not np.any(np.isreal(value) & outside(value)):
        return x
    return x.astype(np.result_type(x.dtype, np.complex64))


def _below_zero(x: Any) -> Any:
    return x < 0


def _beyond_one(x: Any) -> Any:
    return np.abs(x) > 1


def _extended(f: Any, outside: Callable[[Any], Any], plain: Any) -> None:
    @function(f)
    def rule(x: Any) -> Any:
        return plain(_complex_if(outside, x))


for _name in ("sqrt", "log", "log2", "log10"):
    _extended(getattr(np.emath, _name), _below_zero, getattr(np, _name))
for _name in ("arccos", "arcsin", "arctanh"):
    _extended(getattr(np.emath, _name), _beyond_one, getattr(np, _name))


@function(np.emath.logn)
def logn(n: Any, x: Any) -> Any:
    """The logarithm of x to base n."""
    return np.log(_complex_if(_below_zero, x)) / np.log(_complex_if(_below_zero, n))


@function(np.emath.power)
def power(x: Any, p: Any) -> Any:
    """x to the power p; negative integer powers are real numbers."""
    p = array_of(p)
    if p.dtype.kind in "iu" and np.any(raw(p) < 0):
        p = p * 1.0
    return np.power(_complex_if(_below_zero, x), p)
