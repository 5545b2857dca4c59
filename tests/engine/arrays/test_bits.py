"""Arrays are compared to the last bit in one place."""

import numpy as np
import pytest

from dualad.engine.arrays.bits import same_bits


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "c8", "c16", "G"])
def test_zeros_are_told_apart_by_sign_and_nans_are_alike(dtype):
    a = np.array([0.0, np.nan, 1.0]).astype(dtype)
    assert same_bits(a, a.copy())
    assert not same_bits(a, -a)
    assert not same_bits(a[:1], -a[:1])
    assert same_bits(a[::2], a.copy()[::2])


def test_shape_and_dtype_count():
    a = np.zeros(2)
    assert not same_bits(a, np.zeros((1, 2)))
    assert not same_bits(a, np.zeros(2, np.int64))
    assert same_bits(np.zeros(()), np.zeros(()))
    assert same_bits(np.array([1, "a"], object), np.array([1, "a"], object))
