"""The memory of large arrays: who gets it when, and that nobody sees it who should not."""

import gc
import platform
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dualad
from dualad.engine.arrays.cutting import aligned_block, scratch
from dualad.engine.arrays.memory import (
    LARGE,
    LIMIT,
    POOL,
    Pool,
    copied,
    has_own_memory,
    large_copy,
    large_product,
    large_result,
    zeros,
)
from dualad.engine.arrays.storage import bump, version, written_at
from dualad.engine.programs.entries import add_cotangent

N = 7 * (LARGE // 7 + 11)
X = np.linspace(0.2, 0.8, N)


def place(array):
    return array.__array_interface__["data"][0]


def test_memory_goes_to_the_next_array_of_that_size_when_the_last_view_is_gone():
    pool = Pool()
    a = pool.lend((4, 5))
    where, view = place(a), a[1:, 2]
    assert a.shape == (4, 5) and a.dtype == np.float64 and a.flags.writeable
    del a
    assert place(pool.lend((20,))) != where, "a view still reads it"
    del view
    gc.collect()
    assert pool.held() == 2 * 160
    b, c = pool.lend((20,)), pool.lend((2, 10))
    assert where in (place(b), place(c)) and not np.shares_memory(b, c)
    assert pool.lend((19,)).size == 19


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("others", [0, 3, 12])
def test_memory_that_came_back_last_is_lent_first(is_open, others):
    """It is what the caches still hold."""
    pool = Pool()
    user = pool.enter() if is_open else None
    first, last = pool.lend((30,)), pool.lend((30,))
    arrays = [pool.lend((7,)) for _ in range(others)]
    cold, hot = place(first), place(last)
    del first, last
    del arrays
    assert place(pool.lend((30,))) == hot
    a, b = pool.lend((30,)), pool.lend((30,))
    assert [place(a), place(b)] == [hot, cold]
    assert pool.held() == 56 * others
    if user is not None:
        user.close()


def test_the_pool_keeps_little_between_calls_and_nothing_when_asked():
    pool = Pool()
    user = pool.enter()
    arrays = [pool.lend((LIMIT // 80,)) for _ in range(12)]
    del arrays
    gc.collect()
    assert pool.held() > LIMIT, "a level is open"
    user.close()
    assert LIMIT // 2 < pool.held() <= LIMIT
    pool.lend((3,))
    pool.shrink()
    assert pool.held() == 0


def test_levels_close_what_they_open():
    POOL.shrink()  # of what other tests have left
    users = set(POOL.users)
    f = lambda x: np.sum(np.sin(x) * x)
    dualad.grad(f)(X)
    dualad.jvp(f, (X,), (X,))
    dualad.hvp(f, (X,), (X,))
    with pytest.raises(ZeroDivisionError):
        dualad.grad(lambda x: f(x) / (1 // 0))(X)
    assert POOL.users == users and POOL.held() <= LIMIT


def test_who_never_gets_to_close_is_forgotten():
    """An interrupt may come between `enter` and the block that closes."""
    pool = Pool()
    user = pool.enter()
    assert pool.users
    del user
    gc.collect()
    assert not pool.users


@pytest.mark.parametrize("die", ["array", "written"])
def test_no_python_code_runs_when_memory_dies(die):
    """There an interrupt would be lost: Python ignores exceptions in destructors."""
    if die == "array":
        pool = Pool()
        array = pool.lend((LARGE,))
    else:
        array = np.zeros(3)
        bump(array)
        assert version(array) == 1
    calls = []
    sys.setprofile(lambda frame, event, arg: calls.append(event))
    try:
        del array
    finally:
        sys.setprofile(None)
    assert "call" not in calls
    if die == "array":
        assert pool.held() == 8 * LARGE


def test_memory_that_comes_after_written_memory_has_not_been_written():
    seen = set()
    for _ in range(50):
        array = np.zeros(3)
        assert version(array) == 0 and written_at(array) == 0
        seen.add(id(array))
        bump(array)
        bump(array)
        assert version(array[1:]) == 2
        del array
    assert len(seen) < 50, "none came to where another was"


def test_what_returns_between_calls_is_little():
    pool = Pool()
    arrays = [pool.lend((LARGE + k,)) for k in range(200)]
    del arrays
    gc.collect()
    assert pool.held() <= LIMIT


@pytest.mark.parametrize(
    "operands",
    [
        (X, X[::-1].copy()),
        (X.reshape(7, -1), np.arange(N // 7)),
        (np.ones((3, 1)), X),
        (X, 3.0),
        (2**70, X),
        (np.float64(2.0), X),
        (X.reshape(7, -1).T, X.reshape(7, -1).T),
        (X.reshape(7, -1), X[::-1].reshape(-1, 7).T),
        (X.reshape(-1, 7).T, X[::-1].reshape(7, -1)),
        (X[:100].reshape(10, 10), X[:100].reshape(10, 10).T),
        (X[::2], 2.0),
        (X.astype(np.float32), 2.0),
        (X, np.arange(N)),
        (X, np.longdouble(2.0)),
        (X + 1j, X),
    ],
)
def test_results_are_those_of_numpy(operands):
    want, got = np.multiply(*operands), large_result(np.multiply, *operands)
    assert got.dtype == want.dtype and got.strides == want.strides
    np.testing.assert_array_equal(got, want)


def test_products_are_those_of_numpy():
    r = np.random.default_rng(1)
    a, b = r.normal(size=(3, 200, 30)), r.normal(size=(30, 200))
    for left, right in ((a, b), (a[0], b), (a, b[:, 0]), (b.T, b), (a.astype("f"), b), (a, a.mT)):
        want, got = np.matmul(left, right), large_product(left, right)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)


def test_copies_are_of_the_same_layout():
    for x in (X, X.reshape(7, -1).T, X[:5], X > 0.5):
        y = large_copy(x)
        assert y.strides == x.strides and not np.shares_memory(x, y)
        np.testing.assert_array_equal(x, y)


def test_what_is_no_view_has_its_own_memory():
    a = POOL.lend((4, 5))
    assert has_own_memory(a) and has_own_memory(np.zeros(3))
    assert not has_own_memory(a[1:]) and not has_own_memory(a.T)


def test_results_stay_what_they_are_and_share_nothing():
    f = lambda x, y: np.sum(np.sin(x) * y + x)
    g = dualad.grad(f, argnums=(0, 1))
    first = [*g(X, X + 1), *dualad.jvp(lambda x: x * 2.0, (X,), (X,))]
    kept = [a.copy() for a in first]
    for _ in range(3):
        g(X, X * 3)
        dualad.jvp(lambda x: np.exp(x) * x, (X,), (X,))
    for a, b in zip(first, kept, strict=True):
        np.testing.assert_array_equal(a, b)
        a[:] = 0.0
    np.testing.assert_allclose(g(X, X + 1)[0], np.cos(X) * (X + 1) + 1, rtol=1e-14)
    assert not any(np.shares_memory(a, b) for a in first for b in first if a is not b)


def test_values_that_a_function_lets_out_keep_their_memory():
    seen = []

    def f(x):
        y = x * 2.0
        seen.append(dualad.stop_gradient(y))
        return np.sum(y * y)

    for k in range(1, 4):
        dualad.grad(f)(k * X)
    for k, y in enumerate(seen, 1):
        np.testing.assert_array_equal(y, 2.0 * k * X)


def test_a_large_constant_counts_as_it_was_when_it_was_used():
    scratch = np.ones((LARGE // 8, 8))

    def f(w):
        total = 0.0
        for k in range(3):
            scratch[:] = k + 1.0
            total = total + np.sum(scratch @ w) + np.sum(scratch * w)
        return total

    np.testing.assert_array_equal(dualad.grad(f)(np.ones(8)), 2 * 6.0 * scratch.shape[0])


def test_writing_into_a_large_array_inside_a_function():
    def f(x):
        y = x * 2.0
        y[3] = 5.0 * x[4]
        y[10:] *= x[10:]
        return np.sum(y)

    want = np.where(np.arange(N) < 10, 2.0, 4.0 * X)
    want[3], want[4] = 0.0, 7.0
    np.testing.assert_allclose(dualad.grad(f)(X), want, rtol=1e-15)
    np.testing.assert_allclose(dualad.jvp(f, (X,), (X,))[1], np.sum(want * X), rtol=1e-13)


def test_threads_do_not_get_each_others_memory():
    g = dualad.grad(lambda x, k: np.sum(np.sin(k * x) * x))

    def wrong(k):
        return np.max(np.abs(g(X, k) - (np.sin(k * X) + k * X * np.cos(k * X))))

    with ThreadPoolExecutor(4) as threads:
        assert max(threads.map(wrong, np.arange(1.0, 25.0))) < 1e-13


def test_arrays_that_live_as_long_as_the_interpreter_die_quietly():
    code = (
        "import numpy as np, dualad\n"
        "class Cycle: pass\n"
        "c = Cycle(); c.me = c\n"
        "c.g = g = dualad.grad(lambda x: np.sum(np.sin(x) * x))(np.ones(100_000))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == ""


def test_old_content_gives_no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for x in (np.full(N, 1e300), np.full(N, -2.0), X):
            dualad.grad(lambda x: np.sum(x + x * 2.0))(x)
            dualad.jvp(lambda x: np.sum(x + x * 2.0), (x,), (x,))


# --- what rules compute in between ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", [float, np.float32, complex, object, int])
@pytest.mark.parametrize("shape", [(3, 2), (200, 200)])
def test_copies_and_zeros_of_every_dtype(shape, dtype):
    x = np.arange(shape[0] * shape[1]).reshape(shape).astype(dtype)
    for _ in range(2):
        y, z = copied(x.T), zeros(shape, dtype)
        assert np.array_equal(y, x.T) and y.dtype == x.dtype and y.flags.c_contiguous
        assert z.dtype == x.dtype and z.shape == shape and not z.any()
        z += y.T


def test_a_cotangent_on_lent_memory_is_added_to_in_place_where_nobody_else_reads_it():
    place = lambda x: x.__array_interface__["data"][0]
    g = [zeros((200, 200), float)]
    where = place(g[0])
    add_cotangent(g, 0, np.ones((200, 200)))
    assert place(g[0]) == where and g[0].min() == g[0].max() == 1
    for hold in (lambda x: x, lambda x: x[3:], lambda x: x.reshape(-1)):
        held = hold(g[0])
        before = held.copy()
        add_cotangent(g, 0, np.ones((200, 200)))
        assert place(g[0]) != where and np.array_equal(held, before)
        g, held = [zeros((200, 200), float)], None
        where = place(g[0])


def test_memory_begins_where_a_line_of_the_cache_does():
    """On such memory the loops of NumPy take two thirds of the time."""
    for array in (POOL.lend((LARGE + 3,)), POOL.lend((5, LARGE)), *scratch(3, aligned_block(5))):
        assert array.__array_interface__["data"][0] % 64 == 0


MIDDLE_SIZED = """
import resource
import numpy as np, dualad

def f(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

def calls(n, times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        dualad.hvp(f, (np.linspace(0.5, 1.5, n),), (np.ones(n),))
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

for n in (2, 100, 10_000):
    calls(n, 150)
print(calls(10_000, 20))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is about that allocator")
def test_arrays_of_middle_size_are_not_given_back_between_calls():
    """Their pages would be faulted in again at each call: some 300 of them here."""
    run = subprocess.run([sys.executable, "-c", MIDDLE_SIZED], capture_output=True, text=True)
    assert int(run.stdout) < 20 * 30, run.stderr


@pytest.mark.parametrize("turn", [lambda a, b: (a, b.T), lambda a, b: (a.T, b)])
def test_a_result_beside_a_transpose_is_in_lent_memory(turn):
    entries = np.arange(40_000.0)
    a, b = entries.reshape(200, 200), entries[::-1].reshape(200, 200).copy()
    first, last = turn(a, b)
    got = large_result(np.subtract, first, last)
    assert np.array_equal(got, first - last)
    assert got.base is not None and has_own_memory(got)
    assert np.array_equal(np.ravel(a), entries) and np.array_equal(np.ravel(b), entries[::-1])
