"""Functions that change their inputs in place."""

import pytest
from tensors import primal, same, t, tangent

import dualad
from dualad import func
from dualad.autograd import Function
from dualad.autograd.forward_ad import dual_level, make_dual


class Triple(Function):
    """x *= 3, in combined style."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return 3 * g

    @staticmethod
    def jvp(ctx, dx):
        return dx.mul_(3)


class SplitTriple(Function):
    """The same in split style."""

    @staticmethod
    def forward(x):
        return x.mul_(3)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])

    backward, jvp = Triple.backward, Triple.jvp


BOTH = pytest.mark.parametrize("triple", [Triple.apply, SplitTriple.apply])


@BOTH
def test_the_same_object_comes_back_changed(triple):
    a = t([1.0, 2.0])
    before = a._version
    assert triple(a) is a and a._version > before
    same(a, [3.0, 6.0])
    assert not a.requires_grad


@BOTH
def test_history_is_that_of_the_function_and_what_was_before(triple):
    x = t([1.0, 2.0], True)
    a = x * 5
    old = a.grad_fn
    triple(a)
    assert a.grad_fn is not old and not a.is_leaf
    a.sum().backward()
    same(x.grad, [15.0, 15.0])


@BOTH
def test_earlier_uses_of_the_old_value_are_invalid(triple):
    a = t([1.0, 2.0], True) * 1
    b = a * a
    triple(a)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        b.sum().backward()


@BOTH
def test_twice_in_a_row(triple):
    x = t([1.0, 2.0], True)
    a = x * 1
    triple(triple(a))
    same(a, [9.0, 18.0])
    a.sum().backward()
    same(x.grad, [9.0, 9.0])


@BOTH
def test_a_leaf_that_requires_grad_is_refused(triple):
    x = t([1.0, 2.0], True)
    with pytest.raises(RuntimeError, match="leaf"):
        triple(x)
    with pytest.raises(RuntimeError, match="leaf"):
        triple(t([1.0, 2.0], True)[:1])
    y = t([1.0, 2.0], True)
    with dualad.no_grad():
        triple(y)
    same(y, [3.0, 6.0])
    assert y.is_leaf and y.requires_grad


@BOTH
def test_a_view_changes_its_base(triple):
    x = t([1.0, 2.0, 3.0], True)
    base = x * 1
    first, second = base[:2], base[1:]
    triple(first)
    triple(second)
    same(base, [3.0, 18.0, 9.0])
    same(first, [3.0, 18.0])
    (base * t([1.0, 10.0, 100.0])).sum().backward()
    same(x.grad, [3.0, 90.0, 300.0])


@BOTH
def test_a_base_changes_its_views(triple):
    x = t([1.0, 2.0], True)
    base = x * 1
    view = base[1:]
    triple(base)
    same(view, [6.0])
    view.sum().backward()
    same(x.grad, [0.0, 3.0])


@BOTH
def test_duals(triple):
    with dual_level():
        p, v = t([1.0, 2.0]), t([4.0, 5.0])
        a = make_dual(p, v)
        b = a + 1
        assert triple(a) is a
        same(primal(a), [3.0, 6.0])
        same(tangent(a), [12.0, 15.0])
        same(p, [3.0, 6.0])
        same(v, [12.0, 15.0])
        same(tangent(b), [4.0, 5.0])
        triple(a[1:])
        same(primal(a), [3.0, 18.0])
        same(tangent(a), [12.0, 45.0])


@BOTH
def test_transformations(triple):
    """y = x, y *= 3 in place, y^2: the derivative is 18x."""

    def f(x):
        y = x * 1
        view = y[:1]
        assert triple(y) is y
        return (y * y).sum() + view.sum()

    x = t([1.0, 2.0])
    same(func.grad(f)(x), [18.0 + 3.0, 36.0])
    same(func.jvp(f, (x,), (t([1.0, 1.0]),))[1], 21.0 + 36.0)
    same(func.hessian(f)(x), [[18.0, 0.0], [0.0, 18.0]])
    same(x, [1.0, 2.0])


def test_a_constant_joins_the_graph_through_another_input():
    class MulInto(Function):
        @staticmethod
        def forward(ctx, dest, x):
            ctx.save_for_backward(dest.clone(), x)
            dest.mul_(x)
            ctx.mark_dirty(dest)
            return dest

        @staticmethod
        def backward(ctx, g):
            old, x = ctx.saved_tensors
            return g * x, g * old

    x, base = t([3.0, 4.0], True), t([10.0, 20.0, 30.0])
    view = base[1:]
    assert MulInto.apply(view, x) is view
    assert base.requires_grad and not base.is_leaf and view.requires_grad
    same(base, [10.0, 60.0, 120.0])
    base.sum().backward()
    same(x.grad, [20.0, 30.0])


def test_a_saved_result_is_checked_for_later_writes():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            x.exp_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    x = t([0.0, 0.0], True)
    a = Exp.apply(x * 1)
    (g,) = dualad.autograd.grad(a.sum(), x, create_graph=True)
    same(g, [1.0, 1.0])
    same(dualad.autograd.grad(g.sum(), x)[0], [1.0, 1.0])
    b = Exp.apply(x * 1)
    b.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        b.sum().backward()


def test_several_dirty_inputs():
    class Swap(Function):
        @staticmethod
        def forward(ctx, x, y):
            old = x.clone()
            x.copy_(y)
            y.copy_(old)
            ctx.mark_dirty(x, y)
            return x, y

        @staticmethod
        def backward(ctx, g, h):
            return h, g

    x, y = t(1.0, True), t(2.0, True)
    a, b = x * 1, y * 1
    p, q = Swap.apply(a, b)
    assert p is a and q is b
    (3 * a + 5 * b).backward()
    same(x.grad, 5.0)
    same(y.grad, 3.0)


def test_a_new_output_beside_a_dirty_one():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 10
            x.mul_(2)
            ctx.mark_dirty(x)
            return x, y

        @staticmethod
        def backward(ctx, g, h):
            return 2 * g + 10 * h

    x = t([1.0, 2.0], True)
    a = x * 1
    d, y = Both.apply(a)
    assert d is a and y is not a
    (a + y).sum().backward()
    same(x.grad, [12.0, 12.0])
    with pytest.raises(RuntimeError, match="view"):
        Both.apply((x * 1)[:1])


def test_what_is_marked_must_come_back():
    class Forgetful(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.mul_(2))
            return x + 1

    for x in (t(1.0), t(1.0, True) * 1):
        with pytest.raises(RuntimeError, match="must all be outputs"):
            Forgetful.apply(x)


def test_only_inputs_can_be_marked():
    class Odd(Function):
        @staticmethod
        def forward(ctx, x, mark):
            y = x * 2
            ctx.mark_dirty(y if mark == "output" else mark)
            return y

        @staticmethod
        def backward(ctx, g):
            return 2 * g, None

    with pytest.warns(UserWarning, match="not an input"):
        Odd.apply(t(1.0, True), "output")
    with pytest.raises(TypeError, match="mark_dirty"):
        Odd.apply(t(1.0, True), 3)


def test_the_tangent_must_be_changed_in_place_too():
    for rule in (lambda ctx, dx: dx * 3, lambda ctx, dx: None):
        wrong = type("Wrong", (Triple,), {"jvp": staticmethod(rule)})
        with dual_level():
            with pytest.raises(RuntimeError, match="in-place"):
                wrong.apply(make_dual(t([1.0]), t([1.0])))


def test_without_a_jvp_the_tangent_is_the_transpose_of_backward():
    class Only(Function):
        forward, backward = staticmethod(Triple.forward), staticmethod(Triple.backward)

    with dual_level():
        a = make_dual(t([1.0, 2.0]), t([4.0, 5.0]))
        Only.apply(a)
        same(primal(a), [3.0, 6.0])
        same(tangent(a), [12.0, 15.0])


def test_on_arrays():
    import numpy as np

    a = np.array([1.0, 2.0])
    assert Triple.apply(a) is a
    same(a, [3.0, 6.0])

    def f(x):
        y = x * 1
        Triple.apply(y)
        return (y * y).sum()

    same(dualad.grad(f)(np.array([1.0, 2.0])), [18.0, 36.0])


# --- inputs and views of inputs that come back unmarked ----------------------------------------


def passing(forward):
    return type(
        "Passing",
        (Function,),
        {
            "forward": staticmethod(forward),
            "backward": staticmethod(lambda ctx, g: 5 * g.expand(2)),
        },
    ).apply


PASSING = pytest.mark.parametrize(
    "f",
    [passing(lambda ctx, x: x), passing(lambda ctx, x: x.view(2)), passing(lambda ctx, x: x[:1])],
)


@PASSING
def test_it_is_another_tensor_with_the_functions_history(f):
    x = t([1.0, 2.0], True)
    a = x * 1
    y = f(a)
    assert y is not a and y.data_ptr() == a.data_ptr()
    y.sum().backward()
    same(x.grad, [5.0, 5.0])


@PASSING
def test_a_write_would_bypass_backward(f):
    a = t([1.0, 2.0], True) * 1
    y = f(a)
    with pytest.raises(RuntimeError, match="is a view of an input"):
        y.mul_(2)
    with pytest.raises(RuntimeError, match="is a view of an input"):
        y[0:1].mul_(2)
    a.mul_(2)
    with pytest.raises(RuntimeError, match="modified in-place since"):
        y.sum()


@PASSING
def test_plain_tensors_stay_plain_views(f):
    a = t([1.0, 2.0])
    y = f(a)
    y.mul_(3)
    assert a[0].item() == 3.0
    with pytest.raises(RuntimeError, match="is a view of an input"):
        y.mul_(t(2.0, True))


def test_a_numpy_write_needs_the_mark_to_be_noticed():
    """The page's example: with mark_dirty the stale b = a * a is an error, without it wrong."""

    def inplace(mark):
        class AddOne(Function):
            @staticmethod
            def forward(ctx, x):
                memory = x.numpy()
                memory += 1
                if mark:
                    ctx.mark_dirty(x)
                    return x
                return x.clone()

            @staticmethod
            def backward(ctx, g):
                return g

        return AddOne.apply

    a = t(1.0, True).clone()
    b = a * a
    inplace(True)(a)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        b.backward()
    x = t(1.0, True)
    a = x * 1
    b = a * a
    inplace(False)(a)
    b.backward()
    same(x.grad, 4.0)
