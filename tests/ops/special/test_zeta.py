"""The zeta functions against mpmath."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp
from special_values import has_curvature, has_slopes

import dualad
from dualad.errors import MissingRuleError

LINE = [(2.4,), (1.001,), (30.0,), (0.5,), (0.0,), (-1.4,), (-4.0,), (-7.5,)]


def test_riemann():
    has_slopes(sp.zeta, mp.zeta, LINE)
    has_curvature(sp.zeta, mp.zeta, (2.4,))
    has_curvature(sp.zeta, mp.zeta, (-1.4,))


def test_riemann_less_one():
    has_slopes(sp.zetac, lambda s: mp.zeta(s) - 1, LINE)


def test_hurwitz_in_exponent_and_shift():
    has_slopes(sp.zeta, mp.zeta, [(2.4, 1.3), (1.1, 0.2), (12.0, 3.0), (3.0, 50.0)])
    has_curvature(sp.zeta, mp.zeta, (2.4, 1.3))


def test_the_complex_zeta_function_is_refused_by_name():
    with pytest.raises(MissingRuleError, match=r"zeta has no derivative in its argument x"):
        dualad.jvp(sp.zeta, (np.complex128(2.0 + 1.0j),), (np.complex128(1.0),))
