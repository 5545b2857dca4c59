"""What forward makes and keeps: usable at first order, never a silent zero at second."""

import dataclasses
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function, gradgradcheck

grad = dualad.autograd.grad


def second_order(f, *xs, wrt=0):
    """d2 (sum f) / d xs[wrt]**2 along ones, by create_graph."""
    (g,) = grad(f(*xs).sum(), xs[wrt], create_graph=True)
    return grad(g.sum(), xs[wrt])[0]


@dataclasses.dataclass
class Record:
    part: object


KEEP = {
    "attribute": (lambda ctx, s: setattr(ctx, "s", s), lambda ctx: ctx.s),
    "list": (lambda ctx, s: setattr(ctx, "s", [1, s]), lambda ctx: ctx.s[1]),
    "tuple": (lambda ctx, s: setattr(ctx, "s", (s,)), lambda ctx: ctx.s[0]),
    "dict": (lambda ctx, s: setattr(ctx, "s", {"a": {"b": s}}), lambda ctx: ctx.s["a"]["b"]),
    "namespace": (lambda ctx, s: setattr(ctx, "s", SimpleNamespace(a=s)), lambda ctx: ctx.s.a),
    "dataclass": (lambda ctx, s: setattr(ctx, "s", Record(s)), lambda ctx: ctx.s.part),
    "closure": (lambda ctx, s: setattr(ctx, "rule", lambda: s), lambda ctx: ctx.rule()),
    "partial": (lambda ctx, s: setattr(ctx, "rule", partial(abs, s)), lambda ctx: ctx.rule()),
    "saved": (
        lambda ctx, s: (ctx.save_for_backward(s), ctx.save_for_forward(s)),
        lambda ctx: ctx.saved_tensors[0],
    ),
}
#: x**3 by 3 * s * g with s = x**2 made in different ways
MAKE = {
    "product": lambda x: x * x,
    "by numpy": lambda x: dualad.tensor(x.numpy() ** 2),
    "from item": lambda x: dualad.tensor(x.tolist(), dtype=dualad.float64) * x,
    "no_grad": lambda x: dualad.no_grad()(lambda: x * x)(),
    "buffer": lambda x: dualad.zeros_like(x).add_(x * x),
    "view of one": lambda x: (x * x)[:],
}


def cube(make, keep, read, rule="backward", split=False):
    def forward(ctx, x):
        keep(ctx, make(x))
        return x**3

    def backward(ctx, g):
        return 3 * read(ctx) * g

    body = {"forward": staticmethod(forward), rule: staticmethod(backward)}
    if split:
        body["forward"] = staticmethod(lambda x: x**3)
        body["setup_context"] = staticmethod(lambda ctx, inputs, out: keep(ctx, make(inputs[0])))
    return type("Cube", (Function,), body).apply


@pytest.mark.parametrize("split", [False, True], ids=["combined", "split"])
@pytest.mark.parametrize("rule", ["backward", "jvp"])
@pytest.mark.parametrize("how", KEEP)
def test_second_order_through_it_is_an_error(how, rule, split):
    f = cube(MAKE["product"], *KEEP[how], rule, split)
    x = t([2.0, 3.0], True)
    f(x).sum().backward()
    same(x.grad, [12.0, 27.0])
    (g,) = grad(f(x).sum(), x, create_graph=True)
    same(g, [12.0, 27.0])
    with pytest.raises(RuntimeError, match="computed in forward") as error:
        grad(g.sum(), x)
    assert ("saved tensor 0" if how == "saved" else "ctx.") in str(error.value)


@pytest.mark.parametrize("how", ["attribute", "saved"])
@pytest.mark.parametrize("made", MAKE)
def test_however_it_was_made(made, how):
    f = cube(MAKE[made], *KEEP[how])
    with pytest.raises(RuntimeError, match="computed in forward"):
        second_order(f, t([2.0, 3.0], True))


@pytest.mark.parametrize("how", ["attribute", "dict", "saved"])
def test_transformations_give_the_derivative(how):
    f = cube(MAKE["product"], *KEEP[how])
    same(dualad.func.grad(dualad.func.grad(f))(t(3.0)), 18.0)
    same(dualad.func.hessian(f)(t(3.0)), 18.0)


def test_a_buffer_of_elsewhere_that_forward_fills_counts_as_made():
    buffer = t([0.0, 0.0])

    def forward(ctx, x):
        ctx.s = buffer.copy_(x * x)
        return x**3

    F = type("F", (Function,), {
        "forward": staticmethod(forward),
        "backward": staticmethod(lambda ctx, g: 3 * ctx.s * g),
    })  # fmt: skip
    with pytest.raises(RuntimeError, match=r"ctx\.s "):
        second_order(F.apply, t([2.0, 3.0], True))


def test_it_is_poisoned_only_while_a_recorded_rule_runs():
    kept = []
    f = cube(lambda x: kept.append(x * x) or kept[-1], *KEEP["attribute"])
    x = t(3.0, True)
    (g,) = grad(f(x), x, create_graph=True)
    (s,) = kept
    assert not s.requires_grad and s.numpy() == 9.0
    with pytest.raises(RuntimeError, match="computed in forward"):
        grad(g, x)


def test_saved_under_hooks_too():
    f = cube(MAKE["product"], *KEEP["saved"])
    x = t(3.0, True)
    with dualad.autograd.graph.saved_tensors_hooks(lambda s: s.numpy(), dualad.tensor):
        y = f(x)
    (g,) = grad(y, x, create_graph=True)
    same(g, 27.0)
    with pytest.raises(RuntimeError, match="computed in forward"):
        grad(g, x)


# --- what does not depend on the inputs is a constant ------------------------------------------

TABLE = t([5.0, 7.0])
#: x -> factor * x**2 with a constant made, or found, in forward
CONSTANTS = {
    "of a module": (lambda x: TABLE, [5.0, 7.0]),
    "a number": (lambda x: t(3.0), [3.0, 3.0]),
    "zeros_like": (lambda x: dualad.zeros_like(x) + 2, [2.0, 2.0]),
    "a float mask": (lambda x: (x > 2.5).to(x.dtype), [0.0, 1.0]),
    "a bool mask": (lambda x: x > 2.5, [0.0, 1.0]),
    "indices": (lambda x: x.argsort(), [0.0, 1.0]),
    "a detached input": (lambda x: x.detach(), [2.0, 3.0]),
    "a draw": (lambda x: dualad.rand(2, dtype=x.dtype) * 0 + 4, [4.0, 4.0]),
}


@pytest.mark.parametrize("split", [False, True], ids=["combined", "split"])
@pytest.mark.parametrize("how", ["attribute", "list", "saved"])
@pytest.mark.parametrize("what", CONSTANTS)
def test_constants_may_be_kept(what, how, split):
    make, factor = CONSTANTS[what]
    keep, read = KEEP[how]
    xs = {}

    def setup(ctx, x):
        keep(ctx, make(x))
        ctx.x = x

    body = {
        "forward": staticmethod(lambda ctx, x: (setup(ctx, x), x**2 * make(x))[1]),
        "backward": staticmethod(lambda ctx, g: 2 * ctx.x * read(ctx) * g),
    }
    if split:
        body["forward"] = staticmethod(lambda x: x**2 * make(x))
        body["setup_context"] = staticmethod(lambda ctx, inputs, out: setup(ctx, inputs[0]))
    F = type("F", (Function,), body)
    x = t([2.0, 3.0], True)
    same(second_order(F.apply, x), 2 * np.array(factor))
    assert not xs


def test_what_depends_on_another_input_only():
    class F(Function):
        """w**2 * x**2"""

        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            ctx.square = w * w
            return ctx.square * x * x

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            return 2 * ctx.square * x * g, 2 * w * x * x * g

    x, w = t(3.0, True), t(5.0, True)
    same(second_order(F.apply, x, w), 50.0)
    same(second_order(F.apply, x, w, wrt=1), 18.0)
    (g,) = grad(F.apply(x, w), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"ctx\.square "):
        grad(g, w)


def test_a_relu_with_a_float_mask_passes_gradgradcheck():
    class Relu(Function):
        @staticmethod
        def forward(ctx, x):
            mask = (x > 0).to(x.dtype)
            ctx.save_for_backward(mask)
            return x * mask

        @staticmethod
        def backward(ctx, g):
            (mask,) = ctx.saved_tensors
            return g * mask

    assert gradgradcheck(lambda x: Relu.apply(x) ** 2, (t([-1.0, 2.0], True),))


def test_attributes_that_are_inputs_or_outputs_are_known():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.y = x.exp()
            ctx.all = {"x": x, "y": ctx.y}
            return ctx.y

        @staticmethod
        def backward(ctx, g):
            return ctx.all["y"] * g

    same(second_order(Exp.apply, t([0.0, 1.0], True)), np.exp([0.0, 1.0]), 1e-14)


def test_a_number_that_leaves_by_item_cannot_be_judged():
    f = cube(lambda x: t(x.item() ** 2), *KEEP["attribute"])
    with pytest.raises(RuntimeError, match="computed in forward"):
        second_order(f, t(3.0, True))


def test_a_changed_input_cannot_be_judged():
    f = cube(CONSTANTS["a float mask"][0], *KEEP["attribute"])
    x = t([2.0, 3.0], True)
    y = x * 1
    (g,) = grad(f(y).sum(), x, create_graph=True)
    y.detach().add_(1)
    with pytest.raises(RuntimeError, match="computed in forward"):
        grad(g.sum(), x)
