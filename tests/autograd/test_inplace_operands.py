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
