"""Functions that are seen to write into nothing, and gradients that copy nothing for them."""

import functools
import gc
import linecache
import types
import weakref

import numpy as np
import pytest

import dualad
from dualad.engine.fast_paths import contractions
from dualad.engine.programs import tape as tape_module
from dualad.transforms import gradient
from dualad.transforms.pure import writes_nothing
from dualad.transforms.reading import readers

X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
BUFFER = np.zeros(3)
SCALE = 2.0
W = np.array([0.3, -0.2, 0.5])
python_ufunc = np.frompyfunc(lambda x: x, 1, 1)


def logistic(xp, z, slope=1.0):
    return 1.0 / (1.0 + xp.exp(-slope * z))


def with_keywords(z, *, power, scale=SCALE):
    return scale * z**power


def writes(z):
    BUFFER[0] = 1.0
    return z


def nested_writes(z):
    return writes(z)


def make(change=None, module=np):
    """A function with a closure."""
    rows = X.copy()

    def f(w):
        z = module.tanh(module.matmul(rows, w))
        return module.sum(logistic(module, z, SCALE)) / float(len(rows))

    return f


def straight(w):
    y, (a, b) = np.dot(X, w), (w[0], w[1:])
    top = np.max(y, axis=0, keepdims=True)
    return np.log(np.sum(np.exp(y - top))) + a * b.sum() + np.linalg.norm(y.T.reshape(-1))


def branches(w, n=3):
    total = 0.0
    for k in range(n):
        if k % 2 == 0 and not w.shape == ():
            total = total + w[k]
        else:
            total = total - (w[k] if k else -w[k])
    while n < 0:
        break
    return total


def comprehensions(w):
    return sum([v * v for v in w]) + sum(a * b for a, b in zip(w, X[0], strict=True) if a is not b)


def keywords(w):
    return np.sum(with_keywords(w, power=2), axis=None) + np.where(w > 0, w, 0.0).sum()


def containers(w, params):
    return np.sum(w @ params["rows"][0].T) * params.get("scale") + np.einsum("i,i", w, w)


square = lambda w: np.sum((X @ w) ** 2)

PURE = [make(), straight, branches, comprehensions, keywords, square]


@pytest.mark.parametrize("f", PURE, ids=lambda f: f.__name__)
def test_functions_that_read_alone(f):
    assert writes_nothing(f, (W,), {})
    assert writes_nothing(f, (W,), {})


def test_arguments_may_be_containers():
    assert writes_nothing(containers, (W, {"rows": [X, X], "scale": 2.0}), {})
    assert writes_nothing(containers, (W,), {"params": {"rows": [X], "scale": 1}})


# --- what writes, or may -------------------------------------------------------------------------


def to_an_entry(w):
    X[0] = 0.0
    return np.sum(X @ w)


def to_a_slice_of_an_argument(w, x):
    x[:] = 0.0
    return np.sum(x @ w)


def in_a_loop(w):
    for X[0, 0] in range(3):
        pass
    return np.sum(X @ w)


def augmented(w):
    y = X
    y += 1.0
    return np.sum(X @ w)


def to_an_attribute(w):
    X.shape = (4, 3)
    return np.sum(X @ w)


def out_by_name(w):
    return np.sum(np.exp(w, out=BUFFER))


def out_by_position(w):
    return np.sum(np.exp(w, BUFFER))


def out_of_a_product(w):
    return np.sum(np.matmul(W, W, BUFFER))


def out_of_a_sum(w):
    return np.sum(X, 0, None, BUFFER) @ w


def out_of_a_method(w):
    return np.sum(X.max(0, BUFFER) * w)


def out_of_a_conjugate(w):
    return np.sum(BUFFER.conj(BUFFER) * w)


def out_among_many(w):
    more = (w, BUFFER)
    return np.sum(np.exp(*more))


def out_among_keywords(w):
    more = {"out": BUFFER}
    return np.sum(np.exp(w, **more))


def by_a_method(w):
    X.sort()
    return np.sum(X @ w)


def by_a_function(w):
    np.copyto(BUFFER, 1.0)
    return np.sum(BUFFER * w)


def by_a_ufunc_method(w):
    np.add.at(BUFFER, 0, 1.0)
    return np.sum(BUFFER * w)


def by_code_of_python_in_a_ufunc(w):
    return np.sum(python_ufunc(w))


def by_its_own_function(w):
    return np.sum(nested_writes(w))


def by_a_function_with_another_name(w):
    f = writes
    return np.sum(f(w))


def by_a_function_in_a_container(w):
    return np.sum((writes, 1)[0](w))


def by_a_function_that_is_given(w, f=writes):
    return np.sum(f(w))


def by_a_function_inside(w):
    def inner():
        BUFFER[0] = 1.0

    inner()
    return np.sum(w)


def by_a_lambda(w):
    return np.sum(max([w], key=lambda v: BUFFER.fill(1.0) or 1.0))


def by_a_closure(w):
    return np.sum(CLOSURE(w))


def by_an_object(w):
    return np.sum(OBJECT.field * w)


def by_a_statement(w):
    try:
        return np.sum(w)
    finally:
        BUFFER[0] = 1.0


def by_another_gradient(w):
    return np.sum(dualad.grad(square)(w))


def one_name_for_two_things(w):
    return np.sum(np.exp(w)) + sum([np.round(0, BUFFER) for np in [BUFFER]])


def again(w):
    return again(w) if w.size < 0 else np.sum(w)


def by_itself(w):
    return again(w)


class Number(np.float64):
    """A number whose operators are code of their own."""


def by_a_number(w):
    return np.sum(w) * NUMBER


NUMBER = Number(2.0)


def from_a_generator(w):
    yield np.sum(w)


def a_global(w):
    global SCALE
    SCALE = 2.0
    return np.sum(w) * SCALE


CLOSURE = make()


class Reads:
    """An object whose attribute is code."""

    @property
    def field(self):
        BUFFER[0] = 1.0
        return 1.0


OBJECT = Reads()
NOT = [
    to_an_entry, to_a_slice_of_an_argument, in_a_loop, augmented, to_an_attribute, out_by_name,
    out_by_position, out_of_a_product, out_of_a_sum, out_of_a_method, out_of_a_conjugate,
    out_among_many, out_among_keywords, by_a_method, by_a_function, by_a_ufunc_method,
    by_code_of_python_in_a_ufunc, by_its_own_function, by_a_function_with_another_name,
    by_a_function_in_a_container, by_a_function_that_is_given, by_a_function_inside, by_a_lambda,
    by_a_closure, by_an_object, by_a_statement, by_another_gradient, one_name_for_two_things,
    by_itself, by_a_number, from_a_generator, a_global,
]  # fmt: skip


@pytest.mark.parametrize("f", NOT, ids=lambda f: f.__name__)
def test_all_else_counts_as_writing(f):
    assert not writes_nothing(f, (W,), {})


@pytest.mark.parametrize("f", [np.sum, OBJECT, dualad.grad(square), types.MethodType(square, W)])
def test_what_is_no_function_of_python(f):
    assert not writes_nothing(f, (W,), {})


class Labelled(np.ndarray):
    """Arrays whose operators are code of their own."""


@pytest.mark.parametrize("x", [
    W.view(Labelled), np.array([W, None], object), OBJECT, [W, OBJECT], {"a": OBJECT}, {OBJECT: W},
    np, writes, [W] * 1000,
], ids=lambda x: type(x).__name__)  # fmt: skip
def test_arguments_of_other_kinds(x):
    assert not writes_nothing(square, (x,), {})
    assert not writes_nothing(square, (), {"w": x})


# --- what is looked up at each call --------------------------------------------------------------


def test_a_name_that_stands_for_another_thing(monkeypatch):
    f = make()
    assert writes_nothing(f, (W,), {})
    with monkeypatch.context() as m:
        m.setitem(globals(), "logistic", writes)
        assert not writes_nothing(f, (W,), {})
    with monkeypatch.context() as m:
        m.setattr(np, "tanh", python_ufunc)
        assert not writes_nothing(f, (W,), {})
    with monkeypatch.context() as m:
        m.setattr(np, "exp", python_ufunc)  # in a function that it calls
        assert not writes_nothing(f, (W,), {})
    with monkeypatch.context() as m:
        m.setitem(globals(), "SCALE", OBJECT)
        assert not writes_nothing(f, (W,), {})
    with monkeypatch.context() as m:
        m.setattr(logistic, "__code__", (lambda xp, z, slope=1.0: X.fill(0.0)).__code__)
        assert not writes_nothing(f, (W,), {})
    with monkeypatch.context() as m:
        m.setattr(branches, "__defaults__", (OBJECT,))
        assert not writes_nothing(branches, (W,), {})
    assert writes_nothing(f, (W,), {})
    assert not writes_nothing(make(module=types.SimpleNamespace(**vars(np))), (W,), {})


def from_source(source, shown):
    """A function of which the file shows another source."""
    name = f"<shown {shown!r}>"
    linecache.cache[name] = len(shown), None, shown.splitlines(keepends=True), name
    scope = {"np": np, "X": X}
    exec(compile(source, name, "exec"), scope)
    return scope["f"]


def test_the_source_must_be_that_of_the_code():
    right = "def f(w):\n    return np.sum(X @ w)\n"
    assert writes_nothing(from_source(right, right), (W,), {})
    for other in (
        "def f(w):\n    X[0] = 1.0\n    return np.sum(X @ w)\n",
        "def f(w):\n    return np.max(X @ w)\n",
        "def f(w):\n    return np.sum(X @ w, 0, None)\n",
        "def f(w, out=1):\n    return np.sum(X @ w)\n",
    ):
        assert not writes_nothing(from_source(other, right), (W,), {})
    another = "def f(w):\n    return np.sum(X @ w) + 1.0\n"
    for shown in ("def f(w:\n", "", "f = 1\n", right):
        assert not writes_nothing(from_source(another, shown), (W,), {})
    # The same code is the same function, whatever its file shows in the meantime.
    assert writes_nothing(from_source(right, another), (W,), {})


def test_nothing_in_a_closure_is_kept_alive():
    def make(rows):
        return lambda w: np.sum(rows @ w)

    class Owner(np.ndarray):
        pass

    rows = X.copy()
    gone = weakref.ref(rows)
    assert writes_nothing(make(rows), (W,), {})
    del rows
    gc.collect()
    assert gone() is None


def test_what_numpy_calls_at_an_error_may_write():
    with np.errstate():
        np.seterrcall(lambda kind, flag: None)
        try:
            assert not writes_nothing(straight, (W,), {})
        finally:
            np.seterrcall(None)
    assert writes_nothing(straight, (W,), {})


def test_what_was_put_in_the_place_of_a_reader_is_none(monkeypatch):
    """Even if that was before anything was read."""

    @functools.wraps(np.round)
    def rounds(x, *rest):
        BUFFER[0] = 1.0
        return x

    def f(w):
        return np.sum(np.round(X @ w))

    readers.cache_clear()
    try:
        with monkeypatch.context() as m:
            m.setattr(np, "round", rounds)
            assert not writes_nothing(f, (W,), {})
            assert np.sum in readers()
    finally:
        readers.cache_clear()


class Writes:
    """An index that writes when it is asked for."""

    def __index__(self):
        BUFFER[0] = 1.0
        return 1


def test_slices_may_hold_anything():
    assert writes_nothing(lambda w, at: np.sum((X @ w)[at]), (W, slice(0, 2)), {})
    assert not writes_nothing(lambda w, at: np.sum((X @ w)[at]), (W, slice(0, Writes())), {})


def test_containers_that_hold_themselves():
    node = {"value": 2.0, "parts": [1.0]}
    assert writes_nothing(containers, (W, node), {})
    node["parts"].append(node)
    assert not writes_nothing(containers, (W, node), {})
    large = np.full((200, 200), 0.5)
    gradient = dualad.grad(lambda a: np.sum(large @ a) * node["value"])(large)
    np.testing.assert_allclose(gradient, 200.0)


def test_not_many_entries_are_looked_at():
    rows = [[1.0] * 20] * 20
    assert writes_nothing(containers, (W, rows), {})
    for _ in range(6):  # 20 to the power of 8 in all
        rows = [rows] * 20
    assert not writes_nothing(containers, (W, rows), {})


# --- gradients -----------------------------------------------------------------------------------


@pytest.fixture
def kept(monkeypatch):
    """The constants that entries of products hold."""
    found = []
    noted = contractions.noted

    def watched(level, out, entry):
        if entry[0] is contractions.pull_linear:
            found.extend(x for x in entry[3] if type(x) is np.ndarray)
        return noted(level, out, entry)

    monkeypatch.setattr(contractions, "noted", watched)
    return found


LARGE = np.random.default_rng(0).normal(size=(200, 300))
LABELS = np.sign(LARGE[:, 0])
WEIGHTS = np.linspace(-1.0, 1.0, 300)


def squares(w, x, y):
    d = np.matmul(x, w) - y
    return np.sum(d * d)


def by_operators(w, x, y):
    return np.sum((x @ w - y) ** 2)


def from_the_left(w, x, y):
    return np.sum((np.dot(w, x.T) - y) ** 2)


@pytest.mark.parametrize("f", [squares, by_operators, from_the_left], ids=lambda f: f.__name__)
@pytest.mark.parametrize("argnums", [0, (0,), (0, 2)], ids=str)
def test_a_large_constant_is_not_copied_where_nothing_is_written(f, argnums, kept):
    found = dualad.grad(f, argnums=argnums)(WEIGHTS, LARGE, LABELS)
    first = found[0] if isinstance(argnums, tuple) else found
    residual = LARGE @ WEIGHTS - LABELS
    np.testing.assert_allclose(first, 2.0 * LARGE.T @ residual, rtol=1e-10)
    if argnums == (0, 2):
        np.testing.assert_allclose(found[1], -2.0 * residual, rtol=1e-10)
    assert [np.shares_memory(k, LARGE) for k in kept] == [True]
    assert not np.may_share_memory(first, LARGE)


def test_neither_where_it_may_be_written_nor_where_the_recording_lasts(kept):
    rows = LARGE.copy()

    def spoils(w):
        y = rows @ w
        rows[...] = 0.0
        return np.sum(y * y)

    found = dualad.grad(spoils)(WEIGHTS)
    np.testing.assert_allclose(found, 2.0 * LARGE.T @ (LARGE @ WEIGHTS), rtol=1e-10)
    rows[...] = LARGE
    _, pullback = dualad.vjp(lambda w: rows @ w, WEIGHTS)
    rows[...] = 0.0
    np.testing.assert_allclose(pullback(LABELS)[0], LARGE.T @ LABELS, rtol=1e-10)
    assert not any(np.shares_memory(k, rows) for k in kept)


def test_a_function_around_it_may_write():
    """Its own tape is read before that, that of the outer function has a copy."""
    rows = LARGE.copy()

    def inner(w):
        return np.sum((rows @ w) ** 2)

    def outer(w):
        g = dualad.grad(inner)(w)
        rows[...] = 0.0
        return np.sum(g * g)

    found = dualad.grad(outer)(WEIGHTS)
    gram = LARGE.T @ LARGE
    np.testing.assert_allclose(found, 8.0 * gram @ (gram @ WEIGHTS), rtol=1e-9)


# --- what the sweep has read is let go -----------------------------------------------------------

WIDE = np.random.default_rng(1).normal(size=(256, 200))
WIDE[7] = 0.0
MATRIX = np.random.default_rng(2).normal(size=(200, 256))


def deep(w, x):
    return np.sum(np.tanh(np.matmul(x, w)) ** 2)


def with_a_kink(w, x):
    """The sum of moduli: the root has no slope at 0, which the square before it makes up for."""
    y = np.matmul(x, w)
    return np.sum(np.sqrt(y * y))


@pytest.fixture
def sweeps(monkeypatch):
    """How long tapes were before and after sweeps over large arrays; how many were repeated."""
    lengths, repeated = [], []
    sweep, once_more = tape_module.sweep_of_large(), gradient.taped

    def watched(tape, *args):
        before = len(tape)
        out = sweep(tape, *args)
        lengths.append((before, len(tape)))
        return out

    def counted(*args):
        repeated.append(args)
        return once_more(*args)

    monkeypatch.setattr(tape_module, "sweep_of_large", lambda: watched)
    monkeypatch.setattr(gradient, "taped", counted)
    return lengths, repeated


@pytest.mark.parametrize("argnums", [0, (0,)], ids=str)
def test_entries_are_let_go_as_they_are_pulled(argnums, sweeps):
    found = dualad.grad(deep, argnums=argnums)(MATRIX, WIDE)
    t = np.tanh(WIDE @ MATRIX)
    np.testing.assert_allclose(
        found[0] if argnums else found, WIDE.T @ (2 * t * (1 - t * t)), rtol=1e-8, atol=1e-10
    )
    ((before, after),), repeated = sweeps
    assert before > after == 1 and not repeated


@pytest.mark.parametrize("argnums", [0, (0,)], ids=str)
def test_where_a_nan_shows_up_the_tape_is_recorded_once_more(argnums, sweeps):
    value, found = dualad.value_and_grad(with_a_kink, argnums=argnums)(MATRIX, WIDE)
    y = WIDE @ MATRIX
    assert value == pytest.approx(np.sum(np.abs(y)), rel=1e-13)
    np.testing.assert_allclose(found[0] if argnums else found, WIDE.T @ np.sign(y), rtol=1e-10)
    assert len(sweeps[1]) == 1


def test_tapes_of_functions_that_may_write_are_kept(sweeps):
    def f(w, x):
        buffer = np.zeros(3)
        buffer[0] = 1.0
        return with_a_kink(w, x)

    found = dualad.grad(f)(MATRIX, WIDE)
    np.testing.assert_allclose(found, WIDE.T @ np.sign(WIDE @ MATRIX), rtol=1e-10)
    ((before, after),), repeated = sweeps
    assert before == after and not repeated
