"""Making tensors."""

import numpy as np
import pytest
from tensors import same, t

import dualad


def test_python_numbers_have_the_default_dtypes():
    assert dualad.tensor(1.0).dtype == dualad.float32
    assert dualad.tensor([1, 2]).dtype == dualad.int64
    assert dualad.tensor(True).dtype == dualad.bool
    assert dualad.tensor(1j).dtype == dualad.complex64
    assert dualad.tensor(np.ones(2)).dtype == dualad.float64
    assert dualad.tensor(np.float32(1)).dtype == dualad.float32
    assert dualad.tensor([1, 2], dtype=dualad.float64).dtype == dualad.float64


def test_tensor_copies_and_as_tensor_shares():
    a = np.zeros(2)
    dualad.tensor(a).add_(1)
    same(a, [0.0, 0.0])
    dualad.as_tensor(a).add_(1)
    dualad.from_numpy(a).add_(1)
    same(a, [2.0, 2.0])
    x = t([1.0], True)
    assert dualad.as_tensor(x) is x and not dualad.tensor(x).requires_grad


def test_of_one_value():
    same(dualad.zeros(2, 3), np.zeros((2, 3)))
    same(dualad.ones((2,)), [1.0, 1.0])
    same(dualad.full((2,), 3.5), [3.5, 3.5])
    same(dualad.empty(1, 2), [[0.0, 0.0]])
    same(dualad.eye(2), np.eye(2))
    x = t([[1.0, 2.0]])
    same(dualad.zeros_like(x), [[0.0, 0.0]])
    same(dualad.full_like(x, 4.0), [[4.0, 4.0]])
    assert dualad.ones_like(x).dtype == dualad.float64
    assert dualad.ones_like(x, dtype=dualad.int64).dtype == dualad.int64
    assert dualad.zeros(2).dtype == dualad.float32
    assert dualad.ones(2, requires_grad=True).requires_grad


def test_sequences():
    assert dualad.arange(3).tolist() == [0, 1, 2]
    assert dualad.arange(1, 2, 0.5).dtype == dualad.float32
    same(dualad.linspace(0, 1, 3, dtype=dualad.float64), [0.0, 0.5, 1.0])


def test_random_numbers_begin_again_from_a_seed():
    dualad.manual_seed(0)
    first = dualad.randn(3), dualad.rand(2, 2)
    dualad.manual_seed(0)
    second = dualad.randn(3), dualad.rand(2, 2)
    for a, b in zip(first, second, strict=True):
        same(a, b.numpy())
    assert dualad.rand(()).shape == ()


def test_like_another_tensor():
    x = t([1.0, 2.0])
    assert x.new_zeros(2, 3).shape == (2, 3) and x.new_ones((2,)).dtype == dualad.float64
    same(x.new_full((2,), 7), [7.0, 7.0])
    same(x.new_tensor([1, 2]), [1.0, 2.0])


def test_what_is_no_tensor():
    with pytest.raises(TypeError, match="numbers or booleans"):
        dualad.tensor("text")
    with pytest.raises(TypeError, match="float"):
        dualad.tensor([1, 2], requires_grad=True)
    with pytest.raises(TypeError, match="ndarray"):
        dualad.from_numpy([1.0])
