"""How a whole decomposition moves, and the transpose of that."""

import numpy as np
import pytest

import dualad
from dualad.ops import lapack, spectral
from dualad.ops.gaps import used_columns
from dualad.ops.spectral import spectral_cotangent, spectral_move

RNG = np.random.default_rng(33)


@pytest.fixture(params=["lapack", "numpy"], autouse=True)
def library(request, monkeypatch):
    """Each test with the BLAS that comes with NumPy, and as where that is not found."""
    if request.param == "numpy":
        monkeypatch.setattr(lapack, "_routines", lambda: None)
    elif lapack._routines() is None:
        pytest.skip("this NumPy was built with another library")


def decomposition(n, complex_too=False):
    """Eigenvalues that are apart, and an orthonormal basis."""
    x = RNG.normal(size=(n, n)) + (1j * RNG.normal(size=(n, n)) if complex_too else 0)
    return np.cumsum(1 + RNG.random(n)), np.linalg.qr(x)[0]


def whole(t, lower):
    half = np.tril(t, -1) if lower else np.triu(t, 1)
    return half + np.conj(half.T) + np.diag(np.diag(t).real)


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 60])
@pytest.mark.parametrize("lower", [True, False])
def test_values_and_vectors_move_by_perturbation_theory(n, lower, complex_too):
    w, v = decomposition(n, complex_too)
    t = RNG.normal(size=(n, n)) + (1j * RNG.normal(size=(n, n)) if complex_too else 0)
    inner = np.conj(v.T) @ whole(t, lower) @ v
    gaps = w - w[:, None] + np.diag(np.full(n, np.inf))
    found = spectral_move(t, v, w, lower=lower)
    np.testing.assert_allclose(found[0], np.diag(inner), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found[1:], v @ (inner / gaps), rtol=1e-10, atol=1e-11)


SIGNS = {
    "both signs": lambda n: RNG.normal(size=n),
    "positive": lambda n: 1 + RNG.random(n),
    "negative": lambda n: -1 - RNG.random(n),
    "some zero": lambda n: RNG.integers(-1, 2, n).astype(float),
    "zero": np.zeros,
    "negative zero": lambda n: -np.zeros(n),
    "tiny and huge": lambda n: np.geomspace(1e-300, 1e10, n) * (-1.0) ** np.arange(n),
}


@pytest.mark.parametrize("values", SIGNS.values(), ids=SIGNS)
@pytest.mark.parametrize("used", [0, 1, 7, 60])
@pytest.mark.parametrize("lower", [True, False])
def test_the_transpose(values, used, lower):
    """<C, move(T)> = <cotangent(C), T>; the other triangle of the cotangent is zero."""
    n = 60
    w, v = decomposition(n)
    c = np.zeros((n + 1, n))
    c[0] = values(n)
    columns = RNG.permutation(n)[:used]
    c[1:, columns] = RNG.normal(size=(n, used))
    t = RNG.normal(size=(n, n))
    found = spectral_cotangent(c, v, w, lower=lower)
    terms = c * spectral_move(t, v, w, lower=lower)
    size = np.sum(np.abs(terms))
    assert np.isclose(np.sum(found * t), np.sum(terms), rtol=0, atol=1e-12 * size)
    assert not (np.triu(found, 1) if lower else np.tril(found, -1)).any()


def test_cotangents_that_are_not_finite_show():
    w, v = decomposition(60)
    for bad in (np.nan, np.inf):
        c = np.zeros((61, 60))
        c[0, 5] = bad
        with np.errstate(invalid="ignore"):
            found = spectral_cotangent(c, v, w, lower=True)
        assert not np.isfinite(found[np.tril_indices(60)]).any()


def test_half_of_a_product_is_all_that_is_computed(monkeypatch):
    if lapack._routines() is None:
        pytest.skip("needs BLAS")
    monkeypatch.setattr(spectral, "folded_product", None)
    n = 100
    w, v = decomposition(n)
    a, weights = (v * w) @ v.T, RNG.normal(size=n)
    found = dualad.grad(lambda m: np.sum(weights * np.linalg.eigh(m)[0]))(a)
    expected = (v * weights) @ v.T
    expected = np.tril(expected, -1) * 2 + np.diag(np.diag(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n", [4, 60])
def test_second_derivatives_of_values_and_vectors_together(n):
    """Forward over reverse, reverse over reverse, and differences of gradients."""
    w, v = decomposition(n)
    a, t, weights = (v * w) @ v.T, RNG.normal(size=(n, n)), RNG.normal(size=n)

    def f(m):
        w, v = np.linalg.eigh((m + m.T) / 2)
        return np.sum(weights * w**2) / n + np.sum(weights * v[:, -1] ** 2)

    g, eps = dualad.grad(f), 1e-5
    central = (g(a + eps * t) - g(a - eps * t)) / (2 * eps)
    size = np.max(np.abs(central))
    for second in (dualad.jvp(g, (a,), (t,))[1], dualad.grad(lambda m: np.sum(t * g(m)))(a)):
        np.testing.assert_allclose(second / size, central / size, rtol=0, atol=1e-7)


def test_a_program_gives_the_same():
    n = 64
    w, v = decomposition(n)
    a, weights = (v * w) @ v.T, RNG.normal(size=n)
    g = dualad.grad(lambda m: np.sum(weights * np.linalg.eigh(m)[0]))
    compiled = dualad.compile(g)
    for scale in (1.0, 2.0):
        np.testing.assert_allclose(compiled(scale * a), g(scale * a), rtol=1e-12, atol=1e-13)
    _, linear = dualad.linearize(np.linalg.eigh, a)
    t = RNG.normal(size=(n, n))
    dw, dv = linear(t)
    shown = linear.program.function()(t)
    np.testing.assert_allclose(shown[0], dw, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(shown[1], dv, rtol=1e-10, atol=1e-11)


def test_columns_of_zeros_are_found_whatever_their_sign():
    x = -np.zeros((60, 60))
    x[7, [3, 50]] = 1e-310, np.nan
    w = np.arange(60.0)
    for kind in (float, np.float32, complex):
        np.testing.assert_array_equal(used_columns((x * 1e300).astype(kind), w), [3, 50])
    assert used_columns(np.ones((60, 60)), w) is None


def test_a_large_matrix_moves_by_three_products(monkeypatch):
    if lapack._routines() is None:
        pytest.skip("needs BLAS")
    monkeypatch.setattr(spectral, "resolvent", None)
    monkeypatch.setattr(spectral, "diagonal_of_product", None)
    n = 60
    w, v = decomposition(n)
    a, t = (v * w) @ v.T, RNG.normal(size=(n, n))
    t = t + t.T
    _, (dw, dv) = dualad.jvp(lambda m: tuple(np.linalg.eigh(m)), (a,), (t,))
    w, v = np.linalg.eigh(a)
    inner = v.T @ t @ v
    np.testing.assert_allclose(dw, np.diag(inner), rtol=1e-9, atol=1e-11)
    gaps = w - w[:, None] + np.diag(np.full(n, np.inf))
    np.testing.assert_allclose(dv, v @ (inner / gaps), rtol=1e-8, atol=1e-10)


def test_ties_are_not_moved_by_three_products():
    """All are eigenvectors of the identity; the sum of the values moves as the trace."""
    n = 60
    t = RNG.normal(size=(n, n))
    t = t + t.T
    _, moved = dualad.jvp(lambda m: np.sum(np.linalg.eigh(m)[0]), (np.eye(n),), (t,))
    assert np.isclose(moved, np.trace(t), rtol=1e-12)
