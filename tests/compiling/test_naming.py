"""Whatever a function reads, by whatever name: the next call sees what it holds then."""

import argparse
import collections
import contextlib
import dataclasses
import functools
import operator
import sys
import types
import unittest.mock
import warnings

import numpy as np
import pytest

import dualad
from dualad.compiling.captured import Captured
from dualad.compiling.naming import imports_in, loaded_in, names_in, variables_in
from dualad.errors import CompileWarning

X = np.linspace(-1.0, 2.0, 4)
FACTOR = 1.0


class Space:
    def __init__(self, **held):
        self.__dict__.update(held)


def set_factor(v):
    globals()["FACTOR"] = v


# --- objects of libraries, and of classes that are made of theirs ---


def options_of_a_command():
    options = argparse.Namespace(rate=1.0)
    return lambda x: options.rate * x, lambda v: setattr(options, "rate", v)


def an_exception():
    error = ValueError("it has attributes too")
    error.factor = 1.0
    return lambda x: error.factor * x, lambda v: setattr(error, "factor", v)


def attributes_of_a(base, *args):
    kind = type("Kind", (base,), {"__module__": __name__})
    held = np.ones(4).view(kind) if base is np.ndarray else kind(*args)
    held.factor = 1.0
    return lambda x: held.factor * x, lambda v: setattr(held, "factor", v)


def a_polynomial():
    p = np.polynomial.Polynomial([1.0, 2.0])
    return lambda x: p(x), lambda v: p.coef.__setitem__(0, v)


def another_polynomial():
    p = np.polynomial.Polynomial([1.0, 2.0])
    return lambda x: p(x), lambda v: setattr(p, "coef", np.array([v, 1.0]))


def a_function_of_a_library(wrap):
    held = [1.0]
    f = wrap(lambda k: held[0] * k)
    return lambda x: f(2.0) * x, lambda v: held.__setitem__(0, v)


def a_cache():
    held = [1.0]

    @functools.lru_cache
    def f(k):
        return held[0] * k

    def change(v):
        held[0] = v
        f.cache_clear()

    return lambda x: f(2.0) * x, change


def a_method_of_a_library(read):
    held = {"factor": 1.0}
    get = read(held)
    return lambda x: get("factor") * x, lambda v: held.__setitem__("factor", v)


def a_method_of_an_array():
    a = np.ones(4)
    total = a.sum
    return lambda x: total() * x, lambda v: a.fill(v)


def a_partial_method():
    held = [1.0]

    class Kind:
        def product(self, k, x):
            return held[0] * k * x

        twice = functools.partialmethod(product, 2.0)

    kind = Kind()
    return lambda x: kind.twice(x), lambda v: held.__setitem__(0, v)


def a_getter(path, change):
    space = Space(inner=Space(factor=1.0))
    get = operator.attrgetter(path)
    return lambda x: get(space) * x, lambda v: change(space, v)


def a_caller():
    class Kind:
        factor = 1.0

        def get(self, times=1):
            return times * self.factor

    kind, call = Kind(), operator.methodcaller("get", times=2)
    return lambda x: call(kind) * x, lambda v: setattr(kind, "factor", v)


def a_context():
    held = [1.0]

    @contextlib.contextmanager
    def factor():
        yield held[0]

    def f(x):
        with factor() as k:
            return k * x

    return f, lambda v: held.__setitem__(0, v)


# --- classes whose objects the function makes, compares or asks ---


def an_object_that_is_made(**methods):
    held = [1.0]
    body = {name: make(held) for name, make in methods.items()}
    kind = type("Kind", (), {"__module__": __name__, **body})
    return lambda x: kind().factor * x, lambda v: held.__setitem__(0, v)


def init(held):
    def __init__(self):
        self.factor = held[0]

    return __init__


def new(held):
    def __new__(cls):
        made = object.__new__(cls)
        made.factor = held[0]
        return made

    return __new__


def made_by_a_base():
    held = [1.0]

    class Base:
        def __init__(self):
            self.factor = held[0]

    class Kind(Base):
        pass

    return lambda x: Kind().factor * x, lambda v: held.__setitem__(0, v)


def a_dataclass_that_is_made():
    held = [1.0]

    @dataclasses.dataclass
    class Kind:
        factors: list = dataclasses.field(default_factory=lambda: list(held))

        def __post_init__(self):
            self.factors[0] *= held[0]

    return lambda x: Kind().factors[0] * x, lambda v: held.__setitem__(0, v)


def an_operator_of_what_is_made():
    held = [1.0]

    class Value:
        __array_ufunc__ = None

        def __init__(self, x):
            self.x = x

        def __mul__(self, other):
            return Value(held[0] * self.x * other)

        def __call__(self):
            return held[0] * self.x

    return lambda x: (Value(x) * 2.0)(), lambda v: held.__setitem__(0, v)


def a_comparison():
    class Kind:
        size = 1.0

        def __eq__(self, other):
            return self.size > 2

        __hash__ = None

    a, b = Kind(), Kind()
    return lambda x: x if a == b else 2 * x, lambda v: setattr(a, "size", v)


def a_question_to_a_class():
    held = [1.0]

    class Asked(type):
        def __instancecheck__(cls, x):
            return held[0] > 2

    kind = Asked("Kind", (), {"__module__": __name__})
    return lambda x: x if isinstance(3, kind) else 2 * x, lambda v: held.__setitem__(0, v)


def an_attribute_of_the_class_of_a_class():
    class Meta(type):
        factor = 1.0

    class Kind(metaclass=Meta):
        def f(self, x):
            return type(self).factor * x

    return Kind().f, lambda v: setattr(Meta, "factor", v)


def a_descriptor_that_keeps_values_in_the_object():
    class Kept:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, held, owner=None):
            return held.__dict__[self.name]

        def __set__(self, held, value):
            held.__dict__[self.name] = value

    class Kind:
        factor = Kept()

    kind = Kind()
    kind.factor = 1.0
    return lambda x: kind.factor * x, lambda v: setattr(kind, "factor", v)


# --- variables and modules ---


def the_code_of_a_function(outer):
    def of(x):
        return x

    def change(v):  # as a tool does that reloads modules
        of.__code__ = eval(f"lambda x: {v} * x").__code__

    return (of if outer else lambda x: of(x)), change


def a_variable_that_comes():
    space = {"__name__": "a_module_of_a_test"}
    exec("def f(x):\n try:\n  return K * x\n except NameError:\n  return 7 * x", space)
    return space["f"], lambda v: space.update(K=v) if v > 1 else None


def a_module(name, text, change):
    module = types.ModuleType(name)
    module.factor = 1.0
    sys.modules[name] = module
    space = {"__name__": __name__, "__package__": name.rpartition(".")[0]}
    exec(text, space)
    return space["f"], lambda v: change(module, v)


def a_module_that_looks_names_up():
    module = types.ModuleType("looked_up_in_a_test")
    exec("held = {'factor': 1.0}\ndef __getattr__(name):\n return held[name]", module.__dict__)
    return lambda x: module.factor * x, lambda v: module.held.__setitem__("factor", v)


def set_in(module, v):
    module.factor = v


CHANGING = {
    f.__name__.replace("_", " "): f
    for f in (
        options_of_a_command, an_exception, a_polynomial, another_polynomial, a_cache,
        a_method_of_an_array, a_partial_method, a_caller, a_context, made_by_a_base,
        a_dataclass_that_is_made, an_operator_of_what_is_made, a_comparison,
        a_question_to_a_class, an_attribute_of_the_class_of_a_class,
        a_descriptor_that_keeps_values_in_the_object, a_variable_that_comes,
        a_module_that_looks_names_up,
    )
} | {
    "attributes of a list": lambda: attributes_of_a(list),
    "attributes of a dict": lambda: attributes_of_a(dict),
    "attributes of a tuple": lambda: attributes_of_a(tuple),
    "attributes of a number": lambda: attributes_of_a(float, 2.0),
    "attributes of a text": lambda: attributes_of_a(str, "a"),
    "attributes of an array": lambda: attributes_of_a(np.ndarray),
    "np.vectorize": lambda: a_function_of_a_library(np.vectorize),
    "staticmethod": lambda: a_function_of_a_library(staticmethod),
    "a method of a dict": lambda: a_method_of_a_library(lambda held: held.get),
    "a special method of a dict": lambda: a_method_of_a_library(lambda held: held.__getitem__),
    "a getter": lambda: a_getter(
        "inner.factor", lambda s, v: setattr(s.inner, "factor", v)
    ),
    "an object that is made": lambda: an_object_that_is_made(__init__=init),
    "an object that is made anew": lambda: an_object_that_is_made(__new__=new),
    "the code of a function": lambda: the_code_of_a_function(True),
    "the code of a function that is called": lambda: the_code_of_a_function(False),
    "globals()": lambda: (lambda x: globals()["FACTOR"] * x, set_factor),
    "eval": lambda: (lambda x: eval("2 * FACTOR") * x, set_factor),
    "a variable of the module by sys.modules": lambda: (
        lambda x: sys.modules[__name__].FACTOR * x, set_factor,
    ),
    "a module that the function imports": lambda: a_module(
        "imported_in_a_test", "def f(x):\n import imported_in_a_test as m\n return m.factor * x",
        set_in,
    ),
    "a variable that the function imports": lambda: a_module(
        "source_in_a_test", "def f(x):\n from source_in_a_test import factor\n return factor * x",
        set_in,
    ),
    "a variable of a module of the package": lambda: a_module(
        "package_of_a_test.settings", "def f(x):\n from .settings import factor\n"
        " return factor * x", set_in,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGING)
def test_a_change_is_seen(case):
    f, change = CHANGING[case]()
    g = dualad.compile(f, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for value in (1.0, 3.0, 5.0):
            change(value)
            for _ in range(3):
                np.testing.assert_array_equal(g(X), f(X))
        assert g.source(X)  # there is a program


def test_an_attribute_of_the_name_of_a_variable_is_not_that_variable():
    """So that a variable which changes all the time does not keep a function from a program."""
    space = {"__name__": __name__, "turns": 0}
    exec("def f(held, x):\n return held.turns * x", space)
    held = Space(turns=2.0)
    g = dualad.compile(lambda x: space["f"](held, x), backend="numpy")
    assert "turns" not in variables_in(space["f"].__code__)
    g = dualad.compile(functools.partial(space["f"], held), backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for _ in range(20):
            space["turns"] += 1
            assert g(3.0) == 6.0


def test_what_a_constructor_sets_is_not_read():
    class Kind:
        made = 0

        def __init__(self, factor):
            self.factor, self.shown = factor, 0

    held = Kind(2.0)
    g = dualad.compile(lambda x: Kind(3.0).factor * held.factor * x, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for _ in range(20):
            held.shown += 1
            assert g(1.0) == 6.0


def test_a_descriptor_is_watched_once_and_not_all_that_its_object_holds():
    f, _ = a_descriptor_that_keeps_values_in_the_object()
    held = f.__closure__[0].cell_contents
    g = dualad.compile(f, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for k in range(20):
            held.shown = k
            assert g(3.0) == 3.0
    assert [name for _, name, _ in Captured(f).slots].count("factor") == 1


def test_a_descriptor_that_raises_is_asked_where_the_function_does():
    f, change = a_descriptor_that_keeps_values_in_the_object()
    held = f.__closure__[0].cell_contents
    g = dualad.compile(lambda x, asks: f(x) if asks else x, backend="numpy")
    for _ in range(3):
        assert g(3.0, True) == 3.0
    del held.__dict__["_factor"]
    for _ in range(3):
        assert g(3.0, False) == 3.0
        with pytest.raises(KeyError, match="_factor"):
            g(3.0, True)
    change(5.0)
    assert g(3.0, True) == 15.0


def test_an_object_that_has_whatever_it_is_asked_for():
    """As a mock, or a value that is computed later, has: to follow that would never end."""
    held = unittest.mock.Mock()
    held.factor = 2.0
    g = dualad.compile(lambda x: held.factor * x, backend="numpy")
    for factor in (2.0, 3.0):
        held.factor = factor
        for _ in range(3):
            assert g(3.0) == 3 * factor


def test_names():
    def f(x):
        import math as m
        from collections import deque as d

        held.k = len(x) + FACTOR
        return m.pi, d, getattr(held, "a.b"), [G * v for v in x]

    held, code = collections.Counter(), f.__code__
    assert variables_in(code) == {"len", "FACTOR", "getattr", "G", "a", "b", "deque"}
    assert imports_in(code) == {"math", "collections", "deque"}
    assert {"k", "pi", "a", "b", "G"} <= names_in(code)
    assert "k" not in loaded_in(code) and "pi" in loaded_in(code)


G = 1.0
