"""The tables of operations: values are NumPy's, derivatives pass gradcheck in both modes."""

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.autograd import gradcheck
from dualad.tensor.tables import ALONG, FLOATING, KEEPING, PAIRS, REDUCTIONS, TESTING

X = np.array([[0.3, 0.7, 0.2], [0.9, 0.4, 0.6]])
Y = np.array([[0.5, 0.15, 0.8], [0.2, 0.35, 0.45]])
SHIFT = {"acosh": 1.0, "arccosh": 1.0}
VECTORS = {"dot", "inner", "outer", "vdot"}
MATRICES = {"matmul", "mm", "mv", "bmm"}
CONSTANT = {
    "sign", "sgn", "floor", "ceil", "round", "trunc", "fix", "angle", "bitwise_not", "logical_not",
    "isclose", "logical_and", "logical_or", "logical_xor", "argmax", "argmin", "all", "any",
    "count_nonzero", "heaviside",
}  # fmt: skip


def operands(name):
    x, y = X + SHIFT.get(name, 0.0), Y
    if name in VECTORS:
        return x[0], y[0]
    if name == "bmm":
        return x[None], y.T[None]
    if name in MATRICES:
        return x, y.T if name != "mv" else y[0]
    return x, y


def checked(f, *arrays):
    assert gradcheck(f, tuple(t(a, True) for a in arrays), check_forward_ad=True)


@pytest.mark.parametrize("name", [*FLOATING, *KEEPING])
def test_of_each_entry(name):
    if name == "bitwise_not":
        assert dualad.tensor([True, False]).bitwise_not().tolist() == [False, True]
        return
    x, _ = operands(name)
    same(getattr(t(x), name)(), {**FLOATING, **KEEPING}[name](x))
    if name not in CONSTANT:
        checked(lambda x: getattr(x, name)(), x)


@pytest.mark.parametrize("name", TESTING)
def test_of_each_entry_a_boolean(name):
    special = np.array([-1.0, np.nan, np.inf])
    assert getattr(t(special), name)().tolist() == TESTING[name](special).tolist()


@pytest.mark.parametrize("name", PAIRS)
def test_of_two_tensors(name):
    x, y = operands(name)
    same(getattr(t(x), name)(t(y)), PAIRS[name](x, y))
    if name not in CONSTANT and name != "nextafter":
        checked(lambda x, y: getattr(x, name)(y), x, y)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dim", [None, 0, -1])
def test_along_dimensions_to_one_entry(name, dim):
    for keepdim in (False, True):
        got = getattr(t(X), name)(dim=dim, keepdim=keepdim)
        same(got, REDUCTIONS[name](X, axis=dim, keepdims=keepdim))
    if name not in CONSTANT:
        checked(lambda x: getattr(x, name)(dim), X)


@pytest.mark.parametrize("name", ALONG)
def test_along_dimensions(name):
    same(getattr(t(X), name)(1), ALONG[name](X, axis=1))
    checked(lambda x: getattr(x, name)(0), X)


FORMULAS = {
    "std": (lambda x: x.std(1), X.std(1, ddof=1)),
    "var": (lambda x: x.var(0, correction=0), X.var(0)),
    "norm": (lambda x: x.norm(), np.sqrt((X**2).sum())),
    "norm of rows": (lambda x: x.norm(dim=1), np.sqrt((X**2).sum(1))),
    "logsumexp": (lambda x: x.logsumexp(1), np.log(np.exp(X).sum(1))),
    "softmax": (lambda x: x.softmax(1), np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    "log_softmax": (lambda x: x.log_softmax(0), X - np.log(np.exp(X).sum(0))),
    "sigmoid": (lambda x: x.sigmoid(), 1 / (1 + np.exp(-X))),
    "relu": (lambda x: (x - 0.5).relu(), np.maximum(X - 0.5, 0)),
    "rsqrt": (lambda x: x.rsqrt(), 1 / np.sqrt(X)),
    "frac": (lambda x: (3 * x).frac(), 3 * X - np.trunc(3 * X)),
    "clamp": (lambda x: x.clamp(0.35, 0.65), np.clip(X, 0.35, 0.65)),
    "lerp": (lambda x: x.lerp(t(Y), 0.25), X + 0.25 * (Y - X)),
    "addcmul": (lambda x: x.addcmul(x, t(Y), value=2), X + 2 * X * Y),
    "addcdiv": (lambda x: x.addcdiv(x, t(Y)), X + X / Y),
    "add": (lambda x: x.add(t(Y), alpha=3), X + 3 * Y),
    "sub": (lambda x: x.sub(t(Y), alpha=3), X - 3 * Y),
    "max": (lambda x: x.max(1).values, X.max(1)),
    "min": (lambda x: x.min(), X.min()),
    "sort": (lambda x: x.sort(1, descending=True).values, -np.sort(-X, 1)),
    "topk": (lambda x: x.topk(2).values, -np.sort(-X, 1)[:, :2]),
    "where": (lambda x: x.where(x > 0.5, 0.0), np.where(X > 0.5, X, 0.0)),
    "flip": (lambda x: x.flip(1), X[:, ::-1]),
    "roll": (lambda x: x.roll(1, 1), np.roll(X, 1, 1)),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, 0), np.repeat(X, 2, 0)),
    "tril": (lambda x: x.tril(), np.tril(X)),
    "triu": (lambda x: x.triu(1), np.triu(X, 1)),
    "trace": (lambda x: x.trace(), np.trace(X)),
    "diag": (lambda x: x.diag(), np.diag(X)),
    "gather": (lambda x: x.gather(1, dualad.tensor([[2, 0], [1, 1]])), [[0.2, 0.3], [0.4, 0.4]]),
    "index_select": (lambda x: x.index_select(1, dualad.tensor([2, 0])), X[:, [2, 0]]),
    "masked_select": (lambda x: x.masked_select(x > 0.5), X[X > 0.5]),
    "masked_fill": (lambda x: x.masked_fill(x > 0.5, 7.0), np.where(X > 0.5, 7.0, X)),
    "masked_scatter": (
        lambda x: x.masked_scatter(t(X) > 0.5, x * 2),
        np.array([[0.3, 0.6, 0.2], [1.4, 0.4, 0.4]]),
    ),
    "index_add": (
        lambda x: x.index_add(1, dualad.tensor([0, 0]), x[:, :2], alpha=2),
        X + np.stack([2 * (X[:, 0] + X[:, 1]), 0 * X[:, 0], 0 * X[:, 0]], 1),
    ),
    "index_put": (
        lambda x: x.index_put((dualad.tensor([0, 1]), dualad.tensor([0, 2])), x[0, :2] * 0),
        X * [[0, 1, 1], [1, 1, 0]],
    ),
    "scatter": (
        lambda x: x.scatter(1, dualad.tensor([[0], [2]]), x[:, 1:2]),
        [[0.7, 0.7, 0.2], [0.9, 0.4, 0.4]],
    ),
    "scatter_add": (
        lambda x: x.scatter_add(0, dualad.tensor([[1, 1, 1]]), x),
        [[0.3, 0.7, 0.2], [1.2, 1.1, 0.8]],
    ),
}


@pytest.mark.parametrize(("f", "want"), FORMULAS.values(), ids=FORMULAS.keys())
def test_by_formula(f, want):
    same(f(t(X)), want)
    checked(f, X)


def test_indices():
    x = t(X)
    assert x.max(0).indices.tolist() == [1, 0, 1] and x.sort().indices.tolist()[0] == [2, 0, 1]
    assert x.topk(1, largest=False).indices.tolist() == [[2], [1]]
    assert dualad.tensor([[0, 1], [2, 0]]).nonzero().tolist() == [[0, 1], [1, 0]]


def test_saturated_functions_do_not_overflow():
    x = t([-1000.0, 0.0, 1000.0], True)
    x.sigmoid().sum().backward()
    same(x.grad, [0.0, 0.25, 0.0])
    same(t([-1000.0, 1000.0]).softmax(0), [0.0, 1.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda: t([1.0, 2.0]) + t([1.0, 2.0, 3.0]),
        lambda: t([1.0, 2.0]) @ t([1.0, 2.0, 3.0]),
        lambda: t([1.0, 2.0]).maximum(t([1.0, 2.0, 3.0])),
        lambda: t([1.0, 2.0]).reshape(3),
        lambda: t([1.0, 2.0]).expand(3),
    ],
)
def test_shapes_that_do_not_fit(f):
    for error in (RuntimeError, ValueError):
        with pytest.raises(error):
            f()


@pytest.mark.parametrize(
    "f",
    [
        lambda: t([1.0]).select(1, 0),
        lambda: t([1.0]).unsqueeze(5),
        lambda: t([1.0]).transpose(0, 1),
        lambda: t([1.0])[3],
    ],
)
def test_dimensions_that_are_not_there(f):
    with pytest.raises(IndexError):
        f()


A23 = np.array([[0.1, 0.5, 0.3], [0.7, 0.2, 0.9]])
B32 = np.array([[0.4, 0.2], [0.6, 0.3], [0.1, 0.8]])
C22 = np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("end", ["", "_"])
def test_products_that_are_added(end):
    """d sum(beta c + alpha a @ b) is beta for c and alpha times the row sums of b for a."""
    a, c = t(A23, True), t(C22, True)
    y = getattr(c * 1, "addmm" + end)(a, t(B32), beta=2, alpha=3)
    same(y, 2 * C22 + 3 * A23 @ B32)
    y.sum().backward()
    same(c.grad, np.full((2, 2), 2.0))
    same(a.grad, 3 * np.tile(B32.sum(1), (2, 1)))
    same(getattr(t(C22[0]), "addmv" + end)(a.detach(), t(B32[:, 0])), C22[0] + A23 @ B32[:, 0])
    outer = np.outer(A23[:, 0], B32[0])
    same(getattr(t(C22), "addr" + end)(t(A23[:, 0]), t(B32[0]), alpha=2), C22 + 2 * outer)
    stacks = [t(v[None]) for v in (C22, A23, B32)]
    same(getattr(stacks[0], "baddbmm" + end)(*stacks[1:]), (C22 + A23 @ B32)[None])


@pytest.mark.parametrize("end", ["", "_"])
def test_one_bound(end):
    x = t(A23, True)
    y = getattr(getattr(x * 1, "clamp_min" + end)(0.2), "clamp_max" + end)(t([0.6, 0.6, 0.6]))
    same(y, np.clip(A23, 0.2, 0.6))
    y.sum().backward()
    same(x.grad, ((A23 >= 0.2) & (A23 <= 0.6)).astype(float))


def test_comparisons_by_name_and_in_place():
    for name, ufunc in {
        "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
        "greater_equal": np.greater_equal, "not_equal": np.not_equal, "eq": np.equal,
    }.items():  # fmt: skip
        expected = ufunc(A23, 0.3)
        same(getattr(t(A23), name)(0.3), expected)
        x = t(A23, True)
        y = getattr(x * 1, name + "_")(0.3)
        same(y, expected.astype(float))
        (y * x).sum().backward()
        same(x.grad, expected.astype(float))
