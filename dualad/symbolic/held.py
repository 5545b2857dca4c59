"""A value that is held constant: what `stop_gradient` and `detach` make of an expression."""

from __future__ import annotations

from typing import Any

import sympy

__all__ = ["held", "holding", "released"]


def _asks(fact: str) -> Any:
    return lambda self: getattr(self.args[0], f"is_{fact}")


#: What is known of a number is known of it when it is held.
FACTS = (
    *("real", "extended_real", "complex", "finite", "infinite", "zero", "nonzero", "integer"),
    *("positive", "negative", "nonnegative", "nonpositive", "even", "odd", "rational"),
    *("extended_positive", "extended_negative"),
)
_Known: Any = type("_Known", (sympy.Function,), {f"_eval_is_{f}": _asks(f) for f in FACTS})


class held(_Known):
    """The same number, of which every derivative is zero.

    >>> x = sympy.Symbol("x", real=True)
    >>> sympy.diff(x * held(x**2), x)
    held(x**2)
    """

    nargs = 1

    @classmethod
    def eval(cls, u: Any) -> Any:
        return u if u.is_number or isinstance(u, held) else None

    def fdiff(self, argindex: int = 1) -> Any:
        return sympy.Integer(0)


def holding(e: Any) -> Any:
    """An entry of an array held constant, its real and its imaginary part each for itself."""
    from .entries import is_complex, is_truth, real_and_imaginary

    if is_truth(e):
        return e
    if is_complex(e):
        re, im = real_and_imaginary(e)
        return held(re) + sympy.I * held(im)
    return held(e)


def released(e: Any) -> Any:
    """An expression without the mark of what is held, when nothing is differentiated any more."""
    if not isinstance(e, sympy.Basic) or not e.has(held):
        return e
    return e.replace(held, lambda u: u)
