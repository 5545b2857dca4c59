"""`fit` with models that are analyses themselves: trajectories, roots, steady states."""

import numpy as np
import pytest

from dualad import sensitivity as ds

from .models import diagonal, exchange, halved, proportional, square_root

T = np.array([0.5, 1.0, 2.0, 4.0, 6.0, 9.0, 12.0])
NOISE = np.array([0.05, -0.04, 0.03, -0.06, 0.02, 0.04, -0.03])
TIGHT = {"method": "LSODA", "rtol": 1e-9, "atol": 1e-11}


def close(value, exact, rtol=1e-10, atol=1e-13):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


def rhs(t, y, p):
    return [-p.ka * y[0], p.ka * y[0] - p.k * y[1]]


def dosed(p, t=T):
    """A dose that is absorbed and eliminated: the model of Bateman."""
    return ds.ode(
        rhs, lambda p: [p.D, 0.0], p, (0.0, t[-1]), t_eval=t,
        outputs={"C": lambda t, y, p: y[1] / p.V}, **TIGHT,
    )  # fmt: skip


def bateman(p, t=T):
    """The same in closed form."""
    return {"C": p.D * p.ka / p.V / (p.ka - p.k) * (np.exp(-p.k * t) - np.exp(-p.ka * t))}


START = {
    "ka": ds.Parameter(0.8, unit="1/h"),
    "k": ds.Parameter(0.1, unit="1/h", scale="log"),
    "V": ds.Parameter(10.0, unit="L"),
    "D": ds.Parameter(100.0, unit="mg", fixed=True),
}


def observed():
    p = ds.Parameters({"ka": 1.2, "k": 0.15, "V": 12.0, "D": 100.0})

    class Seen:
        ka, k, V, D = p["ka"], p["k"], p["V"], p["D"]

    return {"C": bateman(Seen)["C"] + NOISE}


@pytest.fixture(scope="module")
def pair():
    """The fit of the trajectory and that of its closed form."""
    return ds.fit(dosed, START, observed()), ds.fit(bateman, START, observed())


def test_a_trajectory_is_fitted_as_its_closed_form(pair):
    ode, form = pair
    close(ode.values, form.values, rtol=1e-7)
    close(ode.covariance, form.covariance, rtol=1e-6)
    close(ode.rss, form.rss, rtol=1e-7)
    assert ode.names == ("ka", "k", "V")


def test_from_fit_to_covariance_to_band_to_budget(pair):
    """The band of the trajectory and the budget of the area under the curve, D/(V k)."""
    ode, form = pair
    later = np.array([3.0, 15.0])
    band, exact = ode.predict(lambda p: dosed(p, later)), form.predict(lambda p: bateman(p, later))
    at = band.outputs.index("C")
    close(band.u[:, at], exact.u, rtol=1e-6)
    close(band.interval()[0][:, at], exact.interval()[0], rtol=1e-6)
    area = lambda p: {"AUC": p.D / (p.V * p.k)}
    budget = ode.predict(area).budget()
    close(sum(budget["share"]), 1.0)
    D, V, k = 100.0, ode.values[2], ode.values[1]
    g = np.array([0.0, -D / (V * k**2), -D / (V**2 * k)])
    close(ode.predict(area).u, [np.sqrt(g @ ode.covariance @ g)])
    close(ds.propagate(area, ode.params).u, ode.predict(area).u)


def test_the_order_of_wrt_does_not_matter(pair):
    """Columns of the analysis and of the covariance are matched by name."""
    f = ds.fit(dosed, START, observed(), wrt=["V", "k", "ka"])
    assert f.names == ("V", "k", "ka")
    close(f.values, pair[0].values[[2, 1, 0]], rtol=1e-6)
    later = np.array([3.0, 15.0])
    close(
        f.predict(lambda p: dosed(p, later)).u, pair[0].predict(lambda p: dosed(p, later)).u,
        rtol=1e-4,
    )  # fmt: skip


def test_numbers_taken_out_of_an_analysis_are_refused():
    """They are plain: what is computed with them has lost the derivatives."""

    def model(p):
        return {"C": dosed(p).column("C") * p.V}

    with pytest.raises(ds.ModelError, match=r"computes with the numbers of an analysis.*outputs="):
        ds.fit(model, START, observed())
    f = ds.fit(bateman, START, observed())
    with pytest.raises(ds.ModelError, match=r"computes with the numbers of an analysis"):
        f.predict(model)


def test_an_analysis_that_chooses_its_parameters_is_refused():
    def model(p):
        return ds.ode(rhs, [100.0, 0.0], p, (0.0, 12.0), t_eval=T, wrt=["ka"],
                      outputs={"C": lambda t, y, p: y[1] / p.V})  # fmt: skip

    with pytest.raises(
        ds.ModelError, match=r"differentiates by ka, not by ka, k, V.*without wrt="
    ):
        ds.fit(model, START, observed())


def test_profile_intervals_of_a_trajectory():
    """One parameter, so that the profile is the sum of squares itself."""
    ode, form = (ds.fit(m, START, observed(), wrt=["k"]) for m in (dosed, bateman))
    close(
        ode.confidence_intervals(method="profile"), form.confidence_intervals(method="profile"),
        rtol=1e-5,
    )  # fmt: skip


def test_a_state_that_starts_at_a_parameter_cannot_lose_its_derivative():
    """y0=[p.D, 0] hands a number over: the derivative by D would be lost."""

    def model(p):
        return ds.ode(rhs, [p.D, 0.0], p, (0.0, 12.0), t_eval=T,
                      outputs={"C": lambda t, y, p: y[1] / p.V})  # fmt: skip

    with pytest.raises(ds.ModelError, match=r"would drop the derivative.*y0=lambda p") as info:
        ds.fit(model, START, observed(), wrt=["ka", "D"])
    assert "return ds.ode(rhs, [p.D, 0.0]" in str(info.value)


def test_a_parameter_that_a_trajectory_does_not_tell(pair):
    """C depends on D and V through D/V."""
    free = {**START, "ka": 1.2, "D": ds.Parameter(100.0)}
    with pytest.warns(ds.NotIdentifiableWarning, match="do not determine V, D"):
        f = ds.fit(dosed, free, observed())
    close(f.values[3] / f.values[2], 100.0 / pair[1].values[2], rtol=1e-6)
    assert np.isinf(f.standard_errors[[2, 3]]).all()
    close(f.standard_errors[:2], pair[0].standard_errors[:2], rtol=1e-5)


def test_dissociation_curves_through_a_root():
    """Bound ligand is the root of (B - R)(B - L) = K B; K and R are fitted."""
    ligand = np.array([0.5, 1.0, 2.0, 4.0, 8.0])

    def equations(x, p):
        return (x - p.R) * (x - ligand) - p.K * x

    def by_root(p):
        return ds.root(equations, 0.3 * np.minimum(ligand, 1.0), p)

    def closed(p):
        b = p.R + ligand + p.K
        return (b - np.sqrt(b**2 - 4 * p.R * ligand)) / 2

    class True_:
        R, K = 1.5, 0.7

    data = closed(True_) + np.array([0.01, -0.02, 0.015, 0.01, -0.01])
    f, g = (ds.fit(m, {"R": 1.2, "K": 0.5}, data) for m in (by_root, closed))
    close(f.values, g.values, rtol=1e-8)
    close(f.covariance, g.covariance, rtol=1e-7)


def test_a_steady_state_is_fitted():
    """x = k/d observed with the flux k: both are told."""
    f = ds.fit(
        lambda p: ds.steady_state(
            lambda x, p: p.k - p.d * x, 1.0, p, outputs={"J": lambda x, p: p.d * x}
        ),
        {"k": 1.0, "d": 1.0}, {"x": [1.6], "J": [3.1]}, sigma=0.1,
    )  # fmt: skip
    close(f.values, [3.1, 3.1 / 1.6], rtol=1e-8)
    close(f.standard_errors[0], 0.1, rtol=1e-8)


def test_a_function_that_is_an_analysis_cannot_lose_a_start():
    """`function` hands p on in the same way."""
    p = {"k": 1.0, "D": 2.0}
    decay = lambda t, y, p: [-p.k * y[0]]
    model = lambda y0: lambda p: ds.ode(decay, y0(p), p, (0.0, 1.0), t_eval=[1.0], rtol=1e-9)
    right = ds.function(model(lambda p: lambda p: [p.D]), p)
    close(right.jacobian[0, 0], [-2.0 * np.exp(-1), np.exp(-1)], rtol=1e-7)
    with pytest.warns(ds.SensitivityWarning), pytest.raises(ds.ModelError, match="would drop"):
        ds.function(model(lambda p: [p.D]), p)


def test_results_can_be_sent_to_another_process():
    """Pickled and back, with the model in a module."""
    import pickle

    results = [
        ds.root(square_root, 1.0, {"a": 2.0}),
        ds.fixed_point(halved, [1.0, 1.0], {"a": 0.5}),
        ds.steady_state(exchange, [1.0, 0.0], {"k": 1.0, "m": 2.0}),
        ds.linear_solve(diagonal, [1.0, 2.0], {"a": 2.0}),
    ]
    for result in results:
        back = pickle.loads(pickle.dumps(result))
        close(back.jacobian, result.jacobian)
        close(back.again(back.parameters.vector()), result.values)
    f = ds.fit(proportional, {"a": 1.0}, [2.0, 4.1], x=np.array([1.0, 2.0]))
    back = pickle.loads(pickle.dumps(f))
    close(back.predict(x=np.array([3.0])).u, f.predict(x=np.array([3.0])).u)


def test_predictions_of_an_analysis_are_named_by_output_and_time_and_have_units():
    t = np.array([0.5, 1.0, 2.0])

    def model(p, t):
        return ds.ode(lambda t, y, p: -p.k * y, lambda p: {"c": p.a}, p, (0.0, 2.0), t_eval=t)

    start = {"a": 1.0, "k": 0.5}
    f = ds.fit(model, start, {"c": [1.5, 1.2, 0.7]}, x=t, units={"c": "mg/L"})
    assert f.sensitivities.outputs == ("c(0.5)", "c(1)", "c(2)")
    assert f.sensitivities.units("c(1)", "k") == "mg/L"
    assert f.predict(x=t, units={"c": "g"}).result.units("c") == "g"
    with pytest.raises(ds.ParameterError, match="no output 'z'"):
        ds.fit(model, start, {"c": [1.5, 1.2, 0.7]}, x=t, units={"z": "mg/L"})


def test_a_profile_of_exact_data_is_the_estimate():
    """Warnings are errors here; there was a division by the residual of zero."""
    t = np.arange(5.0)
    f = ds.fit(lambda p, t: p.a + p.b * t, {"a": 0.0, "b": 1.0}, 1.0 + 2.0 * t, x=t)
    ends = np.asarray(f.confidence_intervals(method="profile"))
    assert np.allclose(ends, [[1.0, 1.0], [2.0, 2.0]], atol=1e-12)


def test_predictions_of_second_order_of_an_analysis_are_those_of_its_closed_form():
    t = np.linspace(0.5, 3.0, 6)
    y = {"c": 2.0 * np.exp(-0.7 * t) + 0.01 * np.cos(9.0 * t)}
    start = {"a": 1.5, "k": 0.5}

    def model(order):
        return lambda p, t: ds.ode(
            lambda t, y, p: -p.k * y, lambda p: {"c": p.a}, p, (0.0, 4.0), t_eval=t, order=order,
            rtol=1e-8, atol=1e-10,
        )  # fmt: skip

    fitted = ds.fit(model(1), start, y, x=t)
    closed = ds.fit(lambda p, t: {"c": p.a * np.exp(-p.k * t)}, start, y, x=t)
    bent, exact = fitted.predict(model(2), x=t, order=2), closed.predict(x=t, order=2)
    assert np.allclose(bent.u.ravel(), exact.u, rtol=1e-6)
    assert np.allclose(bent.bias.ravel(), exact.bias, rtol=1e-6)
    with pytest.raises(
        ds.SensitivityError, match=r"the analysis in the model gives none.*order=2"
    ):
        fitted.predict(x=t, order=2)
