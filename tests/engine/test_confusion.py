"""Perturbation confusion: no derivative is ever mixed up with another that is under way.

Siskind and Pearlmutter, "Nesting forward-mode AD in a functional framework" (2008);
Manzyuk et al., "Perturbation confusion in forward automatic differentiation of higher-order
functions" (2019).
"""

import itertools

import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st

import dualad
from dualad.errors import LeakError


def by_jvp(f):
    return lambda at: dualad.jvp(f, (at,), (1.0,))[1]


def by_grad(f):
    return lambda at: dualad.grad(f)(at)


def by_linearize(f):
    return lambda at: dualad.linearize(f, at)[1](1.0)


def by_vjp(f):
    return lambda at: dualad.vjp(f, at)[1](1.0)[0]


def by_batched_jvp(f):
    """Two tangents at once, under vmap."""

    def derivative(at):
        both = dualad.vmap(lambda t: dualad.jvp(f, (at,), (t,))[1])(np.array([1.0, -3.0]))
        return both[0]

    return derivative


MODES = {
    "jvp": by_jvp,
    "grad": by_grad,
    "linearize": by_linearize,
    "vjp": by_vjp,
    "vmap of jvp": by_batched_jvp,
}
two_modes = pytest.mark.parametrize(
    "outer, inner",
    [
        pytest.param(MODES[a], MODES[b], id=f"{a} of {b}")
        for a, b in itertools.product(MODES, repeat=2)
    ],
)


@two_modes
def test_the_classic_example(outer, inner):
    """d/dx (x d/dy (x + y)) = 1: a confused system gives 2."""
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0


@two_modes
def test_the_inner_point_depends_on_the_outer_variable(outer, inner):
    """d/dx [d/dy (x y**2) at y = x] = d/dx (2 x**2) = 4 x."""
    assert outer(lambda x: inner(lambda y: x * y**2)(x))(3.0) == 12.0


@two_modes
def test_an_inner_function_that_ignores_its_argument(outer, inner):
    """d/dy x**2 = 0, whatever the outer derivative of x**2 is."""
    assert outer(lambda x: x + inner(lambda y: x**2)(5.0))(3.0) == 1.0


@two_modes
def test_an_inner_derivative_that_is_the_outer_variable(outer, inner):
    """d/dx [d/dy (x y)] = 1: the inner tangent is the outer variable itself."""
    assert outer(lambda x: inner(lambda y: x * y)(7.0))(3.0) == 1.0


@two_modes
def test_one_inner_derivative_used_twice(outer, inner):
    def f(x):
        d = inner(lambda y: np.sin(x * y))(2.0)  # x cos(2 x)
        return d * d

    x = 0.7
    slope = np.cos(2 * x) - 2 * x * np.sin(2 * x)
    np.testing.assert_allclose(outer(f)(x), 2 * x * np.cos(2 * x) * slope, rtol=1e-14)


@two_modes
def test_siblings_do_not_see_each_other(outer, inner):
    """Two inner derivatives, one after the other, each around the value of the other."""

    def f(x):
        a = inner(lambda y: x * y**2)(3.0)  # 6 x
        b = inner(lambda z: a * z**3)(1.0)  # 18 x
        return a * b

    np.testing.assert_allclose(outer(f)(2.0), 2 * 108 * 2.0)


@pytest.mark.parametrize("modes", list(itertools.product([by_jvp, by_grad], repeat=4)))
def test_four_levels_in_every_order(modes):
    """Each level multiplies by its own variable and by that of the level around it."""
    d1, d2, d3, d4 = modes

    def f(w):
        return d2(lambda x: w**2 * d3(lambda y: x**3 * y * d4(lambda z: y**2 * z**4 * w)(x))(w))(w)

    w = sympy.Symbol("w", positive=True)
    x, y, z = sympy.symbols("x y z")
    e4 = sympy.diff(y**2 * z**4 * w, z).subs(z, x)
    e3 = sympy.diff(x**3 * y * e4, y).subs(y, w)
    e2 = sympy.diff(w**2 * e3, x).subs(x, w)
    exact = sympy.diff(e2, w).subs(w, sympy.Rational(6, 5))
    np.testing.assert_allclose(d1(f)(1.2), float(exact), rtol=1e-13)


@pytest.mark.parametrize("order", range(1, 8))
@pytest.mark.parametrize(
    "modes", [[by_jvp], [by_grad], [by_jvp, by_grad], [by_grad, by_jvp, by_vjp]]
)
def test_repeated_derivatives_of_one_function(modes, order):
    """The n-th derivative of exp(2 x) is 2**n exp(2 x)."""
    f = lambda x: np.exp(2.0 * x)
    for _, mode in zip(range(order), itertools.cycle(modes), strict=False):
        f = mode(f)
    np.testing.assert_allclose(f(0.3), 2.0**order * np.exp(0.6), rtol=1e-13)


def test_the_tangent_may_belong_to_the_outer_level():
    """d/dx of the derivative of sin at x along x: d/dx (x cos x)."""
    f = lambda x: dualad.jvp(np.sin, (x,), (x,))[1]
    x = 0.8
    for outer in MODES.values():
        np.testing.assert_allclose(outer(f)(x), np.cos(x) - x * np.sin(x), rtol=1e-14)


def test_the_cotangent_may_belong_to_the_outer_level():
    f = lambda x: dualad.vjp(np.sin, 2.0)[1](x**2)[0]
    for outer in MODES.values():
        np.testing.assert_allclose(outer(f)(3.0), 6.0 * np.cos(2.0), rtol=1e-14)


def test_a_linearization_made_outside_is_applied_inside():
    """f_lin is linear: its derivative is itself, at any level opened after it was made."""
    _, f_lin = dualad.linearize(lambda x: x**3, 2.0)
    for outer in MODES.values():
        np.testing.assert_allclose(outer(lambda t: f_lin(t) * t)(5.0), 2 * 12.0 * 5.0)


def test_a_pullback_made_outside_is_applied_inside():
    _, pullback = dualad.vjp(lambda x: x**3, 2.0)
    for outer in MODES.values():
        np.testing.assert_allclose(outer(lambda c: pullback(c)[0] * c)(5.0), 2 * 12.0 * 5.0)


def test_a_pullback_made_inside_keeps_the_outer_derivative():
    """d/dx of the pullback of y -> x y**2 at x, applied to x: d/dx (2 x**3) = 6 x**2."""

    def f(x):
        _, pullback = dualad.vjp(lambda y: x * y**2, x)
        return pullback(x)[0]

    for outer in MODES.values():
        np.testing.assert_allclose(outer(f)(1.5), 6 * 1.5**2, rtol=1e-14)


def test_derivatives_in_and_around_a_batch():
    """vmap between two derivatives, and around them, against the closed form."""
    points = np.array([0.2, 0.5, 1.1])

    def f(x):
        inner = dualad.vmap(lambda y: dualad.grad(lambda z: np.sin(x * z) * y)(y))(points)
        return np.sum(inner)

    def exact(x):  # d/dx of sum_y x y cos(x y)
        return np.sum(points * np.cos(x * points) - x * points**2 * np.sin(x * points))

    for outer in MODES.values():
        np.testing.assert_allclose(outer(f)(0.9), exact(0.9), rtol=1e-13)
    at = np.array([0.9, -0.4])
    for outer in (by_jvp, by_grad):
        np.testing.assert_allclose(dualad.vmap(outer(f))(at), [exact(a) for a in at], rtol=1e-13)


def test_derivative_of_a_fixed_point_that_newton_found_with_inner_derivatives():
    """x(p) with x**3 + p x = 1: dx/dp = -x / (3 x**2 + p)."""

    def solve(mode, p):
        x = 0.5 + 0.0 * p
        for _ in range(30):
            residual = lambda v: v**3 + p * v - 1.0
            x = x - residual(x) / mode(residual)(x)
        return x

    for outer, inner in itertools.product([by_jvp, by_grad], repeat=2):
        p = 1.3
        x = solve(inner, p)
        slope = outer(lambda q: solve(inner, q))(p)
        np.testing.assert_allclose(slope, -x / (3 * x**2 + p), rtol=1e-12)


def test_a_curried_function_cannot_carry_a_perturbation_out():
    """The "amazing" bug: the derivative of u -> (x -> f(x + u)) may not smuggle u out."""
    kept = []

    def shift(u):
        kept.append(lambda f: lambda x: f(x + u))
        return u

    dualad.jvp(shift, (0.0,), (1.0,))
    with pytest.raises(LeakError):
        by_jvp(kept[0](np.exp))(1.0)
    with pytest.raises(LeakError):
        by_grad(kept[0](kept[0](np.exp)))(1.0)


# --- random programs with derivatives inside -------------------------------------------------

UNARY = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tanh": sympy.tanh,
    "exp": lambda a: sympy.exp(-(a**2)),
}
NUMPY = {"sin": np.sin, "cos": np.cos, "tanh": np.tanh, "exp": lambda a: np.exp(-(a**2))}
BINARY = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}


@st.composite
def programs(draw, names=("x",), depth=4, derivatives=2):
    """A random expression; ("D", mode, v, body, point) is the derivative of body in v at point."""
    kinds = ["variable", "variable", "constant"]
    if depth:
        kinds = ["binary"] * 3 + ["unary"] * 2 + (["D"] * 3 if derivatives else []) + ["variable"]
    kind = draw(st.sampled_from(kinds))
    if kind == "variable":
        return ("variable", draw(st.sampled_from(names)))
    if kind == "constant":
        return ("constant", draw(st.sampled_from([-1.5, -0.5, 0.0, 0.25, 1.0, 2.0])))
    if kind == "unary":
        return (
            kind,
            draw(st.sampled_from(sorted(UNARY))),
            draw(programs(names, depth - 1, derivatives)),
        )
    if kind == "binary":
        sides = [draw(programs(names, depth - 1, derivatives)) for _ in range(2)]
        return (kind, draw(st.sampled_from(sorted(BINARY))), *sides)
    new = f"v{len(names)}"
    body = draw(programs((*names, new), depth - 1, derivatives - 1))
    point = draw(programs(names, depth - 2 if depth > 2 else 0, 0))
    return (kind, draw(st.sampled_from(sorted(MODES))), new, body, point)


def run(e, scope):
    """The program in NumPy, its derivatives by dualad."""
    kind = e[0]
    if kind == "variable":
        return scope[e[1]]
    if kind == "constant":
        return e[1]
    if kind == "unary":
        return NUMPY[e[1]](run(e[2], scope))
    if kind == "binary":
        return BINARY[e[1]](run(e[2], scope), run(e[3], scope))
    _, mode, name, body, point = e
    return MODES[mode](lambda v: run(body, {**scope, name: v}))(run(point, scope))


def exact(e, scope):
    """The program in SymPy, its derivatives by SymPy."""
    kind = e[0]
    if kind == "variable":
        return scope[e[1]]
    if kind == "constant":
        return sympy.Rational(e[1])
    if kind == "unary":
        return UNARY[e[1]](exact(e[2], scope))
    if kind == "binary":
        return BINARY[e[1]](exact(e[2], scope), exact(e[3], scope))
    _, _, name, body, point = e
    v = sympy.Symbol(name)
    return sympy.diff(exact(body, {**scope, name: v}), v).subs(v, exact(point, scope))


@given(programs(), st.sampled_from(sorted(MODES)))
def test_random_programs_agree_with_sympy(program, mode):
    x = sympy.Symbol("x")
    expr = exact(program, {"x": x})
    at = 0.625
    value, slope = (
        complex(e.subs(x, sympy.Rational(at)).evalf(30)) for e in (expr, sympy.diff(expr, x))
    )
    np.testing.assert_allclose(
        run(program, {"x": np.float64(at)}), value.real, rtol=1e-9, atol=1e-12
    )
    found = MODES[mode](lambda v: run(program, {"x": v}))(at)
    np.testing.assert_allclose(found, slope.real, rtol=1e-9, atol=1e-11)


@given(
    programs(depth=3, derivatives=1),
    st.sampled_from([by_jvp, by_grad]),
    st.sampled_from([by_jvp, by_grad]),
)
def test_second_derivatives_of_random_programs_agree_with_sympy(program, outer, inner):
    x = sympy.Symbol("x")
    curvature = sympy.diff(exact(program, {"x": x}), x, 2)
    found = outer(inner(lambda v: run(program, {"x": v})))(0.625)
    np.testing.assert_allclose(
        found, float(curvature.subs(x, sympy.Rational(5, 8)).evalf(30)), rtol=1e-9, atol=1e-11
    )
