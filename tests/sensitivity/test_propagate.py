"""Propagation of uncertainty: closed forms, Monte Carlo, and the examples of the GUM."""

import math

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import Parameter, ParameterError, SensitivityError, SensitivityWarning

QUIET = "ignore::dualad.sensitivity.SensitivityWarning"


def two(ua=0.1, ub=0.2, r=0.0, **known):
    p = ds.Parameters({"a": Parameter(2.0, u=ua, **known), "b": Parameter(3.0, u=ub, **known)})
    return p.set_correlation("a", "b", r)


# --- first order


def test_a_sum_and_a_difference_with_correlation():
    y = ds.propagate(lambda p: {"sum": p.a + p.b, "difference": p.a - p.b}, two(r=0.5))
    np.testing.assert_array_equal(y.mean, [5.0, -1.0])
    np.testing.assert_allclose(y.u**2, [0.01 + 0.04 + 0.02, 0.01 + 0.04 - 0.02], rtol=1e-14)
    assert y.covariance[0, 1] == pytest.approx(0.01 - 0.04)
    assert y.correlation[0, 1] == pytest.approx(-0.03 / math.sqrt(0.07 * 0.03))
    np.testing.assert_array_equal(y.bias, [0.0, 0.0])


def test_uncertainties_of_zero_are_allowed(recwarn):
    y = ds.propagate(lambda p: p.a * p.b, two(0.0, 0.0))
    assert y.u == 0.0 and not recwarn
    assert ds.propagate(ds.function(lambda p: p.a * p.b, two(0.0, 0.0))).u == 0.0


def test_what_is_subtracted_from_itself_has_no_uncertainty():
    with pytest.raises(ParameterError, match="no parameter has an uncertainty"):
        ds.propagate(lambda p: p.a, {"a": 1.0})
    y = ds.propagate(lambda p: p.a - p.b, two(0.1, 0.1, r=1.0))
    assert y.u == pytest.approx(0.0, abs=1e-9)


def test_the_relative_uncertainty_of_a_product():
    y = ds.propagate(lambda p: p.a * p.b, two(0.002, 0.003))
    assert y.u / 6.0 == pytest.approx(math.hypot(0.001, 0.001))


def test_a_result_is_propagated_with_its_own_or_another_covariance():
    r = ds.function(lambda p: p.a + 2 * p.b, two(r=0.5))
    assert ds.propagate(r).u == pytest.approx(math.sqrt(0.01 + 0.16 + 0.04))
    other = np.array([[0.04, 0.0], [0.0, 0.01]])
    assert ds.propagate(r, covariance=other).u == pytest.approx(math.sqrt(0.04 + 0.04))
    assert ds.propagate(r, two(ua=0.2, ub=0.0)).u == pytest.approx(0.2)
    model = ds.propagate(lambda p: p.a + 2 * p.b, {"a": 2.0, "b": 3.0}, covariance=other)
    assert model.u == pytest.approx(math.sqrt(0.08))


def test_a_time_course_is_propagated_at_each_time():
    r = ds.simulate(lambda k, x, p: p.a * x, [1.0], {"a": Parameter(0.5, u=0.01)}, 4)
    y = ds.propagate(r)
    k = np.arange(5)
    np.testing.assert_allclose(y.u[:, 0], 0.01 * k * 0.5 ** (k - 1.0), rtol=1e-13)
    low, high = y.interval()
    np.testing.assert_allclose((high - low)[:, 0], 2 * 1.959963984540054 * y.u[:, 0])
    assert y.covariance.shape == (5, 5)
    with pytest.raises(SensitivityError, match="budget is for one time"):
        y.budget()
    assert ds.propagate(r.last()).budget()["share"] == [pytest.approx(1.0)]


# --- the budget


def test_the_shares_of_a_budget_add_up():
    y = ds.propagate(lambda p: {"y": p.a * p.b, "z": p.a - p.b}, two(r=0.3, unit="V"))
    np.testing.assert_allclose(y.shares().sum(axis=1), 1.0)
    table = y.budget("y")
    assert table["parameter"] == ["a", "b"] and table["unit"] == ["V", "V"]
    np.testing.assert_allclose(table["sensitivity"], [3.0, 2.0])
    np.testing.assert_allclose(table["contribution"], [0.3, 0.4])
    cross = 0.3 * 3 * 2 * 0.1 * 0.2
    total = 0.09 + 0.16 + 2 * cross
    np.testing.assert_allclose(table["share"], [(0.09 + cross) / total, (0.16 + cross) / total])
    assert len(y.budget()) == 4 and "y: 6, u = " in str(y.budget())
    with pytest.raises(ParameterError, match="no output 'q'"):
        y.budget("q")


# --- degrees of freedom


def test_welch_satterthwaite_of_independent_inputs():
    """JCGM 100:2008, G.4.2, equation (G.2b)."""
    p = {"a": Parameter(1.0, u=0.3, dof=4), "b": Parameter(1.0, u=0.4, dof=9)}
    y = ds.propagate(lambda p: p.a + p.b, p)
    assert y.dof == pytest.approx(0.5**4 / (0.3**4 / 4 + 0.4**4 / 9))
    from scipy.stats import t

    assert y.coverage_factor(0.99) == pytest.approx(t.ppf(0.995, float(y.dof)))
    assert y.expanded() == pytest.approx(0.5 * t.ppf(0.975, float(y.dof)))
    assert ds.propagate(lambda p: p.a + p.b, p, dof=False).dof == np.inf
    assert ds.propagate(lambda p: p.a + p.b, p, dof=3).dof == 3


def test_inputs_of_the_same_observations_keep_their_degrees_of_freedom():
    y = ds.propagate(lambda p: [p.a + p.b, p.a - 2 * p.b], two(r=-0.4, dof=4))
    np.testing.assert_allclose(y.dof, [4.0, 4.0])


def test_an_exact_input_has_infinite_degrees_of_freedom():
    y = ds.propagate(lambda p: p.a + p.b, two())
    assert y.dof == np.inf and y.coverage_factor(0.95) == pytest.approx(1.959963984540054)


# --- second order


@pytest.mark.filterwarnings(QUIET)
def test_a_square_at_zero_has_the_moments_of_chi_square():
    """x ~ N(0, s): x^2 has mean s^2 and standard deviation sqrt(2) s^2."""
    y = ds.propagate(lambda p: p.x**2, {"x": Parameter(0.0, u=10.0)}, order=2)
    assert y.mean == pytest.approx(100.0) and y.bias == pytest.approx(100.0)
    assert y.u == pytest.approx(math.sqrt(2) * 100)


@pytest.mark.filterwarnings(QUIET)
def test_a_quadratic_form_of_correlated_normal_inputs_is_exact():
    """Var(x'Ax/2 + g x) = g C g' + tr(A C A C) / 2 for normal x: against 10^6 draws, too."""
    A, g = np.array([[1.0, 0.7], [0.7, -0.4]]), np.array([0.3, -0.2])
    p = two(0.5, 0.8, r=0.6)

    def model(p):
        x = np.stack([p.a - 2.0, p.b - 3.0])
        return g @ x + x @ A @ x / 2

    C = p.covariance
    y = ds.propagate(model, p, order=2)
    assert y.bias == pytest.approx(np.trace(A @ C) / 2)
    assert y.u**2 == pytest.approx(g @ C @ g + np.trace(A @ C @ A @ C) / 2)
    x = np.random.default_rng(1).multivariate_normal([0, 0], C, 1_000_000)
    z = x @ g + np.einsum("ni,ij,nj->n", x, A, x) / 2
    assert z.mean() == pytest.approx(float(y.mean), abs=5 * float(y.u) / 1e3)
    assert z.std() == pytest.approx(float(y.u), rel=5e-3)


@pytest.mark.filterwarnings(QUIET)
@pytest.mark.parametrize(
    ("name", "moments", "fourth"),
    [("uniform", (0.0, -1.2), 9 / 5), ("triangular", (0.0, -0.6), 12 / 5), ("normal", (0, 0), 3)],
)
def test_other_distributions_by_their_fourth_moment(name, moments, fourth):
    """Var((x - m)^2) = m4 - u^4."""
    p = {"x": Parameter(1.0, u=0.5)}
    for given in (name, moments):
        y = ds.propagate(lambda p: (p.x - 1.0) ** 2, p, order=2, moments={"x": given})
        assert y.u**2 == pytest.approx((fourth - 1) * 0.5**4)


@pytest.mark.filterwarnings(QUIET)
def test_skewness_against_an_exponential_distribution():
    """x exponential with mean 1: Var(x + x^2/2 about 1) from its central moments 1, 2, 9."""
    y = ds.propagate(
        lambda p: p.x + p.x**2, {"x": Parameter(1.0, u=1.0)}, order=2, moments={"x": (2.0, 6.0)}
    )
    g, h = 3.0, 2.0
    assert y.u**2 == pytest.approx(g**2 + g * h * 2.0 + h**2 / 4 * (9.0 - 1.0))
    # Raw moments of the exponential: E x^n = n!, so Var(x + x^2) = 1 + 20 + 2 (6 - 2) = 29.
    assert y.u**2 == pytest.approx(29.0)


def test_moments_that_are_none():
    p = two(r=0.5)
    model = lambda p: p.a * p.b
    with pytest.raises(ParameterError, match="no parameter 'q'"):
        ds.propagate(model, p, order=2, moments={"q": "uniform"})
    with pytest.raises(ParameterError, match=r"no distribution 'unifrm'.*did you mean 'uniform'"):
        ds.propagate(model, p, order=2, moments={"a": "unifrm"})
    with pytest.raises(ParameterError, match="pair of skewness"):
        ds.propagate(model, p, order=2, moments={"a": 3.0})
    with pytest.raises(ParameterError, match="no distribution has skewness"):
        ds.propagate(model, p, order=2, moments={"a": (2.0, 0.0)})
    with pytest.raises(SensitivityError, match="correlated with others"):
        ds.propagate(model, p, order=2, moments={"a": "uniform"})


# --- warnings


def test_a_first_order_variance_of_zero_is_warned_about():
    with pytest.warns(SensitivityWarning, match="variance of y is zero, but the curvature is not"):
        y = ds.propagate(lambda p: p.x**2, {"x": Parameter(0.0, u=10.0)})
    assert y.u == 0.0 and "order=2" in y.warnings[0]


def test_a_strong_curvature_is_warned_about_and_a_weak_one_is_not(recwarn):
    with pytest.warns(SensitivityWarning, match=r"curvature adds up to 50 %.*order=2"):
        ds.propagate(lambda p: p.x**2, {"x": Parameter(1.0, u=1.0)})
    recwarn.clear()
    ds.propagate(lambda p: p.x**2, {"x": Parameter(1.0, u=0.1)})
    assert not recwarn


def test_a_result_without_second_derivatives_cannot_be_of_second_order():
    r = ds.function(lambda p: p.a * p.b, two())
    with pytest.raises(SensitivityError, match="order=2"):
        ds.propagate(r, order=2)
    assert ds.propagate(ds.function(lambda p: p.a * p.b, two(), order=2), order=2).u > 0


@pytest.mark.parametrize(
    ("options", "says"),
    [({"order": 3}, "order"), ({"level": 1.0}, "level"), ({"level": 95}, "level"),
     ({"covariance": [[1.0]]}, "shape"), ({"covariance": -np.eye(2)}, "variance of 'a'")],
)  # fmt: skip
def test_bad_questions(options, says):
    with pytest.raises(SensitivityError, match=says):
        ds.propagate(lambda p: p.a * p.b, two(), **options)
    with pytest.raises(SensitivityError, match="a result or a model"):
        ds.propagate(3.0)


# --- what comes out


def test_the_variance_of_an_observation_is_added_to_the_diagonal():
    r = ds.function(lambda p: [p.a + p.b, p.a - p.b], two())
    plain = ds.propagate(r)
    y = ds.Propagated(r, two().covariance, extra_variance=[0.04, 0.0])
    np.testing.assert_allclose(y.u**2, plain.u**2 + [0.04, 0.0])
    np.testing.assert_allclose(y.covariance, plain.covariance + np.diag([0.04, 0.0]))
    np.testing.assert_allclose(np.diag(y.covariance), y.u**2)


def test_the_covariance_of_second_order_has_the_variances_on_its_diagonal():
    r = ds.function(lambda p: [p.a * p.b, p.a**2], two(r=0.5), order=2)
    y = ds.propagate(r, order=2)
    np.testing.assert_allclose(np.diag(y.covariance), y.u**2)
    C, H = two(r=0.5).covariance, r.hessian
    cross = r.jacobian[0] @ C @ r.jacobian[1] + np.trace(H[0] @ C @ H[1] @ C) / 2
    assert y.covariance[0, 1] == pytest.approx(cross)


def test_draws_have_the_moments_that_were_propagated():
    y = ds.propagate(lambda p: [p.a + p.b, p.a * p.b], two(0.01, 0.02, r=0.5))
    draws = y.sample(200_000, rng=3)
    assert draws.shape == (200_000, 2)
    np.testing.assert_allclose(draws.mean(axis=0), y.mean, atol=4e-4)
    np.testing.assert_allclose(np.cov(draws.T), y.covariance, rtol=0.02)
    np.testing.assert_array_equal(y.sample(3, rng=3), y.sample(3, rng=3))


def test_a_table_in_each_format():
    y = ds.propagate(lambda p: {"y": p.a * p.b}, two())
    for fmt in ("text", "markdown", "latex", "html", "rich"):
        assert "0.5" in y.table(fmt)
    assert "y" in y._repr_html_() and repr(y) == "<Propagated y: order 1>"


def test_numbers_with_uncertainties_stay_correlated():
    pytest.importorskip("uncertainties")
    y = ds.propagate(lambda p: {"s": p.a + p.b, "d": p.a - p.b}, two())
    s, d = y.to_ufloats()
    assert (s + d).std_dev == pytest.approx(0.2) and (s - d).std_dev == pytest.approx(0.4)


# --- examples of the GUM, JCGM 100:2008

#: H.2: simultaneous readings of voltage, current and phase, table H.2.
V = [5.007, 4.994, 5.005, 4.990, 4.999]
I = [0.019663, 0.019639, 0.019640, 0.019685, 0.019678]  # noqa: E741
PHI = [1.0456, 1.0438, 1.0468, 1.0428, 1.0433]


def impedance(p):
    return {
        "R": p.V * np.cos(p.phi) / p.I,
        "X": p.V * np.sin(p.phi) / p.I,
        "Z": p.V / p.I,
    }


def test_gum_h2_resistance_reactance_and_impedance():
    """Tables H.3 and H.4, to half a unit of the last digit; u(X) is 0.29558, printed 0.295."""
    data = np.array([V, I, PHI])
    means = ds.Parameters(zip(("V", "I", "phi"), data.mean(axis=1), strict=True))
    y = ds.propagate(impedance, means.with_covariance(np.cov(data) / 5, dof=4))
    np.testing.assert_allclose(y.mean, [127.732, 219.847, 254.260], atol=6e-4)
    np.testing.assert_allclose(y.u, [0.071, 0.295, 0.236], atol=6e-4)
    c = y.correlation
    np.testing.assert_allclose([c[0, 1], c[0, 2], c[1, 2]], [-0.588, -0.485, 0.993], atol=6e-4)
    np.testing.assert_allclose(y.dof, [4.0, 4.0, 4.0])


def test_gum_h2_from_its_rounded_inputs():
    p = ds.Parameters(
        {
            "V": Parameter(4.999, u=0.0032, unit="V"),
            "I": Parameter(0.019661, u=9.5e-6, unit="A"),
            "phi": Parameter(1.04446, u=0.00075, unit="rad"),
        }
    )
    p.set_correlation("V", "I", -0.36).set_correlation("V", "phi", 0.86)
    p.set_correlation("I", "phi", -0.65)
    y = ds.propagate(impedance, p)
    np.testing.assert_allclose(y.u, [0.07, 0.30, 0.24], atol=6e-3)
    c = y.correlation
    np.testing.assert_allclose([c[0, 1], c[0, 2], c[1, 2]], [-0.59, -0.49, 0.99], atol=6e-3)


#: H.1: an end gauge of 50 mm, lengths in nm.
GAUGE = {
    "ls": Parameter(50.000623e6, u=25.0, unit="nm", dof=18),
    "d": Parameter(215.0, u=9.7, unit="nm", dof=25.6),
    "delta_alpha": Parameter(0.0, u=0.58e-6, unit="1/K", dof=50),
    "theta": Parameter(-0.1, u=0.41, unit="K"),
    "alpha_s": Parameter(11.5e-6, u=1.2e-6, unit="1/K"),
    "delta_theta": Parameter(0.0, u=0.029, unit="K", dof=2),
}


def end_gauge(p):
    return p.ls + p.d - p.ls * (p.delta_alpha * p.theta + p.alpha_s * p.delta_theta)


@pytest.mark.filterwarnings(QUIET)
def test_gum_h1_end_gauge():
    """32 nm to first order, 16 effective degrees of freedom, 34 nm with the second order."""
    y = ds.propagate(end_gauge, GAUGE)
    assert y.mean == pytest.approx(50.000838e6, abs=0.5)
    assert round(float(y.u)) == 32
    assert math.floor(y.dof) == 16
    assert y.expanded(0.99) == pytest.approx(93, abs=1.5)
    assert y.coverage_factor(0.99) == pytest.approx(2.92, abs=0.02)
    second = ds.propagate(end_gauge, GAUGE, order=2)
    assert round(float(second.u)) == 34
    assert math.sqrt(second.u**2 - y.u**2) == pytest.approx(math.hypot(11.7, 1.7), rel=0.02)


@pytest.mark.filterwarnings(QUIET)
def test_the_gum_term_of_third_derivatives_is_named_apart():
    """y = x^3: g = 3 x^2, H = 6 x, third derivative 6; C = u^2."""
    x, u = 1.3, 0.2
    p = {"x": Parameter(x, u=u)}
    r = ds.function(lambda p: p.x**3, p)
    gum = 9 * x**4 * u**2 + 0.5 * (6 * x * u**2) ** 2 + 3 * x**2 * 6 * u**4
    assert ds.gum_second_order(r) == pytest.approx(gum)
    second = ds.propagate(lambda p: p.x**3, p, order=2)
    assert second.u**2 == pytest.approx(9 * x**4 * u**2 + 0.5 * (6 * x * u**2) ** 2)
    with pytest.raises(SensitivityError, match="results of `function`"):
        ds.gum_second_order(r.replace(again=None))


@pytest.mark.filterwarnings(QUIET)
def test_the_gum_form_with_correlation_is_that_of_moments_to_fourth_order():
    """For normal x and polynomial y up to third order: E[y^2] - E[y]^2 without u^6."""
    p = two(1e-2, 2e-2, r=0.4)
    r = ds.function(lambda p: p.a**2 * p.b, p)
    draws = np.random.default_rng(0).multivariate_normal([0, 0], p.covariance, 400_000)
    da = np.concatenate([draws, -draws])  # antithetic, so that odd moments vanish
    a, b = 2.0 + da[:, 0], 3.0 + da[:, 1]
    J, C = r.jacobian, p.covariance
    first = J @ C @ J
    extra = (a**2 * b).var() - (da @ J).var()
    assert ds.gum_second_order(r) - first == pytest.approx(extra, rel=0.1)


# --- models that run an analysis


UNCERTAIN = {"a": Parameter(2.0, u=0.1, unit="mg"), "k": Parameter(0.5, u=0.05)}


def running(order):
    def model(p):
        return ds.ode(
            lambda t, y, p: -p.k * y, lambda p: {"c": p.a}, p, (0.0, 1.0), t_eval=[1.0],
            order=order, rtol=1e-9, atol=1e-12, integrals={"area": lambda t, y, p: y[0]},
        )  # fmt: skip

    return model


@pytest.mark.parametrize("order", [1, 2])
def test_a_model_that_runs_an_analysis_is_propagated_like_its_closed_form(order):
    """It said that no parameter has an uncertainty."""
    closed = ds.propagate(lambda p: p.a * np.exp(-p.k), UNCERTAIN, order=order)
    y = ds.propagate(running(order), UNCERTAIN, order=order)
    assert np.allclose(y.u, closed.u, rtol=1e-7) and np.allclose(y.mean, closed.mean, rtol=1e-7)
    work = ds.problem(
        ds.ode, lambda t, y, p: -p.k * y, lambda p: {"c": p.a}, UNCERTAIN, (0.0, 1.0),
        t_eval=[1.0], rtol=1e-9, atol=1e-12,
    )  # fmt: skip
    assert np.allclose(ds.propagate(work, order=order).u, closed.u, rtol=1e-7)


def test_a_model_that_runs_an_analysis_keeps_what_is_known_of_its_parameters():
    r = ds.function(running(1), UNCERTAIN, units={"c": "mg"})
    assert r.units("c", "a") == "" and r.units("c", "k") == "mg"
    assert r.parameters.parameter("a").u == r.integrals.parameters.parameter("a").u == 0.1
    assert np.allclose(ds.propagate(r.integrals).u, ds.propagate(
        lambda p: p.a * (1.0 - np.exp(-p.k)) / p.k, UNCERTAIN).u, rtol=1e-6)  # fmt: skip


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"order": 2}, "the analysis in model gives none.*order=2"),
        ({"outputs": ["c"]}, "choose them there"),
    ],
)
def test_what_a_model_that_runs_an_analysis_cannot_be_asked(more, says):
    with pytest.raises(ds.SensitivityError, match=says):
        ds.function(running(1), UNCERTAIN, **more)
