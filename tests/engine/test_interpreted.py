"""The first calls of an operation give what its written function gives, to the last bit."""

import itertools

import numpy as np
import pytest

from dualad.engine import codegen, interpreted
from dualad.engine.batched import batched
from dualad.engine.batched_dual import make_batched_dual
from dualad.engine.dual import make_dual
from dualad.engine.level import Level
from dualad.engine.primitive import PRIMITIVES, Elementwise
from dualad.engine.recorded import recorded
from dualad.engine.tape import push_tape, sweep
from dualad.engine.traced import TracedArray

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


def never(primitive, kind):
    raise AssertionError("the written functions are not asked for")


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
        return make_batched_dual(level, x, tangents(x, (2,)))
    if kind == "Recorded":
        return recorded(level, x, k)
    return batched(level, np.stack([x, x]), 2)


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
        return [type(x).__name__, a.dtype.name, a.shape, repr(a.tolist()) if long else a.tobytes()]
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
    """What a tape holds, the pulls by name."""
    return [part for pull, *rest in tape for part in (pull.__name__, *flat(tuple(rest)))]


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
    monkeypatch.setattr(interpreted, "FEW", 10**6)
    monkeypatch.setattr(interpreted.FirstCalls, "current", staticmethod(first))
    monkeypatch.setattr(interpreted.FirstCalls, "settle", staticmethod(never))


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
