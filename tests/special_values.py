"""The right values of derivatives of special functions: mpmath at 50 digits."""

import mpmath as mp
import numpy as np

import dualad

DIGITS = 50


def exact(f, point, orders, digits=DIGITS):
    """The partial derivative of an mpmath function of the given orders at a point."""
    with mp.workdps(digits):
        at = tuple(v if isinstance(v, int) else mp.mpf(float(v)) for v in point)
        moved = tuple(k for k, n in enumerate(orders) if n)

        def of(*some):
            full = list(at)
            for k, v in zip(moved, some, strict=True):
                full[k] = v
            return f(*full)

        start = tuple(at[k] for k in moved)
        n = tuple(orders[k] for k in moved)
        if len(moved) == 1:
            return float(mp.re(mp.diff(of, start[0], n[0])))
        return float(mp.re(mp.diff(of, start, n)))


def column(points, k):
    values = [p[k] for p in points]
    return np.array(values) if not isinstance(values[0], int) else np.array(values, dtype=int)


def moving(f, points, k):
    """f as a function of its argument k alone."""
    columns = [column(points, j) for j in range(len(points[0]))]
    return (lambda v: f(*columns[:k], v, *columns[k + 1 :])), columns[k]


def in_both_modes(f, points, k):
    """The slopes in argument k at all points, forwards and backwards."""
    g, x = moving(f, points, k)
    ones = np.ones_like(x)
    yield dualad.jvp(g, (x,), (ones,))[1]
    yield dualad.vjp(g, x)[1](ones)[0]


def alone(f, point, k):
    """The slope in argument k at one point, of scalars."""
    at = np.float64(point[k])
    yield dualad.jvp(lambda v: f(*point[:k], v, *point[k + 1 :]), (at,), (1.0,))[1]
    yield dualad.grad(lambda v: f(*point[:k], v, *point[k + 1 :]))(at)


def has_slopes(f, counterpart, points, arguments=None, rtol=1e-12, atol=1e-300, digits=DIGITS):
    """The first derivatives of f at all points are those of its mpmath counterpart."""
    n = len(points[0])
    for k in range(n) if arguments is None else arguments:
        if isinstance(points[0][k], int):
            continue
        orders = tuple(int(j == k) for j in range(n))
        wanted = np.array([exact(counterpart, p, orders, digits) for p in points])
        for found in in_both_modes(f, points, k):
            np.testing.assert_allclose(found, wanted, rtol, atol, err_msg=f"argument {k}")
        for found in alone(f, points[0], k):
            np.testing.assert_allclose(found, wanted[0], rtol, atol, err_msg=f"argument {k}")


def second(f, point, i, j):
    """d2 f / dx_i dx_j by three nestings of the modes."""

    def slope_in(g, k, mode):
        def of(*v):
            if mode == "grad":
                return dualad.grad(g, argnums=k)(*v)
            return dualad.jvp(lambda u: g(*v[:k], u, *v[k + 1 :]), (v[k],), (1.0,))[1]

        return of

    at = tuple(v if isinstance(v, int) else np.float64(v) for v in point)
    for modes in (("jvp", "jvp"), ("grad", "jvp"), ("grad", "grad")):
        yield slope_in(slope_in(f, i, modes[0]), j, modes[1])(*at)


def has_curvature(f, counterpart, point, arguments=None, rtol=1e-10, atol=1e-13):
    """All second derivatives of f at a point are those of its mpmath counterpart."""
    n = len(point)
    free = [k for k in range(n) if not isinstance(point[k], int)]
    chosen = free if arguments is None else arguments
    for i in chosen:
        for j in chosen:
            orders = tuple(int(k == i) + int(k == j) for k in range(n))
            wanted = exact(counterpart, point, orders)
            for found in second(f, point, i, j):
                np.testing.assert_allclose(found, wanted, rtol, atol, err_msg=f"{i}, {j}")


def has_complex_slope(f, counterpart, z, rtol=1e-12, digits=DIGITS):
    """Forwards t f'(z), backwards its adjoint c conj(f'(z))."""
    with mp.workdps(digits):
        slope = complex(mp.diff(counterpart, mp.mpc(z)))
    t, c, z = np.complex128(0.7 - 0.2j), np.complex128(-0.4 + 1.1j), np.complex128(z)
    np.testing.assert_allclose(dualad.jvp(f, (z,), (t,))[1], t * slope, rtol)
    np.testing.assert_allclose(dualad.vjp(f, z)[1](c)[0], c * np.conj(slope), rtol)
