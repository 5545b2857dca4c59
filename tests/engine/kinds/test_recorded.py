"""Reverse mode: what is kept, what it costs, and that the sweep adds up the right shares."""

import gc
import sys
import time
import tracemalloc
import weakref

import numpy as np
import pytest

import dualad
from dualad.engine.levels.traced import raw

# --- long chains -----------------------------------------------------------------------------


def chain(x, n):
    for _ in range(n):
        x = x * 1.00001 + 1e-7
    return x


def test_a_hundred_thousand_operations_without_recursion():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        slope = dualad.grad(lambda x: chain(x, 50_000))(1.0)
        tangent = dualad.jvp(lambda x: chain(x, 50_000), (1.0,), (1.0,))[1]
        _, f_lin = dualad.linearize(lambda x: chain(x, 50_000), 1.0)
        applied, pulled = f_lin(1.0), dualad.vjp(lambda x: chain(x, 50_000), 1.0)[1](1.0)[0]
    finally:
        sys.setrecursionlimit(limit)
    for found in (slope, tangent, applied, pulled):
        np.testing.assert_allclose(found, 1.00001**50_000, rtol=1e-9)


def test_memory_is_freed_and_an_operation_costs_little_of_it():
    """Below 250 bytes a recorded scalar operation, its value included; nothing stays."""
    f, n = lambda x: chain(x, 10_000), 20_000
    g = dualad.grad(f)
    g(1.0)
    gc.collect()
    tracemalloc.start()
    g(1.0)
    _, peak = tracemalloc.get_traced_memory()
    gc.collect()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak / n < 250
    assert left < 20_000


def test_there_are_no_reference_cycles():
    """What a gradient used is gone when it returns, without the garbage collector."""
    kept = []

    def f(x):
        y = np.sin(x) * x
        kept.extend([weakref.ref(y), weakref.ref(raw(y))])
        return np.sum(np.exp(y) / (1.0 + y @ y))

    gc.disable()
    try:
        dualad.grad(f)(np.ones(3))
        dualad.jvp(f, (np.ones(3),), (np.ones(3),))
        dualad.grad(lambda x: dualad.jvp(f, (x,), (x,))[1])(np.ones(3))
        assert not [r for r in kept if r() is not None]
    finally:
        gc.enable()


# --- what an entry keeps ---------------------------------------------------------------------

FORGETS = {
    "sum with a constant": lambda y: y + 1.0,
    "difference": lambda y: 2.0 - y,
    "negation": lambda y: -y,
    "product with a constant": lambda y: y * 3.0,
    "quotient by a constant": lambda y: y / 3.0,
    "exponential": lambda y: np.exp(y),  # reads its own result
    "square root": lambda y: np.sqrt(y),
    "index": lambda y: y[1:],
    "reshape": lambda y: y.reshape(2, 2),
    "matrix product": lambda y: np.eye(4) @ y,
    "sum of entries": lambda y: np.sum(y),
}
KEEPS = {
    "sine": lambda y: np.sin(y),
    "square": lambda y: y * y,
    "logarithm": lambda y: np.log(y),
}


def is_kept(operation):
    """Whether the argument of an operation is alive while its pullback is."""
    kept = []

    def f(x):
        y = np.exp(x) if operation is not FORGETS["exponential"] else np.log(x)
        y = y * 1.0  # an array that no other operation reads
        kept.append(weakref.ref(raw(y)))
        return np.sum(operation(y))

    _, pullback = dualad.vjp(f, np.full(4, 0.5))
    gc.collect()
    return kept[0]() is not None, pullback


@pytest.mark.parametrize("operation", FORGETS.values(), ids=FORGETS)
def test_an_operation_keeps_nothing_that_its_rule_does_not_read(operation):
    alive, _pullback = is_kept(operation)
    assert not alive


@pytest.mark.parametrize("operation", KEEPS.values(), ids=KEEPS)
def test_an_operation_keeps_what_its_rule_reads(operation):
    alive, _pullback = is_kept(operation)
    assert alive


def entries(f, *args):
    """How many operations the linear program of f has before anything is dropped."""
    return len(dualad.linearize(f, *args)[1]._run.tape) - len(args)


def test_what_does_not_depend_on_the_inputs_is_not_recorded():
    c = np.linspace(0.0, 1.0, 5)

    def f(x):
        a = np.sin(c) * 2.0 + np.exp(c)
        b = dualad.stop_gradient(x) ** 2
        return np.sum(x * (a + b))

    assert entries(f, np.ones(5)) == 2


def test_a_result_with_zero_derivative_is_not_recorded():
    assert entries(lambda x: np.floor(x) + np.sign(x) * 2.0, np.ones(3)) == 0
    assert dualad.grad(lambda x: np.sum(np.floor(x)))(np.ones(3)).tolist() == [0.0, 0.0, 0.0]


# --- the cost of indexing --------------------------------------------------------------------


def count_items(x):
    total = 0.0
    for k in range(x.shape[0]):
        total = total + x[k] ** 2
    return total


def rows_squared(m):
    return sum(np.sum(m[k] ** 2) for k in range(m.shape[0]))


def pairs_squared(m):
    return sum(m[k, j] ** 2 for k in range(m.shape[0]) for j in range(2))


INDEXINGS = {
    "integers": count_items,
    "negative integers": lambda x: sum(x[-k] ** 2 for k in range(1, x.shape[0] + 1)),
    "iteration": lambda x: sum(v * v for v in x),
    "slices": lambda x: sum((x[k : k + 1] ** 2)[0] for k in range(x.shape[0])),
    "index arrays": lambda x: sum(np.sum(x[np.array([k, k])] ** 2) / 2 for k in range(x.shape[0])),
    "rows": lambda x: rows_squared(x.reshape(-1, 2)),
    "pairs of integers": lambda x: pairs_squared(x.reshape(-1, 2)),
}


def elements_touched(f, x, monkeypatch):
    """How many array elements the sweep allocates or adds: the work beside a call's overhead."""
    from dualad.engine.kinds import recorded

    work = [0]
    plain = recorded.np

    class Counting:
        def __getattr__(self, name):
            return getattr(plain, name)

        def zeros(self, shape, dtype=float):
            out = plain.zeros(shape, dtype)
            work[0] += out.size
            return out

        def array(self, *args, **kwargs):
            out = plain.array(*args, **kwargs)
            work[0] += out.size
            return out

    monkeypatch.setattr(recorded, "np", Counting())
    dualad.grad(f)(x)
    monkeypatch.undo()
    return work[0]


@pytest.mark.parametrize("f", INDEXINGS.values(), ids=INDEXINGS)
def test_indexing_every_entry_of_an_array_is_linear_in_its_length(f, monkeypatch):
    """One array is allocated for the cotangent, whatever the number of indexings."""
    for n in (40, 400):
        x = np.linspace(0.1, 1.0, n)
        assert elements_touched(f, x, monkeypatch) <= 3 * n
        np.testing.assert_allclose(dualad.grad(f)(x), 2 * x, rtol=1e-12)


@pytest.mark.parametrize("f", INDEXINGS.values(), ids=INDEXINGS)
def test_the_time_of_indexing_grows_with_the_length_not_with_its_square(f):
    """Eight times the length in less than 25 times the time (a quadratic cost would be 64)."""

    def seconds(n):
        x, g = np.linspace(0.1, 1.0, n), dualad.grad(f)
        best = np.inf
        for _ in range(3):
            start = time.process_time()
            g(x)
            best = min(best, time.process_time() - start)
        return best

    seconds(100)
    assert seconds(8000) < 25 * seconds(1000) + 0.05


# --- shares ----------------------------------------------------------------------------------


def test_a_variable_used_many_times_collects_all_its_shares():
    f = lambda x: x * x + np.sin(x) * x - x / (1 + x)
    x = 0.7
    exact = 2 * x + np.cos(x) * x + np.sin(x) - 1 / (1 + x) ** 2
    np.testing.assert_allclose(dualad.grad(f)(x), exact)


def test_shares_are_not_written_into_one_another():
    """add hands one cotangent to both parents; adding an indexed share must copy it first."""

    def f(x):
        y, z = x * 1.0, x * 1.0
        w = y + z
        return np.sum(w * w) + y[0] * 10.0 + z[1] * 100.0 + w[2] * 1000.0

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(dualad.grad(f)(x), 8 * x + np.array([10.0, 100.0, 2000.0]))


def test_the_seed_is_not_written_into():
    w = np.ones(3)
    _, pullback = dualad.vjp(lambda x: x + 0.0, np.ones(3))
    pullback(w)[0][...] = 5.0
    np.testing.assert_array_equal(w, np.ones(3))

    def f(x):
        return x, x[0], x[1] * 2.0

    _, pullback = dualad.vjp(f, np.ones(3))
    np.testing.assert_array_equal(pullback((w, 1.0, 1.0))[0], [2.0, 3.0, 1.0])
    np.testing.assert_array_equal(w, np.ones(3))


def test_a_pullback_can_be_called_again_and_gives_independent_arrays():
    _, pullback = dualad.vjp(lambda x: x[::-1] * x, np.array([1.0, 2.0]))
    first = pullback(np.ones(2))[0]
    kept = first.copy()
    first[...] = -1.0
    np.testing.assert_array_equal(pullback(np.ones(2))[0], kept)


def test_outputs_that_are_one_variable_or_none():
    y, pullback = dualad.vjp(lambda x: (x, x, 2.0, x * 3.0), np.ones(2))
    (share,) = pullback((np.ones(2), np.ones(2) * 10, 0.0, np.ones(2) * 100))
    np.testing.assert_array_equal(share, [311.0, 311.0])
    assert y[2] == 2.0


@pytest.mark.parametrize(
    "shapes", [((3,), (2, 3)), ((2, 1), (3,)), ((), (3,)), ((1,), ()), ((0,), (1,))]
)
def test_broadcast_arguments_get_the_sum_of_their_shares(shapes):
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=s)[()] for s in shapes)
    w = rng.normal(size=np.broadcast_shapes(*shapes))[()]
    _, pullback = dualad.vjp(lambda a, b: a * b, a, b)
    for share, own, other in zip(pullback(w), (a, b), (b, a), strict=True):
        full = np.broadcast_to(w * other, np.broadcast_shapes(*shapes))
        lead = full.ndim - np.ndim(own)
        axes = tuple(range(lead)) + tuple(
            k + lead for k, n in enumerate(np.shape(own)) if n == 1 != full.shape[k + lead]
        )
        expected = full.sum(axis=axes, keepdims=False).reshape(np.shape(own))
        np.testing.assert_allclose(share, expected)
        assert np.shape(share) == np.shape(own)


def test_cotangents_take_the_dtype_of_their_argument():
    a, b, z = np.float32([1, 2]), np.array([3.0, 4.0]), np.array([1 + 1j, 2.0])
    _, pullback = dualad.vjp(lambda a, b, z: a * b * z, a, b, z)
    shares = pullback(np.array([1 - 1j, 1j]))
    assert [s.dtype for s in shares] == [np.float32, np.float64, np.complex128]
    np.testing.assert_allclose(shares[0], np.real((np.array([1 - 1j, 1j])) * np.conj(b * z)))


# --- constants -------------------------------------------------------------------------------


def test_a_constant_that_is_overwritten_later_was_read_before():
    """A work buffer that a loop reuses: each operation has read what it held then."""

    def f(x):
        buffer, total = np.empty(3), 0.0
        for k in range(1, 4):
            buffer[:] = k
            total = total + np.sum(x * buffer) * k
        return total

    x = np.ones(3)
    np.testing.assert_array_equal(dualad.grad(f)(x), [14.0, 14.0, 14.0])
    assert dualad.jvp(f, (x,), (x,))[1] == 42.0


def test_an_argument_that_is_overwritten_after_vjp_was_read_before():
    x = np.array([0.5, 1.0])
    expected = np.cos(x)
    _, pullback = dualad.vjp(np.sin, x)
    _, f_lin = dualad.linearize(np.sin, x)
    x[:] = 7.0
    np.testing.assert_array_equal(pullback(np.ones(2))[0], expected)
    np.testing.assert_array_equal(f_lin(np.ones(2)), expected)


# --- zero meets infinity ---------------------------------------------------------------------


def test_the_branch_not_taken_cannot_poison_a_gradient():
    f = lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 0.0)), 0.0))
    np.testing.assert_array_equal(dualad.grad(f)(np.array([0.0, 4.0])), [0.0, 0.25])
    with np.errstate(all="ignore"):
        g = lambda x: np.sum(np.where(x > 0, np.log(x) * x, x**2))
        np.testing.assert_allclose(
            dualad.grad(g)(np.array([0.0, -1.0, 2.0])), [0.0, -2.0, np.log(2.0) + 1.0]
        )


def test_a_gradient_that_is_infinite_stays_infinite():
    np.testing.assert_array_equal(
        dualad.grad(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 1.0])), [np.inf, 0.5]
    )


def test_a_nan_in_the_seed_is_handed_on():
    _, pullback = dualad.vjp(lambda x: x * 2.0, np.ones(2))
    np.testing.assert_array_equal(pullback(np.array([np.nan, 1.0]))[0], [np.nan, 2.0])


# --- what rules do not read ------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, dies",
    [
        (np.linalg.inv, "argument"),
        (np.linalg.cholesky, "argument"),
        (lambda m: np.linalg.eigh(m)[0], "argument"),
        (lambda m: m @ m.T, "result"),
    ],
)
def test_what_the_rule_of_a_composite_does_not_read_is_not_held(f, dies):
    memory = {}

    def watched(x):
        m = x @ x + np.diag(np.full(128, 999.0))
        out = f(m)
        memory["argument"] = weakref.ref(raw(m))
        memory["result"] = weakref.ref(raw(out))
        return np.sum(out + 0.0)

    x = np.random.default_rng(0).normal(size=(128, 128))
    dualad.vjp(watched, (x + x.T) / 2)
    _, pullback = dualad.vjp(watched, (x + x.T) / 2)
    assert memory[dies]() is None
    assert np.isfinite(pullback(1.0)).all()
