"""Products of matrices by tiles: exact on whole numbers, at every edge and every stride."""

import ctypes
import itertools

import numpy as np
import pytest
from native_programs import is_whole, native

import dualad
from dualad.compiling.native import forms
from dualad.compiling.native.products import (
    NARROW_SHAPE,
    WIDE_SHAPE,
    product_function,
    shape_here,
)

pytestmark = pytest.mark.skipif(shape_here() is None, reason="products are the library's")
SHAPES = [WIDE_SHAPE, NARROW_SHAPE] if shape_here() == WIDE_SHAPE else [NARROW_SHAPE]
rng = np.random.default_rng(0)
SIZES = (1, 2, 7, 8, 9, 23, 24, 25, 40)


def whole(*shape):
    """Whole numbers so small that every product of two and every sum is exact."""
    return rng.integers(-1000, 1000, shape).astype(float)


def product(a, b, shape=None):
    """The function on two matrices, with a rim around the result that nobody may write to."""
    kinds = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    call = ctypes.CFUNCTYPE(None, *kinds, *kinds, kinds[0], *[ctypes.c_int64] * 3)
    m, n = a.shape[0], b.shape[1]
    room = np.full(m * n + 16, np.pi)
    out = room[8:-8].reshape(m, n)
    given = [x for v in (a, b) for x in (v.ctypes.data, *(s // v.itemsize for s in v.strides))]
    call(int(product_function(shape)[0]))(*given, out.ctypes.data, m, n, a.shape[1])
    assert (room[:8] == np.pi).all()
    assert (room[-8:] == np.pi).all()
    return out


def exact(a, b):
    return (a.astype(np.int64) @ b.astype(np.int64)).astype(float)


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("k", [1, 3, 256, 257, 600])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_edge(m, n, k, shape):
    a, b = whole(m, k), whole(k, n)
    for x, y in itertools.product((a, np.asfortranarray(a)), (b, np.asfortranarray(b))):
        np.testing.assert_array_equal(product(x, y, shape), exact(a, b))


def test_rows_beyond_one_block():
    a, b = whole(1203, 300), whole(300, 31)
    np.testing.assert_array_equal(product(a, b), exact(a, b))


@pytest.mark.parametrize("step", [-3, -1, 2])
def test_strides(step):
    a, b = whole(90, 70)[::step, ::step], whole(70, 60)[::step, ::-step]
    np.testing.assert_array_equal(product(a, b), exact(a, b))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_row_and_column(bad):
    a, b = whole(20, 30), whole(30, 40)
    a[3, 7], b[:, 5] = bad, 0.0
    got = product(a, b)
    assert np.isnan(got[3, 5])
    others = np.arange(40) != 5
    with np.errstate(invalid="ignore"):
        expected = (a @ b)[3, others]
    np.testing.assert_array_equal(got[3, others], expected)
    rest = np.arange(20) != 3
    np.testing.assert_array_equal(got[rest], exact(a[rest], b))


def loss(x, w, v):
    return np.sum((x @ w)[:, ::2] @ v.T)


def test_a_program_is_one_kernel(monkeypatch):
    monkeypatch.setattr(forms, "has_threads", lambda: False)
    x, w, v = whole(30, 50), whole(50, 60), whole(20, 30)
    run, values = native(dualad.grad(loss, (0, 1, 2)), x, w, v)
    assert is_whole(run)
    got = run(*values)
    ones = np.ones((30, 20))
    inner = np.zeros((30, 60))
    inner[:, ::2] = ones @ v
    wanted = (inner @ w.T, x.T @ inner, ones.T @ (x @ w)[:, ::2])
    for g, expected in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(g, expected)


def test_the_librarys_threads_have_what_is_large(monkeypatch):
    x, w = whole(100, 100), whole(100, 100)
    for several, mine in ((False, True), (True, False)):
        monkeypatch.setattr(forms, "has_threads", lambda several=several: several)
        run, values = native(lambda x, w: np.tanh(np.tanh(x) @ w) * 2.0, x, w)
        assert is_whole(run) is mine
        np.testing.assert_allclose(run(*values)[0], np.tanh(np.tanh(x) @ w) * 2.0, atol=1e-12)


def test_single_precision_is_numpys():
    x = whole(40, 40).astype(np.float32) / 1000
    run, _ = native(lambda x: np.exp(np.sin(x) @ x) * 2.0, x)
    assert run is None or not is_whole(run)


STACKS = [
    ((4, 4), (4, 4, 4)), ((5, 3, 4), (4, 2)), ((5, 3, 4), (5, 4, 2)), ((5, 3, 4), (4,)),
    ((1, 3, 4), (5, 4, 2)), ((2, 1, 3, 4), (5, 4, 2)), ((7, 30, 20), (7, 20, 40)),
    ((30, 20), (3, 20, 40)), ((3, 1, 30, 20), (5, 20, 40)), ((4,), (4, 3)), ((3, 4), (4,)),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), STACKS)
def test_stacks(first, second):
    a, b = whole(*first), whole(*second)
    run, values = native(lambda a, b: (-(a @ b) * 2.0, a + 1.0), a, b)
    assert is_whole(run)
    np.testing.assert_array_equal(run(*values)[0], -2.0 * exact(a, b))


@pytest.mark.parametrize(("first", "second"), STACKS)
def test_gradients_of_stacks(first, second):
    """The sum of a @ b depends on a by the sums of the rows of b, and on b by those of a."""
    a, b = whole(*first), whole(*second)
    run, values = native(dualad.grad(lambda a, b: np.sum(a @ b), (0, 1)), a, b)
    ones = np.ones(exact(a, b).shape)
    left = a[None] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    ones = ones.reshape(
        *np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.shape[-2], -1
    )
    expected = (ones @ right.mT, left.mT @ ones)
    for got, x, full in zip(run(*values), (a, b), expected, strict=True):
        lead = full.ndim - max(x.ndim, 2)
        small = [lead + k for k, n in enumerate(x.shape[:-2]) if n == 1]
        total = full.sum((*range(lead), *small)).reshape(x.shape)
        np.testing.assert_array_equal(got, total)


def test_a_function_of_c():
    b = whole(30, 20)
    f = dualad.compile(lambda x: x @ b)
    x = whole(25, 30)
    f(x)
    c = f.cfunc(x)
    out = np.empty((25, 20))
    double = ctypes.POINTER(ctypes.c_double)
    c.ctypes(x.ctypes.data_as(double), out.ctypes.data_as(double))
    np.testing.assert_array_equal(out, exact(x, b))
