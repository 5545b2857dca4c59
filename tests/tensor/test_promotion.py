"""The dtype of a result: category first, then dimensions, then Python numbers."""

import numpy as np
import pytest
from tensors import same

import dualad

F32, F64, I64, B = dualad.float32, dualad.float64, dualad.int64, dualad.bool


def of(dtype, shape=(2,)):
    return dualad.ones(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("a", "b", "want"),
    [
        (of(F32), of(F64), F64),
        (of(I64), of(F32), F32),
        (of(B), of(I64), I64),
        (of(F32), of(F64, ()), F32),
        (of(F32, ()), of(F64), F64),
        (of(I64), of(F64, ()), F64),
        (of(F32), of(I64, ()), F32),
        (of(F64, ()), of(F32, ()), F64),
        (of(F32), 2.0, F32),
        (of(F32), np.float64(2.0), F32),
        (of(I64), 2, I64),
        (of(I64), 2.0, F32),
        (of(B), 2, I64),
        (of(F64), 2, F64),
        (of(F32), 1j, dualad.complex64),
        (of(F64), of(dualad.complex64), dualad.complex128),
    ],
)
def test_products(a, b, want):
    assert (a * b).dtype == want
    assert (b * a).dtype == want


def test_quotients_of_integers_are_floats():
    assert (of(I64) / 2).dtype == F32
    assert (of(I64) / of(I64)).dtype == F32
    assert (of(I64) // 2).dtype == I64


def test_functions_of_integers_are_floats():
    assert of(I64).exp().dtype == F32
    assert of(I64).abs().dtype == I64


def test_casts():
    x = dualad.tensor([1.7, -2.3])
    assert (
        x.long().tolist() == [1, -2] and x.double().dtype == F64 and x.half().dtype.itemsize == 2
    )
    assert x.bool().tolist() == [True, True] and x.int().dtype == dualad.int32
    assert x.to(F32) is x and x.to("cpu", F64).dtype == F64 and x.to(of(I64)).dtype == I64
    assert x.type_as(of(F64)).dtype == F64 and x.to(F32, copy=True) is not x


def test_a_cast_is_differentiable():
    x = dualad.tensor([1.0, 2.0], requires_grad=True)
    (x.double() * 3).sum().backward()
    assert x.grad.dtype == F32
    same(x.grad, [3.0, 3.0])
