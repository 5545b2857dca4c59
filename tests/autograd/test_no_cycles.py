"""What nobody refers to any more is gone at once: nothing of the library refers to itself.

Arrays do not count for Python's search for cycles, which may come many gigabytes later.
"""

import gc
import weakref
from contextlib import suppress

import numpy as np
import pytest

import dualad
from dualad.autograd import Function
from dualad.autograd.forward_ad import dual_level, make_dual, unpack_dual
from dualad.autograd.graph import saved_tensors_hooks


class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return 2 * g

    @staticmethod
    def jvp(ctx, dx):
        return dx.mul_(2)


class InPlaceSplit(InPlace):
    @staticmethod
    def forward(x):
        return x.mul_(2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])
        ctx.save_for_backward(output)


class Saving(Function):
    """It saves an input, an output, and what is neither, and marks an output."""

    @staticmethod
    def forward(ctx, x):
        out, made, marked = x.exp(), x * 2, x + 1
        ctx.save_for_backward(x, out, made)
        ctx.mark_non_differentiable(marked)
        ctx.inner = made
        return out, marked

    @staticmethod
    def backward(ctx, g, _):
        return g * ctx.saved_tensors[1]


class Refusing(Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise KeyError("in the middle of a call")


FUNCTIONS = (InPlace, InPlaceSplit, Saving)


def summed(out):
    return (out[0] if isinstance(out, tuple) else out).sum()


def called(f, x):
    f.apply(x * 1)


def swept(f, x):
    summed(f.apply(x * 1)).backward()


def swept_twice(f, x):
    with suppress(RuntimeError):  # what is neither input nor output is frozen
        dualad.autograd.grad(summed(f.apply(x * 1)), x, create_graph=True)


def of_a_dual(f, x):
    with dual_level():
        unpack_dual(summed(f.apply(make_dual(x, x.detach() + 1) * 1)))


def transformed(f, x):
    array = x.detach().numpy()
    dualad.grad(lambda a: summed(f.apply(a * 1)))(array)
    dualad.jvp(lambda a: summed(f.apply(a * 1)), (array,), (array,))
    dualad.vmap(lambda a: summed(f.apply(a * 1)))(np.stack([array, array]))


def refused(_, x):
    with suppress(KeyError):
        Refusing.apply(x)


def duals(_, x):
    with dual_level():
        d = make_dual(x.detach().clone(), x.detach().clone())
        d.mul_(3)
        d[0].add_(1)
        unpack_dual(d).tangent.mul_(2)
        with dual_level():
            make_dual(d, d) * d


def views(_, x):
    y = x * 1
    y[:1].mul_(2)
    y.reshape(2, 1).add_(1)
    y.detach().clone().requires_grad_()
    y.retain_grad()
    y.register_hook(lambda g: 2 * g).remove()
    y.sum().backward()


def hooked(_, x):
    with saved_tensors_hooks(lambda v: v, lambda v: v):
        y = x.exp() * x
    y.sum().backward()


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("use", [called, swept, swept_twice, of_a_dual, transformed])
def test_custom_functions(use, f):
    check(use, f)


@pytest.mark.parametrize("use", [refused, duals, views, hooked])
def test_tensors(use):
    check(use, None)


def check(use, f):
    """Run it, and see that the search for cycles finds no tensor."""

    def run():
        use(f, dualad.tensor([1.0, 2.0], requires_grad=True))

    run()  # what is made once may be made of whatever it likes
    gc.collect()
    gc.freeze()
    gc.disable()
    before = gc.get_debug()
    try:
        run()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found = sorted({type(o).__name__ for o in gc.garbage})
    finally:
        gc.set_debug(before)
        gc.garbage.clear()
        gc.enable()
        gc.unfreeze()
    assert "Tensor" not in found and "Node" not in found, found


def test_the_tangent_of_a_dual_goes_with_it():
    gc.disable()
    try:
        with dual_level():
            dual = make_dual(dualad.tensor([1.0, 2.0]), dualad.tensor([3.0, 4.0]))
        gone = weakref.ref(dual)
        del dual
        assert gone() is None
    finally:
        gc.enable()
