"""What PyTorch's notes and tutorials on custom functions show, with dualad for torch."""

import itertools
import math

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function, forward_ad, gradcheck, gradgradcheck
from dualad.autograd.graph import saved_tensors_hooks


@pytest.fixture(autouse=True)
def seed():
    dualad.manual_seed(0)


def double(*size):
    return dualad.randn(*size, dtype=dualad.double, requires_grad=True)


# --- extending autograd --------------------------------------------------------------------------


class Linear(Function):
    """x Wᵀ + b, where b may be left out, and no gradient is computed that nobody needs."""

    @staticmethod
    def forward(x, weight, bias=None):
        out = x.mm(weight.t())
        if bias is not None:
            out += bias.unsqueeze(0).expand_as(out)
        return out

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, weight, bias = ctx.saved_tensors
        of_x = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            of_x = g.mm(weight)
        if ctx.needs_input_grad[1]:
            of_weight = g.t().mm(x)
        if bias is not None and ctx.needs_input_grad[2]:
            of_bias = g.sum(0)
        return of_x, of_weight, of_bias


def test_a_layer_with_an_optional_argument():
    assert gradcheck(Linear.apply, (double(4, 3), double(2, 3)))
    assert gradcheck(Linear.apply, (double(4, 3), double(2, 3), double(2)))
    assert gradgradcheck(Linear.apply, (double(2, 3), double(2, 3), double(2)))


def test_a_derivative_that_is_an_output():
    class Cube(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x**3, 3 * x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs, output[1])

        @staticmethod
        def backward(ctx, g, of_slope):
            x, slope = ctx.saved_tensors
            return g * slope + of_slope * 6 * x

    cube = lambda x: Cube.apply(x)[0]
    x = dualad.randn([])
    assert dualad.allclose(dualad.func.grad(dualad.func.grad(cube))(x), 6 * x)
    x = dualad.randn(3)
    assert dualad.allclose(dualad.vmap(cube)(x), x**3)


def to_numpy(x):
    return x.cpu().numpy()


class Taken(Function):
    """The entries at indices along a dimension, whose inverse permutation is known."""

    @staticmethod
    def forward(x, at, back, dim):
        taken = np.take_along_axis(to_numpy(x), to_numpy(at), dim)
        return dualad.tensor(taken, device=x.device)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, at, back, ctx.dim = inputs
        ctx.save_for_backward(at, back)

    @staticmethod
    def backward(ctx, g):
        at, back = ctx.saved_tensors
        return Taken.apply(g, back, at, ctx.dim), None, None, None

    @staticmethod
    def vmap(info, in_dims, x, at, back, dim):
        rank = x.dim() if in_dims[0] is None else x.dim() - 1
        spread = [
            a.expand(info.batch_size, *a.shape) if k is None else a.movedim(k, 0)
            for a, k in zip((x, at, back), in_dims[:3], strict=True)
        ]
        return Taken.apply(*spread, dim % rank + 1), 0


class Sorted(Function):
    """Sorted along a dimension by NumPy, with the permutation and its inverse."""

    @staticmethod
    def forward(x, dim):
        device, x = x.device, to_numpy(x)
        at = np.argsort(x, axis=dim)
        found = np.take_along_axis(x, at, dim), at, np.argsort(at, axis=dim)
        return tuple(dualad.tensor(a, device=device) for a in found)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:])
        ctx.dim = inputs[1]

    @staticmethod
    def backward(ctx, g, _at, _back):
        at, back = ctx.saved_tensors
        return Taken.apply(g, back, at, ctx.dim), None

    @staticmethod
    def vmap(info, in_dims, x, dim):
        x = x.movedim(in_dims[0], 0)
        return Sorted.apply(x, dim % (x.dim() - 1) + 1), (0, 0, 0)


def test_functions_in_numpy_that_call_each_other():
    ordered = lambda x, dim=-1: Sorted.apply(x, dim)[0]
    x = dualad.randn(2, 3)
    ones = dualad.func.grad(lambda x: ordered(x).sum())(x)
    assert dualad.allclose(ones, dualad.ones_like(x))
    assert dualad.allclose(dualad.vmap(ordered)(x), ordered(x, 1))
    jacobian = dualad.func.jacrev(ordered)(t([3.0, 1.0, 2.0]))
    same(jacobian, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


# --- double backward -----------------------------------------------------------------------------


def test_intermediate_results_as_outputs():
    class Sinh(Function):
        @staticmethod
        def forward(ctx, x):
            up, down = dualad.exp(x), dualad.exp(-x)
            ctx.save_for_backward(up, down)
            return (up - down) / 2, up, down

        @staticmethod
        def backward(ctx, g, of_up, of_down):
            up, down = ctx.saved_tensors
            out = g * (up + down) / 2
            out += of_up * up
            out -= of_down * down
            return out

    sinh = lambda x: Sinh.apply(x)[0]
    x = dualad.rand(3, 3, requires_grad=True, dtype=dualad.double)
    assert gradcheck(sinh, x) and gradgradcheck(sinh, x)


def test_a_backward_that_is_a_function_with_a_backward():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return OfCube.apply(g, *ctx.saved_tensors)

    class OfCube(Function):
        @staticmethod
        def forward(ctx, g, x):
            ctx.save_for_backward(x, g)
            return 3 * g * x**2

        @staticmethod
        def backward(ctx, h):
            x, g = ctx.saved_tensors
            return 3 * h * x**2, 6 * h * g * x

    x = t(2.0, True)
    assert gradcheck(Cube.apply, x) and gradgradcheck(Cube.apply, x)


# --- forward mode --------------------------------------------------------------------------------


def test_dual_tensors():
    primal, move = dualad.randn(4, 4), dualad.randn(4, 4)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(primal, move)
        assert forward_ad.unpack_dual(dual).tangent is move
        other = forward_ad.make_dual(primal, move.T)
        assert forward_ad.unpack_dual(other).tangent is not move
        out = dual**2 + dualad.randn(4, 4) ** 2
        assert dualad.allclose(forward_ad.unpack_dual(out).tangent, 2 * primal * move)
    assert forward_ad.unpack_dual(out).tangent is None


def test_a_rule_that_frees_what_it_has_read():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.result = dualad.exp(x)
            return ctx.result

        @staticmethod
        def jvp(ctx, dx):
            out = dx * ctx.result
            del ctx.result
            return out

    x = double(3)
    with forward_ad.dual_level():
        out = Exp.apply(forward_ad.make_dual(x, dualad.ones(3)))
        same(forward_ad.unpack_dual(out).tangent, np.exp(x.detach().numpy()))
    assert gradcheck(
        Exp.apply,
        (x,),
        check_forward_ad=True,
        check_backward_ad=False,
        check_undefined_grad=False,
        check_batched_grad=False,
    )


# --- saved tensors -------------------------------------------------------------------------------


def stored():
    kept = []
    return lambda x: (kept.append(x), len(kept) - 1)[1], kept.__getitem__


def shifted():
    def pack(x):
        move = dualad.randn(*x.size(), dtype=x.dtype)
        return x - move, lambda y: y + move

    return pack, lambda packed: packed[1](packed[0])


@pytest.mark.parametrize(
    "hooks",
    [
        stored,
        shifted,
        lambda: (repr, lambda text: eval("dualad." + text, {"dualad": dualad})),
        lambda: (lambda x: (x.device, x.cpu()), lambda packed: packed[1].to(packed[0])),
    ],
    ids=["an index", "a pair", "a text", "a device"],
)
def test_whatever_a_pack_hook_keeps(hooks):
    x = dualad.randn(5, requires_grad=True)
    with saved_tensors_hooks(*hooks()):
        y = x * x
    y.sum().backward()
    same(x.grad, 2 * x.detach().numpy(), tol=1e-5)


# --- a fit ---------------------------------------------------------------------------------------


def test_a_polynomial_is_fitted_by_gradient_descent():
    """The cubic a + b P3(c + d x) comes closer to sin(x)."""

    class Legendre3(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 0.5 * (5 * x**3 - 3 * x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 1.5 * (5 * x**2 - 1)

    options = {"device": dualad.device("cpu"), "dtype": dualad.float}
    x = dualad.linspace(-math.pi, math.pi, 2000, **options)
    y = dualad.sin(x)
    a, b, c, d = (dualad.full((), v, requires_grad=True, **options) for v in (0.0, -1.0, 0.0, 0.3))
    losses = []
    for _ in range(200):
        loss = (a + b * Legendre3.apply(c + d * x) - y).pow(2).sum()
        losses.append(loss.item())
        loss.backward()
        with dualad.no_grad():
            for p in (a, b, c, d):
                p -= 5e-6 * p.grad
                p.grad = None
    assert losses[-1] < 0.7 * losses[0] and all(x > y for x, y in itertools.pairwise(losses))
