"""An expression as a NumPy function: its values, its derivatives, and what it refuses."""

import inspect
import pickle

import numpy as np
import pytest
import sympy

import dualad
from dualad.symbolic import NotSymbolicError, from_sympy

x, y = sympy.symbols("x y")
EXPRESSIONS = [
    sympy.exp(-x * y) * sympy.sin(x),
    sympy.log(1 + x**2) / (1 + sympy.exp(y)),
    sympy.Piecewise((x**2, x > y), (x * y, True)),
    sympy.Abs(x - y) ** 3 + sympy.Max(x, y),
    sympy.sqrt(x) * sympy.atan2(x, y),
]
POINTS = np.array([[0.3, 1.7], [2.5, 0.4], [1.1, 0.9]])


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_values_and_gradients_are_those_of_the_expression(expr):
    f = from_sympy(expr, (x, y))
    h = sympy.Rational(1, 10**15)
    for a, b in POINTS:
        at = {x: sympy.Rational(a), y: sympy.Rational(b)}
        exact = float(expr.subs(at).evalf(30))
        slopes = [
            float(
                (
                    (expr.subs({**at, s: at[s] + h}) - expr.subs({**at, s: at[s] - h})) / (2 * h)
                ).evalf(40)
            )
            for s in (x, y)
        ]
        np.testing.assert_allclose(f(a, b), exact, rtol=1e-14)
        np.testing.assert_allclose(f.gradient(a, b), slopes, rtol=1e-12)
        np.testing.assert_allclose(dualad.grad(f, argnums=(0, 1))(a, b), slopes, rtol=1e-12)
        np.testing.assert_allclose(
            [dualad.jvp(f, (a, b), t)[1] for t in ((1.0, 0.0), (0.0, 1.0))], slopes, rtol=1e-12
        )


def test_second_derivatives_follow():
    f = from_sympy(sympy.exp(x * y), "x y")
    g = dualad.grad(dualad.grad(f), argnums=1)
    np.testing.assert_allclose(g(0.5, 2.0), np.exp(1.0) * (1 + 1.0), rtol=1e-14)


def test_arrays_broadcast_and_batch():
    f = from_sympy(x * sympy.exp(y), "x y")
    a, b = np.arange(3.0)[:, None], np.arange(2.0)
    np.testing.assert_allclose(f(a, b), a * np.exp(b))
    np.testing.assert_allclose(dualad.vmap(f)(np.arange(2.0), b), np.arange(2.0) * np.exp(b))


def test_a_matrix_has_its_axes_first():
    f = from_sympy(sympy.Matrix([x * y, x**2, 7]), "x,y")
    np.testing.assert_allclose(f(2.0, 3.0), [6.0, 4.0, 7.0])
    np.testing.assert_allclose(dualad.jacobian(f)(2.0, 3.0), [3.0, 4.0, 0.0])
    np.testing.assert_allclose(f.gradient(2.0, 3.0), [[3.0, 4.0, 0.0], [2.0, 0.0, 0.0]])


def test_a_special_function_uses_scipy():
    f = from_sympy(sympy.erf(x), "x")
    np.testing.assert_allclose(dualad.grad(f)(0.5), 2 / np.sqrt(np.pi) * np.exp(-0.25))


def test_common_subexpressions_are_computed_once():
    big = sympy.exp(sympy.sin(x * y))
    f = from_sympy(big + sympy.sqrt(1 + big), "x y")
    assert inspect.getsource(f._value).count("exp(") == 1


@pytest.mark.parametrize("symbols", ["x", "", "y z"])
def test_every_symbol_must_be_an_argument(symbols):
    with pytest.raises(dualad.DualADError, match="arg"):
        from_sympy(x + y, symbols)


def test_the_number_of_arguments_is_checked():
    with pytest.raises(dualad.DualADError, match="takes 2 arguments"):
        from_sympy(x + y, "x y")(1.0)


def test_ties_share_evenly_as_everywhere_in_the_library():
    f = from_sympy(sympy.Max(sympy.Symbol("x"), sympy.Symbol("y")), "x y")
    assert f.gradient(2.0, 2.0) == (0.5, 0.5) and dualad.grad(f)(2.0, 2.0) == 0.5


def test_a_list_of_expressions_is_a_vector():
    x, y = sympy.symbols("x y")
    assert from_sympy([x * y, x], "x y")(2.0, 3.0).tolist() == [6.0, 2.0]


def test_a_function_may_be_pickled():
    x = sympy.Symbol("x")
    assert pickle.loads(pickle.dumps(from_sympy(x**2, "x")))(3.0) == 9.0


def test_what_numpy_or_sympy_does_not_know_is_named():
    x = sympy.Symbol("x")
    with pytest.raises(NotSymbolicError, match="no counterpart of LambertW"):
        from_sympy(sympy.LambertW(x), "x")(1.0)
    with pytest.raises(NotSymbolicError, match="does not know the derivative"):
        dualad.grad(from_sympy(sympy.zeta(x, 2), "x"))(2.5)
