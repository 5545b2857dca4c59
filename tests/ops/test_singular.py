"""Singular values and vectors against functions of the matrix whose derivative is known."""

import numpy as np
import pytest
from every_mode import close, like

import dualad

RNG = np.random.default_rng(4)
svd, svdvals = np.linalg.svd, np.linalg.svdvals


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def along(f, a, t):
    return dualad.jvp(f, (a,), (t,))[1]


def draw(*shape, complex_too=False):
    t = RNG.normal(size=shape)
    return t + 1j * RNG.normal(size=shape) if complex_too else t


def with_values(s, shape, complex_too=False):
    u = np.linalg.qr(draw(shape[0], shape[0], complex_too=complex_too)).Q
    v = np.linalg.qr(draw(shape[1], shape[1], complex_too=complex_too)).Q
    return (u[:, : len(s)] * s) @ adjoint(v[:, : len(s)])


def rebuilt(a):
    """a (a^H a - 1), through its singular vectors."""
    u, s, vh = svd(a, full_matrices=False)
    return (u * (s**3 - s)[..., None, :]) @ vh


def exact_rebuilt(a):
    return a @ adjoint(a) @ a - a


SHAPES = [(3, 3), (5, 3), (3, 4)]
VALUES = [[3.0, 2.0, 0.5], [2.0, 2.0, 1.0], [1.0, 1.0, 1.0], [3.0, 2.0, 2.0]]


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("s", VALUES)
def test_forward_mode_of_smooth_functions_is_exact_also_at_ties(s, shape, complex_too):
    a = with_values(np.array(s), shape, complex_too)
    t = like(a)
    close(along(rebuilt, a, t), along(exact_rebuilt, a, t), 1e-9, 1e-10)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("s", VALUES)
def test_reverse_mode_of_functions_of_one_number_is_exact_also_at_ties(s, shape):
    a = with_values(np.array(s), shape)
    t = like(a)
    found = dualad.jacrev(lambda x: rebuilt(a + x * t))(0.0)
    close(found, along(exact_rebuilt, a, t), 1e-9, 1e-10)
    both = dualad.jacfwd(rebuilt)(a)
    close(both, dualad.jacfwd(exact_rebuilt)(a), 1e-9, 1e-10)


def test_a_square_matrix_with_one_singular_value_zero():
    """Its vectors are unique: all modes are exact, and the value is differentiated as signed."""
    a = with_values(np.array([3.0, 2.0, 0.0]), (3, 3))
    t = like(a)
    close(along(rebuilt, a, t), along(exact_rebuilt, a, t), 1e-9, 1e-10)
    gradient = dualad.grad(lambda m: np.sum(t * rebuilt(m)))(a)
    close(gradient, dualad.grad(lambda m: np.sum(t * exact_rebuilt(m)))(a), 1e-9, 1e-10)


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_vectors_stay_orthonormal(shape, complex_too):
    a = draw(*shape, complex_too=complex_too)
    for full in (False, True):
        (u, s, vh), (du, ds, dvh) = dualad.jvp(
            lambda m, f=full: tuple(svd(m, f)), (a,), (like(a),)
        )
        assert ds.dtype == s.dtype == np.float64
        for basis, move in ((u, du), (adjoint(vh), adjoint(dvh))):
            spin = adjoint(basis) @ move
            close(spin, -adjoint(spin), 1e-10, 1e-11)


@pytest.mark.parametrize("complex_too", [False, True])
def test_the_projector_on_the_rest_of_a_full_basis(complex_too):
    """u2 u2^H = 1 - a a^+ for a tall matrix, v2 v2^H = 1 - a^+ a for a wide one."""
    tall = draw(5, 3, complex_too=complex_too)
    t = like(tall)

    def outer(a):
        u = svd(a).U[:, 3:]
        return u @ adjoint(u)

    def inner(a):
        v = adjoint(svd(a).Vh[3:])
        return v @ adjoint(v)

    close(along(outer, tall, t), -along(lambda a: a @ np.linalg.pinv(a), tall, t), 1e-9, 1e-10)
    wide, move = adjoint(tall), adjoint(t)
    close(
        along(inner, wide, move), -along(lambda a: np.linalg.pinv(a) @ a, wide, move), 1e-9, 1e-10
    )


@pytest.mark.parametrize("complex_too", [False, True])
def test_the_polar_factor_is_exact_at_ties_in_reverse_mode(complex_too):
    """At a = s q with q unitary the polar factor moves by q skew(q^H t) / s."""
    q = np.linalg.qr(draw(3, 3, complex_too=complex_too)).Q
    t, weights = like(q), like(q)

    def polar(a):
        u, _, vh = svd(a)
        return u @ vh

    m = adjoint(q) @ t
    move = q @ (m - adjoint(m)) / (2 * 1.7)
    close(along(polar, 1.7 * q, t), move, 1e-10, 1e-11)
    gradient = dualad.grad(lambda a: np.sum(np.real(np.conj(weights) * polar(a))))(1.7 * q)
    close(np.vdot(gradient, t).real, np.vdot(weights, move).real, 1e-10, 1e-11)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("s", [*VALUES, [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
def test_sum_of_squares_is_the_squared_length_at_any_rank(s, shape):
    a = with_values(np.array(s), shape)
    close(dualad.grad(lambda m: np.sum(svdvals(m) ** 2))(a), 2 * a, 1e-10, 1e-10)
    close(dualad.grad(lambda m: np.sum(svd(m)[1] ** 2))(a), 2 * a, 1e-10, 1e-10)


def test_largest_singular_value_is_the_spectral_norm():
    a = with_values(np.array([3.0, 2.0, 0.5]), (4, 3))
    u, _, vh = svd(a)
    close(dualad.grad(lambda m: svdvals(m)[0])(a), np.outer(u[:, 0], vh[0]))
    close(dualad.grad(lambda m: np.linalg.norm(m, 2))(a), np.outer(u[:, 0], vh[0]))
    close(dualad.grad(lambda m: np.linalg.norm(m, "nuc"))(a), u[:, :3] @ vh)


def test_norms_at_zero_have_slope_zero():
    for order in (2, -2, "nuc", "fro", 1, np.inf):
        close(
            dualad.grad(lambda m, o=order: np.linalg.norm(m, o))(np.zeros((3, 2))),
            np.zeros((3, 2)),
        )


def test_hermitian_uses_the_eigenvalues():
    """The singular values are |w|, of which each moves with the sign of w."""
    a = np.diag([1.0, -3.0, 2.0])
    t = draw(3, 3)
    s, ds = dualad.jvp(lambda m: svd(m, compute_uv=False, hermitian=True), (a,), (t + t.T,))
    close((s, ds), ([3.0, 2.0, 1.0], 2 * np.array([-t[1, 1], t[2, 2], t[0, 0]])))

    def product(m):
        u, s, vh = svd(m, hermitian=True)
        return (u * s) @ vh

    close(along(product, a, t + t.T), t + t.T)
    complex_one = a + 1j * (np.triu(t, 1) - np.tril(t.T, -1))
    move = t + t.T + 1j * (t - t.T)
    close(along(product, complex_one, move), move, 1e-10, 1e-11)


def test_results_are_named_as_numpys():
    seen = []
    dualad.jvp(lambda a: seen.append(svd(a)) or a, (np.eye(2),), (np.eye(2),))
    assert type(seen[0]) is type(svd(np.eye(2)))


# --- condition and rank --------------------------------------------------------------------------


def test_condition_number_against_its_closed_form():
    """d log cond = d log s_1 - d log s_n."""
    a = with_values(np.array([3.0, 2.0, 0.5]), (3, 3))
    u, _, vh = svd(a)
    expected = 6.0 * (np.outer(u[:, 0], vh[0]) / 3 - np.outer(u[:, 2], vh[2]) / 0.5)
    close(dualad.grad(np.linalg.cond)(a), expected, 1e-10, 1e-11)
    close(dualad.grad(lambda m: np.linalg.cond(m, -2))(a), -expected / 36, 1e-10, 1e-11)


def test_condition_number_of_a_singular_matrix_is_infinite():
    values = dualad.vmap(np.linalg.cond)(
        np.stack([np.zeros((2, 2)) + np.eye(2), np.diag([1.0, 0])])
    )
    assert values.tolist() == [1.0, np.inf]


def test_rank_is_locally_constant():
    a = with_values(np.array([2.0, 1.0, 0.0]), (3, 3))
    rank = np.linalg.matrix_rank
    assert dualad.jvp(rank, (a,), (a,)) == (2, 0)
    close(dualad.grad(lambda m: rank(m) * np.sum(m))(a), np.full((3, 3), 2.0))
    stack = np.stack([a, np.eye(3), np.zeros((3, 3))])
    assert dualad.vmap(rank)(stack).tolist() == [2, 3, 0]
    assert dualad.vmap(lambda m: rank(m, tol=1.5))(stack).tolist() == [1, 0, 0]
    assert dualad.vmap(lambda m: rank(m, rtol=0.6))(stack).tolist() == [1, 3, 0]
    assert dualad.vmap(rank)(np.array([[0.0, 0], [0, 1]])).tolist() == [0, 1]
    assert dualad.jvp(lambda v: v * rank(v), (np.ones(2),), (np.ones(2),))[1].tolist() == [1, 1]
