"""What PyTorch's page of custom functions shows, method by method, in our own words."""

import numpy as np
import pytest
from tensors import primal, same, t, tangent

import dualad
from dualad.autograd import Function, forward_ad
from dualad.autograd.function import once_differentiable


def test_forward_and_backward_with_a_saved_result():
    class Exponential(Function):
        @staticmethod
        def forward(ctx, power):
            result = power.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad):
            (result,) = ctx.saved_tensors
            return grad * result

    x = t([0.0, 1.0], True)
    Exponential.apply(x).sum().backward()
    same(x.grad, [1.0, np.e])


class Weighted(Function):
    """x z + x y + y z: inputs, a number, an intermediate and the output are kept."""

    @staticmethod
    def forward(ctx, x, y, z):
        w = x * z
        out = w + x * y + y * z
        ctx.save_for_backward(x, y, w, out)
        ctx.z = z
        return out

    @staticmethod
    def backward(ctx, grad):
        x, y, w, out = ctx.saved_tensors
        same(w, (x * ctx.z).detach().numpy())
        same(out, (w + x * y + y * ctx.z).detach().numpy())
        return grad * (ctx.z + y), grad * (x + ctx.z), None


def test_save_for_backward():
    x, y = t(2.0, True), t(3.0, True)
    Weighted.apply(x, y, 4).backward()
    same(x.grad, 7.0)
    same(y.grad, 6.0)


class Volume(Function):
    """x y z with a rule for each mode, each with its own saved tensors."""

    @staticmethod
    def forward(ctx, x, y, z):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.z = z
        return x * y * z

    @staticmethod
    def jvp(ctx, dx, dy, _):
        x, y = ctx.saved_tensors
        return ctx.z * (y * dx + x * dy)

    @staticmethod
    def vjp(ctx, grad):
        x, y = ctx.saved_tensors
        return ctx.z * grad * y, ctx.z * grad * x, None


def test_save_for_forward():
    a, b = t(2.0, True), t(3.0, True)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(a, t(1.0))
        v = Volume.apply(d, b, 4)
        same(primal(v), 24.0)
        same(tangent(v), 12.0)
        v.backward()
    same(a.grad, 12.0)
    same(b.grad, 8.0)


def test_mark_dirty_with_numpy_underneath():
    class AddOne(Function):
        @staticmethod
        def forward(ctx, x):
            shared = x.numpy()
            shared += 1
            ctx.mark_dirty(x)
            return x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            return grad

    a = t(1.0, True).clone()
    squared = a * a
    AddOne.apply(a)
    same(a, 2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        squared.backward()


def test_mark_non_differentiable_indices():
    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            values, order = x.sort()
            ctx.mark_non_differentiable(order)
            ctx.save_for_backward(x, order)
            return values, order

        @staticmethod
        @once_differentiable
        def backward(ctx, grad, grad_order):
            x, order = ctx.saved_tensors
            same(grad_order, np.zeros(3))
            out = dualad.zeros_like(x)
            out.index_add_(0, order, grad)
            return out

    x = t([3.0, 1.0, 2.0], True)
    values, order = Sorted.apply(x)
    same(values, [1.0, 2.0, 3.0])
    assert order.tolist() == [1, 2, 0] and not order.requires_grad
    (values * t([1.0, 10.0, 100.0])).sum().backward()
    same(x.grad, [100.0, 1.0, 10.0])


@pytest.mark.parametrize("materialize", [True, False])
def test_set_materialize_grads(materialize):
    seen = []

    class Twins(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            ctx.save_for_backward(x)
            return x.clone(), x.clone()

        @staticmethod
        def backward(ctx, first, second):
            (x,) = ctx.saved_tensors
            seen.append(second is None)
            grad = dualad.zeros_like(x)
            for g in (first, second):
                if g is not None:
                    grad += g
            return grad

    x = t([1.0, 2.0], True)
    Twins.apply(x)[0].sum().backward()
    same(x.grad, [1.0, 1.0])
    assert seen == [not materialize]


@pytest.mark.parametrize(
    ("declared", "seen"),
    [(dualad.float32, dualad.float32), (None, dualad.float64), (dualad.float64, dualad.float64)],
)
def test_set_output_grad_dtype(declared, seen):
    """The function computes in float32, and says in which dtype its gradients shall come."""
    dtypes = []

    class Half(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_output_grad_dtype(declared)
            return x.float() / 2

        @staticmethod
        def backward(ctx, grad):
            dtypes.append(grad.dtype)
            return grad / 2

    x = t([1.0, 2.0], True)
    Half.apply(x).backward(dualad.ones(2, dtype=dualad.float64))
    assert dtypes == [seen] and x.grad.dtype == dualad.float64
    same(x.grad, [0.5, 0.5])


def test_setup_context_apart_from_forward():
    class Power(Function):
        @staticmethod
        def forward(x, n):
            return x**n, n

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, n = inputs
            assert output[1] == n
            ctx.save_for_backward(x)
            ctx.n = n

        @staticmethod
        def backward(ctx, grad, _):
            (x,) = ctx.saved_tensors
            return ctx.n * x ** (ctx.n - 1) * grad, None

    x = t(2.0, True)
    y, n = Power.apply(x, 3)
    y.backward()
    assert n == 3
    same(x.grad, 12.0)
    same(dualad.func.grad(lambda x: Power.apply(x, 3)[0])(t(2.0)), 12.0)


def test_a_function_in_numpy_with_a_rule_for_vmap():
    """forward leaves for NumPy: the rule moves the batch in front and calls apply again."""

    class Cumulative(Function):
        @staticmethod
        def forward(x, dim):
            return dualad.tensor(np.cumsum(x.detach().numpy(), axis=dim))

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.dim = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            flipped = Cumulative.apply(grad.flip(ctx.dim), ctx.dim)
            return flipped.flip(ctx.dim), None

        @staticmethod
        def vmap(info, in_dims, x, dim):
            return Cumulative.apply(x.movedim(in_dims[0], 0), dim + 1 if dim >= 0 else dim), 0

    rows = t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    f = lambda x: Cumulative.apply(x, 0)
    same(dualad.vmap(f)(rows), np.cumsum(rows.numpy(), axis=1))
    same(dualad.func.grad(lambda x: f(x)[-1])(rows[0]), [1.0, 1.0, 1.0])
    same(dualad.vmap(dualad.func.grad(lambda x: f(x)[1]))(rows), [[1.0, 1.0, 0.0]] * 2)
    same(dualad.func.jacrev(f)(rows[0]), np.tril(np.ones((3, 3))))


def test_a_function_that_recomputes_in_backward():
    """Checkpointing: forward keeps the input alone, backward runs the graph again."""

    class Checkpoint(Function):
        @staticmethod
        def forward(ctx, f, x):
            ctx.f = f
            ctx.save_for_backward(x)
            return f(x)

        @staticmethod
        def backward(ctx, grad):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            with dualad.enable_grad():
                y = ctx.f(x)
            y.backward(grad)
            return None, x.grad

    weight = t(2.0, True)
    x = t([1.0, 3.0], True)
    Checkpoint.apply(lambda v: (v * weight) ** 2, x).sum().backward()
    same(x.grad, [8.0, 24.0])
    same(weight.grad, 2 * 2.0 * (1 + 9))
