"""dualad.func: torch.func's signatures, argument by argument."""

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad import func

X, Y = t([1.0, 2.0]), t([3.0, 4.0])
f = lambda x, y: (x * x * y).sum()


def test_grad_and_its_options():
    same(func.grad(f)(X, Y), [6.0, 16.0])
    same(func.grad(f, argnums=1)(X, Y), [1.0, 4.0])
    same(func.grad(f, argnums=-1)(X, Y), [1.0, 4.0])
    gx, gy = func.grad(f, argnums=(0, 1))(X, Y)
    same(gx, [6.0, 16.0])
    same(gy, [1.0, 4.0])
    g, aux = func.grad(lambda x: (f(x, Y), {"x": x}), has_aux=True)(X)
    same(g, [6.0, 16.0])
    same(aux["x"], [1.0, 2.0])
    assert not aux["x"].requires_grad
    same(func.grad(lambda x, k=1.0: (x * k).sum())(X, k=3.0), [3.0, 3.0])


def test_grad_and_value_give_the_gradient_first():
    g, value = func.grad_and_value(f)(X, Y)
    same(g, [6.0, 16.0])
    same(value, 19.0)
    g, (value, aux) = func.grad_and_value(lambda x: (f(x, Y), "aux"), has_aux=True)(X)
    same(g, [6.0, 16.0])
    same(value, 19.0)
    assert aux == "aux"


def test_containers():
    g = func.grad(lambda p: p["a"] * p["b"][0])({"a": t(2.0), "b": [t(3.0)]})
    same(g["a"], 3.0)
    same(g["b"][0], 2.0)


def test_vjp():
    _, pull = func.vjp(lambda x, y: (x * y, [x]), X, Y)
    gx, gy = pull((t([1.0, 10.0]), [t([5.0, 5.0])]))
    same(gx, [8.0, 45.0])
    same(gy, [1.0, 20.0])
    out, pull, aux = func.vjp(lambda x: (2 * x, x + 1), X, has_aux=True)
    same(out, [2.0, 4.0])
    same(pull(t([1.0, 1.0]))[0], [2.0, 2.0])
    same(pull(t([0.0, 3.0]))[0], [0.0, 6.0])
    same(aux, [2.0, 3.0])
    with pytest.raises((RuntimeError, ValueError)):
        pull(t([1.0]))


def test_writing_to_a_result_does_not_change_a_pullback():
    for f in (lambda x: x.exp(), lambda x: x):
        x = t([1.0, 2.0])
        out, pull = func.vjp(f, x)
        want = pull(t([1.0, 1.0]))[0].numpy().copy()
        out.zero_()
        x.zero_()
        same(pull(t([1.0, 1.0]))[0], want)
    x = np.array([1.0, 2.0])
    out, pull, aux = dualad.vjp(lambda x: (np.exp(x), np.exp(x)), x, has_aux=True)
    out[:] = 0
    aux[:] = 0
    same(pull(np.ones(2))[0], np.exp(x))


def test_jvp():
    out, moved = func.jvp(f, (X, Y), (t([1.0, 0.0]), t([0.0, 1.0])))
    same(out, 19.0)
    same(moved, 10.0)
    out, moved, aux = func.jvp(lambda x: (2 * x, x + 1), (X,), (Y,), has_aux=True)
    same(moved, [6.0, 8.0])
    same(aux, [2.0, 3.0])
    same(func.jvp(lambda x: t(5.0), (X,), (Y,))[1], 0.0)
    with pytest.raises(RuntimeError, match="strict"):
        func.jvp(lambda x: t(5.0), (X,), (Y,), strict=True)


def test_jacobians_and_hessians():
    g = lambda x, y: x * y.sum()
    for jacobian in (func.jacrev, func.jacfwd):
        same(jacobian(g)(X, Y), 7 * np.eye(2))
        same(jacobian(g, argnums=1)(X, Y), [[1.0, 1.0], [2.0, 2.0]])
        j, aux = jacobian(lambda x: (2 * x, x.sum()), has_aux=True)(X)
        same(j, 2 * np.eye(2))
        same(aux, 3.0)
    same(func.hessian(f)(X, Y), np.diag([6.0, 8.0]))
    blocks = func.hessian(f, argnums=(0, 1))(X, Y)
    same(blocks[0][1], np.diag([2.0, 4.0]))
    same(blocks[1][1], np.zeros((2, 2)))


def test_linearize():
    out, push = func.linearize(lambda x, y: x * y, t(2.0), t(3.0))
    same(out, 6.0)
    same(push(t(1.0), t(0.0)), 3.0)
    same(push(t(0.0), t(1.0)), 2.0)


def test_vmap():
    rows = t(np.arange(6.0).reshape(2, 3))
    same(func.vmap(lambda x: x.sum())(rows), [3.0, 12.0])
    same(func.vmap(lambda x, y: x * y, in_dims=(0, None))(rows, t(2.0)), 2 * rows.numpy())
    same(func.vmap(lambda x: x * 2, in_dims=1, out_dims=1)(rows), 2 * rows.numpy())
    same(func.vmap(lambda x: x * 2, chunk_size=1)(rows), 2 * rows.numpy())
    pair = func.vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(rows)
    same(pair[0], rows.numpy().T)
    same(func.vmap(lambda x: t(1.0))(rows), [1.0, 1.0])
    for wrong in (lambda: func.vmap(lambda x: x)(t(1.0)), lambda: func.vmap(f)(X, t([1.0]))):
        with pytest.raises(ValueError):
            wrong()


def test_results_are_tensors_of_the_graph_below():
    w = t(2.0, True)
    g = func.grad(lambda x: (w * x**3).sum())(X)
    assert g.requires_grad
    g.sum().backward()
    same(w.grad, 3 * (1 + 4.0))
    out, moved = func.jvp(lambda x: w * x, (X,), (Y,))
    assert out.requires_grad and moved.requires_grad
    assert func.vmap(lambda x: w * x)(X).requires_grad


def test_what_cannot_be_differentiated():
    with pytest.raises(RuntimeError):
        func.grad(lambda x: 2 * x)(X)
    with pytest.raises(RuntimeError):
        func.grad(lambda x: (x, x))(t(1.0))
    with pytest.raises(RuntimeError):
        func.grad(lambda x: x)(dualad.tensor(1))
    with pytest.raises(RuntimeError, match="argnums"):
        func.grad(f, argnums=2)(X, Y)


def test_backward_belongs_to_the_graph_alone():
    """Inside of a transformation its values are differentiated by transformations."""

    def g(x):
        leaf = t(2.0, True)
        (leaf * 3).backward()
        return x * leaf.grad

    same(func.grad(g)(t(1.0)), 3.0)
    with pytest.raises(RuntimeError, match=r"dualad\.grad"):
        func.grad(lambda x: dualad.autograd.grad(x * x, x)[0])(t(1.0))


def test_a_value_that_leaks_is_refused():
    kept = []
    func.grad(lambda x: (kept.append(x * 2), x)[1])(t(1.0))
    with pytest.raises(RuntimeError, match="finished grad"):
        kept[0] + 1
