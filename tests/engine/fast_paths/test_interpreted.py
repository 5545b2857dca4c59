"""The first calls of an operation give what its written function gives, to the last bit."""

import itertools
import subprocess
import sys
import threading

import numpy as np
import pytest

import dualad
from dualad.engine.arrays.memory import LARGE
from dualad.engine.fast_paths import codegen, first_calls, interpreted, written
from dualad.engine.kinds.batched import batched
from dualad.engine.kinds.batched_dual import make_batched_dual
from dualad.engine.kinds.dual import Dual, make_dual
from dualad.engine.kinds.recorded import Recorded, recorded
from dualad.engine.levels.level import Level
from dualad.engine.levels.traced import TracedArray
from dualad.engine.primitives.elementwise import Elementwise
from dualad.engine.primitives.primitive import PRIMITIVES
from dualad.engine.programs.tape import push_tape, sweep

ELEMENTWISE = [
    p
    for p in PRIMITIVES.values()
    if isinstance(p, Elementwise) and len(p.partials) <= 2 and p.name != "complex_power"
]
KINDS = ("Dual", "BatchedDual", "Recorded", "Batched")
rng = np.random.default_rng(5)

#: plain float64, which the written functions are for, and all else
PLAIN = [
    np.float64(0.4),
    rng.uniform(0.2, 0.9, 3),
    np.array([0.0, np.inf, -0.0]),
    np.array(0.4),
    rng.uniform(0.2, 0.9, (2, 1)),
]
OTHERS = [
    rng.uniform(0.2, 0.9, 3).astype(np.float32),
    rng.uniform(0.2, 0.9, 3) + 1j,
    np.float32(0.4),
    np.longdouble(0.4),
]
CONSTANTS = [
    0.7, 2, 2.0, 0, 0.5, -1, True, np.int64(3), np.array([1, 2, 3]),
    np.array([1, 2, 3], np.uint8), [0.2, 0.3, 0.4], np.array([0.2, 0.3, 0.4], object), 1 - 2j,
]  # fmt: skip


def first(primitive, kind):
    """The functions for the first calls, which stay what they are."""
    return interpreted.first_calls(primitive, kind)


def tangents(x, n=()):
    """A tangent of x, or n of them, some of which are zero."""
    shape = (*n, *x.shape)
    t = np.cos(np.arange(int(np.prod(shape, dtype=int))) + 1.0).reshape(shape)
    t[np.sin(9 * t) < -0.5] = 0.0
    return (t * (1 - 0.5j) if x.dtype.kind == "c" else t).astype(x.dtype)[()]


def lifted_to(kind, level, lanes, k, x):
    """x as a value of a kind, of which variable k moves."""
    if kind == "Dual":
        return make_dual(level, x, tangents(x))
    if kind == "BatchedDual":
        level.lanes = lanes
        return make_batched_dual(level, x, np.asarray(tangents(x, (2,)), order="F"))
    if kind == "Recorded":
        return recorded(level, x, k)
    return batched(level, np.stack([x, x]), 2)


def by_columns(a):
    """Whether an array lies in memory by columns, and not by rows."""
    return a.flags.f_contiguous and not a.flags.c_contiguous


def flat(x):
    """What a value consists of, level by level, down to kinds, dtypes and bits."""
    if isinstance(x, TracedArray):
        tangent = x.tangent
        return [type(x).__name__, *flat(x.primal), *(() if tangent is None else flat(tangent))]
    if isinstance(x, tuple):
        return [part for v in x for part in flat(v)]
    if isinstance(x, (np.ndarray, np.generic)) and np.asarray(x).dtype.kind in "fc":
        a = np.asarray(x)
        long = a.dtype.char in "gG"  # whose bytes are partly padding
        entries = repr(a.tolist()) if long else a.tobytes()
        return [type(x).__name__, a.dtype.name, a.shape, by_columns(a), entries]
    return [repr(x)]


def outcome(kind, f, *values):
    """What f gives of values of one kind, and what its recording gives both ways; or its error."""
    with Level("lanes") as lanes, Level("test") as level:
        tape = level.tape = [None] * len(values)
        args = [lifted_to(kind, level, lanes, k, x) for k, x in enumerate(values)]
        try:
            with np.errstate(all="ignore"):
                out = f(*args)
        except Exception as error:
            return [type(error).__name__, str(error)]
        found = flat(out)
        if kind == "Recorded" and isinstance(out, TracedArray) and out.level is level:
            found += entries(tape[len(values) :])
            seed = tangents(out.primal)
            moves = [tangents(x) for x in values]
            found += flat(tuple(sweep(tape, len(values), [(out.tangent, seed)])))
            found += flat(tuple(push_tape(tape, moves, [out.tangent])))
        return found


def entries(tape):
    """What a tape holds, the pulls by name; first calls have None where others leave out."""
    held = [(pull.__name__, tuple(v for v in rest if v is not None)) for pull, *rest in tape]
    return [part for name, values in held for part in (name, *flat(values))]


def same(kind, f, g, *values):
    assert outcome(kind, f, *values) == outcome(kind, g, *values), values


def fits(*values):
    try:
        np.broadcast_shapes(*map(np.shape, values))
    except ValueError:
        return False
    return True


@pytest.fixture
def many(monkeypatch):
    """First calls are as many as a test needs."""
    monkeypatch.setattr(first_calls, "FEW", 10**6)
    monkeypatch.setattr(first_calls.FirstCalls, "current", staticmethod(first))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("primitive", ELEMENTWISE, ids=lambda p: p.name)
def test_all_operands_of_one_level(primitive, kind):
    (op, rop), (written, reflected) = (
        make(primitive, kind) for make in (first, codegen.generated)
    )
    values = PLAIN if kind == "BatchedDual" else PLAIN + OTHERS
    for x in values:
        if len(primitive.partials) == 1:
            same(kind, op, written, x)
            continue
        same(kind, lambda u: op(u, u), lambda u: written(u, u), x)
        for y in values:
            if fits(x, y):
                same(kind, op, written, x, y)
    for x, c in itertools.product(PLAIN[:2] + OTHERS[:2], PLAIN + OTHERS + CONSTANTS):
        if len(primitive.partials) == 2 and x.dtype.char in "d" + "fD" * (
            len(values) > len(PLAIN)
        ):
            if fits(x, c):
                same(kind, lambda u: op(u, c), lambda u: written(u, c), x)
                same(kind, lambda u: rop(u, c), lambda u: reflected(u, c), x)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("primitive", ELEMENTWISE, ids=lambda p: p.name)
def test_operands_that_belong_to_a_level_below(primitive):
    """The same operations are left to that level, in the same order."""
    for kind, below in itertools.product(["Dual", "Recorded", "Batched"], repeat=2):
        agree_above(primitive, kind, below)


def agree_above(primitive, kind, below):
    (op, rop), (written, reflected) = (
        make(primitive, kind) for make in (first, codegen.generated)
    )

    def nested(f, *values):
        with Level("below") as level:
            tape = level.tape = [None] * len(values)
            inner = [lifted_to(below, level, None, k, x) for k, x in enumerate(values)]
            return [*outcome(kind, f, *inner), *entries(tape[len(values) :])]

    for x in PLAIN[:2]:
        if len(primitive.partials) == 1:
            assert nested(op, x) == nested(written, x)
            continue
        assert nested(op, x, x + 0.1) == nested(written, x, x + 0.1)
        for c in (0.7, 2, PLAIN[1]):
            assert nested(lambda u: op(u, c), x) == nested(lambda u: written(u, c), x)
            assert nested(lambda u: rop(u, c), x) == nested(lambda u: reflected(u, c), x)


# --- where the written functions take over -------------------------------------------------------


def unused(name):
    """A primitive as it is in a fresh interpreter: nobody has called it."""
    primitive = PRIMITIVES[name]
    for kind in KINDS:
        codegen._first.pop((kind, primitive), None)
        codegen._generated.pop((kind, primitive), None)
    codegen.rewire(None)
    first_calls.FirstCalls.waiting = 0
    return primitive


def is_written(primitive, kind):
    return codegen.fast(primitive, kind) is codegen._generated.get((kind, primitive))


@pytest.mark.parametrize("kind", [Dual, Recorded])
def test_a_written_operator_takes_over_after_some_calls(kind):
    multiply, n = unused("multiply"), first_calls.FEW + 20

    def f(x):
        for _ in range(n):
            x = x * 1.01
        return x

    derivative = {
        Dual: lambda: dualad.jvp(f, (2.0,), (1.0,))[1],
        Recorded: lambda: dualad.grad(f)(2.0),
    }[kind]
    dualad.jvp(lambda x: x * 3.0, (2.0,), (1.0,))
    dualad.grad(lambda x: x * 3.0)(2.0)
    first = vars(kind)["__mul__"]
    assert not is_written(multiply, kind.__name__)
    assert derivative() == pytest.approx(1.01**n, rel=1e-13)
    assert is_written(multiply, kind.__name__)
    written = codegen.generated(multiply, kind.__name__)
    assert (vars(kind)["__mul__"], vars(kind)["__rmul__"]) == written
    assert vars(kind)["__mul__"] is not first
    assert derivative() == pytest.approx(1.01**n, rel=1e-13)


@pytest.mark.parametrize("f", [lambda x: x**2, lambda x: x * x, lambda x: 2 * x])
def test_calls_that_go_on_to_another_primitive_count_too(f):
    for name in ("power", "polynomial_power", "multiply", "square"):
        unused(name)
    for _ in range(first_calls.FEW + 3 * first_calls.SPREAD):
        assert dualad.jvp(f, (1.0,), (1.0,))[1] == 2.0
    called = [p for (kind, p) in codegen._in_use if kind == "Dual"]
    assert called and all(is_written(p, "Dual") for p in called)


def test_a_written_ufunc_takes_over_and_one_tape_holds_entries_of_both():
    sin, n = unused("sin"), first_calls.FEW + 20
    with Level("test") as level:
        tape = level.tape = [None]
        x = recorded(level, np.float64(0.3), 0)
        seeds = [(np.sin(x).tangent, 1.0) for _ in range(n)]
        made = [type(entry[0]) is interpreted.Pull for entry in tape[1:]]
        assert made == [True] * first_calls.FEW + [False] * 20
        (ct,) = sweep(tape, 1, seeds)
    assert ct == pytest.approx(n * np.cos(0.3), rel=1e-13)
    assert all(table[np.sin] == codegen.fast(sin, table.kind) for table in codegen.TABLES)
    assert is_written(sin, "Recorded") and not is_written(sin, "Dual")


def test_what_begins_together_is_not_written_together():
    """One call is not held up by all operations of a program, and each takes its turn."""
    names = ("sin", "cos", "exp", "tanh", "arctan", "sinh")
    primitives = [unused(name) for name in names]

    def f(x):
        return np.sin(x) + np.cos(x) + np.exp(x) + np.tanh(x) + np.arctan(x) + np.sinh(x)

    exact = np.cos(0.3) - np.sin(0.3) + np.exp(0.3) + np.cosh(0.3) ** -2 + 1 / 1.09 + np.cosh(0.3)
    written = []
    for _ in range(first_calls.FEW + len(names) * first_calls.SPREAD):
        assert dualad.grad(f)(0.3) == pytest.approx(exact, rel=1e-14)
        written.append(sum(is_written(p, "Recorded") for p in primitives))
    assert written[first_calls.FEW - 1] == 0 and written[-1] == len(names)
    assert np.diff(written).max() == 1


def test_what_is_the_same_text_is_compiled_once():
    """Two operations share code where only the meaning of its names differs."""
    sin, cos = (codegen.generated(unused(name), "Recorded")[0] for name in ("sin", "cos"))
    assert sin.__code__.co_code == cos.__code__.co_code
    assert sin.__globals__ is not cos.__globals__
    assert sin.__code__.co_filename == "<Recorded sin>"
    assert cos.__code__.co_filename == "<Recorded cos>"
    written.code_of.cache_clear()
    for name, compiled in (("sinh", 2), ("cosh", 3)):  # the operation, and a pull each
        codegen.generated(unused(name), "Recorded")
        assert written.code_of.cache_info().misses == compiled
    assert dualad.grad(np.sinh)(0.5) == np.cosh(0.5)


def test_what_a_caller_holds_goes_on_to_the_written_function():
    exp = unused("exp")
    held, _ = codegen.fast(exp, "Dual")
    with Level("test") as level:
        u = make_dual(level, np.float64(0.5), np.float64(1.0))
        for _ in range(first_calls.FEW + 20):
            assert held(u).tangent == np.exp(0.5)


def test_a_large_array_is_for_the_written_function_at_once():
    sin, multiply = unused("sin"), unused("multiply")
    x = np.linspace(-1.0, 1.0, LARGE)
    np.testing.assert_allclose(dualad.grad(lambda x: np.sum(np.sin(x)))(x), np.cos(x), rtol=1e-15)
    assert is_written(sin, "Recorded")
    _, t = dualad.jvp(lambda v: v * x, (np.float64(2.0),), (np.float64(3.0),))
    np.testing.assert_array_equal(t, 3.0 * x)
    assert is_written(multiply, "Dual")


def test_threads_that_begin_together():
    n, results, start = first_calls.FEW, [], threading.Barrier(6)
    unused("multiply"), unused("add"), unused("sin")

    def f(x):
        y = 1.0 + 0.0 * x
        for _ in range(n):
            y = y * 1.001 + np.sin(x) * 0.01
        return y

    def run():
        start.wait()
        results.append((dualad.grad(f)(0.3), dualad.jvp(f, (0.3,), (1.0,))[1]))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    exact = 0.01 * np.cos(0.3) * (1.001**n - 1) / 0.001
    np.testing.assert_allclose(results, np.full((6, 2), exact), rtol=1e-12)


def test_debug_nans_watches_first_calls_and_those_after_them():
    log = unused("log")

    def f(x, n):
        for _ in range(n):
            np.log(x)
        return np.log(x - 1.0)

    for n in (1, first_calls.FEW + 5):
        with pytest.raises(FloatingPointError, match="log at"), dualad.debug_nans():
            dualad.grad(f)(0.5, n)
    assert is_written(log, "Recorded")
    assert dualad.grad(f)(3.0, 2) == 0.5


def test_a_constant_is_kept_from_later_writes():
    unused("multiply")

    def f(x):
        c = np.array([1.0, 2.0])
        y = x * c
        c[:] = 0.0
        return np.sum(y)

    np.testing.assert_array_equal(dualad.grad(f)(np.ones(2)), [1.0, 2.0])


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_the_same(kind):
    """For shapes that do not match, for what is no operand, for what belongs to a closed level."""
    add, sin = PRIMITIVES["add"], PRIMITIVES["sin"]
    pairs = [(make(add, kind)[0], make(sin, kind)[0]) for make in (first, codegen.generated)]
    (op, wave), (written, sine) = pairs
    same(kind, op, written, np.ones(3), np.ones(2))
    for strange in ("text", None, object):
        same(kind, lambda u: op(u, strange), lambda u: written(u, strange), np.ones(3))
    with Level("lanes") as lanes, Level("closed") as level:
        level.tape = [None]
        u = lifted_to(kind, level, lanes, 0, np.ones(3))
    messages = []
    for call in (lambda: op(u, 1.0), lambda: written(u, 1.0), lambda: wave(u), lambda: sine(u)):
        with pytest.raises(dualad.DualADError) as caught:
            call()
        messages.append(str(caught.value))
    assert len(set(messages)) == 1


def test_a_first_gradient_writes_no_functions():
    code = (
        "import sys, numpy as np, dualad\n"
        "assert dualad.grad(lambda x: np.sum(np.sin(x) * x))(np.zeros(3)).tolist() == [0, 0, 0]\n"
        "assert 'dualad.engine.fast_paths.writer' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
