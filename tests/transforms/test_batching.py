"""vmap: axes, containers, chunks, errors; and that it composes with the derivatives."""

import numpy as np
import pytest

import dualad
from dualad.errors import ArgumentError, LostDerivativeError, ShapeError, StructureError

A, B = np.arange(12.0).reshape(3, 4), np.linspace(0, 1, 12).reshape(3, 4)


def test_a_dot_product_per_row():
    np.testing.assert_allclose(dualad.vmap(np.dot)(A, B), np.sum(A * B, 1))


@pytest.mark.parametrize("in_axes, x, y", [((0, 0), A, B), ((1, 0), A.T, B), ((-1, -1), A.T, B.T)])
@pytest.mark.parametrize("out_axes", [0, 1, -1])
def test_axes_in_and_out(in_axes, out_axes, x, y):
    out = dualad.vmap(lambda x, y: x * y, in_axes, out_axes)(x, y)
    np.testing.assert_allclose(out, np.moveaxis(A * B, 0, out_axes))


def test_both_spellings_of_the_axes():
    f = lambda x, y: x + y
    a = dualad.vmap(f, in_axes=(0, None), out_axes=1)(A, B[0])
    b = dualad.vmap(f, in_dims=(0, None), out_dims=1)(A, B[0])
    np.testing.assert_array_equal(a, (A + B[0]).T)
    np.testing.assert_array_equal(a, b)


def test_containers_and_their_axes():
    p = {"w": A, "k": 2.0}
    out = dualad.vmap(lambda p: {"y": p["w"] * p["k"], "k": 1.0}, in_axes=({"w": 0, "k": None},))(
        p
    )
    np.testing.assert_array_equal(out["y"], 2 * A)
    np.testing.assert_array_equal(out["k"], np.ones(3))


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 7])
def test_chunks_change_nothing(chunk_size):
    out = dualad.vmap(lambda x: np.sum(x**2), chunk_size=chunk_size)(A)
    np.testing.assert_allclose(out, np.sum(A**2, 1))


def test_nested():
    out = dualad.vmap(lambda x: dualad.vmap(lambda y: x * y)(B[0]))(A[:, 0])
    np.testing.assert_allclose(out, np.outer(A[:, 0], B[0]))


def test_per_sample_gradients_and_gradients_of_batches():
    per_sample = dualad.vmap(dualad.grad(lambda w, x: np.sum((w * x) ** 2)), in_axes=(None, 0))
    w = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(per_sample(w, A), 2 * w * A**2)
    total = dualad.grad(lambda w: np.sum(dualad.vmap(lambda x: np.sum((w * x) ** 2))(A)))
    np.testing.assert_allclose(total(w), np.sum(2 * w * A**2, 0))


def test_jvp_inside_and_outside():
    inside = dualad.vmap(lambda x: dualad.jvp(np.sin, (x,), (np.ones(4),))[1])(A)
    _, outside = dualad.jvp(dualad.vmap(np.sin), (A,), (np.ones((3, 4)),))
    np.testing.assert_allclose(inside, np.cos(A))
    np.testing.assert_allclose(outside, np.cos(A))


def test_what_an_unmapped_entry_cannot_be():
    with pytest.raises(LostDerivativeError, match="branches"):
        dualad.vmap(lambda x: x if x > 0 else -x)(np.ones(2))
    with pytest.raises(ShapeError, match="out_axes is None"):
        dualad.vmap(lambda x: x, out_axes=None)(np.ones(2))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: dualad.vmap(np.add)(np.ones(2), np.ones(3)), ShapeError, "different lengths"),
        (lambda: dualad.vmap(np.sin, in_axes=None)(np.ones(2)), ArgumentError, "at least one"),
        (lambda: dualad.vmap(np.add, in_axes=(0,))(A, B), ArgumentError, "2 arguments"),
        (lambda: dualad.vmap(np.sin, in_axes=2)(A), ShapeError, "no axis 2"),
        (lambda: dualad.vmap(np.sin, in_axes=([0, 0],))(A), StructureError, "mirror"),
        (lambda: dualad.vmap(np.sin, chunk_size=0), ArgumentError, "chunk_size"),
        (lambda: dualad.vmap(np.sin, randomness="some"), ArgumentError, "randomness"),
        (lambda: dualad.vmap(3), ArgumentError, "function"),
        (lambda: dualad.vmap(np.sin)(), ArgumentError, "positional"),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_integers_can_be_mapped_over():
    out = dualad.vmap(lambda x, k: np.take_along_axis(x, k[None], 0)[0])(A, np.array([3, 0, 1]))
    np.testing.assert_array_equal(out, A[[0, 1, 2], [3, 0, 1]])
