"""Large elementwise operations that are put off: nothing differs but when they are computed."""

import copy
import gc
import pickle
import threading
import tracemalloc
import warnings

import numpy as np
import pytest

import dualad
from dualad.engine.kinds.dual import Dual
from dualad.engine.levels.level import Level
from dualad.engine.put_off import alarms, joint
from dualad.engine.put_off.postponed import LATE, LONGEST, Postponed
from dualad.errors import LeakError, LostDerivativeError, NaNError

N = LATE + 1234
X = np.linspace(0.2, 0.8, N)
T = np.cos(37 * X)

pytestmark = pytest.mark.usefixtures("warnings_are_no_exceptions")


def at_once(f, *primals):
    """The same jvp where nothing is put off, of the tangents T."""
    level = Level("jvp")
    with level:
        y = f(*[dualad.engine.kinds.dual.make_dual(level, x.copy(), T) for x in primals])
        assert type(y) is Dual
        return y.primal, y.tangent


def assert_equal(f, *primals):
    for got, want in zip(
        dualad.jvp(f, primals, (T,) * len(primals)), at_once(f, *primals), strict=True
    ):
        assert type(got) is type(want)
        np.testing.assert_array_equal(got, want)


# --- the same to the last bit ----------------------------------------------------------------

FUNCTIONS = {
    "arithmetic": lambda x: (2.0 * x - x / 3.0 + 1.0 / x) * x - x * x / (x + 0.5),
    "transcendental": lambda x: np.exp(np.sin(x)) * np.tanh(x) - np.log(x) + np.sqrt(x),
    "powers": lambda x: x**2 + x**3 + x**0.5 + x**-1 + 2.0**x,
    "an argument above": lambda x: x / (1.0 + x * x),
    "an argument to a power": lambda x: np.hypot(x, 1.0 + x * x) + x ** (0.5 + x * x),
    "kinks": lambda x: np.maximum(x, 0.5) + np.abs(x - 0.5) + np.hypot(x, 1.0),
    "two": lambda x: np.arctan2(x, 1 - x) + np.logaddexp(x, 2 * x),
    "negative": lambda x: -x - np.cos(x),
    "shared tangents": lambda x: ((x * 1.0 + 1.0) + 2.0) * ((x + 3) - 1),
    "an array": lambda x: (x * X + 1.0) / X - X,
    "a number that moves": lambda x: (
        (x - x[3]) * x[5] / np.exp(x[7]) + x[9] / x + np.sin(x) * x[1]
    ),
    "a sum": lambda x: np.sum(np.exp(x * 2.0) * x),
    "means": lambda x: np.mean((x - np.mean(x)) ** 2) + (x * x + 1.0).sum(),
    "what is used twice": lambda x: [e := np.exp(x - 1.0), e / np.sum(e) + e * np.max(e)][1],
    "a slope of zero": lambda x: (
        np.copysign(x, 0.5 - x) * np.copysign(2.0, x - 0.5) + np.floor(x * 9.0) * x
    ),
    "a slice": lambda x: (x[1:] - x[:-1]) * x[1:],
    "rows": lambda x: (lambda m: np.exp(m * 2.0) * m + 1.0)(x[: N // 2 * 2].reshape(2, -1)),
    "in place": lambda x: [y := x * 3.0, y.__imul__(x), y.__iadd__(1.0), np.exp(y) * x][3],
    "written to": lambda x: [y := x * 3.0 + 1.0, z := y * y, y.__setitem__(5, 7.0), z * y][3],
    "a view": lambda x: [y := x * 3.0 + 1.0, v := y[::2], y.__setitem__(4, x[0]), v * 2 + v][3],
    "a choice": lambda x: np.where(x * 2.0 > 1.0, np.exp(x) * x, x * x * x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_to_the_last_bit(name):
    assert_equal(FUNCTIONS[name], X)


def test_two_inputs_and_the_closed_form():
    f = lambda x, y: np.exp(x * y) + x / y
    assert_equal(f, X, X[::-1].copy())
    y = X + 1
    _, dz = dualad.jvp(f, (X, y), (T, 2 * T))
    want = np.exp(X * y) * (T * y + 2 * X * T) + T / y - 2 * X * T / y**2
    np.testing.assert_allclose(dz, want, rtol=1e-13)


@pytest.mark.parametrize("n", [LATE, LATE + 1, 1 << 18, 300_007])
def test_the_sum_of_parts_is_that_of_the_whole(n):
    """Parts of the length of a block, shorter ones, and a remainder."""
    x = np.random.default_rng(n).normal(size=n)
    f = lambda x: (x * 1e3 + 1.0) * x
    y, dy = dualad.jvp(lambda x: np.sum(f(x)), (x,), (x,))
    assert y == np.sum(f(x))
    whole = dualad.jvp(lambda x: np.sum(f(x)[::-1][::-1]), (x,), (x,))
    assert (y, dy) == whole


def test_a_sum_that_is_not_finite_is_numpys():
    x = np.full(N, 1e308)
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        y, dy = dualad.jvp(lambda x: np.sum((x + 1.0) + x[0] * 0.0), (x,), (np.ones(N),))
    assert y == np.inf and dy == N
    assert {str(w.message) for w in log} == {"overflow encountered in reduce"}


def test_dtypes_shapes_and_orders_that_are_not_put_off():
    f = lambda x: np.exp(x * 2.0) * x
    grid = X[: N // 2 * 2].reshape(2, -1)
    for x in (X.astype(np.float32), X + 0j, X[::-1], grid.T, X[:9]):
        y, dy = dualad.jvp(f, (x,), (np.ones_like(x),))
        assert y.dtype == dy.dtype == x.dtype and y.shape == dy.shape == x.shape
        np.testing.assert_allclose(dy, np.exp(2 * x) * (1 + 2 * x), rtol=1e-5)
    row = np.arange(1.0, 3.0)[:, None]
    _, dy = dualad.jvp(lambda x: np.exp(x * 1.0) * row + x, (grid,), (grid,))
    np.testing.assert_allclose(dy, grid * (np.exp(grid) * row + 1), rtol=1e-14)
    _, dy = dualad.jvp(lambda x: (x * 2.0) * 1j, (X,), (T,))
    np.testing.assert_array_equal(dy, 2j * T)


@pytest.mark.parametrize("second", [lambda x: 0.5 * x, lambda x: 0.5])
@pytest.mark.parametrize(
    "ufunc",
    [np.maximum, np.minimum, np.fmax, np.fmin, np.hypot, np.arctan2, np.logaddexp, np.power,
     np.remainder, np.logaddexp2, np.copysign],
)  # fmt: skip
def test_ties_zeros_and_what_is_not_finite(ufunc, second):
    x = X.copy()
    x[:12] = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e300, 5e-324, -1e-300]
    with np.errstate(all="ignore"):
        assert_equal(lambda x: ufunc(x * 1.0, second(x)) - x, x)
        assert_equal(lambda x: ufunc(second(x), x * 1.0) - x, x)


# --- what is computed, and when --------------------------------------------------------------


def test_one_pass_for_many_operations(passes):
    dualad.jvp(lambda x: np.sum(np.exp(x * 2.0) * x + x / 3.0), (X,), (T,))
    assert passes == [4]


def test_an_argument_above_what_is_put_off_is_put_off_with_it(passes):
    dualad.jvp(lambda x: x / (1.0 + x * x), (X,), (T,))
    assert passes == [2]


@pytest.mark.parametrize("power", [2, 2.0])
def test_a_square_is_put_off(power, passes):
    f = lambda x: np.sum((x * 2.0 - 1.0) ** power)
    assert_equal(f, X)
    assert passes == [2]


def test_slopes_that_are_more_than_ufuncs_are_put_off(passes):
    """At a tie the slope is the mean of both sides."""
    x = X.copy()
    x[9] = 0.5
    _, dy = dualad.jvp(lambda x: np.maximum(x * 2.0, 1.0) + (x * 2.0) ** 3, (x,), (T,))
    np.testing.assert_allclose(dy, T * (np.sign(x - 0.5) + 1 + 24 * x * x), rtol=1e-14)
    assert passes == [4]


def test_the_first_operation_of_a_long_function_waits_when_it_is_called_again(passes):
    def f(x):
        for _ in range(9):
            x = np.sin(x)
        return x

    first, again = dualad.jvp(f, (X,), (T,)), dualad.jvp(f, (X,), (T,))
    np.testing.assert_array_equal(first, again)
    assert passes == [8, 9]


def test_arguments_that_a_long_function_writes_to():
    """By another name, right after the first operation."""
    x, t = X.copy(), T.copy()

    def f(v):
        y = v * 2.0
        x[:] = t[:] = np.nan
        for _ in range(9):
            y = np.sin(y)
        return y

    y, slope = 2 * X, 2.0
    for _ in range(9):
        y, slope = np.sin(y), slope * np.cos(y)
    for _ in range(2):
        x[:], t[:] = X, T
        value, got = dualad.jvp(f, (x,), (t,))
        np.testing.assert_allclose(value, y, rtol=1e-14)
        np.testing.assert_allclose(got, slope * T, rtol=1e-12)


def test_a_single_operation_is_carried_out_at_once(passes):
    dualad.jvp(np.sin, (X,), (T,))
    assert passes == []


def test_what_is_summed_and_in_use_is_kept(passes):
    def f(x):
        e = np.exp(x * 2.0 - 1.0)
        return e / np.sum(e)

    y, dy = dualad.jvp(f, (X,), (T,))
    np.testing.assert_allclose(dy, 2 * y * (T - np.sum(y * T)), rtol=1e-9, atol=1e-15)
    assert passes == [2, 1]
    del passes[:]
    dualad.jvp(lambda x: np.sum(np.exp(x * 2.0 - 1.0)) * np.mean(x * x), (X,), (T,))
    assert passes == [2, 1]


def test_what_is_in_use_is_computed_twice_at_most(passes):
    def f(x):
        kept = [x * 2.0 + 1.0]
        for _ in range(3):
            kept.append(np.sin(kept[-1]))
        for y in kept:
            assert type(y + 0.0).__name__ == "Postponed"
        assert [bool(np.max(y) > 9) for y in reversed(kept)] == [False] * 4
        return np.max(kept[1])

    dualad.jvp(f, (X,), (T,))
    assert sum(passes) <= 2 * 8


def test_a_long_program_is_computed_on_the_way(passes):
    def f(x):
        for _ in range(3 * LONGEST):
            x = x * 0.999
        return x

    assert_equal(f, X)
    assert max(passes) <= LONGEST + 1 and sum(passes) < 4 * LONGEST


def test_many_arrays_are_not_kept_waiting(passes):
    def f(x):
        total = x * 0.0
        for k in range(40):
            total = total + x * (X + k)
        return total

    assert_equal(f, X)
    assert max(passes) < 40


def test_memory_of_a_program_is_that_of_its_operands():
    big = np.linspace(0.1, 1.0, 1 << 18)

    def f(x):
        y = x * 2.0
        for _ in range(10):
            y = np.sin(y) * x + y
        return np.sum(y)

    dualad.jvp(f, (big,), (big,))
    dualad.engine.arrays.memory.POOL.shrink()
    tracemalloc.start()
    dualad.jvp(f, (big,), (big,))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6.5 * big.nbytes  # two copies, the first result, and what f holds at the end


# --- the user's arrays -----------------------------------------------------------------------


def test_a_constant_that_is_written_to_after_the_operation():
    work = np.full(N, 3.0)

    def f(x):
        y = x * 2.0 * work
        work[:] = 5.0
        z = np.sin(x * 1.0) * work
        work[:] = np.nan
        return y + z

    _, dy = dualad.jvp(f, (X,), (T,))
    np.testing.assert_allclose(dy, T * (6 + 5 * np.cos(X)), rtol=1e-14)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("cut", [slice(None), slice(2, None), slice(None, None, 2), slice(0, 9)])
def test_an_argument_that_is_written_to_after_the_operation(which, cut):
    """By another name than that of the traced array."""
    x, t = X.copy(), T.copy()

    def f(v):
        y = np.exp(v * 1.0) * v
        (x, t)[which][cut] = 0.0
        return y

    y, dy = dualad.jvp(f, (x,), (t,))
    np.testing.assert_allclose(y, np.exp(X) * X, rtol=1e-14)
    np.testing.assert_allclose(dy, T * np.exp(X) * (1 + X), rtol=1e-13)


def test_views_of_an_argument_that_is_written_to():
    x = X.copy()

    def f(v):
        y = (v[1:] * 1.0 - v[:-1]) * v[:-1]
        y = y + (v[:-9] * v[9:] * 2.0).sum()
        x[:] = 0.0
        return y

    _, dy = dualad.jvp(f, (x,), (T,))
    rest = np.sum(T[:-9] * X[9:] + X[:-9] * T[9:])
    want = (T[1:] - T[:-1]) * X[:-1] + (X[1:] - X[:-1]) * T[:-1] + 2 * rest
    np.testing.assert_allclose(dy, want, rtol=1e-9, atol=1e-9)


def test_results_belong_to_the_caller():
    x, t = X.copy(), T.copy()
    y, dy = dualad.jvp(lambda x: (x * 1.0 + 1.0) + 1.0, (x,), (t,))
    assert y.flags.writeable and dy.flags.writeable
    y[:] = dy[:] = 0.0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(t, T)
    assert not np.may_share_memory(dy, t)


def test_a_stopped_value_that_is_written_to():
    def f(x):
        y = np.sin(x * 1.0)
        z = y * y
        weights = dualad.stop_gradient(y)
        u = y * 2.0
        weights[:] = 9.0
        return z + u

    _, dy = dualad.jvp(f, (X,), (T,))
    np.testing.assert_allclose(dy, T * np.cos(X) * (2 * np.sin(X) + 2), rtol=1e-13)


def test_a_custom_function_that_uses_one_buffer_again():
    out, d_out = np.empty(N), np.empty(N)

    @dualad.custom_jvp
    def double(x):
        return np.multiply(x, 2.0, out=out)

    @double.defjvp
    def double_jvp(primals, tangents):
        return double(*primals), np.multiply(tangents[0], 2.0, out=d_out)

    def f(x):
        y = np.sin(x * 1.0)
        a = double(y) * 3.0
        b = double(x * 5.0) * 7.0
        return a + b

    _, dy = dualad.jvp(f, (X,), (T,))
    np.testing.assert_allclose(dy, T * (6 * np.cos(X) + 70), rtol=1e-13)


def test_a_tensor_that_is_written_to():
    def f(x):
        y = np.sin(x * 1.0) + x
        z = y * y
        dualad.as_tensor(y).mul_(0.0)
        assert type(y * 2.0) is Dual
        return z

    _, dy = dualad.jvp(f, (X,), (T,))
    np.testing.assert_allclose(dy, 2 * T * (np.sin(X) + X) * (np.cos(X) + 1), rtol=1e-13)


# --- warnings and errors of NumPy ------------------------------------------------------------


def messages(f, x=X):
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        dualad.jvp(f, (x,), (T,))
    return {str(w.message) for w in log}


def test_warnings_are_given():
    bad = X.copy()
    bad[7] = -1.0
    assert messages(lambda x: np.log(x * 1.0) * 2.0, bad) == {"invalid value encountered in log"}
    assert messages(lambda x: np.log(x * 1.0) * 2.0) == set()


def test_nobody_looks_at_what_warns():
    def f(x):
        np.log(x * 1.0 - 9.0)
        return x * 3.0

    assert messages(f) == {"invalid value encountered in log"}


def test_what_is_computed_again_does_not_warn_again():
    count = []

    def f(x):
        y = np.log(x * 1.0 - 9.0) + 1.0
        z = np.sin(x) + 1.0
        np.max(z)
        count.append(len(log))
        return np.where(x > 5.0, y * 2.0, z)

    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        dualad.jvp(f, (X,), (T,))
    assert 0 < count[0] == len(log)


def test_the_error_state_is_that_of_the_operation():
    def f(x):
        with np.errstate(invalid="ignore"):
            y = np.log(x * 1.0 - 9.0) + 1.0
        return y * 1.0

    assert messages(f) == set()

    def g(x):
        y = np.log(x * 1.0 - 9.0) + 1.0
        with np.errstate(invalid="ignore"):
            return np.exp(y)[:3]

    assert messages(g) == {"invalid value encountered in log"}


def test_errors_come_at_the_operation():
    def f(x):
        x = x * 1.0
        with pytest.raises(FloatingPointError, match="log"), np.errstate(invalid="raise"):
            np.log(x - 9.0)
        with pytest.raises(RuntimeWarning, match="log"), warnings.catch_warnings():
            warnings.simplefilter("error")
            np.log(x - 9.0)
        return x

    assert messages(f) == set()


def test_filters_are_those_of_the_operation():
    """A warning that is put off is neither hushed nor logged by what surrounds the computation."""

    def f(x):
        x = x * 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = np.log(x - 9.0)
        z = np.sqrt(x - 9.0) * 2.0
        with warnings.catch_warnings(record=True) as inner:
            warnings.simplefilter("always")
            np.max(z)
        assert inner == []
        return y * 1.0

    assert messages(f) == {"invalid value encountered in sqrt"}


def test_filters_that_make_exceptions():
    error, other = ("error", None, Warning, None, 0), ("default", None, RuntimeWarning, None, 0)
    of_one_line = ("ignore", None, RuntimeWarning, None, 7)
    assert alarms.raises([error, other]) and alarms.raises([of_one_line, error])
    assert not alarms.raises([other, error]) and not alarms.raises([])
    assert not alarms.raises([("error", None, DeprecationWarning, None, 0)])


# --- zero meets infinity ---------------------------------------------------------------------


def test_zero_meets_infinity_in_one_entry():
    x, t = X.copy(), T.copy()
    x[5] = t[5] = 0.0
    x[9] = 0.0
    _, dy = dualad.jvp(lambda x: np.sqrt(x * 1.0) * 2.0, (x,), (t,))
    assert dy[5] == 0.0 and dy[9] == np.inf * np.sign(t[9])
    at = [5, 9]
    np.testing.assert_allclose(np.delete(dy, at), np.delete(t / np.sqrt(np.where(x, x, 1)), at))
    total = dualad.jvp(lambda x: np.sum(np.sqrt(x[:-1] * 1.0)), (x,), (np.where(x, t, 0),))
    np.testing.assert_allclose(
        total[1], np.sum(np.delete(t / 2, at)[:-1] / np.sqrt(np.delete(x, at)[:-1]))
    )


# --- looking at what is put off --------------------------------------------------------------

LOOKS = {
    "repr": lambda y: repr(y)[:5] == "Dual(",
    "str": lambda y: len(str(y)) > 5,
    "format": lambda y: len(f"{y}") > 5,
    "comparison": lambda y: bool((y > 0).all()),
    "equality": lambda y: bool((y == y).all()),
    "index": lambda y: 0 < y[0] < 2,
    "length of rows": lambda y: len(list(y[:3])) == 3,
    "membership": lambda y: y[0] in y,
    "tolist": lambda y: len(y[:2].tolist()) == 2,
    "transposed": lambda y: y.T.shape == y.shape,
    "maximum": lambda y: y.max() < 5,
    "matrix product": lambda y: (y @ np.ones(N)) > 0 and (np.ones(N) @ y) > 0,
    "copy": lambda y: copy.copy(y).shape == y.shape and copy.deepcopy(y).shape == y.shape,
    "whole division": lambda y: bool(((y // 1.0) <= y).all()),
    "a list": lambda y: np.stack([y, y * 1.0]).shape == (2, N),
    "out": lambda y: np.sin(y, out=np.zeros_like(y)).shape == y.shape,
    "where": lambda y: np.add(y, 1.0, where=np.ones(N, bool), out=y * 1.0).shape == y.shape,
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKS)
def test_whoever_looks_sees_a_dual(name):
    def f(x):
        y = np.sin(x * 1.0) + x
        assert type(y) is Postponed
        assert (y.shape, y.ndim, y.dtype, y.size, len(y)) == ((N,), 1, np.float64, N, N)
        assert LOOKS[name](y)
        assert type(y) is Dual
        return y * 2.0

    _, dy = dualad.jvp(f, (X,), (T,))
    np.testing.assert_allclose(dy, 2 * T * (np.cos(X) + 1), rtol=1e-14)


def test_no_pickle_no_float_no_conversion():
    def f(x):
        for refused in (pickle.dumps, float, np.asarray):
            with pytest.raises((LostDerivativeError, TypeError)):
                refused(np.sin(x * 1.0) + x)
        return x

    dualad.jvp(f, (X,), (T,))


def test_containers_aux_and_strict():
    f = lambda x: ({"a": np.sin(x * 1.0), "b": [x * 2.0 + 1.0]}, np.cos(x * 1.0))
    _, dy, aux = dualad.jvp(f, (X,), (T,), has_aux=True, strict=True)
    np.testing.assert_allclose(dy["a"], T * np.cos(X), rtol=1e-14)
    np.testing.assert_array_equal(dy["b"][0], 2 * T)
    np.testing.assert_allclose(aux, np.cos(X), rtol=1e-14)
    assert type(aux) is np.ndarray


def test_a_leak_is_an_error():
    kept = []
    dualad.jvp(lambda x: kept.append(np.sin(x * 1.0) + 1.0) or np.sum(x), (X,), (T,))
    for use in (lambda y: y + 1, lambda y: y.primal, np.sum, repr):
        with pytest.raises(LeakError):
            use(kept[0])


# --- other levels ----------------------------------------------------------------------------


def test_nested_transformations():
    third = lambda x: x * x * x + x
    inner = lambda x: dualad.jvp(third, (x,), (np.ones(N),))[1]
    _, dy = dualad.jvp(inner, (X,), (T,))
    np.testing.assert_allclose(dy, 6 * X * T, rtol=1e-13)

    def around(x):
        y = np.sin(x * 1.0)
        g = dualad.grad(lambda z: np.sum(z * y * z + y))(y * 2.0)  # 2 z y = 4 y**2
        v = dualad.vmap(lambda z: z * 2.0)(y * y)
        return g + v  # 6 y**2

    _, dy = dualad.jvp(around, (X,), (T,))
    np.testing.assert_allclose(dy, 12 * np.sin(X) * np.cos(X) * T, rtol=1e-12, atol=1e-15)


def test_outer_values_inside_and_products_of_both():
    def f(x):
        y = np.exp(x * 1.0)
        z, dz = dualad.jvp(lambda u: u * y * u + y, (x * 1.0,), (X,))
        return z + dz  # y u**2 + y + 2 u y X, u = x

    _, dy = dualad.jvp(f, (X,), (T,))
    e = np.exp(X)
    want = T * (e * X**2 + 2 * X * e + e + 2 * X * (e + X * e))
    np.testing.assert_allclose(dy, want, rtol=1e-13)


def test_reverse_over_forward():
    f = lambda x: dualad.jvp(lambda z: np.sum(z * z * z), (x,), (T,))[1]
    np.testing.assert_allclose(dualad.grad(f)(X), 6 * X * T, rtol=1e-13)
    hvp = dualad.jvp(dualad.grad(lambda z: np.sum(z * z * z)), (X,), (T,))[1]
    np.testing.assert_allclose(hvp, 6 * X * T, rtol=1e-13)


def test_debug_nans_names_the_operation():
    def f(x):
        y = x * 1.0 - 9.0
        z = np.log(y) * 2.0
        return z + 1.0

    with dualad.debug_nans(), np.errstate(invalid="ignore"), pytest.raises(NaNError, match="log"):
        dualad.jvp(f, (X,), (T,))


# --- threads, exceptions, memory -------------------------------------------------------------


def test_other_threads_look():
    def f(x):
        y = np.sin(x * 1.0) + x
        seen = []
        workers = [
            threading.Thread(target=lambda: seen.append(float(dualad.stop_gradient(y * 2.0)[3])))
            for _ in range(4)
        ]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        assert seen == [2 * (np.sin(X[3]) + X[3])] * 4
        return y * 1.0

    assert_equal_values = dualad.jvp(f, (X,), (T,))[1]
    np.testing.assert_allclose(assert_equal_values, T * (np.cos(X) + 1), rtol=1e-14)


def test_transformations_in_many_threads():
    found = {}

    def run(k):
        found[k] = dualad.jvp(lambda x: np.exp(x * k) * x + x, (X,), (T,))[1]

    workers = [threading.Thread(target=run, args=(float(k),)) for k in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    for k, dy in found.items():
        np.testing.assert_allclose(dy, T * (np.exp(k * X) * (1 + k * X) + 1), rtol=1e-13)


def test_an_exception_while_it_is_computed_leaves_it_to_be_computed(monkeypatch):
    def f(x):
        y = np.sin(x * 1.0) + x
        with monkeypatch.context() as m:
            m.setattr(joint.Pass, "carry_out", lambda self: (_ for _ in ()).throw(MemoryError()))
            with pytest.raises(MemoryError):
                np.max(y)
        assert type(y) is Postponed
        return y * 1.0

    _, dy = dualad.jvp(f, (X,), (T,))
    np.testing.assert_allclose(dy, T * (np.cos(X) + 1), rtol=1e-14)


def test_an_exception_in_the_function_frees_everything():
    def f(x):
        held = [np.sin(x * 1.0) + x]
        raise ValueError(f"of f, with {len(held)} result")

    users = set(dualad.engine.arrays.memory.POOL.users)
    for _ in range(2):
        with pytest.raises(ValueError, match="of f"):
            dualad.jvp(f, (X,), (T,))
    gc.collect()
    assert dualad.engine.arrays.memory.POOL.users == users
    assert not [p for p in gc.get_objects() if type(p) is Postponed]
