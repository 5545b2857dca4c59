"""Hermitian matrices of which one triangle is read."""

import numpy as np
import pytest

from dualad.engine.arrays.memory import POOL
from dualad.ops import lapack
from dualad.ops.hermitian import folded, folded_product, halved, hermitian, hermitian_product

RNG = np.random.default_rng(32)


def numbers(*shape, complex_too=False):
    x = RNG.normal(size=shape)
    return x + 1j * RNG.normal(size=shape) if complex_too else x


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 5, 5), (150, 150)])
@pytest.mark.parametrize("lower", [True, False])
def test_the_matrix_of_a_triangle_and_its_transpose(shape, lower, complex_too):
    t, w = (numbers(*shape, complex_too=complex_too) for _ in range(2))
    mine = np.tril(t) if lower else np.triu(t)
    h = hermitian(t, lower=lower)
    assert np.array_equal(h, np.conj(np.swapaxes(h, -1, -2)))
    part = np.tril(h, -1) if lower else np.triu(h, 1)
    assert np.array_equal(part, np.tril(mine, -1) if lower else np.triu(mine, 1))
    diagonals = [np.diagonal(x, axis1=-2, axis2=-1) for x in (h, t)]
    assert np.array_equal(diagonals[0], diagonals[1].real)
    assert np.isclose(np.vdot(w, h).real, np.vdot(folded(w, lower=lower), t).real, rtol=1e-11)


@pytest.mark.parametrize("lower", [True, False])
def test_the_other_triangle_may_hold_anything(lower):
    t = numbers(4, 4)
    other = np.triu(np.full((4, 4), np.nan), 1) if lower else np.tril(np.full((4, 4), np.inf), -1)
    assert np.array_equal(hermitian(t + other, lower=lower), hermitian(t, lower=lower))
    found = folded(t, lower=lower)
    assert not (np.triu(found, 1) if lower else np.tril(found, -1)).any()


@pytest.fixture(params=["lapack", "numpy"])
def library(request, monkeypatch):
    """Each test with the BLAS that comes with NumPy, and as where that is not found."""
    if request.param == "numpy":
        monkeypatch.setattr(lapack, "_routines", lambda: None)
    elif lapack._routines() is None:
        pytest.skip("this NumPy was built with another library")


LAYOUTS = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "steps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "read only": lambda x: np.broadcast_to(x, x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, complex])
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (5, 3), (2, 5, 4), (200, 200)])
@pytest.mark.parametrize("lower", [True, False])
def test_products_are_those_of_the_whole_matrices(shape, lower, dtype, layout, library):
    stack, n = shape[:-2], shape[-2]
    is_complex = dtype is complex
    t = layout(numbers(*stack, n, n, complex_too=is_complex).astype(dtype))
    a, b = (layout(numbers(*shape, complex_too=is_complex).astype(dtype)) for _ in range(2))
    tolerance = 1e-4 if dtype is np.float32 else 1e-12
    product = hermitian_product(t, b, lower=lower)
    triangle = folded_product(a, b, lower=lower)
    assert product.dtype == triangle.dtype == dtype
    whole, cross = hermitian(t, lower=lower) @ b, a @ np.conj(np.swapaxes(b, -1, -2))
    np.testing.assert_allclose(product, whole, rtol=tolerance, atol=10 * tolerance)
    expected = folded(cross, lower=lower)
    np.testing.assert_allclose(triangle, expected, rtol=tolerance, atol=10 * tolerance)
    assert np.array_equal(triangle == 0, expected == 0)


@pytest.mark.parametrize("lower", [True, False])
def test_products_overwrite_what_was_in_their_memory(lower, library):
    t, x = numbers(200, 200), numbers(200, 200)
    old = [POOL.lend((200, 200)) for _ in range(4)]
    for memory in old:
        memory[...] = np.nan
    del old, memory
    assert np.isfinite(hermitian_product(t, x, lower=lower)).all()
    assert np.isfinite(folded_product(t, x, lower=lower)).all()


@pytest.mark.parametrize("lower", [True, False])
def test_a_product_does_not_read_the_other_triangle(lower, library):
    t, x = numbers(70, 70), numbers(70, 3)
    other = np.full((70, 70), np.nan)
    other = np.triu(other, 1) if lower else np.tril(other, -1)
    found = hermitian_product(t + other, x, lower=lower)
    assert np.array_equal(found, hermitian_product(t, x, lower=lower))


@pytest.mark.parametrize("lower", [True, False])
def test_a_triangle_with_half_of_its_diagonal_does_not_read_the_other_one(lower):
    a = RNG.normal(size=(2, 4, 4))
    half = (np.tril if lower else np.triu)(a) - np.eye(4) * a / 2
    np.testing.assert_array_equal(halved(a, lower=lower), half)
    other = (np.triu if lower else np.tril)(np.full((4, 4), np.inf), 1 if lower else -1)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(halved(a + other, lower=lower), half)
