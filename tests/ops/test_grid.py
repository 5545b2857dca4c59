"""Differences, quadrature and ranges on a grid."""

import numpy as np
import pytest
from every_mode import close, complex_, derivative, multilinear, positive, real, without_values

import dualad

KINDS = {"real": real, "complex": complex_}
kinds = pytest.mark.parametrize("kind", KINDS)
KNOTS = np.array([0.0, 0.5, 1.7, 2.0, 4.0])


LINEAR = {
    "diff": (lambda x: np.diff(x), (5,)),
    "second diff": (lambda x: np.diff(x, n=2, axis=0), (4, 3)),
    "no diff": (lambda x: np.diff(x, n=0), (4,)),
    "diff beyond the length": (lambda x: np.diff(x, n=5), (4,)),
    "diff with zeros at the ends": (lambda x: np.diff(x, prepend=0.0, append=0), (2, 4)),
    "ediff1d": (lambda x: np.ediff1d(x), (2, 3)),
    "ediff1d with zeros at the ends": (lambda x: np.ediff1d(x, to_end=[0, 0], to_begin=0), (4,)),
    "trapezoid": (lambda x: np.trapezoid(x), (5,)),
    "trapezoid with knots": (lambda x: np.trapezoid(x, KNOTS, axis=0), (5, 2)),
    "trapezoid with a step": (lambda x: np.trapezoid(x, dx=0.3), (2, 4)),
    "gradient": (lambda x: np.gradient(x), (6,)),
    "gradient of a matrix": (lambda x: np.gradient(x, edge_order=2)[1], (3, 5)),
    "gradient with a step": (lambda x: np.gradient(x, 0.5, edge_order=2), (6,)),
    "gradient with knots": (lambda x: np.gradient(x, KNOTS, axis=-1), (4, 5)),
    "gradient with knots of second order": (
        lambda x: np.gradient(x, KNOTS, axis=0, edge_order=2), (5, 2),
    ),
}  # fmt: skip


@kinds
@pytest.mark.parametrize("name", LINEAR)
def test_linear_in_the_values(kind, name):
    f, shape = LINEAR[name]
    multilinear(f, KINDS[kind](*shape))
    without_values(f, KINDS[kind](*shape))


def test_ends_that_are_differentiated():
    multilinear_in_both = lambda x, e: np.diff(x, prepend=e, append=2 * e)
    derivative(multilinear_in_both, real(2, 4), real())
    derivative(lambda x, e: np.diff(x, prepend=e, axis=0), real(2, 4), real(2, 4))
    derivative(lambda x, e: np.ediff1d(x, to_begin=e), real(4), real(2))


@kinds
def test_trapezoid_in_ordinates_and_abscissae(kind):
    y = KINDS[kind]
    derivative(lambda v, x: np.trapezoid(v, x), y(5), real(5))
    derivative(lambda v, x: np.trapezoid(v, x, axis=0), y(4, 3), real(4))
    derivative(lambda v, x: np.trapezoid(v, x, axis=1), y(2, 4, 3), real(2, 4, 3))
    derivative(lambda v, h: np.trapezoid(v, dx=h), y(2, 4), real())


def test_the_weights_of_the_abscissae():
    """I = sum (x[k+1] - x[k]) m[k] with the mean ordinates m."""
    x, y = np.array([0.0, 1.0, 1.5, 3.0]), np.array([1.0, 4.0, 2.0, 5.0])
    m = (y[1:] + y[:-1]) / 2
    g = dualad.grad(lambda v: np.trapezoid(y, v))(x)
    close(g, np.array([-m[0], m[0] - m[1], m[1] - m[2], m[2]]))


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_in_values_and_spacings(edge_order):
    options = {"edge_order": edge_order}
    derivative(lambda f, h: np.gradient(f, h, **options), real(4, 5), positive())
    derivative(lambda f, h, g: np.gradient(f, h, g, **options), real(4, 5), positive(), KNOTS)
    derivative(lambda f, h: np.gradient(f, h, axis=-1, **options), real(4, 5), KNOTS)
    derivative(lambda f: np.gradient(f, 2.0, 3.0, axis=(0, 2), **options), real(3, 2, 4))


def test_the_numerical_gradient_of_a_parabola_is_exact_at_second_order():
    """np.gradient(x**2) = 2 x with edge_order=2, so its derivative in a factor is 2 x."""
    y, moved = dualad.jvp(lambda a: np.gradient(a * KNOTS**2, KNOTS, edge_order=2), (1.0,), (1.0,))
    close((y, moved), (2 * KNOTS, 2 * KNOTS))


def test_grids_that_do_not_fit_are_refused_as_numpy_does():
    x = real(3)
    with pytest.raises(ValueError, match="too small"):
        dualad.jvp(lambda v: np.gradient(v, edge_order=2), (real(2),), (real(2),))
    with pytest.raises(ValueError, match="length"):
        dualad.jvp(lambda v: np.gradient(v, np.ones(4)), (x,), (x,))
    with pytest.raises(TypeError, match="number of arguments"):
        dualad.jvp(lambda v: np.gradient(v, 1.0, 2.0), (x,), (x,))
    with pytest.raises(ValueError, match="non-negative"):
        dualad.jvp(lambda v: np.diff(v, n=-1), (x,), (x,))
    with pytest.raises(ValueError, match="at least one"):
        dualad.jvp(lambda v: np.diff(v), (1.0,), (1.0,))


# --- ranges --------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 6])
def test_linspace_is_linear_in_both_ends(kind, endpoint, num):
    x = KINDS[kind]
    options = {"num": num, "endpoint": endpoint}
    multilinear_in_ends(lambda a, b: np.linspace(a, b, **options), x(), x())
    multilinear_in_ends(lambda a, b: np.linspace(a, b, axis=-1, **options), x(2, 3), x(3))


def multilinear_in_ends(f, a, b):
    """Linear in (a, b) together: the derivative is f of the tangents."""
    tangents, moved = derivative(f, a, b)
    close(moved, f(*tangents))


def test_linspace_with_its_step():
    derivative(lambda a, b: np.linspace(a, b, 5, retstep=True), real(2), real(2))
    derivative(lambda a, b: np.linspace(a, b, 5, endpoint=False, retstep=True), real(), real())


def test_the_last_point_of_linspace_is_the_end_itself():
    y, moved = dualad.jvp(lambda b: np.linspace(0.1, b, 7), (0.3,), (1.0,))
    assert y[-1] == 0.3 and moved[-1] == 1.0


def test_logspace_and_geomspace():
    derivative(lambda a, b: np.logspace(a, b, 5), 0.3 * real(), 0.3 * real())
    derivative(lambda a, b, c: np.logspace(a, b, 5, base=c), real(), real(), positive())
    derivative(lambda a, b: np.geomspace(a, b, 5), positive(), positive())
    derivative(
        lambda a, b: np.geomspace(a, b, 5, endpoint=False, axis=-1), positive(3), positive(3)
    )


def test_geomspace_of_powers_of_two():
    """1, 2, 4, 8: the k-th point of geomspace(1, b, 4) is b**(k/3)."""
    k = np.arange(4)
    y, moved = dualad.jvp(lambda b: np.geomspace(1.0, b, 4), (8.0,), (1.0,))
    close((y, moved), (2.0**k, k / 3 * 8.0 ** (k / 3 - 1)))


def test_float32_stays_float32():
    x = np.array([0.5, 0.7, 0.9], np.float32)
    for f in (np.diff, np.gradient, np.trapezoid, lambda v: np.linspace(v[0], v[1], 4)):
        y, moved = dualad.jvp(f, (x,), (x,))
        assert y.dtype == moved.dtype == f(x).dtype == np.float32


# --- phases --------------------------------------------------------------------------------------


def test_unwrapping_adds_periods_that_carry_no_derivative():
    p = np.array([0.0, 3.0, 6.5, 1.0, -2.0, 7.0, 30.0])
    t = np.arange(7.0)
    for f in (
        np.unwrap,
        lambda x: np.unwrap(x, discont=4.0),
        lambda x: np.unwrap(x, period=5.0),
        lambda x: np.unwrap(x.reshape(7, 1), axis=0).ravel(),
    ):
        close(dualad.jvp(f, (p,), (t,)), (f(p), t))
        close(dualad.grad(lambda x: np.sum(f(x) * t))(p), t)
    batch = np.stack([p, 2 * p])
    close(dualad.vmap(np.unwrap)(batch), np.unwrap(batch))


def test_the_period_of_unwrapping_counts_as_often_as_it_is_added():
    p, t = np.array([0.0, 4.0, 8.0, 1.0]), np.zeros(4)
    f = lambda x, d: np.unwrap(x, period=d)
    turns = (f(p, 3.0) - p) / 3.0
    value, tangent = dualad.jvp(f, (p, 3.0), (t, 1.0))
    close((value, tangent), (f(p, 3.0), np.rint(turns)))


@pytest.mark.parametrize("spacing", [(), (0.5,), (np.arange(6) * 0.5,)])
def test_gradient_of_even_steps_gives_the_middle_value_no_weight(spacing):
    x = np.array([1.0, np.nan, 3.0, 4.0, np.inf, 16.0])
    h = 0.5 if spacing else 1.0
    with np.errstate(invalid="ignore"):
        value, tangent = dualad.jvp(
            lambda x: np.gradient(x, *spacing), (x,), (np.arange(6.0) ** 2,)
        )
        np.testing.assert_array_equal(value, np.gradient(x, *spacing))
    np.testing.assert_allclose(tangent, np.array([1.0, 2.0, 4.0, 6.0, 8.0, 9.0]) / h, rtol=1e-15)
