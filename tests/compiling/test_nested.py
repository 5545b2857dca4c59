"""Compiled functions under several transformations see changes and writes as plain ones do."""

import warnings

import numpy as np
import pytest

import dualad
from dualad.errors import CompileWarning

X = np.array([0.5, -1.0])


class Model:
    def __init__(self):
        self.factor = 2.0
        self.weights = np.ones(2)

    def __call__(self, x):
        return x**2 * self.factor + np.sin(x) * self.weights


def summed(f):
    return lambda x: np.sum(f(x))


def gradient_of_gradient(f):
    def outer(x):
        return np.sum(dualad.grad(lambda y: np.sum(f(y) ** 2))(x) * x)

    return dualad.grad(outer)


def three_times(f):
    def pushed(x):
        return dualad.jvp(dualad.grad(summed(f)), (x,), (np.ones(2),))[1]

    return dualad.jacobian(pushed)


NESTED = {
    "gradient of a gradient": gradient_of_gradient,
    "hessian": lambda f: dualad.hessian(summed(f)),
    "jacobian of a jacobian": lambda f: dualad.jacobian(dualad.jacobian(f)),
    "three times": three_times,
    "compiled": lambda f: dualad.compile(gradient_of_gradient(f), backend="numpy"),
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("inner", ["alone", "in another one"])
def test_a_change_is_seen(name, inner):
    model, nested = Model(), NESTED[name]
    f = dualad.compile(model, backend="numpy")
    if inner == "in another one":
        f = dualad.compile(lambda x, g=f: g(x) + g(2 * x), backend="numpy")
    plain = model if inner == "alone" else lambda x: model(x) + model(2 * x)
    found = nested(f)
    for change in (
        lambda: None, lambda: None, lambda: setattr(model, "factor", 3.0),
        lambda: model.weights.__setitem__(0, 9.0), lambda: setattr(model, "weights", 4 * X),
    ):  # fmt: skip
        change()
        for x in (X, 2 * X):
            np.testing.assert_allclose(found(x), nested(plain)(x), rtol=1e-12)


@pytest.mark.parametrize("name", NESTED)
def test_an_argument_that_is_written_into(name):
    """f(x) = 4 x ** 2."""

    def f(x):
        x *= 2
        return x * x

    def square(x):
        return 4 * x**2

    found = NESTED[name](dualad.compile(f, backend="numpy"))
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompileWarning)
            np.testing.assert_allclose(found(X.copy()), NESTED[name](square)(X), rtol=1e-12)
