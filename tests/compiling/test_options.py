"""The options of `compile`: what they may be, and that they hold for a compiled function too."""

import numpy as np
import pytest

import dualad
from dualad.errors import ArgumentError


def scaled(x, n=1, *, sign=1):
    return sign * n * x


@pytest.mark.parametrize("most", [0, -1, 2.0, "3", None])
def test_a_number_of_paths_that_is_none(most):
    with pytest.raises(ArgumentError, match="max_paths is a whole number from 1 on"):
        dualad.compile(scaled, max_paths=most)


@pytest.mark.parametrize("static", ["m", ("n", "m"), 2, -3])
def test_a_static_argument_that_there_is_not(static):
    with pytest.raises(ArgumentError, match="the function has no argument"):
        dualad.compile(scaled, static=static)


@pytest.mark.parametrize("static", ["sign", "n", 1, -1, ("x", "sign")])
def test_a_static_argument_that_there_is(static):
    compiled = dualad.compile(scaled, static=static, backend="numpy")
    for _ in range(3):
        assert compiled(2.0, 3, sign=-1) == -6.0


def test_a_static_argument_among_any_others():
    compiled = dualad.compile(lambda *a, **k: a[2] * k["m"], static=(2, "m"), backend="numpy")
    for _ in range(3):
        assert compiled(1.0, 2.0, 3.0, m=4.0) == 12.0


def test_a_compiled_function_with_other_options():
    first = dualad.compile(np.sin, backend="numpy")
    assert dualad.compile(first) is first
    second = dualad.compile(first, static=(0,))
    assert second is not first
    assert second.function is np.sin


def test_a_coroutine_runs_as_it_is():
    async def twice(x):
        return 2 * x

    with pytest.warns(dualad.errors.CompileWarning, match="returns a coroutine"):
        waiting = dualad.compile(twice, backend="numpy")(3.0)
    with pytest.raises(StopIteration) as end:
        waiting.send(None)
    assert end.value.value == 6.0
