"""Legendre's integrals and Jacobi's functions against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad

PARAMETERS = [(0.3,), (0.999,), (1e-9,), (-4.0,), (0.0,)]
AMPLITUDES = [(0.7, 0.4), (2.3, 0.4), (-5.0, 0.9), (0.7, -3.0), (0.7, 1e-9), (1e-4, 0.5)]


def test_complete():
    has_slopes(sp.ellipk, mp.ellipk, PARAMETERS)
    has_slopes(sp.ellipe, mp.ellipe, PARAMETERS)
    has_slopes(sp.ellipkm1, lambda p: mp.ellipk(1 - p), [(0.3,), (1e-12,), (0.9,)])
    for f, counterpart in ((sp.ellipk, mp.ellipk), (sp.ellipe, mp.ellipe)):
        has_curvature(f, counterpart, (0.3,))
        has_curvature(f, counterpart, (0.0,))


def test_incomplete():
    has_slopes(sp.ellipkinc, mp.ellipf, AMPLITUDES, rtol=1e-11)
    has_slopes(sp.ellipeinc, mp.ellipe, AMPLITUDES, rtol=1e-11)
    has_curvature(sp.ellipkinc, mp.ellipf, (2.3, 0.4))
    has_curvature(sp.ellipeinc, mp.ellipe, (0.7, 0.4))


@pytest.mark.parametrize("k, kind", [(0, "sn"), (1, "cn"), (2, "dn")])
def test_jacobi(k, kind):
    f, counterpart = lambda u, m: sp.ellipj(u, m)[k], lambda u, m: mp.ellipfun(kind, u, m=m)
    has_slopes(f, counterpart, [(0.7, 0.4), (2.3, 0.4), (-9.3, 0.9), (0.3, 0.01)], rtol=1e-11)
    has_curvature(f, counterpart, (0.7, 0.4))


def test_amplitude_inverts_the_integral():
    amplitude = lambda u, m: sp.ellipj(u, m)[3]
    u, m = 2.3, 0.4
    identity = lambda u, m: sp.ellipkinc(amplitude(u, m), m)
    np.testing.assert_allclose(dualad.grad(identity, argnums=(0, 1))(u, m), (1.0, 0.0), atol=1e-13)


def test_agm():
    has_slopes(sp.agm, mp.agm, [(0.3, 1.4), (0.3, 0.3), (1e-5, 20.0)], rtol=1e-12)
    has_curvature(sp.agm, mp.agm, (0.3, 1.4))
    np.testing.assert_allclose(dualad.grad(sp.agm)(-0.3, -0.3), 0.5, rtol=1e-14)


def test_half_turns():
    """At a multiple of pi the integrals have 2 k complete ones, and no kink."""
    wanted = 4 * dualad.grad(sp.ellipk)(0.4)
    np.testing.assert_allclose(
        dualad.grad(sp.ellipkinc, argnums=1)(2 * np.pi, 0.4), wanted, rtol=1e-13
    )
