"""Derivatives of expressions with kinks and steps, piece by piece.

SymPy differentiates abs and Max into distributions and step functions into nothing; here a kink
separates pieces, and a step function is constant between its jumps.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Piecewise

from .steps import LOCALLY_CONSTANT

__all__ = ["by_cases", "derivative"]


def by_cases(expr: Any) -> Any:
    """The expression with Abs, sign, Max, Min and Heaviside written out as Piecewise."""
    if not isinstance(expr, sympy.Basic) or not expr.args:
        return expr
    args = [by_cases(a) for a in expr.args]
    if isinstance(expr, sympy.Abs) and args[0].is_extended_real:
        u = args[0]
        return Piecewise((u, u > 0), (-u, u < 0), (0, True))
    if isinstance(expr, sympy.sign) and args[0].is_extended_real:
        return Piecewise((1, args[0] > 0), (-1, args[0] < 0), (0, True))
    if isinstance(expr, (sympy.Max, sympy.Min)):
        return _extreme(args, isinstance(expr, sympy.Max))
    if isinstance(expr, sympy.Heaviside):
        return Piecewise((1, args[0] > 0), (0, args[0] < 0), (args[1], True))
    return expr.func(*args)


def _extreme(args: list[Any], largest: bool) -> Any:
    out, *rest = args
    for a in rest:
        out = Piecewise((out, out > a if largest else out < a), (a, True))
    return out


def conventional(expr: Any) -> Any:
    """The expression in pieces whose slopes on kinks are those that this library gives there.

    Of equal arguments of Max and Min it takes the mean, which shares the slope evenly.
    """
    if not isinstance(expr, sympy.Basic) or not expr.args:
        return expr
    args = [conventional(a) for a in expr.args]
    if not isinstance(expr, (sympy.Max, sympy.Min)):
        return by_cases(expr.func(*args))
    out, *rest = args
    for a in rest:
        d = out - a if isinstance(expr, sympy.Max) else a - out
        out = Piecewise((out, d > 0), (a, d < 0), ((out + a) / 2, True))
    return out


def derivative(expr: Any, symbol: Any) -> Any:
    """d expr / d symbol between the kinks and jumps of expr."""
    if expr is sympy.nan:
        return expr
    expr = by_cases(expr)
    steps = {
        s: sympy.Dummy("q", integer=True)
        for s in expr.atoms(*LOCALLY_CONSTANT)
        if s.has(symbol)
    }  # fmt: skip
    slope = sympy.diff(expr.xreplace(steps), symbol)
    return slope.xreplace({q: s for s, q in steps.items()})
