"""Parabolic cylinder functions against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError


def second_solution(v, x):
    return mp.pcfv(-v - mp.mpf(1) / 2, x)


CASES = {
    "pbdv": (mp.pcfd, [(0.7, 1.2), (2.0, -3.0), (-2.4, 3.0), (0.3, 0.3)]),
    "pbvv": (second_solution, [(0.7, 1.2), (0.3, 0.3), (2.2, 3.0)]),
    "pbwa": (mp.pcfw, [(0.7, 1.2), (-2.0, 3.0), (0.3, 0.3)]),
}


@pytest.mark.parametrize("name", CASES)
def test_in_order_and_argument(name):
    counterpart, points = CASES[name]
    f = lambda v, x: getattr(sp, name)(v, x)[0]
    slope = lambda v, x: mp.diff(lambda u: counterpart(v, u), x)
    has_slopes(f, counterpart, points, rtol=1e-9)
    has_slopes(lambda v, x: getattr(sp, name)(v, x)[1], slope, points[:1], rtol=1e-9)
    has_curvature(f, counterpart, points[0], rtol=1e-8)


@pytest.mark.parametrize("name, order", [("pbdv", "v"), ("pbvv", "v"), ("pbwa", "a")])
def test_the_order_is_refused_far_out(name, order):
    f = lambda v, x: getattr(sp, name)(v, x)[0]
    with pytest.raises(
        MissingRuleError, match=f"{name} has no derivative in its argument {order}"
    ):
        dualad.grad(f)(0.7, 8.0)
    assert np.isfinite(dualad.grad(f, argnums=1)(0.7, 8.0 if name != "pbwa" else 4.0))
