"""Legendre functions of whole degree and order, and spherical harmonics (DLMF 14.30).

SciPy gives them by objects that choose a generalized ufunc; here they are elementwise. The
spherical ones are differentiated by neighbouring orders, which is regular at the poles.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import special as sp

from ...errors import ArgumentError
from .functions import drop_in
from .table import kernel, whole_number

__all__ = ["assoc_legendre_p", "legendre_p", "sph_harm_y", "sph_legendre_p"]

N, M = whole_number("n"), whole_number("m")


@drop_in("z")
def legendre_p(n: Any, z: Any, *, diff_n: int = 0) -> Any:
    """The Legendre polynomial and its derivatives up to order diff_n, along a first axis.

    >>> import dualad
    >>> dualad.grad(lambda z: legendre_p(2, z)[0])(1.0)
    3.0
    """
    return np.stack([_gegenbauer_derivative(np.asarray(n)[()], k, z) for k in range(diff_n + 1)])


def _gegenbauer_derivative(n: Any, k: int, z: Any) -> Any:
    """The k-th derivative of P_n is (2k - 1)!! C_(n-k)^(k + 1/2) (DLMF 18.9.19)."""
    factor = float(np.prod(np.arange(1, 2 * k, 2)))
    return factor * sp.eval_gegenbauer(n - k, k + 0.5, z)


# --- associated functions ------------------------------------------------------------------------


@cache
def _associated(branch_cut: int, norm: bool) -> tuple[Any, Any]:
    """P_n^m and its derivative; the second derivative is that of Legendre's equation."""

    def scipy_value(k: int) -> Any:
        options = {"branch_cut": branch_cut, "norm": norm, "diff_n": 1}
        return lambda n, m, z: sp.assoc_legendre_p(n, m, z, **options)[k]

    def curvature(out: Any, n: Any, m: Any, z: Any) -> Any:
        s = 1 - z * z
        return (2 * z * out - (n * (n + 1) - m * m / s) * value(n, m, z)) / s

    slope = kernel(scipy_value(1), N, M, curvature, name=f"legendre_slope_{branch_cut}_{norm}")
    value = kernel(
        scipy_value(0),
        N,
        M,
        lambda out, n, m, z: slope(n, m, z),
        name=f"legendre_{branch_cut}_{norm}",
    )
    return value, slope


@drop_in("z")
def assoc_legendre_p(
    n: Any, m: Any, z: Any, *, branch_cut: int = 2, norm: bool = False, diff_n: int = 0
) -> Any:
    """The associated Legendre function of whole degree and order, with its derivatives.

    >>> import dualad
    >>> round(dualad.grad(lambda z: assoc_legendre_p(2, 2, z)[0])(0.5), 12)  # -6 z
    -3.0
    """
    if diff_n > 1:
        raise ArgumentError("assoc_legendre_p of traced arrays takes diff_n of 0 or 1.")
    n, m = np.asarray(n)[()], np.asarray(m)[()]
    both = _associated(int(branch_cut), bool(norm))
    return np.stack([f(n, m, z) for f in both[: diff_n + 1]])


# --- on the sphere -------------------------------------------------------------------------------


def _ladder(n: Any, m: Any) -> tuple[Any, Any, Any, Any]:
    """Orders m + 1 and m - 1, and their weights in the derivative in theta (DLMF 14.10.1).

    Beyond n there is no function; the weight is 0 there, and the order does not matter.
    """
    up, down = 0.5 * np.sqrt((n - m) * (n + m + 1.0)), -0.5 * np.sqrt((n + m) * (n - m + 1.0))
    return np.minimum(m + 1, n), up, np.maximum(m - 1, -n), down


def _side(theta: Any) -> Any:
    """SciPy's functions of theta are those of cos(theta): they turn back at 0 and pi."""
    return np.where(np.sin(theta) < 0, -1.0, 1.0)


def _slope_in_theta(out: Any, n: Any, m: Any, theta: Any) -> Any:
    above, up, below, down = _ladder(n, m)
    return _side(theta) * (up * sphere(n, above, theta) + down * sphere(n, below, theta))


def _slope_of_harmonic(out: Any, n: Any, m: Any, theta: Any, phi: Any) -> Any:
    above, up, below, down = _ladder(n, m)
    turn = np.exp(1j * phi)
    raised = up * harmonic(n, above, theta, phi) / turn
    lowered = down * harmonic(n, below, theta, phi) * turn
    return _side(theta) * (raised + lowered)


sphere = kernel(
    lambda n, m, theta: sp.sph_legendre_p(n, m, theta)[0],
    N,
    M,
    _slope_in_theta,
    name="sph_legendre_p",
)
harmonic = kernel(
    lambda n, m, theta, phi: sp.sph_harm_y(n, m, theta, phi),
    N,
    M,
    _slope_of_harmonic,
    lambda out, n, m, theta, phi: 1j * m * out,
    name="sph_harm_y",
)


def _first_only(diff_n: int, name: str) -> None:
    if diff_n:
        raise ArgumentError(f"{name} of traced arrays takes diff_n = 0: differentiate it instead.")


@drop_in("theta")
def sph_legendre_p(n: Any, m: Any, theta: Any, *, diff_n: int = 0) -> Any:
    """The spherical Legendre function, along a first axis of length one.

    >>> import dualad
    >>> round(dualad.grad(lambda t: sph_legendre_p(1, 0, t)[0])(1.5707963267948966), 12)
    -0.488602511903
    """
    _first_only(diff_n, "sph_legendre_p")
    return np.stack([sphere(np.asarray(n)[()], np.asarray(m)[()], theta)])


@drop_in("theta", "phi")
def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, *, diff_n: int = 0) -> Any:
    """The spherical harmonic of whole degree and order at polar angle theta and azimuth phi.

    >>> import dualad
    >>> y, t = dualad.jvp(lambda p: sph_harm_y(1, 1, 1.0, p), (0.0,), (1.0,))
    >>> float((t / y).imag)
    1.0
    """
    _first_only(diff_n, "sph_harm_y")
    return harmonic(np.asarray(n)[()], np.asarray(m)[()], theta, phi)
