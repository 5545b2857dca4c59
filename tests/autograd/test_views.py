"""Views share memory, version, tangent and history with their base, in both directions."""

import copy

import numpy as np
import pytest
from tensors import primal, same, t, tangent

import dualad
from dualad import func
from dualad.autograd.forward_ad import dual_level, make_dual

DATA = np.arange(1.0, 7.0).reshape(2, 3)

#: Each view of a (2, 3) tensor, and the same view of an array.
VIEWS = {
    "row": (lambda x: x[0], lambda a: a[0]),
    "entry": (lambda x: x[1, 2], lambda a: a[1, 2, ...]),
    "slice": (lambda x: x[:, 1:], lambda a: a[:, 1:]),
    "step": (lambda x: x[:, ::2], lambda a: a[:, ::2]),
    "ellipsis": (lambda x: x[..., 0], lambda a: a[..., 0]),
    "all": (lambda x: x[...], lambda a: a[...]),
    "new dimension": (lambda x: x[:, None, 1], lambda a: a[:, None, 1]),
    "tensor index": (lambda x: x[dualad.tensor(1)], lambda a: a[1]),
    "select": (lambda x: x.select(1, 2), lambda a: a[:, 2]),
    "narrow": (lambda x: x.narrow(1, 1, 2), lambda a: a[:, 1:3]),
    "unbind": (lambda x: x.unbind(1)[2], lambda a: a[:, 2]),
    "iteration": (lambda x: list(x)[1], lambda a: a[1]),
    "split": (lambda x: x.split([1, 2], dim=1)[1], lambda a: a[:, 1:]),
    "chunk": (lambda x: x.chunk(2, dim=1)[1], lambda a: a[:, 2:]),
    "diagonal": (lambda x: x.diagonal(), lambda a: np.lib.stride_tricks.as_strided(
        a, (2,), (a.strides[0] + a.strides[1],))),
    "diagonal above": (lambda x: x.diagonal(1), lambda a: np.lib.stride_tricks.as_strided(
        a[:, 1:], (2,), (a.strides[0] + a.strides[1],))),
    "reshape": (lambda x: x.reshape(3, 2), lambda a: a.reshape(3, 2)),
    "view": (lambda x: x.view(-1), lambda a: a.reshape(-1)),
    "view of the same shape": (lambda x: x.view(2, 3), lambda a: a[...]),
    "view_as": (lambda x: x.view_as(dualad.zeros(6, 1)), lambda a: a.reshape(6, 1)),
    "flatten": (lambda x: x.flatten(), lambda a: a.reshape(-1)),
    "unflatten": (lambda x: x.unflatten(1, (3, 1)), lambda a: a.reshape(2, 3, 1)),
    "t": (lambda x: x.t(), lambda a: a.T),
    "T": (lambda x: x.T, lambda a: a.T),
    "mT": (lambda x: x.mT, lambda a: a.T),
    "transpose": (lambda x: x.transpose(0, -1), lambda a: a.T),
    "permute": (lambda x: x.permute(1, 0), lambda a: a.T),
    "movedim": (lambda x: x.movedim(0, 1), lambda a: a.T),
    "squeeze": (lambda x: x[:1].squeeze(0), lambda a: a[0]),
    "unsqueeze": (lambda x: x.unsqueeze(1), lambda a: a[:, None]),
    "a view of a view": (lambda x: x.t()[1:].reshape(2, 2, 1)[0], lambda a: a.T[1:][0][:, None]),
}  # fmt: skip
EACH = pytest.mark.parametrize(("view", "array"), VIEWS.values(), ids=VIEWS.keys())


@EACH
def test_memory_and_version_are_shared(view, array):
    x, a = t(DATA), DATA.copy()
    v, w = view(x), array(a)
    same(v, w)
    assert v._base is x and v._is_view() and x._base is None
    v.mul_(10)
    w *= 10
    same(x, a)
    x.add_(1)
    a += 1
    same(v, w)
    assert v._version == x._version == 2


@EACH
def test_a_write_through_the_view_reaches_the_history_of_the_base(view, array):
    """base = 2x, view *= 3, sum(base * w): the gradient is 2w, and 6w in the view."""
    weights = np.arange(10.0, 16.0).reshape(2, 3)
    x = t(DATA, True)
    base = x * 2
    v = view(base)
    v.mul_(3)
    assert v.requires_grad and not v.is_leaf
    (base * t(weights)).sum().backward()
    want = 2 * weights
    array(want)[...] *= 3
    same(x.grad, want)


@EACH
def test_a_write_to_the_base_reaches_the_history_of_the_view(view, array):
    x = t(DATA, True)
    base = x * 2
    v = view(base)
    old = v.grad_fn
    base.mul_(5)
    assert v.grad_fn is not old
    v.sum().backward()
    want = np.zeros((2, 3))
    array(want)[...] = 10.0
    same(x.grad, want)


@EACH
def test_a_view_of_a_leaf_is_no_leaf(view, array):
    v = view(t(DATA, True))
    assert v.requires_grad and not v.is_leaf and v.grad_fn is not None
    with pytest.raises(RuntimeError, match="a view of a leaf"):
        v.mul_(2)


@EACH
def test_a_constant_base_joins_the_graph_through_its_view(view, array):
    w = t(4.0, True)
    base = t(DATA)
    v = view(base)
    v.mul_(w)
    assert base.requires_grad and not base.is_leaf
    base.sum().backward()
    same(w.grad, array(DATA.copy()).sum())


@EACH
def test_tangents_are_shared(view, array):
    moves = np.arange(10.0, 16.0).reshape(2, 3)
    with dual_level():
        d = make_dual(t(DATA), t(moves))
        v = view(d)
        same(tangent(v), array(moves.copy()))
        v.mul_(10)
        want, dwant = DATA.copy(), moves.copy()
        array(want)[...] *= 10
        array(dwant)[...] *= 10
        same(primal(d), want)
        same(tangent(d), dwant)
        d.mul_(2)
        same(tangent(v), 2 * array(dwant))


@EACH
def test_a_plain_base_becomes_dual_through_its_view(view, array):
    """With a zero tangent where nothing was written."""
    with dual_level():
        base = t(DATA)
        view(base).mul_(make_dual(t(3.0), t(1.0)))
        want = np.zeros((2, 3))
        array(want)[...] = array(DATA.copy())
        same(tangent(base), want)
    assert tangent(base) is None


@EACH
def test_inside_transformations(view, array):
    """The same writes as values: f = sum(base^2) with the view tripled in place."""

    def f(x):
        base = x * 1
        v = view(base)
        base.mul_(2)
        v.mul_(3)
        return (base * base).sum() + v.sum()

    factor = np.full((2, 3), 2.0)
    array(factor)[...] = 6.0
    ones = np.zeros((2, 3))
    array(ones)[...] = 6.0
    want = 2 * factor**2 * DATA + ones
    same(func.grad(f)(t(DATA)), want)
    same(func.jvp(f, (t(DATA),), (t(np.ones((2, 3))),))[1], want.sum())
    same(dualad.vmap(func.grad(f))(t(DATA[None]))[0], want)


# --- what is no view ---------------------------------------------------------------------------

COPIES = {
    "index tensor": lambda x: x[dualad.tensor([0, 1])],
    "mask": lambda x: x[x > 0],
    "list": lambda x: x[[0]],
    "clone": lambda x: x.clone(),
    "reshape across rows": lambda x: x.t().reshape(-1),
    "contiguous": lambda x: x.t().contiguous(),
    "flip": lambda x: x.flip(0),
    "repeat": lambda x: x.repeat(1, 1),
    "to": lambda x: x.to(dualad.float32),
    "NumPy's reshape": lambda x: np.reshape(x, (3, 2)),
    "NumPy's transpose": lambda x: np.transpose(x),
    "NumPy's broadcast_to": lambda x: np.broadcast_to(x, (4, 2, 3)),
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES.keys())
@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_copy_is_written_to_alone(copy, requires_grad):
    x = t(DATA, requires_grad) * 1
    v = copy(x)
    assert not v._is_view()
    v.add_(100)
    same(x, DATA)


def test_view_insists_on_the_same_memory():
    with pytest.raises(RuntimeError, match="reshape"):
        t(DATA).t().view(-1)
    with pytest.raises(RuntimeError):
        t(DATA).view(4, 2)


def test_an_expanded_tensor_is_read_only():
    """Several of its entries are one: to write to it has no meaning."""
    x = t([[1.0, 2.0]], True) * 1
    e = x.expand(3, 2)
    for write in (lambda: e.add_(1), lambda: e[0].add_(1), lambda: e.zero_()):
        with pytest.raises(RuntimeError, match="expanded"):
            write()
    x.mul_(2)
    same(e, [[2.0, 4.0]] * 3)
    one = x.expand(1, 2)
    one.mul_(2)
    same(x, [[4.0, 8.0]])


# --- detached, without grad, duals of tensors --------------------------------------------------


def test_a_detached_alias_shares_memory_and_version_and_no_history():
    x = t([1.0, 2.0], True)
    y = x * 1
    z = y * y
    d = y.detach()
    assert not d.requires_grad and not d._is_view()
    d.add_(1)
    same(y, [2.0, 3.0])
    assert y._version == d._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        z.sum().backward()
    d.mul_(t(2.0, True))
    assert d.requires_grad and y.grad_fn is not None
    same(y, [4.0, 6.0])


def test_a_view_made_under_no_grad_is_a_constant():
    x = t([1.0, 2.0], True)
    y = x * 1
    with dualad.no_grad():
        v = y[:1]
        v.mul_(5)
    same(y, [5.0, 2.0])
    assert not v.requires_grad
    with pytest.raises(RuntimeError, match="no_grad"):
        v.mul_(2)
    with pytest.raises(RuntimeError, match="no_grad"):
        v.mul_(t(2.0, True))
    y.mul_(2)
    same(v, [10.0])
    y.sum().backward()
    same(x.grad, [2.0, 2.0])


def test_a_dual_of_a_tensor_shares_its_history():
    x = t([1.0, 2.0], True)
    y = x * 1
    with dual_level():
        d = make_dual(y, t([10.0, 20.0]))
        y.mul_(3)
        same(primal(d), [3.0, 6.0])
        same(tangent(d), [10.0, 20.0])
        d.mul_(2)
        same(y, [6.0, 12.0])
        same(tangent(d), [20.0, 40.0])
        y.sum().backward()
    same(x.grad, [6.0, 6.0])
    with dual_level():
        with pytest.raises(RuntimeError, match="leaf"):
            make_dual(x, t([1.0, 1.0])).mul_(2)


def test_a_detached_alias_inside_a_transformation_follows_and_is_read_only():
    """y = x^2, d = detach(y), y *= 2: y * d has the slope 4x * 2x^2."""

    def f(x):
        y = x * x
        d = y.detach()
        y.mul_(2)
        return (y * d).sum()

    same(func.grad(f)(t([1.0, 2.0])), [8.0, 64.0])

    def g(x):
        y = x * x
        y.detach().add_(1)
        return y.sum()

    with pytest.raises(RuntimeError, match="detached"):
        func.grad(g)(t([1.0, 2.0]))


def test_no_grad_inside_a_transformation_writes_values_and_keeps_history():
    """y = x^2, then y += 1 unrecorded: sum(y^2) has the slope 2 (x^2 + 1) 2x."""

    def f(x):
        y = x * x
        with dualad.no_grad():
            y.add_(1)
            v = y[0]
            v.add_(1)
        return (y * y).sum()

    same(func.grad(f)(t([1.0, 2.0])), [2 * 3 * 2.0, 2 * 5 * 4.0])


def test_a_tensor_from_outside_takes_no_value_of_a_transformation():
    outside = t([0.0, 0.0])

    def f(x):
        outside.add_(x)
        return (outside * outside).sum()

    for run in (
        lambda: func.grad(f)(t([1.0, 2.0])),
        lambda: func.jvp(f, (t([1.0, 2.0]),), (t([1.0, 1.0]),)),
        lambda: dualad.vmap(f)(t([[1.0, 2.0]])),
    ):
        with pytest.raises(RuntimeError, match="made outside"):
            run()
    same(outside, [0.0, 0.0])

    def nested(x):
        y = x * 1
        return func.grad(lambda z: y.mul_(z).sum())(t(2.0))

    with pytest.raises(RuntimeError, match="made outside"):
        func.grad(nested)(t(3.0))


def test_an_argument_of_a_transformation_is_not_written_to():
    def f(x):
        x.mul_(2)
        return (x * x).sum()

    x = t([1.0, 2.0])
    same(func.grad(f)(x), [8.0, 16.0])
    same(x, [1.0, 2.0])


# --- complex parts -----------------------------------------------------------------------------


def test_real_and_imaginary_parts_are_views():
    z = dualad.tensor(np.array([1 + 2j, 3 - 1j]))
    z.real.mul_(10)
    z.imag.zero_()
    same(z, [10 + 0j, 30 + 0j])
    w = dualad.tensor(np.array([1 + 2j]), requires_grad=True)
    y = w * 1
    y.real.mul_(3)
    (y.real + 10 * y.imag).sum().backward()
    same(w.grad, [3 + 10j])


def test_requires_grad_on_a_view_makes_a_leaf():
    base = t([1.0, 2.0])
    v = base[:1]
    v.requires_grad_()
    assert v.is_leaf and not base.requires_grad
    with pytest.raises(RuntimeError, match="leaf"):
        v.add_(1)
    base.mul_(2)
    same(v, [2.0])
    (v * v).sum().backward()
    same(v.grad, [4.0])


def test_a_dual_whose_primal_became_dual_is_not_written_to():
    """One memory with two tangents: a write through the one has no meaning for the other."""
    with dual_level():
        x = t([1.0, 2.0])
        d = make_dual(x, t([10.0, 20.0]))
        x.add_(make_dual(t([1.0, 1.0]), t([5.0, 5.0])))
        same(tangent(x), [5.0, 5.0])
        same(primal(d), [2.0, 3.0])
        same(tangent(d), [10.0, 20.0])
        with pytest.raises(RuntimeError, match="tangent of its own"):
            d.mul_(2)


# --- what gives the tensor itself ----------------------------------------------------------------


@pytest.mark.parametrize(
    "same_tensor",
    [
        lambda y: +y,
        lambda y: y.positive(),
        lambda y: y.conj(),
        lambda y: y.conj_physical(),
        lambda y: y.resolve_conj(),
        lambda y: y.contiguous(),
        lambda y: y.to(y.dtype),
        lambda y: y.to(y),
        lambda y: y.type(y.dtype),
        lambda y: y.type_as(y),
        lambda y: y.double(),
        lambda y: y.cpu(),
        lambda y: y.real,
        lambda y: y.flatten(),
        lambda y: dualad.as_tensor(y),
        lambda y: y.requires_grad_(y.requires_grad),
    ],
)
@pytest.mark.parametrize("recorded", [False, True])
def test_operations_that_change_nothing_give_the_tensor_itself(same_tensor, recorded):
    """As in PyTorch, so that a write through them is not lost."""
    x = t([1.0, 2.0], recorded)
    y = x * 1
    assert same_tensor(y) is y
    same_tensor(y).mul_(3)
    same(y, [3.0, 6.0])


@pytest.mark.parametrize("recorded", [False, True])
def test_those_of_complex_numbers_do_not(recorded):
    y = t([1 + 2j], recorded, dtype=dualad.complex128) * 1
    assert y.conj() is not y and +y is y
    same(y.conj(), [1 - 2j])


def test_ravel_is_in_the_order_of_rows_in_memory():
    x = t([[1.0, 2.0], [3.0, 4.0]])
    column = x[:, 0]
    column.reshape(-1).add_(1)
    column.ravel().add_(10)
    same(x, [[2.0, 2.0], [4.0, 4.0]])
    x.ravel().mul_(2)
    same(x, [[4.0, 4.0], [8.0, 8.0]])


def test_a_copy_shares_memory_a_deepcopy_does_not():
    x = t([1.0, 2.0], True)
    shallow, deep = copy.copy(x), copy.deepcopy(x)
    assert shallow is not x and shallow.requires_grad and shallow.is_leaf
    with dualad.no_grad():
        x.add_(1)
    same(shallow, [2.0, 3.0])
    same(deep, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="leaf"):
        copy.copy(x * 1)
