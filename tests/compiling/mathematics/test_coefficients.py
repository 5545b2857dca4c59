"""The tables are minimax polynomials of the functions that they stand for."""

import importlib

import pytest

mpmath = pytest.importorskip("mpmath")

from mpmath import mpf  # noqa: E402

from benchmarks.minimax import DIGITS, TABLES, chebyshev, minimax  # noqa: E402


def stated(name):
    package = "dualad.compiling.mathematics"
    return getattr(importlib.import_module(f"{package}.{TABLES[name].module}"), name)


@pytest.mark.parametrize("name", TABLES)
def test_a_polynomial_is_as_near_as_stated(name):
    table = TABLES[name]
    coefficients = [mpf(c) for c in reversed(stated(name))]
    assert len(coefficients) == table.terms
    with mpmath.workdps(DIGITS):
        for x in chebyshev(mpf(table.low), mpf(table.high), 120):
            error = table.function(x) - mpmath.polyval(coefficients, x)
            assert abs(table.weight(x) * error) < table.bound


@pytest.mark.parametrize("name", ["QUOTIENT", "SINE", "ARCTAN", "START"])
def test_the_script_gives_the_table(name):
    assert minimax(TABLES[name]) == pytest.approx(stated(name), rel=1e-9)
