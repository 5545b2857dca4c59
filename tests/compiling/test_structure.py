"""The structure of arguments: kinds of containers, names and their order tell programs apart."""

import collections
import dataclasses

import numpy as np
import pytest

import dualad

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(params=["numpy", "auto"])
def compiled(request):
    return lambda f: dualad.compile(f, backend=request.param)


def agree(f, g, calls):
    """The compiled g gives what f gives, for calls that are made in turn, three times."""
    for args in calls * 3:
        want, found = f(*args), g(*args)
        assert type(want) is type(found)
        np.testing.assert_array_equal(found, want)


def test_the_order_of_keywords(compiled):
    def f(**terms):
        return sum(v * (k + 1) for k, v in enumerate(terms.values()))

    g = compiled(f)
    for _ in range(3):
        assert g(a=1.0, b=2.0) == 5.0
        assert g(b=2.0, a=1.0) == 4.0
        assert g(b=2.0, a=1.0, c=1.0) == 7.0


def test_the_order_of_keywords_beside_static_ones():
    g = dualad.compile(lambda x, **k: x * next(iter(k.values())), static=("n",), backend="numpy")
    for _ in range(3):
        assert g(1.0, n=3, m=2.0) == 3.0
        assert g(1.0, m=2.0, n=3) == 2.0


def scaled(factor):
    """A dataclass and a list, of the same names as those of another factor."""

    @dataclasses.dataclass
    class Model:
        a: float

        def of(self, x):
            return factor * self.a * x

    class Sizes(list):
        def of(self, x):
            return factor * self[0] * x

    return Model, Sizes


@pytest.mark.parametrize("which", [0, 1])
def test_two_classes_of_one_name(compiled, which):
    f = lambda p, x: p.of(x)
    kinds = [scaled(factor)[which] for factor in (2.0, 3.0)]
    args = [1.0] if which == 0 else [[1.0]]
    agree(f, compiled(f), [(kind(*args), X) for kind in kinds])


def test_two_tuples_of_one_name(compiled):
    f = lambda p: p.a + 2 * p.b
    kinds = [collections.namedtuple("Pair", names) for names in ("a b", "b a")]
    agree(f, compiled(f), [(kind(1.0, 2.0),) for kind in kinds])


def test_kinds_of_dicts(compiled):
    def f(p):
        return type(p)(a=2 * p["a"])

    g = compiled(f)
    for _ in range(3):
        for kind in (dict, collections.OrderedDict):
            found = g(kind(a=1.0))
            assert type(found) is kind and found == {"a": 2.0}


def test_keys_that_are_equal_or_look_alike(compiled):
    class Key:
        def __init__(self, value):
            self.value = value

        def __repr__(self):
            return "key"

    f = lambda p, x: x * 2 if type(next(iter(p))) is int else x * 3
    agree(f, compiled(f), [({1: 1.0}, X), ({True: 1.0}, X), ({1.0: 1.0}, X)])
    f = lambda p, x: x * next(iter(p)).value
    agree(f, compiled(f), [({Key(1.0): 1.0}, X), ({Key(2.0): 1.0}, X)])


@dataclasses.dataclass
class Body:
    mass: float
    weight: float = dataclasses.field(init=False)
    factor = 1.0

    def __post_init__(self):
        self.weight = 10 * self.mass

    def pull(self, x):
        return self.factor * self.weight * x


def heavier(weight):
    body = Body(1.0)
    body.weight = weight
    return body


def test_a_field_that_a_dataclass_sets_by_itself(compiled):
    f = lambda p, x: p.pull(x)
    agree(f, compiled(f), [(Body(1.0), X), (Body(2.0), X), (heavier(3.0), X), (heavier(4.0), X)])


def test_such_a_field_of_a_result(compiled):
    def f(x):
        body = Body(x)
        body.weight = x * x
        return body

    g = compiled(f)
    for x in (2.0, 3.0, 4.0):
        found = g(x)
        assert (found.mass, found.weight) == (x, x * x)


def test_such_a_field_under_a_derivative(compiled):
    f = compiled(lambda p: p.mass * p.weight)
    for mass in (1.0, 2.0, 3.0):
        assert dualad.grad(f)(Body(mass)).mass == 20 * mass  # the weight is 10 times the mass


def test_a_variable_of_the_class_of_an_argument(compiled, monkeypatch):
    g = compiled(lambda p, x: p.pull(x))
    for factor in (1.0, 1.0, 1.0, 2.0, 2.0, 3.0):
        monkeypatch.setattr(Body, "factor", factor)
        np.testing.assert_array_equal(g(Body(1.0), X), factor * 10 * X)
