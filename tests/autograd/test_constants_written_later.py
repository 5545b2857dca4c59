"""Constant arguments of a custom function that are written to before or after the call."""

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function


class Combined(Function):
    """a * b, whose forward prepares the context."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


class Split(Function):
    """a * b, with a setup_context."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a, b):
        return a * b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    backward = Combined.backward

    @staticmethod
    def jvp(ctx, da, db):
        a, b = ctx.saved_tensors
        return da * b + a * db


X = np.array([3.0, 4.0])
both = pytest.mark.parametrize("function", [Combined, Split])


@both
def test_arrays_under_transformations(function):
    """d sum(c x) is c as it was at the call."""

    def f(x):
        c = np.array([1.0, 2.0])
        y = function.apply(c, x)
        c *= 5
        return np.sum(y)

    same(dualad.grad(f)(X), [1.0, 2.0])
    same(dualad.jvp(f, (X,), (np.ones(2),))[1], 3.0)
    same(dualad.linearize(f, X)[1](np.ones(2)), 3.0)
    same(dualad.hessian(lambda x: f(x) ** 2)(X), [[2.0, 4.0], [4.0, 8.0]])
    same(dualad.vmap(dualad.grad(f))(np.array([X, X])), [[1.0, 2.0], [1.0, 2.0]])


@both
def test_tensors_under_transformations(function):
    def f(x):
        c = t([0.5, 1.0])
        c.mul_(2)
        y = function.apply(c, x)
        c.mul_(5)
        return y.sum()

    same(dualad.func.grad(f)(t(X)), [1.0, 2.0])
    same(dualad.func.jvp(f, (t(X),), (t([1.0, 1.0]),))[1], 3.0)
    same(dualad.func.hessian(lambda x: f(x) ** 2)(t(X)), [[2.0, 4.0], [4.0, 8.0]])


@both
def test_arrays_beside_tensors(function):
    """NumPy writes without notice, so that the array is kept as it was."""
    x, c = t(X, True), np.array([1.0, 2.0])
    y = function.apply(c, x)
    c *= 5
    y.sum().backward()
    same(x.grad, [1.0, 2.0])


@both
def test_a_tensor_in_the_graph_is_noticed(function):
    x, c = t(X, True), t([1.0, 2.0])
    y = function.apply(c, x)
    c.mul_(5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
