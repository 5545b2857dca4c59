"""Repetition in programs: found, and the loops mean what the straight code meant."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from interpreter import FailedError, interpret

import dualad
from dualad.compiling.loop import Loop
from dualad.compiling.program import trace
from dualad.compiling.rolling import rolled


def program_of(f, *args):
    values = [np.float64(a) if isinstance(a, float) else a for a in args]
    return trace(f, values, lambda new: (tuple(new), {}))[0]


def loops(program):
    return [s for s in program.steps if isinstance(s, Loop)]


def check(f, *args, least=1, others=()):
    """The rolled program gives what the straight one gives, here and for other arguments."""
    straight = program_of(f, *args)
    short = rolled(straight)
    assert len(loops(short)) >= least
    for values in (args, *others):
        want, got = interpret(straight, values), interpret(short, values)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
    return short


def test_a_chain():
    def f(x):
        for _ in range(100):
            x = x + 0.05 * np.sin(x)
        return x

    (loop,) = loops(check(f, 0.5, others=[(1.5,)]))
    assert (loop.turns, len(loop.body), len(loop.carries)) == (100, 3, 1)


def test_its_gradient_reads_what_the_loop_saved():
    def f(x):
        for _ in range(50):
            x = x + 0.05 * np.sin(x) * np.cos(x)
        return x

    short = check(dualad.grad(f), 0.5, least=2, others=[(1.5,)])
    assert len(short.steps) < 30


@pytest.mark.parametrize("lag", [1, 2, 3])
def test_values_of_several_turns_ago(lag):
    def f(x):
        row = [x * (k + 1.0) for k in range(lag)]
        for _ in range(40):
            row.append(0.5 * row[-1] - 0.3 * np.sin(row[-lag]))
        return row[-1] + row[-lag]

    check(f, 0.7, others=[(2.0,)])


def test_numbers_that_differ_and_indices_in_steps():
    weights = np.random.default_rng(1).normal(size=30).tolist()

    def f(x):
        total = 0.0
        for k, w in enumerate(weights):
            total = total + w * x[2 * k] * np.sum(x[k : k + 3])
        return total

    x = np.random.default_rng(2).normal(size=70)
    short = check(f, x, others=[(2 * x,)])
    lines = [s.line for loop in loops(short) for s in loop.streams]
    assert sum(line is not None and line[1] in (1, 2) for line in lines) >= 2
    check(dualad.grad(f), x, others=[(2 * x,)])


def test_writes_at_an_index_in_steps():
    def f(x):
        y = np.zeros_like(x)
        y[0] = x[0]
        for k in range(1, len(x)):
            y[k] = 0.9 * y[k - 1] + x[k]
        return y

    x = np.random.default_rng(2).normal(size=40)
    check(f, x, others=[(2 * x,)])
    check(lambda x: dualad.grad(lambda x: np.sum(f(x) ** 2))(x), x, others=[(2 * x,)])


def test_a_guard_in_a_middle_turn_fails():
    def f(x):
        for k in range(30):
            x = x * 1.5 if x < 1000.0 + k else x
        return x

    straight = program_of(f, 1e-3)
    short = rolled(straight)
    assert loops(short)
    for x in (1e-3, 1e-2, 1.0, 900.0):
        results = []
        for p in (straight, short):
            try:
                results.append(interpret(p, [np.float64(x)]))
            except FailedError:
                results.append("failed")
        assert results[0] == results[1]


def test_nested_loops_and_what_comes_between():
    def f(x):
        for _ in range(8):
            for _ in range(12):
                x = x + 0.01 * np.sin(x)
            x = np.sqrt(x * x + 1.0)
        return x

    check(f, 0.5, others=[(3.0,)])


def test_what_does_not_repeat_stays():
    functions = [np.sin, np.cos, np.tanh, np.exp, np.arctan, np.square]

    def f(x):
        for k in range(7 * 6):
            x = functions[(k * k + k // 5) % 6](x) * 0.5
        return x

    straight = program_of(f, 0.5)
    assert interpret(rolled(straight), [np.float64(0.1)]) == interpret(straight, [np.float64(0.1)])
    assert rolled(p := program_of(lambda x: np.sin(x) * x, 0.5)) is p


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.data())
def test_random_loops(data):
    """Random bodies over several carried values, tables, indices and writes."""
    turns = data.draw(st.integers(4, 25))
    kinds = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=5))
    spread = data.draw(st.integers(1, 3))
    table = np.random.default_rng(turns).normal(size=turns).tolist()

    def f(x):
        a, b, y = x[0], x[1] * 1.5, np.zeros_like(x)
        history = [a, b]
        for t in range(turns):
            for kind in kinds:
                if kind == 0:
                    a = a * 0.5 + np.sin(b)
                elif kind == 1:
                    b = b - table[t] * a
                elif kind == 2:
                    a = a + x[t + 1] * x[turns + 1 - t]
                elif kind == 3:
                    y[t] = a * 2.0
                elif kind == 4:
                    b = 0.3 * b + y[max(t - spread, 0)]
                elif kind == 5:
                    a, b = b, a * 0.9
                else:
                    b = b + 0.1 * history[-spread if len(history) > spread else 0]
            history.append(a)
        return a * b + np.sum(y)

    x = np.random.default_rng(7).normal(size=30)
    straight = program_of(dualad.value_and_grad(f) if turns % 2 else f, x)
    short = rolled(straight)
    for values in ([x], [x[::-1].copy()]):
        for got, want in zip(interpret(short, values), interpret(straight, values), strict=True):
            np.testing.assert_array_equal(got, want)


def test_long_programs_are_searched_in_a_moment():
    pattern = itertools.cycle([np.sin, np.cos, np.tanh])
    rng = np.random.default_rng(0)

    def f(x):
        for step in rng.integers(0, 3, size=3000):
            for _ in range(step):
                x = next(pattern)(x)
            x = x + 1.0
        return x

    straight = program_of(f, 0.5)
    assert interpret(rolled(straight), [np.float64(0.2)]) == interpret(straight, [np.float64(0.2)])


def test_a_view_that_a_loop_saves_is_not_written_over_in_the_next_turn():
    """The slope of a row's sine is the cosine of the row as it was in that turn."""

    def f(a, b):
        row = np.zeros_like(b)
        for k in range(8):
            a[k % 4] = row + b
            a[:, k % 4] *= 0.5
            row = np.sin(a[(k + 2) % 4])
        return np.sum(np.cos(a) * row)

    a, b = np.linspace(0.1, 1.0, 16).reshape(4, 4), np.linspace(-0.4, 0.5, 4)
    g = dualad.grad(lambda a, b: f(a.copy(), b), (0, 1))
    step, ones = 1e-30, np.ones(4)
    along = np.imag(f(a + 0j, b + 1j * step * ones)) / step
    compiled = dualad.compile(g, backend="numpy")
    for _ in range(2):
        np.testing.assert_allclose(np.sum(compiled(a, b)[1]), along, rtol=1e-12)
