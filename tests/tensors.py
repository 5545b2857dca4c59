"""Tensors for tests: float64 unless a test says otherwise, compared with closed forms."""

import numpy as np

import dualad
from dualad.autograd import forward_ad


def t(data, requires_grad=False, dtype=dualad.float64):
    """A tensor with a copy of data."""
    return dualad.tensor(data, dtype=dtype, requires_grad=requires_grad)


def same(actual, expected, tol=1e-12):
    """Equal shapes, and values equal up to rounding."""
    assert actual is not None, "expected a tensor, got None"
    a = np.asarray(actual.detach().numpy() if hasattr(actual, "detach") else actual)
    e = np.asarray(expected)
    assert a.shape == e.shape, f"shape {a.shape}, expected {e.shape}"
    np.testing.assert_allclose(a, e, rtol=tol, atol=tol)


def tangent(x, level=None):
    """The tangent of a tensor at the innermost dual level."""
    return forward_ad.unpack_dual(x, level=level).tangent


def primal(x, level=None):
    """The primal of a tensor at the innermost dual level."""
    return forward_ad.unpack_dual(x, level=level).primal


def derivatives(f, x, n):
    """f and its first n derivatives at a number, each by forward mode over the one before."""
    out = [f(x)]
    for _ in range(n):
        f = along_one(f)
        out.append(f(x))
    return out


def along_one(f):
    """The derivative of a function of one number, by forward mode."""
    return lambda x: dualad.jvp(f, (x,), (dualad.ones_like(x),))[1]
