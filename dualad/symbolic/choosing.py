"""NumPy's functions that choose between entries, or take one apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from .entries import chosen
from .errors import REMEDY, NotSymbolicError
from .tables import UFUNCS, handles
from .value import Symbolic, apply, entries_of, store, symbolic, wrapped

__all__ = ["where"]


@handles(np.where)
def where(condition: Any, *branches: Any) -> Symbolic:
    """A choice by each entry of a condition."""
    if len(branches) != 2:
        raise NotSymbolicError(f"np.where with one argument asks which symbols are true: {REMEDY}")
    parts = map(entries_of, (condition, *branches))
    return wrapped(np.frompyfunc(chosen, 3, 1)(*parts))


@handles(np.select)
def select(conditions: Any, choices: Any, default: Any = 0) -> Symbolic:
    out = symbolic(default)
    for c, v in reversed(list(zip(conditions, choices, strict=True))):
        out = where(c, v, out)
    return out


@handles(np.piecewise)
def piecewise(x: Any, conditions: Any, functions: Any, *args: Any, **kwargs: Any) -> Symbolic:
    values = [f(x, *args, **kwargs) if callable(f) else f for f in functions]
    given = list(conditions) if isinstance(conditions, (list, tuple)) else [conditions]
    default = values[len(given)] if len(values) > len(given) else 0
    out = symbolic(default) + 0 * x
    for c, v in zip(given, values, strict=False):  # the last that holds wins
        out = where(c, v, out)
    return out


@handles(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    result = symbolic(a)
    result = result if low is None else apply("maximum", result, low)
    result = result if high is None else apply("minimum", result, high)
    return result if out is None else store(out, result)


UFUNCS["clip"] = clip


@handles(np.round, np.around)
def rounded(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """To whole numbers, or to multiples of a power of ten."""
    unit = sympy.Integer(10) ** decimals
    result = apply("rint", symbolic(a) * unit) / unit
    return result if out is None else store(out, result)


@handles(np.real)
def real(val: Any) -> Symbolic:
    return apply("real", val)


@handles(np.imag)
def imag(val: Any) -> Symbolic:
    return apply("imag", val)


@handles(np.angle)
def angle(z: Any, deg: bool = False) -> Symbolic:
    out = apply("arctan2", apply("imag", z), apply("real", z))
    return apply("rad2deg", out) if deg else out


@handles(np.sinc)
def sinc(x: Any) -> Symbolic:
    return apply("sinc", x)


@handles(np.i0)
def i0(x: Any) -> Symbolic:
    return apply("i0", x)


@handles(np.nan_to_num)
def nan_to_num(x: Any, *args: Any, **kwargs: Any) -> Symbolic:
    """Symbols stand for finite numbers."""
    return symbolic(x)


@handles(np.isneginf, np.isposinf)
def is_infinite(x: Any) -> Symbolic:
    """Symbols stand for finite numbers."""
    return apply("isinf", x)


@handles(np.heaviside)
def heaviside(x: Any, at_zero: Any) -> Symbolic:
    return apply("heaviside", x, at_zero)


@handles(np.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Symbolic:
    """The straight line of the interval that x lies in, chosen by where."""
    if period is not None:
        raise NotSymbolicError(f"np.interp with a period is not known on symbols: {REMEDY}")
    x, xp, fp = symbolic(x), symbolic(xp), symbolic(fp)
    out = fp[-1]
    for k in range(len(xp) - 2, -1, -1):
        slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
        out = where(x < xp[k + 1], fp[k] + slope * (x - xp[k]), out)
    out = where(x < xp[0], fp[0] if left is None else left, out)
    return where(x > xp[-1], fp[-1] if right is None else right, out)
