"""Large recorded operations that are put off: nothing differs but when they are computed."""

import copy
import gc
import pickle
import threading
import tracemalloc
import warnings

import numpy as np
import pytest

import dualad
from dualad.engine import fused, joint, late_records
from dualad.engine.late_records import LateRecord
from dualad.engine.late_sums import LateTotal
from dualad.engine.postponed import LONGEST
from dualad.engine.recorded import Recorded
from dualad.engine.waiting import LATE
from dualad.errors import LeakError, LostDerivativeError, NaNError

N = LATE + 1234
X = np.linspace(0.2, 0.8, N)
W = np.cos(37 * X)


@pytest.fixture(autouse=True)
def warnings_are_no_exceptions():
    """As they are for users: where they are exceptions, nothing is put off."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield


@pytest.fixture
def passes(monkeypatch):
    """How many operations each pass by blocks of the forward sweep has carried out."""
    counts = []
    plan = joint.Pass.__init__

    def counted(self, nodes, target=None):
        counts.append(len(nodes))
        plan(self, nodes, target)

    for module in ("late_records", "record_state"):
        monkeypatch.setattr(f"dualad.engine.{module}.Pass.__init__", counted)
    return counts


@pytest.fixture
def runs(monkeypatch):
    """How many values each run of the sweep has computed."""
    counts = []
    plan = fused._RunWithValues.__init__

    def counted(self, g, first, shape, late, nodes):
        counts.append(len(nodes))
        plan(self, g, first, shape, late, nodes)

    monkeypatch.setattr(fused._RunWithValues, "__init__", counted)
    return counts


def at_once(f, *primals, argnums=0):
    """Value and gradient where nothing is put off."""
    with pytest.MonkeyPatch.context() as m:
        m.setattr(late_records, "LATE", 1 << 60)
        return dualad.value_and_grad(f, argnums)(*primals)


def assert_equal(f, *primals, argnums=0):
    got = dualad.value_and_grad(f, argnums)(*[x.copy() for x in primals])
    want = at_once(f, *primals, argnums=argnums)
    assert type(got[0]) is type(want[0]) and got[0] == want[0]
    for g, w in zip(np.atleast_2d(got[1]), np.atleast_2d(want[1]), strict=True):
        np.testing.assert_array_equal(g, w)
    only = dualad.grad(f, argnums)(*primals)
    np.testing.assert_array_equal(only, got[1])


# --- the same to the last bit ----------------------------------------------------------------

FUNCTIONS = {
    "arithmetic": lambda x: (2.0 * x - x / 3.0 + 1.0 / x) * x - x * x / (x + 0.5),
    "transcendental": lambda x: np.exp(np.sin(x)) * np.tanh(x) - np.log(x) + np.sqrt(x),
    "powers": lambda x: x**2 + x**3 + x**0.5 + x**-1 + 2.0**x,
    "an argument above": lambda x: x / (1.0 + x * x),
    "an argument to a power": lambda x: np.hypot(x, 1.0 + x * x) + x ** (0.5 + x * x),
    "kinks": lambda x: np.maximum(x, 0.5) + np.abs(x - 0.5) + np.hypot(x, 1.0),
    "two": lambda x: np.arctan2(x, 1 - x) + np.logaddexp(x, 2 * x),
    "negative": lambda x: -x - np.cos(x),
    "shared cotangents": lambda x: ((x * 1.0 + 1.0) + 2.0) * ((x + 3) - 1),
    "the same twice": lambda x: (y := np.sin(x * 1.0)) + y - (y - x) * (y + y),
    "an array": lambda x: (x * X + 1.0) / X - X + X / x,
    "a number that moves": lambda x: (
        (x - x[3]) * x[5] / np.exp(x[7]) + x[9] / x + np.sin(x) * x[1]
    ),
    "a sum": lambda x: x * np.sum(np.exp(x * 2.0) * x) - x,
    "what is used twice": lambda x: [e := np.exp(x - 1.0), e / np.sum(e) + e * np.max(e)][1],
    "a slope of zero": lambda x: (
        np.copysign(x, 0.5 - x) * np.copysign(2.0, x - 0.5) + np.floor(x * 9.0) * x
    ),
    "a slice": lambda x: (x[1:] - x[:-1]) * x[1:],
    "rows": lambda x: (lambda m: np.exp(m * 2.0) * m + 1.0)(x[: N // 2 * 2].reshape(2, -1)),
    "in place": lambda x: [y := x * 3.0, y.__imul__(x), y.__iadd__(1.0), np.exp(y) * x][3],
    "written to": lambda x: [y := x * 3.0 + 1.0, z := y * y, y.__setitem__(5, 7.0), z * y][3],
    "a view": lambda x: [y := x * 3.0 + 1.0, v := y[::2], y.__setitem__(4, x[0]), v * 2 + v][3],
    "a choice": lambda x: np.where(x * 2.0 > 1.0, np.exp(x) * x, x * x * x),
    "nothing that is read": lambda x: (x * 2.0 + 1.0) / 3.0 - x,
}
ENDS = {
    "sum": np.sum,
    "mean": np.mean,
    "weighted": lambda y: np.sum(y * 2.0) / 3 - np.mean(y) * 0.5 + y.sum() * 2.0,
    "norm": lambda y: np.sqrt(np.sum(y * y)),
    "product": lambda y: np.dot(y.reshape(-1), np.cos(np.arange(y.size))),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_to_the_last_bit(name, end):
    assert_equal(lambda x: ENDS[end](FUNCTIONS[name](x)), X)
