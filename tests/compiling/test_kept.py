"""What a function keeps of its arguments in a trace is a plain value; then it runs as it is."""

import array
import collections
import functools
import warnings

import numpy as np
import pytest

import dualad
from dualad.errors import CompileWarning

X = np.array([0.5, -1.0, 2.0])


class Holder:
    def __init__(self):
        self.last, self.total, self.history = None, 0.0, []


class Slotted:
    __slots__ = ("last",)


def in_an_attribute():
    holder = Holder()

    def f(x):
        holder.last = 2 * x
        return 3 * x

    return f, lambda: holder.last


def in_a_slot():
    holder = Slotted()

    def f(x):
        holder.last = 2 * x
        return 3 * x

    return f, lambda: holder.last


def in_an_attribute_that_is_read():
    holder = Holder()

    def f(x):
        holder.total = holder.total + np.sum(x)
        return x * holder.total

    return f, lambda: holder.total


def in_a_list_of_an_object_inside_of_a_tuple():
    holder = Holder()

    def f(x):
        holder.history.append((x, {"double": 2 * x}))
        return 3 * x

    return f, lambda: list(holder.history)


def in_a_list_of_sums():
    history = []

    def f(x):
        history.append(np.sum(x))
        return 3 * x

    return f, lambda: list(history)


def in_a_deque():
    latest = collections.deque(maxlen=2)

    def f(x):
        latest.append(-x)
        return 3 * x

    return f, lambda: list(latest)


def in_a_dict():
    found = {}

    def f(x):
        found["double"] = 2 * x
        return 3 * x

    return f, lambda: dict(found)


def in_a_closure():
    last = None

    def f(x):
        nonlocal last
        last = 2 * x
        return 3 * x

    return f, lambda: last


def in_the_function():
    def f(x):
        f.last = 2 * x
        return 3 * x

    return f, lambda: f.last


CASES = [
    in_an_attribute, in_a_slot, in_an_attribute_that_is_read,
    in_a_list_of_an_object_inside_of_a_tuple, in_a_list_of_sums, in_a_deque, in_a_dict,
    in_a_closure, in_the_function,
]  # fmt: skip


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for v, w in zip(a, b, strict=True):
            same(v, w)
    elif isinstance(a, dict):
        same(list(a.items()), list(b.items()))
    else:
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", CASES)
def test_what_a_function_keeps(case):
    f, kept = case()
    g, kept_by_compiled = case()
    with pytest.warns(CompileWarning, match="keeps a value that depends on the arguments"):
        compiled = dualad.compile(g, backend="numpy")
        same(compiled(X), f(X))
    same(kept_by_compiled(), kept())
    for k in range(3):
        same(compiled(X + k), f(X + k))
        same(kept_by_compiled(), kept())


def test_a_number_of_python_is_kept_as_one():
    holder = Holder()

    def f(x):
        holder.last = 2 * x
        return 3 * x

    with pytest.warns(CompileWarning, match="'last'"):
        dualad.compile(f, backend="numpy")(1.5)
    assert type(holder.last) is float and holder.last == 3.0


def test_a_function_that_is_the_result():
    compiled = dualad.compile(lambda x: lambda t: t * x, backend="numpy")
    with pytest.warns(CompileWarning, match="in a variable"):
        times = compiled(X)
    np.testing.assert_array_equal(times(2.0), 2 * X)
    np.testing.assert_array_equal(compiled(3 * X)(2.0), 6 * X)


def generated(x):
    yield x
    yield 2 * x


@pytest.mark.parametrize(
    "f",
    [generated, lambda x: (v for v in (x, 2 * x)), lambda x: map(np.negative, x),
     lambda x: iter([x, 2 * x])],
)  # fmt: skip
def test_what_computes_later(f):
    compiled = dualad.compile(f, backend="numpy")
    with pytest.warns(CompileWarning, match="which computes later"):
        same(list(compiled(X)), list(f(X)))
    for k in range(3):
        same(list(compiled(X + k)), list(f(X + k)))


@pytest.mark.parametrize("kind", [set, bytearray, collections.deque])
def test_a_container_that_the_caller_may_change(kind):
    compiled = dualad.compile(lambda x: (2 * x, kind([1, 2])), backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for _ in range(3):
            assert len(compiled(1.5)[1]) == 2
            compiled(1.5)[1].clear()


def recursive(x):
    def power(y, n):
        return y if n == 0 else power(y * x, n - 1)

    return power(x, 3)


def in_a_dict_of_another_kind(x):
    return collections.OrderedDict(double=2 * x)


def after_an_error(x):
    try:
        raise ValueError(x)
    except ValueError as error:
        return error.args[0] * 2


@pytest.mark.parametrize("f", [recursive, in_a_dict_of_another_kind, after_an_error])
def test_what_nobody_keeps_is_no_reason(f):
    compiled = dualad.compile(f, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(3):
            same(compiled(X + k), f(X + k))
    assert compiled.source()


def test_what_a_function_does_before_it_turns_out_to_have_no_program_is_done_once():
    calls, history, found = Holder(), [], {}
    buffer = np.zeros(3)

    def f(x):
        calls.total += 1
        history.append(calls.total)
        found["number"] = len(found)
        np.multiply(x, 2.0, out=buffer)  # an array that is none of the trace
        return 3 * x

    compiled = dualad.compile(f, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for _ in range(3):
            compiled(X)
    assert calls.total == 3.0
    assert history == [1.0, 2.0, 3.0]
    assert found == {"number": 1}
    np.testing.assert_array_equal(buffer, 2 * X)


def test_a_value_that_is_kept_before_it_turns_out_that_there_is_no_program():
    total, history = 0.0, []

    def f(x):
        nonlocal total
        total = total + np.sum(x)
        history.append(x)
        np.multiply(x, 2.0, out=np.zeros(3))
        return total * x

    compiled = dualad.compile(f, backend="numpy")
    with pytest.warns(CompileWarning, match="out="):
        np.testing.assert_allclose(compiled(X), np.sum(X) * X)
    np.testing.assert_allclose(compiled(X), 2 * np.sum(X) * X)
    same(history, [X, X])


def test_a_value_that_is_looked_up():
    slopes = {1.0: 5.0}

    def f(x):
        return x * slopes.get(x, 2.0) if x not in {7.0} else -x

    compiled = dualad.compile(f, backend="numpy")
    with pytest.warns(CompileWarning, match="dict, in a set or in a cache"):
        found = [compiled(v) for v in (1.0, 3.0, 7.0, 1.0)]
    assert found == [5.0, 6.0, -7.0, 5.0]


def test_a_whole_number_that_is_looked_up_is_a_guard():
    weights = {0: 2.0, 1: 3.0, 2: 5.0}
    compiled = dualad.compile(lambda x: x * weights[np.argmax(x)], backend="numpy")
    for k in (0, 1, 2, 0, 1, 2):
        x = np.roll([4.0, 1.0, 1.0], k)
        np.testing.assert_array_equal(compiled(x), x * weights[k])


def test_a_cache_of_values():
    @functools.lru_cache
    def twice(v):
        return 2 * v

    compiled = dualad.compile(lambda x: x + twice(np.sum(x)), backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for x in (X, 2 * X, X):
            np.testing.assert_allclose(compiled(x), x + 2 * np.sum(x))
    assert twice(np.float64(1.5)) == 3.0


def test_a_warning_of_the_function_itself():
    def f(x):
        if x > 2:
            warnings.warn("large", UserWarning, stacklevel=1)
        return 3 * x

    compiled = dualad.compile(f, backend="numpy")
    for x in (1.0, 3.0, 1.0, 3.0, 1.0, 3.0):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert compiled(x) == 3 * x
        assert [(w.category, str(w.message)) for w in seen] == [(UserWarning, "large")] * (x > 2)
        assert all(w.filename == __file__ for w in seen)
    assert warnings.warn.__module__ in ("_warnings", "_py_warnings")


def test_many_warnings_of_the_function_itself():
    def f(x):
        warnings.warn("large", UserWarning, stacklevel=1)
        return 3 * x

    compiled = dualad.compile(f, backend="numpy")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(20):
            compiled(1.0)
    categories = [w.category for w in seen]
    assert categories.count(UserWarning) == 20
    assert categories.count(CompileWarning) == 1


CHANGED = {
    "set": (set, lambda held: held.add(len(held))),
    "deque": (collections.deque, lambda held: held.append(len(held))),
    "bytes": (bytearray, lambda held: held.append(len(held))),
    "numbers": (lambda: array.array("d"), lambda held: held.append(len(held))),
    "objects": (
        lambda: np.array([0, None], dtype=object),
        lambda held: held.__setitem__(0, held[0] + 1),
    ),
}


@pytest.mark.parametrize("kind", CHANGED)
def test_a_container_that_is_changed_before_it_turns_out_that_there_is_no_program(kind):
    make, change = CHANGED[kind]
    held, plain = make(), make()

    def f(x, held):
        change(held)
        np.multiply(x, 2.0, out=np.zeros(3))
        return 3 * x

    compiled = dualad.compile(lambda x: f(x, held), backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for _ in range(3):
            compiled(X)
            f(X, plain)
            assert list(held) == list(plain)
