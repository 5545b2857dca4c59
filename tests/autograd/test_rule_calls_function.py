"""A backward that calls a custom function of its cotangent, and the forward mode it gives."""

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function, gradcheck, gradgradcheck
from dualad.errors import LinearityError


class Turned(Function):
    """x turned by one place, by NumPy; its backward turns back by the function itself."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return dualad.tensor(np.roll(x.detach().numpy(), k, -1))

    @staticmethod
    def backward(ctx, g):
        return Turned.apply(g, -ctx.k), None

    @staticmethod
    def vmap(info, in_dims, x, k):
        return Turned.apply(x.movedim(in_dims[0], 0), k), 0


class Slope(Function):
    """g * 3 x**2, the backward of the cube, with a backward of its own."""

    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return g * 3 * x**2

    @staticmethod
    def backward(ctx, c):
        g, x = ctx.saved_tensors
        return c * 3 * x**2, c * g * 6 * x


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        return Slope.apply(g, *ctx.saved_tensors)


X = np.array([3.0, 1.0, 2.0])
ROLL = np.roll(np.eye(3), 1, 0)


def test_forward_mode_is_the_transpose_of_such_a_backward():
    same(dualad.func.jvp(lambda x: Turned.apply(x, 1), (t(X),), (t(X + 1),))[1], ROLL @ (X + 1))
    same(dualad.func.jacfwd(lambda x: Turned.apply(x, 1))(t(X)), ROLL)
    y = lambda x: (Turned.apply(x, 1) ** 3 * t(X)).sum()
    same(dualad.func.hessian(y)(t(X)), np.diag(6 * X * (ROLL.T @ X)))
    assert gradcheck(lambda x: Turned.apply(x, 1), t(X, True), check_forward_ad=True)
    assert gradgradcheck(y, t(X, True), check_fwd_over_rev=True)


@pytest.mark.parametrize(("order", "value"), [(1, 12.0), (2, 12.0), (3, 6.0), (4, 0.0)])
def test_derivatives_of_all_orders_of_a_cube_at_two(order, value):
    def derivative(f):
        return lambda x: dualad.jvp(f, (x,), (1.0,))[1]

    forward, mixed = Cube.apply, Cube.apply
    for k in range(order):
        forward = derivative(forward)
        mixed = derivative(mixed) if k % 2 else dualad.grad(mixed)
    assert float(forward(2.0)) == pytest.approx(value)
    assert float(mixed(2.0)) == pytest.approx(value)


def calling(function):
    """The identity, with a backward that calls another function."""

    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return function.apply(g)

    return Outer


class Squared(Function):
    @staticmethod
    def forward(ctx, g):
        ctx.save_for_backward(g)
        return g * g

    @staticmethod
    def backward(ctx, c):
        return 2 * ctx.saved_tensors[0] * c


class Clipped(Function):
    @staticmethod
    def forward(ctx, g):
        return g.clamp(-0.1, 0.1)

    @staticmethod
    def backward(ctx, c):
        return c


class Shifted(Function):
    @staticmethod
    def forward(ctx, g):
        return g + 1

    @staticmethod
    def backward(ctx, c):
        return c


@pytest.mark.parametrize("function", [Squared, Clipped, Shifted])
def test_a_function_that_is_not_linear_is_named(function):
    with pytest.raises(LinearityError, match=f"{function.__name__}.* is not linear in it"):
        dualad.func.jvp(calling(function).apply, (t(X),), (t(X),))


def test_reverse_mode_does_not_ask():
    same(dualad.func.grad(lambda x: (calling(Clipped).apply(x) * t(X)).sum())(t(X)), [0.1] * 3)


class Parts(Function):
    """Several outputs: 2 x and sum(x)."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return 2 * x, x.sum()

    @staticmethod
    def backward(ctx, a, b):
        total = dualad.zeros(3, dtype=dualad.float64)
        total = total if a is None else total + 2 * a
        return total if b is None else total + b


def test_several_outputs():
    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x + x.sum()

        @staticmethod
        def backward(ctx, g):
            double, total = Parts.apply(g)
            return double + total

    matrix = 2 * np.eye(3) + np.ones((3, 3))
    same(dualad.func.jacfwd(Outer.apply)(t(X)), matrix)
    same(dualad.func.jacrev(Outer.apply)(t(X)), matrix)
