"""The decorator custom_vjp on functions of arrays and tensors."""

import numpy as np
import pytest
from tensors import same, t

import dualad


def product(nondiff_argnums=(), calls=None):
    """x * y**2 with its backward rule."""
    calls = [] if calls is None else calls

    @dualad.custom_vjp
    def f(x, y):
        calls.append("f")
        return x * y**2

    def fwd(x, y):
        calls.append("fwd")
        return x * y**2, (x, y)

    def bwd(residuals, g):
        calls.append("bwd")
        x, y = residuals
        return g * y**2, 2 * g * x * y

    f.defvjp(fwd, bwd)
    return f


X, Y = np.array([1.0, 3.0]), np.array([2.0, 5.0])
total = lambda f: lambda x, y: np.sum(f(x, y))


def test_without_derivatives_it_is_the_function_itself():
    calls = []
    f = product(calls=calls)
    same(f(X, Y), X * Y**2)
    assert f(3.0, 2.0) == 12.0 and calls == ["f", "f"] and f.__name__ == "f"


def test_reverse_mode_calls_the_rule_once():
    calls = []
    gx, gy = dualad.grad(total(product(calls=calls)), argnums=(0, 1))(X, Y)
    same(gx, Y**2)
    same(gy, 2 * X * Y)
    assert calls == ["fwd", "bwd"]


def test_forward_mode_transposes_it():
    f = product()
    y, dy = dualad.jvp(f, (X, Y), (np.ones(2), np.full(2, 10.0)))
    same(y, X * Y**2)
    same(dy, Y**2 + 20 * X * Y)
    assert dualad.jvp(f, (3.0, 2.0), (1.0, 0.0))[1] == 4.0


def test_all_compositions():
    f = total(product())
    h = dualad.hessian(f, argnums=1)(X, Y)
    same(h, np.diag(2 * X))
    same(dualad.jacrev(dualad.jacfwd(f, argnums=1), argnums=1)(X, Y), np.diag(2 * X))
    same(dualad.jacrev(dualad.jacrev(f), argnums=1)(X, Y), np.diag(2 * Y))
    same(dualad.jacfwd(dualad.jacfwd(f), argnums=1)(X, Y), np.diag(2 * Y))


def test_under_vmap_and_around_it():
    f = product()
    same(dualad.vmap(f)(X, Y), X * Y**2)
    same(dualad.vmap(dualad.grad(f))(X, Y), Y**2)
    same(dualad.grad(lambda x: np.sum(dualad.vmap(f)(x, Y)))(X), Y**2)
    same(dualad.vmap(dualad.grad(dualad.grad(f, 1), 1))(X, Y), 2 * X)


def test_tensors_in_tensors_out():
    f = product()
    x, y = t(X, True), t(Y, True)
    z = f(x, y)
    assert isinstance(z, dualad.Tensor)
    z.sum().backward()
    same(x.grad, Y**2)
    same(y.grad, 2 * X * Y)


def test_containers():
    @dualad.custom_vjp
    def f(p, scale):
        return {"y": scale * p["a"] * p["b"][0]}

    def fwd(p, scale):
        return f.f(p, scale), (p, scale)

    def bwd(residuals, ct):
        p, scale = residuals
        g = ct["y"] * scale
        return {"a": g * p["b"][0], "b": [g * p["a"]]}, None

    f.defvjp(fwd, bwd)
    loss = lambda p: np.sum(f(p, 3.0)["y"])
    g = dualad.grad(loss)({"a": X, "b": [Y]})
    same(g["a"], 3 * Y)
    same(g["b"][0], 3 * X)


def test_arguments_that_are_no_arrays():
    def power(x, n):
        return x**n

    f = dualad.custom_vjp(power, nondiff_argnums=(1,))
    f.defvjp(lambda x, n: (x**n, x), lambda n, x, g: (g * n * x ** (n - 1),))
    same(dualad.grad(lambda x: np.sum(f(x, 3)))(X), 3 * X**2)


def test_a_rule_need_not_be_linear_in_reverse_mode():
    """Clipping the cotangent: the gradient of 10 x is clipped to 1; there is no forward mode."""

    @dualad.custom_vjp
    def clip_gradient(x):
        return x

    clip_gradient.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1.0, 1.0),))
    assert dualad.grad(lambda x: 10 * clip_gradient(x))(2.0) == 1.0
    with pytest.raises(RuntimeError, match="not linear"):
        dualad.jvp(clip_gradient, (2.0,), (1.0,))


def test_what_the_rules_return_is_checked():
    f = dualad.custom_vjp(lambda x: x)
    with pytest.raises(NotImplementedError, match="defvjp"):
        f(1.0)
    f.defvjp(lambda x: x * 1, lambda r, g: (g,))
    with pytest.raises(TypeError, match="output, residuals"):
        dualad.grad(f)(1.0)
    f.defvjp(lambda x: (x * 1, None), lambda r, g: g)
    with pytest.raises(TypeError, match="tuple"):
        dualad.grad(f)(1.0)
    f.defvjp(lambda x: (x * 1, None), lambda r, g: (np.ones(3),))
    with pytest.raises(RuntimeError, match="shape"):
        dualad.grad(total(lambda x, y: f(x)))(X, Y)


def test_residuals_are_functions_of_the_arguments_at_second_order_too():
    """x**3 with x**2 as residual: 6x, in the graph of tensors as everywhere."""

    @dualad.custom_vjp
    def cube(x):
        return x**3

    cube.defvjp(lambda x: (x**3, {"square": x * x}), lambda r, g: (3 * r["square"] * g,))
    x = t([2.0, 3.0], True)
    (g,) = dualad.autograd.grad(cube(x).sum(), x, create_graph=True)
    (h,) = dualad.autograd.grad(g.sum(), x, create_graph=True)
    same(g, [12.0, 27.0])
    same(h, [12.0, 18.0])
    assert dualad.grad(dualad.grad(cube))(2.0) == 12.0
    y = x * 1
    (g,) = dualad.autograd.grad(cube(y).sum(), x)
    same(g, [12.0, 27.0])
    z = cube(y).sum()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="inplace"):
        dualad.autograd.grad(z, x, create_graph=True)


def softplus():
    """log(1 + exp(x)), whose fwd calls the function itself."""

    @dualad.custom_vjp
    def f(x):
        return np.log1p(np.exp(x))

    f.defvjp(lambda x: (f(x), x), lambda x, g: (g / (1 + np.exp(-x)),))
    return f


def test_a_fwd_that_calls_the_function_under_vmap():
    f, x = softplus(), np.array([-1.0, 0.5])
    s = 1 / (1 + np.exp(-x))
    same(dualad.vmap(f)(x), np.log1p(np.exp(x)))
    same(dualad.vmap(dualad.grad(f))(x), s)
    same(dualad.vmap(dualad.hessian(f))(x), s * (1 - s))
    same(dualad.grad(lambda x: np.sum(dualad.vmap(f)(x)))(x), s)


def test_a_bwd_that_calls_the_function():
    @dualad.custom_vjp
    def twice(x):
        return 2 * x

    twice.defvjp(lambda x: (twice(x), None), lambda _, g: (twice(g),))
    same(dualad.jacfwd(twice)(np.ones(2)), 2 * np.eye(2))
    same(dualad.jvp(twice, (1.0,), (3.0,))[1], 6.0)


def test_keywords_and_defaults_have_their_positions():
    @dualad.custom_vjp
    def f(x, y=2.0):
        return x * y**2

    f.defvjp(lambda x, y: (x * y**2, (x, y)), lambda r, g: (g * r[1] ** 2, 2 * g * r[0] * r[1]))
    same(dualad.grad(f)(3.0), 4.0)
    same(dualad.grad(f)(3.0, y=5.0), 25.0)
    same(dualad.grad(lambda y: f(y=y, x=3.0))(5.0), 30.0)


def test_messages_name_the_function():
    @dualad.custom_vjp
    def bump(x):
        return x * 1

    bump.defvjp(lambda x: (x, None), lambda _, g: (1.0,))
    with pytest.raises(dualad.errors.LinearityError, match=r"bump\.backward"):
        dualad.jvp(bump, (2.0,), (1.0,))


def test_a_primal_without_axes_is_a_number():
    primal, tangent = dualad.jvp(softplus(), (0.0,), (1.0,))
    assert type(primal) is type(tangent) is np.float64
