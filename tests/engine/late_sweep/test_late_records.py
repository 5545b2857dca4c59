"""Large recorded operations that are put off: nothing differs but when they are computed."""

import copy
import functools
import gc
import pickle
import threading
import tracemalloc
import warnings

import numpy as np
import pytest

import dualad
from dualad.engine.arrays.memory import POOL
from dualad.engine.kinds.recorded import Recorded
from dualad.engine.late_sweep import fused, late_records
from dualad.engine.late_sweep.late_records import LATE, LateRecord
from dualad.engine.late_sweep.late_runs import LateRun
from dualad.engine.late_sweep.late_sums import LateTotal
from dualad.engine.primitives.block_programs import Program
from dualad.engine.programs import tape
from dualad.engine.put_off.postponed import LONGEST
from dualad.errors import LeakError, LostDerivativeError, NaNError

N = LATE + 1234
X = np.linspace(0.2, 0.8, N)
W = np.cos(37 * X)

pytestmark = pytest.mark.usefixtures("warnings_are_no_exceptions")


@pytest.fixture
def runs(monkeypatch):
    """How many values each run of the sweep has computed."""
    counts = []
    plan = LateRun.__init__

    def counted(self, g, first, shape, late, nodes):
        counts.append(len(nodes))
        plan(self, g, first, shape, late, nodes)

    monkeypatch.setattr(LateRun, "__init__", counted)
    return counts


def at_once(f, *primals, argnums=0):
    """Value and gradient where nothing is put off."""
    with pytest.MonkeyPatch.context() as m:
        m.setattr(late_records, "LATE", 1 << 60)
        return dualad.value_and_grad(f, argnums)(*primals)


def assert_equal(f, *primals, argnums=0):
    got = dualad.value_and_grad(f, argnums)(*[x.copy() for x in primals])
    want = at_once(f, *primals, argnums=argnums)
    assert type(got[0]) is type(want[0]) and got[0] == want[0]
    for g, w in zip(np.atleast_2d(got[1]), np.atleast_2d(want[1]), strict=True):
        np.testing.assert_array_equal(g, w)
    only = dualad.grad(f, argnums)(*primals)
    np.testing.assert_array_equal(only, got[1])


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
    "shared cotangents": lambda x: ((x * 1.0 + 1.0) + 2.0) * ((x + 3) - 1),
    "the same twice": lambda x: (y := np.sin(x * 1.0)) + y - (y - x) * (y + y),
    "an array": lambda x: (x * X + 1.0) / X - X + X / x,
    "a number that moves": lambda x: (
        (x - x[3]) * x[5] / np.exp(x[7]) + x[9] / x + np.sin(x) * x[1]
    ),
    "a sum": lambda x: x * np.sum(np.exp(x * 2.0) * x) - x,
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
    "nothing that is read": lambda x: (x * 2.0 + 1.0) / 3.0 - x,
}
ENDS = {
    "sum": np.sum,
    "weighted": lambda y: np.sum(y * 2.0) / 3 - np.mean(y) * 0.5 + y.sum() * 2.0,
    "norm": lambda y: np.sqrt(np.sum(y * y)),
    "product": lambda y: np.dot(y.reshape(-1), np.cos(np.arange(y.size))),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_to_the_last_bit(name, end):
    assert_equal(lambda x: ENDS[end](FUNCTIONS[name](x)), X)


def test_two_arguments_and_the_closed_form():
    f = lambda x, y: np.sum(np.exp(x * y) + x / y)
    y = X + 1
    assert_equal(f, X, y, argnums=(0, 1))
    dx, dy = dualad.grad(f, (0, 1))(X, y)
    np.testing.assert_allclose(dx, y * np.exp(X * y) + 1 / y, rtol=1e-13)
    np.testing.assert_allclose(dy, X * np.exp(X * y) - X / y**2, rtol=1e-13)


@pytest.mark.parametrize("n", [LATE, LATE + 1, 1 << 19, 300_007])
def test_the_sum_of_parts_is_that_of_the_whole(n):
    x = np.random.default_rng(n).normal(size=n)
    f = lambda x: (x * 1e3 + 1.0) * x
    y, dy = dualad.value_and_grad(lambda x: np.sum(f(x)))(x)
    assert y == np.sum(f(x))
    np.testing.assert_allclose(dy, 2e3 * x + 1.0, rtol=1e-14)


def test_a_sum_that_is_not_finite_is_numpys():
    x = np.full(N, 1e308)
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        y, dy = dualad.value_and_grad(lambda x: np.sum((x + 1.0) + 2.0))(x)
    assert y == np.inf and np.all(dy == 1.0)
    assert {str(w.message) for w in log} == {"overflow encountered in reduce"}


def test_dtypes_shapes_and_orders_that_are_not_put_off():
    f = lambda x: np.sum(np.exp(x * 2.0) * x)
    grid = X[: N // 2 * 2].reshape(2, -1)
    for x in (X.astype(np.float32), X[::-1], grid.T, X[:9]):
        dy = dualad.grad(f)(x)
        assert dy.dtype == x.dtype and dy.shape == x.shape
        np.testing.assert_allclose(dy, np.exp(2 * x) * (1 + 2 * x), rtol=1e-5)
    row = np.arange(1.0, 3.0)[:, None]
    dy = dualad.grad(lambda x: np.sum(np.exp(x * 1.0) * row + x))(grid)
    np.testing.assert_allclose(dy, np.exp(grid) * row + 1, rtol=1e-14)
    dy = dualad.grad(lambda x: np.sum(np.abs((x * 2.0 + 1.0) * 1j)))(X)
    np.testing.assert_allclose(dy, np.full(N, 2.0), rtol=1e-14)


KINKS = {
    "maximum": (lambda x: np.maximum(x * 2.0, 1.0), lambda x: np.sign(x - 0.5) + 1),
    "minimum": (lambda x: np.minimum(1.0, x * 2.0), lambda x: np.sign(0.5 - x) + 1),
    "fmax": (lambda x: np.fmax(x * 2.0, W * np.nan), lambda x: 2 + 0 * x),
    "hypot": (lambda x: np.hypot(x * 2.0 - 1.0, 0.0), lambda x: 2 * np.sign(x - 0.5)),
    "arctan2": (lambda x: np.arctan2(x * 2.0, 1.0), lambda x: 2 / (1 + 4 * x * x)),
    "logaddexp": (lambda x: np.logaddexp(0.0, x * 2.0), lambda x: 2 / (1 + np.exp(-2 * x))),
    "a cube": (lambda x: (x * 2.0) ** 3, lambda x: 24 * x**2),
    "a root of a cube": (lambda x: (x * 2.0) ** 1.5, lambda x: 3 * np.sqrt(2 * x)),
    "a remainder": (lambda x: (x * 2.0) % 1.1, lambda x: 2 + 0 * x),
}


@pytest.mark.parametrize("name", KINKS)
def test_slopes_that_are_more_than_ufuncs(name, passes, runs):
    """At a tie the slope is the mean of both sides."""
    f, slope = KINKS[name]
    x = X.copy()
    x[9] = 0.5
    got = dualad.grad(lambda x: np.sum(f(x)))(x)
    np.testing.assert_allclose(got, slope(x), rtol=1e-13)
    if name != "fmax":  # whose constant may be written to
        assert passes == [] and 1 <= sum(runs) <= 2


@pytest.mark.parametrize("second", [lambda x: 0.5 * x, lambda x: 0.5])
@pytest.mark.parametrize(
    "ufunc",
    [np.maximum, np.minimum, np.fmax, np.fmin, np.hypot, np.arctan2, np.logaddexp, np.power,
     np.remainder, np.logaddexp2, np.copysign],
)  # fmt: skip
def test_ties_zeros_and_what_is_not_finite(ufunc, second):
    """The same as without putting off, the signs of zeros included."""
    x = X.copy()
    x[:12] = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e300, 5e-324, -1e-300]
    with np.errstate(all="ignore"):
        for f in (
            lambda x: np.sum(ufunc(x * 1.0, second(x)) - x),
            lambda x: np.sum(ufunc(second(x), x * 1.0) - x),
        ):
            got, want = dualad.grad(f)(x), at_once(f, x)[1]
            np.testing.assert_array_equal(got, want)
            known = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(want)[known])


# --- what is computed, and when --------------------------------------------------------------


def test_values_are_computed_in_the_sweep_alone(passes, runs):
    y, dy = dualad.value_and_grad(lambda x: np.sum(np.exp(x * 2.0) * x + x / 3.0))(X)
    assert passes == [] and runs == [4]
    np.testing.assert_allclose(y, np.sum(np.exp(2 * X) * X + X / 3), rtol=1e-14)
    np.testing.assert_allclose(dy, np.exp(2 * X) * (1 + 2 * X) + 1 / 3, rtol=1e-14)


def test_numbers_that_are_linear_in_sums_wait_too(passes, runs):
    def f(x):
        loss = np.mean((np.sin(x) * 2.0 - x) ** 2) / 2 - 3 * np.sum(x * x + x) + 1.0
        assert type(loss) is LateTotal and loss.shape == () and loss.dtype == np.float64
        return -loss

    y, dy = dualad.value_and_grad(f)(X)
    assert passes == [] and sum(runs) >= 5
    r = 2 * np.sin(X) - X
    np.testing.assert_allclose(y, 3 * np.sum(X * X + X) - np.mean(r**2) / 2 - 1, rtol=1e-13)
    np.testing.assert_allclose(dy, 3 * (2 * X + 1) - r * (2 * np.cos(X) - 1) / N, rtol=1e-13)


def test_a_number_that_is_looked_at_is_computed():
    def f(x):
        s = np.sum(np.exp(x * 2.0) * x)
        assert type(s) is LateTotal
        scale = 2.0 if s > 0 else 3.0
        assert type(s) is Recorded
        return np.log(s) * scale + s

    e = np.exp(2 * X)
    want = (2 / np.sum(e * X) + 1) * e * (1 + 2 * X)
    np.testing.assert_allclose(dualad.grad(f)(X), want, rtol=1e-13)


def test_a_single_operation_is_carried_out_at_once(passes, runs):
    np.testing.assert_allclose(dualad.grad(lambda x: np.sum(np.sin(x)))(X), np.cos(X))
    assert passes == [] == runs


@pytest.fixture
def programs(monkeypatch):
    """How many calls of rules each program has, and in how many results it looks for a NaN."""
    found = []
    carry_out = Program.carry_out

    def counted(self, slots, blocks):
        found.append((len(self.calls), len(self.looks)))
        return carry_out(self, slots, blocks)

    monkeypatch.setattr(Program, "carry_out", counted)
    return found


def test_cotangents_that_are_numbers_take_no_pass(programs):
    """Products with x x and 2 x are carried out at once: three values, and the share of x x.

    The cotangents of all of these are numbers, and so is the share of x in 2 x.
    """
    got = dualad.grad(lambda x: np.sum(((x * x - 2.0 * x) + 1.0) * 3.0))(X)
    np.testing.assert_allclose(got, 6 * X - 6, rtol=1e-14)
    assert programs == [(3 + 1, 1)]


def test_a_product_with_one_takes_no_pass(programs):
    """The cotangent of the exponential is the array of constants itself, and is not written to."""
    weights = W.copy()
    weights.flags.writeable = False
    got = dualad.grad(lambda x: np.sum(np.exp(x * 2.0) * weights - 3.0))(X)
    np.testing.assert_allclose(got, 2 * np.exp(2 * X) * W, rtol=1e-14)
    forward, shares = 3, 2  # x * 2.0 is carried out at once
    assert programs == [(forward + shares, 1)]
    got = dualad.grad(lambda x: np.sum((y := x * 2.0 - 1.0) * weights + y * y))(X)
    np.testing.assert_allclose(got, 2 * W + 4 * (2 * X - 1), rtol=1e-13)
    np.testing.assert_array_equal(weights, W)


def test_cotangents_that_are_numbers_leave_a_run(programs):
    """They are those of a leaf, or meet what has come from elsewhere."""
    got = dualad.grad(lambda x: np.sum((x * 3.0 - 1.0) / 2.0) + np.mean(x * 1.0))(X)
    np.testing.assert_allclose(got, np.full(N, 1.5 + 1 / N), rtol=1e-14)
    assert got.flags.writeable
    f = lambda x: np.sum(np.sin(x[::-1] * 1.0)) + 2 * np.sum(x * 3.0 - 5.0) - np.sum(x)
    np.testing.assert_allclose(dualad.grad(f)(X), np.cos(X) + 5, rtol=1e-13)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_cotangent_that_is_a_number_has_a_sign(sign):
    f = lambda x, y: np.sum((x * y - x / y - (2.0 - x)) * sign)
    dx, dy = dualad.grad(f, (0, 1))(X, X + 1)
    np.testing.assert_allclose(dx, sign * (X + 1 - 1 / (X + 1) + 1), rtol=1e-14)
    np.testing.assert_allclose(dy, sign * (X + X / (X + 1) ** 2), rtol=1e-14)


def test_gradients_are_looked_at_in_the_cache(programs, monkeypatch):
    looked = []
    monkeypatch.setattr(tape, "has_nan", lambda x: bool(looked.append(x)))
    dualad.grad(lambda x, y: np.sum(np.exp(x * y) * y - x), (0, 1))(X, X + 1)
    assert looked == [] and programs[-1][1] == 2


def test_zero_wins_where_a_gradient_holds_a_nan():
    x = X.copy()
    x[5] = 0.0
    got = dualad.grad(lambda x: np.sum(np.sqrt(x * 1.0) * (x * 0.0)))(x)
    np.testing.assert_array_equal(got, 0.0)


# --- functions that are called again -----------------------------------------------------------


def test_the_first_operations_of_a_long_function_wait_when_it_is_called_again(runs):
    def f(x):
        for _ in range(9):
            x = np.sin(x) * 1.5
        return np.sum(x)

    g = dualad.grad(f)
    first, again = g(X), g(X)
    np.testing.assert_array_equal(first, again)
    assert runs == [18 - 1, 18]


def test_a_function_that_is_short_this_time_is_short_the_next_time(runs):
    def f(x, n):
        for _ in range(n):
            x = np.sin(x) * 1.5
        return np.sum(x)

    for n in (9, 9, 1, 1):
        dualad.grad(f)(X, n)
    assert runs == [17, 18, 2, 1]


def test_an_argument_that_a_long_function_writes_to():
    """By another name, right after the first operation."""
    x = X.copy()

    def f(v):
        y = v * 2.0
        x[:] = np.nan
        for _ in range(9):
            y = np.sin(y)
        return np.sum(y)

    for _ in range(2):
        x[:] = X
        value, got = dualad.value_and_grad(f)(x)
        y, slope = 2 * X, 2.0
        for _ in range(9):
            y, slope = np.sin(y), slope * np.cos(y)
        np.testing.assert_allclose(value, np.sum(y), rtol=1e-14)
        np.testing.assert_allclose(got, slope, rtol=1e-12)


def test_what_has_no_code_is_never_called_again():
    f = functools.partial(lambda k, x: np.sum(np.exp(np.sin(x) * k) * x - x * 2.0 * x), 2.0)
    for _ in range(2):
        want = np.exp(2 * np.sin(X)) * (1 + 2 * X * np.cos(X)) - 4 * X
        np.testing.assert_allclose(dualad.grad(f)(X), want, rtol=1e-12)


def test_what_is_dear_is_computed_once(passes, runs):
    """exp, whose result its own rule reads, is kept where it was computed before the sweep."""

    def f(x):
        return np.log(np.sum(np.exp(x * 2.0 - 1.0) * (x + 1.0)))

    e = np.exp(2 * X)
    want = e * (2 * X + 3) / np.sum(e * (X + 1))
    np.testing.assert_allclose(dualad.grad(f)(X), want, rtol=1e-12)
    assert passes == [3] and runs == []


def test_a_long_program_is_swept_in_parts(passes, runs):
    def f(x):
        for _ in range(LONGEST):
            x = np.sin(x) * 0.999
        return np.sum(x)

    assert_equal(f, X)
    assert max(passes) <= LONGEST + 1 and max(runs) <= 2 * fused.LONGEST
    assert sum(passes) <= 12 * LONGEST


def test_many_arrays_are_not_kept_waiting():
    def f(x):
        total = x * 0.0
        for k in range(40):
            total = total + x * (X + k)
        return np.sum(total)

    assert_equal(f, X)


def test_memory_is_that_of_operands_and_gradients():
    big = np.linspace(0.1, 1.0, 1 << 19)

    def f(x):
        y = x * 2.0
        for _ in range(10):
            y = np.sin(y) * x + y
        return np.sum(y)

    dualad.grad(f)(big)
    POOL.shrink()
    tracemalloc.start()
    dualad.grad(f)(big)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A copy, the first result, the gradient, and blocks; by operations it were 25 arrays.
    assert peak < 6.5 * big.nbytes


# --- the user's arrays -----------------------------------------------------------------------


def test_a_constant_that_is_written_to_after_the_operation():
    work = np.full(N, 3.0)

    def f(x):
        y = x * 2.0 * work
        work[:] = 5.0
        z = np.sin(x * 1.0) * work
        work[:] = np.nan
        return np.sum(y + z)

    y, dy = dualad.value_and_grad(f)(X)
    np.testing.assert_allclose(y, np.sum(6 * X + 5 * np.sin(X)), rtol=1e-14)
    np.testing.assert_allclose(dy, 6 + 5 * np.cos(X), rtol=1e-14)


@pytest.mark.parametrize("cut", [slice(None), slice(2, None), slice(None, None, 2), slice(0, 9)])
def test_an_argument_that_is_written_to_after_the_operation(cut):
    """By another name than that of the traced array."""
    x = X.copy()

    def f(v):
        y = np.exp(v * 1.0) * v
        x[cut] = 0.0
        return np.sum(y)

    y, dy = dualad.value_and_grad(f)(x)
    np.testing.assert_allclose(y, np.sum(np.exp(X) * X), rtol=1e-14)
    np.testing.assert_allclose(dy, np.exp(X) * (1 + X), rtol=1e-13)


def test_results_belong_to_the_caller():
    x = X.copy()
    dy = dualad.grad(lambda x: np.sum(x * x * 1.0 + 1.0))(x)
    other = dualad.grad(lambda x: np.sum((x * 1.0 + 1.0) * W))(x)
    assert dy.flags.writeable and other.flags.writeable
    dy[:] = other[:] = 0.0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(W, np.cos(37 * X))


def test_a_stopped_value_that_is_written_to():
    def f(x):
        y = np.sin(x * 1.0)
        weights = dualad.stop_gradient(y) * 1.0
        u = y * weights
        weights[:] = 9.0
        return np.sum(u)

    np.testing.assert_allclose(dualad.grad(f)(X), np.cos(X) * np.sin(X), rtol=1e-13)


def test_a_function_of_the_users_that_writes_to_what_it_is_given():
    class Spoils(dualad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            x.detach().numpy()[:] = 0.0
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    def f(x):
        s = np.sin(x * 1.0)
        y = np.exp(s * 2.0) * s
        return np.sum(np.cos(y * 2.0)) + np.sum(s * np.sin(s * 3.0) * Spoils.apply(y))

    def g(x):
        s = np.sin(x * 1.0)
        y = np.exp(s * 2.0) * s
        return np.sum(np.cos(y * 2.0)) + np.sum(s * np.sin(s * 3.0) * y)

    try:
        got = dualad.grad(f)(X)
    except dualad.errors.DualADError:
        return
    np.testing.assert_allclose(got, dualad.grad(g)(X), rtol=1e-12)


def test_other_reverse_transformations():
    f = lambda x: np.sum(np.exp(x * 2.0) * x)
    want = np.exp(2 * X) * (1 + 2 * X)
    _, pull = dualad.vjp(f, X)
    _, pushed = dualad.linearize(f, X)
    for got in (dualad.jacrev(f)(X), dualad.jacobian(f)(X), pull(1.0)[0], pull(1.0)[0]):
        np.testing.assert_allclose(got, want, rtol=1e-13)
    np.testing.assert_allclose(pushed(W), np.sum(want * W), rtol=1e-12)
    row = np.arange(3.0)[:, None] + 1
    many = dualad.vmap(lambda k: dualad.grad(lambda x: np.sum(np.exp(x * k) * x))(X))(row[:, 0])
    np.testing.assert_allclose(many, np.exp(row * X) * (1 + row * X), rtol=1e-13)
    each = dualad.vmap(dualad.grad(f))(np.stack([X, X + 1]))
    np.testing.assert_allclose(each[0], want, rtol=1e-13)


def test_values_that_wait_are_stored():
    def f(x):
        y = np.sin(x * 1.0) + x
        out = np.zeros_like(x)
        out[: N // 2] = (y * 2.0)[: N // 2]
        out[N // 2 :] = y[N // 2 :]
        out[3] = np.sum(y) * 2.0
        few = np.zeros_like(x[:2])
        few[0] = np.sum(y * y)
        few[1] += np.mean(y)
        z = y * 3.0
        z[:] = y * 5.0
        z[7] = np.mean(y)
        return np.sum(out * out) + np.sum(few) + np.sum(z)

    y, s = np.sin(X) + X, np.sum(np.sin(X) + X)
    twice = np.where(np.arange(N) < N // 2, 8.0, 2.0) * y
    twice[3] = 0.0
    want = twice + 8 * s + 2 * y + 1 / N + np.where(np.arange(N) == 7, 0.0, 5.0) + 1 / N
    np.testing.assert_allclose(dualad.grad(f)(X), want * (np.cos(X) + 1), rtol=1e-12)


def test_compiled_and_custom_functions_of_values_that_wait():
    @dualad.custom_jvp
    def cube(x):
        return x**3

    @cube.defjvp
    def cube_jvp(primals, tangents):
        return cube(*primals), 3 * primals[0] ** 2 * tangents[0]

    class Square(dualad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    compiled = dualad.compile(lambda y: np.sin(y) * y)
    y = np.sin(X) + X
    for function, slope in (
        (cube, 3 * y**2),
        (Square.apply, 2 * y),
        (compiled, np.cos(y) * y + np.sin(y)),
    ):
        for first in (lambda v: np.sum(v * 1.0), np.sum):
            f = lambda x: first(function(np.sin(x * 1.0) + x))
            got = np.asarray(dualad.grad(f)(X))
            np.testing.assert_allclose(got, slope * (np.cos(X) + 1), rtol=1e-12)
    s = np.sum(y)
    for function, slope in ((cube, 3 * s**2), (Square.apply, 2 * s)):
        got = np.asarray(dualad.grad(lambda x: function(np.sum(np.sin(x * 1.0) + x)))(X))
        np.testing.assert_allclose(got, slope * (np.cos(X) + 1), rtol=1e-12)


def test_a_custom_function_between():
    @dualad.custom_vjp
    def triple(x):
        return x * 3.0

    triple.defvjp(lambda x: (x * 3.0, x), lambda x, ct: (ct * 3.0 + 0.0 * x,))
    f = lambda x: np.sum(triple(np.sin(x * 1.0)) * x)
    np.testing.assert_allclose(dualad.grad(f)(X), 3 * (np.sin(X) + X * np.cos(X)), rtol=1e-13)


# --- warnings and errors of NumPy ------------------------------------------------------------


def messages(f, x=X):
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        dualad.grad(f)(x)
    return {str(w.message) for w in log}


def test_warnings_are_given():
    bad = X.copy()
    bad[7] = -1.0
    f = lambda x: np.sum(np.log(x * 1.0) * 2.0)
    assert messages(f, bad) == {"invalid value encountered in log"}
    assert messages(f) == set()
    # The slope of a root at 0 is infinite, of which f knows nothing.
    bad[7] = 0.0
    assert messages(lambda x: np.sum(np.sqrt(x * 1.0) * 2.0), bad) == set()


def test_nobody_looks_at_what_warns():
    def f(x):
        np.log(x * 1.0 - 9.0)
        return np.sum(x * 3.0)

    assert messages(f) == {"invalid value encountered in log"}


def test_a_sum_at_which_nobody_looks_warns():
    def f(x):
        np.sum(x * 1e308 + 1.0)
        return np.sum(x * 3.0)

    assert messages(f) == {"overflow encountered in reduce"}


def test_what_is_computed_again_does_not_warn_again():
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")

        def f(x):
            y = np.log(x * 1.0 - 9.0) + 1.0
            np.max(np.sin(x) + 1.0)
            count.append(len(log))
            return np.sum(np.where(x > 5.0, y * y, x))

        count = []
        dualad.grad(f)(X)
    assert 0 < count[0] == len(log)


def test_the_error_state_is_that_of_the_operation():
    def f(x):
        with np.errstate(invalid="ignore"):
            y = np.log(x * 1.0 - 9.0) + 1.0
        return np.sum(y * 1.0)

    assert messages(f) == set()

    def g(x):
        y = np.log(x * 1.0 - 9.0) + 1.0
        with np.errstate(invalid="ignore"):
            return np.sum(np.exp(y)[:3])

    assert messages(g) == {"invalid value encountered in log"}


def test_errors_come_at_the_operation():
    def f(x):
        y = x * 1.0
        with pytest.raises(FloatingPointError, match="log"), np.errstate(invalid="raise"):
            np.log(y - 9.0)
        big = y * 1e308 + 1.0
        with pytest.raises(FloatingPointError, match="reduce"), np.errstate(over="raise"):
            np.sum(big)
        with pytest.raises(RuntimeWarning, match="log"), warnings.catch_warnings():
            warnings.simplefilter("error")
            np.log(y - 9.0)
        return np.sum(y)

    dualad.grad(f)(X)


def test_an_error_in_a_number():
    def f(x):
        s = np.sum(x * x + 1.0)
        with pytest.raises(FloatingPointError), np.errstate(all="raise"):
            s * 1e308
        return s

    np.testing.assert_array_equal(dualad.grad(f)(X), 2 * X)


# --- zero meets infinity ---------------------------------------------------------------------


def test_zero_meets_infinity():
    x = X.copy()
    x[5] = x[9] = 0.0
    f = lambda x: np.sum(np.where(x > 0.0, np.sqrt(x * 1.0) * 2.0, x * 3.0 + 1.0))
    np.testing.assert_allclose(dualad.grad(f)(x), np.where(x > 0, 1 / np.sqrt(x + (x == 0)), 3.0))
    weights = np.where(x > 0, 1.0, 0.0)
    y, dy = dualad.value_and_grad(lambda x: np.sum(np.sqrt(x * 1.0) * weights))(x)
    np.testing.assert_allclose(dy, 0.5 * weights / np.sqrt(np.where(x > 0, x, 1.0)))
    np.testing.assert_allclose(y, np.sum(np.sqrt(x)))


# --- looking at what is put off --------------------------------------------------------------

LOOKS = {
    "repr": lambda y: repr(y)[:9] == "Recorded(",
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
    "a sum of rows": lambda y: np.sum(y.reshape(2, -1), axis=0).shape == (N // 2,),
    "a sum of some": lambda y: np.sum(y, where=y > 0) > 0,
    "beside a recorded value": lambda y: np.concatenate([y[:1] * 1.0, y]).shape == (N + 1,),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKS)
def test_whoever_looks_sees_a_recorded_value(name):
    def f(x):
        y = np.sin(x * 1.0) + x
        assert type(y) is LateRecord
        assert (y.shape, y.ndim, y.dtype, y.size, len(y)) == ((N,), 1, np.float64, N, N)
        assert LOOKS[name](y)
        assert type(y) is Recorded
        return np.sum(y * 2.0)

    np.testing.assert_allclose(dualad.grad(f)(X), 2 * (np.cos(X) + 1), rtol=1e-14)


NUMBERS = {
    "repr": lambda s: repr(s)[:9] == "Recorded(",
    "comparison": lambda s: s > 0,
    "truth": bool,
    "a function": lambda s: np.sqrt(s) > 0,
    "a power": lambda s: s**2 > 0,
    "with itself": lambda s: s * s > 0 and s + s > 0,
    "an array": lambda s: (np.ones(3) * s).shape == (3,) and (s - np.ones(3)).shape == (3,),
    "a list": lambda s: np.stack([s, s]).shape == (2,),
    "an item": lambda s: s.item() > 0,
    "a dtype": lambda s: s.astype(np.float32).dtype == np.float32,
    "a quotient": lambda s: 1.0 / s > 0,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_whoever_looks_sees_a_number(name):
    def f(x):
        s = np.sum(np.sin(x * 1.0) + x)
        assert type(s) is LateTotal
        assert NUMBERS[name](s)
        assert type(s) is Recorded
        return s * 2.0

    np.testing.assert_allclose(dualad.grad(f)(X), 2 * (np.cos(X) + 1), rtol=1e-14)


def test_numbers_beside_other_recorded_ones():
    def f(x, k):
        s = np.sum(np.sin(x * 1.0) + x)
        return k * s + s * k + s - k + (k + s) / k

    s = np.sum(np.sin(X) + X)
    dx, dk = dualad.grad(f, (0, 1))(X, 2.0)
    np.testing.assert_allclose(dx, (2 * 2.0 + 1 + 0.5) * (np.cos(X) + 1), rtol=1e-13)
    np.testing.assert_allclose(dk, 2 * s - 1 - s / 4.0, rtol=1e-12)


def test_no_pickle_no_float_no_conversion():
    def f(x):
        for refused in (pickle.dumps, float, np.asarray):
            with pytest.raises((LostDerivativeError, TypeError)):
                refused(np.sin(x * 1.0) + x)
        with pytest.raises(LostDerivativeError):
            float(np.sum(np.sin(x * 1.0) + x))
        return np.sum(x)

    dualad.grad(f)(X)


def test_aux_and_containers():
    def f(p):
        y = np.sin(p["a"] * 1.0) * p["b"]
        return np.sum(y), {"y": y, "half": np.sum(y) / 2}

    (value, aux), g = dualad.value_and_grad(f, has_aux=True)({"a": X, "b": W})
    np.testing.assert_allclose(g["a"], np.cos(X) * W, rtol=1e-14)
    np.testing.assert_allclose(g["b"], np.sin(X), rtol=1e-14)
    np.testing.assert_allclose(aux["y"], np.sin(X) * W, rtol=1e-14)
    assert type(aux["y"]) is np.ndarray and value == 2 * aux["half"]


def test_a_leak_is_an_error():
    kept = []

    def f(x):
        kept[:] = [np.sin(x * 1.0) + 1.0, np.sum(x * 2.0 + 1.0)]
        return np.sum(x)

    dualad.grad(f)(X)
    for leaked in kept:
        for use in (lambda y: y + 1, lambda y: y.primal, np.sum, repr):
            with pytest.raises(LeakError):
                use(leaked)


# --- other levels ----------------------------------------------------------------------------


def test_nested_transformations():
    f = lambda x: np.sum(x * x * x + np.sin(x))
    late = lambda x: np.sin(x * 1.0) + x
    for nested in (
        lambda x: np.sum(dualad.grad(f)(late(x)) * W),
        lambda x: np.sum(dualad.jvp(dualad.grad(f), (late(x),), (W,))[1]),
        lambda x: dualad.jvp(f, (late(x),), (late(x),))[1],
        lambda x: dualad.vjp(f, late(x))[1](np.sum(late(x)))[0] @ W,
        lambda x: np.sum(dualad.vmap(lambda y: y * y)(late(x))),
        lambda x: dualad.grad(lambda a: np.sin(a) * a)(np.sum(late(x)) / N),
        lambda x: dualad.jvp(lambda a: np.sin(a) * a, (np.mean(late(x)),), (1.0,))[1],
    ):
        value, slope = dualad.value_and_grad(nested)(X)
        again = nested(X)
        np.testing.assert_allclose(value, again, rtol=1e-12)
        step = 1e-6
        move = (nested(X + step * W) - nested(X - step * W)) / (2 * step)
        np.testing.assert_allclose(np.sum(slope * W), move, rtol=1e-6)


def test_forward_over_reverse_and_reverse_over_forward():
    f = lambda x: np.sum(x * x * x + np.sin(x))
    want = (6 * X - np.sin(X)) * W
    np.testing.assert_allclose(dualad.jvp(dualad.grad(f), (X,), (W,))[1], want, rtol=1e-13)
    g = lambda x: dualad.jvp(f, (x,), (W,))[1]
    np.testing.assert_allclose(dualad.grad(g)(X), want, rtol=1e-13)


def test_outer_values_inside():
    def f(x):
        y = np.exp(x * 1.0)
        inner = dualad.grad(lambda z: np.sum(z * y * z + y))(y * 2.0)  # 4 y**2
        mapped = dualad.vmap(lambda z: z * 2.0)(y * y)
        return np.sum(inner + mapped)  # 6 y**2

    np.testing.assert_allclose(dualad.grad(f)(X), 12 * np.exp(2 * X), rtol=1e-12)


def test_a_constant_part():
    def f(x):
        y = np.sin(x * 1.0) + x
        return np.sum(y * dualad.stop_gradient(y * 2.0) + dualad.stop_gradient(y))

    y = np.sin(X) + X
    np.testing.assert_allclose(dualad.grad(f)(X), 2 * y * (np.cos(X) + 1), rtol=1e-13)


def test_tensors_inside():
    def f(x):
        y = np.sin(x * 1.0) + x
        t = dualad.as_tensor(y * y)
        return (t * 2.0).sum()

    y = np.sin(X) + X
    np.testing.assert_allclose(np.asarray(dualad.grad(f)(X)), 4 * y * (np.cos(X) + 1), rtol=1e-13)


def test_debug_nans_names_the_operation():
    def f(x):
        y = x * 1.0 - 9.0
        z = np.log(y) * 2.0
        return np.sum(z + 1.0)

    with dualad.debug_nans(), np.errstate(invalid="ignore"), pytest.raises(NaNError, match="log"):
        dualad.grad(f)(X)


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
        return np.sum(y * 1.0)

    np.testing.assert_allclose(dualad.grad(f)(X), np.cos(X) + 1, rtol=1e-14)


def test_gradients_in_many_threads():
    found = {}

    def run(k):
        found[k] = dualad.grad(lambda x: np.sum(np.exp(x * k) * x + x))(X)

    workers = [threading.Thread(target=run, args=(float(k),)) for k in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    for k, dy in found.items():
        np.testing.assert_allclose(dy, np.exp(k * X) * (1 + k * X) + 1, rtol=1e-13)


def test_an_exception_in_the_function_frees_everything():
    def f(x):
        held = [np.sin(x * 1.0) + x]
        raise ValueError(f"of f, with {len(held)} result")

    users = dualad.engine.arrays.memory.POOL.users
    for _ in range(2):
        with pytest.raises(ValueError, match="of f"):
            dualad.grad(f)(X)
    gc.collect()
    assert dualad.engine.arrays.memory.POOL.users == users
    assert not [p for p in gc.get_objects() if type(p) is LateRecord]


def test_an_exception_in_the_function_lets_what_came_before_it_warn():
    def f(x):
        np.log(x * 1.0 - 9.0)
        raise ValueError("of f")

    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="of f"):
            dualad.grad(f)(X)
    assert {str(w.message) for w in log} == {"invalid value encountered in log"}


@pytest.mark.parametrize("transform", [dualad.grad, dualad.value_and_grad])
@pytest.mark.parametrize("failing", [None, "function", "sweep", "sweep with containers"])
def test_nothing_is_left_for_the_garbage_collector(transform, failing):
    fails = failing is not None

    def fail(x, ct):
        raise ValueError("of f")

    @dualad.custom_vjp
    def same(x):
        return x * 1.0

    same.defvjp(lambda x: (x * 1.0, x), fail)

    def f(x):
        x = x[0] if type(x) is list else x
        total = np.mean(np.sin(same(x) if "sweep" in str(failing) else x)) + np.sum(x * x * 2.0)
        if failing == "function":
            raise ValueError("of f")
        return total + np.sum(np.exp(x) * W + x * x)

    argument = [X, {"x": X}] if failing == "sweep with containers" else X

    def call():
        if fails:
            with pytest.raises(ValueError, match="of f"):
                transform(f)(argument)
        else:
            transform(f)(argument)

    call()
    gc.collect()
    gc.disable()
    POOL.shrink()
    try:
        tracemalloc.start()
        call()
        POOL.shrink()
        before = tracemalloc.get_traced_memory()[0]
        gc.collect()
        POOL.shrink()
        assert before - tracemalloc.get_traced_memory()[0] < X.nbytes / 10
    finally:
        tracemalloc.stop()
        gc.enable()


def test_many_constants_take_no_more_memory_than_without():
    """Constants that may be written to are not copied because their operation could wait."""
    constants = [np.cos(k * X) for k in range(12)]

    def f(x):
        for c in constants:
            x = x + c
        return np.sum(x * x)

    dualad.grad(f)(X)
    POOL.shrink()
    tracemalloc.start()
    g = dualad.grad(f)(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4.5 * X.nbytes
    np.testing.assert_allclose(g, 2 * (X + sum(constants)), rtol=1e-12, atol=1e-13)
