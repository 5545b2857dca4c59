"""jvp of a custom function, and duals: what it gets, what it may return, what is an error."""

import math

import numpy as np
import pytest
from tensors import primal, same, t, tangent

import dualad
from dualad.autograd import Function, forward_ad
from dualad.autograd.forward_ad import dual_level, make_dual, unpack_dual


def custom(forward, jvp):
    """A function in combined style from two functions of (ctx, ...)."""
    return type(
        "Custom", (Function,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    ).apply


def double(jvp):
    return custom(lambda ctx, x: 2 * x, jvp)


@pytest.fixture
def x():
    with dual_level():
        yield make_dual(t([1.0, 2.0]), t([3.0, 4.0]))


def test_it_gets_a_tangent_for_each_argument(x):
    seen = []

    def jvp(ctx, dx, dk, dy, di):
        seen.extend([dk, dy.tolist(), di])
        return 5 * dx

    y = custom(lambda ctx, x, k, y, i: 5 * x, jvp)(x, 7, t([0.5, 0.5]), dualad.tensor([1, 2]))
    assert seen == [None, [0.0, 0.0], None]
    same(tangent(y), [15.0, 20.0])


def test_zeros_can_be_left_out(x):
    seen = []

    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * 1

    custom(forward, lambda ctx, dx, dy: (seen.append(dy), dx * 1)[1])(x, t([1.0, 1.0]))
    assert seen == [None]


def test_none_is_no_tangent(x):
    y = double(lambda ctx, dx: None)(x)
    assert tangent(y) is None
    same(primal(y), [2.0, 4.0])


def test_it_does_not_run_without_a_tangent():
    def jvp(ctx, dx):
        raise AssertionError("must not run")

    with dual_level():
        double(jvp)(t(1.0))
        double(jvp)(t(1.0, True))


def test_forward_and_jvp_see_values_without_tangents(x):
    seen = []

    def forward(ctx, x):
        ctx.x = x
        seen.append(tangent(x))
        return x * x

    def jvp(ctx, dx):
        seen.append(tangent(ctx.x))
        return 2 * ctx.x * dx

    same(tangent(custom(forward, jvp)(x)), [6.0, 16.0])
    assert seen == [None, None]


@pytest.mark.parametrize(
    ("jvp", "message"),
    [
        (lambda ctx, dx: (dx, dx), "incorrect number of tangents"),
        (lambda ctx, dx: (), "incorrect number of tangents"),
        (lambda ctx, dx: 2.0, "must be a tensor or None"),
        (lambda ctx, dx: [dx], "must be a tensor or None"),
        (lambda ctx, dx: dx.sum(), "shape"),
        (lambda ctx, dx: dx.reshape(2, 1), "shape"),
        (lambda ctx, dx: dx.long(), "dtype"),
    ],
)
def test_what_it_returns_is_checked(x, jvp, message):
    with pytest.raises(RuntimeError, match=message):
        double(jvp)(x)


def test_the_dtype_of_the_output_is_kept(x):
    y = double(lambda ctx, dx: 2 * dx.float())(x)
    assert tangent(y).dtype == dualad.float64


def test_a_marked_output_has_no_tangent(x):
    def forward(ctx, x):
        whole = x.floor()
        ctx.mark_non_differentiable(whole)
        return 2 * x, whole

    a, b = custom(forward, lambda ctx, dx: (2 * dx, None))(x)
    same(tangent(a), [6.0, 8.0])
    assert tangent(b) is None
    with pytest.raises(RuntimeError, match="differentiable"):
        custom(forward, lambda ctx, dx: (2 * dx, dx))(x)


def test_a_view_has_the_same_view_of_the_tangent(x):
    head = lambda jvp: custom(lambda ctx, x: x[:1], jvp)
    same(tangent(head(lambda ctx, dx: dx[:1])(x)), [3.0])
    with pytest.raises(RuntimeError, match="view"):
        head(lambda ctx, dx: dx[:1].clone())(x)


def test_writing_to_a_tangent_changes_it_for_nobody_else(x):
    """x + 1 shares the tangent of x."""
    y = x + 1
    same(tangent(double(lambda ctx, dx: dx.mul_(2))(y)), [6.0, 8.0])
    same(tangent(x), [3.0, 4.0])
    same(tangent(y), [3.0, 4.0])


def test_no_grad_does_not_stop_tangents(x):
    with dualad.no_grad():
        same(tangent(double(lambda ctx, dx: 2 * dx)(x)), [6.0, 8.0])


def test_tensors_in_containers_have_no_tangent(x):
    def jvp(ctx, pair):
        raise AssertionError("must not run")

    assert tangent(custom(lambda ctx, pair: pair[0] * 2, jvp)((x, x))) is None


# --- duals -------------------------------------------------------------------------------------


def test_arithmetic():
    with dual_level():
        d = make_dual(t(0.7), t(1.5))
        y = d.sin() * d + 1 / d
        same(primal(y), math.sin(0.7) * 0.7 + 1 / 0.7)
        same(tangent(y), (math.cos(0.7) * 0.7 + math.sin(0.7) - 1 / 0.7**2) * 1.5)


def test_a_dual_shares_the_memory_of_its_primal_and_of_its_tangent():
    """The tangent is taken as it is; what was computed from the dual keeps its own."""
    p, v = t([1.0, 2.0]), t([3.0, 4.0])
    with dual_level():
        d = make_dual(p, v)
        shifted, last = d + 1, d[1:]
        p.add_(10)
        v.mul_(10)
        same(primal(d), [11.0, 12.0])
        same(tangent(d), [30.0, 40.0])
        same(tangent(last), [40.0])
        same(tangent(shifted), [3.0, 4.0])
        assert tangent(d) is v and tangent(p) is None
        tangent(d).zero_()
        same(tangent(d), [0.0, 0.0])


def test_what_is_written_to_a_dual_reaches_the_tangent_it_was_given():
    p, v = t([1.0, 2.0]), t([3.0, 4.0])
    with dual_level():
        d, other = make_dual(p, v), make_dual(t([0.0, 0.0]), v)
        d.mul_(10)
        same(v, [30.0, 40.0])
        same(tangent(other), [30.0, 40.0])
        d[1:].mul_(2)
        same(v, [30.0, 80.0])
        d[0] = 7.0
        same(v, [0.0, 80.0])
        same(tangent(d), [0.0, 80.0])
    same(p, [7.0, 40.0])


def test_a_tangent_that_requires_grad_is_written_to_by_the_rules_of_leaves():
    with dual_level():
        d = make_dual(t([1.0, 2.0]), t([3.0, 4.0], True))
        with pytest.raises(RuntimeError, match="leaf"):
            d.mul_(10)
        v = t([3.0, 4.0], True)
        moved = v * 1
        d = make_dual(t([1.0, 2.0]), moved)
        d.mul_(10)
        same(moved, [30.0, 40.0])
        moved.sum().backward()
    same(v.grad, [10.0, 10.0])


def test_a_tangent_of_another_layout_or_in_the_primals_memory_is_copied():
    v = t([[3.0, 4.0], [5.0, 6.0]])
    with dual_level():
        d = make_dual(t([[1.0, 2.0], [3.0, 4.0]]), v.t())
        v.mul_(2)
        same(tangent(d), [[3.0, 5.0], [4.0, 6.0]])
        x = t([1.0, 2.0])
        d = make_dual(x, x)
        d.add_(1)
        same(x, [2.0, 3.0])
        same(tangent(d), [1.0, 2.0])


def test_unpacking():
    with dual_level():
        both = unpack_dual(make_dual(t(1.0), t(2.0)))
        assert both.primal is both[0] and both.tangent is both[1]
        x = t(1.0)
        assert unpack_dual(x).primal is x


def test_a_dual_of_a_leaf_is_no_leaf():
    x = t(2.0, True)
    with dual_level():
        d = make_dual(x, t(1.0))
        assert d.requires_grad and not d.is_leaf
        (d * d).backward()
    same(x.grad, 4.0)


def test_tangents_are_differentiable():
    """The tangent of x^2 along v is 2xv: its gradient is (2v, 2x)."""
    x, v = t(2.0, True), t(3.0, True)
    with dual_level():
        d = make_dual(x, v)
        gx, gv = dualad.autograd.grad(tangent(d * d), (x, v))
    same(gx, 6.0)
    same(gv, 4.0)


def test_requires_grad_is_that_of_the_primal():
    with dual_level():
        d = make_dual(t(2.0), t(3.0, True))
        assert not d.requires_grad and not (d * d).requires_grad
        assert tangent(d * d).requires_grad


def test_a_tangent_of_another_real_dtype_is_cast():
    with dual_level():
        d = make_dual(t(1.0, dtype=dualad.float32), t(2.0))
        assert tangent(d).dtype == dualad.float32
        same(tangent(d * 3), 6.0)


@pytest.mark.parametrize(
    ("primal", "tangent", "error", "message"),
    [
        (t([1.0, 2.0]), t([1.0]), RuntimeError, "size|shape"),
        (t([1.0, 2.0]), t(1.0), RuntimeError, "size|shape"),
        (t(1.0), t(1.0, dtype=dualad.complex128), RuntimeError, "dtype"),
        (dualad.tensor([1, 2]), t([1.0, 1.0]), ValueError, "floating"),
        (t([1.0, 1.0]), dualad.tensor([1, 2]), ValueError, "floating"),
    ],
)
def test_what_makes_no_dual(primal, tangent, error, message):
    with dual_level():
        with pytest.raises(error, match=message):
            make_dual(primal, tangent)


def test_a_dual_of_a_dual_needs_an_inner_level():
    with dual_level():
        d = make_dual(t(1.0), t(1.0))
        with pytest.raises(RuntimeError, match="level already"):
            make_dual(d, t(1.0))
        with pytest.raises(RuntimeError, match="level already"):
            make_dual(t(1.0), d)
        with dual_level():
            make_dual(d, t(1.0))


def test_levels_open_and_close_in_order():
    with pytest.raises(RuntimeError, match="no dual level is open"):
        make_dual(t(1.0), t(1.0))
    outer = forward_ad.enter_dual_level()
    forward_ad.enter_dual_level()
    with pytest.raises(RuntimeError, match="innermost"):
        forward_ad.exit_dual_level(level=outer)
    forward_ad.exit_dual_level()
    forward_ad.exit_dual_level(level=outer)
    with pytest.raises(RuntimeError, match="no dual level"):
        forward_ad.exit_dual_level()
    with pytest.raises(RuntimeError, match="not an open dual level"):
        make_dual(t(1.0), t(1.0), level=outer)


def test_one_context_manager_may_be_entered_twice():
    level = dual_level()
    with level:
        x = make_dual(t(3.0), t(1.0))
        with level:
            slope = tangent(make_dual(x, t(1.0)) ** 3)
        same(tangent(slope), 18.0)


def test_a_number_does_not_leave_a_dual_unnoticed():
    with dual_level():
        d = make_dual(t([1.0, 2.0]), t([3.0, 4.0]))
        for leave in (lambda: d[0].item(), lambda: float(d[0]), d.tolist, d.numpy):
            with pytest.raises(TypeError, match="drop"):
                leave()
        assert d.detach().tolist() == [1.0, 2.0]


def test_complex_duals():
    """d|z| along dz is Re(conj(z) dz) / |z|."""
    z, dz = np.array([3 + 4j]), np.array([1 + 2j])
    with dual_level():
        d = make_dual(dualad.tensor(z), dualad.tensor(dz))
        same(tangent(d * d), 2 * z * dz)
        same(tangent(d.abs()), (np.conj(z) * dz).real / np.abs(z))
