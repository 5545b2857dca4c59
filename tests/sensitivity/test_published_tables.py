"""Figures that others have published, found again by public functions.

The GUM's end gauge and impedance are in test_propagate.py.
"""

import numpy as np
import pytest

from dualad import sensitivity as ds

#: Monod growth, data and printed fit of the R package FME 1.3.6.4, FMEother.pdf.
X = np.array([28.0, 55, 83, 110, 138, 225, 375])
Y = np.array([0.053, 0.06, 0.112, 0.105, 0.099, 0.122, 0.125])


def monod(p):
    return p.p1 * X / (X + p.p2)


def minimum():
    """The least squares estimate, by Gauss-Newton steps with the library's Jacobian."""
    p = ds.Parameters({"p1": 0.14542, "p2": 49.05292})
    for _ in range(30):
        r = ds.function(monod, p)
        p = p.moved(p.vector() + np.linalg.lstsq(r.jacobian, Y - r.values, rcond=None)[0])
    return p


def test_the_standard_errors_of_the_monod_fit_of_fme():
    p = minimum()
    np.testing.assert_allclose(p.vector(), [0.14542, 49.05292], rtol=1e-4)
    r = ds.function(monod, p)
    s = np.sqrt(np.sum((Y - r.values) ** 2) / 5)
    assert s == pytest.approx(0.01278, rel=4e-4)
    C = np.linalg.inv(r.fisher(s))
    u = np.sqrt(np.diag(C))
    np.testing.assert_allclose(u, [0.01564, 17.91196], rtol=4e-4)
    assert C[0, 1] / u.prod() == pytest.approx(0.8926, abs=6e-5)


def test_both_parameters_of_the_monod_fit_are_identifiable_their_index_is_finite():
    """Two columns at an angle phi have the index 1 / sqrt(1 - |cos phi|)."""
    r = ds.function(monod, minimum())
    assert r.identifiability().identifiable
    scaled = r.scaled("p") / np.abs(r.scaled("p")).max(axis=1, keepdims=True)
    a, b = (scaled / np.linalg.norm(scaled, axis=0)).T
    assert r.collinearity()["index"] == [pytest.approx(1 / np.sqrt(1 - abs(a @ b)), rel=1e-9)]


def test_consumption_and_dispersion_of_a_river_enter_as_their_ratio():
    """A model of FME's kind: c'' D = cons c at rest, so that c = exp(-x sqrt(cons / D)).

    Differences print an index of some hundred for such a pair; exactly, it is infinite.
    """
    x = np.linspace(0.1, 3.0, 30)
    r = ds.function(lambda p: p.c0 * np.exp(-x * np.sqrt(p.cons / p.D)),
                    {"c0": 1.3, "cons": 0.05, "D": 0.7})  # fmt: skip
    found = r.identifiability()
    assert str(found.null_directions[0]) == "cons and D enter as cons/D"
    assert found.determined == ("c0",)
    assert r.collinearity([["cons", "D"]])["index"] == [np.inf]


def sellar(p):
    """Sellar's problem, its two coupled equations solved in closed form.

    y1 = z1^2 + z2 + x - 0.2 y2 and y2 = sqrt(y1) + z1 + z2: with r = sqrt(y1), a quadratic in r.
    """
    c = p.z1**2 + p.z2 + p.x - 0.2 * (p.z1 + p.z2)
    r = -0.1 + np.sqrt(0.01 + c)
    y1, y2 = r**2, r + p.z1 + p.z2
    return {
        "y1": y1,
        "y2": y2,
        "obj": p.x**2 + p.z2 + y1 + np.exp(-y2),
        "con1": 3.16 - y1,
        "con2": y2 - 24.0,
    }


def test_the_total_derivatives_of_sellars_problem():
    """OpenMDAO prints nine digits: test_approx_derivs.py."""
    r = ds.function(sellar, {"z1": 5.0, "z2": 2.0, "x": 1.0})
    assert r.column("y1") == pytest.approx(25.58830273, rel=5e-8)
    assert r.column("y2") == pytest.approx(12.05848819, rel=5e-8)
    at = [r.output_index("obj"), r.output_index("con1")]
    np.testing.assert_allclose(
        r.jacobian[at],
        [[9.61001056, 1.78448534, 2.98061391], [-9.61002186, -0.78449158, -0.98061448]],
        rtol=2e-8,
    )
    assert r.check("complex").ok


def test_one_chain_from_a_fit_to_a_band_to_a_budget():
    """Estimate, covariance, prediction with an interval, shares: without leaving the objects."""
    p = minimum()
    r = ds.function(monod, p)
    s2 = np.sum((Y - r.values) ** 2) / 5
    fitted = p.with_covariance(s2 * np.linalg.inv(r.fisher(1.0)), dof=5)
    y = ds.propagate(lambda q: {"at 500": q.p1 * 500.0 / (500.0 + q.p2)}, fitted)
    g = np.array([500 / (500 + p["p2"]), -p["p1"] * 500 / (500 + p["p2"]) ** 2])
    assert y.u[0] == pytest.approx(np.sqrt(g @ fitted.covariance @ g))
    assert y.dof[0] == pytest.approx(5.0)
    assert sum(y.budget()["share"]) == pytest.approx(1.0)
