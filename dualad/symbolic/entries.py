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
from .partial import watched
from .special import SPECIAL
from .steps import rint, trunc

__all__ = [
    "ENTRIES",
    "chosen",
    "entry",
    "expression",
    "is_complex",
    "is_truth",
    "number",
    "real_and_imaginary",
]


def expression(x: Any) -> Any:
    """A number, truth value or expression as a SymPy object."""
    if isinstance(x, sympy.Basic):
        return exact(x)
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


def exact(e: Any) -> Any:
    """An expression with its floats read as the numbers that they stand for."""
    if not e.has(sympy.Float):
        return e
    floats = e.atoms(sympy.Float)
    return e.xreplace({f: read(float(f)) if f._prec <= 53 else Rational(str(f)) for f in floats})


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


def real_and_imaginary(e: Any) -> tuple[Any, Any]:
    """The two parts of an entry whose symbols are real.

    >>> a, b = sympy.symbols("a b", real=True)
    >>> real_and_imaginary((a + I * b) / sqrt(a**2 + b**2))
    (a/sqrt(a**2 + b**2), b/sqrt(a**2 + b**2))
    """
    if not is_complex(e):
        return e, sympy.Integer(0)
    re = im = sympy.Integer(0)
    for term in sympy.Add.make_args(sympy.expand(e)):
        if not is_complex(term):
            parts = (term, 0)
        elif not is_complex(term / I):
            parts = (0, term / I)
        else:
            parts = sympy.expand_complex(term).as_real_imag()
        re, im = re + parts[0], im + parts[1]
    return re, im


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
    re, im = real_and_imaginary(x)
    return sqrt(re**2 + im**2)


def part(k: int) -> Callable[..., Any]:
    def of(x: Any) -> Any:
        return real_and_imaginary(x)[k]

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


def _of_numbers(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    g = watched(name, f)
    return lambda *entries: g(*map(number, entries))


#: Name of a ufunc -> what it is on SymPy expressions.
ENTRIES: dict[str, Callable[..., Any]] = {
    n: _of_numbers(n, f) for n, f in (_NUMBERS | SPECIAL).items()
} | _TRUTHS


def entry(name: str) -> Callable[..., Any]:
    """What a ufunc is on expressions, or the error that says that nobody knows."""
    if name not in ENTRIES:
        raise NotSymbolicError(f"SymPy has no counterpart of {name}: {REMEDY}")
    return ENTRIES[name]
