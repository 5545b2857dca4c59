"""Tricomi's function against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError


def test_slopes():
    points = [(0.7, 1.2, 0.8), (0.02, -16.0, 60.0), (30.0, 8.0, 0.05), (2.0, 1.0, 5.0)]
    has_slopes(sp.hyperu, mp.hyperu, points, arguments=(0, 1), rtol=1e-12)
    has_slopes(sp.hyperu, mp.hyperu, points[:1], arguments=(2,), rtol=1e-11)


def test_curvature():
    has_curvature(sp.hyperu, mp.hyperu, (0.7, 1.2, 0.8), rtol=1e-10)


def test_a_that_is_not_positive_is_refused():
    with pytest.raises(MissingRuleError, match=r"hyperu has no derivative in its argument a"):
        dualad.grad(sp.hyperu)(-0.7, 1.2, 0.8)
    wanted = float(mp.diff(lambda x: mp.hyperu(-0.7, 1.2, x), 0.8))
    np.testing.assert_allclose(
        dualad.grad(sp.hyperu, argnums=2)(-0.7, 1.2, 0.8), wanted, rtol=1e-9
    )
