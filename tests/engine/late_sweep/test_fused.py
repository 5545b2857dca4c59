"""Runs of large elementwise operations, swept by blocks: as one by one, and only where allowed."""

import numpy as np
import pytest

import dualad
from dualad.engine.arrays.memory import LARGE
from dualad.engine.late_sweep import fused

N = LARGE + 1001
X = np.linspace(0.2, 0.8, N)
W = np.cos(37 * X)


def shared(x, y):
    s = x + y
    return s * s - s / y + (s + s) * x - (x - s)


PROGRAMS = {
    "rational": lambda x, y: ((0.3 * x + 0.7) * x - 0.2) * y / (1.0 + y * y),
    "transcendental": lambda x, y: np.exp(np.sin(x)) * np.tanh(y) - np.log(x) + np.sqrt(y),
    "shared": shared,
    "constants": lambda x, y: (x * W - W / y) * 3.0 - W + 2.0 / (x + 1.0),
    "kinks": lambda x, y: np.maximum(x * y, 0.3) * x + np.abs(y - 0.5) * y,
    "powers": lambda x, y: (x**3 + y**2) * (x * y) ** 0.5 - x**-1,
    "a sum between": lambda x, y: np.sum(x * y * x) * y + x * (y - 1.0),
    "other shapes between": lambda x, y: x * y[::-1] * x - np.concatenate([y, x])[N:] * y,
    "repeated": lambda x, y: (x * x) * (x * x) + (y - x) * (x - y),
}


@pytest.fixture
def runs(monkeypatch):
    """Which runs were swept as one: how many entries each spans."""
    found = []
    pull_run = fused.pull_run

    def counted(tape, inputs, g, last, late, known):
        first = pull_run(tape, inputs, g, last, late, known)
        found.extend([] if first is None else [last - first + 1])
        return first

    monkeypatch.setattr(fused, "pull_run", counted)
    return found


def one_by_one(monkeypatch, f):
    with monkeypatch.context() as m:
        m.setattr(fused, "pull_run", lambda *_: None)
        return f()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_one_by_one(name, runs, monkeypatch):
    _, pull = dualad.vjp(PROGRAMS[name], X, X + 0.5)
    want = one_by_one(monkeypatch, lambda: pull(W))
    for _ in range(2):  # a pullback may be called again
        for got, exact in zip(pull(W), want, strict=True):
            np.testing.assert_array_equal(got, exact)
    assert max(runs) >= 2
    np.testing.assert_array_equal(W, np.cos(37 * X))  # what was given is not written to


def test_a_closed_form(runs):
    g = dualad.grad(lambda x, y: np.sum(np.sin(x * y) * x), argnums=(0, 1))
    y = X + 0.5
    got = g(X, y)
    np.testing.assert_allclose(got[0], np.sin(X * y) + X * y * np.cos(X * y), rtol=1e-14)
    np.testing.assert_allclose(got[1], X * X * np.cos(X * y), rtol=1e-14)
    assert runs == [3]


def test_sums_hand_their_cotangent_on_and_nobody_else_sees_what_is_added_to_it(runs):
    """Nothing is computed between sums: both operands get the one array, and may get more."""
    n = 200
    a, w = np.cos(np.arange(n * n, dtype=float)).reshape(n, n), np.sin(np.arange(n * n) / 7.0)
    w = w.reshape(n, n)
    f = lambda a: np.sum(w * (a + a.T + 1.0)) + np.sum(w * a) + np.sum(w.T * (a.T + w))
    np.testing.assert_allclose(dualad.grad(f)(a), 3 * w + w.T, rtol=1e-13)
    _, pull = dualad.vjp(lambda a: (a + a.T + 1.0, a + w), a)
    before = w.copy()
    runs.clear()
    for _ in range(2):
        (ct,) = pull((w, w))
        np.testing.assert_allclose(ct, 2 * w + w.T, rtol=1e-13)
    assert np.array_equal(w, before) and runs == []


def test_several_axes_and_cotangents_of_a_broadcast():
    x = X[: N - N % 3].reshape(3, -1, 1)
    got = dualad.grad(lambda x: np.sum(np.exp(x) * x * 2.0))(x)
    np.testing.assert_allclose(got, 2 * np.exp(x) * (1 + x), rtol=1e-15)


def test_cotangents_that_come_from_beyond_the_run(runs):
    def f(x):
        a = x * 2.0
        b = a * a
        late = np.sum(b.reshape(-1, 1) * np.ones((1, 2)))  # of another shape
        return np.sum(b * a) + late + np.sum(a)

    np.testing.assert_allclose(dualad.grad(f)(X), 24 * X**2 + 16 * X + 2, rtol=1e-14)


def test_results_share_no_memory():
    _, pull = dualad.vjp(lambda x, y, z: (x + y) - (z + x), X, X + 1, X + 2)
    got = pull(W)
    for mine, want in zip(got, (0 * W, W, -W), strict=True):
        np.testing.assert_array_equal(mine, want)
    assert not any(np.shares_memory(a, b) for a in (*got, W) for b in got if a is not b)


def test_zero_wins_over_infinity_in_one_entry(runs):
    x = X.copy()
    x[5] = 0.0
    got = dualad.grad(lambda x: np.sum(np.sqrt(x * x) * 1.0))(x)
    np.testing.assert_allclose(got, np.where(x == 0, 0.0, 1.0), rtol=1e-15)
    assert runs, "the first sweep, which met a NaN"


def test_no_warning_that_the_function_does_not_give(runs):
    x = X.copy()
    x[7] = 0.0
    with np.errstate(all="raise"):
        got = dualad.grad(lambda x: np.sum(np.sqrt(x) * 3.0 * x))(x)
    assert got[7] == 0.0 and runs


def test_higher_derivatives():
    f = lambda x: np.sum(np.sin(x) * x)
    exact = (2 * np.cos(X) - X * np.sin(X)) * W
    np.testing.assert_allclose(dualad.hvp(f, (X,), (W,)), exact, rtol=1e-12, atol=1e-15)
    over = dualad.grad(lambda x: np.sum(dualad.grad(f)(x) * W))(X)
    np.testing.assert_allclose(over, exact, rtol=1e-12, atol=1e-15)


def test_float32_and_transposed_arrays():
    f = lambda x: np.sum((x * x) * 3.0 + x)
    x = X[: N - 1].reshape(2, -1).T
    np.testing.assert_allclose(dualad.grad(f)(x), 6 * x + 1, rtol=1e-15)
    got = dualad.grad(f)(X.astype(np.float32))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, 6 * X + 1, rtol=1e-6)
