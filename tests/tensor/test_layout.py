"""Whether a reshape is a view or a copy: in every transformation as in the plain run."""

import numpy as np
import pytest

import dualad
from dualad import func
from dualad.autograd.forward_ad import dual_level, make_dual, unpack_dual

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

#: by name: what is doubled, and which entries of y that reaches
PARTS = {
    "rows": (lambda y: y.reshape(-1), np.ones((2, 3))),
    "rows, flat": (lambda y: y.flatten(), np.ones((2, 3))),
    "contiguous": (lambda y: y.contiguous(), np.ones((2, 3))),
    "the first row": (lambda y: y[:1].reshape(-1), [[1, 1, 1], [0, 0, 0]]),
    "a transpose": (lambda y: y.T, np.ones((2, 3))),
    "twice transposed": (lambda y: y.T.T.contiguous(), np.ones((2, 3))),
    "split": (lambda y: y.T.unflatten(0, (3, 1)), np.ones((2, 3))),
    "with an axis": (lambda y: y.T.unsqueeze(1).squeeze(), np.ones((2, 3))),
    "a diagonal": (lambda y: y.diagonal(), np.eye(2, 3)),
    "every second": (lambda y: y[0, ::2].view(-1), [[1, 0, 1], [0, 0, 0]]),
    "columns": (lambda y: y[:, :2].reshape(-1), np.zeros((2, 3))),
    "columns, flat": (lambda y: y[:, :2].flatten(), np.zeros((2, 3))),
    "a transpose, flat": (lambda y: y.T.flatten(), np.zeros((2, 3))),
    "a transpose, in rows": (lambda y: y.T.contiguous(), np.zeros((2, 3))),
    "a diagonal, in a row": (lambda y: y.diagonal().contiguous(), np.zeros((2, 3))),
    "axes in another order": (lambda y: y.movedim(0, 1).reshape(2, 3), np.zeros((2, 3))),
    "a spread column": (lambda y: y[:, :1].expand(2, 3).reshape(-1), np.zeros((2, 3))),
    "in rows, then flat": (lambda y: y.T.contiguous().view(-1), np.zeros((2, 3))),
}


def written(part, x):
    y = x.clone()
    part(y).mul_(2)
    return (y * y).sum()


def after_a_write(part, x):
    """The same where a value in other memory has taken the place of that of y."""
    y = x.clone()
    y.T.mul_(2)
    y.add_((x.T * 1).T)
    part(y).mul_(2)
    return (y * y).sum()


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize(("f", "scale"), [(written, 1), (after_a_write, 9)])
def test_writes_reach_the_same_entries(f, scale, name):
    part, reached = PARTS[name]
    factor = scale * (1 + 3 * np.asarray(reached))  # of the squares
    value, slope = (factor * X**2).sum(), 2 * factor * X
    x = dualad.tensor(X)
    assert f(part, x).item() == value
    recorded = dualad.tensor(X, requires_grad=True)
    f(part, recorded).backward()
    np.testing.assert_array_equal(recorded.grad.numpy(), slope)
    with dual_level():
        primal, tangent = unpack_dual(f(part, make_dual(x, x)))
        assert (primal.item(), tangent.item()) == (value, 2 * value)
    primal, tangent = func.jvp(lambda x: f(part, x), (x,), (x,))
    assert (primal.item(), tangent.item()) == (value, 2 * value)
    for derivative in (func.grad, func.jacrev, func.jacfwd):
        np.testing.assert_array_equal(derivative(lambda x: f(part, x))(x).numpy(), slope)
    hessian = func.hessian(lambda x: f(part, x))(x).numpy().reshape(6, 6)
    np.testing.assert_array_equal(hessian, np.diag(2 * factor.ravel()))
    many = func.vmap(lambda x: f(part, x))(dualad.tensor(np.stack([X, 2 * X])))
    assert many.tolist() == [value, 4 * value]


@pytest.mark.parametrize("part", [lambda y: y.T.view(-1), lambda y: y[:, ::2].view(-1)])
def test_a_view_that_there_is_not_is_an_error_everywhere(part):
    x = dualad.tensor(X)
    for run in (
        lambda: written(part, x),
        lambda: func.jvp(lambda x: written(part, x), (x,), (x,)),
        lambda: func.grad(lambda x: written(part, x))(x),
        lambda: func.vmap(lambda x: written(part, x))(x[None]),
    ):
        with pytest.raises(RuntimeError, match=r"view.*strides"):
            run()


def test_a_clone_lies_in_the_same_order_and_what_is_contiguous_in_that_of_rows():
    def orders(x):
        y = x * 1
        assert not y.T.is_contiguous() and not y.T.clone().is_contiguous()
        assert not y[:, :2].is_contiguous() and y[:, :2].clone().is_contiguous()
        assert y.T.contiguous().is_contiguous() and (y.T * 2).T.is_contiguous()
        changed = y * 1
        changed.t_()
        assert not changed.is_contiguous()
        changed.exp_()
        assert not changed.is_contiguous()
        return y.sum()

    x = dualad.tensor(X)
    orders(x)
    orders(dualad.tensor(X, requires_grad=True))
    func.grad(orders)(x)
    func.jvp(orders, (x,), (x,))
    func.vmap(orders)(x[None])
    func.jacfwd(orders)(x)
