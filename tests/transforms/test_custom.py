"""Rules that users add: their own ufuncs, functions with a jvp, and where to stop."""

import itertools
import warnings

import numpy as np
import pytest

import dualad
from dualad.engine.levels.rules import UFUNCS
from dualad.engine.primitives.primitive import PRIMITIVES
from dualad.errors import (
    ArgumentError,
    LinearityError,
    LostDerivativeError,
    MissingRuleError,
    NotDifferentiableError,
)


@pytest.fixture
def own_ufunc():
    """A ufunc of Python objects, forgotten after the test."""
    made = []

    def make(f, n):
        u = np.frompyfunc(f, n, 1)
        made.append(u)
        return u

    yield make
    for u in made:
        UFUNCS.pop(u, None)


both = pytest.mark.parametrize(
    "slope",
    [
        lambda f, x: dualad.jvp(f, (x,), (1.0,))[1],
        lambda f, x: dualad.grad(f)(x),
        lambda f, x: dualad.linearize(f, x)[1](1.0),
    ],
    ids=["jvp", "grad", "linearize"],
)


def doubled(kind):
    """2 x by a routine that takes and gives Python's numbers, as solvers do."""

    @dualad.custom_jvp
    def f(x):
        return kind(2 * x.item() if isinstance(x, np.ndarray) else 2 * x)

    @f.defjvp
    def rule(primals, tangents):
        return f(*primals), 2.0 * tangents[0]

    return f


# --- numbers of Python -----------------------------------------------------------------------


@both
def test_a_function_may_return_a_float(slope):
    f = doubled(float)
    assert slope(f, 1.5) == 2.0 and type(f(1.5)) is float
    assert slope(lambda x: f(x) ** 2, 1.5) == 12.0
    assert slope(lambda x: f(x).reshape(1)[0], 1.5) == 2.0
    # d/dy of 4 x y^2 at y = x is 8 x^2.
    assert slope(lambda x: dualad.grad(lambda y: f(y) * f(x * y))(x), 3.0) == 48.0


def test_a_function_may_return_floats_in_containers_and_complex_numbers():
    @dualad.custom_jvp
    def f(x):
        return {"a": float(x), "b": [complex(x) * 1j, 3.0]}

    @f.defjvp
    def rule(primals, tangents):
        (dx,) = tangents
        return f(*primals), {"a": dx, "b": [1j * dx, 0.0 * dx]}

    _, t = dualad.jvp(f, (2.0,), (3.0,))
    assert t == {"a": 3.0, "b": [3j, 0.0]}
    assert dualad.grad(lambda x: f(x)["a"] + np.imag(f(x)["b"][0]) + f(x)["b"][1])(2.0) == 2.0


@both
@pytest.mark.parametrize("kind", [int, np.int64, bool])
def test_a_whole_number_has_no_derivative_and_its_tangent_is_refused(slope, kind):
    with pytest.raises(NotDifferentiableError, match=r"return a float .* or None as its tangent"):
        slope(doubled(kind), 1.5)


def test_a_whole_number_without_a_tangent_is_a_constant():
    @dualad.custom_jvp
    def f(x):
        return 2 * x, 7, np.arange(2)

    f.defjvp(lambda p, t: (f(*p), (2 * t[0], None, np.zeros(2))))
    out, tangent = dualad.jvp(f, (1.5,), (1.0,))
    assert out[:2] == (3.0, 7) and tangent[:2] == (2.0, 0.0)
    assert dualad.grad(lambda x: f(x)[0] * f(x)[1])(1.5) == 14.0


# --- defelementwise --------------------------------------------------------------------------


@both
def test_a_ufunc_of_ones_own_joins_by_one_line(own_ufunc, slope):
    cube = own_ufunc(lambda a: a**3, 1)
    dualad.defelementwise(cube, "3 * x * x")
    np.testing.assert_allclose(slope(lambda x: cube(x) * x, 2.0), 4 * 8.0)
    np.testing.assert_allclose(
        slope(lambda x: np.sum(cube(np.array([1.0, 3.0]) * x)), 2.0), 3 * 4 * 28.0
    )


def test_partials_as_text_or_callables_of_output_and_inputs(own_ufunc):
    ratio = own_ufunc(lambda a, b: a / b, 2)
    dualad.defelementwise(ratio, lambda out, x, y: 1 / y, "-out / y")
    np.testing.assert_allclose(dualad.grad(ratio, argnums=(0, 1))(3.0, 2.0), [0.5, -0.75])
    assert dualad.jvp(ratio, (3.0, 2.0), (1.0, 1.0))[1] == -0.25


def test_an_argument_without_derivative(own_ufunc):
    scaled = own_ufunc(lambda a, n: a * n, 2)
    dualad.defelementwise(scaled, "y", None)
    np.testing.assert_allclose(dualad.grad(lambda x: scaled(x, 3))(2.0), 3.0)
    assert dualad.jvp(scaled, (2.0, 3.0), (0.0, 1.0))[1] == 0.0


def test_higher_orders_batches_and_broadcasting_follow(own_ufunc):
    cube = own_ufunc(lambda a: a**3, 1)
    dualad.defelementwise(cube, "3 * x * x")
    for outer, inner in itertools.product([dualad.jacfwd, dualad.jacrev], repeat=2):
        assert outer(inner(cube))(2.0) == 12.0
    np.testing.assert_array_equal(
        dualad.vmap(dualad.grad(cube))(np.array([1.0, 2.0])), [3.0, 12.0]
    )
    times = own_ufunc(lambda a, b: a * b, 2)
    dualad.defelementwise(times, "y", "x")
    _, pullback = dualad.vjp(times, np.ones(3), np.full((2, 1), 2.0))
    shares = pullback(np.ones((2, 3)))
    np.testing.assert_array_equal(shares[0], [4.0, 4.0, 4.0])
    np.testing.assert_array_equal(shares[1], [[3.0], [3.0]])


def test_a_ufunc_without_a_rule_says_how_to_give_one(monkeypatch):
    monkeypatch.delitem(UFUNCS, np.deg2rad)
    with pytest.raises(MissingRuleError, match=r"dualad\.defelementwise"):
        dualad.vmap(dualad.grad(lambda x: np.deg2rad(dualad.vmap(np.sin)(x[None])[0])))(np.ones(2))


def test_a_python_ufunc_is_differentiated_without_a_rule(own_ufunc):
    """np.frompyfunc hands its function one traced number at a time."""
    assert dualad.grad(own_ufunc(lambda a: a * a, 1))(3.0) == 6.0


def test_a_zero_tangent_at_an_infinite_slope_of_ones_own(own_ufunc):
    root = own_ufunc(lambda a: a**0.5, 1)
    dualad.defelementwise(root, lambda out, x: 0.5 / out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dualad.jvp(root, (np.array([0.0, 1.0]),), (np.array([0.0, 1.0]),))[1].tolist() == [
            0.0,
            0.5,
        ]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: dualad.defelementwise(np.sum, "1"),
        lambda: dualad.defelementwise(np.frompyfunc(max, 2, 1), "1"),
        lambda: dualad.defelementwise(np.divmod, "1", "1"),
    ],
)
def test_what_defelementwise_does_not_take(wrong):
    with pytest.raises(ArgumentError):
        wrong()


def test_ufuncs_of_one_name_keep_their_own_rules(own_ufunc):
    """np.frompyfunc calls every lambda by the same name."""
    one, two = own_ufunc(lambda a: a, 1), own_ufunc(lambda a: 2 * a, 1)
    dualad.defelementwise(one, "1")
    dualad.defelementwise(two, "2 + 0 * x")
    for f, slope in ((one, 1.0), (two, 2.0), (one, 1.0)):
        assert dualad.grad(f)(5.0) == slope and dualad.jvp(f, (5.0,), (1.0,))[1] == slope


def test_a_rule_can_be_given_late_and_given_again(own_ufunc):
    f = own_ufunc(lambda a: 2 * a, 1)
    assert dualad.grad(f)(5.0) == 2.0
    for slope in (3.0, 2.0):
        dualad.defelementwise(f, lambda out, x: slope)
        assert dualad.grad(f)(5.0) == slope and dualad.jvp(f, (5.0,), (1.0,))[1] == slope


def test_own_rules_do_not_enter_the_registry(own_ufunc):
    before = set(PRIMITIVES)
    dualad.defelementwise(own_ufunc(lambda a: a, 1), "1")
    assert set(PRIMITIVES) == before


# --- custom_jvp ------------------------------------------------------------------------------


@dualad.custom_jvp
def softplus(x):
    """log(1 + exp(x)) without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@softplus.defjvp
def softplus_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    return softplus(x), dx / (1 + np.exp(-x))


@both
@pytest.mark.parametrize("x", [-2.0, 0.0, 3.0])
def test_one_rule_gives_every_mode(slope, x):
    np.testing.assert_allclose(slope(softplus, x), 1 / (1 + np.exp(-x)))
    np.testing.assert_allclose(
        slope(lambda v: softplus(2 * v) ** 2, x), 4 * softplus(2 * x) / (1 + np.exp(-2 * x))
    )


def test_the_rule_is_used_and_not_the_function():
    """At its kink the function itself would give another slope."""
    assert softplus(0.0) == np.log(2.0)
    assert dualad.grad(softplus)(0.0) == 0.5


@pytest.mark.parametrize("outer", [dualad.jacfwd, dualad.jacrev])
@pytest.mark.parametrize("inner", [dualad.jacfwd, dualad.jacrev])
def test_the_rule_itself_is_differentiated(outer, inner):
    x, s = 0.3, 1 / (1 + np.exp(-0.3))
    np.testing.assert_allclose(outer(inner(softplus))(x), s * (1 - s))


def test_a_rule_under_vmap():
    x = np.array([-1.0, 0.0, 2.0])
    np.testing.assert_allclose(dualad.vmap(softplus)(x), softplus(x))
    np.testing.assert_allclose(dualad.vmap(dualad.grad(softplus))(x), 1 / (1 + np.exp(-x)))


def test_rules_per_argument():
    @dualad.custom_jvp
    def product(x, y):
        return x * y

    product.defjvps(lambda t, out, x, y: t * y, lambda t, out, x, y: x * t)
    np.testing.assert_array_equal(dualad.grad(product, argnums=(0, 1))(2.0, 3.0), (3.0, 2.0))
    assert dualad.jvp(product, (2.0, 3.0), (1.0, 10.0))[1] == 23.0
    product.defjvps(lambda t, out, x, y: t * y, None)
    assert dualad.jvp(product, (2.0, 3.0), (1.0, 10.0))[1] == 3.0


def test_containers_in_and_out():
    @dualad.custom_jvp
    def f(p):
        return {"sum": p["a"] + p["b"], "product": p["a"] * p["b"]}

    @f.defjvp
    def rule(primals, tangents):
        (p,), (dp,) = primals, tangents
        return f(p), {"sum": dp["a"] + dp["b"], "product": dp["a"] * p["b"] + p["a"] * dp["b"]}

    p = {"a": 2.0, "b": 3.0}
    out, t = dualad.jvp(f, (p,), ({"a": 1.0, "b": 0.0},))
    assert (out["sum"], out["product"], t["sum"], t["product"]) == (5.0, 6.0, 1.0, 3.0)
    assert dualad.grad(lambda q: f(q)["product"])(p) == {"a": 3.0, "b": 2.0}


def test_keyword_arguments_and_plain_arguments_are_handed_on():
    @dualad.custom_jvp
    def power(x, n, *, scale=1.0):
        return scale * x**n

    @power.defjvp
    def rule(primals, tangents):
        (x, n), (dx, _) = primals, tangents
        return x**n, n * x ** (n - 1) * dx

    assert power(2.0, 3, scale=2.0) == 16.0
    assert dualad.grad(lambda x: power(x, 3))(2.0) == 12.0


def test_a_function_without_a_rule_says_so():
    @dualad.custom_jvp
    def unfinished(x):
        return x

    with pytest.raises(MissingRuleError, match=r"unfinished\.defjvp"):
        dualad.grad(unfinished)(1.0)


def test_a_rule_of_the_wrong_form_says_so():
    @dualad.custom_jvp
    def f(x):
        return x

    f.defjvp(lambda primals, tangents: tangents[0])
    with pytest.raises(ArgumentError, match="output, tangent of output"):
        dualad.jvp(f, (1.0,), (1.0,))


@pytest.mark.parametrize(
    "rule, operation",
    [
        (lambda dx: dx * dx, "multiply"),
        (lambda dx: dx + 1.0, "add"),
        (lambda dx: np.sin(dx), "sin"),
    ],
)
def test_a_rule_that_is_not_linear_is_found_when_it_is_transposed(rule, operation):
    @dualad.custom_jvp
    def f(x):
        return x * 2.0

    f.defjvp(lambda primals, tangents: (primals[0] * 2.0, rule(tangents[0])))
    with pytest.raises(LinearityError, match=operation):
        dualad.grad(f)(1.0)


def test_a_custom_function_on_plain_values_is_the_function():
    assert type(softplus(1.0)) is np.float64 and softplus.__doc__.startswith("log(1 + exp(x))")


# --- stop_gradient ---------------------------------------------------------------------------


@both
def test_stop_gradient_makes_a_constant(slope):
    assert slope(lambda x: x * dualad.stop_gradient(x), 3.0) == 3.0
    assert slope(lambda x: x * dualad.stop_gradient({"a": [x]})["a"][0], 3.0) == 3.0
    assert slope(lambda x: dualad.stop_gradient(x) * 2.0, 3.0) == 0.0


def test_stop_gradient_holds_at_every_level():
    f = lambda x: x * dualad.stop_gradient(x) ** 2
    for outer, inner in itertools.product([dualad.jacfwd, dualad.jacrev], repeat=2):
        assert outer(inner(f))(3.0) == 0.0
    np.testing.assert_array_equal(dualad.vmap(dualad.grad(f))(np.array([1.0, 2.0])), [1.0, 4.0])


def test_stop_gradient_of_plain_values_is_themselves():
    a = np.ones(2)
    assert dualad.stop_gradient(a) is a and dualad.stop_gradient(None) is None


# --- what a rule does not see ----------------------------------------------------------------


def test_a_traced_value_beside_the_arguments_is_an_error_not_a_lost_derivative():
    def h(w):
        @dualad.custom_jvp
        def f(x):
            return x * w

        f.defjvp(lambda p, t: (p[0] * w, t[0] * w))
        return f(w)

    for derivative in (lambda: dualad.jvp(h, (3.0,), (1.0,)), lambda: dualad.grad(h)(3.0)):
        with pytest.raises(LostDerivativeError, match="not among its arguments"):
            derivative()


def test_a_value_of_an_outer_level_may_be_closed_over():
    def h(w):
        @dualad.custom_jvp
        def f(x):
            return x * w

        f.defjvp(lambda p, t: (p[0] * w, t[0] * w))
        return dualad.grad(f)(2.0) * w

    assert dualad.jvp(h, (3.0,), (1.0,)) == (9.0, 6.0)
    assert dualad.grad(h)(3.0) == 6.0


def test_defaults_and_keywords_are_arguments():
    @dualad.custom_jvp
    def f(x, y=2.0):
        return x * y

    f.defjvp(lambda p, t: (p[0] * p[1], t[0] * p[1] + p[0] * t[1]))
    assert dualad.grad(f)(3.0) == 2.0
    assert dualad.grad(lambda x: f(x, y=x))(3.0) == 6.0
    assert f(x=3.0, y=4.0) == 12.0


@pytest.mark.parametrize("slope", [None, "0", "0.0"])
def test_a_ufunc_whose_derivative_is_zero(slope):
    stair = np.frompyfunc(lambda a: float(a // 1), 1, 1)
    dualad.defelementwise(stair, slope)
    x = np.array([1.5, -0.5])
    y, t = dualad.jvp(stair, (x,), (np.ones(2),))
    np.testing.assert_array_equal((y, t), [[1.0, -1.0], [0.0, 0.0]])
    for _ in range(120):
        np.testing.assert_array_equal(dualad.grad(lambda x: np.sum(stair(x) * x))(x), [1.0, -1.0])
    np.testing.assert_array_equal(dualad.jacfwd(lambda x: stair(x) * x)(x), np.diag([1.0, -1.0]))
    np.testing.assert_array_equal(dualad.vmap(dualad.grad(lambda x: stair(x) + x))(x), [1.0, 1.0])
