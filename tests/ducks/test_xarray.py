"""xarray beside traced values: the right derivative, or an error that says what to do."""

import numpy as np
import pytest

import dualad
from dualad.errors import DualADError, LostDerivativeError, NotDifferentiableError

xr = pytest.importorskip("xarray")

X, T = np.array([1.0, 2.0, 3.0]), np.array([0.3, -1.1, 0.7])
LABELLED = xr.DataArray(X, dims="t", coords={"t": [10, 20, 30]})
GROUPS = {"group": ("t", [0, 1, 0])}


def labelled(x):
    return xr.DataArray(x, dims="t", coords={"t": [10, 20, 30]})


#: What xarray does by the operations of the array that it holds, and the slope along T.
HELD = {
    "sum of squares": (lambda x: (labelled(x) ** 2).sum(), 2 * X @ T),
    "mean": (lambda x: labelled(x).mean("t"), T.mean()),
    "ufunc": (lambda x: np.sin(labelled(x)), np.cos(X) * T),
    "apply_ufunc": (lambda x: xr.apply_ufunc(np.exp, labelled(x)), np.exp(X) * T),
    "by label": (lambda x: labelled(x).sel(t=20) * 2.0, 2 * T[1]),
    "dot": (lambda x: xr.dot(labelled(x), LABELLED), X @ T),
    "product with plain": (lambda x: labelled(x) * LABELLED, X * T),
    "plain times traced": (lambda x: LABELLED * x, X * T),
    "cumsum": (lambda x: labelled(x).cumsum(), np.cumsum(T)),
    "where": (lambda x: labelled(x).where(LABELLED > 1.0, 0.0), np.where(X > 1, T, 0.0)),
    "groups": (
        lambda x: xr.DataArray(x, dims="t", coords=GROUPS).groupby("group").sum(),
        np.array([T[0] + T[2], T[1]]),
    ),
    "data set": (lambda x: xr.Dataset({"a": ("t", x)}).a.sum(), T.sum()),
    "concatenated": (lambda x: xr.concat([labelled(x), LABELLED], "t").sum(), T.sum()),
}


@pytest.mark.parametrize("name", HELD)
def test_a_labelled_traced_array_has_the_right_derivative(name):
    f, right = HELD[name]

    def data(x):
        return f(x).data

    np.testing.assert_allclose(dualad.jvp(data, (X,), (T,))[1], right, 1e-13)
    value, pullback = dualad.vjp(data, X)
    ones = np.ones_like(value)
    np.testing.assert_allclose(pullback(ones)[0] @ T, np.sum(right), 1e-13)


def test_plain_values_of_labelled_arrays_are_constants():
    right = 2 * X * T
    np.testing.assert_allclose(
        dualad.jvp(lambda x: x * x * (LABELLED.values / X), (X,), (T,))[1], right
    )
    assert dualad.grad(lambda x: np.sum(x[LABELLED > 1.0]))(X).tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: labelled(x).values,
        lambda x: (LABELLED * x[0]).values,
        lambda x: float(labelled(x).sum()),
        lambda x: LABELLED.copy().__setitem__(0, x[0]),
        lambda x: np.dot(LABELLED, x),
        lambda x: np.where(LABELLED > 1.0, x, 0.0),
    ],
)
def test_what_would_drop_the_derivative_is_an_error(f):
    for run in (lambda: dualad.jvp(f, (X,), (T,)), lambda: dualad.vjp(f, X)):
        with pytest.raises(DualADError):
            run()


def test_the_errors_say_how_to_get_the_array():
    with pytest.raises(LostDerivativeError, match=r"x\.data of one that was made of a traced"):
        dualad.grad(lambda x: labelled(x).values.sum())(X)
    with pytest.raises(NotDifferentiableError, match=r"argument 0 .*x\.data for xarray"):
        dualad.grad(np.sum)(LABELLED)
    with pytest.raises(NotDifferentiableError, match=r"output .*x\.data for xarray"):
        dualad.jvp(labelled, (X,), (T,))
