"""register_multi_grad_hook: a function that waits for the gradients of several tensors."""

import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function
from dualad.autograd.graph import register_multi_grad_hook


class Two(Function):
    """2x and 3x."""

    @staticmethod
    def forward(ctx, x):
        return 2 * x, 3 * x

    @staticmethod
    def backward(ctx, g, h):
        return 2 * g + 3 * h


def numbers(gradients):
    return [None if g is None else g.tolist() for g in gradients]


def hooked(tensors, **options):
    seen = []
    return seen, register_multi_grad_hook(tensors, lambda gs: seen.append(numbers(gs)), **options)


def test_all_gradients_of_a_sweep_come_together():
    a, b = t([1.0, 2.0], True), t([3.0, 4.0], True)
    c, d = a * b, a * b
    seen, handle = hooked((a, b, c, d))
    c.sum().backward(retain_graph=True)
    assert seen.pop() == [[3.0, 4.0], [1.0, 2.0], [1.0, 1.0], None]
    c.sum().backward(inputs=(a,), retain_graph=True)
    assert seen.pop() == [[3.0, 4.0], None, [1.0, 1.0], None]
    dualad.autograd.grad((c + 2 * d).sum(), d, retain_graph=True)
    assert seen.pop() == [None, None, None, [2.0, 2.0]]
    handle.remove()
    c.sum().backward()
    assert seen == []


def test_the_first_gradient_of_a_sweep():
    a = t([1.0, 2.0], True)
    c = a * 3
    seen = []
    with register_multi_grad_hook((a, c), lambda g: seen.append(g.tolist()), mode="any"):
        c.sum().backward(retain_graph=True)
        c.sum().backward(retain_graph=True)
    c.sum().backward()
    assert seen == [[1.0, 1.0], [1.0, 1.0]]


def test_a_gradient_that_a_rule_leaves_out_is_none():
    class First(Function):
        @staticmethod
        def forward(ctx, x, y):
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g, None

    x, y = t(1.0, True), t(1.0, True)
    seen, _ = hooked((x, y))
    First.apply(x, y).backward()
    assert seen == [[2.0, None]]


def test_an_output_that_is_not_used_is_none():
    x = t(1.0, True)
    y, z = Two.apply(x)
    seen, _ = hooked((y, z))
    y.backward(retain_graph=True)
    (y + 5 * z).backward()
    assert seen == [[1.0, None], [1.0, 5.0]]


def test_what_it_returns_is_ignored_and_what_other_hooks_return_is_not():
    x = t(1.0, True)
    x.register_hook(lambda g: 10 * g)
    seen, _ = hooked((x, x))
    register_multi_grad_hook((x,), lambda gs: [7 * gs[0]])
    (2 * x).backward()
    assert seen == [[20.0, 20.0]]
    same(x.grad, 20.0)


def test_sweeps_within_a_hook_are_sweeps_of_their_own():
    x, seen = t(2.0, True), []

    def inner(gradients):
        seen.append(numbers(gradients))
        if len(seen) < 3:
            with dualad.enable_grad():
                y = x * x
            dualad.autograd.grad(y, x)

    register_multi_grad_hook((x,), inner)
    (x * 3).backward()
    assert seen == [[3.0], [4.0], [4.0]]


def test_under_create_graph_gradients_have_a_history():
    x, seen = t(2.0, True), []
    register_multi_grad_hook((x,), lambda gs: seen.append(gs[0]))
    dualad.autograd.grad(x**3, x, create_graph=True)
    same(dualad.autograd.grad(seen[0], x)[0], 12.0)


def test_what_it_takes():
    x = t(1.0, True)
    with pytest.raises(ValueError, match="'some'"):
        register_multi_grad_hook((x,), print, mode="some")
    with pytest.raises(RuntimeError, match="require"):
        register_multi_grad_hook((x, t(1.0)), print)
    with pytest.raises(TypeError, match="GradientEdge"):
        register_multi_grad_hook((dualad.autograd.graph.get_gradient_edge(x),), print)
    register_multi_grad_hook((t(1.0),), print, mode="any").remove()
    register_multi_grad_hook((), print).remove()
