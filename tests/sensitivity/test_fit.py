"""`fit`: reference data of NIST, closed forms of regression, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from dualad import sensitivity as ds
from dualad.errors import LostDerivativeError

NIST = sorted((Path(__file__).parent / "tables" / "nist_strd").glob("*.json"))


def close(value, exact, rtol=1e-10, atol=1e-13):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


# --- the Statistical Reference Datasets of NIST: certified to 11 digits


class Dataset:
    def __init__(self, path):
        table = json.loads(path.read_text())
        self.x, self.y = np.array(table["x"]), np.array(table["y"])
        self.code = compile(table["model"].partition("=")[2].strip(), path.stem, "eval")
        self.parameters = table["parameters"]
        self.rss, self.sd = float(table["residual_sum_of_squares"]), float(table["residual_sd"])
        self.dof = table["degrees_of_freedom"]

    def column(self, key):
        return np.array([float(p[key]) for p in self.parameters.values()])

    def model(self, p, x):
        known = {"exp": np.exp, "cos": np.cos, "sin": np.sin, "pi": np.pi, "x": x}
        return eval(self.code, {}, known | {n: p[n] for n in self.parameters})

    def fit(self, start, **options):
        values = dict(zip(self.parameters, self.column(start)))
        return ds.fit(self.model, values, self.y, x=self.x, **options)


@pytest.mark.parametrize("method", ["trf", "lm"])
@pytest.mark.parametrize("start", ["start1", "start2"])
@pytest.mark.parametrize("path", NIST, ids=lambda p: p.stem)
def test_nist_reference_data_from_both_starts(path, start, method):
    data = Dataset(path)
    if (path.stem, start, method) == ("BoxBOD", "start1", "lm"):
        with pytest.raises(ds.ModelError, match=r"did not converge.*Start elsewhere"):
            data.fit(start, method=method)
        return
    f = data.fit(start, method=method)
    ten = 10**-9.9
    close(f.values, data.column("certified"), rtol=ten)
    close(f.standard_errors, data.column("certified_sd"), rtol=ten)
    close(f.rss, data.rss, rtol=ten)
    close(f.residual_sd, data.sd, rtol=ten)
    assert f.dof == data.dof


def test_three_exponentials_that_can_hardly_be_told_apart():
    """Lanczos3 of NIST: data to four places from three exponentials; condition 1e4 and more."""
    x = np.arange(24) * 0.05
    y = 0.0951 * np.exp(-x) + 0.8607 * np.exp(-3 * x) + 1.5576 * np.exp(-5 * x)

    def model(p):
        pairs = [(p.b1, p.b2), (p.b3, p.b4), (p.b5, p.b6)]
        return sum(a * np.exp(-k * x) for a, k in pairs)

    start = dict(zip(["b1", "b2", "b3", "b4", "b5", "b6"], [0.5, 0.7, 3.6, 4.2, 4.0, 6.3]))
    f = ds.fit(model, start, np.round(y, 4))
    close(f.values, [8.6816414977e-02, 9.5498101505e-01, 8.4400777463e-01, 2.9515951832e00,
                     1.5825685901e00, 4.9863565084e00], rtol=1e-9)  # fmt: skip
    close(f.standard_errors, [1.7197908859e-02, 9.7041624475e-02, 4.1488663282e-02,
                              1.0766312506e-01, 5.8371576281e-02, 3.4436403035e-02],
          rtol=1e-9)  # fmt: skip
    exact = ds.fit(model, start, y)
    close(exact.values, [0.0951, 1.0, 0.8607, 3.0, 1.5576, 5.0], rtol=1e-8)


MONOD = {
    "x": [28, 55, 83, 110, 138, 225, 375],
    "y": [0.053, 0.06, 0.112, 0.105, 0.099, 0.122, 0.125],
}


def monod():
    x = np.array(MONOD["x"], float)
    return ds.fit(lambda p: p.p1 * x / (x + p.p2), {"p1": 0.1, "p2": 1.0}, MONOD["y"])


def test_the_monod_fit_that_fme_prints():
    f = monod()
    close(f.values, [0.14542, 49.05292], rtol=1e-4)
    close(f.standard_errors, [0.01564, 17.91196], rtol=4e-4)
    close(f.t_values, [9.296, 2.739], rtol=2e-4)
    close(f.p_values, [0.000242, 0.040862], rtol=3e-3)
    close(f.residual_sd, 0.01278, rtol=4e-4)
    close(f.correlation[0, 1], 0.8926, atol=6e-5, rtol=0)
    assert f.dof == 5


def test_the_theophylline_fit_that_r_prints():
    """Subject 1 by SSfol: lKe, lKa, lCl and their standard errors; clearance is V ke."""
    t = np.array([0.0, 0.25, 0.57, 1.12, 2.02, 3.82, 5.1, 7.03, 9.05, 12.12, 24.37])
    y = np.array([0.74, 2.84, 6.57, 10.5, 9.66, 8.58, 8.36, 7.47, 6.89, 5.94, 3.28])

    def first_order(p):
        ke, ka, cl = np.exp(p.lKe), np.exp(p.lKa), np.exp(p.lCl)
        return 4.02 * ke * ka / (cl * (ka - ke)) * (np.exp(-ke * t) - np.exp(-ka * t))

    f = ds.fit(first_order, {"lKe": -2.5, "lKa": 0.5, "lCl": -3.0}, y)
    close(f.values, [-2.9196, 0.5752, -3.9159], rtol=0, atol=1.1e-4)
    close(f.standard_errors, [0.1709, 0.1728, 0.1273], rtol=0, atol=1.1e-4)
    close(f.residual_sd, 0.732, rtol=0, atol=1e-3)
    assert f.dof == 8


# --- linear regression has closed forms

X = np.array([0.0, 1.0, 2.0, 4.0, 7.0])
Y = np.array([1.1, 2.9, 5.2, 8.7, 15.4])
S = np.array([0.1, 0.2, 0.1, 0.3, 0.2])
LINE = {"a": 0.0, "b": 1.0}


def line(p, x=X):
    return p.a + p.b * x


def straight(weights):
    """The estimates, their unscaled covariance and the sum of squares, by normal equations."""
    A = np.stack([np.ones(5), X], axis=1)
    C = np.linalg.inv(A.T @ (weights[:, None] * A))
    theta = C @ A.T @ (weights * Y)
    return theta, C, float(weights @ (Y - A @ theta) ** 2)


def test_a_standard_deviation_for_each_output():
    """Two lines of one slope: at the estimate each sigma^2 is its mean square by 1 - k/N."""
    noise = np.array([0.3, -0.2, 0.1, -0.4, 0.2])
    data = {"u": 2.0 * X + noise, "v": 2000.0 * X + 10.0 * noise[::-1]}
    f = ds.fit(
        lambda p: {"u": p.b * X, "v": 1000.0 * p.b * X + p.c}, {"b": 1.0, "c": 0.0}, data,
        sigma="estimate",
    )  # fmt: skip
    rest = f.residuals.reshape(2, 5)
    sigma = np.sqrt((rest**2).sum(axis=1) / (5 * 0.8))
    A = np.concatenate([np.stack([X, 0 * X], 1) / sigma[0],
                        np.stack([1000.0 * X, np.ones(5)], 1) / sigma[1]])  # fmt: skip
    y = np.concatenate([data["u"] / sigma[0], data["v"] / sigma[1]])
    C = np.linalg.inv(A.T @ A)
    close(f.values, C @ A.T @ y, rtol=1e-7)
    close(f.covariance, C, rtol=1e-7)
    new = f.predict(kind="prediction").u ** 2 - f.predict().u ** 2
    close(new, np.repeat(sigma**2, 5), rtol=1e-7)
    assert f.aic - f.minus_two_log_likelihood == 8.0


@pytest.mark.parametrize("sigma", [None, "estimate"])
def test_a_straight_line_with_unknown_sigma(sigma):
    f = ds.fit(line, LINE, Y, sigma=sigma)
    theta, C, rss = straight(np.ones(5))
    close(f.values, theta)
    close(f.covariance, C * rss / 3)
    close(f.rss, rss)
    close(f.residual_sd, np.sqrt(rss / 3))
    close(f.residuals, Y - theta[0] - theta[1] * X, atol=1e-12)


def test_a_straight_line_with_known_sigma():
    f = ds.fit(line, LINE, Y, sigma=S)
    theta, C, rss = straight(S**-2)
    close(f.values, theta)
    close(f.covariance, C)
    close(f.rss, rss)
    assert f.error_dof == np.inf and f.dof == 3
    relative = ds.fit(line, LINE, Y, sigma=S, absolute=False)
    close(relative.covariance, C * rss / 3)


def test_correlated_observations():
    """Generalised least squares: (A' V^-1 A)^-1."""
    V = np.outer(S, S) * (0.6 ** np.abs(np.subtract.outer(range(5), range(5))))
    f = ds.fit(line, LINE, Y, covariance=V)
    A, W = np.stack([np.ones(5), X], axis=1), np.linalg.inv(V)
    C = np.linalg.inv(A.T @ W @ A)
    close(f.values, C @ A.T @ W @ Y)
    close(f.covariance, C)


def test_information_criteria_are_those_of_the_normal_likelihood():
    f = ds.fit(line, LINE, Y)
    theta, _, rss = straight(np.ones(5))
    logl = stats.norm.logpdf(Y - theta[0] - theta[1] * X, scale=np.sqrt(rss / 5)).sum()
    close(f.aic, 2 * 3 - 2 * logl)
    close(f.bic, 3 * np.log(5) - 2 * logl)
    g = ds.fit(line, LINE, Y, sigma=S)
    logl = stats.norm.logpdf(g.residuals, scale=S).sum()
    close(g.aic, 2 * 2 - 2 * logl)
    close(g.bic, 2 * np.log(5) - 2 * logl)


def test_intervals_of_a_linear_model_are_the_same_by_either_method():
    f = ds.fit(line, LINE, Y)
    t = stats.t.ppf(0.95, 3)
    exact = np.stack([f.values - t * f.standard_errors, f.values + t * f.standard_errors], axis=1)
    wald, profile = (f.confidence_intervals(0.9, m) for m in ("wald", "profile"))
    close(wald, exact)
    close(profile, exact, rtol=1e-7)
    assert wald["b", "upper"] == wald.values[1, 1]


def test_the_band_of_a_straight_line():
    """u(x)^2 = s^2 (1/n + (x - mean)^2 / Sxx), and s^2 more for a new observation."""
    f = ds.fit(line, LINE, Y, x=X)
    x = np.array([3.0, 10.0])
    u2 = f.residual_sd**2 * (1 / 5 + (x - X.mean()) ** 2 / ((X - X.mean()) ** 2).sum())
    band = f.predict(x=x)
    close(band.u, np.sqrt(u2))
    t = stats.t.ppf(0.975, 3)
    close(band.interval()[1], f.values[0] + f.values[1] * x + t * np.sqrt(u2))
    new = f.predict(x=x, kind="prediction", level=0.8)
    close(new.u, np.sqrt(u2 + f.residual_sd**2))
    close(new.expanded(), stats.t.ppf(0.9, 3) * new.u)


def test_a_prediction_of_another_model_has_its_budget():
    """Where the line crosses y0: x = (y0 - a)/b, by the delta method."""
    f = ds.fit(line, LINE, Y)
    p = f.predict(lambda p: {"x": (10.0 - p.a) / p.b})
    a, b = f.values
    g = np.array([-1 / b, -(10.0 - a) / b**2])
    close(p.u, [np.sqrt(g @ f.covariance @ g)])
    assert [row["parameter"] for row in p.budget()] == ["a", "b"]
    close(sum(p.budget()["share"]), 1.0)
    close(ds.propagate(lambda p: {"x": (10.0 - p.a) / p.b}, f.params).u, p.u)


def test_a_prediction_with_known_but_unequal_sigma_needs_one():
    f = ds.fit(line, LINE, Y, sigma=S)
    with pytest.raises(ds.SensitivityError, match="different standard deviations"):
        f.predict(kind="prediction")
    close(f.predict(kind="prediction", sigma=0.5).u ** 2 - f.predict().u ** 2, 0.25)
    with pytest.raises(ds.SensitivityError, match="kind must be"):
        f.predict(kind="tolerance")


# --- nonlinear fits


def decay(p, x):
    return p.A * np.exp(-p.k * x)


T = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0])
NOISY = np.array([10.2, 7.9, 5.9, 3.8, 1.3, 0.3])


def test_the_profile_reaches_the_likelihood_ratio():
    """At each end the sum of squares, minimised over the others, exceeds by t^2 s^2."""
    f = ds.fit(decay, {"A": 8.0, "k": 0.3}, NOISY, x=T)
    t = stats.t.ppf(0.975, 4)
    level = f.rss + t**2 * f.residual_sd**2
    ends = f.confidence_intervals(method="profile").values
    for k in ends[1]:  # A is linear: its best value is known
        e = np.exp(-k * T)
        A = NOISY @ e / (e @ e)
        close(((NOISY - A * e) ** 2).sum(), level, rtol=1e-7)
    for A in ends[0]:
        slope = lambda k: ((NOISY - A * np.exp(-k * T)) * T * np.exp(-k * T)).sum()
        k = brentq(slope, 0.2, 2.0, xtol=1e-14)
        close(((NOISY - A * np.exp(-k * T)) ** 2).sum(), level, rtol=1e-7)


def test_a_logarithmic_scale_gives_the_same_estimate_and_an_interval_that_is_positive():
    plain = ds.fit(decay, {"A": 8.0, "k": 0.3}, NOISY, x=T)
    logs = ds.fit(
        decay, {"A": ds.Parameter(1.0, scale="log"), "k": ds.Parameter(5.0, scale="log")},
        NOISY, x=T,
    )  # fmt: skip
    close(logs.values, plain.values)
    close(logs.covariance, plain.covariance)
    close(
        logs.confidence_intervals(method="profile"), plain.confidence_intervals(method="profile"),
        rtol=1e-7,
    )  # fmt: skip
    t = stats.t.ppf(0.975, 4)
    factor = np.exp(t * plain.standard_errors / plain.values)
    close(logs.confidence_intervals().values[:, 1], plain.values * factor)


def test_a_fixed_parameter_is_held_and_reported():
    f = ds.fit(decay, {"A": ds.Parameter(10.0, fixed=True), "k": 0.3}, NOISY, x=T)
    assert f.names == ("k",) and "held: A = 10" in f.report()
    assert f.params["A"] == 10.0 and f.params.parameter("k").u == f.standard_errors[0]
    assert ds.fit(decay, {"A": 10.0, "k": 0.3}, NOISY, x=T, wrt=["k"]).values == f.values


def test_the_parameters_carry_what_is_known_of_them():
    f = ds.fit(decay, {"A": ds.Parameter(8.0, unit="V"), "k": 0.3}, NOISY, x=T)
    close(f.params.covariance, f.covariance)
    assert f.params.units["A"] == "V" and (f.params.dof == 4).all()
    again = ds.propagate(lambda p: p.A * p.k, f.params)
    close(again.u, f.predict(lambda p: p.A * p.k).u)


def test_data_by_name_and_as_a_frame():
    import pandas

    both = {"first": NOISY, "second": 2.0 * NOISY}
    model = lambda p: {
        "unseen": p.A, "second": 2.0 * decay(p, T), "first": decay(p, T)
    }  # fmt: skip
    one = ds.fit(decay, {"A": 8.0, "k": 0.3}, NOISY, x=T)
    for data in (both, pandas.DataFrame(both)):
        f = ds.fit(model, {"A": 8.0, "k": 0.3}, data)
        close(f.values, one.values)
        assert len(f.residuals) == 12
    weights = {"first": 1.0, "second": np.full(6, 2.0)}
    close(ds.fit(model, {"A": 8.0, "k": 0.3}, both, sigma=weights).rss, 2 * one.rss)


def test_missing_observations_can_be_dropped():
    holes = np.where(T == 2.0, np.nan, NOISY)
    with pytest.raises(ds.SensitivityError, match=r"hold nan \(entry 3, 1 in all\).*missing='dr"):
        ds.fit(decay, {"A": 8.0, "k": 0.3}, holes, x=T)
    f = ds.fit(decay, {"A": 8.0, "k": 0.3}, holes, x=T, missing="drop")
    kept = T != 2.0
    g = ds.fit(decay, {"A": 8.0, "k": 0.3}, NOISY[kept], x=T[kept])
    close(f.values, g.values)
    assert f.dof == 3


def test_a_robust_loss_forgives_an_outlier():
    """For a mean, the loss soft_l1 solves sum r/sqrt(1 + r^2) = 0."""
    y = np.array([1.0, 1.1, 0.9, 1.05, 0.95, 9.0])
    f = ds.fit(lambda p: p.m * np.ones(6), {"m": 3.0}, y, sigma=0.1, loss="soft_l1")
    r = (y - f.values) / 0.1
    close(np.sum(r / np.sqrt(1 + r**2)), 0.0, atol=1e-9)
    assert abs(f.values[0] - 1.0) < 0.1
    # the sandwich: sum psi^2 / (sum psi')^2 n/(n - 1)
    psi, slope = r / np.sqrt(1 + r**2), (1 + r**2) ** -1.5
    close(f.standard_errors**2, 0.01 * (psi @ psi) / slope.sum() ** 2 * 6 / 5)
    with pytest.raises(ds.SensitivityError, match="for the loss 'linear'"):
        f.confidence_intervals(method="profile")


@pytest.mark.parametrize("loss", ["huber", "cauchy", "arctan"])
def test_other_losses_are_those_of_scipy(loss):
    from scipy.optimize import least_squares

    y = np.array([1.0, 1.1, 0.9, 1.05, 0.95, 3.0])
    f = ds.fit(lambda p: p.m * np.ones(6), {"m": 1.2}, y, sigma=0.2, loss=loss)
    peer = least_squares(lambda m: (m - y) / 0.2, [1.2], loss=loss, xtol=1e-15, ftol=1e-15)
    close(f.values, peer.x, rtol=1e-6)


def test_many_starts_find_the_deeper_minimum():
    """The frequency of a sine has many minima."""
    x = np.linspace(0.0, 10.0, 60)
    y = np.sin(2.3 * x)
    p = {"w": ds.Parameter(0.5, lower=0.1, upper=5.0)}
    model = lambda p: np.sin(p.w * x)
    assert abs(ds.fit(model, p, y).values[0] - 2.3) > 0.1
    close(ds.fit(model, p, y, start=30).values, 2.3)
    close(ds.fit(model, p, y, start={"w": 2.2}).values, 2.3)
    close(ds.fit(model, p, y, start=[2.2]).values, 2.3)


# --- what the data do not determine


def test_a_ratio_is_named_and_the_others_keep_their_errors():
    """y = a b exp(-k t): a and b enter as a product."""
    with pytest.warns(ds.NotIdentifiableWarning, match=r"do not determine a, b: .*a.*b") as record:
        f = ds.fit(lambda p: p.a * p.b * np.exp(-p.k * T), {"a": 2.0, "b": 4.0, "k": 0.3}, NOISY)
    assert "*" in str(record[0].message) or "product" in str(record[0].message)
    g = ds.fit(decay, {"A": 8.0, "k": 0.3}, NOISY, x=T)
    assert np.isinf(f.standard_errors[:2]).all()
    close(f.standard_errors[2], g.standard_errors[1])
    close(f.values[0] * f.values[1], g.values[0])
    assert f.dof == 4 and not f.identifiability().identifiable
    # the product is determined, each factor is not
    predicted = f.predict(lambda p: {"product": p.a * p.b, "a": p.a})
    close(predicted.u[0], g.standard_errors[0])
    assert np.isinf(predicted.u[1])
    assert f.params.parameter("a").u is None
    assert np.isinf(f.confidence_intervals().values[0]).all()


def test_a_parameter_that_the_data_do_not_see():
    with pytest.warns(ds.NotIdentifiableWarning, match="q has no effect"):
        f = ds.fit(lambda p: decay(p, T) + 0.0 * p.q, {"A": 8.0, "k": 0.3, "q": 1.0}, NOISY)
    assert np.isinf(f.standard_errors[2]) and np.isfinite(f.standard_errors[:2]).all()


def test_fewer_observations_than_parameters():
    with pytest.raises(ds.NotIdentifiableError, match=r"1 observations cannot determine 2.*A, k"):
        ds.fit(decay, {"A": 8.0, "k": 0.3}, NOISY[:1], x=T[:1])


def test_no_degree_of_freedom():
    with pytest.warns(ds.SensitivityWarning, match=r"no degree of freedom.*Give sigma"):
        f = ds.fit(decay, {"A": 8.0, "k": 0.3}, NOISY[:2], x=T[:2])
    assert np.isinf(f.standard_errors).all() and f.dof == 0
    assert np.isinf(f.predict(x=T).u).all()
    k = np.log(NOISY[0] / NOISY[1]) / 0.5
    close(f.values, [NOISY[0], k])
    g = ds.fit(decay, {"A": 8.0, "k": 0.3}, NOISY[:2], x=T[:2], sigma=0.1)
    close(g.standard_errors[0], 0.1)
    assert g.report() and f.report()


def test_a_parameter_at_its_bound():
    p = {"A": 8.0, "k": ds.Parameter(0.1, upper=0.3)}
    with pytest.warns(ds.SensitivityWarning, match="k ended at a bound"):
        f = ds.fit(decay, p, NOISY, x=T)
    e = np.exp(-0.3 * T)
    close(f.values, [NOISY @ e / (e @ e), 0.3])
    assert f.at_bound == ("k",) and np.isnan(f.standard_errors[1])
    close(f.standard_errors[0], f.residual_sd / np.sqrt(e @ e))
    free = ds.fit(decay, p, NOISY, x=T, bounds=None)
    assert free.values[1] > 0.3
    with pytest.warns(ds.SensitivityWarning, match="k ended at a bound"):
        other = ds.fit(decay, {"A": 8.0, "k": 0.1}, NOISY, x=T, bounds={"k": (0.0, 0.3)})
    close(other.values, f.values)


# --- what is refused


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sigma": 0.0}, "sigma must be positive and finite; it is 0 for entry 0"),
        ({"sigma": [1, 1, -1, 1, 1, 1]}, "it is -1 for entry 2"),
        ({"sigma": [1.0, 2.0]}, r"sigma has shape \(2,\)"),
        ({"sigma": "known"}, "sigma must be None"),
        ({"sigma": 1.0, "covariance": np.eye(6)}, "sigma or covariance, not both"),
        ({"covariance": np.eye(5)}, r"shape \(5, 5\); there are 6"),
        ({"covariance": -np.eye(6)}, "smallest eigenvalue is -1"),
        ({"covariance": np.eye(6) + np.eye(6, k=1)}, "not symmetric"),
        ({"loss": "log"}, "loss must be one of linear"),
        ({"method": "newton"}, "method must be 'trf'"),
        ({"method": "lm", "loss": "huber"}, "does not take the loss 'huber'"),
        ({"method": "lm", "bounds": {"A": (0, None)}}, "does not take bounds"),
        ({"bounds": {"B": (0, 1)}}, "no parameter 'B'"),
        ({"bounds": {"A": (9, 10)}}, "outside of its bounds"),
        ({"bounds": "none"}, "bounds must be"),
        ({"start": "guess"}, "start must be"),
        ({"start": [1.0]}, r"start has shape \(1,\)"),
        ({"start": 0}, "number of starts must be positive"),
        ({"missing": "fill"}, "missing must be"),
        ({"wrt": ["B"]}, "no parameter 'B'"),
        ({"f_scale": 0.0}, "f_scale must be positive"),
    ],
)
def test_options_are_checked(options, sentence):
    with pytest.raises(ds.SensitivityError, match=f"(?s){sentence}"):
        ds.fit(decay, {"A": 8.0, "k": 0.3}, NOISY, x=T, **options)


@pytest.mark.parametrize(
    ("model", "data", "sentence"),
    [
        (lambda p: p.A * T[:3] * p.k, NOISY, r"predicts 3 observations \(shape \(3,\)\).*are 6"),
        (lambda p: p.A * np.log(-p.k) * T, NOISY, "not finite at the start: A = 8, k = 0.3"),
        (lambda p: p.A * p.k * T, NOISY + 1j, "must be real"),
        (lambda p: p.A * p.k * T, [], "no observations"),
        (lambda p: p.A * p.k * T, {}, "no observations"),
        (lambda p: p.A * p.k * T, {"y": NOISY}, "y"),
        (lambda p: {"z": p.A * p.k * T}, {"y": NOISY}, "no output 'y'"),
    ],
)
def test_what_cannot_be_fitted_is_an_error(model, data, sentence):
    with np.errstate(all="ignore"), pytest.raises(ds.SensitivityError, match=sentence):
        ds.fit(model, {"A": 8.0, "k": 0.3}, data)


def test_a_dropped_derivative_names_the_line():
    def model(p):
        return p.A * np.exp(-float(p.k) * T)

    with pytest.raises(ds.ModelError, match=r"float\(x\) would drop") as info:
        ds.fit(model, {"A": 8.0, "k": 0.3}, NOISY)
    assert "np.exp(-float(p.k) * T)" in str(info.value)
    assert isinstance(info.value.__cause__, LostDerivativeError)


def test_the_report_says_what_was_done():
    text = monod().report()
    for part in ("2 parameters fitted to 7 observations", "5 degrees of freedom", "p1", "49.05",
                 "correlation of p1 and p2: 0.892"):  # fmt: skip
        assert part in text
    assert "|" in monod().report(fmt="markdown")
    assert "p1 = 0.1454" in repr(monod())


def test_an_option_that_scipy_does_not_know_is_an_error_of_ours():
    with pytest.raises(ds.SensitivityError, match=r"least_squares refused.*'foo'"):
        ds.fit(lambda p, t: p.a * t, {"a": 1.0}, [1.0, 2.0], x=np.arange(2.0), foo=3)
