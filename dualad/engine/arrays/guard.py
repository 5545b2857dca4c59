"""Zero meets infinity: a tangent that is exactly zero stays zero through an infinite slope.

Products run unguarded. Only where a NaN shows up is the product taken again, forwards with
`zero_wins`, in which a zero tangent times anything is zero. Backwards the zero that would have
won may come last, as the slope of an earlier operation: there `either_zero_wins`, so that both
modes give one Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from ..levels.traced import TracedArray

__all__ = [
    "IGNORE",
    "either_zero_wins_raw",
    "has_nan",
    "ignore",
    "quiet",
    "restore",
    "set_state",
    "zero_wins_raw",
]

float64 = np.float64
F64 = np.dtype(float64)
#: The function itself, without the question whether an argument handles it.
vdot = getattr(np.vdot, "__wrapped__", np.vdot)

#: `token = ignore()` ... `restore(token)` is `with quiet()` for the fast paths; generated code
#: says `set_state(IGNORE)`, which is a call less.
ignore: Callable[[], Any]
set_state: Callable[[Any], Any]
#: An object that is another one where NumPy's error state is.
error_state: Callable[[], Any]
restore: Callable[[Any], Any]

try:
    # The context variable that np.errstate sets; setting it directly costs a sixth of that.
    from numpy._core.umath import _extobj_contextvar, _make_extobj
except ImportError:
    IGNORE: Any = "ignore"
    set_state = lambda state: (  # noqa: E731
        np.seterr(all=state) if state is IGNORE else np.geterr()
    )
    restore = lambda old: np.seterr(**old)  # noqa: E731
    error_state = object
else:
    IGNORE = _make_extobj(all="ignore")
    set_state = _extobj_contextvar.set
    restore = _extobj_contextvar.reset
    error_state = _extobj_contextvar.get
ignore = partial(set_state, IGNORE)


def quiet() -> Any:
    """A context in which a rule gives no NumPy warning that the function itself does not give."""
    return np.errstate(all="ignore")


def has_nan(x: Any) -> bool:
    """Whether the value of x holds a NaN, or may. Linear variables have no value."""
    while True:
        if type(x) is np.ndarray and x.ndim == 1 and x.dtype is F64:  # what most are
            return isnan(vdot(x, x))
        if not isinstance(x, TracedArray):
            break
        if x.kind in ("linear", "duck"):  # an array that is not computed yet may hold one
            return x.kind == "duck"
        if x.ends:
            return x.has_nan()
        x = x.primal
    if type(x) is float64:
        return bool(x != x)
    if isinstance(x, np.ndarray):
        if x.flags.f_contiguous:
            x = x.T
        elif not x.flags.c_contiguous:
            # One entry stands for all of an axis along which a value is broadcast.
            x = x[tuple([slice(0, 1) if step == 0 else slice(None) for step in x.strides])]
        if x.dtype.kind == "f" and x.itemsize >= 4:
            # The sum of squares is NaN exactly when an entry is: infinities add up to infinity.
            s = vdot(x, x)
            return bool(s != s)
    return bool(np.isnan(x).any())


def either_zero_wins_raw(a: Any, b: Any) -> Any:
    """a * b, but 0 wherever a or b is 0."""
    with quiet():
        return np.where((a == 0) | (b == 0), 0, a * b)[()]


def zero_wins_raw(a: Any, b: Any) -> Any:
    """a * b, but 0 wherever a is 0."""
    with quiet():
        return np.where(a == 0, 0, a * b)[()]
