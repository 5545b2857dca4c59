"""Elementwise functions: one partial derivative an argument, as a formula of out, x and y.

First-year calculus unless a source is named. Where a derivative is not unique the convention is
PyTorch's: abs has slope 0 at 0, ties of maximum and minimum share evenly, x**0 has slope 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.arrays.guard import IGNORE, ignore, restore, set_state
from ..engine.fast_paths.operators import install
from ..engine.kinds.duck import duck_under
from ..engine.levels.rules import FUNCTIONS, UFUNCS
from ..engine.levels.traced import raw
from ..engine.primitives import block_rules
from ..engine.primitives.elementwise import Elementwise, unit
from .registry import kinks

__all__ = ["NAMESPACE", "elementwise"]

LN2 = float(np.log(2.0))
#: What log is taken of in place of 0 and infinity.
SMALLEST, LARGEST = float(np.finfo(float).tiny), float(np.finfo(float).max)
LOG2_E, LOG10_E = float(np.log2(np.e)), float(np.log10(np.e))
#: d sinc(x)/dx = pi**2 x * sum of these times (pi x)**(2 n), n = 0, 1, ...
SINC_SERIES = [(-1) ** n * 2 * n / math.factorial(2 * n + 1) for n in range(1, 11)]


def power_slope(x: Any, y: Any) -> Any:
    """d(x**y)/dx = y x**(y-1), with 0 for y = 0, also at x = 0."""
    if isinstance(y, (int, float)):
        if (y - 1) + 1 == y:
            return 0.0 if y == 0 else 2 * x if y == 2 else y * x ** (y - 1)
        return y * restored(x ** (y - 1), x, y - ((y - 1) + 1))
    # Elsewhere the product is 0 by itself, and has its mixed derivative 1 / x.
    flat = (y == 0) & ((x == 0) | (x != x))
    return np.where(flat, 0, y * lowered_power(x, np.where(flat, 2, y)))[()]


def lowered_power(x: Any, y: Any) -> Any:
    """x**(y - 1); what rounding has taken from y - 1 counts as often as log x is large."""
    exponent = y - 1
    rest = y - (exponent + 1)
    power = x**exponent
    if type(rest) is float and type(x) is np.float64:
        size = min(max(abs(x), SMALLEST), LARGEST)
        return power if rest == 0 else power * (1 + rest * np.log(size))
    if duck_under(rest) is None and not np.any(raw(rest) != 0):
        return power
    return restored(power, x, rest)


def restored(power: Any, x: Any, rest: Any) -> Any:
    """A power of x whose exponent lacks a rest that is tiny."""
    if np.dtype(getattr(x, "dtype", float)).itemsize < 8:  # below the precision of x
        return power
    size = np.minimum(np.maximum(np.abs(x), SMALLEST), LARGEST)
    return power * (1 + rest * np.log(size))


def exponent_slope(out: Any, x: Any) -> Any:
    """d(x**y)/dy = x**y log x, with 0 for x = 0 and y >= 0; NaN for a negative real base."""
    positive = x > 0
    slope = out * np.log(np.where(positive, x, 1) * unit(out))
    return np.where(positive, slope, np.where((x == 0) & (out <= 1), 0.0, np.nan))[()]


def complex_exponent_slope(out: Any, x: Any) -> Any:
    """d(x**y)/dy = x**y log x for a complex base, with 0 for x = 0."""
    return out * np.log(np.where(x == 0, 1, x) * unit(out))


def over_square(a: Any, x: Any, y: Any) -> Any:
    """a / (x**2 + y**2), where the squares may overflow or underflow."""
    r = np.hypot(x, y)
    return np.where(np.isinf(r), 0, a / r / r)[()]


def share(x: Any, y: Any, exp: Any, base: float = 1.0) -> Any:
    """exp(x) / (exp(x) + exp(y)), where either may overflow; equal infinities share evenly.

    base is the logarithm of the base of exp. What rounding has taken from y - x counts in full.
    """
    d = np.where(x == y, 0, y - x)
    rounded = d + x
    rest = np.where(np.isfinite(rounded), (y - rounded) + ((rounded - d) - x), 0)
    later = d > 0
    e = exp(np.where(later, -d, d)) * (1 + base * np.where(later, -rest, rest))
    return (np.where(later, e, 1) / (1 + e))[()]


def sinc_slope(out: Any, x: Any) -> Any:
    """(cos(pi x) - sinc x) / x; near 0 its series, where the difference would cancel."""
    small = np.abs(x) < 0.3
    safe = np.where(small, 1, x)
    u = (np.pi * np.where(small, x, 0)) ** 2
    series = SINC_SERIES[-1]
    for c in SINC_SERIES[-2::-1]:
        series = c + u * series
    series = np.pi**2 * x * series
    return np.where(small, series, (np.cos(np.pi * safe) - np.sinc(safe)) / safe)[()]


def same_sheet(root: Any, w: Any) -> Any:
    """The root or minus it, whichever is nearer to w: the side of the branch cut that w is on."""
    return np.where(np.real(root * np.conj(w)) < 0, -root, root)[()]


#: What formulas may name.
NAMESPACE: dict[str, Any] = block_rules.UFUNCS | {
    "LN2": LN2,
    "LOG2_E": LOG2_E,
    "LOG10_E": LOG10_E,
    "complex_exponent_slope": complex_exponent_slope,
    "exponent_slope": exponent_slope,
    "over_square": over_square,
    "power_slope": power_slope,
    "same_sheet": same_sheet,
    "share": share,
    "sinc_slope": sinc_slope,
    "where": np.where,
}


class Formula:
    """A slope of its own as text: made of ufuncs of x, so that large arrays take it in blocks."""

    def __init__(self, text: str):
        self.text = text
        self.compute = eval(f"lambda x: {text}", NAMESPACE)

    def __call__(self, x: Any) -> Any:
        token = ignore()
        try:
            return self.compute(x)
        finally:
            restore(token)

    def called(self, primitive: Elementwise) -> Any:
        """The primitive of this formula as other formulas call it, of plain values at once."""
        compute = self.compute

        def call(x: Any) -> Any:
            if type(x) is not np.ndarray and type(x) is not np.float64:
                return primitive(x)
            token = set_state(IGNORE)
            try:
                return compute(x)
            finally:
                restore(token)

        call.text = self.text  # type: ignore[attr-defined]
        return call


def elementwise(ufunc: Any, *partials: Any, **options: Any) -> Elementwise:
    """State the partial derivatives of a ufunc; see `Elementwise` for the options."""
    primitive = Elementwise(ufunc, *partials, namespace=NAMESPACE, **options)
    if "name" not in options:
        table: dict = UFUNCS if isinstance(ufunc, np.ufunc) else FUNCTIONS
        table[ufunc] = primitive
    return primitive


# fmt: off
# --- arithmetic
add         = elementwise(np.add,         "1", "1",             operator="+", joint=True)
subtract    = elementwise(np.subtract,    "1", "-1",            operator="-", joint=True)
square      = elementwise(np.square,      "x + x",              call="x * x")
multiply    = elementwise(np.multiply,    "y", "x",             operator="*", linear=(0, 1),
                          twice=square)
divide      = elementwise(np.divide,      "1 / y", "-out / y",  operator="/", linear=(0,),
                          singular=True)
negative    = elementwise(np.negative,    "-1",                 operator="-", joint=True)
positive    = elementwise(np.positive,    "1",                  operator="+", joint=True)
polynomial_power = elementwise(
    np.power, "x + x if type(y) is int and y == 2 else power_slope(x, y)", None,
    operator="**", name="polynomial_power", large=(2, square))
power       = elementwise(np.power,       "power_slope(x, y)", "exponent_slope(out, x)",
                          operator="**", singular=True, complex=lambda x, y: complex_power(x, y),
                          constant=("v >= 1", polynomial_power))
float_power = elementwise(np.float_power, "power_slope(x, y)", "exponent_slope(out, x)",
                          singular=True,
                          complex=lambda x, y: complex_power(x * np.complex128(1), y))
reciprocal  = elementwise(np.reciprocal,  "-out / x",             singular=True)
sqrt        = elementwise(np.sqrt,        "0.5 / out",            singular=True)
cbrt        = elementwise(np.cbrt,        "1 / (3 * out * out)",  singular=True)
remainder   = elementwise(np.remainder,   "1", "-floor_divide(x, y)",  operator="%", singular=True)
fmod        = elementwise(np.fmod,        "1", "-rint((x - out) / y)", singular=True)
hypot       = elementwise(np.hypot,       "x / where(out == 0, 1, out)",
                                          "y / where(out == 0, 1, out)", singular=True)

# --- exponentials and logarithms
exp       = elementwise(np.exp,       "out")
exp2      = elementwise(np.exp2,      "LN2 * out")
expm1     = elementwise(np.expm1,     "exp(x)")
log       = elementwise(np.log,       "1 / x",           singular=True)
log2      = elementwise(np.log2,      "LOG2_E / x",      singular=True)
log10     = elementwise(np.log10,     "LOG10_E / x",     singular=True)
log1p     = elementwise(np.log1p,     "1 / (1 + x)",     singular=True)
logaddexp  = elementwise(np.logaddexp,  "share(x, y, exp)",  "share(y, x, exp)",  singular=True)
logaddexp2 = elementwise(np.logaddexp2, "share(x, y, exp2, LN2)", "share(y, x, exp2, LN2)",
                         singular=True)

# --- trigonometric and hyperbolic
sin       = elementwise(np.sin,       "cos(x)")
cos       = elementwise(np.cos,       "-sin(x)")
tan       = elementwise(np.tan,       "1 + out * out")
arcsin    = elementwise(np.arcsin,    "1 / sqrt((1 - x) * (1 + x))",  singular=True,
                        complex=lambda x: complex_arcsin(x))
arccos    = elementwise(np.arccos,    "-1 / sqrt((1 - x) * (1 + x))", singular=True,
                        complex=lambda x: complex_arccos(x))
arctan    = elementwise(np.arctan,    "1 / (1 + x * x)",              singular=True)
arctan2   = elementwise(np.arctan2,   "over_square(y, x, y)", "over_square(-x, x, y)",
                        singular=True)
sinh      = elementwise(np.sinh,      "cosh(x)")
cosh      = elementwise(np.cosh,      "sinh(x)")
tanh      = elementwise(np.tanh,      "tanh_slope(x)", complex=lambda x: complex_tanh(x))
# 1 - tanh(x)**2 would cancel for large x.
TANH_SLOPE = Formula("1 / square(cosh(x))")
tanh_slope = elementwise(TANH_SLOPE, "-2 * tanh(x) * out", name="tanh_slope")
NAMESPACE["tanh_slope"] = TANH_SLOPE.called(tanh_slope)
arcsinh   = elementwise(np.arcsinh,   "1 / hypot(1, x)", complex=lambda x: complex_arcsinh(x))
arccosh   = elementwise(np.arccosh,   "1 / (sqrt(x - 1) * sqrt(x + 1))", singular=True,
                        complex=lambda x: complex_arccosh(x))
arctanh   = elementwise(np.arctanh,   "1 / ((1 - x) * (1 + x))",         singular=True)
deg2rad   = elementwise(np.deg2rad,   "0.017453292519943295", joint=True)
rad2deg   = elementwise(np.rad2deg,   "57.29577951308232",    joint=True)
radians   = elementwise(np.radians,   "0.017453292519943295", joint=True)
degrees   = elementwise(np.degrees,   "57.29577951308232",    joint=True)
sinc      = elementwise(np.sinc,      "sinc_slope(out, x)")

# --- kinks: ties share evenly, a NaN that is ignored has slope 0
absolute  = elementwise(np.absolute,  "sign(x)", complex=lambda x: complex_absolute(x))
fabs      = elementwise(np.fabs,      "sign(x)")
maximum   = elementwise(np.maximum,   "(x > y) + 0.5 * (x == y)", "(y > x) + 0.5 * (x == y)",
                        chooses=True)
minimum   = elementwise(np.minimum,   "(x < y) + 0.5 * (x == y)", "(y < x) + 0.5 * (x == y)",
                        chooses=True)
fmax      = elementwise(np.fmax,      "(x > y) + 0.5 * (x == y) + (y != y)",
                                      "(y > x) + 0.5 * (x == y) + (x != x)", chooses=True)
fmin      = elementwise(np.fmin,      "(x < y) + 0.5 * (x == y) + (y != y)",
                                      "(y < x) + 0.5 * (x == y) + (x != x)", chooses=True)
copysign  = elementwise(np.copysign,  "sign(x) * copysign(1, y)", None)

# --- complex entries
complex_power   = elementwise(np.power,   "power_slope(x, y)", "complex_exponent_slope(out, x)",
                              name="complex_power", singular=True)
complex_tanh    = elementwise(np.tanh,    "1 - out * out", name="complex_tanh")
complex_arcsin  = elementwise(np.arcsin,  "1 / same_sheet(sqrt((1 - x) * (1 + x)), cos(out))",
                              name="complex_arcsin", singular=True)
complex_arccos  = elementwise(np.arccos,  "-1 / same_sheet(sqrt((1 - x) * (1 + x)), sin(out))",
                              name="complex_arccos", singular=True)
complex_arcsinh = elementwise(np.arcsinh, "1 / same_sheet(sqrt(1 + x * x), cosh(out))",
                              name="complex_arcsinh", singular=True)
complex_arccosh = elementwise(np.arccosh, "1 / same_sheet(sqrt(x - 1) * sqrt(x + 1), sinh(out))",
                              name="complex_arccosh", singular=True)
# fmt: on


def complex_absolute(x: Any) -> Any:
    """|x| of a complex x: smooth in its real and imaginary part, slope 0 at 0."""
    return np.hypot(np.real(x), np.imag(x))


for primitive, name, reflected in (
    (add, "__add__", "__radd__"),
    (subtract, "__sub__", "__rsub__"),
    (multiply, "__mul__", "__rmul__"),
    (divide, "__truediv__", "__rtruediv__"),
    (power, "__pow__", "__rpow__"),
    (remainder, "__mod__", "__rmod__"),
    (negative, "__neg__", None),
    (positive, "__pos__", None),
    (absolute, "__abs__", None),
):
    install(primitive, name, reflected)


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Where a derivative is not unique or not finite: function, point, slope, and why.
kinks(
    ("np.abs(x)", "0.0", "0.0", "the only odd choice"),
    ("np.fabs(x)", "0.0", "0.0", "as abs"),
    ("np.maximum(x, y)", "1.0, 1.0", "0.5, 0.5", "ties share evenly"),
    ("np.minimum(x, y)", "1.0, 1.0", "0.5, 0.5", "ties share evenly"),
    ("np.maximum(x, 0.0)", "0.0", "0.5", "ties share evenly, with a constant too"),
    ("np.maximum(x, y)", "1.0, np.nan", "0.0, 0.0", "no entry attains a NaN"),
    ("np.fmax(x, y)", "1.0, 1.0", "0.5, 0.5", "ties share evenly"),
    ("np.fmin(x, y)", "1.0, 1.0", "0.5, 0.5", "ties share evenly"),
    ("np.fmax(x, y)", "1.0, np.nan", "1.0, 0.0", "the NaN that is ignored has slope 0"),
    ("np.sqrt(x)", "0.0", "np.inf", "the one-sided limit"),
    ("np.sqrt(x * x)", "0.0", "0.0", "the slope of x * x is 0, and zero wins"),
    ("np.cbrt(x)", "0.0", "np.inf", "the limit"),
    ("np.log(x)", "0.0", "np.inf", "the one-sided limit"),
    ("np.log1p(x)", "-1.0", "np.inf", "the one-sided limit"),
    ("np.log(x)", "-1.0", "-1.0", "1 / x goes on where the value is NaN"),
    ("1.0 / x", "0.0", "-np.inf", "the limit"),
    ("np.arcsin(x)", "1.0", "np.inf", "the one-sided limit"),
    ("np.arccos(x)", "1.0", "-np.inf", "the one-sided limit"),
    ("np.arccosh(x)", "1.0", "np.inf", "the one-sided limit"),
    ("np.arctanh(x)", "1.0", "np.inf", "the one-sided limit"),
    ("x ** 0.0", "0.0", "0.0", "a constant has slope 0, at 0 too"),
    ("x ** 0.5", "0.0", "np.inf", "the one-sided limit"),
    ("x ** 3.0", "-2.0", "12.0", "a whole power of a negative base"),
    ("0.0 ** x", "0.0", "0.0", "the limit of 0**x log 0 from above"),
    ("0.0 ** x", "2.0", "0.0", "0 for every positive x"),
    ("x ** y", "0.0, 0.0", "0.0, 0.0", "as above, and the limit of x**y log x at fixed y > 0"),
    ("x ** y", "0.0, 2.0", "0.0, 0.0", "the limit of x**y log x"),
    ("x ** y", "-2.0, 2.0", "-4.0, np.nan", "no real power beside y = 2"),
    ("np.hypot(x, y)", "0.0, 0.0", "0.0, 0.0", "the tip of a cone: the subgradient of least norm"),
    ("np.arctan2(x, y)", "0.0, 0.0", "np.nan, np.nan", "an angle has no derivative at the origin"),
    ("np.arctan2(x, y)", "0.0, -1.0", "-1.0, 0.0", "the jump from pi to -pi is not seen"),
    ("np.sinc(x)", "0.0", "0.0", "the function is smooth there"),
    ("np.logaddexp(x, y)", "-np.inf, -np.inf", "0.5, 0.5", "ties share evenly"),
    ("np.logaddexp(x, y)", "-np.inf, 0.0", "0.0, 1.0", "the limit"),
    ("np.copysign(x, y)", "-2.0, 3.0", "-1.0, 0.0", "a step in y"),
    ("np.copysign(x, y)", "0.0, 1.0", "0.0, 0.0", "as abs"),
    ("np.mod(x, y)", "3.0, 1.5", "1.0, -2.0", "that of x - y floor(x / y), the floor held"),
    ("np.fmod(x, y)", "-3.0, 1.5", "1.0, 2.0", "that of x - y trunc(x / y), the trunc held"),
)
