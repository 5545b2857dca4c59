"""Long loops shared by threads: the same bits for any number of them, wherever they are called."""

import ctypes
import math
import multiprocessing
import os
import pickle
import platform
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from native_programs import is_whole, leaves_of, program_of

import dualad
from dualad.compiling.cores import number_of_threads
from dualad.compiling.native import native_function, pool, ranges, shared

THREADS = (1, 2, 3, 7)
rng = np.random.default_rng(5)


@pytest.fixture
def short_ranges(monkeypatch):
    """Small arrays are cut too, into many ranges; gives how many each loop has."""
    monkeypatch.setattr(shared, "LEAST", 0.0)
    monkeypatch.setattr(shared, "EACH", 1.0)
    monkeypatch.setattr(ranges, "ENTRIES", 300)
    return count_ranges(monkeypatch)


def in_threads(f, *args, threads=THREADS):
    """What a program gives with each number of threads, which is the same to the last bit."""
    program, values = program_of(f, *args)
    runs = [native_function(program, n) for n in threads]
    assert all(map(is_whole, runs))
    first = runs[0](*values)
    for run in runs[1:]:
        for _ in range(3):
            for a, b in zip(first, run(*values), strict=True):
                assert a.tobytes() == b.tobytes()
    return first


def count_ranges(monkeypatch):
    """The numbers of ranges of the loops that are written from now on."""
    found = []
    write = shared.Shared.write

    def counted(self, most):
        found.append(self.cut.ranges)
        write(self, most)

    monkeypatch.setattr(shared.Shared, "write", counted)
    return found


# --- values ----------------------------------------------------------------------------------


def _written(x):
    y = np.zeros_like(x)
    y[1:] = x[:-1] * 2.0
    y[:, 0] = 1.0
    y[..., 1:] += 3.0
    return y + x


PROGRAMS = {
    "elementwise": lambda x: np.exp(-x * x) * np.sin(x),
    "sum": lambda x: np.sum(np.tanh(x)),
    "sum over the first axis": lambda x: np.sum(np.tanh(x) * x, axis=0),
    "sum over the last axis": lambda x: np.sum(np.tanh(x) * x, axis=-1),
    "both, and what they are of": lambda x: (
        lambda y: (np.sum(y, axis=0), np.sum(y, axis=1), y, np.sum(y))
    )(np.sin(x) * 2.0),
    "largest and smallest": lambda x: (np.max(x * x, axis=0), np.min(np.sin(x)), np.max(x, 1)),
    "any and all": lambda x: (np.any(x > 1.0, axis=0), np.all(x * x > -1.0), x > 0.5),
    "rows and columns": lambda x: x * x[0] + x[:, :1] * x[:, 1:2],
    "views": lambda x: np.sum((x[1:, ::-1] - x[:-1] ** 2) ** 2, axis=0),
    "transposed": lambda x: np.sum(x.T * 2.0 + np.sin(x.T), axis=1),
    "joined": lambda x: np.concatenate([x[:1] * 2.0, x[1:] + x[:-1], x * 0.5]),
    "written": lambda x: np.where(x[0] > 0, _written(x), x),
    "single precision": lambda x: np.sum(x.astype(np.float32) * np.float32(0.5)),
    "derivative": dualad.grad(lambda x: np.sum(np.exp(np.sin(x) * x[0]))),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", [(2, 5000), (5000, 3), (100, 101)], ids=str)
def test_bits_do_not_depend_on_the_number_of_threads(short_ranges, name, shape):
    f = PROGRAMS[name]
    x = rng.normal(size=shape)
    got = in_threads(f, x)
    assert min(short_ranges) > 3
    for g, w in zip(got, leaves_of(f, x), strict=True):
        rtol = 1e-5 if g.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(g, w, rtol=rtol, atol=rtol)


@st.composite
def programs(draw):
    """A shape, operands that broadcast to it, and axes to reduce."""
    shape = draw(st.lists(st.integers(1, 40), min_size=1, max_size=4))
    while math.prod(shape) < 1500:
        shape[draw(st.integers(0, len(shape) - 1))] *= 7
    shape = shape if math.prod(shape) < 200_000 else shape[-2:]
    masks = draw(st.lists(st.tuples(*[st.booleans()] * len(shape)), min_size=1, max_size=3))
    operands = [[1 if m else n for m, n in zip(mask, shape, strict=True)] for mask in masks]
    axes = draw(st.lists(st.sets(st.integers(0, len(shape) - 1), min_size=1), max_size=2))
    return shape, operands, [tuple(sorted(a)) for a in axes], draw(st.booleans())


@settings(max_examples=12, deadline=None)
@given(programs(), st.sampled_from([150, 1000, 8192]))
def test_bits_of_random_programs(program, entries):
    shape, operands, axes, is_kept = program
    local = np.random.default_rng(sum(shape))
    arrays = [local.normal(size=shape), *[local.normal(size=s) for s in operands]]

    def f(*arrays):
        y = arrays[0]
        for a in arrays[1:]:
            y = y * 0.5 + np.sin(a) * a
        return [np.sum(y, axis=a) for a in axes] + [np.max(y)] + [y] * is_kept

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared, "LEAST", 0.0)
        patch.setattr(shared, "EACH", 1.0)
        patch.setattr(ranges, "ENTRIES", entries)
        got = in_threads(f, *arrays)
    for g, w in zip(got, leaves_of(f, *arrays), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-11, atol=1e-11)


@np.errstate(all="ignore")
def test_special_values(short_ranges):
    x = rng.normal(size=5000)
    x[[10, 4000]] = np.inf, -np.inf
    total, top = in_threads(lambda x: (np.sum(x * 1.0), np.max(x * 1.0)), x)
    assert np.isnan(total)
    assert top == np.inf
    x[4000] = 0.0
    assert in_threads(lambda x: np.sum(x * 1.0), x)[0] == np.inf
    x[2000] = np.nan
    total, top = in_threads(lambda x: (np.sum(x * 1.0), np.min(x * 1.0)), x)
    assert np.isnan(total)
    assert np.isnan(top)
    zero = in_threads(lambda x: -0.0 * np.abs(x), np.ones(5000))[0]
    assert np.all(np.signbit(zero))


def test_sums_are_as_exact_as_one_rounding():
    """Blocks of 1024 are added plainly, and what these give with compensation."""
    x = rng.normal(size=300_000) * 10.0 ** rng.integers(-8, 8, size=300_000)
    (got,) = in_threads(lambda x: np.sum(np.exp(x * 0.0) * x), x)
    exact = math.fsum(x)
    assert abs(got - exact) < 3e-16 * math.fsum(np.abs(x))


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() != "x86_64",
    reason="the mode is set by this system's library",
)
def test_threads_round_as_their_caller_does(short_ranges):
    library = ctypes.CDLL(None)
    x = rng.normal(size=20_000)
    program, values = program_of(lambda x: x / 3.0 + x, x)
    runs = [native_function(program, n) for n in THREADS]
    nearest = runs[0](*values)[0]
    assert library.fesetround(0x800) == 0  # upward
    try:
        upward = [run(*values)[0].tobytes() for run in runs for _ in range(3)]
    finally:
        library.fesetround(0)
    assert len(set(upward)) == 1
    assert np.all(np.frombuffer(upward[0]) >= nearest)
    assert np.any(np.frombuffer(upward[0]) > nearest)


def test_guards_hold_over_all_ranges(short_ranges):
    """The derivative asks for NaN: it is found in the last range as in the first."""
    f = dualad.grad(lambda x: np.sum(np.sqrt(x * x)))
    for n in THREADS:
        compiled = dualad.compile(f, threads=n)
        x = np.ones(5000)
        for place in (None, 0, 4999):
            if place is not None:
                x[place] = 0.0
            for _ in range(3):
                np.testing.assert_array_equal(compiled(x), np.where(x == 0.0, 0.0, 1.0))


def test_loops_inside_of_repetitions(short_ranges):
    def f(x):
        for _ in range(40):
            x = x + 0.1 * np.sin(x) * np.max(x)
        return x, np.sum(x)

    in_threads(f, rng.normal(size=3000))


# --- which loops are cut ---------------------------------------------------------------------


def test_small_loops_are_not_cut(monkeypatch):
    found = count_ranges(monkeypatch)
    program, _ = program_of(lambda x: np.sum(np.sin(x) * x), np.ones(4000))
    native_function(program, 2)
    assert found == []
    program, _ = program_of(lambda x: np.sum(np.sin(x) * x), np.ones(200_000))
    native_function(program, 2)
    assert found == [math.ceil(200_000 / ranges.ENTRIES)]


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((2, 100_000), 1), ((100_000, 2), 0), ((400, 500), 0), ((5, 8, 5000), 2)],
    ids=str,
)
def test_the_axis_that_is_cut_gives_enough_ranges(shape, axis):
    ones = [1] * len(shape)
    strides = tuple(np.empty(shape).strides[k] // 8 for k in range(len(shape)))
    column = tuple(s if k == 0 else 0 for k, s in enumerate(ones))
    dims = ranges.cut(shape, [strides, column, tuple(ones)], {})
    assert dims.dims == list(shape)
    assert dims.axis == axis
    assert dims.ranges >= 8
    assert dims.ranges * dims.step >= shape[axis] > (dims.ranges - 1) * dims.step


def test_cfunc_stays_with_its_thread(short_ranges, monkeypatch):
    found = count_ranges(monkeypatch)
    compiled = dualad.compile(lambda x: np.sum(np.sin(x) * x), threads=3)
    x = rng.normal(size=2000)
    c = compiled.cfunc(x)
    assert found == []
    data = (ctypes.c_double * 2000)(*x)
    np.testing.assert_allclose(c.ctypes(2000, data), np.sum(np.sin(x) * x), rtol=1e-13)


# --- how many threads ------------------------------------------------------------------------


def test_the_number_of_threads_is_the_first_that_is_set(monkeypatch):
    monkeypatch.delenv("DUALAD_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if hasattr(os, "sched_getaffinity"):
        assert number_of_threads() == len(os.sched_getaffinity(0))
    for text in ("", "0", "many", "-2"):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert number_of_threads() >= 1
    for text in ("5", "5,2", " 5 "):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert number_of_threads() == 5
    monkeypatch.setenv("DUALAD_NUM_THREADS", "3")
    assert number_of_threads() == 3
    assert number_of_threads(2) == 2
    assert number_of_threads(10**9) <= 1024


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True], ids=repr)
def test_a_number_of_threads_that_is_none_raises(wrong):
    with pytest.raises(dualad.errors.ArgumentError, match="threads"):
        dualad.compile(np.sin, threads=wrong)


def test_a_wrong_variable_raises_where_it_is_read(monkeypatch):
    monkeypatch.setenv("DUALAD_NUM_THREADS", "two")
    with pytest.raises(dualad.errors.ArgumentError, match="DUALAD_NUM_THREADS"):
        dualad.compile(np.sin)


def test_pickles_keep_the_number(short_ranges):
    compiled = pickle.loads(pickle.dumps(dualad.compile(np.sin, threads=3)))
    assert compiled._threads == 3


# --- the pool ----------------------------------------------------------------------------------

START = """
import os, threading
os.environ.pop("DUALAD_NUM_THREADS", None)
import numpy as np
def count(): return len(os.listdir("/proc/self/task"))
before = count()
import dualad
from dualad.compiling.native.pool import pool
assert count() == before
f = lambda x: np.sum(np.exp(x) * np.sin(x))
one = dualad.compile(f, threads=1)
three = dualad.compile(f, threads=3)
small, large = np.ones(100), np.ones(200_000)
for g in (one, three):
    for _ in range(3): g(small)
for _ in range(3): one(large)
three(large)
assert count() == before and pool().size == 0
assert three(large) == one(large)
assert count() == before + 2 and pool().size == 2
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted by /proc")
def test_nothing_is_started_before_the_first_large_call_and_exit_is_clean():
    done = subprocess.run(
        [sys.executable, "-c", START], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def _sum(x):
    return np.sum(np.exp(x) * np.sin(x))


LARGE = np.linspace(0.0, 1.0, 200_000)


def _in_child(queue, compiled):
    queue.put((pool.pool().size, [float(compiled(LARGE)) for _ in range(3)], pool.pool().size))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own():
    compiled = dualad.compile(_sum, threads=3)
    want = [float(compiled(LARGE)) for _ in range(3)][-1]
    assert pool.pool().size >= 2
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    children = [context.Process(target=_in_child, args=(queue, compiled)) for _ in range(2)]
    for child in children:
        child.start()
    answers = [queue.get() for _ in children]
    for child in children:
        child.join(20)
        assert child.exitcode == 0
    for before, got, after in answers:
        assert before == 0
        assert got == [want] * 3
        assert after == 2
    assert float(compiled(LARGE)) == want


def test_several_callers_share_the_pool(short_ranges):
    program, values = program_of(lambda x: (np.exp(x) * np.sin(x), np.sum(x * x)), LARGE[:20_000])
    run = native_function(program, 3)
    want = [a.tobytes() for a in native_function(program, 1)(*values)]
    wrong = []

    def work():
        for _ in range(200):
            if [a.tobytes() for a in run(*values)] != want:
                wrong.append(1)

    callers = [threading.Thread(target=work) for _ in range(4)]
    for t in callers:
        t.start()
    for t in callers:
        t.join()
    assert not wrong


def test_a_system_without_new_threads_computes_alone(short_ranges, monkeypatch):
    own = pool.Pool()
    monkeypatch.setattr(pool, "_pool", own)

    def refused(self):
        raise RuntimeError("no new thread")

    monkeypatch.setattr(pool.Pool, "_start", refused)
    in_threads(lambda x: np.exp(x) * np.sin(x), LARGE[:5000])
    assert own.size == 0


def test_errors_of_the_function_reach_the_caller(short_ranges):
    """Ranges raise nothing; what the function raises beside them is its own."""

    def f(x):
        y = np.exp(x) * np.sin(x)
        return np.linalg.inv(np.stack([y[:2], y[:2]])), y

    compiled = dualad.compile(f, threads=3)
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError):
            compiled(LARGE[:5000])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
def test_an_interrupt_comes_between_calls(short_ranges):
    compiled = dualad.compile(lambda x: np.exp(x) * np.sin(x), threads=3)
    want = [compiled(LARGE) for _ in range(2)][1]

    def interrupted(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupted)
    try:
        for _ in range(5):
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.02)
                start = time.monotonic()
                while time.monotonic() < start + 20:
                    compiled(LARGE)
            assert compiled(LARGE).tobytes() == want.tobytes()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
