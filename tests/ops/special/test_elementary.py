"""Elementary functions of scipy.special against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad

REAL = [(0.8,), (-0.3,), (4.0,), (-25.0,)]
degrees = lambda f: lambda x: f(x * mp.pi / 180)
logistic = lambda x: 1 / (1 + mp.exp(-x))

CASES = {
    "exp2": (lambda x: mp.mpf(2) ** x, REAL),
    "exp10": (lambda x: mp.mpf(10) ** x, REAL),
    "expm1": (mp.expm1, REAL),
    "log1p": (mp.log1p, [(0.8,), (-0.3,), (1e-12,), (1e10,)]),
    "cbrt": (mp.cbrt, [(0.8,), (1e-9,), (1e12,)]),
    "cosm1": (lambda x: mp.cos(x) - 1, REAL),
    "expit": (logistic, [*REAL, (40.0,), (-700.0,)]),
    "logit": (lambda p: mp.log(p / (1 - p)), [(0.8,), (1e-9,), (0.5,)]),
    "log_expit": (lambda x: mp.log(logistic(x)), [*REAL, (40.0,), (-700.0,)]),
    "sindg": (degrees(mp.sin), [(0.8,), (33.0,), (200.0,)]),
    "cosdg": (degrees(mp.cos), [(0.8,), (33.0,), (200.0,)]),
    "tandg": (degrees(mp.tan), [(0.8,), (33.0,), (200.0,)]),
    "cotdg": (degrees(mp.cot), [(0.8,), (33.0,), (200.0,)]),
    "radian": (lambda d, m, s: (d + m / 60 + s / 3600) * mp.pi / 180, [(0.8, 1.0, 2.0)]),
}


@pytest.mark.parametrize("name", CASES)
def test_slopes(name):
    has_slopes(getattr(sp, name), *CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_curvature(name):
    counterpart, points = CASES[name]
    has_curvature(getattr(sp, name), counterpart, points[0])


def test_logistic_roundtrip_has_slope_one():
    x = np.linspace(-30, 30, 7)
    roundtrip = lambda v: np.sum(sp.logit(sp.expit(v)))
    np.testing.assert_allclose(dualad.grad(roundtrip)(x)[:5], 1.0, rtol=1e-8)


def test_rounding_is_constant():
    assert dualad.grad(lambda x: x * sp.round(x))(2.3) == 2.0
