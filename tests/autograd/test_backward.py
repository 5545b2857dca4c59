"""backward of a custom function: what it gets, what it may return, what is an error."""

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function


def custom(forward, backward):
    """A function in combined style from two functions of (ctx, ...)."""
    return type(
        "Custom",
        (Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward)},
    ).apply


def double(backward):
    return custom(lambda ctx, x: 2 * x, backward)


def test_it_gets_one_cotangent_for_each_output():
    seen = []

    def backward(ctx, g, h):
        seen.append((g.tolist(), h.tolist()))
        return 2 * g + 3 * h

    x = t([1.0, 2.0], True)
    a, b = custom(lambda ctx, x: (2 * x, 3 * x), backward)(x)
    (a.sum() + (b * t([10.0, 20.0])).sum()).backward()
    assert seen == [([1.0, 1.0], [10.0, 20.0])]
    same(x.grad, [32.0, 62.0])


def test_an_unused_output_has_a_zero_cotangent():
    seen = []
    f = custom(lambda ctx, x: (2 * x, 3 * x), lambda ctx, g, h: (seen.append(h), 2 * g)[1])
    f(t([1.0, 2.0], True))[0].sum().backward()
    same(seen[0], [0.0, 0.0])


def test_zeros_can_be_left_out():
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return 2 * x, 3 * x

    f = custom(forward, lambda ctx, g, h: (seen.append(h), 2 * g)[1])
    f(t([1.0, 2.0], True))[0].sum().backward()
    assert seen == [None]


def test_none_is_no_gradient():
    x, y = t(2.0, True), t(3.0, True)
    f = custom(lambda ctx, x, y: x * y, lambda ctx, g: (None, 7 * g))
    f(x, y).backward()
    assert x.grad is None
    same(y.grad, 7.0)
    with pytest.raises(RuntimeError, match="at index 0 appears to not have been used"):
        dualad.autograd.grad(f(x, y), (x, y))
    gx, gy = dualad.autograd.grad(f(x, y), (x, y), allow_unused=True)
    assert gx is None
    same(gy, 7.0)


def test_a_gradient_for_a_constant_input_is_ignored():
    x, y = t(2.0, True), t(3.0)
    custom(lambda ctx, x, y: x * y, lambda ctx, g: (5 * g, 7 * g))(x, y).backward()
    same(x.grad, 5.0)
    assert y.grad is None


def test_trailing_nones_are_allowed():
    x = t(2.0, True)
    double(lambda ctx, g: (2 * g, None, None))(x).backward()
    same(x.grad, 2.0)


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda ctx, g: (g, g), "incorrect number of gradients"),
        (lambda ctx, g: (), "incorrect number of gradients"),
        (lambda ctx, g: 2.0, "must be a tensor or None"),
        (lambda ctx, g: [g], "must be a tensor or None"),
        (lambda ctx, g: np.ones(2), "must be a tensor or None"),
        (lambda ctx, g: t([1.0, 2.0, 3.0]), "invalid gradient at index 0"),
        (lambda ctx, g: g.sum(), "invalid gradient at index 0"),
    ],
)
def test_what_it_returns_is_checked(backward, message):
    with pytest.raises(RuntimeError, match=message):
        double(backward)(t([1.0, 2.0], True)).sum().backward()


def test_a_gradient_for_a_non_tensor_argument_is_an_error():
    f = custom(lambda ctx, x, k: k * x, lambda ctx, g: (g, g))
    with pytest.raises(RuntimeError, match="position 1"):
        f(t(1.0, True), 2).backward()


def test_a_broadcast_gradient_is_summed():
    x = t([1.0, 2.0], True)
    double(lambda ctx, g: g.expand(3, 2))(x).sum().backward()
    same(x.grad, [3.0, 3.0])


def test_the_dtype_of_the_input_is_kept():
    x = t([1.0, 2.0], True)
    double(lambda ctx, g: 2 * g.float())(x).sum().backward()
    assert x.grad.dtype == dualad.float64
    same(x.grad, [2.0, 2.0])


def test_a_real_input_gets_the_real_part():
    x = t([1.0, 2.0], True)
    double(lambda ctx, g: g * (2 + 5j))(x).sum().backward()
    same(x.grad, [2.0, 2.0])


def test_needs_input_grad():
    seen = []

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g, None, g

    f = custom(lambda ctx, x, k, y: x * y, backward)
    f(t(1.0, True), 3, t(2.0)).backward()
    f(t(1.0), 3, t(2.0, True)).backward()
    assert seen == [(True, False, False), (False, False, True)]


def test_recording_follows_create_graph():
    seen = []
    f = double(lambda ctx, g: (seen.append(dualad.is_grad_enabled()), 2 * g)[1])
    x = t(1.0, True)
    dualad.autograd.grad(f(x), x)
    (g,) = dualad.autograd.grad(f(x), x, t(1.0, True), create_graph=True)
    assert seen == [False, True] and g.requires_grad


def test_only_what_leads_to_a_wanted_input_runs():
    calls = []

    def counted(name):
        return double(lambda ctx, g: (calls.append(name), 2 * g)[1])

    x, y = t(1.0, True), t(2.0, True)
    z = counted("x")(x) * counted("y")(y)
    dualad.autograd.grad(z, y)
    assert calls == ["y"]


def test_it_runs_once_however_often_the_output_is_used():
    calls = []
    x = t(1.0, True)
    y = double(lambda ctx, g: (calls.append(1), 2 * g)[1])(x)
    (y * y + y + y).backward()
    assert calls == [1]
    same(x.grad, 2 * (2 * 2.0 + 2))


def test_nothing_is_kept_of_a_second_backward_but_what_is_saved():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    x = t(3.0, True)
    y = custom(forward, backward)(x)
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    same(x.grad, 12.0)
    z = double(lambda ctx, g: 2 * g)(x)
    z.backward()
    z.backward()
    same(x.grad, 16.0)


def test_an_exception_reaches_the_caller_and_restores_the_mode():
    def backward(ctx, g):
        raise KeyError("user")

    with pytest.raises(KeyError):
        double(backward)(t(1.0, True)).backward()
    assert dualad.is_grad_enabled()


def test_a_returned_saved_tensor_is_not_handed_out():
    """The gradient of x * w is w: writing to it must not change w."""

    def forward(ctx, x, w):
        ctx.save_for_backward(w)
        return (x * w).sum()

    x, w = t([1.0, 2.0], True), t([3.0, 4.0])
    (g,) = dualad.autograd.grad(
        custom(forward, lambda ctx, g: (ctx.saved_tensors[0], None))(x, w), x
    )
    g.mul_(0)
    same(w, [3.0, 4.0])


def test_writing_to_a_cotangent_changes_it_for_nobody_else():
    """add hands one cotangent to both of its terms."""

    def backward(ctx, g):
        g.mul_(100)
        return g

    x, y = t([1.0, 2.0], True), t([1.0, 2.0], True)
    (double(backward)(x) + double(lambda ctx, g: 2 * g)(y)).sum().backward()
    same(x.grad, [100.0, 100.0])
    same(y.grad, [2.0, 2.0])


def test_gradients_do_not_share_memory():
    x, y = t([1.0, 2.0], True), t([3.0, 4.0], True)
    ct = t([1.0, 1.0])
    gx, gy = dualad.autograd.grad(x + y, (x, y), ct)
    gx.mul_(5)
    same(gy, [1.0, 1.0])
    same(ct, [1.0, 1.0])


# --- marks on outputs --------------------------------------------------------------------------


def test_a_marked_output_takes_no_part():
    seen = []

    def forward(ctx, x):
        whole = x.floor()
        ctx.mark_non_differentiable(whole)
        return x - whole, whole

    x = t([1.25, 3.5], True)
    frac, whole = custom(forward, lambda ctx, g, h: (seen.append(h), g)[1])(x)
    assert frac.requires_grad and not whole.requires_grad and whole.grad_fn is None
    (frac * whole).sum().backward()
    same(x.grad, [1.0, 3.0])
    same(seen[0], [0.0, 0.0])


@pytest.mark.parametrize("make", [lambda x: x.argsort(), lambda x: x > 1, lambda x: x.long()])
def test_integers_and_booleans_need_no_mark(make):
    f = custom(lambda ctx, x: (2 * x, make(x)), lambda ctx, g, h: 2 * g)
    x = t([1.0, 2.0], True)
    a, b = f(x)
    assert not b.requires_grad
    a.sum().backward()
    same(x.grad, [2.0, 2.0])


def gradient_dtypes(declare, build=lambda x: 2 * x, push=dualad.float64):
    """The dtypes in which backward gets the gradients, and the gradient of the input."""
    seen = []

    def forward(ctx, x):
        out = build(x)
        declare(ctx, out)
        return out

    def backward(ctx, *gs):
        seen.append([None if g is None else g.dtype for g in gs])
        return 2 * gs[0]

    x = t([1.0, 2.0], True)
    out = custom(forward, backward)(x)
    first = out[0] if isinstance(out, tuple) else out
    first.backward(dualad.ones(2, dtype=push))
    return seen[0], x.grad


def test_the_gradient_comes_in_the_dtype_of_the_output():
    seen, g = gradient_dtypes(lambda ctx, out: None, push=dualad.float32)
    assert seen == [dualad.float64] and g.dtype == dualad.float64


def test_a_declared_dtype_is_delivered():
    seen, g = gradient_dtypes(lambda ctx, out: ctx.set_output_grad_dtype(dualad.float32))
    assert seen == [dualad.float32] and g.dtype == dualad.float64
    same(g, [2.0, 2.0])


@pytest.mark.parametrize("dtype", [dualad.float16, dualad.float32, dualad.float64])
def test_none_hands_it_on_as_it_is(dtype):
    seen, _ = gradient_dtypes(lambda ctx, out: ctx.set_output_grad_dtype(None), push=dtype)
    assert seen == [dtype]


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda ctx: ctx.set_output_grad_dtype(None), "number of dtypes"),
        (lambda ctx: ctx.set_output_grad_dtype(None, None, None), "number of dtypes"),
        (lambda ctx: ctx.set_output_grad_dtype(None, dualad.float64), "not a differentiable"),
        (lambda ctx: ctx.set_output_grad_dtype("float32", None), "takes a dtype"),
        (lambda ctx: ctx.set_output_grad_dtype(dualad.int64, None), "floating point"),
        (lambda ctx: [ctx.set_output_grad_dtype(None, None) for _ in "12"], "only once"),
    ],
)
def test_wrong_declarations(declare, message):
    with pytest.raises(RuntimeError, match=message):
        gradient_dtypes(lambda ctx, out: declare(ctx), lambda x: (2 * x, "text"))


# --- backward and grad themselves --------------------------------------------------------------


def test_backward_adds_to_grad_in_place():
    x = t([1.0, 2.0], True)
    (x * 3).sum().backward()
    first = x.grad
    (x * 4).sum().backward()
    assert x.grad is first
    same(first, [7.0, 7.0])


def test_backward_into_chosen_inputs():
    x, y = t(2.0, True), t(3.0, True)
    (x * y).backward(inputs=[x])
    assert y.grad is None
    z = x * 1
    (z * z).backward(inputs=z)
    same(z.grad, 4.0)
    with pytest.raises(RuntimeError, match="empty"):
        (x * y).backward(inputs=[])


@pytest.mark.parametrize("output", [lambda x: x * 2, lambda x: (x * 2).sum() * (1 + 1j)])
def test_an_output_that_is_no_real_number_needs_a_cotangent(output):
    with pytest.raises(RuntimeError, match="implicitly created"):
        output(t([1.0, 2.0], True)).backward()


def test_wrong_cotangents():
    x = t([1.0, 2.0], True)
    with pytest.raises(RuntimeError, match="shape"):
        (x * 2).backward(t([1.0]))
    with pytest.raises(TypeError, match="gradients"):
        (x * 2).backward(5.0)
    with pytest.raises(TypeError, match="2 tensors and 1"):
        dualad.autograd.backward([x * 2, x * 3], [t([1.0, 1.0])])


def test_what_has_no_history():
    with pytest.raises(RuntimeError, match="does not require grad"):
        t(1.0).backward()
    with pytest.raises(RuntimeError, match="does not require grad: input 0"):
        dualad.autograd.grad(t(1.0, True) * 2, t(1.0))
    with pytest.raises(RuntimeError, match="empty"):
        dualad.autograd.grad(t(1.0, True) * 2, [])


def test_unused_inputs():
    x, y = t(2.0, True), t([3.0, 4.0], True)
    with pytest.raises(RuntimeError, match="index 1"):
        dualad.autograd.grad(x * 2, (x, y))
    assert dualad.autograd.grad(x * 2, (x, y), allow_unused=True)[1] is None
    same(dualad.autograd.grad(x * 2, (x, y), materialize_grads=True)[1], [0.0, 0.0])
    with pytest.raises(ValueError, match="allow_unused"):
        dualad.autograd.grad(x * 2, x, materialize_grads=True, allow_unused=False)


def test_the_gradient_of_a_tensor_with_respect_to_itself():
    x = t(2.0, True)
    y = x * x
    same(dualad.autograd.grad(y, y)[0], 1.0)
    same(dualad.autograd.grad(y * 3, [y, x])[0], 3.0)


def test_many_cotangents_at_once():
    """The rows of the Jacobian diag(3x^2) in one sweep."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    f = custom(forward, lambda ctx, g: 3 * ctx.saved_tensors[0] ** 2 * g)
    x = t([1.0, 2.0], True)
    (rows,) = dualad.autograd.grad(f(x), x, t(np.eye(2)), is_grads_batched=True)
    same(rows, [[3.0, 0.0], [0.0, 12.0]])


def test_a_long_chain_needs_no_recursion():
    x = t(1.0, True)
    y = x
    for _ in range(20_000):
        y = y * 1.00001
    y.backward()
    same(x.grad, 1.00001**20_000, tol=1e-9)


def test_many_reads_of_one_tensor_cost_no_more_than_their_number():
    """n entries of an array: each adds to one array in place."""
    n = 3000
    x = t(np.ones(n), True)
    total = sum((x[k] * k for k in range(n)), t(0.0))
    total.backward()
    same(x.grad, np.arange(n, dtype=float))


def test_zero_wins_over_an_infinite_slope():
    """sqrt has an infinite slope at 0, behind a weight of 0."""
    x = t([0.0, 4.0], True)
    (x.sqrt() * t([0.0, 1.0])).sum().backward()
    same(x.grad, [0.0, 0.25])


@pytest.mark.parametrize(
    ("declared", "arrives"),
    [((None,), "float32"), ((dualad.float16,), "float16"), ((), "float64")],
)
def test_the_dtype_of_a_gradient_from_another_custom_function(declared, arrives):
    """As it comes, if that was asked for; else as declared, or as the output is."""
    seen = []

    class Lower(Function):
        @staticmethod
        def forward(ctx, x):
            if declared:
                ctx.set_output_grad_dtype(*declared)
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            seen.append(g.dtype.name)
            return 2 * g

    class Upper(Function):
        @staticmethod
        def forward(ctx, x):
            return 3 * x

        @staticmethod
        def backward(ctx, g):
            return 3 * g.float()

    x = t([1.0, 2.0], True)
    Upper.apply(Lower.apply(x)).sum().backward()
    assert seen == [arrives] and x.grad.dtype == dualad.float64
    same(x.grad, [6.0, 6.0])
