"""What the code of a function reads without naming it is followed as well, and compared."""

import array
import collections
import functools
import operator
import types
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.interpolate import CubicSpline

import dualad
import dualad.scipy.sparse
from dualad.errors import CompileWarning

X = np.linspace(-1.0, 2.0, 4)


class Space:
    def __init__(self, **held):
        self.__dict__.update(held)


class Looked:
    """Attributes that are found by a method."""

    def __init__(self):
        self.held = {"factor": 1.0}

    def __getattr__(self, name):
        try:
            return self.__dict__["held"][name]
        except KeyError:
            raise AttributeError(name) from None


class Row:
    """What operators, loops and indices call."""

    __array_ufunc__ = None

    def __init__(self):
        self.parts = [1.0, 2.0]

    def __getitem__(self, k):
        return self.parts[k]

    def __iter__(self):
        return iter(self.parts)

    def __rmul__(self, x):
        return self.parts[0] * x

    def __len__(self):
        return len(self.parts)


class Scaled:
    """A descriptor."""

    def __get__(self, instance, owner=None):
        return 10 * instance.raw


class Measured:
    scaled = Scaled()
    raw = 1.0


class Settings(collections.UserDict):
    pass


def of_space(read):
    space = Space(factor=1.0)
    return lambda x: read(space) * x, lambda v: setattr(space, "factor", v)


def by_text():
    space = Space(factor=1.0)
    return lambda x: getattr(space, "factor") * x, lambda v: setattr(space, "factor", v)


def by_one_of_some_texts():
    space = Space(factor=1.0, term=2.0)

    def f(x):
        for name in ("factor", "term"):
            x = x * getattr(space, name)
        return x

    return f, lambda v: setattr(space, "term", v)


def by_the_dict():
    space = Space(factor=1.0)
    return lambda x: vars(space)["factor"] * x, lambda v: setattr(space, "factor", v)


def by_a_getter():
    space = Space(factor=1.0)
    return (
        lambda x: operator.attrgetter("factor")(space) * x,
        lambda v: setattr(space, "factor", v),
    )


def a_function_of_an_object():
    space = Space(of=lambda x: x)
    return lambda x: space.of(x), lambda v: setattr(space, "of", lambda x: v * x)


def a_function_of_a_module():
    module = types.ModuleType("functions_of_a_test")
    module.of = lambda x: x
    return lambda x: module.of(x), lambda v: setattr(module, "of", lambda x: v * x)


def a_method_of_a_class():
    kind = type("Kind", (), {"of": lambda self, x: x, "__module__": __name__})
    held = kind()
    return lambda x: held.of(x), lambda v: setattr(kind, "of", lambda self, x: v * x)


def defaults_by_name():
    def f(x, *, factor=1.0):
        return factor * x

    return f, lambda v: setattr(f, "__kwdefaults__", {"factor": v})


def an_attribute_of_the_function():
    def f(x):
        return f.factor * x

    f.factor = 1.0
    return f, lambda v: setattr(f, "factor", v)


def an_attribute_that_the_function_comes_to_have():
    def f(x):
        return getattr(f, "factor", 1.0) * x

    return f, lambda v: setattr(f, "factor", v)


def by_a_method_for_attributes():
    looked = Looked()
    return lambda x: looked.factor * x, lambda v: looked.held.update(factor=v)


def of_a_row(read):
    row = Row()
    return lambda x: read(row, x), lambda v: row.parts.__setitem__(0, v)


def by_a_descriptor():
    measured = Measured()
    return lambda x: measured.scaled * x, lambda v: setattr(measured, "raw", v)


def in_a_container(make, put):
    held = make()
    return lambda x: held[0] * x, lambda v: put(held, v)


def in_a_dict(held, inner):
    return lambda x: held["factor"] * x, lambda v: inner.__setitem__("factor", v)


def in_a_proxy():
    inner = {"factor": 1.0}
    return in_a_dict(types.MappingProxyType(inner), inner)


def in_a_chain():
    inner = {"factor": 1.0}
    return in_a_dict(collections.ChainMap({}, inner), inner)


def in_a_dict_of_another_kind():
    settings = Settings(factor=1.0)
    return in_a_dict(settings, settings)


def in_an_array_of_objects():
    held = np.array([1.0, None], dtype=object)
    return lambda x: held[0] * x, lambda v: held.__setitem__(0, v)


def in_an_object_in_such_an_array():
    held = np.array([Space(factor=1.0), None], dtype=object)
    return lambda x: held[0].factor * x, lambda v: setattr(held[0], "factor", v)


def in_a_sparse_matrix():
    matrix = sparse.csr_array(np.eye(4))
    return lambda x: matrix @ x, lambda v: matrix.data.__setitem__(slice(None), v)


def in_a_sparse_matrix_that_takes_traced_operands():
    matrix = dualad.scipy.sparse.csr_array(sparse.csr_array(np.eye(4)))
    return lambda x: matrix @ x, lambda v: matrix.data.__setitem__(slice(None), v)


def under_a_gradient():
    matrix = dualad.scipy.sparse.csr_array(sparse.csr_array(np.eye(4)))
    gradient = dualad.grad(lambda x: np.sum((matrix @ x) ** 2))
    return gradient, lambda v: matrix.data.__setitem__(slice(None), v)


def in_other_entries_of_a_sparse_matrix():
    matrix = dualad.scipy.sparse.csr_array(sparse.csr_array(np.eye(4)))
    return lambda x: matrix @ x, lambda v: setattr(matrix, "data", np.full(4, v))


def in_a_spline():
    spline = CubicSpline(np.arange(4.0), np.arange(4.0) ** 2)
    return lambda x: spline(x), lambda v: spline.c.__setitem__(3, v)


CHANGING = {
    f.__name__.replace("_", " "): f
    for f in (
        by_text, by_one_of_some_texts, by_the_dict, by_a_getter, a_function_of_an_object,
        a_function_of_a_module, a_method_of_a_class, defaults_by_name,
        an_attribute_of_the_function, an_attribute_that_the_function_comes_to_have,
        by_a_method_for_attributes, by_a_descriptor, in_a_proxy, in_a_chain,
        in_a_dict_of_another_kind, in_an_array_of_objects, in_an_object_in_such_an_array,
        in_a_sparse_matrix, in_a_spline, in_a_sparse_matrix_that_takes_traced_operands,
        under_a_gradient, in_other_entries_of_a_sparse_matrix,
    )
} | {
    "an entry": lambda: of_a_row(lambda row, x: row[0] * x),
    "a loop": lambda: of_a_row(lambda row, x: sum(v * x for v in row)),
    "an operator": lambda: of_a_row(lambda row, x: x * row),
    "bytes": lambda: in_a_container(
        lambda: bytearray(b"\x01"), lambda held, v: held.__setitem__(0, int(v))
    ),
    "an array of the library": lambda: in_a_container(
        lambda: array.array("d", [1.0]), lambda held, v: held.__setitem__(0, v)
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGING)
def test_a_change_is_seen(case):
    f, change = CHANGING[case]()
    g = dualad.compile(f, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for value in (1.0, 3.0, 5.0):
            change(value)
            for _ in range(3):
                np.testing.assert_array_equal(g(X), f(X))


def test_a_list_that_is_appended_to_and_read():
    def make():
        calls = []

        def f(x):
            calls.append(1)
            return x * len(calls)

        return f

    g = dualad.compile(make(), backend="numpy")
    with pytest.warns(CompileWarning, match="'?calls'?, which it captures, changes again"):
        found = [g(1.0) for _ in range(15)]
    assert found == list(np.arange(1.0, 16.0))


def test_a_dict_in_which_results_are_looked_up_is_no_hindrance():
    known = {}

    def f(x):
        if x.shape not in known:
            known[x.shape] = np.arange(float(x.size))
        return x * known[x.shape]

    g = dualad.compile(f, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for n in range(2, 20):
            for _ in range(2):
                np.testing.assert_array_equal(g(np.ones(n)), np.arange(n))
    assert "known" not in g.source(np.ones(3)) and g.source(np.ones(3))


def test_methods_that_nobody_calls_are_not_followed():
    class Counted:
        def __init__(self):
            self.shown, self.factor = 0, 2.0

        def __repr__(self):
            self.shown += 1
            return str(self.shown)

    counted = Counted()
    g = dualad.compile(lambda x: counted.factor * x, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for _ in range(20):
            repr(counted)
            assert g(3.0) == 6.0


def test_a_partial_of_a_method_of_an_object_that_changes():
    row = Row()
    g = dualad.compile(functools.partial(Row.__rmul__, row), backend="numpy")
    for v in (1.0, 4.0):
        row.parts[0] = v
        for _ in range(3):
            assert g(2.0) == 2 * v
