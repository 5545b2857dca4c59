"""Hooks of recorded operations, as in PyTorch: grad_fn.register_hook and register_prehook."""

import numpy as np
import pytest

import dualad


def leaf(*values):
    return dualad.tensor(values, dtype=dualad.float64, requires_grad=True)


def numbers(gradients):
    return tuple(None if g is None else g.tolist() for g in gradients)


def test_the_order_of_hooks_is_tensor_before_after():
    seen = []
    x = leaf(1.0, 2.0)
    y = x * 3
    z = y * 2
    y.grad_fn.register_hook(lambda i, o: seen.append(("after", numbers(i), numbers(o))))
    y.grad_fn.register_prehook(lambda o: seen.append(("before", numbers(o))))
    y.register_hook(lambda g: seen.append(("tensor", g.tolist())))
    z.grad_fn.register_hook(lambda i, o: seen.append(("above", numbers(i), numbers(o))))
    z.sum().backward()
    assert seen == [
        ("above", ([2.0, 2.0], None), ([1.0, 1.0],)),
        ("tensor", [2.0, 2.0]),
        ("before", ([2.0, 2.0],)),
        ("after", ([6.0, 6.0], None), ([2.0, 2.0],)),
    ]
    assert x.grad.tolist() == [6.0, 6.0]


def test_what_a_hook_returns_goes_on():
    x, w, seen = leaf(1.0, 2.0), leaf(3.0, 4.0), []
    y = x * w
    y.grad_fn.register_hook(lambda i, o: (i[0] * 10, None))
    y.grad_fn.register_hook(lambda i, o: seen.append(numbers(i)))
    y.sum().backward()
    assert seen == [([30.0, 40.0], None)]
    assert x.grad.tolist() == [30.0, 40.0]
    assert w.grad is None


def test_what_a_prehook_returns_goes_on():
    x, seen = leaf(1.0, 2.0), []
    y = x * 3
    y.grad_fn.register_prehook(lambda o: (o[0] * 10,))
    y.grad_fn.register_prehook(lambda o: seen.append(numbers(o)))
    y.grad_fn.register_hook(lambda i, o: seen.append((numbers(i), numbers(o))))
    y.retain_grad()
    y.sum().backward()
    assert seen == [([10.0, 10.0],), (([30.0, 30.0], None), ([10.0, 10.0],))]
    assert x.grad.tolist() == [30.0, 30.0]
    assert y.grad.tolist() == [1.0, 1.0]  # that of the tensor, as in PyTorch


@pytest.mark.parametrize(
    "answer, error, message",
    [
        (lambda g: g, TypeError, "expected a tuple or None"),
        (lambda g: [g, None], TypeError, "expected a tuple or None"),
        (lambda g: (g, g, g), RuntimeError, "incorrect number of values: 3 in place of 2"),
        (lambda g: (5.0, None), TypeError, "expected a Tensor or None"),
        (lambda g: (dualad.ones(3), None), RuntimeError, "has changed the size"),
        (lambda g: (g.float(), None), RuntimeError, "has changed the type"),
    ],
)
def test_a_wrong_answer_is_an_error(answer, error, message):
    y = leaf(1.0, 2.0) * 3
    y.grad_fn.register_hook(lambda i, o: answer(i[0]))
    with pytest.raises(error, match=message):
        y.sum().backward()


def test_a_handle_takes_its_hook_off():
    x, seen = leaf(1.0), []
    y = x * 3
    first = y.grad_fn.register_hook(lambda i, o: seen.append("first"))
    y.grad_fn.register_hook(lambda i, o: seen.append("second"))
    first.remove()
    first.remove()
    with y.grad_fn.register_prehook(lambda o: seen.append("never")):
        pass
    y.sum().backward()
    assert seen == ["second"]


def test_the_node_of_a_leaf():
    x, seen = leaf(1.0, 2.0), []
    node = (x * 1).grad_fn.next_functions[0][0]
    node.register_prehook(lambda o: (seen.append((numbers(o), x.grad)), (o[0] * 2,))[1])
    node.register_hook(lambda i, o: seen.append((i, numbers(o), x.grad.tolist())))
    (x * 3).sum().backward()
    assert seen == [(([3.0, 3.0],), None), ((), ([6.0, 6.0],), [6.0, 6.0])]
    (x * 3).sum().backward(inputs=[x])
    assert x.grad.tolist() == [12.0, 12.0]


def test_each_argument_has_a_gradient_of_its_own():
    x, seen = leaf(2.0), []
    y = dualad.tensor(3.0, dtype=dualad.float64) * x
    z = y + y
    z.grad_fn.register_hook(lambda i, o: seen.append(numbers(i)))
    y.grad_fn.register_hook(lambda i, o: seen.append(numbers(i)))
    z.sum().backward()
    assert seen[0] == ([1.0], [1.0])


def test_gradients_that_nobody_wants_are_none():
    x, w, seen = leaf(1.0), leaf(3.0), []
    y = x * w
    y.grad_fn.register_hook(lambda i, o: seen.append(numbers(i)))
    (g,) = dualad.autograd.grad(y.sum(), x)
    assert seen == [([3.0], None)]
    assert g.tolist() == [3.0]


def test_custom_functions_and_several_outputs():
    class Product(dualad.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x * w, x + w

        @staticmethod
        def backward(ctx, g, h):
            x, w = ctx.saved_tensors
            return g * w + h, g * x + h

    x, w, seen = leaf(1.0), leaf(3.0), []
    y, z = Product.apply(x, w)
    y.grad_fn.register_hook(lambda i, o: (seen.append((numbers(i), numbers(o))), (i[0], -i[1]))[1])
    (y + z).sum().backward()
    assert seen == [(([4.0], [2.0]), ([1.0], [1.0]))]
    assert (x.grad.item(), w.grad.item()) == (4.0, -2.0)


def test_hooks_are_differentiated_under_create_graph():
    x = leaf(1.0, 2.0)
    y = x**3
    y.grad_fn.register_hook(lambda i, o: (i[0] * x,))
    (g,) = dualad.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(g.tolist(), [3.0, 24.0])  # 3 x**3
    (h,) = dualad.autograd.grad(g.sum(), x)

    np.testing.assert_allclose(h.tolist(), [9.0, 36.0])


def test_hooks_stay_with_the_operation_when_a_tensor_is_written_to():
    x, seen = leaf(1.0), []
    y = x * 3
    y.grad_fn.register_hook(lambda i, o: seen.append(("old", numbers(i))))
    y.mul_(2)
    y.grad_fn.register_hook(lambda i, o: seen.append(("new", numbers(i))))
    y.sum().backward()
    assert seen == [("new", ([2.0], None)), ("old", ([6.0], None))]
