"""One rule suffices: backward from jvp, jvp from backward, in every composition."""

import numpy as np
import pytest
from tensors import primal, same, t, tangent

import dualad
from dualad import func
from dualad.autograd import Function, forward_ad

STYLES = ["combined", "split"]
RULES = ["jvp", "backward", "both"]


def product(style, rules, calls=None):
    """x * y**2 with its derivatives (y**2, 2xy), by the rules that are asked for."""

    def save(ctx, x, y):
        ctx.save_for_forward(x, y)
        ctx.save_for_backward(x, y)

    def jvp(ctx, dx, dy):
        if calls is not None:
            calls.append("jvp")
        x, y = ctx.saved_tensors
        return y * y * dx + 2 * x * y * dy

    def backward(ctx, g):
        if calls is not None:
            calls.append("backward")
        x, y = ctx.saved_tensors
        gx = g * y * y if ctx.needs_input_grad[0] else None
        gy = 2 * g * x * y if ctx.needs_input_grad[1] else None
        return gx, gy

    body = {"generate_vmap_rule": True}
    if style == "split":
        body["forward"] = staticmethod(lambda x, y: x * y * y)
        body["setup_context"] = staticmethod(lambda ctx, inputs, output: save(ctx, *inputs))
    else:

        def forward(ctx, x, y):
            save(ctx, x, y)
            return x * y * y

        body["forward"] = staticmethod(forward)
    if rules in ("jvp", "both"):
        body["jvp"] = staticmethod(jvp)
    if rules in ("backward", "both"):
        body["backward"] = staticmethod(backward)
    return type("Product", (Function,), body).apply


@pytest.fixture(params=[(s, r) for s in STYLES for r in RULES], ids=lambda p: "-".join(p))
def f(request):
    return product(*request.param)


X, Y = 3.0, 5.0


def test_first_derivatives_by_backward(f):
    x, y = t(X, True), t(Y, True)
    f(x, y).backward()
    same(x.grad, Y**2)
    same(y.grad, 2 * X * Y)


def test_one_input_alone(f):
    """needs_input_grad says which, also where the rule is transposed."""
    x = t(X, True)
    f(x, t(Y)).backward()
    same(x.grad, Y**2)
    with forward_ad.dual_level():
        same(tangent(f(t(X), forward_ad.make_dual(t(Y), t(1.0)))), 2 * X * Y)


def test_tangents(f):
    with forward_ad.dual_level():
        z = f(forward_ad.make_dual(t(X), t(2.0)), forward_ad.make_dual(t(Y), t(7.0)))
        same(primal(z), X * Y**2)
        same(tangent(z), 2 * Y**2 + 7 * 2 * X * Y)


def test_second_derivatives_by_create_graph(f):
    """H = [[0, 2y], [2y, 2x]]."""
    x, y = t(X, True), t(Y, True)
    gx, gy = dualad.autograd.grad(f(x, y), (x, y), create_graph=True)
    xx, xy = dualad.autograd.grad(gx, (x, y), retain_graph=True, materialize_grads=True)
    yx, yy = dualad.autograd.grad(gy, (x, y))
    for value, want in ((xx, 0.0), (xy, 2 * Y), (yx, 2 * Y), (yy, 2 * X)):
        same(value, want)


@pytest.mark.parametrize("inner", [func.jacfwd, func.jacrev])
@pytest.mark.parametrize("outer", [func.jacfwd, func.jacrev])
def test_hessians_in_all_four_compositions(f, inner, outer):
    h = outer(inner(f, argnums=(0, 1)), argnums=(0, 1))(t(X), t(Y))
    for row, want in zip(h, ((0.0, 2 * Y), (2 * Y, 2 * X)), strict=True):
        for value, w in zip(row, want, strict=True):
            same(value, w)


def test_third_derivative_by_three_nested_modes(f):
    """d^3 (x y^2) / dx dy^2 = 2."""
    dy = lambda g: lambda x, y: func.jvp(lambda v: g(x, v), (y,), (t(1.0),))[1]
    dx = lambda g: lambda x, y: func.grad(g)(x, y)
    same(dx(dy(dy(f)))(t(X), t(Y)), 2.0)
    same(dy(dx(dy(f)))(t(X), t(Y)), 2.0)
    same(dy(dy(dx(f)))(t(X), t(Y)), 2.0)
    vdy = lambda g: lambda x, y: func.grad(g, argnums=1)(x, y)
    same(vdy(vdy(dx(f)))(t(X), t(Y)), 2.0)


def test_under_vmap_and_around_it(f):
    xs, ys = t([1.0, 2.0, 3.0]), t([4.0, 5.0, 6.0])
    same(dualad.vmap(f)(xs, ys), [16.0, 50.0, 108.0])
    gx, gy = dualad.vmap(func.grad(f, argnums=(0, 1)))(xs, ys)
    same(gx, [16.0, 25.0, 36.0])
    same(gy, [8.0, 20.0, 36.0])
    total = lambda x, y: dualad.vmap(f)(x, y).sum()
    same(func.grad(total)(xs, ys), [16.0, 25.0, 36.0])
    same(func.jvp(total, (xs, ys), (t([1.0, 0.0, 0.0]), t([0.0, 1.0, 0.0])))[1], 16.0 + 20.0)
    second = dualad.vmap(func.grad(func.grad(f, argnums=1), argnums=1))(xs, ys)
    same(second, [2.0, 4.0, 6.0])
    mapped = dualad.vmap(lambda a, b: func.jvp(f, (a, b), (t(1.0), t(1.0)))[1])(xs, ys)
    same(mapped, [16.0 + 8.0, 25.0 + 20.0, 36.0 + 36.0])


def test_the_gradient_of_a_dual_is_dual(f):
    x, y = t(X, True), t(Y, True)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(y, t(1.0))
        (g,) = dualad.autograd.grad(f(x, d), x)
        same(primal(g), Y**2)
        same(tangent(g), 2 * Y)


def test_reverse_over_forward(f):
    """The tangent along y is 2xy; its gradient is (2y, 2x)."""
    x, y = t(X, True), t(Y, True)
    with forward_ad.dual_level():
        dz = tangent(f(x, forward_ad.make_dual(y, t(1.0))))
        gx, gy = dualad.autograd.grad(dz, (x, y))
    same(gx, 2 * Y)
    same(gy, 2 * X)


def test_nested_dual_levels(f):
    with forward_ad.dual_level():
        y = forward_ad.make_dual(t(Y), t(1.0))
        with forward_ad.dual_level():
            inner = forward_ad.make_dual(y, t(1.0))
            dz = tangent(f(t(X), inner))
        same(primal(dz), 2 * X * Y)
        same(tangent(dz), 2 * X)


def test_the_own_rule_is_preferred():
    calls = []
    f = product("split", "both", calls)
    func.grad(f)(t(X), t(Y))
    func.jvp(lambda x: f(x, t(Y)), (t(X),), (t(1.0),))
    assert calls == ["backward", "jvp"]


def test_on_arrays():
    f = product("combined", "jvp")
    g = dualad.grad(lambda x: np.sum(f(x, np.array([1.0, 2.0]))))(np.array([3.0, 4.0]))
    same(g, [1.0, 4.0])


# --- rules that are not linear, and missing ones ---------------------------------------------


def with_jvp(rule):
    class Odd(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def jvp(ctx, dx):
            return rule(ctx.saved_tensors[0], dx)

    return Odd.apply


def with_backward(rule):
    class Odd(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return rule(ctx.saved_tensors[0], g)

    return Odd.apply


@pytest.mark.parametrize(
    ("rule", "operation"),
    [
        (lambda x, v: x * v.sin(), "sin"),
        (lambda x, v: v * v, "multiply"),
        (lambda x, v: x * v + 1, "add"),
        (lambda x, v: v if v > 0 else 2 * v, "greater"),
        (lambda x, v: v if v else 2 * v, "bool"),
        (lambda x, v: x * float(v), "item"),
        (lambda x, v: x / v, "divide"),
        (lambda x, v: v.abs(), "abs"),
    ],
)
def test_a_rule_that_is_not_linear_names_the_operation(rule, operation):
    x = t(2.0, True)
    with pytest.raises(RuntimeError, match=rf"(?s)not linear.*{operation}"):
        with_jvp(rule)(x).backward()
    with forward_ad.dual_level():
        with pytest.raises(RuntimeError, match=rf"(?s)not linear.*{operation}"):
            with_backward(rule)(forward_ad.make_dual(t(2.0), t(1.0)))


def test_buffers_inside_a_rule_are_recorded():
    """A tangent written entry by entry into zeros: still linear."""

    class Reverse(Function):
        @staticmethod
        def forward(ctx, x):
            return x.flip(0)

        @staticmethod
        def jvp(ctx, dx):
            out = dualad.zeros_like(dx)
            for k in range(len(dx)):
                out[k] = dx[len(dx) - 1 - k]
            return out

    x = t([1.0, 2.0, 3.0], True)
    (Reverse.apply(x) * t([1.0, 10.0, 100.0])).sum().backward()
    same(x.grad, [100.0, 10.0, 1.0])


def test_no_rule_at_all():
    class Bare(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with forward_ad.dual_level():
        with pytest.raises(NotImplementedError, match="neither jvp nor backward"):
            Bare.apply(forward_ad.make_dual(t(1.0), t(1.0)))
    with pytest.raises(NotImplementedError, match="backward"):
        Bare.apply(t(1.0, True)).backward()


def test_both_names_of_backward_are_refused():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g

        @staticmethod
        def vjp(ctx, g):
            return 2 * g

    with pytest.raises(RuntimeError, match="vjp"):
        Twice.apply(t(1.0, True))


def test_vjp_alone_serves_every_transformation():
    class Cube(Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def vjp(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

    same(func.grad(Cube.apply)(t(2.0)), 12.0)
    same(func.grad(func.grad(Cube.apply))(t(2.0)), 12.0)
    same(func.jvp(Cube.apply, (t(2.0),), (t(1.0),))[1], 12.0)


# --- the engine's part of the map ------------------------------------------------------------


def test_broadcasting_in_a_jvp_is_summed_in_its_transpose():
    class Add(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def jvp(ctx, dx, dy):
            return dx + dy

    x, y = t([[1.0, 2.0], [3.0, 4.0]], True), t([10.0, 20.0], True)
    Add.apply(x, y).sum().backward()
    same(x.grad, np.ones((2, 2)))
    same(y.grad, [2.0, 2.0])


def test_a_broadcast_backward_is_transposed_too():
    """backward gives a gradient that is summed to the argument; forward mode spreads it."""

    class Spread(Function):
        @staticmethod
        def forward(ctx, x):
            return x.expand(3, 2)

        @staticmethod
        def backward(ctx, g):
            return g

    x = t([1.0, 2.0], True)
    Spread.apply(x).sum().backward()
    same(x.grad, [3.0, 3.0])
    with forward_ad.dual_level():
        y = Spread.apply(forward_ad.make_dual(t([1.0, 2.0]), t([5.0, 6.0])))
        same(tangent(y), [[5.0, 6.0]] * 3)


def test_a_real_input_of_a_complex_function_has_a_real_gradient():
    """f(x) = x * (1 + 2j) by jvp alone: Re<g, (1 + 2j) dx> has the gradient Re(conj(1 + 2j) g)."""

    class Rotate(Function):
        @staticmethod
        def forward(ctx, x):
            return x * (1 + 2j)

        @staticmethod
        def jvp(ctx, dx):
            return dx * (1 + 2j)

    x = t([1.0, 2.0], True)
    Rotate.apply(x).backward(dualad.tensor(np.array([1j, 1.0])))
    same(x.grad, [2.0, 1.0])


def test_float32_stays_float32():
    class Log2(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return (x.log() / np.log(2.0)).float()

        @staticmethod
        def jvp(ctx, dx):
            (x,) = ctx.saved_tensors
            return dx / (x * t(np.log(2.0)))

    x = t([2.0], True, dtype=dualad.float32)
    Log2.apply(x).sum().backward()
    assert x.grad.dtype == dualad.float32
    same(x.grad, [1 / (2 * np.log(2.0))], tol=1e-6)
