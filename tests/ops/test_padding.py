"""Padding is linear in the array, but for the statistics that choose."""

import numpy as np
import pytest
from agreement import like, linear, same
from every_mode import apart, derivative

import dualad

WIDTHS = [2, (1, 2), ((1, 2), (0, 3)), {-1: (1, 2)}, {0: 1}, ((5, 7), (6, 1)), 0]
LINEAR = ["constant", "edge", "wrap", "reflect", "symmetric", "mean", "linear_ramp"]


@pytest.mark.parametrize("width", WIDTHS, ids=str)
@pytest.mark.parametrize("mode", LINEAR)
def test_linear_modes(mode, width):
    linear(lambda x: np.pad(x, width, mode=mode), like(np.ones((3, 4))))


@pytest.mark.parametrize("width", WIDTHS, ids=str)
@pytest.mark.parametrize("mode", ["maximum", "minimum", "median"])
def test_modes_that_choose(mode, width):
    derivative(lambda x: np.pad(x, width, mode=mode), apart(3, 4), second=False)


@pytest.mark.parametrize("width", [1, 2, ((5, 7), (6, 1))], ids=str)
@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_odd_reflections(mode, width):
    linear(lambda x: np.pad(x, width, mode=mode, reflect_type="odd"), like(np.ones((3, 4))))


def test_an_odd_reflection_goes_through_the_edge():
    x, t = np.array([1.0, 2.0, 4.0]), np.array([1.0, 10.0, 100.0])
    f = lambda v: np.pad(v, (2, 0), mode="reflect", reflect_type="odd")
    same(dualad.jvp(f, (x,), (t,))[1], np.array([2 - 100.0, 2 - 10.0, 1, 10, 100]))


@pytest.mark.parametrize("length", [1, 2, ((1, 2), (3, 9)), None])
@pytest.mark.parametrize("mode", ["mean", "median", "maximum", "minimum"])
def test_statistics_of_the_outermost_entries(mode, length):
    f = lambda x: np.pad(x, ((1, 2), (2, 1)), mode=mode, stat_length=length)
    derivative(f, apart(3, 4), second=False)


def test_ties_of_a_padded_maximum_share():
    f = lambda v: np.pad(v, (1, 0), mode="maximum")[0]
    same(dualad.grad(f)(np.array([2.0, 2.0, 1.0])), np.array([0.5, 0.5, 0.0]))


@pytest.mark.parametrize(
    ("mode", "name"), [("constant", "constant_values"), ("linear_ramp", "end_values")]
)
def test_the_values_outside_carry_their_derivative(mode, name):
    f = lambda x, e: np.pad(x, ((2, 3), (1, 0)), mode=mode, **{name: e})
    x, e = like(np.ones((3, 4))), np.array([1.0, -2.0])
    t, te = like(x), like(e)
    same(dualad.jvp(f, (x, e), (t, te)), (f(x, e), f(t, te)))
    same(dualad.vjp(f, x, e)[1](np.ones((8, 5)))[0].shape, (3, 4))
    derivative(f, x, e, batched=False)


def test_float32_stays():
    x = np.ones(3, np.float32)
    for mode in (*LINEAR, "maximum", "median"):
        assert dualad.jvp(lambda v: np.pad(v, 2, mode=mode), (x,), (x,))[1].dtype == np.float32


def test_a_function_that_writes_the_ends():
    def ends(line, width, axis, options):
        if width[0]:
            line[: width[0]] = options["factor"] * line[width[0]]
        if width[1]:
            line[-width[1] :] = -line[-width[1] - 1]

    linear(lambda x: np.pad(x, ((1, 2), (0, 3)), ends, factor=3.0), like(np.ones((3, 4))))


def refused(error, match, *args, **options):
    with pytest.raises(error, match=match):
        dualad.jvp(lambda x: np.pad(x, *args, **options), (np.ones(3),), (np.ones(3),))


def test_what_is_refused():
    refused(TypeError, "leaves entries undefined", 1, mode="empty")
    refused(ValueError, "can't contain negative", -1)
    refused(ValueError, "is not supported", 1, mode="round")
    refused(ValueError, "unsupported keyword", 1, mode="edge", end_values=1)
    refused(ValueError, "stat_length of 0", 1, mode="mean", stat_length=0)
