"""Differentiating a backward pass, and refusing to."""

import pytest
from tensors import primal, same, t, tangent

import dualad
from dualad import func
from dualad.autograd import Function
from dualad.autograd.forward_ad import dual_level, make_dual
from dualad.autograd.function import once_differentiable


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class OnceCube(Cube):
    backward = staticmethod(once_differentiable(Cube.backward))


def grad(y, x, **options):
    return dualad.autograd.grad(y, x, **options)[0]


def test_all_orders_by_create_graph():
    """x^3 at 2: 12, 12, 6."""
    x = t(2.0, True)
    y = Cube.apply(x)
    for want in (12.0, 12.0, 6.0):
        y = grad(y, x, create_graph=True)
        same(y, want)


def test_without_create_graph_the_gradient_is_constant():
    x = t(2.0, True)
    assert not grad(Cube.apply(x), x).requires_grad


def test_backward_with_create_graph_leaves_a_differentiable_grad():
    x = t(2.0, True)
    Cube.apply(x).backward(create_graph=True)
    same(x.grad, 12.0)
    same(grad(x.grad, x), 12.0)


def test_a_cotangent_can_be_differentiated_with_respect_to():
    """The gradient 3x^2 c is linear in c."""
    x, c = t(2.0, True), t(5.0, True)
    g = grad(Cube.apply(x), x, grad_outputs=c, create_graph=True)
    same(grad(g, c), 12.0)


def test_an_intermediate_returned_as_an_output_is_differentiable():
    """exp(x)^2 with exp(x) returned too: 2 and 4 at 0."""

    class SquareOfExp(Function):
        @staticmethod
        def forward(ctx, x):
            e = x.exp()
            ctx.save_for_backward(e)
            return e * e, e

        @staticmethod
        def backward(ctx, g, ge):
            (e,) = ctx.saved_tensors
            return 2 * e * e * g + e * ge

    x = t(0.0, True)
    d = grad(SquareOfExp.apply(x)[0], x, create_graph=True)
    same(d, 2.0)
    same(grad(d, x), 4.0)


def test_a_product_of_functions():
    """f = x^3 y^3: d^2 f / dx dy = 9 x^2 y^2."""
    x, y = t(2.0, True), t(3.0, True)
    gx = grad(Cube.apply(x) * Cube.apply(y), x, create_graph=True)
    same(gx, 3 * 4 * 27.0)
    same(grad(gx, y), 9 * 4 * 9.0)


def test_the_gradient_of_a_dual():
    """At x = 2 along v = 5: the gradient 3x^2 = 12 and its derivative 6xv = 60."""
    x = t(2.0, True)
    with dual_level():
        d = make_dual(x, t(5.0))
        for wanted in (d, x):
            g = grad(Cube.apply(d), wanted)
            same(primal(g), 12.0)
            same(tangent(g), 60.0)


def test_the_gradient_of_a_dual_of_a_dual():
    """Nested levels: 3x^2, 6xv, 6xv, 6v^2 at x = 2, v = 1."""
    x = t(2.0, True)
    with dual_level() as one:
        a = make_dual(x, t(1.0))
        with dual_level() as two:
            g = grad(Cube.apply(make_dual(a, t(1.0))), x)
            first, second = primal(g, two), tangent(g, two)
        same(primal(first, one), 12.0)
        same(tangent(first, one), 12.0)
        same(primal(second, one), 12.0)
        same(tangent(second, one), 6.0)


def test_grad_keeps_the_primal_part():
    x = t(2.0, True)
    with dual_level():
        y = Cube.apply(make_dual(x, t(5.0)))
        y.backward()
        same(x.grad, 12.0)
        assert tangent(x.grad) is None


# --- once_differentiable -----------------------------------------------------------------------


def test_first_derivatives_are_as_ever():
    x = t([1.0, 2.0], True)
    OnceCube.apply(x).sum().backward()
    same(x.grad, [3.0, 12.0])
    same(func.grad(OnceCube.apply)(t(2.0)), 12.0)


def test_its_body_is_never_recorded():
    seen = []

    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            seen.append((dualad.is_grad_enabled(), g.requires_grad))
            return 2 * g

    x, c = t(1.0, True), t(1.0, True)
    grad(Twice.apply(x), x, grad_outputs=c, create_graph=True)
    assert seen[0][0] is False


SECOND = {
    "of the function": lambda x: OnceCube.apply(x),
    "of a square of it": lambda x: OnceCube.apply(x) ** 2,
    "beside other terms": lambda x: OnceCube.apply(x) + x**3,
}


@pytest.mark.parametrize("f", SECOND.values(), ids=SECOND.keys())
def test_a_second_derivative_is_an_error(f):
    """Also for Once(x) + x^3, where PyTorch's answer 6x leaves out half without a word."""
    x = t(2.0, True)
    d = grad(f(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad(d, x)
    for second in (func.grad(func.grad(f)), func.jacfwd(func.grad(f))):
        with pytest.raises(RuntimeError, match="once_differentiable"):
            second(t(2.0))


def test_forward_mode_over_it_is_an_error():
    x = t(2.0, True)
    with dual_level():
        y = OnceCube.apply(make_dual(x, t(1.0)))
        same(tangent(y), 12.0)
        with pytest.raises(RuntimeError, match="once_differentiable"):
            grad(tangent(y), x)
    with dual_level():
        d = make_dual(t(2.0), t(1.0))
        with dual_level():
            with pytest.raises(RuntimeError, match="once_differentiable"):
                OnceCube.apply(make_dual(d, t(1.0)))


def test_what_does_not_go_through_it_is_free():
    """The cotangent's own history beside it: d/dc of 3x^2 c is an error, d/dy of y^3 is not."""
    x, y, c = t(2.0, True), t(3.0, True), t(1.0, True)
    total = OnceCube.apply(x) + Cube.apply(y)
    gx, gy = dualad.autograd.grad(total, (x, y), c, create_graph=True)
    same(grad(gy, y, retain_graph=True), 18.0)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad(gx, c)
