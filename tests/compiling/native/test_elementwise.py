"""Elementwise functions have NumPy's meaning: special values, dtypes, signs of zeros."""

import numpy as np
import pytest
from native_programs import is_whole, native

from dualad.compiling.native.elementwise import SAME
from dualad.compiling.native.integers import TABLE as INTEGERS
from dualad.compiling.native.reals import TABLE as REALS
from dualad.engine.primitives.primitive import PRIMITIVES

TINY, HUGE = np.finfo(float).tiny, np.finfo(float).max
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 7.25, -7.5, np.inf, -np.inf, np.nan, TINY, -TINY,
     TINY / 8, -5e-324, HUGE, -HUGE, 1e-9, 709.5, -745.0, 1e300, -1e-300]
)  # fmt: skip
NAMES = sorted(
    name
    for name in {*REALS, *SAME}
    if name in PRIMITIVES and name not in ("float_power", "zero_wins", "either_zero_wins")
)
#: What is computed in one rounding, or none: equal to the last bit.
EXACT = {
    "add", "subtract", "multiply", "divide", "negative", "absolute", "fabs", "square",
    "reciprocal", "sqrt", "floor", "ceil", "trunc", "fix", "rint", "copysign", "sign", "maximum",
    "minimum", "fmax", "fmin", "heaviside", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "isnan", "isinf", "isfinite", "signbit", "remainder", "fmod", "floor_divide",
    "clip", "nextafter",
}  # fmt: skip
#: NumPy leaves open which of two zeros these give.
EITHER_ZERO = {"maximum", "minimum", "fmax", "fmin", "clip"}


def arguments(name, dtype=float):
    """All pairs of special values, or all of them."""
    n = {"clip": 3}.get(name, getattr(PRIMITIVES[name].impl, "nin", 1))
    points = SPECIAL.astype(dtype)
    if n == 1:
        return (points,)
    grid = np.meshgrid(*[points] * 2)
    return tuple(g.ravel() for g in (*grid, *[grid[0] + 1.0] * (n - 2)))


def same_entries(name, got, want, ulp):
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(got, want)
        return
    if name in EXACT:
        np.testing.assert_array_equal(got, want)
    else:
        with np.errstate(all="ignore"):
            close = np.abs(got - want) <= ulp * np.spacing(np.abs(want))
        assert np.all(close | (got == want) | (np.isnan(got) & np.isnan(want)))
    if name not in EITHER_ZERO:
        zeros = want == 0
        np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]))


@np.errstate(all="ignore")
def quiet(run, *values):
    """What native code gives, and not NumPy, which runs the program where a flag is heeded."""
    return run(*values)


def run_both(name, args):
    f = PRIMITIVES[name]
    with np.errstate(all="ignore"):
        run, values = native(lambda *a: (f(*a), a[0] + a[0]), *args)
        want = np.asarray(f(*args))
    assert run is not None
    assert is_whole(run)
    return np.asarray(quiet(run, *values)[0]), want


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", NAMES)
def test_special_values_in_loops(name, dtype):
    with np.errstate(all="ignore"):
        args = arguments(name, dtype)
    got, want = run_both(name, args)
    same_entries(name, got, want, 4)


@pytest.mark.parametrize("name", NAMES)
def test_special_values_in_registers(name):
    args = arguments(name)
    step = max(1, args[0].size // 24)
    args = tuple(np.ascontiguousarray(a[::step][:24]) for a in args)
    got, want = run_both(name, args)
    same_entries(name, got, want, 4)


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "tanh", "arctan", "expm1", "cbrt"])
def test_long_loops_are_as_exact_as_short_ones(name):
    x = np.random.default_rng(3).normal(size=5000) * 30
    x = np.abs(x) if name == "log" else x
    got, want = run_both(name, (x,))
    same_entries(name, got, want, 3)


WHOLE = [
    np.array([0, 1, -1, 5, -7, 127, -128], np.int8),
    np.array([0, 1, -1, 5, -7, 2**31 - 1, -(2**31)], np.int32),
    np.array([0, 1, -1, 5, -7, 2**63 - 1, -(2**63)], np.int64),
    np.array([0, 1, 5, 7, 200, 255, 3], np.uint8),
    np.array([0, 1, 5, 7, 2**63, 2**64 - 1, 3], np.uint64),
    np.array([True, False, True, True, False, False, True]),
]


@pytest.mark.parametrize("x", WHOLE, ids=lambda x: x.dtype.name)
@pytest.mark.parametrize("name", sorted(n for n in INTEGERS if n in PRIMITIVES))
def test_integers_and_truth_values_wrap_as_numpys_do(name, x):
    f = PRIMITIVES[name]
    n = getattr(f.impl, "nin", 1)
    args = (x, x[::-1].copy())[:n]
    try:
        with np.errstate(all="ignore"):
            want = np.asarray(f(*args))
            run, values = native(lambda *a: (f(*a), a[0] == a[0]), *args)
    except TypeError:
        pytest.skip("NumPy has no such function of this dtype")
    if want.dtype == np.float16:
        return
    assert run is not None
    got = np.asarray(run(*values)[0])
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, 8, 9, 0.5, -1, -2, 2.5, -0.5, 1 / 3])
@pytest.mark.parametrize("size", [5, 500])
def test_powers_by_numbers(exponent, size):
    x = np.resize(SPECIAL, size)
    with np.errstate(all="ignore"):
        want = x**exponent
        run, values = native(lambda x: (x**exponent, x + x), x)
    got = quiet(run, *values)[0]
    with np.errstate(all="ignore"):
        close = np.abs(got - want) <= 8 * np.spacing(np.abs(want))
    assert np.all(close | (got == want) | (np.isnan(got) & np.isnan(want)))
    zeros = want == 0
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]))


@pytest.mark.parametrize("size", [6, 100])
def test_mixed_dtypes_are_promoted_as_by_numpy(size):
    x, k = np.linspace(-2, 2, size), np.arange(size)
    single = x.astype(np.float32)

    def f(x, k, s):
        return x + k, k * 2, s * 2.0, s + x, k / 2, k < x, s > 1, np.where(k > 2, s, k), k + True

    run, values = native(f, x, k, single)
    assert is_whole(run)
    for got, want in zip(run(*values), f(x, k, single), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_complex_numbers_stay_numpys():
    z = np.linspace(0, 1, 50) + 1j
    run, _ = native(lambda z: np.real(z * z + 1) * 2.0, z)
    assert run is None or not is_whole(run)


@pytest.mark.parametrize("name", ["zero_wins", "either_zero_wins"])
def test_a_zero_that_wins(name):
    a, b = (g.ravel() for g in np.meshgrid(SPECIAL, SPECIAL))
    got, want = run_both(name, (a, b))
    np.testing.assert_array_equal(got, want)
