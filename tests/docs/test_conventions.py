"""Each convention, and each line of docs/conventions.md, is a test in both modes."""

from pathlib import Path

import numpy as np
import pytest
from markdown import tables

import dualad
from dualad.conventions import filled_in
from dualad.peers import MEASURED, PEERS, VERSIONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conventions.md"
STATEMENTS = [row for table in tables(PAGE) for row in table if "statement" in row]
KINKS = dualad.conventions()


def refused(call):
    """The name of the error that a call raises."""
    with pytest.raises(dualad.DualADError) as caught:
        call()
    return type(caught.value).__name__


def read(text):
    """The Python value of an expression, in a cell of a table between backquotes."""
    return eval(text.strip("`"), {"np": np, "dualad": dualad, "refused": refused})


def arrays(text):
    value = read(text)
    return tuple(np.asarray(v)[()] for v in (value if isinstance(value, tuple) else (value,)))


def parts(kink):
    """The function, and for each argument its point and the slope that is stated."""
    f = read("lambda x, y=None: " + kink.function)
    return f, arrays(kink.point), arrays(kink.slope)


def name(kink):
    return f"{kink.function} at {kink.point}"


@pytest.mark.parametrize("kink", KINKS, ids=name)
def test_forward_mode_gives_the_slope_that_is_stated(kink):
    f, point, slopes = parts(kink)
    for k, (x, slope) in enumerate(zip(point, slopes, strict=True)):
        for at in np.ndindex(x.shape):
            moved = [np.zeros_like(v) for v in point]
            unit = np.zeros(x.shape)
            unit[at] = 1.0
            moved[k] = unit[()]
            with np.errstate(all="ignore"):  # the functions themselves warn
                tangent = dualad.jvp(f, point, tuple(moved))[1]
            np.testing.assert_array_equal(tangent, np.asarray(slope)[at])


@pytest.mark.parametrize("kink", KINKS, ids=name)
def test_reverse_mode_gives_the_slope_that_is_stated(kink):
    f, point, slopes = parts(kink)
    with np.errstate(all="ignore"):
        _, pullback = dualad.vjp(f, *point)
        gradients = pullback(np.float64(1.0))
    for gradient, slope in zip(gradients, slopes, strict=True):
        np.testing.assert_array_equal(gradient, slope)


@pytest.mark.parametrize("row", STATEMENTS, ids=lambda row: row["statement"])
def test_a_statement_holds(row):
    found, stated = read(row["expression"]), read(row["value"])
    if isinstance(stated, (float, complex)):
        np.testing.assert_allclose(found, stated, rtol=1e-15)
        assert np.iscomplexobj(found) == np.iscomplexobj(stated)
    else:
        assert found == stated


def test_the_page_shows_what_stands_beside_the_rules():
    text = PAGE.read_text(encoding="utf-8")
    assert text == filled_in(text), "run: python docs/generate_conventions.py"
    assert len(KINKS) > 90 and len(STATEMENTS) > 10


def test_every_convention_was_measured_in_the_other_libraries():
    wanted = {(k.function, k.point) for k in KINKS}
    assert set(MEASURED) == wanted, "run: python -m benchmarks.kinks"
    assert len(wanted) == len(KINKS)  # each is stated once
    assert all(len(slopes) == len(PEERS) == len(VERSIONS) for slopes in MEASURED.values())


def test_the_conventions_print_as_a_table_and_can_be_searched():
    lines = str(dualad.conventions("np.abs(x)")).splitlines()
    assert lines[0].split() == ["function", "point", "dualad", *PEERS, "because"]
    assert lines[2].split()[:6] == ["np.abs(x)", "0.0", "0.0", "0", "1", "0"]
    assert repr(KINKS) == str(KINKS) and len(str(KINKS).splitlines()) == len(KINKS) + 2
    assert dualad.conventions("no such function") == () and str(dualad.conventions("none"))
