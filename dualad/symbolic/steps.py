"""Step functions that SymPy lacks: rounding to the nearest integer, and towards zero."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

__all__ = ["LOCALLY_CONSTANT", "rint", "trunc"]


class _Step(sympy.Function):
    """A function with integer values: constant between its jumps."""

    nargs = 1
    is_integer = True
    is_finite = True

    @classmethod
    def eval(cls, u: Any) -> Any:
        if u.is_integer:
            return u
        if u.is_Float:
            u = sympy.Rational(u)
        return sympy.Integer(cls.of(u)) if u.is_Rational else None

    def fdiff(self, argindex: int = 1) -> Any:
        return sympy.Integer(0)


class rint(_Step):
    """The nearest integer, the even one of two that are equally near."""

    @staticmethod
    def of(u: Any) -> int:
        return round(Fraction(int(u.p), int(u.q)))


class trunc(_Step):
    """The integer part, rounded towards zero."""

    @staticmethod
    def of(u: Any) -> int:
        return int(u)


#: Functions that do not change between their jumps.
LOCALLY_CONSTANT = (sympy.floor, sympy.ceiling, rint, trunc)
