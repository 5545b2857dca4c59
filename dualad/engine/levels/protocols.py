"""NumPy's protocols: how its functions and ufuncs come to their rules for traced values.

They are attached to the traced array here, where all that they read is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .missing import missing_rule, name_of
from .rules import FUNCTIONS, GENERAL, UFUNC_METHODS, UFUNCS
from .traced import TracedArray
from .values import as_operand, foreign, with_values

__all__ = ["plain_rule", "ufunc_rule"]

#: The types of arrays that a function may mix: ndarray and the kinds that have been met.
OWN: set[type] = {np.ndarray}


def __array_ufunc__(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A ufunc, or one of its methods, where the rule of a kind does not take it."""
    for a in inputs:
        if not isinstance(a, TracedArray) and hasattr(a, "__dualad_face__"):
            return NotImplemented
    if kwargs:
        return self.with_keywords(ufunc, method, inputs, kwargs)
    if method == "at":
        return ufunc_rule(ufunc, method)(*inputs)
    return ufunc_rule(ufunc, method)(*map(as_operand, inputs))


def __array_function__(self: Any, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
    """A function of NumPy with a traced value among its arguments."""
    for t in types:
        if t in OWN:
            continue
        if hasattr(t, "__dualad_face__"):
            return NotImplemented
        if issubclass(t, TracedArray):
            OWN.add(t)
        else:
            error = foreign(t, f"an argument of {name_of(func)}")
            args, kwargs = with_values(t, args, error), with_values(t, kwargs, error)
    rule = FUNCTIONS[func]
    if rule is None:
        raise missing_rule(name_of(func))
    return rule(*args, **kwargs)


TracedArray.__array_ufunc__ = __array_ufunc__
TracedArray.__array_function__ = __array_function__


def plain_rule(ufunc: Any) -> Callable[..., Any] | None:
    """What handles a plain call of a ufunc; None where there is no rule."""
    return UFUNCS[ufunc]


def ufunc_rule(ufunc: Any, method: str = "__call__") -> Callable[..., Any]:
    """What handles a ufunc, or one of its methods, on traced values."""
    rule = UFUNCS[ufunc] if method == "__call__" else UFUNC_METHODS[ufunc, method]
    if rule is None:
        general = GENERAL[method]
        rule = None if general is None else general(ufunc)
    if rule is None:
        name = ufunc.__name__ + ("" if method == "__call__" else f".{method}")
        raise missing_rule(f"the ufunc {name}")
    return rule
