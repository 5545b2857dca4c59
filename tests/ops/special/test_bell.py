"""Bell polynomials against SymPy's derivatives of an exponential."""

import pytest
import sympy

from dualad.ops.special.bell import bell

x, y = sympy.symbols("x y")
g = sympy.Function("g")(x, y)


@pytest.mark.parametrize("m, n", [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 3), (2, 1), (3, 2)])
def test_derivatives_of_an_exponential(m, n):
    derivative = sympy.exp(g)
    for variable, times in ((x, m), (y, n)):
        derivative = derivative.diff(variable, times) if times else derivative
    stated = bell(m, n, lambda i, j: g.diff(*([x] * i + [y] * j)))
    assert sympy.expand(stated - sympy.exp(-g) * derivative.expand()) == 0
