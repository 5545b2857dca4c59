"""numpy.emath: complex where real functions end, and the right side of every branch cut."""

import numpy as np
import pytest
from every_mode import derivative

import dualad

NAMES = ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"]
ACROSS = np.array([-0.5, 0.4, 1.7, -2.0])


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_one_argument(name):
    f = getattr(np.emath, name)
    derivative(f, np.array([0.3, 0.8, 0.55]))
    derivative(f, ACROSS, batched=False)


def test_powers_and_logarithms_to_a_base():
    positive = np.array([0.3, 0.8, 1.7])
    derivative(np.emath.logn, positive + 1, positive)
    derivative(lambda x: np.emath.logn(-2.0, x), ACROSS, batched=False)
    derivative(np.emath.power, positive, ACROSS[:3])
    derivative(lambda x: np.emath.power(x, 0.5), ACROSS, batched=False)
    derivative(lambda x: np.emath.power(x, [2, -2, 3, 1]), ACROSS)


def test_real_where_it_can_be():
    for name in NAMES:
        value, tangent = dualad.jvp(getattr(np.emath, name), (0.5,), (1.0,))
        assert value.dtype == tangent.dtype == np.float64
    single = np.float32(-2.0)
    value, tangent = dualad.jvp(np.emath.sqrt, (single,), (single,))
    assert value.dtype == tangent.dtype == np.complex64
    both = dualad.vmap(np.emath.sqrt)(np.array([4.0, -4.0]))
    assert both.tolist() == [2.0, 2.0j]


def test_the_slope_of_a_negative_root():
    """d sqrt(x) = dx / (2 i sqrt(-x))."""
    np.testing.assert_allclose(dualad.jvp(np.emath.sqrt, (-4.0,), (1.0,))[1], -0.25j)


# --- branch cuts: a signed zero says which side a number on the cut belongs to -------------------

INVERSE = [
    (np.arcsin, np.cos), (np.arccos, lambda w: -np.sin(w)), (np.arcsinh, np.cosh),
    (np.arccosh, np.sinh), (np.arctan, lambda w: 1 / np.cos(w) ** 2),
    (np.arctanh, lambda w: 1 / np.cosh(w) ** 2), (np.sqrt, lambda w: 2 * w), (np.log, np.exp),
]  # fmt: skip
POINTS = [
    complex(a, b)
    for a, b in [(2.0, 0.0), (0.0, 2.0), (0.5, 0.0), (0.0, 0.5)]
    for a, b in [(a, b), (-a, b), (a, -b), (-a, -b)]
]


@pytest.mark.parametrize(("f", "slope"), INVERSE, ids=lambda f: getattr(f, "__name__", ""))
@pytest.mark.parametrize("z", POINTS, ids=str)
def test_on_a_branch_cut_the_slope_is_that_of_the_side_of_the_value(f, slope, z):
    """The slope of an inverse function is one over that of the function at its value."""
    z = np.complex128(z)
    for got in (dualad.jvp(f, (z,), (1.0 + 0j,))[1], np.conj(dualad.vjp(f, z)[1](1.0 + 0j)[0])):
        np.testing.assert_allclose(got, 1 / slope(f(z)), rtol=1e-13, atol=1e-15)
