"""Eigenvalues and eigenvectors against perturbation theory and smooth functions of the matrix.

A smooth function of a Hermitian matrix, v f(w) v^H, is computed here from eigenvectors; as a
polynomial of the matrix itself its derivative is known, whether eigenvalues repeat or not.
"""

import numpy as np
import pytest
from every_mode import close

import dualad
from dualad.errors import DirectionNeededError

RNG = np.random.default_rng(6)
eig, eigh, eigvalsh = np.linalg.eig, np.linalg.eigh, np.linalg.eigvalsh


def hermitian(n, complex_too=False, *stack):
    t = RNG.normal(size=(*stack, n, n))
    t = t + 1j * RNG.normal(size=t.shape) if complex_too else t
    return t + np.conj(np.swapaxes(t, -1, -2))


def with_eigenvalues(w, complex_too=False):
    v = np.linalg.qr(hermitian(len(w), complex_too)).Q
    return (v * w) @ np.conj(v.T)


def along(f, a, t):
    return dualad.jvp(f, (a,), (t,))[1]


def cube(a):
    """A polynomial of the matrix through its eigenvectors, with f(1) = 0 and f'(2) = 0."""
    w, v = eigh(a)
    return (v * ((w - 1) * (w - 2) ** 2)[..., None, :]) @ np.conj(np.swapaxes(v, -1, -2))


def exact_cube(a):
    one = np.eye(a.shape[-1])
    return (a - one) @ (a - 2 * one) @ (a - 2 * one)


TIED = [
    [1.0, 1.0],
    [0.0, 0.0, 0.0],
    [2.0, 2.0, 2.0],
    [1.0, 1.0, 2.0, 2.0],
    [-1.0, 2.0, 2.0, 2.0, 5.0],
]
SPECTRA = [*TIED, [0.5], [-1.0, 0.3, 2.0], [1.0, 1.0 + 1e-3, 4.0]]


# --- simple eigenvalues --------------------------------------------------------------------------


@pytest.mark.parametrize("complex_too", [False, True])
def test_first_order_perturbation_theory(complex_too):
    """dw_i = v_i^H da v_i, and the part of dv_j along v_i is v_i^H da v_j / (w_j - w_i)."""
    a, t = with_eigenvalues([-1.0, 0.5, 2.0, 4.0], complex_too), hermitian(4, complex_too)
    (w, v), (dw, dv) = dualad.jvp(lambda m: tuple(eigh(m)), (a,), (t,))
    m = np.conj(v.T) @ t @ v
    close(dw, np.diag(m).real)
    gaps = w - w[:, None] + np.eye(4)
    close(np.conj(v.T) @ dv, (m / gaps) * (1 - np.eye(4)), 1e-11, 1e-12)


def test_second_order_perturbation_theory():
    """w_i'' = 2 sum_j |v_i^T t v_j|^2 / (w_i - w_j)."""
    a, t = with_eigenvalues([-1.0, 0.5, 2.0, 4.0]), hermitian(4)
    w, v = eigh(a)
    m = v.T @ t @ v
    gaps = w[:, None] - w + np.diag(np.full(4, np.inf))
    twice = along(lambda s: along(lambda r: eigvalsh(a + r * t), s, 1.0), 0.0, 1.0)
    close(twice, 2 * np.sum(m**2 / gaps, axis=1), 1e-9)


def test_only_the_triangle_that_is_read_has_a_derivative():
    a = with_eigenvalues([1.0, 2.0, 4.0])
    v = eigh(a).eigenvectors[:, -1]
    full = np.outer(v, v)
    lower = np.tril(2 * full, -1) + np.diag(v**2)
    close(dualad.grad(lambda m: eigvalsh(m)[-1])(a), lower)
    close(dualad.grad(lambda m: eigvalsh(m, UPLO="u")[-1])(a), lower.T)
    close(dualad.grad(lambda m: eigvalsh((m + m.T) / 2)[-1])(a), full)
    with pytest.raises(ValueError, match="UPLO"):
        dualad.grad(lambda m: eigvalsh(m, UPLO="X")[-1])(a)


def test_results_are_named_as_numpys():
    seen = []

    def f(a):
        seen.extend([eigh(a), eig(a)])
        return a

    dualad.jvp(f, (np.eye(2),), (np.eye(2),))
    assert [type(r) for r in seen] == [type(eigh(np.eye(2))), type(eig(np.eye(2)))]


# --- repeated eigenvalues ------------------------------------------------------------------------


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("w", SPECTRA)
def test_forward_mode_of_smooth_functions_is_exact_at_ties(w, complex_too):
    a, t = with_eigenvalues(np.array(w), complex_too), hermitian(len(w), complex_too)
    close(along(cube, a, t), along(exact_cube, a, t), 1e-9, 1e-10)


@pytest.mark.parametrize("w", SPECTRA)
def test_reverse_mode_of_functions_of_one_number_is_exact_at_ties(w):
    a, t = with_eigenvalues(np.array(w)), hermitian(len(w))
    path = lambda x: a + (x - 0.5) * t + (x - 0.5) ** 2 * a
    expected = along(exact_cube, a, t)
    close(dualad.jacrev(lambda x: cube(path(x)))(0.5), expected, 1e-9, 1e-10)
    close(dualad.jacobian(lambda x: cube(path(x)))(0.5), expected, 1e-9, 1e-10)
    close(dualad.linearize(lambda x: cube(path(x)), 0.5)[1](1.0), expected, 1e-9, 1e-10)
    weighted = dualad.grad(lambda x: np.sum(t * cube(path(x[0]))))(np.array([0.5]))
    close(weighted, [np.sum(t * expected)], 1e-9, 1e-10)


@pytest.mark.parametrize("w", TIED)
def test_all_directions_at_once_are_exact_at_ties(w):
    """The Jacobian in forward mode: each direction has its own eigenvectors."""
    a = with_eigenvalues(np.array(w))
    both = dualad.jacfwd(lambda m: cube((m + m.T) / 2))(a)
    close(both, dualad.jacfwd(lambda m: exact_cube((m + m.T) / 2))(a), 1e-9, 1e-10)


def test_stacks_and_batches_with_and_without_ties():
    stack = np.stack([with_eigenvalues(w) for w in ([1.0, 1, 3], [2.0, 2, 2], [0.0, 1, 4])])
    t = hermitian(3, False, 3)
    expected = along(exact_cube, stack, t)
    close(along(cube, stack, t), expected, 1e-9, 1e-10)
    close(dualad.vmap(lambda m, s: along(cube, m, s))(stack, t), expected, 1e-9, 1e-10)
    close(along(dualad.vmap(cube), stack, t), expected, 1e-9, 1e-10)
    close(
        dualad.vmap(lambda s: along(cube, stack[1], s))(t),
        along(exact_cube, 0 * t + stack[1], t),
        1e-9,
    )
    of_number = dualad.vmap(dualad.jacrev(lambda x, m, s: cube(m + x * s)), in_axes=(0, 0, 0))
    close(of_number(np.zeros(3), stack, t), expected, 1e-9, 1e-10)


@pytest.mark.parametrize("w", TIED)
def test_repeated_eigenvalues_have_one_sided_derivatives(w):
    """They move as the eigenvalues of the direction within the eigenspace, in rising order."""
    a, t = with_eigenvalues(np.array(w)), hermitian(len(w))
    h = 1e-6
    ahead = (-3 * eigvalsh(a) + 4 * eigvalsh(a + h * t) - eigvalsh(a + 2 * h * t)) / (2 * h)
    close(along(eigvalsh, a, t), ahead, 1e-6, 1e-6)


@pytest.mark.parametrize("w", SPECTRA)
def test_symmetric_functions_of_eigenvalues_are_exact_in_reverse_mode(w):
    """sum f(w) has the gradient f'(a)."""
    a = with_eigenvalues(np.array(w))
    gradient = dualad.grad(lambda m: np.sum(eigvalsh((m + m.T) / 2) ** 3))(a)
    close(gradient, 3 * a @ a, 1e-10, 1e-11)
    gradient = dualad.grad(lambda m: np.real(np.sum(np.exp(np.linalg.eigvals(m)))))(a)
    low, v = eigh(a)
    close(gradient, (v * np.exp(low)) @ v.T, 1e-9, 1e-10)


def test_the_projector_on_an_eigenspace_is_exact_in_reverse_mode():
    """P = v v^T moves by the sum over pairs across the gap of P_i t P_j / (w_i - w_j)."""
    a, t, weights = with_eigenvalues(np.array([1.0, 1, 1, 4, 4])), hermitian(5), hermitian(5)
    low = eigh(a).eigenvectors[:, :3] @ eigh(a).eigenvectors[:, :3].T
    high = np.eye(5) - low
    move = (low @ t @ high + high @ t @ low) / (1 - 4)

    def projector(m):
        v = eigh((m + m.T) / 2).eigenvectors[:, :3]
        return v @ v.T

    close(along(projector, a, t), move, 1e-10, 1e-11)
    gradient = dualad.grad(lambda m: np.sum(weights * projector(m)))(a)
    close(np.sum(gradient * t), np.sum(weights * move), 1e-10, 1e-11)


@pytest.mark.parametrize("w", SPECTRA)
def test_reverse_mode_in_many_numbers_is_exact_at_ties(w):
    """Where the direction counts, grad and vjp take forward mode for the whole function."""
    a, weights = with_eigenvalues(np.array(w)), hermitian(len(w))
    f = lambda cubed: lambda m, k: k * np.sum(weights * cubed((m + m.T) / 2))
    got = dualad.grad(f(cube), (0, 1))(a, 2.0)
    want = dualad.grad(f(exact_cube), (0, 1))(a, 2.0)
    close(got[0], want[0], 1e-9, 1e-9)
    close(got[1], want[1], 1e-9, 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_reverse_mode_is_exact_where_the_cotangent_of_the_vectors_vanishes(seed):
    """f(w) = 0 at the repeated eigenvalue hides from the vectors that f'(w) is not."""
    v = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3))).Q
    a, weights = (v * np.array([1.0, 1.0, 4.0])) @ v.T, hermitian(3)
    f = lambda cubed: lambda m: np.sum(weights * cubed((m + m.T) / 2))
    close(dualad.grad(f(cube))(a), dualad.grad(f(exact_cube))(a), 1e-8, 1e-8)


def test_second_derivatives_through_vectors_at_ties_are_refused():
    with pytest.raises(DirectionNeededError, match="depends on the direction"):
        dualad.hessian(lambda m: np.sum(cube(m)))(np.eye(3))
    x = dualad.tensor(np.eye(3), requires_grad=True)
    y = dualad.tensor(np.arange(9.0).reshape(3, 3))
    values, vectors = np.linalg.eigh(x)
    with pytest.raises(DirectionNeededError):
        (y * ((vectors * values) @ vectors.T)).sum().backward()


def test_a_direction_of_zero_changes_nothing():
    close(along(cube, np.eye(3), np.zeros((3, 3))), np.zeros((3, 3)))


# --- precision -----------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.svd, np.linalg.eig])
def test_ties_keep_single_precision(f):
    t = np.diag(np.arange(3, dtype=np.float32))
    for parts in dualad.jvp(lambda a: tuple(f(a)), (np.eye(3, dtype=np.float32),), (t,)):
        assert {np.dtype(p.dtype) for p in parts} == {np.dtype(np.float32)}


# --- functions of few eigenvectors of a large matrix ---------------------------------------------


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("used", [[59], [0, 3, 4], list(range(60))])
def test_the_gradient_of_a_function_of_few_eigenvectors(used, complex_too):
    """sum_j Re v_j^H B v_j moves by 2 Re v_j^H B (w_j - A)^+ dA v_j."""
    n = 60
    a, b = hermitian(n, complex_too), hermitian(n, complex_too)
    a = a + np.diag(10.0 * np.arange(n))

    def f(m):
        v = eigh(m)[1][:, used]
        return np.sum(np.real(np.conj(v) * (b @ v)))

    w, v = eigh(a)
    expected = np.zeros_like(a)
    for j in used:
        others = np.delete(np.arange(n), j)
        resolvent = (v[:, others] / (w[j] - w[others])) @ np.conj(v[:, others].T)
        expected = expected + np.outer(resolvent @ b @ v[:, j], np.conj(v[:, j]))
    expected = expected + np.conj(expected.T)
    t = hermitian(n, complex_too)
    close(along(f, a, t), np.sum(np.real(np.conj(expected) * t)), 1e-8, 1e-9)
    found = dualad.grad(lambda m: f((m + np.conj(m.T)) / 2))(a)
    close(found, expected, 1e-8, 1e-9)


def test_second_derivatives_of_a_large_decomposition():
    """The top eigenvalue and components of two vectors, against differences of gradients."""
    n, eps = 50, 1e-5
    a, t = hermitian(n) + np.diag(10.0 * np.arange(n)), hermitian(n)

    def f(m):
        w, v = eigh((m + m.T) / 2)
        return np.log(w[-1]) + v[3, -1] ** 2 + w[0] * v[0, 0] ** 2

    g = dualad.grad(f)
    central = (g(a + eps * t) - g(a - eps * t)) / (2 * eps)
    for second in (along(g, a, t), dualad.grad(lambda m: np.sum(t * g(m)))(a)):
        close(second, central, 1e-5, 1e-8)


@pytest.mark.parametrize("count", [2, 3])  # of points: another number than of directions, the same
def test_jacobians_of_eigenvectors_at_many_points(count):
    a, moves = with_eigenvalues([1.0, 2.0, 4.0]), hermitian(3, False, 3)
    at = lambda x: a + np.tensordot(x, moves, 1)
    points = 0.1 * RNG.normal(size=(count, 3))
    got = dualad.vmap(dualad.jacfwd(lambda x: cube(at(x))))(points)
    expected = [[along(exact_cube, at(x), m) for m in moves] for x in points]
    close(np.moveaxis(got, -1, 1), np.array(expected), 1e-9, 1e-10)
