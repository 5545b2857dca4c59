"""Programs with loops: what is carried, read, saved, and asked in each turn."""

import numpy as np
import pytest
from native_programs import check, native, program_of

import dualad
from dualad.compiling.loop import Loop
from dualad.compiling.numpy_source import Failed

rng = np.random.default_rng(1)
ROWS = [np.array(r) for r in rng.normal(size=(60, 9))]
TABLE = rng.normal(size=(60, 9))


def scalars(x):
    y = x * 0.5
    for k in range(60):
        x, y = y * 0.9 + 0.1, x + y * np.sin(x) * (1.0 if k % 2 else 0.5)
    return x + y


def vectors(x):
    h, c = x * 0.1, x + 1.0
    for k in range(60):
        c = c * 0.5 + np.tanh(h + ROWS[k]) * x
        h = np.sin(c) * h + TABLE[k] * 0.01
    return np.sum(h * c)


def matrices(x):
    a = np.outer(x, x) * 0.01
    for _ in range(40):
        a = a + (a * a.T) * 0.01 - a[:, :1] * 0.1
    return np.sum(a)


CASES = {
    "scalars": (scalars, np.float64(0.4)),
    "vectors": (vectors, rng.normal(size=9)),
    "matrices": (matrices, rng.normal(size=12)),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    f, x = CASES[name]
    program, _ = program_of(f, x)
    assert any(isinstance(s, Loop) for s in program.steps)
    check(f, x, rtol=1e-12)
    check(dualad.grad(f), x, rtol=1e-10, atol=1e-12)
    check(lambda x, t: dualad.jvp(f, (x,), (t,)), x, x * 0.3, rtol=1e-10)


def test_a_guard_in_a_loop_fails_in_any_turn():
    def f(x):
        for _ in range(50):
            x = x - 0.1 if x > 0 else x * 1.5
        return x

    run, _ = native(f, np.float64(100.0))
    assert run(np.float64(90.0))[0] == pytest.approx(85.0)
    assert type(run(np.float64(3.0))) is Failed  # it gets to zero in turn 30
    compiled = dualad.compile(f)
    for x in (100.0, 90.0, 3.0, -1.0, 2.0):
        assert compiled(x) == pytest.approx(f(x), rel=1e-12)


def test_constants_in_a_loop_are_read_when_it_runs():
    rows = [np.array(r) for r in TABLE]

    def f(x):
        for k in range(60):
            x = np.sin(x) + rows[k]
        return np.sum(x)

    x = rng.normal(size=9)
    run, values = native(f, x)
    rows[20][:] = 7.0
    np.testing.assert_allclose(run(*values)[0], f(x), rtol=1e-13)


def recurrence(x):
    y = x[0]
    for k in range(1, 60):
        y = np.sin(y) * x[k] + x[k - 1]
    return y


def filled(x):
    y = np.zeros_like(x)
    for k in range(1, 60):
        y[k] = np.sin(y[k - 1]) * x[k] + 1
    return y


def backwards(x):
    y = x * 1.0
    for k in range(58, 0, -1):
        y[k] += y[k + 1] * x[-k] * 0.1
    return y


def rows(a):
    y = a[0] * 1.0
    for k in range(1, 30):
        y = np.sin(y) * a[k] + a[k - 1][::-1]
    return y


def rows_written(a):
    b = a * 0.5
    for k in range(1, 29):
        b[k] = b[k - 1] * a[k + 1] + np.cos(b[k, 0])
        b[k, 1:3] += a[k, :2]
    return b


def kept_and_written(x):
    """What is written over is read again after the loop, and as it was in each turn."""
    y, total = np.zeros_like(x), 0.0
    for k in range(1, 50):
        before = y * 1.0
        y[k] = np.cos(before[k - 1]) + x[k]
        total = total + np.sum(before) * 0.1
    return np.sum(y * x) + total


INDEXED = {
    "recurrence": (recurrence, (60,), (100,)),
    "filled": (filled, (60,), (100,), (1000,)),
    "backwards": (backwards, (60,), (200,)),
    "rows": (rows, (30, 5), (30, 100)),
    "rows written": (rows_written, (30, 4), (30, 80)),
    "kept": (kept_and_written, (50,), (300,)),
}


@pytest.mark.parametrize("name", INDEXED)
def test_indices_that_change_from_turn_to_turn(name):
    f, *shapes = INDEXED[name]
    for shape in shapes:
        x = rng.normal(size=shape)
        program, _ = program_of(f, x)
        assert any(isinstance(s, Loop) for s in program.steps)
        (got,) = check(f, x, rtol=1e-11)
        np.testing.assert_allclose(got, f(x), rtol=1e-11)
        square = dualad.grad(lambda x: np.sum(f(x) ** 2))
        check(square, x, rtol=1e-9, atol=1e-11, whole=False)
