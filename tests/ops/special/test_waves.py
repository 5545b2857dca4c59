"""Mathieu and spheroidal wave functions: their equations, and differences of values."""

import numpy as np
import pytest
import scipy.special as sp

import dualad
from dualad.errors import MissingRuleError


def difference(f, x, h=1e-3):
    """A central difference of sixth order."""
    c = lambda s: (np.asarray(f(x + s)) - np.asarray(f(x - s))) / (2 * s)
    return (64 * c(h / 4) - 20 * c(h / 2) + c(h)) / 45


@pytest.mark.parametrize("q", [0.0, 0.7, 5.0, 25.0])
def test_characteristic_values_of_mathieu(q):
    for f, orders in ((sp.mathieu_a, (0, 1, 2, 5)), (sp.mathieu_b, (1, 2, 5))):
        for m in orders:
            g = lambda v: f(float(m), v)
            wanted = difference(g, q, 1e-2)
            np.testing.assert_allclose(dualad.grad(g)(q), wanted, rtol=1e-8, atol=1e-9)


MATHIEU = ["mathieu_cem", "mathieu_sem", "mathieu_modcem1", "mathieu_modcem2"]
MATHIEU += ["mathieu_modsem1", "mathieu_modsem2"]


@pytest.mark.parametrize("name", MATHIEU)
def test_mathieu_in_the_argument(name):
    """The angular functions take degrees and give derivatives by radians."""
    f, x = lambda v: getattr(sp, name)(2.0, 0.7, v), 20.3 if name[8] != "m" else 0.8
    slopes = dualad.jvp(f, (x,), (1.0,))[1]
    np.testing.assert_allclose(slopes, difference(f, x, 1e-2), rtol=1e-9)
    with pytest.raises(MissingRuleError, match=f"{name} has no derivative in its argument q"):
        dualad.jvp(lambda q: getattr(sp, name)(2.0, q, x), (0.7,), (1.0,))


@pytest.mark.parametrize("name", ["pro_cv", "obl_cv"])
def test_spheroidal_characteristic_values(name):
    for c in (0.3, 1.7, 4.0):
        f = lambda v: getattr(sp, name)(1.0, 2.0, v)
        np.testing.assert_allclose(dualad.grad(f)(c), difference(f, c, 1e-2), rtol=1e-9)


SPHEROIDAL = [("pro_ang1", 0.3), ("obl_ang1", 0.3), ("pro_rad1", 1.3), ("obl_rad1", 0.3)]


@pytest.mark.parametrize("name, x", SPHEROIDAL)
def test_spheroidal_in_the_argument(name, x):
    f = lambda v: getattr(sp, name)(1.0, 2.0, 0.7, v)
    slopes = dualad.jvp(f, (x,), (1.0,))[1]
    np.testing.assert_allclose(slopes, difference(f, x), rtol=1e-8)
    with_value = getattr(sp, f"{name}_cv")
    value = getattr(sp, f"{name[:3]}_cv")(1.0, 2.0, 0.7)
    same = dualad.jvp(lambda v: with_value(1.0, 2.0, 0.7, value, v), (x,), (1.0,))[1]
    np.testing.assert_allclose(same, slopes, rtol=1e-9)
    with pytest.raises(MissingRuleError, match=f"{name} has no derivative in its argument c"):
        dualad.jvp(lambda c: getattr(sp, name)(1.0, 2.0, c, x), (0.7,), (1.0,))


@pytest.mark.parametrize("name, x", [("pro_rad2", 1.3), ("obl_rad2", 0.3)])
def test_second_radial_functions_solve_their_equation(name, x):
    """SciPy's values are not accurate enough for differences: its slope is, by definition."""
    (_, slope), (moved, _) = dualad.jvp(
        lambda v: getattr(sp, name)(1.0, 2.0, 0.7, v), (x,), (1.0,)
    )
    assert moved == slope
