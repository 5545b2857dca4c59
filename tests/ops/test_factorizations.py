"""Triangular factors against the equations that define them."""

import numpy as np
import pytest
from every_mode import close, derivative, like

import dualad
from dualad.errors import NotDifferentiableError, SingularPointError
from dualad.ops.factorizations import cholesky_tangent, triangular_inverse

RNG = np.random.default_rng(8)
cholesky, qr = np.linalg.cholesky, np.linalg.qr


def positive_definite(*shape, complex_too=False):
    x = RNG.normal(size=shape) + (1j * RNG.normal(size=shape) if complex_too else 0)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + shape[-1] * np.eye(shape[-1])


def hermitian(n, complex_too=False):
    t = RNG.normal(size=(n, n)) + (1j * RNG.normal(size=(n, n)) if complex_too else 0)
    return t + np.conj(t.T)


# --- cholesky ------------------------------------------------------------------------------------


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 70])
def test_the_product_of_the_factors_moves_as_the_matrix(n, complex_too):
    a, t = positive_definite(n, n, complex_too=complex_too), hermitian(n, complex_too)
    low, dlow = dualad.jvp(cholesky, (a,), (t,))
    product = dlow @ np.conj(low.T)
    close(product + np.conj(product.T), t, 1e-11, 1e-12)
    assert np.all(np.triu(dlow, 1) == 0) and np.all(np.imag(np.diag(dlow)) == 0)
    up, dup = dualad.jvp(lambda m: cholesky(m, upper=True), (a,), (t,))
    close((up, dup), (np.conj(low.T), np.conj(dlow.T)), 1e-11, 1e-12)


def test_only_the_triangle_that_is_read_has_a_derivative():
    """The entries of the other triangle do nothing, those that are read count for both."""
    a = positive_definite(4, 4)
    logdet = lambda m, **kw: 2 * np.sum(np.log(np.diag(cholesky(m, **kw))))
    inverse = np.linalg.inv(a)
    lower = np.tril(2 * inverse, -1) + np.diag(np.diag(inverse))
    close(dualad.grad(logdet)(a), lower)
    close(dualad.grad(lambda m: logdet(m, upper=True))(a), lower.T)
    close(dualad.grad(lambda m: logdet((m + m.T) / 2))(a), inverse)


def test_the_square_root_of_a_number():
    close(dualad.grad(lambda x: cholesky(np.reshape(x, (1, 1)))[0, 0])(4.0), 0.25)


def test_a_diagonal_value_is_not_treated_as_a_diagonal_matrix():
    """At d = diag(4, 9) it is dL = [[da/4, .], [db/2, dc/6]]."""
    t = np.array([[1.0, 5.0], [5.0, 2.0]])
    _, found = dualad.jvp(cholesky, (np.diag([4.0, 9.0]),), (t,))
    close(found, [[0.25, 0], [2.5, 1 / 3]])


def test_a_matrix_that_is_not_positive_definite_is_numpys_error():
    with pytest.raises(np.linalg.LinAlgError):
        dualad.grad(lambda m: np.sum(cholesky(m)))(-np.eye(2))


@pytest.mark.parametrize("n", [3, 33, 100])
def test_the_inverse_of_a_triangular_matrix_by_halves(n):
    low = cholesky(positive_definite(2, n, n))
    close(triangular_inverse(low), np.linalg.inv(low), 1e-10, 1e-13)
    t = like(low)
    inverse = np.linalg.inv(low)
    close(dualad.jvp(triangular_inverse, (low,), (t,))[1], -inverse @ t @ inverse, 1e-10, 1e-11)


def decaying(n, condition):
    """A covariance whose eigenvalues fall to 1 / condition."""
    q, _ = np.linalg.qr(RNG.normal(size=(n, n)))
    return (q * np.geomspace(1, 1 / condition, n)) @ q.T


@pytest.mark.parametrize("n", [64, 101, 150])
def test_a_large_factor_is_differentiated_by_blocks_as_by_the_formula(n):
    """dL = L P(L^-1 dA L^-T), and the gradient is its transpose."""
    a, t, w = positive_definite(n, n), hermitian(n), RNG.normal(size=(n, n))
    low = cholesky(a)
    invert = np.linalg.inv(low)
    half = np.tri(n) - np.eye(n) / 2
    expected = low @ (half * (invert @ t @ invert.T))
    scale = np.max(np.abs(expected))
    close(dualad.jvp(cholesky, (a,), (t,))[1] / scale, expected / scale, 0, 1e-13)
    u = half * (low.T @ np.tril(w))
    both = half * (invert.T @ (u + u.T) @ invert)
    found = dualad.grad(lambda m: np.sum(w * cholesky(m)))(a)
    scale = np.max(np.abs(both))
    close(found / scale, both / scale, 0, 1e-12)


@pytest.mark.parametrize("condition", [1e3, 1e6, 1e9])
def test_a_large_factor_of_an_ill_conditioned_matrix(condition):
    """log det A = 2 sum log L_ii has the gradient A^-1, folded into the triangle that is read."""
    a = decaying(130, condition)
    logdet = lambda m: 2 * np.sum(np.log(np.diagonal(cholesky(m))))
    inverse = np.linalg.inv(a)
    expected = np.tril(inverse + inverse.T, -1) + np.diag(np.diag(inverse))
    found = dualad.grad(logdet)(a)
    scale = np.max(np.abs(expected))
    assert np.max(np.abs(found - expected)) < 100 * condition * 1e-16 * scale
    t = hermitian(130)
    push = dualad.jvp(logdet, (a,), (t,))[1]
    assert abs(push - np.sum(inverse * t)) < 100 * condition * 1e-16 * np.sum(np.abs(inverse * t))


def test_a_large_factor_in_batches_of_either_kind_and_to_second_order():
    n = 70
    a, t, w = positive_definite(2, n, n), RNG.normal(size=(3, n, n)), RNG.normal(size=(n, n))
    one = lambda m, v: dualad.jvp(cholesky, (m,), (v,))[1]
    stack = dualad.jvp(cholesky, (a,), (t[:2],))[1]
    close(stack, np.stack([one(a[0], t[0]), one(a[1], t[1])]), 1e-10, 1e-12)
    several = dualad.vmap(lambda v: one(a[0], v))(t)
    close(several, np.stack([one(a[0], v) for v in t]), 1e-10, 1e-12)
    f = lambda m: np.sum(w * cholesky(m))
    eps = 1e-5
    central = (dualad.grad(f)(a[0] + eps * t[0]) - dualad.grad(f)(a[0] - eps * t[0])) / (2 * eps)
    scale = np.max(np.abs(central))
    forward = dualad.jvp(dualad.grad(f), (a[0],), (t[0],))[1]
    close(forward / scale, central / scale, 0, 1e-7)
    # The Hessian is symmetric.
    back = dualad.grad(lambda m: np.sum(t[0] * dualad.grad(f)(m)))(a[0])
    close(back / scale, forward / scale, 0, 1e-11)


def test_a_compiled_program_goes_by_blocks_too():
    n = 80
    a, t, w = positive_definite(n, n), hermitian(n), RNG.normal(size=(n, n))
    f = lambda m: np.sum(w * cholesky(m))
    push = lambda m: dualad.jvp(f, (m,), (t,))[1]
    curve = lambda m: dualad.jvp(dualad.grad(f), (m,), (t,))[1]
    for g, name in (
        (dualad.grad(f), "cholesky_cotangent"),
        (push, "cholesky_tangent"),
        (curve, ""),
    ):
        compiled = dualad.compile(g)
        for scale in (1.0, 3.0):
            expected = g(scale * a)
            size = np.max(np.abs(expected))
            close(compiled(scale * a) / size, expected / size, 0, 1e-12)
        assert name in compiled.source()


def test_a_direction_is_broadcast_to_a_stack_of_factors():
    a, t = positive_definite(3, 70, 70), hermitian(70)
    found = dualad.vmap(lambda m: dualad.jvp(cholesky, (m,), (t,))[1])(a)
    for k in range(3):
        close(found[k], dualad.jvp(cholesky, (a[k],), (t,))[1], 1e-10, 1e-12)
    together = cholesky_tangent(t, cholesky(a))
    close(together, found, 1e-10, 1e-12)


def test_the_program_of_a_large_factor_as_source():
    a, t = positive_definite(70, 70), hermitian(70)
    _, f_lin = dualad.linearize(cholesky, a)
    expected = f_lin(t)
    scale = np.max(np.abs(expected))
    close(f_lin.program.function()(t)[0] / scale, expected / scale, 0, 1e-13)
    back = f_lin.program.transpose()
    close(back.function()(t)[0], f_lin.program.pull([t])[0], 0, 1e-13)


# --- qr ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (1, 4), (4, 1), (2, 5, 3)])
def test_the_factors_keep_their_properties_as_they_move(shape, complex_too):
    """dQ R + Q dR = dA, Q^H dQ is skew, dR is upper triangular with a real diagonal."""
    a = RNG.normal(size=shape) + (1j * RNG.normal(size=shape) if complex_too else 0)
    t = like(a)
    (q, r), (dq, dr) = dualad.jvp(lambda m: tuple(qr(m)), (a,), (t,))
    close(dq @ r + q @ dr, t, 1e-10, 1e-11)
    spin = np.conj(np.swapaxes(q, -1, -2)) @ dq
    close(spin, -np.conj(np.swapaxes(spin, -1, -2)), 1e-10, 1e-11)
    assert np.all(np.tril(dr, -1) == 0)
    close(
        np.imag(np.diagonal(dr, axis1=-2, axis2=-1)), 0 * np.diagonal(dr, axis1=-2, axis2=-1).real
    )


def test_r_of_orthogonal_columns_against_its_closed_form():
    """Of one column r = -|a|, so that its gradient is -a / |a|."""
    a = np.array([[3.0], [4.0]])
    close(dualad.grad(lambda m: qr(m, mode="r")[0, 0])(a), -a / 5)


def test_complete_of_a_square_or_wide_matrix():
    derivative(lambda a: tuple(qr(a, mode="complete")), RNG.normal(size=(3, 3)))
    derivative(lambda a: tuple(qr(a, mode="complete")), RNG.normal(size=(2, 4)))


def test_complete_of_a_tall_matrix_is_refused_where_a_derivative_is_taken():
    a = RNG.normal(size=(4, 2))
    full = lambda m: qr(m, mode="complete").Q
    assert dualad.vmap(full)(np.stack([a, a])).shape == (2, 4, 4)
    for run in (lambda: dualad.jvp(full, (a,), (a,)), lambda: dualad.jacrev(full)(a)):
        with pytest.raises(NotDifferentiableError, match="mode='reduced'"):
            run()


def test_dependent_columns_and_householder_vectors_are_refused():
    a = np.array([[1.0, 2, 1], [2, 4, 0], [1, 2, 5]])
    for run in (lambda f: dualad.jvp(f, (a,), (a,)), lambda f: dualad.jacrev(f)(a)):
        with pytest.raises(SingularPointError, match="dependent"):
            run(lambda m: qr(m).R)
    with pytest.raises(NotDifferentiableError, match="raw"):
        dualad.grad(lambda m: np.sum(qr(m, mode="raw")[0]))(a)
    wide = np.array([[1.0, 2, 1], [2, 4, 0]])
    with pytest.raises(SingularPointError):
        dualad.grad(lambda m: np.sum(qr(m).Q))(wide)
    derivative(lambda m: qr(m).R, wide[:, [0, 2, 1]])
