"""Derivatives of Bessel functions in their order, of any order n, at real arguments.

The functions are integrals of exp(w(t) - v t) along contours (Schlaefli and Sommerfeld, DLMF
10.9.17, 10.9.18, 10.32.9, 10.32.12), so that a derivative in the order v brings down a factor -t.
The contours here follow the paths of steepest descent closely enough that nothing cancels, also
for large orders and arguments; for v < 0 the connection formulas lead back (DLMF 10.4, 10.27).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb
from typing import Any

import numpy as np

from .quadrature import blockwise, decaying, up_to
from .table import kernel

__all__ = ["order_slope"]


# --- K: half the integral of t**n exp(v t - x cosh t) over the real line -------------------------


def _modified_second(n: int, v: Any, x: Any) -> Any:
    """exp(x) times the derivative of K_v(x), v >= 0."""
    knee = np.arcsinh((v + 1) / x)
    top = v * knee - 2 * x * np.sinh(knee / 2) ** 2

    def exponent(s: Any) -> Any:
        return v * s - 2 * x * np.sinh(knee + s / 2) * np.sinh(s / 2)

    def factor(s: Any) -> Any:
        t = knee + s
        both = 1 + np.exp(-2 * v * t) if n % 2 == 0 else -np.expm1(-2 * v * t)
        return 0.5 * t**n * both

    total = decaying(exponent, factor)
    total = total + up_to(knee, lambda s: exponent(-s), lambda s: factor(-s))
    return np.exp(top) * total


# --- I: along t = tau + i theta with x sinh tau = c theta / sin theta ----------------------------


def _modified_first(n: int, v: Any, x: Any) -> Any:
    """exp(-x) times the derivative of I_v(x), v >= 0."""
    c = np.maximum(v, 1.0)

    def parts(theta: Any) -> tuple[Any, Any, Any]:
        s, slope = _rise(c, theta)
        r = np.hypot(s, x)
        tau, slope = np.arcsinh(s / x), slope / r
        exponent = s * s / (r + x) * np.cos(theta) - 2 * x * np.sin(theta / 2) ** 2 - v * tau
        return exponent - base, tau, slope

    def factor(theta: Any) -> Any:
        _, tau, slope = parts(theta)
        t = tau + 1j * theta
        return np.imag((-t) ** n * np.exp(1j * (c - v) * theta) * (slope + 1j))

    base = c * c / (np.hypot(c, x) + x) - v * np.arcsinh(c / x)
    return np.exp(base) * up_to(np.pi, lambda theta: parts(theta)[0], factor) / np.pi


def _rise(c: Any, theta: Any) -> tuple[Any, Any]:
    """c theta / sin theta and its slope."""
    ratio = np.sinc(theta / np.pi)
    u = theta * theta
    series = theta / 3 * (1 - u / 10 * (1 - u / 28 * (1 - u / 54)))
    slope = np.where(
        theta < 0.05, series / ratio**2, (1 / ratio - np.cos(theta) / ratio**2) / theta
    )
    return c / ratio, c * slope


# --- J + i Y -------------------------------------------------------------------------------------


def _below_turning_point(n: int, v: Any, x: Any) -> Any:
    """For v above about x: along the real axis, then by x cosh tau = c theta / sin theta."""
    c = np.maximum(np.maximum(v, 1.0), x + 2 * np.cbrt(x))

    def parts(theta: Any) -> tuple[Any, Any, Any]:
        s, slope = _rise(c, theta)
        r = np.sqrt((s - x) * (s + x))
        tau = np.log((s + r) / x)
        return r * np.cos(theta) - v * tau - base, tau, slope / r

    def factor(theta: Any) -> Any:
        _, tau, slope = parts(theta)
        t = tau + 1j * theta
        return (-t) ** n * np.exp(1j * (c - v) * theta) * (slope + 1j)

    r = np.sqrt((c - x) * (c + x))
    start = np.log((c + r) / x)
    base = r - v * start
    turned = np.exp(base) * up_to(np.pi, lambda theta: parts(theta)[0], factor)
    straight = _along_real_axis(n, v, x, start)
    return _pair(turned.imag / np.pi, -(straight + turned.real) / np.pi)


def _along_real_axis(n: int, v: Any, x: Any, start: Any) -> Any:
    """The integral of s**n exp(v s - x sinh s) from -start to infinity, by way of its peak."""
    knee = np.where(v + 1 > x, np.arccosh(np.maximum((v + 1) / x, 1)), -start)

    def exponent(s: Any) -> Any:
        return v * s - 2 * x * np.cosh(knee + s / 2) * np.sinh(s / 2)

    total = decaying(exponent, lambda s: (knee + s) ** n)
    length = knee + start
    total = total + up_to(length, lambda s: exponent(-s), lambda s: (knee - s) ** n)
    return np.exp(v * knee - x * np.sinh(knee)) * total


def _oscillating(n: int, v: Any, x: Any) -> Any:
    """For v below about x: from -inf to inf + i pi through the saddle i beta, cos beta = v / x."""
    beta = np.arccos(v / x)
    sine, start = np.sin(beta), np.log(np.tan(beta / 2))

    def path(u: Any) -> Any:
        """theta = 2 arctan(tan(beta / 2) exp(u / sin beta)), which has slope 1 at the saddle."""
        return 2 * np.arctan(np.exp(start + u / sine))

    def half(sign: float) -> Any:
        def exponent(s: Any) -> Any:
            u = sign * s
            return x * np.sinh(u) * np.cos(path(u)) - v * u

        def factor(s: Any) -> Any:
            u = sign * s
            theta = path(u)
            phase = x * (np.cosh(u) * np.sin(theta) - sine) - v * (theta - beta)
            return (-(u + 1j * theta)) ** n * np.exp(1j * phase) * (1 + 1j * np.sin(theta) / sine)

        return decaying(exponent, factor)

    total = np.exp(1j * (x * sine - v * beta)) * (half(1.0) + half(-1.0))
    return _pair(total.imag / np.pi, -total.real / np.pi)


def _pair(first: Any, second: Any) -> Any:
    """first + i second, where the second may be infinite."""
    out = np.empty(first.shape, np.complex128)
    out.real, out.imag = first, second
    return out


def _first_hankel(n: int, v: Any, x: Any) -> Any:
    """The derivative of J_v(x) + i Y_v(x), v >= 0."""
    low = (v > x - 1.5 * np.cbrt(x))[:, 0]
    out = np.empty(v.shape, np.complex128)
    out[low] = _below_turning_point(n, v[low], x[low])
    out[~low] = _oscillating(n, v[~low], x[~low])
    return out


# --- any real order ------------------------------------------------------------------------------


def _turn(v: Any) -> Any:
    """exp(i pi v), exact at whole and half orders."""
    k = np.rint(2 * v)
    quarter = np.array([1, 1j, -1, -1j])[(k % 4).astype(int)]
    return quarter * np.exp(1j * np.pi * (v - k / 2))


def _leibniz(n: int, rate: complex, derivative: Callable[[int], Any]) -> Any:
    """exp(-rate v) times the derivative of order n of exp(rate v) f(v)."""
    return sum(comb(n, k) * rate ** (n - k) * derivative(k) for k in range(n + 1))


def _hankel_column(n: int, v: Any, x: Any) -> Any:
    """H_-v = exp(i pi v) H_v (DLMF 10.4.6)."""
    mu = np.abs(v)
    plain = _first_hankel(n, mu, x)
    if not (v < 0).any():
        return plain
    turn = _turn(mu)
    h = _leibniz(n, 1j * np.pi, lambda k: _first_hankel(k, mu, x))
    first = _product(turn.real, h.real) - _product(turn.imag, h.imag)
    second = _product(turn.imag, h.real) + _product(turn.real, h.imag)
    return np.where(v < 0, (-1.0) ** n * _pair(first, second), plain)


def _product(a: Any, b: Any) -> Any:
    """a b, where a zero wins over an overflow."""
    return np.where(a == 0, 0.0, a * b)


def _first_modified_column(n: int, v: Any, x: Any) -> Any:
    """exp(-x) times that of I; I_-v = I_v + 2 / pi sin(pi v) K_v (DLMF 10.27.2)."""
    mu = np.abs(v)
    plain = _modified_first(n, mu, x)
    if not (v < 0).any():
        return plain
    second = _leibniz(n, 1j * np.pi, lambda k: _modified_second(k, mu, x) * np.exp(-2 * x))
    turned = plain + 2 / np.pi * np.imag(_turn(mu) * second)
    return np.where(v < 0, (-1.0) ** n * turned, plain)


def _second_modified_column(n: int, v: Any, x: Any) -> Any:
    return np.where(v < 0, (-1.0) ** n, 1.0) * _modified_second(n, np.abs(v), x)


#: How each function follows from its column: the column, and what is done with it.
COLUMNS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "jv": (_hankel_column, lambda h, x: h.real),
    "yv": (_hankel_column, lambda h, x: h.imag),
    "iv": (_first_modified_column, lambda i, x: i * np.exp(x)),
    "ive": (_first_modified_column, lambda i, x: i),
    "kv": (_second_modified_column, lambda k, x: k * np.exp(-x)),
    "kve": (_second_modified_column, lambda k, x: k),
}

#: The derivative in x from the values f at neighbouring orders (DLMF 10.6.1, 10.29.1).
IN_X: dict[str, Callable[..., Any]] = {
    "jv": lambda f, v, x: 0.5 * (f(v - 1, x) - f(v + 1, x)),
    "yv": lambda f, v, x: 0.5 * (f(v - 1, x) - f(v + 1, x)),
    "iv": lambda f, v, x: 0.5 * (f(v - 1, x) + f(v + 1, x)),
    "ive": lambda f, v, x: 0.5 * (f(v - 1, x) + f(v + 1, x)) - f(v, x),
    "kv": lambda f, v, x: -0.5 * (f(v - 1, x) + f(v + 1, x)),
    "kve": lambda f, v, x: f(v, x) - 0.5 * (f(v - 1, x) + f(v + 1, x)),
}


def _column(name: str, n: int, v: Any, x: Any) -> Any:
    """At x = 0 the functions of the first kind vanish to positive order."""
    column, finish = COLUMNS[name]
    inside = (x > 0) & np.isfinite(x) & np.isfinite(v)
    safe = np.where(inside, x, 1.0)
    value = finish(column(n, np.where(inside, v, 1.0), safe), safe)
    flat = (x == 0) & (v > 0) & (name in ("jv", "iv", "ive"))
    return np.where(inside, value, np.where(flat, 0.0, np.nan))


@cache
def order_slope(name: str, n: int) -> Any:
    """The derivative of order n >= 1 in v of jv, yv, iv, ive, kv or kve at (v, x)."""
    f = kernel(
        lambda v, x: blockwise(lambda *columns: _column(name, n, *columns), v, x),
        lambda out, v, x: order_slope(name, n + 1)(v, x),
        lambda out, v, x: IN_X[name](f, v, x),
        name=f"{name}_in_order" if n == 1 else f"{name}_in_order_{n}",
    )
    return f


for _name in COLUMNS:
    order_slope(_name, 1)
