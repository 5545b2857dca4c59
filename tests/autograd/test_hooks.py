"""Hooks: on gradients, on what is saved, and the gradients that are retained."""

import sys
import threading
import warnings

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function
from dualad.autograd.graph import saved_tensors_hooks

# --- register_hook -----------------------------------------------------------------------------


def test_a_hook_sees_the_gradient_and_may_replace_it():
    seen = []
    x = t(2.0, True)
    y = x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    y.register_hook(lambda g: g * 10)
    (y * 5).backward()
    assert seen == [5.0]
    same(x.grad, 150.0)


def test_a_hook_on_a_leaf():
    x = t(2.0, True)
    x.register_hook(lambda g: -g)
    (x * 3).backward()
    same(x.grad, -3.0)


def test_a_hook_can_be_taken_off():
    x = t(2.0, True)
    handle = x.register_hook(lambda g: g * 0)
    handle.remove()
    (x * 3).backward()
    same(x.grad, 3.0)


def test_a_hook_sees_the_sum_of_all_uses():
    seen = []
    x = t(2.0, True)
    y = x * 3
    y.register_hook(lambda g: seen.append(g.item()))
    (y + y * y).backward()
    assert seen == [1 + 2 * 6.0]


def test_hooks_on_each_output_of_a_function():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x, 3 * x

        @staticmethod
        def backward(ctx, g, h):
            return 2 * g + 3 * h

    x = t(1.0, True)
    a, b = Two.apply(x)
    a.register_hook(lambda g: g * 10)
    b.register_hook(lambda g: g * 100)
    (a + b).backward()
    same(x.grad, 2 * 10 + 3 * 100)


def test_a_hook_belongs_to_the_value_at_its_time():
    """y = 3x, then y *= 4 in place: the first hook sees 4 g, the second g."""
    seen = []
    x = t(2.0, True)
    y = x * 3
    y.register_hook(lambda g: seen.append(("before", g.item())))
    y.mul_(4)
    y.register_hook(lambda g: seen.append(("after", g.item())))
    y.backward()
    assert seen == [("after", 1.0), ("before", 4.0)]


def test_hooks_are_differentiable_under_create_graph():
    """g = 2x by the square, 3 times that by the hook: its derivative is 6."""
    x = t(2.0, True)
    y = x * 1
    y.register_hook(lambda g: 3 * g)
    (g,) = dualad.autograd.grad(y * y, x, create_graph=True)
    same(g, 12.0)
    same(dualad.autograd.grad(g, x)[0], 18.0)


def test_what_a_hook_may_not_do():
    x = t([1.0, 2.0], True)
    y = x * 2
    y.register_hook(lambda g: 5)
    with pytest.raises(TypeError, match="expected a Tensor"):
        y.sum().backward()
    z = x * 2
    z.register_hook(lambda g: g.sum())
    with pytest.raises(RuntimeError, match="changed the size of the gradient"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        t(1.0).register_hook(lambda g: g)


def test_writing_in_a_hook_changes_the_gradient_for_nobody_else():
    x, y = t([1.0, 2.0], True), t([1.0, 2.0], True)
    x.register_hook(lambda g: g.mul_(5))
    (x + y).sum().backward()
    same(x.grad, [5.0, 5.0])
    same(y.grad, [1.0, 1.0])


# --- retain_grad -------------------------------------------------------------------------------


def test_a_retained_gradient_is_that_after_all_hooks():
    x = t(2.0, True)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    assert y.retains_grad and not x.retains_grad
    (y * 5).backward()
    same(y.grad, 10.0)


def test_retained_gradients_add_up():
    x = t(2.0, True)
    y = x * 3
    y.retain_grad()
    (y * 5).backward(retain_graph=True)
    (y * 5).backward()
    same(y.grad, 10.0)


def test_after_a_write_it_is_the_gradient_of_the_new_value():
    x = t(2.0, True)
    y = x * 3
    y.retain_grad()
    y.mul_(4)
    (y * 2).backward()
    same(y.grad, 2.0)


@pytest.mark.parametrize("looks", [False, True])
def test_so_it_is_for_a_view_whether_or_not_anybody_looked_at_it_since(looks):
    x = t([1.0, 2.0], True)
    y = x * 1
    view = y[0]
    view.retain_grad()
    view.mul_(3)
    if looks:
        view.item()
    y.sum().backward()  # It depends on the entries of y: on the old value of the view only.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert view.grad is None
    same(x.grad, [3.0, 1.0])
    z = x * 1
    view = z[0]
    view.retain_grad()
    view.mul_(3)
    (z.sum() + 5 * view).backward()
    same(view.grad, 5.0)


def test_only_what_has_a_history_retains_a_gradient():
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        t(1.0).retain_grad()
    x = t(1.0, True)
    x.retain_grad()
    assert not x.retains_grad


# --- .grad -------------------------------------------------------------------------------------


def test_threads_that_share_a_leaf_add_all_of_their_gradients():
    x = t(np.ones(5000), True)  # NumPy lets other threads run while it adds so many
    shared = x * 1
    shared.retain_grad()
    start = threading.Barrier(8)

    def work(factor):
        start.wait()
        for _ in range(120):
            (shared * factor).sum().backward(retain_graph=True)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    same(x.grad, np.full(5000, 120.0 * 36))
    same(shared.grad, np.full(5000, 120.0 * 36))


def test_what_may_be_assigned_to_grad():
    x = t([1.0, 2.0], True)
    for wrong in (5, t([1.0]), dualad.ones(2)):
        with pytest.raises(RuntimeError, match=r"gradient|grad"):
            x.grad = wrong
    x.grad = t([10.0, 20.0])
    (x * 3).sum().backward()
    same(x.grad, [13.0, 23.0])
    x.grad = None
    assert x.grad is None


# --- saved_tensors_hooks -----------------------------------------------------------------------


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        y = x**3
        ctx.save_for_backward(x, None, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, nothing, y = ctx.saved_tensors
        assert nothing is None
        return 3 * y / x * g


def test_each_saved_tensor_is_packed_once_and_unpacked_when_read():
    log = []

    def pack(v):
        log.append(("pack", v.item()))
        return v.item()

    def unpack(kept):
        log.append(("unpack", kept))
        return t(kept)

    x = t(2.0, True)
    with saved_tensors_hooks(pack, unpack):
        y = Cube.apply(x)
    assert log == [("pack", 2.0), ("pack", 8.0)]
    y.backward()
    assert log[2:] == [("unpack", 2.0), ("unpack", 8.0)]
    same(x.grad, 12.0)


def test_what_unpack_gives_is_differentiated_as_what_was_saved():
    """x**3 through packed values: first and second derivative 12 and 12 at 2."""
    x = t(2.0, True)
    with saved_tensors_hooks(lambda v: v.detach().clone(), lambda v: v):
        y = Cube.apply(x)
    (g,) = dualad.autograd.grad(y, x, create_graph=True)
    same(g, 12.0)
    same(dualad.autograd.grad(g, x)[0], 12.0)


def test_built_in_operations_pack_too():
    packed = []

    def pack(v):
        packed.append(v.tolist())
        return v.detach().clone()

    x, w = t([1.0, 2.0], True), t([3.0, 4.0], True)
    with saved_tensors_hooks(pack, lambda v: v):
        y = (x * w).exp()
    assert [1.0, 2.0] in packed and [3.0, 4.0] in packed
    y.sum().backward()
    same(x.grad, np.array([3.0, 4.0]) * np.exp([3.0, 8.0]))


def test_hooks_may_change_what_backward_reads():
    x = t(1.0, True)
    with saved_tensors_hooks(lambda v: v * 2, lambda v: v):
        y = x.exp()
    y.backward()
    same(x.grad, 2 * np.e)


def test_only_the_innermost_pair_counts_and_only_within():
    def slope(x, y):
        return dualad.autograd.grad(y, x)[0]

    x = t(1.0, True)
    with saved_tensors_hooks(lambda v: v * 2, lambda v: v):
        with saved_tensors_hooks(lambda v: v * 3, lambda v: v):
            inner = x.exp()
        outer = x.exp()
    same(slope(x, inner), 3 * np.e)
    same(slope(x, outer), 2 * np.e)
    same(slope(x, x.exp()), np.e)


def test_packed_values_may_be_written_to():
    """What pack keeps is the hook's business: the tensor itself is free."""
    x = t(2.0, True)
    a = x * 1
    with saved_tensors_hooks(lambda v: v.detach().clone(), lambda v: v):
        y = Cube.apply(a)
    a.add_(100)
    y.backward()
    same(x.grad, 12.0)


def test_unpack_must_give_a_tensor():
    x = t(2.0, True)
    with saved_tensors_hooks(lambda v: 5, lambda v: v):
        y = x * x
    with pytest.raises(TypeError, match="unpack hook"):
        y.backward()


def test_an_exception_in_pack_reaches_the_caller():
    def pack(v):
        raise KeyError("user")

    x = t(2.0, True)
    with saved_tensors_hooks(pack, lambda v: v):
        with pytest.raises(KeyError):
            x * x
    (x * x).backward()
    same(x.grad, 4.0)


# --- what a pack hook may do ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x * x,
        lambda x: (x * 1) * (x * 2),
        lambda x: (x * 1).exp(),
        lambda x: x.reshape(2, 1) @ x.reshape(1, 2),
        lambda x: (x * 1).sin(),
    ],
)
@pytest.mark.parametrize(
    "write", [lambda s: s.add_(1), lambda s: s.__setitem__(0, 7.0), lambda s: s[:1].zero_()]
)
def test_a_pack_hook_may_not_write_to_its_input(operation, write):
    x = t([1.0, 2.0], True)
    with saved_tensors_hooks(lambda s: (write(s), s)[1], lambda s: s):
        with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
            operation(x)


@pytest.mark.parametrize("what", ["input", "output", "other"])
def test_nor_to_what_a_custom_function_saves(what):
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward({"input": x, "output": y, "other": x * 3}[what])
            return y

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    x = t([1.0, 2.0], True) * 1
    with saved_tensors_hooks(lambda s: s.mul_(2), lambda s: s):
        with pytest.raises(RuntimeError, match="in place"):
            Twice.apply(x)


def test_a_pack_hook_may_write_to_a_copy_and_runs_without_recording():
    x, modes = t([1.0, 2.0], True), []

    def pack(s):
        modes.append(dualad.is_grad_enabled())
        return s.clone().mul_(10)

    with saved_tensors_hooks(pack, lambda s: s / 10):
        y = (x * x).sum()
    y.backward()
    same(x.grad, [2.0, 4.0])
    assert modes and not any(modes)


@pytest.mark.parametrize("hooks", [(3, abs), (abs, None)])
def test_hooks_are_functions(hooks):
    with pytest.raises(TypeError, match="hook"):
        saved_tensors_hooks(*hooks)


def test_an_error_of_a_pack_hook_comes_through():
    def pack(s):
        raise KeyError("full")

    with saved_tensors_hooks(pack, lambda s: s), pytest.raises(KeyError, match="full"):
        t(1.0, True).exp()


def test_a_handle_is_a_context():
    x = t(3.0, True)
    with x.register_hook(lambda g: 10 * g):
        (2 * x).backward()
    same(x.grad, 20.0)
    (2 * x).backward()
    same(x.grad, 22.0)


def test_what_a_hook_writes_to_its_gradient_counts_there_alone():
    x = t([1.0, 2.0], True)
    a, b = x * 1, x * 1
    a.register_hook(lambda g: (g.mul_(3), None)[1])
    (a + b).sum().backward()
    same(x.grad, [4.0, 4.0])


def test_reading_the_gradient_of_what_is_no_leaf_warns():
    x = t(1.0, True)
    y = 2 * x
    with pytest.warns(UserWarning, match="retain_grad"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None and x.grad is None


def test_a_hook_may_not_change_the_dtype():
    y = t([1.0, 2.0], True) * 2
    y.register_hook(lambda g: g.float())
    with pytest.raises(RuntimeError, match="type"):
        y.sum().backward()


def test_after_a_leaf_has_got_its_gradient():
    """The hook sees .grad as it is after each backward, and may take it away."""
    x, seen = t([1.0, 2.0], True), []
    handle = x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.tolist()))
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert seen == [[2.0, 4.0], [5.0, 7.0]]
    dualad.autograd.grad((x * x).sum(), x)
    handle.remove()
    (x * 3).sum().backward()
    assert len(seen) == 2

    def step(leaf):
        with dualad.no_grad():
            leaf.sub_(leaf.grad)
        leaf.grad = None

    x = t([1.0, 2.0], True)
    with x.register_post_accumulate_grad_hook(step):
        (x * 0.25).sum().backward()
    same(x, [0.75, 1.75])
    assert x.grad is None
    for other in (x * 2, t([1.0])):
        with pytest.raises(RuntimeError, match="leaf"):
            other.register_post_accumulate_grad_hook(step)


def test_the_same_hook_may_be_registered_twice():
    x, seen = t(1.0, True), []
    hook = lambda leaf: seen.append(leaf.grad.item())
    first = x.register_post_accumulate_grad_hook(hook)
    x.register_post_accumulate_grad_hook(hook)
    first.remove()
    (3 * x).backward()
    assert seen == [3.0]


# --- hooks on views ------------------------------------------------------------------------------


class Tripled(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return 3 * g


def on_base_and_view():
    """A tensor y = x, a view of it, and what their hooks have seen."""
    x, seen = t([1.0, 2.0, 3.0], True), []
    y = x * 1
    view = y[1:]
    view.register_hook(lambda g: seen.append(("view", g.tolist())))
    y.register_hook(lambda g: seen.append(("base", g.tolist())))
    return x, y, view, seen


WRITES = {
    "a method": lambda view: view.mul_(3),
    "an operator": lambda view: view.__imul__(3),
    "a custom function": Tripled.apply,
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_through_a_view_passes_by_its_hooks(write):
    """It is an operation on the base: the old value of the view is not asked, as in PyTorch."""
    x, y, view, seen = on_base_and_view()
    WRITES[write](view)
    view.register_hook(lambda g: seen.append(("view after", g.tolist())))
    (y.sum() + 10 * view.sum()).backward()
    assert seen == [("view after", [10.0, 10.0]), ("base", [1.0, 33.0, 33.0])]
    same(x.grad, [1.0, 33.0, 33.0])


@pytest.mark.parametrize(
    "write",
    [lambda v: v.__setitem__(0, 5.0), lambda v: v.copy_(t([5.0, 6.0])), lambda v: v.zero_()],
    ids=["item", "copy", "zero"],
)
def test_so_does_what_overwrites_it(write):
    _, y, view, seen = on_base_and_view()
    write(view)
    y.sum().backward()
    assert [name for name, _ in seen] == ["base"]


def test_what_a_hook_of_a_view_returned_does_not_count_after_a_write():
    x = t([1.0, 2.0], True)
    y = x * 1
    view = y[:]
    view.register_hook(lambda g: 100 * g)
    earlier = view + 1
    view.mul_(3)
    y.sum().backward(retain_graph=True)
    same(x.grad, [3.0, 3.0])
    x.grad = None
    earlier.sum().backward()  # This use was before the write.
    same(x.grad, [100.0, 100.0])


def test_a_write_through_a_view_of_a_view_passes_by_both():
    x, seen = t([1.0, 2.0, 3.0], True), []
    y = x * 1
    outer = y[1:]
    inner = outer[:1]
    for view in (outer, inner):
        view.register_hook(lambda g: seen.append(g.tolist()))
    inner.mul_(2)
    (y * 5).sum().backward()
    assert seen == []
    same(x.grad, [5.0, 10.0, 5.0])


def test_a_hook_counts_for_the_present_value_of_a_view():
    """Whether there were hooks before its base was written to or not."""
    _, y, view, seen = on_base_and_view()
    y.mul_(3)
    view.register_hook(lambda g: seen.append(("view after", g.tolist())))
    (view * 2).sum().backward()
    assert seen == [("view after", [2.0, 2.0]), ("base", [0.0, 6.0, 6.0])]


def test_a_write_under_no_grad_changes_no_history():
    _, _, view, seen = on_base_and_view()
    with dualad.no_grad():
        view.mul_(3)
    (view * 2).sum().backward()
    assert seen == [("view", [2.0, 2.0]), ("base", [0.0, 2.0, 2.0])]


def test_a_retained_gradient_of_a_view_with_hooks_is_that_of_the_new_value():
    x = t([1.0, 2.0], True)
    y = x * 1
    view = y[:1]
    view.retain_grad()
    view.register_hook(lambda g: 100 * g)
    view.mul_(3)
    (view * 2).sum().backward()
    same(view.grad, [2.0])
    same(x.grad, [6.0, 0.0])
