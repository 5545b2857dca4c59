"""Each line of the tables in docs/conventions.md is a test, in forward and in reverse mode."""

from pathlib import Path

import numpy as np
import pytest
from markdown import tables

import dualad

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conventions.md"
ROWS = [row for table in tables(PAGE) for row in table]
SLOPES = [row for row in ROWS if "function" in row]
STATEMENTS = [row for row in ROWS if "statement" in row]


def refused(call):
    """The name of the error that a call raises."""
    with pytest.raises(dualad.DualADError) as caught:
        call()
    return type(caught.value).__name__


def read(cell):
    """The Python value of a cell, which is an expression between backquotes."""
    return eval(cell.strip("`"), {"np": np, "dualad": dualad, "refused": refused})


def arrays(cell):
    value = read(cell)
    return tuple(np.asarray(v)[()] for v in (value if isinstance(value, tuple) else (value,)))


def function_of(row):
    return read("lambda x, y=None: " + row["function"].strip("`"))


def name(row):
    return f"{row['function']} at {row['point']}".replace("`", "")


@pytest.mark.parametrize("row", SLOPES, ids=name)
def test_forward_mode_gives_the_slope_that_the_table_states(row):
    f, point, slopes = function_of(row), arrays(row["point"]), arrays(row["dualad"])
    for k, (x, slope) in enumerate(zip(point, slopes, strict=True)):
        for at in np.ndindex(x.shape):
            moved = [np.zeros_like(v) for v in point]
            unit = np.zeros(x.shape)
            unit[at] = 1.0
            moved[k] = unit[()]
            with np.errstate(all="ignore"):  # the functions themselves warn
                tangent = dualad.jvp(f, point, tuple(moved))[1]
            np.testing.assert_array_equal(tangent, np.asarray(slope)[at])


@pytest.mark.parametrize("row", SLOPES, ids=name)
def test_reverse_mode_gives_the_slope_that_the_table_states(row):
    f, point, slopes = function_of(row), arrays(row["point"]), arrays(row["dualad"])
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


def test_the_page_has_the_tables_that_the_tests_read():
    assert len(SLOPES) > 20 and len(STATEMENTS) > 10
