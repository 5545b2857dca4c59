"""Which functions can be seen to depend on their arguments and on what is noticed to change."""

import functools
import math
import operator
import types

import numpy as np
import pytest

import dualad
from dualad.compiling.visible import Visible

NUMBER, ARRAY, NAMES = 2.0, np.ones(2), ("a", 1.5)
LIST, TABLE, NESTED = [1.0], {"a": 1.0}, np.array([[1.0], None], object)
MODULE = types.ModuleType("settings")
MODULE.rate = 1.0
get = TABLE.get


class Box:
    value = 1.0

    def __call__(self, x):
        return x * self.value

    def method(self, x):
        return x * self.value


BOX = Box()


def helper(x):
    return x * NUMBER


def indirect(x):
    return x * TABLE["a"]


def marked(x):
    return x * marked.rate


marked.rate = 1.0
FUNCTIONS = (indirect,)


def imports(x):
    import json

    return x * len(json.__name__)


def catches(x):
    try:
        return x.hex()
    except AttributeError:
        return x


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x,
        lambda x: np.sin(x) * NUMBER + ARRAY,
        lambda x: math.pi * x if NAMES else x,
        lambda x: helper(x),
        lambda x: sum(float(i) * x for i in range(3)),
        dualad.grad(lambda x: NUMBER * x),
    ],
)
def test_what_is_visible(f):
    assert Visible(f).why is None


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * LIST[0],
        lambda x: x * TABLE["a"],
        lambda x: x * get("a"),
        lambda x: x * NESTED[0][0],
        lambda x: x * Box.value,
        lambda x: x * MODULE.rate,
        lambda x: x * globals()["NUMBER"],
        lambda x: x * np.random.default_rng().normal(),
        lambda x: FUNCTIONS[0](x),
        lambda x, k=LIST: x * k[0],
        lambda x, f=indirect: f(x),
        lambda x: (lambda: LIST[0])() * x,
        lambda x: BOX(x),
        lambda x: indirect(x),
        BOX,
        BOX.method,
        imports,
        catches,
        lambda x: x if isinstance(x, float) else 2.0 * x,
        marked,
        functools.partial(operator.mul, LIST),
        functools.lru_cache(helper),
        np.vectorize(indirect),
        dualad.grad(indirect),
    ],
)
def test_what_may_change_inside(f):
    assert Visible(f).why is not None


def test_large_arrays_are_not_compared_at_each_call():
    table = np.ones(10**5)
    assert Visible(lambda x: x * table[0]).why == "it reads large arrays"


def test_arrays_are_compared_and_variables(monkeypatch):
    ours = np.ones(3)
    seen = Visible(lambda x: x * ours[0] + NUMBER)
    assert seen.unchanged()
    monkeypatch.setitem(globals(), "NUMBER", 3.0)
    assert not seen.unchanged()
    monkeypatch.undo()
    assert seen.unchanged()
    ours[0] = 2.0
    assert not seen.unchanged()
