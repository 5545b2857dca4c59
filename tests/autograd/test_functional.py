"""dualad.autograd.functional: torch.autograd.functional's signatures and results."""

import pytest
from tensors import same, t

from dualad.autograd import grad
from dualad.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

X, Y, V = t([1.0, 2.0]), t([3.0, 4.0]), t([5.0, 6.0])
square = lambda x: x * x
cubes = lambda x: (x**3).sum()
both = lambda x, y: (x * x * y).sum()


def test_a_jacobian_mirrors_outputs_and_inputs():
    same(jacobian(square, X), [[2.0, 0.0], [0.0, 4.0]])
    (only,) = jacobian(square, (X,))
    same(only, [[2.0, 0.0], [0.0, 4.0]])
    of_square, of_sum = jacobian(lambda x: (x * x, x.sum()), X)
    same(of_square, [[2.0, 0.0], [0.0, 4.0]])
    same(of_sum, [1.0, 1.0])
    (xx, xy), (sx, sy) = jacobian(lambda x, y: (x * y, x.sum()), (X, Y))
    same(xx, [[3.0, 0.0], [0.0, 4.0]])
    same(xy, [[1.0, 0.0], [0.0, 2.0]])
    same(sx, [1.0, 1.0])
    same(sy, [0.0, 0.0])


@pytest.mark.parametrize("strategy", ["forward-mode", "reverse-mode"])
def test_both_strategies(strategy):
    same(jacobian(square, X, strategy=strategy, vectorize=True), [[2.0, 0.0], [0.0, 4.0]])


def test_hessians():
    same(hessian(cubes, X), [[6.0, 0.0], [0.0, 12.0]])
    same(hessian(lambda x: cubes(x).reshape(1), X), [[6.0, 0.0], [0.0, 12.0]])
    (xx, xy), (yx, yy) = hessian(both, (X, Y))
    same(xx, [[6.0, 0.0], [0.0, 8.0]])
    same(xy, [[2.0, 0.0], [0.0, 4.0]])
    same(yx, [[2.0, 0.0], [0.0, 4.0]])
    same(yy, [[0.0, 0.0], [0.0, 0.0]])


def test_products_with_jacobians():
    value, gradient = vjp(square, X, V)
    same(value, [1.0, 4.0])
    same(gradient, [10.0, 24.0])
    (first, second), (gx, gy) = vjp(lambda x, y: (x * x, y), (X, Y), (V, V))
    same(first, [1.0, 4.0])
    same(second, [3.0, 4.0])
    same(gx, [10.0, 24.0])
    same(gy, [5.0, 6.0])
    same(vjp(cubes, X)[1], [3.0, 12.0])
    value, tangent = jvp(square, X, V)
    same(value, [1.0, 4.0])
    same(tangent, [10.0, 24.0])
    same(jvp(lambda x, y: x * y, (X, Y), (V, V))[1], [5 * 3 + 5 * 1, 6 * 4 + 6 * 2])
    same(jvp(square, X[1])[1], 4.0)


@pytest.mark.parametrize("product", [hvp, vhp])
def test_products_with_hessians(product):
    value, out = product(cubes, X, V)
    same(value, 9.0)
    same(out, [30.0, 72.0])
    value, (px, py) = product(both, (X, Y), (V, V))
    same(value, 19.0)
    same(px, [6 * 5 + 2 * 5, 8 * 6 + 4 * 6])
    same(py, [10.0, 24.0])


def test_results_have_a_history_only_where_that_is_wanted():
    x = t([1.0, 2.0], True)
    for found in (jacobian(square, x), *vjp(square, x, V), *jvp(square, x, V), *hvp(cubes, x, V)):
        assert not found.requires_grad
    product = vjp(square, x, V, create_graph=True)[1]  # 2 x v
    same(grad(product.sum(), x)[0], [10.0, 12.0])
    w = t([3.0, 4.0], True)
    kept = jacobian(lambda x: w * x, X, create_graph=True)
    same(grad(kept.sum(), w)[0], [1.0, 1.0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: jacobian(square, [X]), TypeError, "inputs given to jacobian.*list"),
        (lambda: jacobian(square, (X, 1.0)), TypeError, "tuple with float"),
        (lambda: jvp(lambda x: 3.0, X, V), TypeError, "outputs of the user-provided.*float"),
        (lambda: jacobian(square, X, strict=True), TypeError, "strict=True is not available"),
        (lambda: jacobian(square, X, strategy="both"), TypeError, "strategy.*'both'"),
        (lambda: hessian(square, X), RuntimeError, "hessian should contain a single element"),
        (lambda: vjp(square, X), RuntimeError, "can only be None.*returns a single Tensor"),
        (lambda: jvp(square, X), RuntimeError, "can only be None.*input"),
        (lambda: vjp(square, X, t([1.0])), RuntimeError, r"should be \(2,\)"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
