"""The error for a missing rule names the function, the remedy, and what is covered instead."""

import numpy as np
import pytest

import dualad
from dualad.engine.levels.missing import INSTEAD, missing_rule
from dualad.errors import MissingRuleError


def message(f, *xs):
    with pytest.raises(MissingRuleError) as caught:
        dualad.jvp(f, xs, xs)
    return str(caught.value)


def test_a_function_is_named_as_people_call_it():
    assert "numpy.busday_count has no derivative rule" in message(
        lambda x: np.busday_count(x, x), 1.0
    )
    assert "numpy.save has" in message(lambda x: np.save("nowhere.npy", x), 1.0)


def test_a_ufunc_is_named():
    f = np.frompyfunc(lambda a, b: a, 2, 1)
    text = message(lambda x: f.reduce(x), np.ones(3))
    assert "(vectorized).reduce" in text


def test_the_remedies():
    text = message(lambda x: np.busday_count(x, x), 1.0)
    for remedy in ("dualad.defelementwise", "dualad.custom_jvp", "dualad.stop_gradient"):
        assert remedy in text


def test_what_is_near_is_listed():
    covered = ["numpy.cumsum", "numpy.cumprod", "numpy.linalg.eigh", "sinh"]
    text = str(missing_rule("numpy.cumsums", covered))
    assert text.endswith("Covered, of similar name: numpy.cumsum.")
    assert "numpy.linalg.eigh" in str(missing_rule("scipy.linalg.eighs", covered))
    assert str(missing_rule("the ufunc sinhh", covered)).endswith("sinh.")
    assert "similar" not in str(missing_rule("numpy.zyx", covered))


def test_what_to_write_instead():
    assert "dualad.stop_gradient" in INSTEAD["numpy.save"]
    text = message(lambda x: np.savetxt("nowhere.txt", x), np.ones(2))
    assert text.endswith("a file has no derivative: save dualad.stop_gradient(x).")
