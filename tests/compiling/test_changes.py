"""What a compiled function reads beside its arguments: a change of it is seen at the next call."""

import functools
import sys
import threading
import types
import warnings

import numpy as np
import pytest

import dualad
from dualad.compiling.captured import Captured
from dualad.errors import CompileWarning

X = np.linspace(-1.0, 2.0, 4)
compiled = functools.partial(dualad.compile, backend="numpy")


class Model:
    scale = 1.0

    def __init__(self):
        self.factor = 1.0
        self.rng = np.random.default_rng(3)

    def product(self, x):
        return self.factor * self.scale * x

    def through(self, x):
        return self.product(x) + 1.0

    @property
    def twice(self):
        return 2 * self.factor

    def by_property(self, x):
        return self.twice * x

    def __call__(self, x):
        return self.product(x)

    def noisy(self, x):
        return x + self.rng.normal()


class Slotted:
    __slots__ = ("factor",)

    def product(self, x):
        return self.factor * x


def changing_attribute(make):
    model = Model()
    return make(model), lambda v: setattr(model, "factor", v)


def changing_slot():
    model = Slotted()
    model.factor = 1.0
    return model.product, lambda v: setattr(model, "factor", v)


def changing_list():
    factors = [1.0]
    return lambda x: sum(factors) * x, lambda v: factors.append(v - sum(factors))


def changing_dict():
    options = {"a": {"b": [1.0]}}
    return lambda x: options["a"]["b"][0] * x, lambda v: options["a"]["b"].__setitem__(0, v)


def changing_namespace():
    space = types.SimpleNamespace(inner=types.SimpleNamespace(factor=1.0))
    return lambda x: space.inner.factor * x, lambda v: setattr(space.inner, "factor", v)


def changing_module():
    module = types.ModuleType("settings_of_a_test")
    module.FACTOR = 1.0
    return lambda x: module.FACTOR * x, lambda v: setattr(module, "FACTOR", v)


def changing_class():
    kind = type("Kind", (), {"factor": 1.0, "__module__": __name__})
    return lambda x: kind.factor * x, lambda v: setattr(kind, "factor", v)


def changing_entries(read):
    array = np.ones(4)
    return lambda x: read(array) * x, lambda v: array.fill(v)


def changing_functions():
    functions = [lambda x: x]
    return lambda x: functions[0](x), lambda v: functions.__setitem__(0, lambda x: v * x)


CHANGING = {
    "method": lambda: changing_attribute(lambda m: m.product),
    "method by method": lambda: changing_attribute(lambda m: m.through),
    "method by property": lambda: changing_attribute(lambda m: m.by_property),
    "object with a call": lambda: changing_attribute(lambda m: m),
    "closure over an object": lambda: changing_attribute(lambda m: lambda x: m.factor * x),
    "partial of a function of an object": lambda: changing_attribute(
        lambda m: functools.partial(Model.through, m)
    ),
    "gradient": lambda: changing_attribute(lambda m: dualad.grad(lambda x: np.sum(m(x)))),
    "slot": changing_slot,
    "list": changing_list,
    "dict": changing_dict,
    "namespace": changing_namespace,
    "module": changing_module,
    "class": changing_class,
    "list of functions": changing_functions,
    "entries": lambda: changing_entries(lambda a: a),
    "one entry": lambda: changing_entries(lambda a: a[0]),
    "computed beforehand": lambda: changing_entries(lambda a: 2 * a + 1),
    "branch on an entry": lambda: changing_entries(lambda a: 2.0 if a[0] > 2 else 1.0),
}


@pytest.mark.parametrize("case", CHANGING)
def test_a_change_is_seen(case):
    f, change = CHANGING[case]()
    g = compiled(f)
    for value in (1.0, 3.0, 5.0):
        change(value)
        for _ in range(3):
            np.testing.assert_array_equal(g(X), f(X))


def test_an_object_that_is_an_argument():
    class Decorated(Model):
        @compiled
        def compiled_product(self, x):
            return self.factor * x

    model, f = Decorated(), compiled(lambda m, x: m.factor * x)
    for value in (1.0, 3.0, 5.0):
        model.factor = value
        for _ in range(3):
            np.testing.assert_array_equal(f(model, X), value * X)
            np.testing.assert_array_equal(model.compiled_product(X), value * X)


def test_a_change_is_seen_under_transformations():
    model = Model()
    f = compiled(lambda x: np.sum(model.factor * x * x))
    for value in (1.0, 3.0, 5.0):
        model.factor = value
        for _ in range(2):
            np.testing.assert_allclose(dualad.grad(f)(X), 2 * value * X)
            np.testing.assert_allclose(dualad.jvp(f, (X,), (X,))[1], np.sum(2 * value * X * X))


def test_what_the_function_itself_changes_and_reads():
    count, model = [0], Model()

    def numbered(x):
        count[0] += 1
        return x + count[0]

    def counting(x):
        model.factor = model.factor + 1
        return x + model.factor

    for f, first in ((numbered, 1.0), (counting, 2.0)):
        g = compiled(f)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert [g(0.0) for _ in range(12)] == [first + k for k in range(12)]
        assert [w.category for w in seen] == [CompileWarning]


def test_what_the_function_only_counts_does_not_hinder_it():
    calls, count = [], [0]

    @compiled
    def f(x):
        calls.append(1)
        count[0] += 1
        return 2 * x

    assert [float(f(v)) for v in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert len(calls) == count[0] == 1


def test_an_array_that_the_function_writes_into_and_reads():
    total = np.zeros(1)

    @compiled
    def f(x):
        total[0] += 1
        return x + total[0]

    assert [float(f(0.0)) for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]


def endless():
    k = 0
    while True:
        yield k
        k += 1


RANDOM = {
    "RandomState": lambda s: lambda x: x + s["old"].normal(),
    "random.Random": lambda s: lambda x: x + s["python"].random(),
    "deep": lambda s: lambda x: x + s["deep"]["rng"].normal(),
    "object": lambda s: s["model"].noisy,
    "closure": lambda s: lambda x: s["model"].noisy(x),
    "no seed": lambda s: lambda x: x + np.random.default_rng().normal(),
    "iterator": lambda s: (lambda it: lambda x: x + next(it))(iter(range(9))),
    "generator": lambda s: (lambda it: lambda x: x + next(it))(endless()),
}


@pytest.mark.parametrize("case", RANDOM)
def test_random_draws_and_iterators_are_noticed(case):
    import random

    sources = {
        "old": np.random.RandomState(0), "python": random.Random(0), "model": Model(),
        "deep": {"rng": np.random.default_rng(0)},
    }  # fmt: skip
    f = compiled(RANDOM[case](sources))
    with pytest.warns(CompileWarning, match="random numbers"):
        f(1.0)
    assert len({float(f(1.0)) for _ in range(4)}) == 4


def test_standard_output_is_put_back_where_threads_trace_at_once():
    out, seeds = sys.stdout, np.random.bit_generator.randbits
    barrier = threading.Barrier(3)

    def work(k):
        @compiled
        def f(x):
            barrier.wait(10)
            return x * k

        assert f(2.0) == 2.0 * k

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sys.stdout is out
    assert np.random.bit_generator.randbits == seeds


@pytest.mark.parametrize("size", [20, 40_000])
@pytest.mark.parametrize("transform", [lambda f: f, dualad.grad, dualad.hessian])
def test_data_that_changes_in_place_under_a_transformation(size, transform):
    rng = np.random.default_rng(0)
    a, y, weights = rng.normal(size=(size, 2)), rng.normal(size=size), rng.uniform(size=size)

    def loss(w):
        return np.mean(weights * (a @ w - y) ** 2)

    f, w = compiled(transform(loss)), np.array([1.0, 2.0])
    f(w)
    for data in (y, weights, a):
        np.testing.assert_allclose(f(w), transform(loss)(w), rtol=1e-9)
        data *= 0.5
        np.testing.assert_allclose(f(w), transform(loss)(w), rtol=1e-9)


def test_data_is_not_copied():
    a = np.random.default_rng(0).normal(size=(2000, 30))
    f = compiled(dualad.grad(lambda w: np.sum(np.tanh(a @ w))))
    f(np.ones(30))
    arrays = [x for p in f._cache.values() for x in p.known[0].traced.arrays() if x.size > 2000]
    assert arrays
    assert all(np.shares_memory(x, a) for x in arrays)


def test_libraries_are_not_followed():
    pandas = pytest.importorskip("pandas")
    concat = pandas.concat
    captured = Captured(lambda x: x * len(concat([pandas.Series([1.0])])) + len(x.__dict__))
    assert captured.changed() is None
    assert len(captured.names) < 20
