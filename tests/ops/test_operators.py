"""Operators that work in place change arrays, and give numbers anew, as they do in NumPy."""

import operator

import numpy as np
import pytest
from agreement import agrees, like, same

import dualad
from dualad.engine.kinds.dual import Dual
from dualad.engine.kinds.recorded import Recorded

X = np.array([[3.0, 1.0, 2.5, -4.0], [0.5, -2.0, 6.0, 9.0], [7.0, 8.0, -1.0, 0.25]])


def test_augmented_assignment_changes_the_array_for_all_its_names():
    def f(x):
        y = x * 1.0
        other = y
        y += x
        y -= 1.0
        y *= 2.0
        y /= 4.0
        y **= 2
        assert other is y
        return other

    # ((2x - 1) / 2)**2
    agrees(f, (X,), (X,), (2 * X - 1) * X)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "mod", "pow", "floordiv"])
def test_augmented_operators_are_the_operators(name):
    """For arrays in place, with the derivative of the plain operator."""
    plain, augmented = getattr(operator, name), getattr(operator, "i" + name)

    def in_place(a, b):
        y = np.abs(a) + 1.0
        assert augmented(y, b) is y
        return y

    x, v = like(X), np.full(4, 1.5)
    t, dv = like(x), like(v)
    _, want = dualad.jvp(lambda a, b: plain(np.abs(a) + 1.0, b), (x, v), (t, dv))
    agrees(in_place, (x, v), (t, dv), want)


def test_augmented_matmul():
    def f(x):
        y = x * 1.0
        y @= x
        return y

    x, t = X[:, :3], like(X[:, :3])
    agrees(f, (x,), (t,), t @ x + x @ t)


def test_augmented_assignment_of_numbers_rebinds():
    """A NumPy scalar is not changed: the other name keeps the old value."""

    def f(x):
        y = x
        y += 1.0
        y *= x
        return y + 10.0 * x

    same(dualad.jvp(f, (3.0,), (1.0,)), (42.0, 17.0))
    same(dualad.grad(f)(3.0), 17.0)
    same(dualad.vmap(f)(np.array([3.0, 1.0])), np.array([42.0, 12.0]))
    g = lambda v: (lambda a, b: a + b)(*_bump(v[0]))
    same(dualad.vmap(g)(np.array([[3.0], [1.0]])), np.array([7.0, 3.0]))
    same(dualad.jvp(lambda v: g(v), (np.array([3.0]),), (np.array([1.0]),)), (7.0, 2.0))


def _bump(number):
    """A number and its old value, after an augmented assignment."""
    old = number
    number += 1.0
    return number, old


def test_an_element_taken_out_is_a_number_and_not_a_view():
    def f(x):
        y = x * 1.0
        first = y[0]
        first += 100.0
        y[1] = 5.0
        return y + 0.0 * first

    x = np.array([1.0, 2.0, 3.0])
    want = np.diag([1.0, 0.0, 1.0])
    same(dualad.jacfwd(f)(x), want)
    same(dualad.jacrev(f)(x), want)
    same(dualad.vmap(f)(np.stack([x, 2 * x])), np.stack([f(x), f(2 * x)]))


def test_augmented_assignment_refuses_what_numpy_refuses():
    cases = [
        (lambda y: y.__iadd__(np.ones((2, 3, 4))), ValueError),
        (lambda y: y.__imul__(1j * y), TypeError),
    ]
    for step, error in cases:
        with pytest.raises(error):
            dualad.jvp(lambda x: step(x * 1.0), (X,), (X,))


@pytest.mark.parametrize("name", ["lt", "le", "eq", "ne", "gt", "ge"])
def test_a_comparison_is_that_of_the_values_and_is_written_once(name):
    """The answer is plain, before and after its first use, which writes it for all classes."""
    compare, value = getattr(operator, name), np.array([1.0, 2.0, 3.0])

    def f(x):
        for other in (2.0, np.array([1.0, 5.0, 3.0])):
            same(compare(x, other), compare(value, other))
        same(compare(x, x[::-1]), compare(value, value[::-1]))
        return x

    dualad.jvp(f, (value,), (value,))
    dualad.vjp(f, value)
    assert getattr(Dual, f"__{name}__") is getattr(Recorded, f"__{name}__")
    assert getattr(Dual, f"__{name}__").__name__ == "of_primal"
