"""Points for numerical checks: read from the command line, or drawn to suit assumptions."""

import numpy as np
import pytest

from dualad.errors import ArgumentError
from dualad.verify.points import draw_points, read_point


def test_values_are_read_as_floats_and_arrays():
    p = read_point(["x=2", "v=[1, 2], z=1+2j", "params={'k': 3, 'w': [0.5, 1]}, name='a'"])
    assert p["x"] == 2.0 and type(p["x"]) is float
    assert p["v"].dtype == float and p["z"] == 1 + 2j and p["name"] == "a"
    assert p["params"]["k"] == 3.0 and p["params"]["w"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("text", ["x", "x=", "=1", "x=f(1)", "1=x", "x=__import__('os')", ""])
def test_what_is_no_value(text):
    with pytest.raises(ArgumentError, match="NAME=VALUE"):
        read_point([text])


CASES = [
    ("x > 0", lambda p: np.all(p["x"] > 0)),
    ("-2 < x < -1.9", lambda p: np.all((p["x"] > -2) & (p["x"] < -1.9))),
    ("x positive", lambda p: np.all(p["x"] > 0)),
    ("x < y", lambda p: np.all(p["x"] < p["y"])),
    ("x > 5, y < x - 7", lambda p: np.all((p["x"] > 5) & (p["y"] < p["x"] - 7))),
    ("0 < x < pi/2", lambda p: np.all((p["x"] > 0) & (p["x"] < np.pi / 2))),
    ("x != 0", lambda p: np.all(p["x"] != 0)),
    ("y integer, y > 0", lambda p: isinstance(p["y"], int) and p["y"] > 0),
    ("y even", lambda p: p["y"] % 2 == 0),
    ("y complex", lambda p: np.imag(p["y"]) != 0),
]


@pytest.mark.parametrize("assume, holds", CASES, ids=[c[0] for c in CASES])
def test_points_suit_what_is_assumed(assume, holds):
    points = draw_points({"x": (2,), "y": ()}, assume, count=4)
    assert len(points) == 4
    assert all(p["x"].shape == (2,) and holds(p) for p in points)


def test_given_values_stay_and_the_seed_decides_the_rest():
    a, b = (draw_points({"x": (), "y": ()}, "x < y", {"x": 3.0}, 2, seed=1) for _ in range(2))
    assert a == b and all(p["x"] == 3.0 and p["y"] > 3 for p in a)
    assert a != draw_points({"x": (), "y": ()}, "x < y", {"x": 3.0}, 2, seed=2)


def test_assumptions_that_no_point_satisfies():
    with pytest.raises(ArgumentError, match="no point was found"):
        draw_points({"x": ()}, "x > 1, x < 0")
    with pytest.raises(ArgumentError, match="about 'q'"):
        draw_points({"x": ()}, "q > 1")
