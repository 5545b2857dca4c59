"""The functions of scipy.special that are no ufuncs and so do not dispatch, written to do so.

Each calls SciPy's own on plain arguments. On traced ones it is the same function in terms of
ufuncs with rules. Arguments that only choose the function (orders, axes, flags) stay plain.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from math import comb as count
from typing import Any

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs as private

from ...engine.levels.traced import raw
from ...errors import ArgumentError
from .. import dropin
from ..dropin import is_tracked
from ..operands import array_of
from .bessel import spherical_slope
from .exponential_integrals import sinc_of
from .gamma import polygamma as derivative_of_psi
from .table import refuse_argument

__all__ = [
    "comb",
    "diric",
    "drop_in",
    "factorial",
    "h1vp",
    "h2vp",
    "ivp",
    "jvp",
    "kvp",
    "multigammaln",
    "perm",
    "polygamma",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "yvp",
]


def drop_in(*arrays: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorated function takes over for SciPy's of the same name on tracked arguments.

    arrays: the arguments that may be tracked; one that is and is not among them is refused.
    """

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(f)

        @functools.wraps(f)
        def rule(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs).arguments
            for name, value in given.items():
                if name not in arrays and is_tracked(value):
                    why = "it chooses which function this is"
                    raise refuse_argument(f.__name__, name, why)
            return f(**{k: _array(v) if k in arrays else v for k, v in given.items()})

        original = getattr(sp, f.__name__, None)
        return dropin.drop_in(original)(rule) if callable(original) else rule

    return decorate


def _array(x: Any) -> Any:
    return x if x is None or isinstance(x, (int, float, complex)) else array_of(x)


# --- gamma and its kin ---------------------------------------------------------------------------


@drop_in("x")
def polygamma(n: Any, x: Any) -> Any:
    """The n-th derivative of the digamma function; n is a whole number or an array of them.

    >>> import dualad
    >>> round(dualad.grad(lambda x: polygamma(1, x))(1.0), 12)  # -2 zeta(3)
    -2.404113806319
    """
    n = np.asarray(n)
    if n.ndim == 0:
        return sp.psi(x) if n == 0 else derivative_of_psi(int(n), x)
    order = np.where(n == 0, 1, n)
    higher = (-1.0) ** (order + 1) * sp.gamma(order + 1.0) * private._zeta(order + 1.0, x)
    return np.where(n == 0, sp.psi(x), higher)


@drop_in("a")
def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension d.

    >>> import dualad
    >>> round(dualad.grad(lambda a: multigammaln(a, 1))(1.0), 12)  # minus Euler's constant
    -0.577215664902
    """
    if np.any(raw(a <= 0.5 * (d - 1))):
        raise ValueError(f"condition a > 0.5 * (d - 1) not met, d = {d}")
    total = 0.25 * d * (d - 1) * np.log(np.pi)
    for j in range(d):
        total = total + sp.gammaln(a - 0.5 * j)
    return total


def _inexact(exact: bool, name: str) -> None:
    if exact:
        raise ArgumentError(f"{name} with exact=True takes integers, which have no derivative.")


@drop_in("n")
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """gamma(n + 1); with extend="zero" it is 0 for negative n.

    >>> import dualad
    >>> round(dualad.grad(factorial)(0.0), 12)
    -0.577215664902
    """
    _inexact(exact, "factorial")
    if extend == "complex":
        return sp.gamma(n + 1)
    return np.where(n < 0, 0.0, sp.gamma(np.where(n < 0, 0.0, n) + 1))


@drop_in("N", "k")
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """The number of combinations, N over k, for real arguments.

    >>> import dualad
    >>> dualad.grad(lambda n: comb(n, 2.0))(5.0)  # n - 1/2
    4.5
    """
    _inexact(exact, "comb")
    if repetition:
        return np.where((k == 0) & (N >= 0), 1.0, sp.binom(N + k - 1, k))
    inside = (k <= N) & (N >= 0) & (k >= 0)
    return np.where(inside, sp.binom(N, k), 0.0)


@drop_in("N", "k")
def perm(N: Any, k: Any, exact: bool = False) -> Any:
    """The number of k-permutations of N things, for real arguments.

    >>> import dualad
    >>> round(dualad.grad(lambda n: perm(n, 2.0))(5.0), 12)  # 2 n - 1
    9.0
    """
    _inexact(exact, "perm")
    inside = (k <= N) & (N >= 0) & (k >= 0)
    return np.where(inside, sp.poch(N - k + 1, k), 0.0)


@drop_in("x")
def diric(x: Any, n: Any) -> Any:
    """The Dirichlet function sin(n x / 2) / (n sin(x / 2)), whose singularities are removable.

    >>> import dualad
    >>> dualad.grad(dualad.grad(lambda x: diric(x, 3)))(0.0)  # -(n**2 - 1) / 12
    -0.6666666666666666
    """
    n = np.asarray(n)[()]
    k = np.rint(x / (2 * np.pi))
    rest = 0.5 * (x - 2 * np.pi * k)
    value = (-1.0) ** (k * (n - 1)) * (sinc_of(n * rest) / sinc_of(rest))
    return np.where((n <= 0) | (n != np.floor(n)), np.nan, value)


# --- Bessel functions ----------------------------------------------------------------------------


def _spherical(f: Any, below: int, above: int, n: Any, z: Any, derivative: bool) -> Any:
    """One of the four, or its derivative."""
    n = np.asarray(n, np.int_)[()]
    return spherical_slope(f, below, above, n, z) if derivative else f(n, z)


@drop_in("z")
def spherical_jn(n: Any, z: Any, derivative: bool = False) -> Any:
    """The spherical Bessel function of the first kind of whole order, or its derivative.

    >>> import dualad
    >>> round(dualad.grad(lambda z: spherical_jn(1, z))(0.0), 12)
    0.333333333333
    """
    return _spherical(private._spherical_jn, 1, -1, n, z, derivative)


@drop_in("z")
def spherical_yn(n: Any, z: Any, derivative: bool = False) -> Any:
    """The spherical Bessel function of the second kind of whole order, or its derivative."""
    return _spherical(private._spherical_yn, 1, -1, n, z, derivative)


@drop_in("z")
def spherical_in(n: Any, z: Any, derivative: bool = False) -> Any:
    """The modified spherical Bessel function of the first kind, or its derivative."""
    return _spherical(private._spherical_in, 1, 1, n, z, derivative)


@drop_in("z")
def spherical_kn(n: Any, z: Any, derivative: bool = False) -> Any:
    """The modified spherical Bessel function of the second kind, or its derivative."""
    return _spherical(private._spherical_kn, -1, -1, n, z, derivative)


def _by_neighbours(f: Any, phase: float, v: Any, z: Any, n: int) -> Any:
    """The n-th derivative in z from the orders v - n, v - n + 2, ... (DLMF 10.6.7, 10.29.5)."""
    total = 0.0
    for k in range(n + 1):
        total = total + (-phase) ** k * count(n, k) * f(v - n + 2 * k, z)
    return total / 2.0**n


@drop_in("v", "z")
def jvp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of jv(v, z) in z.

    >>> import dualad
    >>> dualad.grad(lambda z: jvp(0, z))(0.0)
    -0.5
    """
    return _by_neighbours(sp.jv, 1.0, v, z, n)


@drop_in("v", "z")
def yvp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of yv(v, z) in z."""
    return _by_neighbours(sp.yv, 1.0, v, z, n)


@drop_in("v", "z")
def ivp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of iv(v, z) in z."""
    return _by_neighbours(sp.iv, -1.0, v, z, n)


@drop_in("v", "z")
def kvp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of kv(v, z) in z."""
    return (-1.0) ** n * _by_neighbours(sp.kv, -1.0, v, z, n)


@drop_in("v", "z")
def h1vp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of hankel1(v, z) in z."""
    return _by_neighbours(sp.hankel1, 1.0, v, z, n)


@drop_in("v", "z")
def h2vp(v: Any, z: Any, n: int = 1) -> Any:
    """The n-th derivative of hankel2(v, z) in z."""
    return _by_neighbours(sp.hankel2, 1.0, v, z, n)
