"""What is saved for backward: save_on_cpu, disabled hooks, writes after saving."""

import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function
from dualad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


@pytest.mark.parametrize("square", [lambda x: x * x, Square.apply], ids=["built-in", "custom"])
class TestWritingToWhatWasSaved:
    """x*x at 2, where x is written to before backward: 4, or an error, never another number."""

    def slope(self, square, hooks):
        x = t(2.0, True)
        y = x * 1
        with hooks:
            z = square(y)
        y.add_(100)
        z.backward()
        return x.grad

    @pytest.mark.parametrize("pack", [lambda s: s, lambda s: s.detach(), lambda s: s.reshape(1)])
    def test_a_pack_hook_that_keeps_the_memory_is_refused(self, square, pack):
        with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*clone\(\)"):
            self.slope(square, saved_tensors_hooks(pack, lambda s: s.reshape(())))

    def test_so_is_save_on_cpu(self, square):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            self.slope(square, save_on_cpu())

    def test_pinned_memory_is_a_copy(self, square):
        same(self.slope(square, save_on_cpu(pin_memory=True)), 4.0)

    def test_it_may_be_allowed(self, square):
        same(self.slope(square, allow_mutation_on_saved_tensors()), 4.0)


@pytest.mark.parametrize(
    "context", [save_on_cpu, lambda: save_on_cpu(True), allow_mutation_on_saved_tensors]
)
def test_second_derivatives_go_through(context):
    x = t(2.0, True)
    with context():
        y = x**3 * Square.apply(x)  # x**5
    (first,) = dualad.autograd.grad(y, x, create_graph=True)
    same(first, 80.0)
    same(dualad.autograd.grad(first, x)[0], 160.0)


def test_hooks_can_be_disabled():
    with disable_saved_tensors_hooks("not here"):
        hooks = save_on_cpu()
        with pytest.raises(RuntimeError, match="not here"), hooks:
            pass
    with save_on_cpu():
        with pytest.raises(RuntimeError, match="not here"):
            with disable_saved_tensors_hooks("not here"):
                pass


def test_the_innermost_message_counts_and_only_within():
    with disable_saved_tensors_hooks("outer"):
        with pytest.raises(KeyError), disable_saved_tensors_hooks("inner"):
            with pytest.raises(RuntimeError, match="inner"), save_on_cpu():
                pass
            raise KeyError
        with pytest.raises(RuntimeError, match="outer"), save_on_cpu():
            pass
    x = t(2.0, True)
    with save_on_cpu():
        y = x * x
    y.backward()
    same(x.grad, 4.0)


def test_disabling_may_decorate():
    @disable_saved_tensors_hooks("not in f")
    def f():
        with save_on_cpu():
            pass

    for _ in range(2):
        with pytest.raises(RuntimeError, match="not in f"):
            f()
