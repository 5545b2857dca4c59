"""Entropies, divergences and losses, with their conventions at 0."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad


def huber(delta, r):
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


POINTS = [(0.4, 0.7), (2.0, 1e-5), (0.3, 0.3000001), (1e-200, 1e200)]
CASES = {
    "entr": (lambda x: -x * mp.log(x), [(0.4,), (1e-9,), (5.0,)]),
    "rel_entr": (lambda x, y: x * mp.log(x / y), POINTS),
    "kl_div": (lambda x, y: x * mp.log(x / y) - x + y, POINTS),
    "xlogy": (lambda x, y: x * mp.log(y), POINTS),
    "xlog1py": (lambda x, y: x * mp.log1p(y), POINTS),
    "huber": (huber, [(0.4, 0.7), (0.9, 0.7), (0.4, -3.0)]),
    "pseudo_huber": (
        lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1),
        [(0.4, 0.7), (1.0, 1e-6), (1e-6, -2.0), (1e100, 1.0)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_slopes(name):
    has_slopes(getattr(sp, name), *CASES[name], digits=900)


@pytest.mark.parametrize("name", CASES)
def test_curvature(name):
    counterpart, points = CASES[name]
    has_curvature(getattr(sp, name), counterpart, points[0])


INF = np.inf


@pytest.mark.parametrize(
    "f, args, slopes",
    [
        (sp.xlogy, (0.0, 0.0), (-INF, 0.0)),
        (sp.xlogy, (0.0, 2.0), (np.log(2.0), 0.0)),
        (sp.xlogy, (2.0, 0.0), (-INF, INF)),
        (sp.xlog1py, (0.0, -1.0), (-INF, 0.0)),
        (sp.rel_entr, (0.0, 2.0), (-INF, 0.0)),
        (sp.kl_div, (0.0, 2.0), (-INF, 1.0)),
        (sp.kl_div, (0.0, 0.0), (None, 1.0)),
        (sp.entr, (0.0,), (INF,)),
        (sp.huber, (1.0, 1.0), (0.0, 1.0)),
        (sp.huber, (0.0, 0.0), (0.0, 0.0)),
        (sp.pseudo_huber, (0.0, 2.0), (2.0, 0.0)),
        (sp.pseudo_huber, (0.0, 0.0), (0.0, 0.0)),
        (sp.pseudo_huber, (2.0, 0.0), (0.0, 0.0)),
    ],
)
def test_conventions_at_zero(f, args, slopes):
    for k, wanted in enumerate(slopes):
        if wanted is None:
            continue
        moved = lambda v: f(*args[:k], v, *args[k + 1 :])
        assert dualad.jvp(moved, (args[k],), (1.0,))[1] == wanted
        assert dualad.grad(moved)(args[k]) == wanted
        assert dualad.jvp(moved, (args[k],), (0.0,))[1] == 0.0


def test_mixed_derivative_of_xlogy_at_zero():
    """d2 / dx dy of x log y is 1 / y, also at x = 0."""
    assert dualad.grad(lambda x: dualad.grad(sp.xlogy, argnums=1)(x, 2.0))(0.0) == 0.5


def test_complex_xlogy():
    z, w = np.complex128(0.3 - 0.2j), np.complex128(1.2 + 0.7j)
    np.testing.assert_allclose(
        dualad.jvp(sp.xlogy, (z, w), (1 + 0j, 1j))[1], np.log(w) + 1j * z / w
    )
