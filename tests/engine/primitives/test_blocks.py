"""Large arrays by blocks: the same results to the last bit, and memory that is not kept."""

import numpy as np
import pytest

import dualad
from dualad.engine.arrays.cutting import laid_out, scratch
from dualad.engine.arrays.memory import LARGE
from dualad.engine.fast_paths import codegen
from dualad.engine.fast_paths.writer import Writer
from dualad.engine.kinds.recorded import recorded
from dualad.engine.levels.level import Level
from dualad.engine.primitives.blocks import Later, blockwise
from dualad.engine.primitives.elementwise import Elementwise
from dualad.engine.primitives.primitive import PRIMITIVES
from dualad.engine.programs.entries import add_cotangent
from dualad.engine.programs.tape import sweep

N = LARGE + 1234
X = np.linspace(0.2, 0.8, N)
T = np.cos(37 * X)

FUNCTIONS = {
    "arithmetic": lambda x: (2.0 * x - x / 3.0 + 1.0 / x) * x - x * x / (x + 0.5),
    "transcendental": lambda x: np.exp(np.sin(x)) * np.tanh(x) - np.log(x) + np.sqrt(x),
    "powers": lambda x: x**2 + x**3 + x**0.5 + x**-1,
    "kinks": lambda x: np.maximum(x, 0.5) + np.abs(x - 0.5) + np.hypot(x, 1.0),
    "two": lambda x: np.arctan2(x, 1 - x) + np.logaddexp(x, 2 * x),
    "negative": lambda x: -x - np.cos(x),
}


def small_parts(f, x, t):
    """The same jvp on pieces below the size at which blocks begin."""
    parts = [dualad.jvp(f, (x[k : k + 999],), (t[k : k + 999],)) for k in range(0, x.size, 999)]
    return [np.concatenate(p) for p in zip(*parts, strict=True)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_to_the_last_bit(name):
    for got, want in zip(
        dualad.jvp(FUNCTIONS[name], (X,), (T,)), small_parts(FUNCTIONS[name], X, T), strict=True
    ):
        np.testing.assert_array_equal(got, want)


def test_shapes_strides_dtypes_and_broadcasting():
    f = lambda x: np.exp(x) * x / 2.0
    for x in (X[:N].reshape(2, -1), X[::-1], np.tile(X, (2, 1)).T, X.astype(np.float32), X + 0j):
        y, dy = dualad.jvp(f, (x,), (np.ones_like(x),))
        assert y.dtype == dy.dtype == x.dtype and y.shape == dy.shape == x.shape
        np.testing.assert_allclose(dy, np.exp(x) * (1 + x) / 2, rtol=1e-5)
    row = np.arange(3.0)[:, None]
    _, dy = dualad.jvp(lambda x: x * row + row * x, (X,), (T,))
    np.testing.assert_array_equal(dy, 2 * T * row)


def test_no_deprecated_operand_of_minimum():
    """Huber's loss: its slope in x is that of the parabola as far as the threshold."""
    special = pytest.importorskip("scipy.special")
    f = lambda x: special.huber(np.full(N, 0.5), x)
    np.testing.assert_array_equal(dualad.jvp(f, (X,), (T,))[1], T * np.minimum(X, 0.5))
    np.testing.assert_array_equal(dualad.grad(lambda x: np.sum(f(x)))(X), np.minimum(X, 0.5))


def test_zero_meets_infinity_in_one_entry():
    x, t = X.copy(), T.copy()
    x[5] = t[5] = 0.0
    _, dy = dualad.jvp(np.sqrt, (x,), (t,))
    assert dy[5] == 0.0
    np.testing.assert_allclose(np.delete(dy, 5), np.delete(t, 5) / (2 * np.sqrt(np.delete(x, 5))))


def test_a_value_that_is_still_held_keeps_its_memory():
    kept = []

    def f(x):
        y = np.sin(x)
        kept.append(y[:10])
        for _ in range(20):
            x = x * 1.5 - 0.1
        return y + 0 * x

    y, dy = dualad.jvp(f, (X,), (T,))
    np.testing.assert_array_equal(y, np.sin(X) + 0 * y)
    np.testing.assert_allclose(dy, np.cos(X) * T, rtol=1e-15, atol=1e-300)


def test_results_outlive_the_level_and_its_memory_does_not():
    y, dy = dualad.jvp(lambda x: np.sin(x) * x, (X,), (T,))
    want = np.sin(X) * X
    for _ in range(5):
        dualad.jvp(lambda x: np.exp(x) * x, (X,), (T,))
    np.testing.assert_array_equal(y, want)
    y[0], dy[0] = 1.0, 2.0


def test_nested_levels_use_it_where_the_values_are_plain():
    second = lambda x: dualad.jvp(lambda y: dualad.jvp(np.sin, (y,), (T,))[1], (x,), (T,))[1]
    np.testing.assert_allclose(second(X), -np.sin(X) * T * T, rtol=1e-15)


def test_hot_rules_have_a_blockwise_form():
    for name in (
        "add",
        "subtract",
        "multiply",
        "divide",
        "square",
        "sin",
        "cos",
        "exp",
        "log",
        "tanh",
    ):
        writer = Writer(PRIMITIVES[name], codegen.SCOPE, codegen.generated)
        assert isinstance(writer.p, Elementwise)
        writer.source("Dual")
        for key, rule in [*writer.rules.items()]:
            if key.startswith("large_"):
                rule.make()
        assert any(key.startswith("blocks_") for key in writer.scope), name


def test_rules_for_large_arrays_are_compiled_when_one_comes():
    """And then they stand in the place of what compiled them."""
    wave = Elementwise(
        np.sin, "cos(x)", namespace={"cos": np.cos}, name="wave of this test", builtin=False
    )
    op = codegen.generated(wave, "Recorded")[0]
    rule = op.__globals__["large_pull_x"]
    assert isinstance(rule, Later)
    with Level("test") as level:
        for x in (np.ones(3), np.linspace(-1.0, 1.0, LARGE)):
            assert op.__globals__["large_pull_x"] is rule
            tape = level.tape = [None]
            y = op(recorded(level, x, 0))
            (ct,) = sweep(tape, 1, [(y.tangent, np.ones(x.shape))])
    assert op.__globals__["large_pull_x"] is not rule
    np.testing.assert_allclose(ct, np.cos(x), rtol=1e-15)


def test_what_is_more_than_ufuncs_has_none():
    assert blockwise({}, "x + 1", "dx * helper(x)", ["x", "dx"], []) is None
    assert blockwise({}, "x ** y", "dx * x", ["x", "dx"], ["y"]) is None


def test_warnings_are_those_of_the_function_at_any_size():
    x = np.linspace(-1.0, 1.0, N)
    for f, kind in ((np.log, "invalid"), (lambda x: np.exp(2000 * (x + 1)), "overflow")):
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match=kind):
            dualad.jvp(f, (x,), (T,))
    with np.errstate(all="raise"):
        dualad.jvp(np.sqrt, (X * 0,), (T,))  # only the slope is infinite


def test_constants_are_numbers_or_arrays():
    for f in (lambda x, c: x * c + c, lambda x, c: c - x / c, lambda x, c: c / (x - c)):
        for c in (3.0, 1.5 + np.arange(N)):
            y, dy = dualad.jvp(lambda x: f(x, c), (X,), (T,))
            at = [0, 1, N // 2, N - 1]
            few = c if isinstance(c, float) else c[at]
            want = dualad.jvp(lambda x: f(x, few), (X[at],), (T[at],))
            np.testing.assert_array_equal((y[at], dy[at]), want)


REVERSE = {**FUNCTIONS, "shared": lambda x: x + x * x + np.sin(x) * x - (x + x) - x / x}


@pytest.mark.parametrize("name", REVERSE)
def test_pulls_of_large_arrays_are_those_of_small_ones(name):
    f = REVERSE[name]
    _, pull = dualad.vjp(f, X)
    parts = [dualad.vjp(f, X[k : k + 999])[1](T[k : k + 999])[0] for k in range(0, N, 999)]
    want = np.concatenate(parts)
    for _ in range(2):  # a pullback may be called again
        np.testing.assert_allclose(pull(T)[0], want, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(T, np.cos(37 * X))  # what the caller gave is not added to


def test_a_cotangent_that_two_share_is_not_added_to_in_place():
    kept = []

    def f(x, y):
        s = x + y  # both get the same cotangent
        return s * 1.0, x * 2.0, y * 3.0

    _, pull = dualad.vjp(f, X, X + 1)
    for got, want in zip(pull((T, T, T)), (3 * T, 4 * T), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-15)
        kept.append(got)
    assert not np.shares_memory(*kept) and not np.shares_memory(kept[0], T)


def test_shares_of_large_arrays_in_operands_that_were_broadcast():
    r = np.random.default_rng(3)
    a, x, b = r.normal(size=(20, 1, 10)), r.normal(size=(20, 200, 10)), r.normal(size=(20, 200, 1))
    w = r.normal(size=x.shape)
    f = lambda a, x, b: np.sum(w * (a * x - b * x)) - np.sum(w * (x - a))
    by_a, by_x, by_b = dualad.grad(f, argnums=(0, 1, 2))(a, x, b)
    np.testing.assert_allclose(by_a, np.sum(w * x + w, axis=1, keepdims=True), rtol=1e-11)
    np.testing.assert_allclose(by_x, w * (a - b) - w, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(by_b, -np.sum(w * x, axis=2, keepdims=True), rtol=1e-11)


def test_a_large_cotangent_is_added_to_in_place_only_where_nobody_else_holds_it():
    g, more = [np.zeros(LARGE)], np.ones(LARGE)
    mine = g[0].__array_interface__["data"]
    add_cotangent(g, 0, more)
    assert g[0].__array_interface__["data"] == mine
    held = g[0]
    add_cotangent(g, 0, more)
    assert held[0] == 1 and g[0][0] == 2
    view = g[0][1:]
    add_cotangent(g, 0, more)
    assert view[0] == 2 and g[0][0] == 3


def test_a_large_cotangent_in_fortran_order_is_added_to():
    r = np.random.default_rng(4)
    x, q, c = r.normal(size=(300, 200)), r.normal(size=(2, 300)), r.normal(size=(200, 300))

    def f(x):
        y, u, v = q @ np.tanh(x), x.T, x.T  # the sum of what comes back of u and v is by columns
        return np.sum(y), u, v

    want = np.sum(q, axis=0)[:, None] / np.cosh(x) ** 2 + 3 * c.T
    for _ in range(3):  # the first time the rule for large arrays is compiled
        got = dualad.vjp(f, x)[1]((1.0, c, 2 * c))[0]
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("n", [7, N])
def test_a_cotangent_is_of_the_dtype_of_its_variable_at_any_size(n):
    x, y = np.full(n, 1.5, np.float32), np.full(n, 0.75)
    got = dualad.vjp(np.multiply, x, y)[1](np.full(n, 2.0))
    assert [g.dtype for g in got] == [np.float32, np.float64]
    np.testing.assert_array_equal(got, [np.full(n, 1.5), np.full(n, 3.0)])


@pytest.mark.parametrize("n", [8, 1001, 7813])
def test_blocks_to_work_in_begin_where_lines_of_the_cache_do(n):
    rows = scratch(5, n)
    assert rows.shape == (5, n)
    assert all(r.flags.c_contiguous and r.ctypes.data % 64 == 0 for r in rows)
    rows[:] = np.arange(5.0)[:, None]
    np.testing.assert_array_equal(rows[3], np.full(n, 3.0))


SQUARE = np.linspace(0.2, 0.8, 40_000).reshape(200, 200)
BESIDE = {
    "sum": (lambda a: a + a.T, lambda a, t: t + t.T),
    "product": (lambda a: a * a.T, lambda a, t: t * a.T + a * t.T),
    "transpose first": (lambda a: a.T / a, lambda a, t: t.T / a - a.T * t / a**2),
    "constant": (lambda a: a * SQUARE.T, lambda a, t: t * SQUARE.T),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_matrix_beside_a_transpose(name):
    f, along = BESIDE[name]
    t = np.cos(np.arange(40000.0)).reshape(200, 200)
    y, dy = dualad.jvp(f, (SQUARE,), (t,))
    assert np.array_equal(y, f(SQUARE)) and y.strides == f(SQUARE).strides
    np.testing.assert_allclose(dy, along(SQUARE, t), rtol=1e-14, atol=1e-14)
    w = np.sin(np.arange(40000.0)).reshape(200, 200)
    found = dualad.grad(lambda a: np.sum(w * f(a)))(SQUARE)
    e = np.zeros((200, 200))
    for at in ((0, 0), (3, 7), (199, 5)):
        e[at] = 1.0
        np.testing.assert_allclose(found[at], np.sum(w * along(SQUARE, e)), rtol=1e-13)
        e[at] = 0.0


def test_transposes_are_laid_out_beside_what_is_in_order_and_not_before_it():
    turned = SQUARE.T
    laid = laid_out(1, (SQUARE, turned))
    assert laid is not None and np.array_equal(np.ravel(laid.arrays[1]), np.ravel(turned))
    assert laid_out(1, (turned, SQUARE)) is None and laid_out(1, (turned, turned)) is None
    assert laid_out(1, (SQUARE, SQUARE[::-1])) is None
