"""Ferrers functions of whole order against mpmath."""

import mpmath as mp
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError


@pytest.mark.parametrize("m", [0, 1, 2, -1, -2])
def test_in_degree_and_argument(m):
    f = lambda v, x: sp.lpmv(float(m), v, x)
    counterpart = lambda v, x: mp.legenp(v, m, x)
    has_slopes(f, counterpart, [(2.3, 0.4), (0.7, -0.6)], rtol=1e-11, digits=30)
    if m < 1:
        has_curvature(f, counterpart, (2.3, 0.4), rtol=1e-9)


def test_the_order_is_refused_by_name():
    with pytest.raises(MissingRuleError, match=r"lpmv has no derivative in its argument m"):
        dualad.grad(sp.lpmv)(2.0, 2.3, 0.4)
