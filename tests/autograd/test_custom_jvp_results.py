"""What a rule of custom_jvp may return: the structure of the output, and None for zero."""

import numpy as np
import pytest

import dualad
from dualad.errors import ArgumentError, ShapeError, StructureError


def with_rule(value, moved):
    """A function with a jvp rule that gives `moved` of (x, dx)."""

    @dualad.custom_jvp
    def f(x):
        return value(x)

    f.defjvp(lambda primals, tangents: (f(*primals), moved(*primals, *tangents)))
    return f


def both(x):
    return {"sin": np.sin(x), "square": x**2}


def test_the_keys_of_a_dict_count_and_not_their_order():
    f = with_rule(both, lambda x, dx: {"square": 2 * x * dx, "sin": np.cos(x) * dx})
    tangent = dualad.jvp(f, (1.0,), (1.0,))[1]
    assert tangent["sin"] == np.cos(1.0) and tangent["square"] == 2.0
    assert dualad.grad(lambda x: f(x)["sin"])(1.0) == np.cos(1.0)


@pytest.mark.parametrize(
    ("value", "moved"),
    [
        (both, lambda x, dx: [dx, dx]),
        (both, lambda x, dx: {"sin": dx}),
        (np.sin, lambda x, dx: (dx,)),
        (np.sin, lambda x, dx: (dx, dx)),
        (lambda x: (x, x), lambda x, dx: dx),
        (lambda x: (x, x), lambda x, dx: (dx, dx, dx)),
    ],
)
def test_another_structure_is_an_error(value, moved):
    f = with_rule(value, moved)
    with pytest.raises(StructureError, match="tangent from the jvp rule of f"):
        dualad.jvp(f, (1.0,), (1.0,))


def test_another_shape_is_an_error():
    f = with_rule(np.sin, lambda x, dx: dx * np.ones(3))
    for derivative in (dualad.grad(f), lambda x: dualad.jvp(f, (x,), (1.0,))):
        with pytest.raises(ShapeError, match=r"rule of f gives a tangent of shape \(3,\)"):
            derivative(1.0)


def test_none_is_zero():
    f = with_rule(np.floor, lambda x, dx: None)
    assert dualad.jvp(f, (1.5,), (1.0,))[1] == dualad.grad(f)(1.5) == 0.0
    f = with_rule(lambda x: (np.floor(x), x**2), lambda x, dx: (None, 2 * x * dx))
    assert dualad.jvp(f, (1.5,), (1.0,))[1] == (0.0, 3.0)
    assert dualad.grad(lambda x: f(x)[0] + f(x)[1])(1.5) == 3.0


def test_a_sum_of_rules():
    """x sin y: an integer has no tangent, None is no derivative, and there is a rule for each."""

    @dualad.custom_jvp
    def f(x, y):
        return x * np.sin(y)

    f.defjvps(lambda t, out, x, y: t * np.sin(y), lambda t, out, x, y: t * x * np.cos(y))
    assert dualad.grad(f, (0, 1))(2.0, 0.5) == (np.sin(0.5), 2 * np.cos(0.5))
    assert dualad.grad(f)(2.0, 1) == np.sin(1.0)
    assert dualad.grad(f, 1)(2, 0.5) == 2 * np.cos(0.5)
    f.defjvps(None, None)
    assert dualad.grad(f, (0, 1))(2.0, 0.5) == (0.0, 0.0)
    f.defjvps(lambda t, out, x, y: t)
    with pytest.raises(ArgumentError, match="1 rules, but the function has 2 arguments"):
        dualad.grad(f)(2.0, 0.5)
