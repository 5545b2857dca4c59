"""Determinants against exact cofactors, at regular and at singular matrices."""

import itertools

import numpy as np
import pytest
import sympy
from every_mode import close, derivative

import dualad
from dualad.errors import SingularPointError

RNG = np.random.default_rng(5)
det = np.linalg.det


def of_rank(n, r):
    """An integer matrix of size n and rank r."""
    if r == n:
        return RNG.integers(-2, 3, (n, n)) + 4.0 * np.eye(n)
    left, right = RNG.integers(-2, 3, (n, r)), RNG.integers(-2, 3, (r, n))
    left[:r] += 3 * np.eye(r, dtype=int)
    right[:, :r] += 3 * np.eye(r, dtype=int)
    return (left @ right).astype(float)


RANKS = [(n, r) for n in range(1, 7) for r in range(n + 1)]


def minor(a, rows, columns):
    """The determinant of a without some rows and columns, exactly."""
    kept = [[k for k in range(len(a)) if k not in gone] for gone in (rows, columns)]
    return float(sympy.Matrix(a.astype(int)[np.ix_(*kept)]).det()) if kept[0] else 1.0


def exact_cofactors(a):
    n = range(len(a))
    return np.array([[(-1) ** (i + j) * minor(a, [i], [j]) for j in n] for i in n])


def exact_hessian(a):
    """d2 det / da_ij da_kl is a signed minor without two rows and two columns."""
    n = len(a)
    out = np.zeros((n,) * 4)
    for i, k in itertools.permutations(range(n), 2):
        for j, m in itertools.permutations(range(n), 2):
            sign = (-1) ** (i + j + k + m) * (1 if (i < k) == (j < m) else -1)
            out[i, j, k, m] = sign * minor(a, [i, k], [j, m])
    return out


def bound(a, order):
    """The size of the products that a derivative of det sums, which rounding is relative to."""
    return 1e-13 * (1 + np.linalg.norm(a, 2)) ** max(len(a) - order, 0)


@pytest.mark.parametrize("n, r", RANKS)
def test_the_gradient_of_det_is_the_cofactor_matrix_at_any_rank(n, r):
    a = of_rank(n, r)
    assert np.linalg.matrix_rank(a) == r
    close(dualad.grad(det)(a), exact_cofactors(a), 1e-12, bound(a, 1))
    t = RNG.normal(size=(n, n))
    close(
        dualad.jvp(det, (a,), (t,))[1], np.sum(exact_cofactors(a) * t), 1e-12, n**2 * bound(a, 1)
    )


@pytest.mark.parametrize("n, r", [c for c in RANKS if c[0] in (2, 3, 4, 5)])
def test_the_second_derivative_of_det_is_exact_at_any_rank(n, r):
    a = of_rank(n, r)
    close(dualad.hessian(det)(a), exact_hessian(a), 1e-12, 10 * bound(a, 2))


@pytest.mark.parametrize("n", range(1, 6))
def test_all_derivatives_along_a_line_at_any_rank(n):
    """det(a + t m) is a polynomial in t, whose coefficients SymPy gives."""
    m, t = RNG.integers(-2, 3, (n, n)).astype(float), sympy.Symbol("t")
    for r in range(n + 1):
        a = of_rank(n, r)
        exact = (sympy.Matrix(a.astype(int)) + t * sympy.Matrix(m.astype(int))).det()
        f = lambda x, a=a: det(a + x * m)
        for order in range(min(n, 4) + 1):
            close(f(0.0), float(exact.diff(t, order).subs(t, 0)), 1e-9, 100 * bound(a, order))
            f = lambda x, g=f: dualad.jvp(g, (x,), (1.0,))[1]


def test_complex_and_stacked_singular_matrices():
    real, imag = of_rank(4, 3), of_rank(4, 4)
    singular = real @ (np.eye(4) + 1j * imag)
    stack = np.stack([singular, singular + np.eye(4), np.zeros((4, 4))])
    t = RNG.normal(size=stack.shape) + 1j * RNG.normal(size=stack.shape)
    adjugate = np.stack(
        [
            np.array(sympy.Matrix(m.astype(complex)).adjugate().evalf().tolist(), complex)
            for m in stack
        ]
    )
    _, found = dualad.jvp(det, (stack,), (t,))
    close(found, np.einsum("kij,kji->k", adjugate, t), 1e-11, 1e-9)
    derivative(lambda m: dualad.grad(lambda x: np.sum(det(x)))(m), stack.real)


def test_a_triangular_matrix_has_a_full_gradient():
    a = np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 1]])
    close(dualad.grad(det)(a), [[1, 0, 0], [0, 1, -1], [0, 0, 1]])


def test_sizes_zero_and_one():
    close(dualad.grad(det)(np.array([[0.0]])), [[1.0]])
    close(dualad.value_and_grad(det)(np.zeros((0, 0))), (1.0, np.zeros((0, 0))))
    close(dualad.hessian(det)(np.array([[3.0]])), np.zeros((1, 1, 1, 1)))


def test_a_nearly_singular_matrix_keeps_its_accuracy():
    """Cofactors do not lose digits where the determinant nearly vanishes."""
    for tiny in (1e-4, 1e-8, 1e-12, 1e-200):
        a = np.diag([1.0, 2.0, 3.0, tiny])
        close(np.diag(dualad.grad(det)(a)), [6 * tiny, 3 * tiny, 2 * tiny, 6.0], 1e-12, 0)


# --- slogdet -------------------------------------------------------------------------------------


def test_the_logarithm_has_the_inverse_as_gradient_whatever_the_sign():
    for a in (of_rank(4, 4), np.array([[0.0, 2.0], [3.0, 1.0]]), -np.eye(3)):
        gradient = dualad.grad(lambda m: np.linalg.slogdet(m).logabsdet)(a)
        close(gradient, np.linalg.inv(a).T)
        sign = dualad.jvp(lambda m: np.linalg.slogdet(m).sign, (a,), (np.ones_like(a),))
        close(sign, (np.sign(det(a)), 0.0))


def test_a_complex_determinant_turns_and_grows():
    """log det = log |det| + i arg det moves by tr(a^-1 da)."""
    a = of_rank(3, 3) + 1j * of_rank(3, 3)
    t = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
    move = np.trace(np.linalg.inv(a) @ t)
    (sign, _), (dsign, dlog) = dualad.jvp(lambda m: tuple(np.linalg.slogdet(m)), (a,), (t,))
    close(dlog, move.real)
    close(dsign / sign, 1j * move.imag)


def test_the_logarithm_at_a_singular_matrix_is_refused_by_name():
    a = np.ones((2, 2))
    assert (
        dualad.vmap(lambda m: np.linalg.slogdet(m)[1])(np.stack([a, a])).tolist() == [-np.inf] * 2
    )
    for run in (
        lambda f: dualad.grad(f)(a),
        lambda f: dualad.jvp(f, (a,), (a,)),
        lambda f: dualad.grad(lambda m: np.sum(dualad.vmap(f)(m)))(np.stack([a, np.eye(2)])),
    ):
        with pytest.raises(SingularPointError, match="slogdet has no derivative here"):
            run(lambda m: np.linalg.slogdet(m)[1])
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        dualad.grad(lambda m: np.linalg.slogdet(m)[1])(np.ones((2, 3)))
