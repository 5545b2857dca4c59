"""An in-place operation differentiates at what it overwrites, and one entry is a view too."""

import numpy as np
import pytest

import dualad


def x():
    return dualad.tensor(np.array([2.0, 3.0]), requires_grad=True)


def gradient(f):
    v = x()
    f(v).sum().backward()
    return v.grad.tolist()


def scaled(v):
    y = dualad.tensor(np.array([5.0, 7.0]))
    return y.mul_(v)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda v: v.clone().mul_(v), [4.0, 6.0]),
        (lambda v: (v * 1).sin_(), np.cos([2.0, 3.0]).tolist()),
        (lambda v: (v * 1).pow_(3), [12.0, 27.0]),
        (lambda v: (v * 1).div_(v), [0.0, 0.0]),
        (scaled, [5.0, 7.0]),
    ],
)
def test_the_values_before_the_write_are_read(f, expected):
    assert gradient(f) == pytest.approx(expected, abs=1e-15)


def test_an_operand_that_is_overwritten_is_an_error():
    """y * y needs y in both places; the operand is not copied."""
    y = x() * 1
    y.mul_(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_one_entry_is_a_view():
    def f(v):
        y = v * 1
        y[0].mul_(v[1])
        return y

    assert gradient(f) == [3.0, 1.0 + 2.0]
    y = dualad.tensor(np.array([[1.0, 2.0], [3.0, 4.0]]))
    y[1, 0].add_(10.0)
    y[..., 0][0].zero_()
    assert y.tolist() == [[0.0, 2.0], [13.0, 4.0]]


UNARY = {
    "tanh": (lambda v: v.tanh(), lambda v: 1 / np.cosh(v) ** 2),
    "expm1": (lambda v: v.expm1(), np.exp),
    "reciprocal": (lambda v: v.reciprocal(), lambda v: -1 / v**2),
    "1 / x": (lambda v: 3 / v, lambda v: -3 / v**2),
    "exp": (lambda v: v.exp(), np.exp),
    "sqrt": (lambda v: v.sqrt(), lambda v: 0.5 / np.sqrt(v)),
    "sigmoid": (lambda v: v.sigmoid(), lambda v: 0.25 / np.cosh(v / 2) ** 2),
    "relu": (lambda v: v.relu(), np.ones_like),
}


@pytest.mark.parametrize("name", UNARY)
def test_the_argument_may_be_written_to_where_pytorch_saves_the_result(name):
    f, slope = UNARY[name]
    v = x()
    h = v * 1
    y = f(h)
    h.add_(1)
    h.t().mul_(2)
    y.sum().backward()
    assert v.grad.tolist() == pytest.approx(slope(np.array([2.0, 3.0])).tolist(), rel=1e-14)


@pytest.mark.parametrize("name", ["tanh", "expm1", "reciprocal", "1 / x"])
def test_the_second_derivative_survives_that_too(name):
    f, slope = UNARY[name]
    v = x()
    h = v * 1
    y = f(h)
    h.zero_()
    (g,) = dualad.autograd.grad(y.sum(), v, create_graph=True)
    (gg,) = dualad.autograd.grad(g.sum(), v)
    at, step = np.array([2.0, 3.0]), 1e-5
    second = (slope(at + step) - slope(at - step)) / (2 * step)
    assert gg.tolist() == pytest.approx(second.tolist(), rel=1e-8)


@pytest.mark.parametrize("log", [False, True])
def test_the_argument_of_softmax_may_be_written_to(log):
    v = x()
    h = v * 1
    y = h.log_softmax(0) if log else h.softmax(0)
    h.mul_(5)
    y[0].backward()
    p = np.exp([2.0, 3.0]) / np.sum(np.exp([2.0, 3.0]))
    slope = np.array([1 - p[0], -p[1]]) * (1 if log else p[0])
    assert v.grad.tolist() == pytest.approx(slope.tolist(), rel=1e-14)


def test_under_duals_as_well():
    """The gradient of the tangent of tanh at 0.5 is tanh''."""
    fw = dualad.autograd.forward_ad
    v = dualad.tensor(np.array([0.5]), requires_grad=True)
    with fw.dual_level():
        h = fw.make_dual(v, dualad.tensor(np.array([1.0]))) * 1
        y = h.tanh()
        h.add_(1)
        tangent = fw.unpack_dual(y).tangent
        (g,) = dualad.autograd.grad(tangent.sum(), v)
    assert g.item() == pytest.approx(-2 * np.tanh(0.5) / np.cosh(0.5) ** 2, rel=1e-14)


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (lambda v: v.sinc(), lambda v: np.cos(np.pi * v) / v - np.sin(np.pi * v) / (np.pi * v**2)),
        (lambda v: v.var(), lambda v: 2 * (v - v.mean())),
    ],
)
def test_the_result_may_be_written_to_where_pytorch_saves_the_argument(f, slope):
    v = x()
    f(v).mul_(2).sum().backward()
    assert v.grad.tolist() == pytest.approx((2 * slope(np.array([2.0, 3.0]))).tolist(), rel=1e-12)
