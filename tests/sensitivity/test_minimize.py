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


# --- bounds


def paraboloid(x, p):
    return (x[0] - p.a) ** 2 + (x[1] - p.b) ** 2 + p.c * x[0] * x[1]


@pytest.mark.parametrize("method", [None, "TNC", "SLSQP", "trust-constr", "Nelder-Mead"])
def test_an_unknown_at_a_bound_moves_with_the_bound_only(method):
    """With x at its upper bound u, y = b - c u / 2."""
    params = {"a": 3.0, "b": 1.0, "c": 0.4, "u": 2.0}
    r = ds.minimize(
        paraboloid, {"x": 0.0, "y": 0.0}, params, order=2, method=method,
        wrt=["b", "c", "u"], bounds={"x": (None, lambda p: p.u**2 / 2.0)},
        outputs={"sum": lambda x, p: x[0] + x[1]},
    )  # fmt: skip
    assert np.allclose(r.values, [2.0, 0.6, 2.6])
    y = [1.0, -1.0, -0.4]
    assert np.allclose(r.jacobian, [[0.0, 0.0, 2.0], y, np.add(y, [0, 0, 2.0])])
    second = [[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, -1.0, -0.2]]
    assert np.allclose(r.block("y").hessian[0], second)
    assert r.stats["active"]["x"]["bound"] == "upper"
    # The multiplier is -df/dx: 2 (a - x) - c y.
    assert np.isclose(r.stats["active"]["x"]["multiplier"], 2.0 * (3.0 - 2.0) - 0.4 * 0.6)
    assert r.check().ok


def test_bounds_that_do_not_hold_change_nothing():
    params = {"a": 1.0, "b": 1.0, "c": 0.4}
    far = ds.minimize(paraboloid, [0.0, 0.0], params, bounds=[(-9.0, 9.0), (None, None)])
    none = ds.minimize(paraboloid, [0.0, 0.0], params)
    assert np.allclose(far.values, none.values) and np.allclose(far.jacobian, none.jacobian)
    assert far.stats["active"] == {} and "active" not in none.stats


def test_a_saddle_between_bounds_is_a_minimum_at_one_of_them():
    r = ds.minimize(
        lambda x, p: -p.a * (x[0] - 0.1) ** 2 + (x[1] - p.a * x[0]) ** 2, [0.5, 0.0], {"a": 2.0},
        bounds=[(-1.0, 1.0), (None, None)],
    )  # fmt: skip
    assert np.allclose(abs(r.values), [1.0, 2.0])
    assert np.allclose(r.jacobian[:, 0], [0.0, r.values[0]])


def test_an_unknown_at_a_bound_that_nothing_pushes_has_no_derivative():
    with pytest.raises(ds.ModelError, match=r"x1 is at its bound 3.*no derivative.*Move"):
        ds.minimize(
            paraboloid,
            [0.0, 0.0],
            {"a": 3.0, "b": 1.0, "c": 0.0},
            bounds=[(None, 3.0), (None, None)],
        )


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"bounds": {"z": (0, 1)}}, "there is no unknown 'z': there is x1, x2"),
        ({"bounds": [(0, 1)]}, r"2 unknowns \(x1, x2\) and 1 bounds"),
        ({"bounds": [(0, 1), 3.0]}, r"bounds of 'x2' must be a pair"),
        ({"bounds": [(0, 1), ("a", 3.0)]}, r"a bound of 'x2' is no number: 'a'"),
        ({"bounds": [(0, 1), (2, 1)]}, r"bounds of 'x2' leave nothing between 2 and 1"),
        ({"bounds": [(0, 1), (2, 3)], "method": "BFGS"}, "'BFGS' does not take bounds.*L-BFGS-B"),
    ],
)  # fmt: skip
def test_bounds_that_are_none(more, says):
    with pytest.raises(ds.SensitivityError, match=says):
        ds.minimize(paraboloid, [0.5, 0.5], {"a": 3.0, "b": 1.0, "c": 0.1}, **more)


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", "COBYLA"])
def test_methods_without_gradients_are_given_none(method):
    """SciPy would warn; warnings are errors here."""
    r = ds.minimize(
        paraboloid, [0.5, 0.5], {"a": 3.0, "b": 1.0, "c": 0.0}, wrt=["a", "b"], method=method
    )
    assert np.allclose(r.values, [3.0, 1.0]) and np.allclose(r.jacobian, np.eye(2))
