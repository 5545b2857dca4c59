"""Differences with bounds: the true derivative, from mpmath, lies within them."""

import mpmath as mp
import numpy as np
import pytest

from dualad.verify.checking.differences import slope
from dualad.verify.checking.samples import sample, steps

mp.mp.dps = 40
TENTH = mp.mpf(1) / 10

#: name -> (function, the same in mpmath, points, how sharp the bound has to be)
CASES = {
    "sine": (np.sin, mp.sin, [0.0, 1.0, 1e-8, 1e3, 1e10], 1e-5),
    "steep": (lambda x: np.exp(50 * x), lambda x: mp.exp(50 * x), [-1.0, 0.0, 1.0], 1e-10),
    "oscillating": (lambda x: np.sin(1e6 * x), lambda x: mp.sin(10**6 * x), [0.0, 0.3, 1.0], 1e-5),
    "a narrow step": (
        lambda x: np.tanh(1e4 * x),
        lambda x: mp.tanh(10**4 * x),
        [0.0, 1e-5],
        1e-10,
    ),
    "an offset": (lambda x: 1e8 + np.sin(x), lambda x: mp.sin(x), [0.3, 1.0], 1e-4),
    "logarithm": (np.log, mp.log, [1e-30, 1e-9, 1.0, 1e30], 1e-8),
    "root": (np.sqrt, mp.sqrt, [1e-30, 1e-9, 1.0], 1e-9),
    "pole": (lambda x: 1 / x, lambda x: 1 / x, [-1e-30, 1e-9, 1.0, 1e5], 1e-9),
    "edge": (np.arcsin, mp.asin, [0.0, 0.5, -0.99, 0.999999], 1e-7),
    "bell": (lambda x: np.exp(-x * x), lambda x: mp.exp(-x * x), [3.0, 6.0, 10.0, 26.0], 1e-9),
    "high power": (lambda x: (x - 1) ** 7, lambda x: (x - 1) ** 7, [1.001, 1.1, 3.0], 1e-9),
    "huge": (lambda x: 1e200 * x**3, lambda x: x**3 * mp.mpf(10) ** 200, [1e-3, 2e10], 1e-9),
    "tiny": (lambda x: 1e-200 * x**3, lambda x: x**3 / mp.mpf(10) ** 200, [1e-3, 2e10], 1e-9),
    "chirp": (lambda x: np.sin(x * x), lambda x: mp.sin(x * x), [1.0, 30.0, 1000.0], 1e-5),
}


def found(f, x, scale=1.0):
    with np.errstate(all="ignore"):
        mid = np.atleast_1d(f(np.float64(x)))
        return slope(sample(lambda t: np.atleast_1d(f(x + t)), steps(x, scale), mid))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_truth_lies_within_the_bound_and_the_bound_is_sharp(case):
    f, exact, points, sharp = case
    random = np.random.default_rng(0)
    for point in points:
        for x in [point, *(point * (1 + 1e-3 * random.standard_normal(4)))]:
            if f is np.arcsin and abs(x) >= 1:
                continue
            true = float(mp.diff(exact, mp.mpf(float(x))).real)
            s = found(f, float(x))
            rounding = 64 * np.finfo(float).eps * abs(true)
            assert abs(s.value[0] - true) <= s.bound[0] + rounding, x
            assert s.bound[0] <= sharp * abs(true), x
            assert not s.kink[0]


def test_straight_from_afar_and_steep_near_by():
    width = 1e-6
    f = lambda x: x + np.exp(-(((x - 1) / width) ** 2))
    x = 1 + width
    true = 1 - 2 * np.exp(-1.0) / width
    s = found(f, x)
    assert abs(s.value[0] - true) <= s.bound[0] + 1e-6 * abs(true) and s.bound[0] < 1e-6 * abs(
        true
    )


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("side", [1, -1])
def test_a_kink_not_far_away_is_not_mixed_in(distance, side):
    s = found(lambda x: 3 + np.maximum(x - 1, 0), 1 + side * distance)
    assert abs(s.value[0] - (side > 0)) <= s.bound[0] < 1e-4
    assert not s.kink[0]


def test_a_jump_not_far_away_is_not_mixed_in():
    s = found(lambda x: np.where(x > 1, 5 + x**2, x), 1.0001)
    assert abs(s.value[0] - 2.0002) <= s.bound[0] < 1e-6


def test_kinks_have_two_slopes():
    for f, left, right in [(np.abs, -1, 1), (lambda x: np.maximum(x, 0), 0, 1)]:
        s = found(f, 0.0)
        assert s.kink[0]
        np.testing.assert_allclose([s.left[0], s.right[0]], [left, right], atol=1e-9)
    smooth = found(lambda x: x * np.abs(x), 0.0)
    assert not smooth.kink[0] and abs(smooth.value[0]) < 1e-9


def test_an_edge_of_the_domain_has_one_side():
    s = found(lambda x: x * np.sqrt(x) + x, 0.0)
    assert s.one_sided[0] and abs(s.value[0] - 1) <= s.bound[0] < 1e-3
    assert found(np.sqrt, 0.0).value[0] == np.inf
    assert np.isnan(found(np.log, -1.0).value[0])


def test_a_jump_at_the_point_has_no_sharp_slope():
    s = found(lambda x: 1.0 * (x > 0), 0.0)
    assert not s.bound[0] < 0.1 * abs(s.value[0])


@pytest.mark.parametrize("x", [1e-5, 1e-7, 3e-8])
def test_teeth_of_rounding_are_not_taken_for_the_function(x):
    """(1 - cos x) / x**2: the code has the slope -2 f / x near by, the formula -x / 12."""
    s = found(lambda x: (1 - np.cos(x)) / x**2, x)
    assert s.bound[0] > 1 or abs(s.value[0] + x / 12) <= s.bound[0]


def test_single_precision_inside():
    s = found(lambda x: np.float64(np.sin(np.float32(x))), 0.5)
    assert abs(s.value[0] - np.cos(0.5)) <= s.bound[0] < 1e-3


def test_functions_that_raise_outside_of_their_domain():
    import math

    s = found(lambda x: math.log(x), 1e-3)
    assert abs(s.value[0] - 1e3) <= s.bound[0] < 1e-5


def test_several_outputs_have_bounds_of_their_own():
    f = lambda x: np.array([x**2, 1e8 + np.sin(x), 0.0, 3.0])
    s = slope(sample(lambda t: f(0.7 + t), steps(0.7), f(0.7)))
    np.testing.assert_array_less(np.abs(s.value - [1.4, np.cos(0.7), 0, 0]), s.bound + 1e-14)
    assert s.bound[0] < 1e-11 and 1e-8 < s.bound[1] < 1e-3 and s.bound[2] == 0


def test_compositions_drawn_at_random():
    """Of 120 steep, scaled, shifted compositions none is outside of its bound."""
    random = np.random.default_rng(5)
    inner = [(np.sin, mp.sin), (np.exp, mp.exp), (np.tanh, mp.tanh), (np.arctan, mp.atan)]
    for _ in range(120):
        (f, f_exact), (g, g_exact) = (inner[k] for k in random.integers(4, size=2))
        a, c = 10 ** random.uniform(-2, 3), 10.0 ** random.integers(-5, 6)
        off, x = random.choice([0.0, 1e4]), float(random.uniform(-0.4, 0.4))
        a = min(a, 40.0) if g is np.exp else a
        with np.errstate(all="ignore"):
            s = found(lambda x: off + c * f(1 + np.sin(g(a * x))), x)
        true = mp.diff(lambda t: c * f_exact(1 + mp.sin(g_exact(mp.mpf(a) * t))), mp.mpf(x))
        # The argument of the sine is rounded: what that changes is no error of the differences.
        with np.errstate(all="ignore"):
            size = 1 + abs(float(g_exact(a * x)))
        slack = 1e3 * np.finfo(float).eps * (abs(float(true)) + c * a * size)
        assert abs(s.value[0] - float(true)) <= s.bound[0] + slack, (f, g, a, c, off, x)
