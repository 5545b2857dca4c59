"""How native code is called: any layout of arguments, fresh results, guards, threads, memory."""

import gc
import sys
import threading
import time

import numpy as np
import pytest
from native_programs import check, is_whole, leaves_of, native, program_of

import dualad
from dualad.compiling.native import machine, native_function
from dualad.compiling.numpy_source import Failed

rng = np.random.default_rng(2)


def both(x, s):
    return np.sin(x) * s + x, np.sum(x * s), x[0] > s, np.arange(3) * x[1] > 1


def test_results_have_the_kinds_that_numpy_gives():
    x = rng.normal(size=5)
    got = check(both, x, np.float64(0.5))
    assert [type(g) for g in got] == [np.ndarray, np.float64, np.bool_, np.ndarray]


def test_arguments_may_lie_in_any_way():
    x = rng.normal(size=(4, 6))
    run, _ = native(lambda x, s: np.sin(x) * s + x, x, np.float64(2.0))
    want = np.sin(x) * 2.0 + x
    wide = np.zeros((8, 12))
    wide[::2, ::2] = x
    unaligned = np.frombuffer(b"0" + x.tobytes(), np.uint8)[1:].view(float).reshape(x.shape)
    for same in (x, np.asfortranarray(x), wide[::2, ::2], unaligned, x.astype(">f8"), x.tolist()):
        for scale in (np.float64(2.0), 2.0, 2, np.float32(2.0), np.array(2.0)):
            np.testing.assert_allclose(run(same, scale)[0], want, rtol=1e-15)


def test_wrong_arguments_raise():
    run, (x,) = native(lambda x: np.sin(x) + x, rng.normal(size=5))
    for wrong in (x[:4], x.reshape(1, 5), x + 1j, "x", np.array(["a"] * 5)):
        with pytest.raises((TypeError, ValueError)):
            run(wrong)
    for args in ((), (x, x)):
        with pytest.raises(TypeError, match="inputs"):
            run(*args)


def test_results_are_fresh():
    x = rng.normal(size=50)
    run, _ = native(lambda x: (x + 1.0, x[::-1] * 2.0, x * 3.0), x)
    first = run(x)
    kept = [a.copy() for a in first]
    run(x * 2.0)
    for a, b in zip(first, kept, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.flags.owndata
        assert a.flags.writeable


def test_a_result_twice_is_two_arrays():
    run, (x,) = native(lambda x: (lambda y: (y, y))(np.sin(x) * x), rng.normal(size=50))
    a, b = run(x)
    a[:] = 0
    np.testing.assert_allclose(b, np.sin(x) * x)


def test_failing_guards_say_which():
    def f(x):
        if x > 0:
            x = np.sqrt(x)
        return x * 2.0 if x < 3 else x - 1.0

    run, _ = native(f, np.float64(4.0))
    assert run(np.float64(1.0)) == (2.0,)
    assert run(np.float64(-1.0)).guard.answer is True
    assert type(run(np.float64(100.0))) is Failed
    compiled = dualad.compile(f)
    for x in (4.0, 1.0, -1.0, 100.0, np.nan):
        np.testing.assert_equal(compiled(x), f(x))


@pytest.mark.parametrize("size", [3, 300])
def test_nan_flags(size):
    """Where zero meets infinity the guarded derivative takes over, in native code as in NumPy."""
    f = dualad.grad(lambda x: np.sum(np.sqrt(x * x)))
    compiled = dualad.compile(f)
    x = np.ones(size)
    np.testing.assert_allclose(compiled(x), 1.0)
    x[1] = 0.0
    np.testing.assert_array_equal(compiled(x), f(x))
    assert compiled(x)[1] == 0.0


def test_steps_without_a_native_form_are_numpys():
    a = rng.normal(size=(6, 6)) + 6 * np.eye(6)

    def f(a):
        b = np.sin(a) * 0.1 + a
        c = np.linalg.solve(b, a[:, 0] * 2.0 + 1.0)
        d = np.sort(c * 3.0 - 1.0)
        return np.sum(d * d), c * 2.0, a.T, np.cumsum(c * c)

    run, values = native(f, a)
    assert not is_whole(run)
    for got, want in zip(run(*values), leaves_of(f, a), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    view = run(a)[2]
    view[0, 0] += 1  # a copy or a view of the argument, as in NumPy
    np.testing.assert_array_equal(np.shares_memory(view, a), np.shares_memory(f(a)[2], a))


def test_a_guard_comes_before_what_it_protects():
    def f(a):
        b = np.sin(a) + a
        if np.sum(b) > 0:
            return np.sum(np.linalg.inv(b * 2.0) * a)
        return np.sum(b)

    compiled = dualad.compile(f)
    regular = rng.normal(size=(3, 3)) + 4 * np.eye(3)
    for a in (regular, regular, -np.ones((3, 3)), np.zeros((3, 3)), regular):
        np.testing.assert_allclose(compiled(a), f(a), rtol=1e-12)


def test_writes_into_arguments_and_views_of_them():
    def f(x):
        y = np.sin(x) * 2.0 + x
        x[1:] = y[:-1] * 0.5
        return y, x[:2]

    compiled = dualad.compile(f)
    for _ in range(3):
        x = rng.normal(size=6)
        z = x.copy()
        got, want = compiled(x), f(z)
        np.testing.assert_allclose(x, z, rtol=1e-15)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-15)


def test_constants_are_read_when_the_program_runs():
    c = np.ones(4)
    run, (x,) = native(lambda x: np.sin(x) * c + c, np.ones(4))
    c[:] = 3.0
    np.testing.assert_allclose(run(x)[0], np.sin(x) * 3.0 + 3.0)


def test_nothing_leaks():
    x = rng.normal(size=1000)
    run, _ = native(lambda x: (np.sin(x) + x, np.sum(x * x), (x > 0) & (x < 1)), x)
    kinds = (x.dtype, np.dtype(bool), np.ndarray, np.float64)
    run(x)
    gc.collect()
    before = [sys.getrefcount(k) for k in kinds], sys.getrefcount(x)
    blocks = sys.getallocatedblocks()
    for _ in range(500):
        run(x)
    gc.collect()
    after = [sys.getrefcount(k) for k in kinds], sys.getrefcount(x)
    assert np.abs(np.subtract(before[0], after[0])).max() < 50
    assert after[1] <= before[1]
    assert sys.getallocatedblocks() - blocks < 200


def test_threads_run_at_once():
    x = rng.normal(size=100_000)
    run, _ = native(lambda x: (np.sin(x) * x, np.sum(x * x)), x)
    want = run(x)
    wrong = []

    def work():
        for _ in range(20):
            a, s = run(x)
            if s != want[1] or not np.array_equal(a, want[0]):
                wrong.append(s)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_empty_arrays_and_no_steps():
    for f, x in ((lambda x: np.sum(np.sin(x) * x), np.ones((0, 3))), (lambda x: x, np.ones(3))):
        compiled = dualad.compile(f)
        for _ in range(3):
            np.testing.assert_array_equal(compiled(x), f(x))


def test_too_long_programs_stay_numpys(monkeypatch):
    program, _ = program_of(lambda x: np.sin(x) * x + x, np.ones(3))
    monkeypatch.setattr("dualad.compiling.native.wrapper.MOST", 0.1)
    assert native_function(program) is None
    monkeypatch.undo()
    monkeypatch.setattr("dualad.compiling.native.MOST", 2)
    assert native_function(program) is None


def test_errors_fall_back_to_numpy_unless_tests_ask(monkeypatch):
    program, _ = program_of(lambda x: np.sin(x) * x, np.ones(3))

    def broken(*_):
        raise KeyError("broken")

    monkeypatch.setattr("dualad.compiling.native.splitting.function_of", broken)
    with pytest.raises(KeyError):
        native_function(program)
    monkeypatch.delenv("DUALAD_NATIVE_STRICT")
    assert native_function(program) is None


@pytest.mark.parametrize("missing", ["machine.is_recent", "python.is_as_expected"])
def test_where_native_code_is_not_safe_there_is_none(monkeypatch, missing):
    program, _ = program_of(lambda x: np.sin(x) * x, np.ones(3))
    monkeypatch.setattr(f"dualad.compiling.native.{missing}", lambda: False)
    assert native_function(program) is None


def test_large_results_use_memory_again_that_nobody_has():
    x = np.linspace(0.0, 1.0, 200_000).reshape(400, 500)
    run, values = native(lambda x: (x * 2.0 + 1.0, x - 1.0), x)
    first, second = run(*values)
    assert type(first) is np.ndarray
    assert first.flags.writeable
    assert first.flags.c_contiguous
    assert not np.shares_memory(first, second)
    kept = first.copy()
    third, fourth = run(*values)
    assert not np.shares_memory(first, third)
    third[:] = 0.0
    np.testing.assert_array_equal(first, kept)
    places = {a.ctypes.data for a in (first, second, third, fourth)}
    view = second[3:, ::2]
    del first, second, third, fourth
    found = run(*values)
    assert found[0].ctypes.data in places
    assert not np.shares_memory(found[0], view)
    assert not np.shares_memory(found[1], view)
    np.testing.assert_array_equal(view, x[3:, ::2] - 1.0)


def test_threads_that_compile_at_once_have_one_machine(monkeypatch):
    """The code of a second one would be freed with it, while programs call it."""
    made = []

    class Slow:
        def __init__(self):
            time.sleep(0.05)
            made.append(self)

    monkeypatch.setattr(machine, "Machine", Slow)
    monkeypatch.setattr(machine, "_machine", None)
    found = []
    callers = [threading.Thread(target=lambda: found.append(machine.machine())) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(made) == 1
    assert found == made * 4
