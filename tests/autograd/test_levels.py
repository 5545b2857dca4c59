"""Custom functions at several levels: nested duals, nested transformations, threads."""

import threading

import numpy as np
import pytest
from tensors import derivatives, primal, same, t, tangent

import dualad
from dualad import func
from dualad.autograd import Function, forward_ad


class Square(Function):
    """x**2, in combined style with both rules."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def jvp(ctx, dx):
        (x,) = ctx.saved_tensors
        return 2 * x * dx

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


def fourth(x):
    return Square.apply(Square.apply(x))


def test_forward_over_forward_through_a_custom_jvp():
    """x**4 at 3: 81, 108, 108, 72, 24, 0."""
    for value, want in zip(derivatives(fourth, t(3.0), 5), [81, 108, 108, 72, 24, 0], strict=True):
        same(value, float(want))
    numbers = derivatives(fourth, np.float64(3.0), 5)
    for value, want in zip(numbers, [81, 108, 108, 72, 24, 0], strict=True):
        same(value, float(want))


def test_reverse_over_reverse():
    f, x = fourth, t(3.0)
    for want in (108.0, 108.0, 72.0, 24.0):
        f = func.grad(f)
        same(f(x), want)


def test_dual_levels_nest_to_any_depth():
    with forward_ad.dual_level() as one:
        x = forward_ad.make_dual(t(3.0), t(1.0))
        with forward_ad.dual_level() as two:
            y = forward_ad.make_dual(x, t(1.0))
            with forward_ad.dual_level() as three:
                z = forward_ad.make_dual(y, t(1.0))
                third = tangent(tangent(tangent(fourth(z), three), two), one)
    same(third, 72.0)


def test_an_inner_level_sees_an_outer_dual_as_a_constant():
    """d/dx (x * d/dy (x * y)) at x = 4 is d/dx x^2 = 8: no perturbation confusion."""

    class Mul(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_forward(x, y)
            return x * y

        @staticmethod
        def jvp(ctx, dx, dy):
            x, y = ctx.saved_tensors
            return dx * y + x * dy

    with forward_ad.dual_level():
        x = forward_ad.make_dual(t(4.0), t(1.0))
        with forward_ad.dual_level():
            y = forward_ad.make_dual(t(1.0), t(1.0))
            slope = tangent(Mul.apply(x, y))
        same(primal(slope), 4.0)
        same(tangent(Mul.apply(x, slope)), 8.0)


def test_a_level_that_has_ended_leaves_an_ordinary_tensor():
    with forward_ad.dual_level():
        y = Square.apply(forward_ad.make_dual(t(3.0), t(1.0)))
    assert tangent(y) is None
    with forward_ad.dual_level():
        assert tangent(y) is None
        same(tangent(Square.apply(forward_ad.make_dual(y, t(1.0)))), 18.0)


def test_an_exception_in_a_rule_closes_nothing_but_its_level():
    class Boom(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, dx):
            raise KeyError("user")

    with forward_ad.dual_level():
        x = forward_ad.make_dual(t(1.0), t(5.0))
        with pytest.raises(KeyError):
            with forward_ad.dual_level():
                Boom.apply(forward_ad.make_dual(x, t(1.0)))
        same(tangent(Square.apply(x)), 10.0)


def test_four_threads_each_at_a_level_of_its_own():
    errors = []
    start = threading.Barrier(4)

    def work(depth):
        want = [81.0, 108.0, 108.0, 72.0][depth]
        start.wait()
        for _ in range(20):
            got = derivatives(fourth, t(3.0), depth)[-1]
            if got.item() != want:
                errors.append((depth, got))
            with forward_ad.dual_level():
                if tangent(fourth(forward_ad.make_dual(t(3.0), t(1.0)))).item() != 108.0:
                    errors.append(("dual", depth))
            x = t(3.0, True)
            fourth(x).backward()
            if x.grad.item() != 108.0:
                errors.append(("graph", depth))

    threads = [threading.Thread(target=work, args=(d,)) for d in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_level_belongs_to_its_thread():
    seen = []
    with forward_ad.dual_level():
        x = forward_ad.make_dual(t(1.0), t(2.0))

        def elsewhere():
            with pytest.raises(RuntimeError, match="level"):
                forward_ad.make_dual(t(1.0), t(1.0))
            seen.append(tangent(x))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        same(tangent(x), 2.0)
    assert seen == [None]


# --- what is kept of forward: known at every level, run again, or frozen -----------------------


def keeping(keep, read, style="combined"):
    """x**4 = (x**2)**2 with an intermediate kept by `keep`, read back by `read`."""

    class Kept(Function):
        @staticmethod
        def forward(ctx, x):
            square = x * x
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            keep(ctx, x, square)
            return square * square

        @staticmethod
        def backward(ctx, g):
            return 4 * ctx.saved_tensors[0] * read(ctx) * g

        @staticmethod
        def jvp(ctx, dx):
            return 4 * ctx.saved_tensors[0] * read(ctx) * dx

    return Kept.apply


def save(ctx, x, square):
    ctx.save_for_backward(x, square)
    ctx.save_for_forward(x, square)


KEPT = {
    "saved": (save, lambda ctx: ctx.saved_tensors[1]),
    "an attribute": (
        lambda ctx, x, square: setattr(ctx, "square", square),
        lambda ctx: ctx.square,
    ),
    "in a container": (
        lambda ctx, x, square: setattr(ctx, "kept", {"all": [square]}),
        lambda ctx: ctx.kept["all"][0],
    ),
    "the input as an attribute": (
        lambda ctx, x, square: setattr(ctx, "x", x),
        lambda ctx: ctx.x * ctx.x,
    ),
}


@pytest.mark.parametrize("how", KEPT)
def test_first_order_may_use_it(how):
    f = keeping(*KEPT[how])
    x = t(3.0, True)
    f(x).backward()
    same(x.grad, 108.0)
    with forward_ad.dual_level():
        same(tangent(f(forward_ad.make_dual(t(3.0), t(1.0)))), 108.0)


@pytest.mark.parametrize("how", KEPT)
def test_transformations_run_forward_again_for_outer_levels(how):
    """Values inside the context are then values of that level: the second derivative is right."""
    f = keeping(*KEPT[how])
    for second in (
        func.grad(func.grad(f)),
        lambda x: derivatives(f, x, 2)[2],
        func.jacfwd(func.grad(f)),
        func.jacrev(func.jacfwd(f)),
    ):
        same(second(t(3.0)), 108.0)
    same(func.grad(func.grad(func.grad(f)))(t(3.0)), 72.0)


@pytest.mark.parametrize("how", KEPT)
def test_nested_dual_levels_run_forward_again(how):
    f = keeping(*KEPT[how])
    with forward_ad.dual_level():
        x = forward_ad.make_dual(t(3.0), t(1.0))
        with forward_ad.dual_level():
            slope = tangent(f(forward_ad.make_dual(x, t(1.0))))
        same(tangent(slope), 108.0)


@pytest.mark.parametrize("how", KEPT)
def test_reverse_over_forward_runs_forward_again(how):
    f, x = keeping(*KEPT[how]), t(3.0, True)
    with forward_ad.dual_level():
        slope = tangent(f(forward_ad.make_dual(x, t(1.0))))
        (second,) = dualad.autograd.grad(slope, x)
    same(second, 108.0)


def test_a_saved_intermediate_is_frozen_in_the_graph():
    """Saved, and not an input or output: its derivative is unknown there; an error, never zero."""
    f, x = keeping(*KEPT["saved"]), t(3.0, True)
    (g,) = dualad.autograd.grad(f(x), x, create_graph=True)
    same(g, 108.0)
    with pytest.raises(RuntimeError, match="computed in forward"):
        dualad.autograd.grad(g, x)


def test_an_input_kept_as_an_attribute_is_known_in_the_graph():
    f, x = keeping(*KEPT["the input as an attribute"]), t(3.0, True)
    (g,) = dualad.autograd.grad(f(x), x, create_graph=True)
    same(dualad.autograd.grad(g, x)[0], 108.0)


def test_a_number_taken_out_in_forward_is_refused_at_second_order():
    """ctx.square = x.item()**2 has no derivative: run again inside a transformation it raises."""
    f = keeping(
        lambda ctx, x, square: setattr(ctx, "square", x.item() ** 2), lambda ctx: ctx.square
    )
    same(func.grad(f)(t(3.0)), 108.0)
    with pytest.raises(RuntimeError, match="item"):
        func.grad(func.grad(f))(t(3.0))


def test_a_forward_that_is_not_pure_is_found_out():
    """A random mask kept in ctx cannot be had again for an outer level."""
    random = np.random.default_rng(1)

    class Dropout(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mask = t(random.integers(0, 2, 64) * 1.0)
            return x * ctx.mask

        @staticmethod
        def backward(ctx, g):
            return g * ctx.mask

    f = lambda x: (Dropout.apply(x) ** 2).sum()
    func.grad(f)(t(np.ones(64)))
    with pytest.raises(RuntimeError, match="another result"):
        func.grad(lambda x: func.grad(f)(x).sum())(t(np.ones(64)))


def test_setup_context_runs_once_for_each_level_with_its_values():
    seen = []

    class Cube(Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append(len(seen))
            ctx.slope = 3 * inputs[0] ** 2

        @staticmethod
        def backward(ctx, g):
            return ctx.slope * g

    same(func.grad(func.grad(Cube.apply))(t(2.0)), 12.0)
    assert len(seen) == 3  # on plain values, and for each of the two levels


def test_combined_style_in_place_with_an_intermediate_says_what_is_missing():
    class Odd(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = x * 1
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.kept / ctx.kept

    f = lambda x: Odd.apply(x * 1)
    same(func.grad(f)(t(3.0)), 2.0)
    with pytest.raises(RuntimeError, match="setup_context"):
        func.grad(func.grad(f))(t(3.0))


def test_a_value_of_the_level_itself_in_a_rule_is_refused():
    """The rule of a level works below it: what it needs must be saved, not closed over."""

    def f(x):
        class Odd(Function):
            @staticmethod
            def forward(ctx, y):
                return 2 * y

            @staticmethod
            def jvp(ctx, dy):
                return 2 * dy * x / x

        return Odd.apply(x * 1)

    with pytest.raises(RuntimeError, match="closure"):
        func.jvp(f, (t(3.0),), (t(1.0),))
