"""Functions that choose or cut and never round: NumPy's answers for NaN and signed zeros."""

from __future__ import annotations

from .arithmetic import Real, copysign as copied, select

__all__ = [
    "absolute",
    "ceil",
    "copysign",
    "fabs",
    "floor",
    "fmax",
    "fmin",
    "maximum",
    "minimum",
    "rint",
    "sign",
    "sqrt",
    "trunc",
]


def absolute(x: Real) -> Real:
    """x without its sign."""
    return abs(x)


def fabs(x: Real) -> Real:
    """x without its sign."""
    return abs(x)


def sign(x: Real) -> Real:
    """1, 0, -1 or NaN."""
    return select(x > 0.0, 1.0, select(x < 0.0, -1.0, x + 0.0))


def copysign(x: Real, y: Real) -> Real:
    """The size of x with the sign of y."""
    return copied(x, y)


def maximum(x: Real, y: Real) -> Real:
    """The larger, or a NaN."""
    return select((x >= y) | x.differs(x), x, y)


def minimum(x: Real, y: Real) -> Real:
    """The smaller, or a NaN."""
    return select((x <= y) | x.differs(x), x, y)


def fmax(x: Real, y: Real) -> Real:
    """The larger, or what is no NaN."""
    return select((x >= y) | y.differs(y), x, y)


def fmin(x: Real, y: Real) -> Real:
    """The smaller, or what is no NaN."""
    return select((x <= y) | y.differs(y), x, y)


def sqrt(x: Real) -> Real:
    """The square root, which processors round rightly."""
    return x.through("sqrt")


def floor(x: Real) -> Real:
    """The largest integer up to x."""
    return x.through("floor")


def ceil(x: Real) -> Real:
    """The smallest integer from x on."""
    return x.through("ceil")


def trunc(x: Real) -> Real:
    """The integer part."""
    return x.through("trunc")


def rint(x: Real) -> Real:
    """The nearest integer, of two the even one."""
    return x.through("rint")
