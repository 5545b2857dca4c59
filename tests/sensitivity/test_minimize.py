"""`minimize`: how minimisers move, and points that are none."""

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.errors import LostDerivativeError


def close(value, exact, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


def rosenbrock(x, p):
    """Its minimum is at (c, c^2)."""
    return p.a * (x[1] - x[0] ** 2) ** 2 + (p.c - x[0]) ** 2


@pytest.mark.parametrize("method", ["trust-exact", "BFGS", "Nelder-Mead"])
@pytest.mark.filterwarnings("ignore:Method Nelder-Mead does not use gradient:RuntimeWarning")
def test_the_minimum_of_rosenbrocks_function_to_second_order(method):
    with pytest.warns(ds.SensitivityWarning, match="a does not enter the model, or has no effect"):
        r = ds.minimize(rosenbrock, [-1.2, 1.0], {"a": 100.0, "c": 1.5}, order=2, method=method)
    close(r.values, [1.5, 2.25])
    close(r.jacobian, [[0.0, 1.0], [0.0, 3.0]])
    close(r.hessian[1], [[0.0, 0.0], [0.0, 2.0]], atol=1e-10)
    close(r.stats["objective"], 0.0)


def test_ridge_regression():
    """w = (X'X + r)^-1 X'y: dw/dr = -(X'X + r)^-1 w."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    r = ds.minimize(
        lambda w, p: np.sum((X @ w - y) ** 2) + p.r * np.sum(w**2), np.zeros(3), {"r": 0.7},
        outputs={"length": lambda w, p: np.sqrt(np.sum(w**2))},
    )  # fmt: skip
    inverse = np.linalg.inv(X.T @ X + 0.7 * np.eye(3))
    w = inverse @ X.T @ y
    slope = -inverse @ w
    close(r.values[:3], w)
    close(r.jacobian[:3, 0], slope)
    close(r.column("length", "r"), w @ slope / np.linalg.norm(w))


def test_the_price_that_sells_best():
    """(x - c) exp(-x/s) is largest at x = c + s."""
    r = ds.minimize(lambda x, p: -(x - p.c) * np.exp(-x / p.s), 2.0, {"c": 1.0, "s": 3.0})
    close(r.values, 4.0)
    close(r.jacobian, [1.0, 1.0])


@pytest.mark.parametrize(
    ("objective", "x0", "sentence"),
    [
        (
            lambda x, p: p.a * x[0] ** 2 - x[1] ** 2,
            [1.0, 0.0],
            "stationary but has no minimum.*x2",
        ),
        (lambda x, p: p.a * (x[0] - x[1]) ** 2, [1.0, 0.0], r"singular.*\(x1 \+ x2\).*is flat"),
        (lambda x, p: (x - p.a) ** 4, 1.0, "singular"),
        (lambda x, p: p.a * x**3, -1.0, "no lower bound|no solution|is not finite"),
        (lambda x, p: p.a * x, [1.0, 2.0], r"returned shape \(2,\): it must be one number"),
        (lambda x, p: p.a * np.log(x) ** 2, -1.0, "the objective is not finite at x = -1"),
    ],
)
def test_what_has_no_minimum_is_an_error(objective, x0, sentence):
    with np.errstate(all="ignore"), pytest.raises(ds.ModelError, match=f"(?s){sentence}"):
        ds.minimize(objective, x0, {"a": 2.0})


def test_a_dropped_derivative_names_the_line():
    def objective(x, p):
        return p.a * float(x) ** 2

    with pytest.raises(ds.ModelError, match=r"return p.a") as info:
        ds.minimize(objective, 1.0, {"a": 2.0})
    assert isinstance(info.value.__cause__, LostDerivativeError)


def test_an_unknown_method_is_refused():
    with pytest.raises(ds.SensitivityError, match="'nonsense' refused"):
        ds.minimize(rosenbrock, [0.0, 0.0], {"a": 1.0, "c": 1.0}, method="nonsense")
