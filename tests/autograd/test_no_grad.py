"""no_grad, enable_grad and set_grad_enabled, inside and outside of transformations."""

import pytest
from tensors import same, t, tangent

import dualad
from dualad import func
from dualad.autograd import Function
from dualad.autograd.forward_ad import dual_level, make_dual


def test_nothing_is_recorded():
    x = t(2.0, True)
    with dualad.no_grad():
        y = x * 2
        with dualad.enable_grad():
            z = x * 2
        leaf = t(1.0, True)
    assert not y.requires_grad and y.is_leaf and z.requires_grad and leaf.requires_grad


def test_it_ends_with_an_exception_too():
    with pytest.raises(KeyError):
        with dualad.no_grad():
            raise KeyError
    assert dualad.is_grad_enabled()


def test_decorators():
    x = t(2.0, True)

    @dualad.no_grad()
    def called(x):
        return x * 2

    @dualad.no_grad
    def bare(x):
        return x * 2

    @dualad.set_grad_enabled(False)
    def switched(x):
        return x * 2

    assert dualad.is_grad_enabled()
    for f in (called, bare, switched):
        assert not f(x).requires_grad and dualad.is_grad_enabled()

    @dualad.no_grad()
    @dualad.enable_grad()
    def inner(x):
        return x * 2

    assert inner(x).requires_grad


def test_a_decorated_generator_is_in_the_mode_only_while_it_runs():
    @dualad.no_grad()
    def states(n):
        for _ in range(n):
            got = yield dualad.is_grad_enabled()
            assert got is None or got == "sent"
        return "end"

    steps = states(3)
    assert next(steps) is False and dualad.is_grad_enabled()
    assert steps.send("sent") is False and dualad.is_grad_enabled()
    assert next(steps) is False
    with pytest.raises(StopIteration, match="end"):
        next(steps)
    thrown = states(2)
    next(thrown)
    with pytest.raises(KeyError):
        thrown.throw(KeyError())
    closed = states(2)
    next(closed)
    closed.close()
    assert dualad.is_grad_enabled()


def test_set_grad_enabled_at_once_and_as_a_context():
    dualad.set_grad_enabled(False)
    assert not dualad.is_grad_enabled()
    dualad.set_grad_enabled(True)
    with dualad.set_grad_enabled(False):
        assert not dualad.is_grad_enabled()
    assert dualad.is_grad_enabled()


# --- transformations ---------------------------------------------------------------------------


def cube_less_square(x):
    """x^3 - c with c = x^2 as a constant."""
    with dualad.no_grad():
        c = x**2
    return x**3 - c


def test_inside_a_transformation_it_makes_constants():
    same(func.grad(cube_less_square)(t(2.0)), 12.0)
    _, pull = func.vjp(cube_less_square, t(2.0))
    same(pull(t(1.0))[0], 12.0)


def test_it_holds_for_all_levels_that_are_open():
    """Both derivatives of x^3 - c leave c alone: 6x."""
    same(func.grad(func.grad(cube_less_square))(t(2.0)), 12.0)

    def g(x):
        def h(y):
            with dualad.no_grad():
                c = x * y
            return x * x * y + c * x * y

        return func.grad(h)(t(3.0))

    # h' = x^2 + c x with c = 3x constant: 2x + c = 10 at 2
    same(func.grad(g)(t(2.0)), 10.0)


def test_outside_of_a_transformation_it_has_no_effect():
    with dualad.no_grad():
        same(func.grad(lambda x: x**3)(t(2.0)), 12.0)
        same(func.grad(cube_less_square)(t(2.0)), 12.0)
        modes = []
        for run in (
            lambda f: func.grad(f)(t(2.0)),
            lambda f: func.vjp(f, t(2.0)),
            lambda f: func.jvp(f, (t(2.0),), (t(1.0),)),
        ):
            run(lambda x: (modes.append(dualad.is_grad_enabled()), x * x)[1])
        assert modes == [True, True, False]
    assert dualad.is_grad_enabled()


def test_between_two_transformations_it_stops_the_outer_one():
    def g(x):
        with dualad.no_grad():
            slope = func.grad(lambda y: x * x * y * y)(t(3.0))  # 2 x^2 y = 24
        return slope * x

    same(func.grad(g)(t(2.0)), 24.0)

    def h(x):
        with dualad.no_grad(), dualad.enable_grad():
            return x**3

    same(func.grad(h)(t(2.0)), 12.0)


def test_enable_grad_does_not_reach_beyond_its_transformation():
    """Within no_grad, an inner transformation may enable recording for itself alone."""

    def g(x):
        with dualad.no_grad():

            def inner(y):
                with dualad.enable_grad():
                    return x * y * y

            slope = func.grad(inner)(t(3.0))
        return slope * x

    same(func.grad(g)(t(2.0)), 12.0)


def test_the_graph_of_tensors_below_a_transformation():
    w = t(2.0, True)
    with dualad.no_grad():
        assert not func.grad(lambda x: w * x * x)(t(3.0)).requires_grad
    g = func.grad(lambda x: w * x * x)(t(3.0))
    g.backward()
    same(w.grad, 6.0)


def test_forward_mode_goes_on():
    with dualad.no_grad(), dual_level():
        same(tangent(make_dual(t(2.0), t(1.0)) ** 3), 12.0)
    same(func.jvp(cube_less_square, (t(2.0),), (t(1.0),))[1], 12.0 - 4.0)


def test_forward_over_reverse_leaves_the_constant_alone_in_reverse():
    """jvp of grad: the gradient 3x^2 has no c; its derivative is 6x."""
    same(func.jvp(func.grad(cube_less_square), (t(2.0),), (t(1.0),))[1], 12.0)


def test_detach_inside_transformations():
    same(func.grad(lambda x: x * x.detach())(t(3.0)), 3.0)
    same(func.grad(func.grad(lambda x: x * x * x.detach()))(t(3.0)), 6.0)
    same(func.jvp(lambda x: x * x.detach(), (t(3.0),), (t(1.0),))[1], 3.0)


# --- custom functions within no_grad inside of a transformation ---------------------------------


class Cube(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


def test_a_custom_function_within_no_grad_is_a_constant():
    def f(x):
        with dualad.no_grad():
            y = Cube.apply(x)
        assert not y.requires_grad
        return (y * x).sum()

    x = t([2.0, 3.0])
    same(func.grad(f)(x), [8.0, 27.0])
    same(func.jvp(f, (x,), (t([1.0, 0.0]),))[1], 4 * 8.0)  # forward mode goes on
    same(dualad.vmap(func.grad(f))(t([[2.0], [3.0]])), [[8.0], [27.0]])


def test_one_that_writes_to_its_input_there_leaves_recorded_values_alone():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    def f(x):
        y = x * 1
        z = y * y
        with dualad.no_grad():
            Double.apply(y)
        return (z + 0 * y).sum()

    same(func.grad(f)(t([2.0, 3.0])), [4.0, 6.0])


def test_inference_mode_is_no_grad():
    x = t(2.0, True)
    with dualad.inference_mode():
        y = x * 2
    assert (
        not y.requires_grad and not dualad.autograd.inference_mode(lambda: x * 2)().requires_grad
    )
    (x * y).backward()  # What was made within may be used afterwards.
    same(x.grad, 4.0)
    with dualad.inference_mode(False):
        assert (x * 2).requires_grad
    with dualad.no_grad(), dualad.inference_mode(False):
        assert not (x * 2).requires_grad

    @dualad.inference_mode()
    def f(x):
        return x * 2

    assert not f(x).requires_grad
