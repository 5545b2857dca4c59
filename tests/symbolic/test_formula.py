"""Derivatives as formulas."""

import numpy as np
import pytest
import sympy

import dualad
from dualad.symbolic import derivative_formula

a, b = sympy.symbols("a b", positive=True)


def test_a_scalar_derivative():
    f = derivative_formula(lambda x: x * np.log(x), sympy.Symbol("x", positive=True))
    x = f.wrt
    assert f.value == x * sympy.log(x)
    assert f.derivative == sympy.log(x) + 1


def test_the_jacobian_of_a_softmax():
    f = derivative_formula(lambda v: np.exp(v) / np.sum(np.exp(v)), [a, b])
    s = sympy.Matrix([sympy.exp(a), sympy.exp(b)]) / (sympy.exp(a) + sympy.exp(b))
    assert sympy.simplify(f.derivative - (sympy.diag(*s) - s * s.T)) == sympy.zeros(2, 2)


def test_the_hessian():
    f = derivative_formula(lambda v: np.sum(np.log(v)), [a, b], order=2)
    assert f.derivative == sympy.diag(-1 / a**2, -1 / b**2)


def test_latex_names_the_function_and_the_variable():
    def energy(r, k):
        return 0.5 * k * r**2

    assert derivative_formula(energy).latex() == r"\frac{\partial energy}{\partial r} = k r"
    assert derivative_formula(energy, wrt="k").latex().endswith(r"\partial k} = \frac{r^{2}}{2}")
    assert derivative_formula(energy, order=2, name="E").latex() == (
        r"\frac{\partial^{2} E}{\partial r^{2}} = k"
    )


def test_a_kink_separates_pieces():
    f = derivative_formula(lambda x: np.abs(x))
    x = f.wrt
    assert f.derivative.subs(x, 3) == 1 and f.derivative.subs(x, -3) == -1


@pytest.mark.parametrize("wrt", ["z", 2])
def test_an_argument_that_is_not_there(wrt):
    with pytest.raises(dualad.DualADError, match="there is no argument"):
        derivative_formula(lambda x, k: x * k, wrt=wrt)
