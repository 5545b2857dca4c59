"""Ways to see that an expression is zero, the cheapest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import sympy

__all__ = ["CHEAP", "TACTICS", "roots_apart", "why_zero"]


def _expand(e: Any) -> Any:
    return sympy.expand(e)


def _rational(e: Any) -> Any:
    """Over one denominator, exponentials and powers of sums written as products."""
    e = sympy.expand(e, power_base=False, log=False)
    return sympy.cancel(sympy.together(e))


def _radicals(e: Any) -> Any:
    """Everything over one denominator after roots are taken apart."""
    return sympy.cancel(sympy.together(roots_apart(e)))


def roots_apart(e: Any) -> Any:
    """What stands under a root over one denominator, factored, each factor under its own root."""

    def apart(base: Any, exponent: Any) -> Any:
        base = sympy.factor(sympy.together(base))
        return sympy.expand_power_base(base**exponent)

    roots = {p: apart(*p.as_base_exp()) for p in e.atoms(sympy.Pow) if p.exp.is_Rational}
    roots = {p: q for p, q in roots.items() if p.exp.q != 1}
    return e.xreplace(roots)


def _trigonometry(e: Any) -> Any:
    return sympy.trigsimp(sympy.expand_trig(e))


def _exponentials(e: Any) -> Any:
    return sympy.simplify(sympy.expand(e.rewrite(sympy.exp)))


def _logarithms(e: Any) -> Any:
    e = sympy.expand_log(e)
    return sympy.simplify(sympy.expand(e))


def _polar(e: Any) -> Any:
    """Two symbols in whose angle the expression is written, as r cos t and r sin t."""
    for angle in e.atoms(sympy.atan2):
        y, x = angle.args
        if x.is_Symbol and y.is_Symbol:
            r, t = sympy.Dummy("r", positive=True), sympy.Dummy("t", real=True)
            e = e.xreplace({angle: t}).xreplace({x: r * sympy.cos(t), y: r * sympy.sin(t)})
            square = sympy.expand((r * sympy.cos(t)) ** 2 + (r * sympy.sin(t)) ** 2)
            e = e.xreplace({square: r**2})
    return sympy.simplify(sympy.expand_trig(sympy.simplify(e)))


def _special(e: Any) -> Any:
    e = e.replace(sympy.polygamma, lambda n, x: sympy.polygamma(n, x).rewrite(sympy.zeta))
    return sympy.simplify(sympy.expand_func(sympy.gammasimp(e)))


def _lambert(e: Any) -> Any:
    """The symbol under LambertW as t exp(t), which gives t."""
    for w in e.atoms(sympy.LambertW):
        (x,) = w.args
        if x.is_Symbol and x.is_positive:
            t = sympy.Dummy("t", positive=True)
            e = e.xreplace({w: t}).xreplace({x: t * sympy.exp(t)})
    return sympy.simplify(e)


#: name -> what brings an expression nearer to zero.
TACTICS: dict[str, Callable[[Any], Any]] = {
    "expand": _expand,
    "cancel": _rational,
    "simplify": sympy.simplify,
    "factor under roots": _radicals,
    "trigonometric identities": _trigonometry,
    "write with exp": _exponentials,
    "expand logarithms": _logarithms,
    "functional equations": _special,
    "polar coordinates": _polar,
    "inverse of x exp(x)": _lambert,
}


#: Those that cost little.
CHEAP = ("expand", "cancel")


def why_zero(e: Any, tactics: Iterable[str] = TACTICS) -> str | None:
    """The tactic that shows an expression to be zero, None where none of them does.

    >>> import sympy
    >>> x = sympy.Symbol("x", real=True)
    >>> why_zero((x + 1) ** 2 - x**2 - 2 * x - 1)
    'expand'
    >>> why_zero(1 / x + 1 / (x + 1) - (2 * x + 1) / (x * (x + 1)))
    'cancel'
    >>> why_zero(sympy.sin(x) - x) is None
    True
    """
    if e == 0:
        return "identical"
    for name in tactics:
        try:
            if TACTICS[name](e) == 0:
                return name
        except (ValueError, TypeError, AttributeError, NotImplementedError, ArithmeticError):
            continue  # a tactic that does not know a function shows nothing
        except sympy.PolynomialError:
            continue
    return None
