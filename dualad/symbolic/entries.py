"""What each ufunc is on one entry: the SymPy expression that it stands for.

One line a ufunc, by the name under which NumPy or SciPy knows it. Entries are real expressions
unless they contain the imaginary unit.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from sympy import I, Max, Min, Piecewise, Rational, exp, log, pi, sqrt
from sympy.logic.boolalg import Boolean

from .errors import REMEDY, NotSymbolicError
from .numerals import read
from .steps import rint, trunc

__all__ = ["ENTRIES", "chosen", "entry", "expression", "is_complex", "is_truth", "number"]


def expression(x: Any) -> Any:
    """A number, truth value or expression as a SymPy object."""
    if isinstance(x, (sympy.Basic,)):
        return x
    if isinstance(x, (bool, np.bool_)):
        return sympy.true if x else sympy.false
    if isinstance(x, numbers.Integral):
        return sympy.Integer(int(x))
    if isinstance(x, Fraction):
        return Rational(x.numerator, x.denominator)
    if isinstance(x, numbers.Real):
        return read(float(x))
    if isinstance(x, numbers.Complex):
        z = complex(x)
        return read(z.real) + I * read(z.imag)
    inner = getattr(x, "entries", None)
    if inner is not None and inner.ndim == 0:
        return inner[()]
    raise NotSymbolicError(f"a {type(x).__name__} cannot take part in a symbolic computation")


def is_truth(e: Any) -> bool:
    """Whether an entry is a condition (SymPy counts symbols among its Booleans, too)."""
    return isinstance(e, Boolean) and not isinstance(e, sympy.Expr)


def number(e: Any) -> Any:
    """A truth value as 0 or 1, anything else as it is."""
    if e is sympy.true or e is sympy.false:
        return sympy.Integer(int(bool(e)))
    return Piecewise((1, e), (0, True)) if is_truth(e) else e


def truth(e: Any) -> Any:
    """A number as the condition that it is not zero."""
    return e if is_truth(e) else sympy.Ne(e, 0)


def is_complex(e: Any) -> bool:
    """Whether an entry contains the imaginary unit."""
    return isinstance(e, sympy.Expr) and e.has(I)


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b."""
    condition = truth(condition)
    if condition is sympy.true or a == b:
        return a
    if condition is sympy.false:
        return b
    if is_truth(a) and is_truth(b):
        return (condition & a) | (~condition & b)
    return Piecewise((number(a), condition), (number(b), True))


def compared(relation: Callable[..., Any]) -> Callable[..., Any]:
    def compare(x: Any, y: Any) -> Any:
        return relation(number(x), number(y))

    return compare


def modulus(x: Any) -> Any:
    if not is_complex(x):
        return sympy.Abs(x)
    re, im = x.as_real_imag()
    return sqrt(re**2 + im**2)


def part(k: int) -> Callable[..., Any]:
    def of(x: Any) -> Any:
        return x.as_real_imag()[k] if is_complex(x) else (x, sympy.Integer(0))[k]

    return of


def cube_root(x: Any) -> Any:
    third = Rational(1, 3)
    if x.is_nonnegative:
        return x**third
    return Piecewise((x**third, x > 0), (-((-x) ** third), x < 0), (0, True))


def step(x: Any, at_zero: Any) -> Any:
    return Piecewise((0, x < 0), (1, x > 0), (at_zero, True))


def with_sign(x: Any, y: Any) -> Any:
    return Piecewise((sympy.Abs(x), y >= 0), (-sympy.Abs(x), True))


def zero_at_zero(x: Any, value: Any) -> Any:
    return value if x.is_nonzero else Piecewise((0, sympy.Eq(x, 0)), (value, True))


def log_normal(x: Any) -> Any:
    return log(sympy.erfc(-x / sqrt(2)) / 2)


LN2, LN10 = log(2), log(10)
never = lambda x: sympy.false  # noqa: E731

# fmt: off
_NUMBERS: dict[str, Callable[..., Any]] = {
    # arithmetic
    "add":          lambda x, y: x + y,
    "subtract":     lambda x, y: x - y,
    "multiply":     lambda x, y: x * y,
    "divide":       lambda x, y: x / y,
    "negative":     lambda x: -x,
    "positive":     lambda x: x,
    "power":        lambda x, y: x**y,
    "float_power":  lambda x, y: x**y,
    "square":       lambda x: x**2,
    "reciprocal":   lambda x: 1 / x,
    "sqrt":         sqrt,
    "cbrt":         cube_root,
    "remainder":    lambda x, y: x - y * sympy.floor(x / y),
    "fmod":         lambda x, y: x - y * trunc(x / y),
    "floor_divide": lambda x, y: sympy.floor(x / y),
    "hypot":        lambda x, y: sqrt(x**2 + y**2),
    "ldexp":        lambda x, y: x * 2**y,
    # exponentials and logarithms
    "exp":          exp,
    "exp2":         lambda x: 2**x,
    "expm1":        lambda x: exp(x) - 1,
    "log":          log,
    "log2":         lambda x: log(x) / LN2,
    "log10":        lambda x: log(x) / LN10,
    "log1p":        lambda x: log(1 + x),
    "logaddexp":    lambda x, y: log(exp(x) + exp(y)),
    "logaddexp2":   lambda x, y: log(2**x + 2**y) / LN2,
    # trigonometric and hyperbolic
    "sin":          sympy.sin,
    "cos":          sympy.cos,
    "tan":          sympy.tan,
    "arcsin":       sympy.asin,
    "arccos":       sympy.acos,
    "arctan":       sympy.atan,
    "arctan2":      sympy.atan2,
    "sinh":         sympy.sinh,
    "cosh":         sympy.cosh,
    "tanh":         sympy.tanh,
    "arcsinh":      sympy.asinh,
    "arccosh":      sympy.acosh,
    "arctanh":      sympy.atanh,
    "deg2rad":      lambda x: x * pi / 180,
    "radians":      lambda x: x * pi / 180,
    "rad2deg":      lambda x: x * 180 / pi,
    "degrees":      lambda x: x * 180 / pi,
    "sinc":         lambda x: Piecewise((1, sympy.Eq(x, 0)), (sympy.sin(pi * x) / (pi * x), True)),
    # kinks and steps
    "absolute":     modulus,
    "fabs":         sympy.Abs,
    "sign":         sympy.sign,
    "maximum":      Max,
    "minimum":      Min,
    "fmax":         Max,
    "fmin":         Min,
    "copysign":     with_sign,
    "heaviside":    step,
    "floor":        sympy.floor,
    "ceil":         sympy.ceiling,
    "rint":         rint,
    "trunc":        trunc,
    # complex numbers
    "conjugate":    sympy.conjugate,
    "real":         part(0),
    "imag":         part(1),
    # scipy.special
    "erf":          sympy.erf,
    "erfc":         sympy.erfc,
    "erfcx":        lambda x: exp(x**2) * sympy.erfc(x),
    "erfi":         sympy.erfi,
    "erfinv":       sympy.erfinv,
    "ndtr":         lambda x: sympy.erfc(-x / sqrt(2)) / 2,
    "log_ndtr":     log_normal,
    "gamma":        sympy.gamma,
    "gammaln":      sympy.loggamma,
    "loggamma":     sympy.loggamma,
    "rgamma":       lambda x: 1 / sympy.gamma(x),
    "psi":          sympy.digamma,
    "beta":         lambda a, b: sympy.gamma(a) * sympy.gamma(b) / sympy.gamma(a + b),
    "betaln":       lambda a, b: sympy.loggamma(a) + sympy.loggamma(b) - sympy.loggamma(a + b),
    "poch":         lambda a, n: sympy.gamma(a + n) / sympy.gamma(a),
    "expit":        lambda x: 1 / (1 + exp(-x)),
    "logit":        lambda x: log(x / (1 - x)),
    "log_expit":    lambda x: -log(1 + exp(-x)),
    "xlogy":        lambda x, y: zero_at_zero(x, x * log(y)),
    "xlog1py":      lambda x, y: zero_at_zero(x, x * log(1 + y)),
    "entr":         lambda x: Piecewise((0, sympy.Eq(x, 0)), (-x * log(x), x > 0),
                                        (-sympy.oo, True)),
    "rel_entr":     lambda x, y: zero_at_zero(x, x * log(x / y)),
    "kl_div":       lambda x, y: zero_at_zero(x, x * log(x / y)) - x + y,
    "huber":        lambda d, r: Piecewise((r**2 / 2, sympy.Abs(r) <= d),
                                           (d * (sympy.Abs(r) - d / 2), True)),
    "pseudo_huber": lambda d, r: d**2 * (sqrt(1 + (r / d) ** 2) - 1),
    "boxcox":       lambda x, a: (x**a - 1) / a,
    "boxcox1p":     lambda x, a: ((1 + x) ** a - 1) / a,
    "inv_boxcox":   lambda y, a: (a * y + 1) ** (1 / a),
    "j0":           lambda x: sympy.besselj(0, x),
    "j1":           lambda x: sympy.besselj(1, x),
    "y0":           lambda x: sympy.bessely(0, x),
    "y1":           lambda x: sympy.bessely(1, x),
    "i0":           lambda x: sympy.besseli(0, x),
    "i1":           lambda x: sympy.besseli(1, x),
    "k0":           lambda x: sympy.besselk(0, x),
    "k1":           lambda x: sympy.besselk(1, x),
    "jv":           sympy.besselj,
    "yv":           sympy.bessely,
    "iv":           sympy.besseli,
    "kv":           sympy.besselk,
    "exp1":         lambda x: sympy.expint(1, x),
    "expi":         sympy.Ei,
    "expn":         sympy.expint,
    "ellipk":       sympy.elliptic_k,
    "ellipe":       sympy.elliptic_e,
    "ellipkm1":     lambda p: sympy.elliptic_k(1 - p),
    "gammainc":     lambda a, x: sympy.lowergamma(a, x) / sympy.gamma(a),
    "gammaincc":    lambda a, x: sympy.uppergamma(a, x) / sympy.gamma(a),
    "exprel":       lambda x: Piecewise((1, sympy.Eq(x, 0)), ((exp(x) - 1) / x, True)),
    "cosm1":        lambda x: sympy.cos(x) - 1,
    "exp10":        lambda x: 10**x,
    "sindg":        lambda x: sympy.sin(pi * x / 180),
    "cosdg":        lambda x: sympy.cos(pi * x / 180),
    "tandg":        lambda x: sympy.tan(pi * x / 180),
    "cotdg":        lambda x: sympy.cot(pi * x / 180),
}

_TRUTHS: dict[str, Callable[..., Any]] = {
    "less":          compared(sympy.Lt),
    "less_equal":    compared(sympy.Le),
    "greater":       compared(sympy.Gt),
    "greater_equal": compared(sympy.Ge),
    "equal":         compared(sympy.Eq),
    "not_equal":     compared(sympy.Ne),
    "logical_and":   lambda x, y: truth(x) & truth(y),
    "logical_or":    lambda x, y: truth(x) | truth(y),
    "logical_xor":   lambda x, y: truth(x) ^ truth(y),
    "logical_not":   lambda x: ~truth(x),
    "bitwise_and":   lambda x, y: truth(x) & truth(y),
    "bitwise_or":    lambda x, y: truth(x) | truth(y),
    "bitwise_xor":   lambda x, y: truth(x) ^ truth(y),
    "invert":        lambda x: ~truth(x),
    # symbols stand for finite numbers
    "isnan":         never,
    "isinf":         never,
    "isfinite":      lambda x: sympy.true,
    "signbit":       lambda x: number(x) < 0,
}
# fmt: on


def _of_numbers(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *entries: f(*map(number, entries))


#: Name of a ufunc -> what it is on SymPy expressions.
ENTRIES: dict[str, Callable[..., Any]] = {n: _of_numbers(f) for n, f in _NUMBERS.items()} | _TRUTHS


def entry(name: str) -> Callable[..., Any]:
    """What a ufunc is on expressions, or the error that says that nobody knows."""
    if name not in ENTRIES:
        raise NotSymbolicError(f"SymPy has no counterpart of {name}: {REMEDY}")
    return ENTRIES[name]
