"""Random expressions of three variables: every mode, and every nesting of two, against SymPy."""

import itertools

import numpy as np
import sympy
from hypothesis import given, settings, strategies as st

import dualad

#: NumPy function and SymPy counterpart; arguments are brought to where both are smooth.
UNARY = {
    "sin": (np.sin, sympy.sin),
    "cos": (np.cos, sympy.cos),
    "tanh": (np.tanh, sympy.tanh),
    "arctan": (np.arctan, sympy.atan),
    "arcsinh": (np.arcsinh, sympy.asinh),
    "exp of a bounded": (lambda a: np.exp(np.sin(a)), lambda a: sympy.exp(sympy.sin(a))),
    "log of a positive": (lambda a: np.log(2 + np.cos(a)), lambda a: sympy.log(2 + sympy.cos(a))),
    "sqrt of a positive": (lambda a: np.sqrt(1 + a * a), lambda a: sympy.sqrt(1 + a * a)),
    "square": (np.square, lambda a: a**2),
    "cube": (lambda a: a**3, lambda a: a**3),
    "negative": (np.negative, lambda a: -a),
    "reciprocal": (lambda a: np.reciprocal(3 + np.sin(a)), lambda a: 1 / (3 + sympy.sin(a))),
}
BINARY = {
    "+": (np.add, lambda a, b: a + b),
    "-": (np.subtract, lambda a, b: a - b),
    "*": (np.multiply, lambda a, b: a * b),
    "/": (lambda a, b: a / (2 + np.cos(b)), lambda a, b: a / (2 + sympy.cos(b))),
    "power": (
        lambda a, b: (2 + np.sin(a)) ** np.cos(b),
        lambda a, b: (2 + sympy.sin(a)) ** sympy.cos(b),
    ),
    "hypot": (
        lambda a, b: np.hypot(a, 1 + b * b),
        lambda a, b: sympy.sqrt(a**2 + (1 + b * b) ** 2),
    ),
    "logaddexp": (np.logaddexp, lambda a, b: sympy.log(sympy.exp(a) + sympy.exp(b))),
    "arctan2": (
        lambda a, b: np.arctan2(a, 2 + np.sin(b)),
        lambda a, b: sympy.atan(a / (2 + sympy.sin(b))),
    ),
}
X = sympy.symbols("x0:3", real=True)
AT = np.array([0.625, -0.375, 1.25])


@st.composite
def expressions(draw, depth=3):
    """(NumPy function of three numbers, SymPy expression)."""
    kind = draw(
        st.sampled_from(["variable", "constant"] if depth == 0 else ["unary", "binary", "binary"])
    )
    if kind == "variable":
        k = draw(st.integers(0, 2))
        return (lambda v: v[k]), X[k]
    if kind == "constant":
        c = draw(st.sampled_from([-2.0, 0.5, 1.0, 3.0]))
        return (lambda v: c), sympy.Rational(c)
    if kind == "unary":
        f, g = UNARY[draw(st.sampled_from(sorted(UNARY)))]
        a, b = draw(expressions(depth - 1))
        return (lambda v: f(a(v))), g(b)
    f, g = BINARY[draw(st.sampled_from(sorted(BINARY)))]
    (a, p), (b, q) = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    return (lambda v: f(a(v), b(v))), g(p, q)


def number(expr):
    return float(expr.subs(dict(zip(X, map(sympy.Rational, AT), strict=True))).evalf(25))


@given(expressions())
def test_first_derivatives(pair):
    f, expr = pair
    gradient = np.array([number(sympy.diff(expr, v)) for v in X])
    direction = np.array([1.0, -2.0, 0.5])
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    close(f(AT), number(expr))
    close(dualad.grad(f)(AT), gradient)
    value, tangent = dualad.jvp(f, (AT,), (direction,))
    close(value, number(expr))
    close(tangent, gradient @ direction)
    _, f_lin = dualad.linearize(f, AT)
    close(f_lin(direction), gradient @ direction)
    close(f_lin.program.function()(direction)[0], gradient @ direction)
    close(f_lin.program.transpose().function()(np.float64(1.0))[0], gradient)
    close(dualad.jacfwd(f)(AT), gradient)
    close(dualad.jacrev(f)(AT), gradient)


@given(expressions())
def test_first_derivatives_on_arrays(pair):
    """Each variable an array: the same expression entry by entry."""
    f, expr = pair
    columns = np.stack([AT, AT])  # two entries for each variable, along axis 0
    gradient = np.array([number(sympy.diff(expr, v)) for v in X])
    rows = lambda m: np.zeros(2) + f([m[:, 0], m[:, 1], m[:, 2]])
    found = dualad.grad(lambda m: np.sum(rows(m)))(columns)
    np.testing.assert_allclose(found, [gradient, gradient], rtol=1e-10, atol=1e-12)
    tangent = dualad.jvp(rows, (columns,), (np.ones((2, 3)),))[1]
    np.testing.assert_allclose(tangent, [gradient.sum()] * 2, rtol=1e-10, atol=1e-12)


@settings(max_examples=25)
@given(expressions())
def test_second_derivatives_in_every_nesting(pair):
    f, expr = pair
    exact = [[number(sympy.diff(expr, a, b)) for b in X] for a in X]
    modes = (dualad.jacfwd, dualad.jacrev)
    for outer, inner in itertools.product(modes, modes):
        np.testing.assert_allclose(outer(inner(f))(AT), exact, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(dualad.hessian(f)(AT), exact, rtol=1e-9, atol=1e-11)
    t = np.array([1.0, -2.0, 0.5])
    product = np.asarray(exact) @ t
    along = dualad.jvp(dualad.grad(f), (AT,), (t,))[1]
    np.testing.assert_allclose(along, product, rtol=1e-9, atol=1e-11)
    back = dualad.grad(lambda v: dualad.jvp(f, (v,), (t,))[1])(AT)
    np.testing.assert_allclose(back, product, rtol=1e-9, atol=1e-11)
    linear = dualad.linearize(dualad.grad(f), AT)[1](t)
    np.testing.assert_allclose(linear, product, rtol=1e-9, atol=1e-11)
