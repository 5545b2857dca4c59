"""What a function captures, and whether all of it stays as it is."""

import functools
import math
import operator

import numpy as np
import pytest

import dualad
from dualad.compiling.captured import Captured

NUMBER, ARRAY, NAMES = 2.0, np.ones(2), ("a", 1.5)
LIST, TABLE = [1.0], {"a": 1.0}


class Box:
    value = 1.0

    def __call__(self, x):
        return x * self.value


BOX = Box()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x,
        lambda x: np.sin(x) * NUMBER + ARRAY,
        lambda x: math.pi * x if NAMES else x,
        lambda x: helper(x),
        dualad.grad(lambda x: NUMBER * x),
        functools.partial(operator.mul, 2.0),
        functools.partial(lambda x, k: x * k, k=2),
    ],
)
def test_what_stays(f):
    assert Captured(f).stays()


def helper(x):
    return x * NUMBER


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * LIST[0],
        lambda x: x * TABLE["a"],
        lambda x: BOX(x),
        lambda x: x * BOX.value,
        BOX,
        lambda x: indirect(x),
        dualad.grad(lambda x: TABLE["a"] * x),
    ],
)
def test_what_may_change_inside(f):
    assert not Captured(f).stays()


def indirect(x):
    return x * TABLE["a"]
