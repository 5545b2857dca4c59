"""dualad.scipy.linalg: SciPy's values on plain arrays, and in every mode the derivative."""

import inspect
import pickle
import warnings

import mpmath
import numpy as np
import pytest
import scipy.linalg
from every_mode import derivative, differences, multilinear, without_values

import dualad
import dualad.scipy.linalg as linalg
from dualad.errors import (
    ArgumentError,
    LostDerivativeError,
    MissingRuleError,
    NotDifferentiableError,
    SingularPointError,
)

RNG = np.random.default_rng(5)
A = RNG.normal(size=(4, 4))
SPREAD = np.array(
    [[1.0, 0.3, -0.2, 0.5], [0.4, 3, 0.2, -0.3], [-0.2, 0.1, 6, 0.4], [0.3, -0.2, 0.5, 10]]
)
J = 1j * RNG.normal(size=(4, 4))
POSITIVE = A @ A.T + 4 * np.eye(4)
HERMITIAN = POSITIVE + J - J.T
TALL, WIDE = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 5))
B, BB = RNG.normal(size=4), RNG.normal(size=(4, 2))
DOMINANT = A + 5 * np.eye(4)
BAND = RNG.normal(size=(4, 5)) + 6 * np.eye(4)[1][:, None]
HALF_BAND = RNG.normal(size=(3, 5)) + 7 * np.eye(3)[2][:, None]
TWO = np.array([[1.0, 2.0], [2.0, -1.0]])


def jvp(f, x, t):
    return dualad.jvp(f, (x,), (t,))[1]


def close(actual, wanted, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(actual, wanted, rtol, atol)


def sym(x):
    return (x + np.swapaxes(np.conj(x), -1, -2)) / 2


# --- every mode ------------------------------------------------------------------------------

#: What each function gives, as a function of all that it may be differentiated in.
SMOOTH = {
    "solve": (linalg.solve, DOMINANT, BB),
    "solve a vector": (linalg.solve, DOMINANT, B),
    "solve transposed": (lambda a, b: linalg.solve(a, b, transposed=True), DOMINANT, BB),
    "solve complex": (linalg.solve, DOMINANT + J, BB + 1j),
    "inv": (linalg.inv, DOMINANT),
    "inv pos": (lambda a: linalg.inv(a, assume_a="pos", lower=True), POSITIVE),
    "det": (linalg.det, A),
    "norm": (lambda a: linalg.norm(a, axis=1), A),
    "pinv": (linalg.pinv, TALL),
    "pinvh": (linalg.pinvh, POSITIVE),
    "pinvh complex": (lambda a: linalg.pinvh(a, lower=False), HERMITIAN),
    "lstsq": (lambda a, b: linalg.lstsq(a, b)[0], TALL, RNG.normal(size=5)),
    "cholesky": (linalg.cholesky, POSITIVE),
    "cholesky lower": (lambda a: linalg.cholesky(a, lower=True), HERMITIAN),
    "cho_factor": (lambda a: linalg.cho_factor(a)[0], POSITIVE),
    "cho_solve": (lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b), HERMITIAN, BB + 0j),
    "lu": (lambda a: linalg.lu(a)[1:], A),
    "lu tall": (lambda a: linalg.lu(a, permute_l=True), TALL),
    "lu wide": (lambda a: linalg.lu(a, p_indices=True)[1:], WIDE),
    "lu_factor": (lambda a: linalg.lu_factor(a)[0], A + J),
    "lu_factor tall": (lambda a: linalg.lu_factor(a)[0], TALL),
    "lu_solve": (lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), DOMINANT, B),
    "ldl": (lambda a: linalg.ldl(a)[:2], A + A.T),
    "ldl complex": (lambda a: linalg.ldl(a, lower=False, hermitian=False)[:2], POSITIVE + J + J.T),
    "qr": (lambda a: linalg.qr(a, mode="economic"), TALL),
    "qr wide": (linalg.qr, WIDE),
    "qr r": (lambda a: linalg.qr(a, mode="r"), TALL),
    "qr pivoting": (lambda a: linalg.qr(a, mode="economic", pivoting=True)[:2], TALL),
    "rq": (linalg.rq, TALL),
    "rq economic": (lambda a: linalg.rq(a, mode="economic"), WIDE),
    "svd": (lambda a: linalg.svd(a, full_matrices=False), TALL),
    "svd gesvd": (lambda a: linalg.svd(a, full_matrices=False, lapack_driver="gesvd"), WIDE),
    "svdvals": (linalg.svdvals, TALL + 1j),
    "polar": (linalg.polar, DOMINANT + J),
    "polar left": (lambda a: linalg.polar(a, side="left"), WIDE),
    "orthogonal_procrustes": (linalg.orthogonal_procrustes, TALL, RNG.normal(size=(5, 3))),
    "subspace_angles": (linalg.subspace_angles, TALL[:, :2], RNG.normal(size=(5, 3))),
    "schur": (linalg.schur, SPREAD),
    "hessenberg": (lambda a: linalg.hessenberg(a, calc_q=True), A),
    "hessenberg complex": (lambda a: linalg.hessenberg(a, calc_q=True), A + J),
    "eigvalsh": (linalg.eigvalsh, HERMITIAN),
    "eigvalsh generalised": (linalg.eigvalsh, SPREAD + J, HERMITIAN),
    "eig": (linalg.eig, A),
    "eig left": (lambda a: linalg.eig(a, left=True), SPREAD),
    "eigvals generalised": (linalg.eigvals, A, POSITIVE),
    "eigh_tridiagonal": (linalg.eigh_tridiagonal, np.arange(5.0), B),
    "eigvalsh_tridiagonal": (
        lambda d, e: linalg.eigvalsh_tridiagonal(d, e, "v", (0.0, 3.5)), np.arange(5.0), B,
    ),
    "eigvals_banded": (linalg.eigvals_banded, HALF_BAND),
    "expm": (linalg.expm, A),
    "expm complex": (linalg.expm, A + J),
    "expm_frechet": (lambda a, e: linalg.expm_frechet(a, e), A, DOMINANT),
    "logm": (linalg.logm, POSITIVE),
    "sqrtm": (linalg.sqrtm, POSITIVE),
    "signm": (linalg.signm, A),
    "cosm": (linalg.cosm, A),
    "sinm complex": (linalg.sinm, A + J),
    "tanm": (linalg.tanm, A / 4),
    "coshm": (linalg.coshm, A),
    "sinhm": (linalg.sinhm, A),
    "tanhm": (linalg.tanhm, A / 4),
    "fractional_matrix_power": (lambda a: linalg.fractional_matrix_power(a, -1.3), POSITIVE),
    "funm": (lambda a: linalg.funm(a, np.sin), A),
    "solve_discrete_lyapunov": (linalg.solve_discrete_lyapunov, A / 5, POSITIVE),
    "solve_continuous_are": (
        lambda a, b, q: linalg.solve_continuous_are(a, b, sym(q), np.eye(2)), A, BB, POSITIVE,
    ),
    "solve_discrete_are": (
        lambda a, b, q: linalg.solve_discrete_are(a, b, sym(q), np.eye(2)), A / 2, BB, POSITIVE,
    ),
    "solve_banded": (lambda ab, b: linalg.solve_banded((2, 1), ab, b), BAND, TALL),
    "solveh_banded": (linalg.solveh_banded, HALF_BAND, TALL),
    "cho_solve_banded": (
        lambda ab, b: linalg.cho_solve_banded((linalg.cholesky_banded(ab), False), b),
        HALF_BAND, TALL,
    ),
    "solve_toeplitz": (
        lambda c, r, b: linalg.solve_toeplitz((c, r), b), DOMINANT[0], DOMINANT[1], BB,
    ),
    "toeplitz": (linalg.toeplitz, B, WIDE[0]),
    "block_diag": (linalg.block_diag, BB, B),
    "leslie": (linalg.leslie, WIDE[0], B),
    "solve_circulant": (linalg.solve_circulant, DOMINANT[0], BB),
    "companion": (linalg.companion, DOMINANT[0]),
    "fiedler_companion": (linalg.fiedler_companion, np.arange(1.0, 8.0)),
    "fiedler": (linalg.fiedler, B),
}  # fmt: skip

#: Those that are linear in each argument.
LINEAR = {
    "symmetric toeplitz": (linalg.toeplitz, B),
    "circulant": (linalg.circulant, B),
    "hankel": (linalg.hankel, B),
    "convolution_matrix": (lambda a: linalg.convolution_matrix(a, 3, "same"), B),
    "diagsvd": (lambda s: linalg.diagsvd(s, 6, 4), B),
    "khatri_rao": (linalg.khatri_rao, WIDE, TALL.T),
    "matmul_toeplitz": (lambda c, x: linalg.matmul_toeplitz(c, x), B, BB),
    "solve_sylvester in q": (lambda q: linalg.solve_sylvester(DOMINANT, DOMINANT[:2, :2], q), BB),
    "solve_triangular in b": (lambda b: linalg.solve_triangular(DOMINANT, b, trans=1), BB),
    "expm_frechet in E": (lambda e: linalg.expm_frechet(A, e, compute_expm=False), DOMINANT),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_every_mode_gives_the_derivative(name):
    f, *args = SMOOTH[name]
    derivative(f, *args, second=not name.endswith("complex"))


@pytest.mark.parametrize("name", LINEAR)
def test_what_is_linear_in_each_argument(name):
    multilinear(*LINEAR[name])


def test_a_linear_function_is_transposed_from_shapes_alone():
    for name in (
        "circulant",
        "solve_sylvester in q",
        "solve_triangular in b",
        "expm_frechet in E",
    ):
        without_values(*LINEAR[name])


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("unit", [False, True])
def test_solve_triangular_in_all_its_forms(lower, trans, unit):
    f = lambda a, b: linalg.solve_triangular(a, b, trans, lower, unit_diagonal=unit)
    derivative(f, DOMINANT, BB)
    derivative(f, DOMINANT + J, B + 1j, second=False)
    gradient = dualad.grad(lambda a: np.sum(f(a, B)))(DOMINANT)
    unread = np.triu(np.ones((4, 4)), 0 if unit else 1)
    assert np.all(gradient[(unread if lower else unread.T) == 1] == 0)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(
    "assume", [None, "gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded"]
)
def test_solve_under_every_assumption(assume, lower):
    """SciPy reads what is assumed to be enough of a, and gradients are in what it reads."""
    f = lambda a, b: linalg.solve(a, b, lower=lower, assume_a=assume)
    derivative(f, POSITIVE, BB, second=assume in ("pos", "sym"))
    if assume in ("sym", "her", "pos"):
        gradient = dualad.grad(lambda a: np.sum(f(a, B)))(POSITIVE)
        assert np.all((np.triu if lower else np.tril)(gradient, 1 if lower else -1) == 0)


def test_solve_reads_the_triangles_and_symmetries_of_complex_matrices():
    derivative(lambda a, b: linalg.solve(a, b, assume_a="her"), HERMITIAN, BB + 1j)
    derivative(lambda a, b: linalg.solve(a, b, assume_a="pos"), HERMITIAN, BB + 1j)
    derivative(lambda a, b: linalg.solve(a, b, assume_a="sym"), POSITIVE + J + J.T, BB + 1j)
    for name, read in (("upper triangular", np.triu), ("lower triangular", np.tril)):
        derivative(lambda a, b: linalg.solve(a, b, assume_a=name), read(DOMINANT), BB)


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_lu_solve_with_the_transpose_and_the_adjoint(trans):
    f = lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans)
    derivative(f, DOMINANT + J, BB + 0j, second=False)
    op = {0: lambda a: a, 1: lambda a: a.T, 2: lambda a: a.conj().T}[trans]
    close(f(DOMINANT + J, BB), np.linalg.solve(op(DOMINANT + J), BB))


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("lower", [False, True])
def test_the_generalised_hermitian_problem_of_all_three_kinds(kind, lower):
    derivative(lambda a, b: linalg.eigh(a, b, type=kind, lower=lower), SPREAD, POSITIVE)


@pytest.mark.parametrize("driver", ["ev", "evd", "evx"])
def test_eigh_with_each_driver(driver):
    value, _ = dualad.jvp(lambda a: linalg.eigh(a, driver=driver), (SPREAD,), (A,))
    for got, want in zip(value, scipy.linalg.eigh(SPREAD, driver=driver), strict=True):
        close(got, want, atol=1e-14)


def test_a_subset_of_eigenvalues_has_the_derivative_of_those_among_all():
    _, (dw, dv) = dualad.jvp(lambda a: linalg.eigh(a), (SPREAD,), (A,))
    for options in ({"subset_by_index": (1, 2)}, {"subset_by_value": (2.0, 8.0)}):
        (w, v), (some_w, some_v) = dualad.jvp(lambda a: linalg.eigh(a, **options), (SPREAD,), (A,))
        want = scipy.linalg.eigh(SPREAD, **options)
        close(w, want[0])
        close(v, want[1])
        close(some_w, dw[1:3])
        phase = np.sign(np.sum(v * linalg.eigh(SPREAD)[1][:, 1:3], axis=0))
        close(some_v, dv[:, 1:3] * phase)


def test_sylvester_and_lyapunov_equations_in_their_coefficients():
    derivative(linalg.solve_sylvester, DOMINANT, DOMINANT[:2, :2], BB)
    derivative(linalg.solve_sylvester, DOMINANT + J, DOMINANT[:2, :2] + 1j, BB + 1j)
    derivative(linalg.solve_continuous_lyapunov, DOMINANT + J, POSITIVE + J)
    assert linalg.solve_lyapunov is linalg.solve_continuous_lyapunov
    for method in ("direct", "bilinear"):
        f = lambda a, q: linalg.solve_discrete_lyapunov(a, q, method)
        derivative(f, (A + J) / 6, POSITIVE + J, second=False)


def test_riccati_equations_in_all_their_matrices():
    e, s = np.eye(4) + A / 20, BB / 20

    def full(solve):
        return lambda a, b, q, r, e, s: solve(a, b, sym(q), sym(r), e, s, balanced=False)

    r = np.array([[2.0, 0.3], [0.3, 1.0]])
    derivative(full(linalg.solve_continuous_are), A, BB, POSITIVE, r, e, s, batched=False)
    derivative(full(linalg.solve_discrete_are), A / 2, BB, POSITIVE, r, e, s, batched=False)


def test_a_generalised_riccati_solution_fulfils_its_equation():
    """SciPy's balancing gives one that does not, so it is not used with derivatives."""
    a, b, q, r = np.diag([3.0, 5, 8]) + 0.3, TALL[:3, :2], 50 * np.eye(3), np.eye(2)
    e = np.eye(3) + np.diag([0.1, 0.3, 0.5])
    x, _ = dualad.jvp(lambda q: linalg.solve_continuous_are(a, b, q, r, e), (q,), (q,))
    gain = np.linalg.solve(r, b.T @ x @ e)
    rest = a.T @ x @ e + e.T @ x @ a - (b.T @ x @ e).T @ gain + q
    close(rest / np.max(np.abs(x)), np.zeros((3, 3)), atol=1e-9)


# --- closed forms ----------------------------------------------------------------------------


def test_the_exponential_of_a_rotation():
    """expm(t J) is the rotation by t."""
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    f = lambda t: linalg.expm(t * turn)
    close(dualad.jacfwd(f)(0.7), turn @ f(0.7))
    close(dualad.jacrev(f)(0.7), turn @ f(0.7))
    close(dualad.jacfwd(dualad.jacrev(f))(0.7), -f(0.7))


def test_derivatives_of_the_exponential_to_fourth_order():
    """d^n/dt^n expm(t A) = A^n expm(t A), along a matrix that commutes with nothing else."""
    f = lambda t: linalg.expm(t * A)
    for n in range(1, 5):
        f = dualad.jacfwd(f)
        close(f(0.3), np.linalg.matrix_power(A, n) @ scipy.linalg.expm(0.3 * A), 1e-9)


def test_the_exponential_against_fifty_digits():
    with mpmath.workdps(50):
        h = mpmath.mpf(10) ** -20
        at = lambda s: mpmath.expm(mpmath.matrix(A) + s * mpmath.matrix(POSITIVE), method="taylor")
        exact = (at(h) - at(-h)) / (2 * h)
        exact = np.array(exact.tolist(), dtype=float)
    close(jvp(linalg.expm, A, POSITIVE), exact, 1e-12)


def test_the_exponential_at_a_diagonal_and_a_zero_matrix_moves_in_all_entries():
    """expm takes short cuts by the structure of its argument, derivatives do not."""
    d = np.array([1.0, 2.0, 4.0])
    gaps = d[None, :] - d[:, None] + np.eye(3)
    quotient = (np.exp(d)[None, :] - np.exp(d)[:, None]) / gaps + np.diag(np.exp(d))
    close(jvp(linalg.expm, np.diag(d), A[:3, :3]), quotient * A[:3, :3])
    close(jvp(linalg.expm, np.zeros((3, 3)), A[:3, :3]), A[:3, :3])


def test_functions_of_a_defective_matrix():
    """f([[a, 1], [0, a]]) moves along the identity by f' on the diagonal and f'' above it."""
    jordan, a = np.array([[2.0, 1.0], [0.0, 2.0]]), 2.0
    cases = {
        linalg.expm: (np.exp(a), np.exp(a)),
        linalg.logm: (1 / a, -1 / a**2),
        linalg.sqrtm: (0.5 * a**-0.5, -0.25 * a**-1.5),
        linalg.cosm: (-np.sin(a), -np.cos(a)),
        linalg.tanhm: (np.cosh(a) ** -2, -2 * np.tanh(a) * np.cosh(a) ** -2),
    }
    for f, (first, second) in cases.items():
        close(jvp(f, jordan, np.eye(2)), [[first, second], [0, first]], 1e-9, 1e-10)


def test_the_logarithm_undoes_the_exponential_and_the_square_undoes_the_root():
    small = A / 4
    close(jvp(lambda a: linalg.logm(linalg.expm(a)), small, POSITIVE), POSITIVE, 1e-9)
    close(
        dualad.jacrev(lambda a: linalg.logm(linalg.expm(a))[0, 1])(small), _unit(0, 1), 1e-9, 1e-9
    )
    close(jvp(lambda a: linalg.sqrtm(a) @ linalg.sqrtm(a), POSITIVE, A), A)
    close(jvp(lambda a: linalg.fractional_matrix_power(a, 0.5), POSITIVE, A),
          jvp(linalg.sqrtm, POSITIVE, A), 1e-9)  # fmt: skip


def _unit(i, j):
    e = np.zeros((4, 4))
    e[i, j] = 1
    return e


def test_the_logarithm_of_a_matrix_with_negative_eigenvalues_is_complex():
    a = np.array([[-1.0, 2.0], [0.0, 3.0]])
    derivative(linalg.logm, a, second=False)
    value, tangent = dualad.jvp(linalg.logm, (a,), (np.eye(2),))
    close(value, scipy.linalg.logm(a))
    close(tangent, np.linalg.inv(a), 1e-9)


def test_a_power_in_its_exponent():
    """d/dt A^t = log(A) A^t."""
    f = lambda t: linalg.fractional_matrix_power(POSITIVE, t)
    close(dualad.jacrev(f)(0.3), scipy.linalg.logm(POSITIVE) @ f(0.3), 1e-9)
    close(jvp(lambda a: linalg.fractional_matrix_power(a, 3), A, np.eye(4)), 3 * A @ A)
    close(jvp(lambda a: linalg.fractional_matrix_power(a, 0), A, A), np.zeros((4, 4)))


def test_funm_differentiates_its_function_with_what_it_closes_over():
    f = lambda p: np.trace(linalg.funm(p * POSITIVE, lambda z: np.exp(z / p**2)))
    w = np.linalg.eigvalsh(POSITIVE)
    close(dualad.grad(f)(5.0), np.sum(-w / 25 * np.exp(w / 5)), 1e-9)
    of_plain = lambda p: np.trace(linalg.funm(POSITIVE, lambda z: np.exp(p * z)))
    close(dualad.grad(of_plain)(0.1), np.sum(w * np.exp(0.1 * w)), 1e-9)


def test_cosine_and_sine_of_a_matrix_have_each_other_as_derivative():
    close(jvp(lambda t: linalg.cosm(t * A), 0.4, 1.0), -A @ scipy.linalg.sinm(0.4 * A))
    close(jvp(lambda t: linalg.sinhm(t * A), 0.4, 1.0), A @ scipy.linalg.coshm(0.4 * A))


def test_det_has_cofactors_as_gradient_at_singular_matrices_too():
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    close(dualad.grad(linalg.det)(singular), [[4, -2], [-2, 1]])
    close(dualad.grad(linalg.det)(np.ones((4, 4))), np.zeros((4, 4)))
    single = singular.astype(np.float32)
    value, tangent = dualad.jvp(linalg.det, (single,), (single,))
    assert value.dtype == tangent.dtype == scipy.linalg.det(single).dtype == np.float64


def test_a_matrix_that_looks_triangular_or_diagonal_is_not_treated_as_such():
    """d(A^-1 b) = -A^-1 dA A^-1 b uses every entry of dA."""
    b = np.array([1.0, 3.0])
    close(dualad.grad(lambda a: np.sum(linalg.solve(a, b)))(np.eye(2)), [[-1, -3], [-1, -3]])
    close(dualad.grad(lambda a: np.sum(linalg.inv(a)))(np.eye(2)), -np.ones((2, 2)))


def test_a_continuous_lyapunov_equation_of_one_number():
    """2 a x = q."""
    f = lambda v: linalg.solve_continuous_lyapunov(
        np.reshape(v[0], (1, 1)), np.reshape(v[1], (1, 1))
    )[0, 0]
    close(dualad.grad(f)(np.array([2.0, 3.0])), [-3 / 8, 1 / 4])


def test_least_squares_gives_the_residuals_and_ranks_of_scipy():
    for a, b in ((TALL, TALL[:, 0] + 1), (TALL, TALL + 1), (WIDE, WIDE[:, 0]), (TALL + 1j, TALL)):
        for driver in ("gelsd", "gelsy"):
            want = scipy.linalg.lstsq(a, b, lapack_driver=driver)
            got = dualad.jvp(lambda b: linalg.lstsq(a, b, lapack_driver=driver), (b,), (b,))[0]
            for x, y in zip(got, want, strict=True):
                assert (x is None) == (y is None)
                if y is not None:
                    assert np.shape(x) == np.shape(y)
                    close(x, y)
    residual = lambda b: linalg.lstsq(TALL, b)[1]
    b = RNG.normal(size=5)
    project = np.eye(5) - TALL @ np.linalg.pinv(TALL)
    close(dualad.grad(residual)(b), 2 * project @ b)


def test_pinv_tells_its_rank_by_its_own_tolerance():
    a = np.diag([1.0, 1e-3, 1e-9])
    for options in ({}, {"atol": 1e-6}, {"rtol": 1e-2}):
        want, rank = scipy.linalg.pinv(a, return_rank=True, **options)
        (got, same), _ = dualad.jvp(
            lambda x: linalg.pinv(x, return_rank=True, **options), (a,), (a,)
        )
        close(got, want)
        assert rank == same


# --- ties and singular points ----------------------------------------------------------------


def test_smooth_functions_of_repeated_eigenvalues():
    """V w^2 V^T is A^2, also where A = 1 and along a direction that mixes the eigenvectors."""

    def square(t):
        w, v = linalg.eigh(np.eye(2) + t * TWO)
        return (v * w**2) @ v.T

    close(dualad.jacfwd(square)(0.0), 2 * TWO)
    close(dualad.jacrev(square)(0.0), 2 * TWO)

    def generalised(t):
        w, v = linalg.eigh(np.eye(2) + t * TWO, np.eye(2) - t * TWO)
        return (v * w) @ v.T  # B^-1 A B^-1

    close(dualad.jacfwd(generalised)(0.0), 3 * TWO)
    close(dualad.jacrev(generalised)(0.0), 3 * TWO)


def test_the_polar_factor_at_equal_singular_values():
    """At the identity U moves by the skew part, P by the symmetric part."""
    t = A[:3, :3]
    for side in ("left", "right"):
        u, p = jvp(lambda a: linalg.polar(a, side), np.eye(3), t)
        close(u, (t - t.T) / 2)
        close(p, (t + t.T) / 2)
        weights = A[1:, 1:]
        gradient = dualad.grad(lambda a: np.sum(weights * linalg.polar(a, side)[0]))(np.eye(3))
        close(gradient, (weights - weights.T) / 2)


def test_projectors_on_null_space_and_range_at_constant_rank():
    def projector(basis):
        return lambda a: (lambda q: q @ np.conj(q).T)(basis(a))

    derivative(projector(linalg.orth), TALL)
    derivative(projector(linalg.null_space), WIDE)
    x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0])
    flat = lambda t: np.outer(x + t * y**2, y + t * x)
    for basis in (linalg.orth, linalg.null_space):
        f = lambda t: projector(basis)(flat(t))
        want = differences(f, (0.0,), (1.0,))[0]
        close(jvp(f, 0.0, 1.0), want, 1e-7, 1e-7)
        close(dualad.jacrev(f)(0.0), want, 1e-7, 1e-7)


def test_small_angles_between_subspaces_keep_their_precision():
    """The angle between e1 and (cos t, sin t) is t."""
    e1 = np.array([[1.0], [0.0]])
    f = lambda t: linalg.subspace_angles(e1, np.stack([np.cos(t), np.sin(t)])[:, None])[0]
    for t in (1e-8, 1e-3, 0.7, 0.9, 1.5):
        value, tangent = dualad.jvp(f, (t,), (1.0,))
        close([value, tangent, dualad.grad(f)(t)], [t, 1.0, 1.0], 1e-9)


def test_complex_schur_vectors_are_right_up_to_their_phases():
    derivative(lambda a: np.abs(linalg.schur(a, output="complex")[1]), A)
    derivative(lambda a: np.diagonal(linalg.schur(a, output="complex")[0]), A)
    t, z, count = dualad.jvp(lambda a: linalg.schur(a, sort="rhp"), (SPREAD,), (A,))[0]
    want = scipy.linalg.schur(SPREAD, sort="rhp")
    close(t, want[0])
    close(z, want[1])
    assert count == want[2]


def test_a_zero_last_pivot_does_not_stop_lu():
    for a in (np.array([[2.0, 4.0], [1.0, 2.0]]), np.array([[2.0, 4.0, 5.0], [1.0, 2.0, 7.0]])):
        t = A[: a.shape[0], : a.shape[1]]
        f = lambda a: linalg.lu(a)[1:]
        for got, want in zip(jvp(f, a, t), differences(f, (a,), (t,)), strict=True):
            close(got, want, 1e-8, 1e-8)


SINGULAR = {
    "lu": (linalg.lu, np.zeros((3, 3))),
    "logm": (linalg.logm, np.ones((2, 2))),
    "sqrtm": (linalg.sqrtm, np.diag([1.0, 0.0])),
    "signm": (linalg.signm, np.diag([1.0, 0.0])),
    "fractional_matrix_power": (
        lambda a: linalg.fractional_matrix_power(a, 0.5), np.ones((2, 2)),
    ),
    "funm": (lambda a: linalg.funm(a, np.exp), np.eye(2)),
    "polar": (linalg.polar, np.ones((2, 2))),
    "orthogonal_procrustes": (lambda a: linalg.orthogonal_procrustes(a, a)[0], np.ones((2, 2))),
    "schur": (linalg.schur, np.eye(2)),
    "hessenberg": (linalg.hessenberg, np.eye(3)),
    "qr": (linalg.qr, np.ones((2, 2))),
    "eig": (linalg.eigvals, np.array([[1.0, 1.0], [0.0, 1.0]])),
    "eig of a pencil": (lambda a: linalg.eigvals(np.eye(2), a), np.ones((2, 2))),
}  # fmt: skip


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_where_there_is_no_derivative_the_error_says_so(name):
    f, a = SINGULAR[name]
    with pytest.raises(SingularPointError, match="no derivative"):
        jvp(f, a, np.ones_like(a))


def test_what_is_arbitrary_in_a_result_is_refused():
    with pytest.raises(NotDifferentiableError, match="economic"):
        jvp(linalg.qr, TALL, TALL)
    with pytest.raises(NotDifferentiableError, match="Householder"):
        jvp(lambda a: linalg.qr(a, mode="raw"), A, A)
    with pytest.raises(NotDifferentiableError, match="economic"):
        jvp(linalg.rq, WIDE, WIDE)
    with pytest.raises(NotDifferentiableError, match="output='complex'"):
        jvp(linalg.schur, A, A)
    with pytest.raises(NotDifferentiableError, match="homogeneous"):
        jvp(lambda a: linalg.eigvals(a, POSITIVE, homogeneous_eigvals=True), A, A)
    with pytest.raises(ArgumentError, match="disp"):
        jvp(lambda a: linalg.logm(a, disp=False), POSITIVE, A)


# --- SciPy on plain arrays -------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SMOOTH, *LINEAR])
def test_plain_arrays_give_what_scipy_gives(name):
    """The same numbers, and not only nearly; here, because SciPy itself is called."""
    f, *args = {**SMOOTH, **LINEAR}[name]
    swapped = {"linalg": scipy.linalg}
    plain = (
        _with_globals(f, swapped)
        if f.__name__ == "<lambda>"
        else getattr(scipy.linalg, f.__name__)
    )
    for got, want in zip(_parts(f(*args)), _parts(plain(*args)), strict=True):
        np.testing.assert_array_equal(got, want)
        assert np.asarray(got).dtype == np.asarray(want).dtype


def _with_globals(f, names):
    return type(f)(
        f.__code__, {**f.__globals__, **names}, f.__name__, f.__defaults__, f.__closure__
    )


def _parts(out):
    return out if isinstance(out, tuple) else (out,)


def test_errors_are_of_the_types_that_scipy_raises():
    bad = np.array([[1.0, np.nan], [0.0, 1.0]])
    calls = [
        (lambda m, a: m.solve(a, np.ones(3)), np.eye(2)),
        (lambda m, a: m.solve(a, np.ones(2)), np.ones((2, 2))),
        (lambda m, a: m.cholesky(a), -np.eye(2)),
        (lambda m, a: m.solve(a, np.ones(2), assume_a="pos"), -np.eye(2)),
        (lambda m, a: m.inv(a), np.zeros((2, 2))),
        (lambda m, a: m.inv(a), bad),
        (lambda m, a: m.qr(a, mode="none"), np.eye(2)),
        (lambda m, a: m.solve(a, np.ones(2), nothing=1), np.eye(2)),
        (lambda m, a: m.solve(a, np.ones(2), assume_a="nothing"), np.eye(2)),
        (lambda m, a: m.solve_sylvester(a, a, a), np.ones((2, 3))),
        (lambda m, a: m.companion(a), np.zeros(3)),
        (lambda m, a: m.solve_circulant(a, np.ones(2)), np.ones(2)),
        (lambda m, a: m.solve_banded((1, 1), a, np.ones(2)), np.ones((2, 2))),
        (lambda m, a: m.polar(a, side="up"), np.eye(2)),
        (lambda m, a: m.solve_continuous_are(a, a, np.triu(np.ones((2, 2))), a), np.eye(2)),
    ]
    for call, a in calls:
        with pytest.raises((ValueError, TypeError, np.linalg.LinAlgError)) as plain:
            call(scipy.linalg, a)
        with pytest.raises(plain.type):
            jvp(lambda a: call(linalg, a), a, np.ones_like(a))


def test_a_value_that_is_not_finite_has_no_finite_derivative():
    broken = np.array([[1.0, np.nan], [0.0, 1.0]])
    with np.errstate(all="ignore"):
        assert np.all(np.isnan(jvp(linalg.expm, broken, np.eye(2))))
        assert np.all(jvp(linalg.expm, broken, np.zeros((2, 2))) == 0)


def test_check_finite_may_be_left_out():
    a = np.array([[1.0, np.nan], [0.0, 1.0]])
    value, _ = dualad.jvp(
        lambda a: linalg.solve_triangular(a, np.ones(2), check_finite=False), (a,), (a,)
    )
    assert np.isnan(value[0]) and value[1] == 1


def test_names_without_a_rule_are_scipys_and_refuse_tracked_values():
    assert linalg.LinAlgError is scipy.linalg.LinAlgError
    np.testing.assert_array_equal(linalg.hadamard(4), scipy.linalg.hadamard(4))
    np.testing.assert_array_equal(linalg.qz(A, A)[0], scipy.linalg.qz(A, A)[0])
    with pytest.raises(MissingRuleError, match=r"scipy\.linalg\.qz has no derivative rule"):
        jvp(lambda a: linalg.qz(a, A)[0], A, A)
    with pytest.raises(AttributeError, match=r"dualad\.scipy\.linalg"):
        getattr(linalg, "nothing")
    assert {"solve", "hadamard"} <= set(dir(linalg))


def test_a_tracked_value_in_scipys_own_function_is_told_the_drop_in():
    for f in (
        scipy.linalg.expm,
        scipy.linalg.norm,
        scipy.linalg.toeplitz,
        scipy.linalg.block_diag,
    ):
        name = rf"dualad\.scipy\.linalg\.{f.__name__} "
        with pytest.raises(LostDerivativeError, match=name):
            jvp(f, A, A)
        with pytest.raises(LostDerivativeError, match=name):
            dualad.grad(lambda t: np.sum(f(t)))(1.0)
    with pytest.raises(LostDerivativeError, match=r"dualad\.scipy"):
        jvp(lambda a: scipy.linalg.qz(a, a)[0], A, A)


def test_signatures_and_pickles_are_those_of_functions():
    for name in linalg.__all__:
        f = getattr(linalg, name)
        assert inspect.signature(f) == inspect.signature(getattr(scipy.linalg, name))
        assert pickle.loads(pickle.dumps(f)) is f
        assert f.__doc__


def test_questions_are_answered_by_the_value():
    band = np.triu(np.ones((3, 3)), -1)
    assert dualad.grad(lambda a: np.sum(a) * linalg.bandwidth(a)[0])(band)[0, 0] == 1
    assert dualad.grad(lambda a: np.sum(a) * linalg.issymmetric(a))(POSITIVE)[0, 0] == 1
    assert dualad.grad(lambda a: np.sum(a) * linalg.ishermitian(a))(A)[0, 0] == 0
    with pytest.raises(LostDerivativeError, match="vmap"):
        dualad.vmap(lambda a: a * linalg.issymmetric(a))(np.stack([A, A]))


# --- how it is called ------------------------------------------------------------------------


def test_matrices_of_tracked_scalars():
    """[[2, t], [t, 1]] as nested lists: det is 2 - t**2."""
    assert dualad.grad(lambda t: linalg.det([[2.0, t], [t, 1.0]]))(0.3) == pytest.approx(-0.6)
    close(
        dualad.jacrev(lambda t: linalg.block_diag([[t, 1.0]], t, [[2.0]]))(3.0),
        [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]],
    )


def test_stacks_of_problems_are_worked_through_one_by_one():
    stack = np.stack([POSITIVE, POSITIVE + np.eye(4)])
    rhs = np.stack([B, 2 * B])[:, :, None]
    for f in (
        lambda a: linalg.solve(a, B),
        lambda a: linalg.solve(a, rhs, assume_a="pos"),
        linalg.inv, linalg.det, linalg.expm, linalg.sqrtm, linalg.cholesky,
        lambda a: linalg.eigh(a)[0], lambda a: linalg.lu(a)[2], lambda a: linalg.cho_factor(a)[0],
        lambda a: linalg.solve_sylvester(a, POSITIVE, A), lambda a: linalg.toeplitz(a[:, 0]),
        lambda a: linalg.block_diag(a, np.ones((2, 1, 1))),
    ):  # fmt: skip
        value, tangent = dualad.jvp(f, (stack,), (stack,))
        close(value, f(stack), atol=1e-10)
        close(tangent, differences(f, (stack,), (stack,))[0], 1e-6, 1e-6)
    with pytest.raises(ValueError, match="zero-size"):
        jvp(linalg.logm, np.zeros((0, 2, 2)), np.zeros((0, 2, 2)))


def test_tensors_give_tensors():
    x = dualad.tensor([[2.0, 1.0], [0.0, 3.0]], dtype=dualad.float64, requires_grad=True)
    y = linalg.expm(x)
    assert isinstance(y, dualad.Tensor)
    y.sum().backward()
    want = dualad.grad(lambda a: np.sum(linalg.expm(a)))(x.detach().numpy())
    close(x.grad.numpy(), want)
    assert isinstance(linalg.solve(dualad.tensor([[2.0]]), np.ones(1)), dualad.Tensor)


@pytest.mark.parametrize(
    "name", [n for n in SMOOTH if n not in ("logm", "fractional_matrix_power")]
)
def test_single_precision_stays_what_scipy_makes_of_it(name):
    f, *args = SMOOTH[name]
    single = [x.astype(np.complex64 if x.dtype.kind == "c" else np.float32) for x in args]
    value, tangent = dualad.jvp(f, single, single)
    for v, t, want in zip(_parts(value), _parts(tangent), _parts(f(*single)), strict=True):
        assert v.dtype == t.dtype == want.dtype
        close(v, want, 1e-2, 1e-2)
    _, pullback = dualad.vjp(f, *single)
    for share, x in zip(pullback(value), single, strict=True):
        assert share.dtype == x.dtype


def test_whole_numbers_beside_tracked_values():
    a = np.array([[2, 1], [1, 3]])
    close(dualad.jacrev(lambda b: linalg.solve(a, b))(np.ones(2)), np.linalg.inv(a))
    close(jvp(lambda b: linalg.solve_triangular(a, b), np.ones(2), np.ones(2)), [1 / 3, 1 / 3])


def test_what_the_caller_allows_to_be_overwritten_is_left_alone():
    a = POSITIVE.copy()
    jvp(lambda b: linalg.solve(a, b, overwrite_a=True, overwrite_b=True, assume_a="pos"), B, B)
    np.testing.assert_array_equal(a, POSITIVE)


def test_rules_give_no_warning_of_their_own():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f in (linalg.logm, linalg.sqrtm, lambda a: linalg.fractional_matrix_power(a, 0.3)):
            dualad.hvp(lambda a: np.sum(f(a)), (POSITIVE,), (A,))
