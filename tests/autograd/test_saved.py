"""Saved tensors: what may be saved, how it reads, when it is refused, when it is released."""

import gc
import weakref

import numpy as np
import pytest
from tensors import same, t, tangent

import dualad
from dualad.autograd import Function
from dualad.autograd.forward_ad import dual_level, make_dual
from dualad.autograd.function import once_differentiable


def keep(save, log=None, rule=lambda x, g: 2 * g):
    """x -> 2x; what save(ctx, x, y) keeps is logged in backward."""

    class Keep(Function):
        @staticmethod
        def forward(ctx, x):
            y = 2 * x
            save(ctx, x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            if log is not None:
                log.append(ctx.saved_tensors)
            return 2 * g

        @staticmethod
        def jvp(ctx, dx):
            if log is not None:
                log.append(ctx.saved_tensors)
            return 2 * dx

    return Keep.apply


def test_order_and_none_are_kept():
    log = []
    x = t(1.0, True)
    keep(lambda ctx, x, y: ctx.save_for_backward(x * 3, None, x, y), log)(x).backward()
    three, nothing, same_x, y = log[0]
    assert isinstance(log[0], tuple) and nothing is None and same_x is x
    same(three, 3.0)
    same(y, 2.0)


def test_the_last_call_counts():
    log = []

    def save(ctx, x, y):
        ctx.save_for_backward(x)
        ctx.save_for_backward(y, x)

    keep(save, log)(t(1.0, True)).backward()
    assert len(log[0]) == 2


@pytest.mark.parametrize("name", ["save_for_backward", "save_for_forward"])
@pytest.mark.parametrize("bad", [3, [1.0], "text", np.ones(2)])
def test_only_tensors_are_saved(name, bad):
    with pytest.raises(TypeError, match=name):
        keep(lambda ctx, x, y: getattr(ctx, name)(x, bad))(t(1.0, True))


def test_each_rule_has_a_list_of_its_own():
    log = []

    def save(ctx, x, y):
        ctx.save_for_forward(x * 10)
        ctx.save_for_backward(x * 100, None)

    with dual_level():
        keep(save, log)(make_dual(t(1.0, True), t(1.0))).backward()
    same(log[0][0], 10.0)
    same(log[1][0], 100.0)
    assert len(log[0]) == 1 and log[1][1] is None
    log.clear()
    with dual_level():
        keep(lambda ctx, x, y: ctx.save_for_backward(x), log)(make_dual(t(1.0), t(1.0)))
    assert log == [()]


def test_a_saved_output_is_connected_to_the_function():
    """exp' = exp, by the saved output: first and second derivative at 0 are 1."""

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            assert y.requires_grad and not y.is_leaf
            return g * y

    x = t(0.0, True)
    g = x
    y = Exp.apply(x)
    for _ in range(3):
        (g,) = dualad.autograd.grad(y, x, create_graph=True)
        same(g, 1.0)
        y = g


WRITES = {
    "the tensor": lambda a: a.add_(1),
    "an entry": lambda a: a.__setitem__(0, 7.0),
    "a view": lambda a: a[:1].mul_(2),
    "a detached alias": lambda a: a.detach().add_(1),
    "a view of another part": lambda a: a[1:].add_(1),
    "under no_grad": lambda a: dualad.no_grad(lambda: a.add_(1))(),
    "copy_": lambda a: a.copy_(t([0.0, 0.0])),
    "a NumPy ufunc": lambda a: np.add(a, 1, out=a),
    "a NumPy function": lambda a: np.copyto(a, t([5.0, 5.0])),
}


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize("which", ["input", "output", "intermediate"])
def test_what_was_saved_must_not_be_written_to(how, which):
    kept = []

    def save(ctx, x, y):
        kept.append({"input": x, "output": y, "intermediate": x * 3}[which])
        ctx.save_for_backward(kept[0])

    a = t([1.0, 2.0], True) * 1
    y = keep(save, [])(a)
    WRITES[how](y if which == "output" else kept[0])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_what_is_saved_is_saved_when_forward_ends():
    log = []

    def save(ctx, x, y):
        z = x * 3
        ctx.save_for_backward(z)
        z.mul_(2)

    keep(save, log)(t(1.0, True)).backward()
    same(log[0][0], 6.0)


def test_a_write_by_numpy_goes_unnoticed():
    """As in PyTorch: the documentation says so."""
    log = []
    a = t([1.0, 2.0], True) * 1
    y = keep(lambda ctx, x, y: ctx.save_for_backward(x), log)(a)
    a.detach().numpy()[0] = 9.0
    y.sum().backward()
    same(log[0][0], [9.0, 2.0])


def test_attributes_are_not_checked():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.x * g

    x = t(3.0, True)
    a = x * 1
    y = Square.apply(a)
    a.add_(10)
    y.backward()
    same(x.grad, 26.0)


def test_attributes_live_from_forward_to_the_last_backward():
    seen = []

    class Count(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.n = 0
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.n += 1
            seen.append(ctx.n)
            return 2 * g

    y = Count.apply(t(1.0, True))
    y.backward(retain_graph=True)
    y.backward()
    assert seen == [1, 2] and y.grad_fn.n == 2


def test_the_node_of_the_output_is_the_context():
    y = keep(lambda ctx, x, y: ctx.save_for_backward(x))(t(4.0, True))
    assert y.grad_fn.name() == "KeepBackward" and len(y.grad_fn.next_functions) == 1
    assert y.grad_fn.needs_input_grad == (True,)
    same(y.grad_fn.saved_tensors[0], 4.0)
    with pytest.raises(AttributeError):
        y.grad_fn.nothing


def test_saved_tensors_are_released():
    contexts = []

    def save(ctx, x, y):
        contexts.append(ctx)
        ctx.save_for_backward(x)

    y = keep(save, [])(t(4.0, True))
    same(contexts[0].saved_tensors[0], 4.0)
    y.backward()
    with pytest.raises(RuntimeError, match="freed"):
        contexts[0].saved_tensors
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_memory_is_released_with_them():
    """Arrays that are not saved go with the last tensor; saved ones with the first backward."""
    refs = []

    def save(ctx, x, y):
        z = x * 3
        refs.append(weakref.ref(z))
        ctx.save_for_backward(z)

    gc.disable()
    try:
        x = t(np.ones(10), True)
        a = x * 1
        unsaved = weakref.ref(a)
        y = keep(save)(a)
        del a
        assert unsaved() is None and refs[0]() is not None
        y.sum().backward()
        assert refs[0]() is None
    finally:
        gc.enable()


def test_saved_values_read_as_those_of_a_level():
    """The saved input of an inner level is the outer level's dual."""

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def jvp(ctx, dx):
            (x,) = ctx.saved_tensors
            seen.append((tangent(x, one), tangent(x, two)))
            return 2 * x * dx

    seen = []
    with dual_level() as one:
        x = make_dual(t(3.0), t(1.0))
        with dual_level() as two:
            slope = tangent(Square.apply(make_dual(x, t(5.0))))
        same(tangent(slope), 10.0)
    inner_last = seen[-1]
    assert inner_last[1] is None
    same(inner_last[0], 1.0)


def test_a_saved_input_is_let_go_after_backward():
    x = t([1.0, 2.0], True)
    middle = x * 1
    gone = weakref.ref(middle)
    y = keep(lambda ctx, x, y: ctx.save_for_backward(x))(middle)
    del middle
    gc.collect()
    assert gone() is not None
    y.sum().backward()
    gc.collect()
    assert gone() is None


def test_what_jvp_saved_stays_for_its_transpose():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def jvp(ctx, dx):
            return 2 * ctx.saved_tensors[0] * dx

    x = t(3.0, True)
    y = Square.apply(x * 1)
    y.backward(retain_graph=True)
    y.backward()
    same(x.grad, 12.0)


# --- former names --------------------------------------------------------------------------------


def test_saved_variables_is_the_former_name():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_variables
            return 3 * x**2 * g

    x = t(2.0, True)
    with pytest.warns(DeprecationWarning, match="use 'saved_tensors'"):
        Cube.apply(x).backward()
    same(x.grad, 12.0)


def test_mark_shared_storage_has_no_effect():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_shared_storage((x, x))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    x = t(2.0, True)
    with pytest.warns(FutureWarning, match="no effect"):
        y = Same.apply(x)
    y.backward()
    same(x.grad, 2.0)


def test_saved_tensors_may_be_read_again_whatever_the_class_says():
    class Cube(Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return 3 * ctx.saved_tensors[0] * ctx.saved_tensors[0] * g

    x = t(2.0, True)
    Cube.apply(x).backward()
    same(x.grad, 12.0)


# --- cotangents in a list ------------------------------------------------------------------------


@pytest.mark.parametrize("once", [False, True])
def test_boxed_cotangents_come_in_one_list(once):
    def rule(ctx, gs):
        assert isinstance(gs, list) and len(gs) == 2
        g, h = gs.pop(0), gs.pop()
        return 2 * g + 3 * h

    class Two(Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x):
            return 2 * x, 3 * x

        backward = staticmethod(once_differentiable(rule) if once else rule)

    x = t(1.0, True)
    y, z = Two.apply(x)
    (y + 10 * z).backward()
    same(x.grad, 32.0)
    same(dualad.func.grad(lambda x: sum(Two.apply(x)))(t(1.0)), 5.0)
    with dual_level():
        same(tangent(Two.apply(make_dual(t(1.0), t(1.0)))[1]), 3.0)
