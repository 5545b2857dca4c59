"""A derivative is right, or there is an error: the ways out of a traced function."""

import math
import statistics
import struct
import traceback
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dualad
from dualad.errors import LostDerivativeError, NotDifferentiableError

X = np.array([0.5, 1.5, 2.0])
T = np.array([1.0, -2.0, 0.5])
MATRIX = np.arange(1.0, 7.0).reshape(2, 3)


def refused(f, error=TypeError, match=None):
    """In forward and in reverse mode, before anything comes out."""
    with pytest.raises(error, match=match) as caught:
        dualad.jvp(f, (X,), (T,))
    with pytest.raises(error, match=match):
        dualad.vjp(f, X)
    return caught.value


def right(f, tangent):
    np.testing.assert_allclose(dualad.jvp(f, (X,), (T,))[1], tangent, rtol=1e-13)
    _, pullback = dualad.vjp(f, X)
    weights = np.cos(np.arange(np.size(tangent))).reshape(np.shape(tangent))
    share = pullback(np.asarray(weights)[()])[0]
    np.testing.assert_allclose(share @ T, np.sum(weights * tangent), rtol=1e-12)


# --- Python's numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [float, int, complex, math.sin, math.hypot, math.fsum, np.float64, bytes],
    ids=lambda f: f.__name__,
)
def test_numbers_that_hold_no_derivative(f):
    call = {math.hypot: lambda x: f(x[0], x[1]), math.fsum: f}.get(f, lambda x: f(x[0]))
    refused(call, TypeError)


def test_the_error_names_the_remedy():
    assert "np.sin instead of math.sin" in str(refused(lambda x: math.sin(x[0])))
    assert "dualad.stop_gradient" in str(refused(lambda x: float(x[0])))
    assert "dualad.numpy" in str(refused(np.asarray))
    assert "buffer" in str(refused(lambda x: np.add(x, 1, out=np.zeros(3))))
    for f, name in (
        (lambda x: np.full((2, 3), x), "numpy.full "),
        (np.vectorize(lambda a: a), "numpy.vectorize "),
        (lambda x: np.r_[x, 1.0], "numpy.r_ "),
        (lambda x: list(np.ndenumerate(x)), "numpy.ndenumerate "),
    ):
        assert f"{name}does not dispatch" in str(refused(f))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: Fraction(1, 2) * x[0],
        lambda x: Decimal("0.5") * x[0],
        lambda x: statistics.mean([x[0], x[1]]),
        lambda x: struct.pack("d", x[0]),
        lambda x: [1, 2, 3][x[0]],
        lambda x: np.zeros(3)[x],
    ],
)
def test_what_does_not_know_arrays(f):
    refused(f, (TypeError, IndexError, struct.error))


def test_builtins_that_use_operators_are_right():
    right(lambda x: sum(x), T.sum())
    right(lambda x: max(x), T[2])
    right(lambda x: pow(x[0], 2) + abs(x[1]) + divmod(x[2], 0.7)[1], 2 * 0.5 * T[0] + T[1] + T[2])
    right(lambda x: x[0].item() * x.tolist()[1], 1.5 * T[0] + 0.5 * T[1])


# --- NumPy's arrays ------------------------------------------------------------------------------


def store(x, key, value):
    plain = np.zeros(3)
    plain[key] = value(x)
    return plain


def augment(x):
    plain = np.zeros(3)
    plain += x
    return plain


@pytest.mark.parametrize(
    "f",
    [
        lambda x: store(x, 0, lambda v: v[0]),
        lambda x: store(x, slice(None), lambda v: v),
        lambda x: store(x, 0, lambda v: np.array([v[0]])),
        augment,
        lambda x: np.array([x, x]),
        lambda x: np.array([x[0], x[1]], dtype=float),
        lambda x: np.array([x[0], x[1]]).astype(float),
        lambda x: np.array([x[0] * 1j, x[1]]),
        lambda x: np.asarray(x * 1j, dtype=object),
        lambda x: np.ascontiguousarray(x),
        lambda x: np.full((2, 3), x),
        lambda x: np.full_like(np.ones(3), x),
        lambda x: np.fromiter((v for v in x), float),
        lambda x: np.r_[x, 1.0],
        lambda x: list(np.ndenumerate(x)),
        lambda x: list(np.nditer(x)),
        lambda x: np.arange(x[0], 3.0),
        lambda x: np.polynomial.Polynomial(x)(2.0),
        lambda x: np.lib.stride_tricks.as_strided(x, (2,), (8,)),
        lambda x: np.random.default_rng(0).normal(x[0]),
        lambda x: np.array([0, 1, 0]).choose([x, x]),
        lambda x: np.from_dlpack(x),
        lambda x: x.tobytes(),
        lambda x: np.isfortran(x),
    ],
)
def test_plain_arrays_take_no_traced_value(f):
    refused(f, (TypeError, ValueError, AttributeError))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: store(x, 0, lambda v: v[0]),
        lambda x: dualad.jvp(lambda y: store(y, 0, lambda v: v[0]), (x,), (x,))[1],
    ],
)
def test_numpys_own_error_becomes_ours_and_names_the_buffer(f):
    error = refused(f, LostDerivativeError, match=r"dualad\.numpy\.zeros\(shape\)")
    assert type(error.__cause__) is ValueError and str(error.__cause__) in str(error)
    line = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert line[-1] == "store"  # where the array was written to


def test_what_scipy_makes_of_a_lost_derivative_becomes_ours():
    from scipy import integrate, optimize

    solver = r"dualad\.sensitivity\.root, minimize"
    refused(lambda x: optimize.brentq(lambda t: t - x[0], 0.0, 3.0), LostDerivativeError, solver)
    refused(lambda x: optimize.minimize(lambda t: (t[0] - x[0]) ** 2, [1.0]).fun,
            LostDerivativeError, solver)  # fmt: skip
    refused(lambda x: integrate.quad(lambda t: t * x[0], 0.0, 1.0)[0],
            LostDerivativeError, r"dualad\.sensitivity\.ode .* np\.trapezoid")  # fmt: skip


def of_numbers(x):
    return np.array([[x[0], 1.0], [0.5, x[1]]])


@pytest.mark.parametrize(
    "f",
    [
        np.linalg.det, np.linalg.inv, np.linalg.eigvals, np.linalg.eigvalsh, np.linalg.svd,
        np.fft.fft, np.exp, np.isfinite, lambda a: np.arctan2(a, 1.0),
        lambda a: np.interp(1.5, [0.0, 1.0], a[0]), lambda a: np.logaddexp(a, 0.0),
    ],
)  # fmt: skip
def test_what_takes_no_array_of_objects_names_the_array_to_make(f):
    refused(lambda x: f(of_numbers(x)), LostDerivativeError,
            match=r"make it with dualad\.numpy\.array, or np\.stack")  # fmt: skip


def test_that_array_is_taken_and_arithmetic_takes_the_other():
    made = lambda x: dualad.numpy.array([[x[0], 1.0], [0.5, x[1]]])
    right(lambda x: np.linalg.det(made(x)), 1.5 * T[0] + 0.5 * T[1])
    right(lambda x: (of_numbers(x) @ np.ones(2)).sum() + of_numbers(x)[0, 0] ** 2,
          2 * T[0] + T[1])  # fmt: skip


def test_an_attribute_that_a_float_lacks_is_the_user_s_own_error():
    for f in (lambda x: (1.0).shape, lambda x: (1.0).spam):
        refused(f, AttributeError, match="'float' object has no attribute")


def test_an_error_of_the_user_s_own_stays_what_it_is():
    def f(x):
        try:
            return math.sin(x[0])
        except TypeError as error:
            raise ValueError("my own words") from error

    refused(f, ValueError, match="^my own words$")


def test_packages_of_scipy_name_what_differentiates_instead():
    from scipy import fft, interpolate, spatial, stats

    for f, instead in (
        (fft.rfft, r"numpy\.fft differentiates"),
        (lambda x: interpolate.CubicSpline(np.arange(3.0), x)(0.5), r"np\.interp differentiates"),
        (lambda x: spatial.distance.pdist(x[:, None]), r"np\.linalg\.norm\(x\[:, None\] - y"),
        (lambda x: stats.weibull_min.logpdf(x, 2.0), r"with NumPy and scipy\.special"),
    ):
        refused(f, LostDerivativeError, match=instead)


def test_object_arrays_of_traced_numbers_are_right():
    right(lambda x: np.array([x[0] * x[1], x[2]]), [1.5 * T[0] + 0.5 * T[1], T[2]])
    right(lambda x: np.array([[x[0], 0.0], [1.0, x[1]]]) @ np.ones(2), T[:2])
    right(lambda x: np.asarray(x, dtype=object), T)
    right(lambda x: np.full(2, x[0]), [T[0], T[0]])
    right(lambda x: np.sum(np.array([x[0], 2.0, x[1]])), T[0] + T[1])
    right(lambda x: np.r_[x[0], 1.0], [T[0], 0.0])
    right(lambda x: np.poly1d(x)(2.0), T @ [4.0, 2.0, 1.0])
    right(lambda x: np.mgrid[0 : x[0] : 3j], [0, T[0] / 2, T[0]])


# --- arrays with operations of their own ---------------------------------------------------------


SUBCLASSES = {
    "matrix": lambda: np.matrix(MATRIX),
    "masked array": lambda: np.ma.masked_array(X, [0, 1, 0]),
    "records": lambda: np.rec.array([(1.0,)], dtype=[("a", float)]),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", SUBCLASSES)
def test_subclasses_of_ndarray_are_refused(name):
    other = SUBCLASSES[name]()
    for f in (
        lambda x: other * x,
        lambda x: x * other,
        lambda x: np.multiply(other, x),
        lambda x: np.dot(x, other),
        lambda x: np.stack([x, other]),
    ):
        refused(f, (NotDifferentiableError, LostDerivativeError))
    with pytest.raises(NotDifferentiableError, match=r"np\.asarray"):
        dualad.grad(np.sum)(other)


def test_a_masked_value_is_not_stored():
    refused(lambda x: x.copy().__setitem__(0, np.ma.masked), NotDifferentiableError)
    assert "np.where" in str(refused(np.ma.sin))
    assert "np.where" in str(refused(lambda x: np.ma.array(x, mask=[0, 1, 0])))


def test_a_memory_map_is_an_array(tmp_path):
    stored = np.memmap(tmp_path / "data", float, "w+", shape=3)
    stored[:] = X
    right(lambda x: stored * x + np.add(x, stored), (X + 1) * T)
    np.testing.assert_array_equal(dualad.grad(lambda v: np.sum(v * v))(stored), 2 * X)


pd = pytest.importorskip("pandas")
SERIES, FRAME = pd.Series(X), pd.DataFrame({"a": X, "b": X * X})


@pytest.mark.parametrize(
    "f",
    [
        lambda x: SERIES * x,
        lambda x: x * SERIES,
        lambda x: SERIES * x[0],
        lambda x: x[0] + SERIES,
        lambda x: np.multiply(SERIES, x),
        lambda x: np.multiply(x, SERIES),
        lambda x: np.dot(SERIES, x),
        lambda x: np.where(SERIES > 1, x, 0.0),
        lambda x: FRAME.T @ x,
        lambda x: x @ FRAME,
        lambda x: FRAME * x[0],
        lambda x: pd.Series(x),
        lambda x: FRAME.assign(c=x),
        lambda x: SERIES.copy().__setitem__(0, x[0]),
        lambda x: np.sin(pd.Series(x)),
    ],
)
def test_pandas_objects_take_no_traced_value(f):
    refused(f, (TypeError, ValueError))


def test_pandas_in_and_out_is_refused_with_the_remedy():
    for data in (SERIES, FRAME):
        with pytest.raises(NotDifferentiableError, match="to_numpy"):
            dualad.grad(np.sum)(data)
    assert "x.to_numpy()" in str(refused(lambda x: SERIES * x))


def test_pandas_beside_traced_values_is_right_where_it_gives_plain_arrays():
    right(lambda x: FRAME.to_numpy().T @ x, FRAME.to_numpy().T @ T)
    right(lambda x: x[SERIES > 1], T[X > 1])
    right(lambda x: (pd.Series([x[0], x[1]]) * 2).to_numpy(), 2 * T[:2])
    right(lambda x: SERIES.apply(lambda v: v * x[0]).sum(), X.sum() * T[0])
