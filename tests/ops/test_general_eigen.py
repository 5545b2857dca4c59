"""Eigenvalues and eigenvectors of general matrices, against the equation that they satisfy."""

import numpy as np
import pytest
from every_mode import close, like

import dualad
from dualad.errors import DirectionNeededError, SingularPointError

RNG = np.random.default_rng(6)
eig = np.linalg.eig


def general(n, complex_too=False):
    v = RNG.normal(size=(n, n)) + 2 * np.eye(n)
    v = v + 1j * RNG.normal(size=(n, n)) if complex_too else v
    return v @ np.diag(np.arange(1.0, n + 1)) @ np.linalg.inv(v)


@pytest.mark.parametrize("complex_too", [False, True])
def test_the_pairs_satisfy_the_moved_equation(complex_too):
    """a v = v w gives da v + a dv = dv w + v dw, with vectors of length one."""
    a = general(4, complex_too)
    t = like(a)
    (w, v), (dw, dv) = dualad.jvp(lambda m: tuple(eig(m)), (a,), (t,))
    close(t @ v + a @ dv, dv * w + v * dw, 1e-9, 1e-9)
    close(np.sum(np.conj(v) * dv, axis=0).real, np.zeros(4), 1e-9, 1e-10)


def test_complex_pairs_of_a_real_matrix():
    """A rotation by x has the eigenvalues exp(+-ix)."""

    def rotation(x):
        c, s = np.cos(x), np.sin(x)
        return np.linalg.eigvals(np.stack([np.stack([c, -s]), np.stack([s, c])]))

    w, dw = dualad.jvp(rotation, (0.7,), (1.0,))
    close(dw, 1j * np.sign(w.imag) * w)
    close(dualad.grad(lambda x: np.imag(rotation(x)[0]))(0.7), np.sign(w[0].imag) * np.cos(0.7))


def test_the_trace_and_determinant_from_eigenvalues():
    a = general(4)
    close(dualad.grad(lambda m: np.real(np.sum(eig(m)[0])))(a), np.eye(4), 1e-9, 1e-9)
    gradient = dualad.grad(lambda m: np.real(np.prod(np.linalg.eigvals(m))))(a)
    close(gradient, np.linalg.det(a) * np.linalg.inv(a).T, 1e-8, 1e-8)


def test_repeated_eigenvalues_with_a_basis_of_eigenvectors():
    """A diagonalisable matrix: symmetric functions are exact."""
    v = general(3)
    a = v @ np.diag([2.0, 2.0, 5.0]) @ np.linalg.inv(v)
    gradient = dualad.grad(lambda m: np.real(np.sum(np.linalg.eigvals(m) ** 2)))(a)
    close(gradient, 2 * a.T, 1e-8, 1e-8)


def test_a_defective_matrix_is_refused_by_name():
    jordan = np.array([[1.0, 1], [0, 1]])
    assert dualad.vmap(np.linalg.eigvals)(np.stack([jordan])).tolist() == [[1.0, 1.0]]
    for run in (
        lambda: dualad.jvp(np.linalg.eigvals, (jordan,), (jordan,)),
        lambda: dualad.jacrev(np.linalg.eigvals)(jordan),
    ):
        with pytest.raises(SingularPointError, match="eig"):
            run()


# --- repeated eigenvalues of general matrices ----------------------------------------------------

TIED = np.diag([2.0, 2.0, 1.0])
#: On the repeated eigenvalue: different real eigenvalues, a complex pair, one without a basis.
APART = np.array([[1.0, 2.0, 0.3], [0.5, -1.0, 0.5], [0.3, 0.1, 1.0]])
PAIR = np.array([[1.0, 2.0, 0.3], [-2.0, 1.0, 0.5], [0.3, 0.1, 1.0]])
JORDAN = np.array([[1.0, 1.0, 0.3], [0.0, 1.0, 0.5], [0.3, 0.1, 1.0]])


def square_by_eig(a):
    """a @ a, whose derivative along t is a t + t a."""
    w, v = eig(a)
    return np.real((v * w**2) @ np.linalg.inv(v))


def test_eig_is_adapted_to_a_direction_that_is_known():
    right = TIED @ APART + APART @ TIED
    close(dualad.jvp(square_by_eig, (TIED,), (APART,))[1], right, 1e-12, 1e-12)
    for t in (PAIR, APART):
        along = dualad.jvp(square_by_eig, (TIED + 0j,), (t + 0j,))[1]
        close(along, TIED @ t + t @ TIED, 1e-12, 1e-12)
    close(dualad.jacfwd(lambda s: square_by_eig(TIED + s * APART))(0.0), right, 1e-12, 1e-12)
    weights = np.arange(9.0).reshape(3, 3)
    close(
        dualad.grad(lambda s: np.sum(weights * square_by_eig(TIED + s * APART)))(0.0),
        np.sum(weights * right),
    )
    stacked = dualad.vmap(lambda a: dualad.jvp(square_by_eig, (a,), (APART,))[1])
    other = general(3)
    close(
        stacked(np.stack([TIED, other])),
        np.stack([right, other @ APART + APART @ other]),
        1e-8,
        1e-8,
    )


@pytest.mark.parametrize("t", [PAIR, JORDAN])
def test_eig_refuses_directions_in_which_its_vectors_do_not_move_smoothly(t):
    with pytest.raises(SingularPointError, match=r"linalg\.eig .*repeated.*eigvals"):
        dualad.jvp(square_by_eig, (TIED,), (t,))


def test_eig_refuses_gradients_that_the_vectors_at_ties_leave_open():
    """The projectors alone would say diag(4, 4, 2), and the right one is full."""
    with pytest.raises(SingularPointError):
        dualad.grad(lambda a: np.sum(square_by_eig(a)))(TIED)
    with pytest.raises(SingularPointError):
        dualad.vjp(square_by_eig, TIED)[1](np.ones((3, 3)))


@pytest.mark.parametrize("t", [APART, PAIR, JORDAN])
def test_symmetric_functions_of_repeated_eigenvalues_along_all_directions(t):
    """tr a**3 moves by 3 tr(a**2 t)."""

    def cubes(a):
        return np.sum(np.linalg.eigvals(a) ** 3)

    close(dualad.jvp(cubes, (TIED,), (t,))[1], 3 * np.trace(TIED @ TIED @ t))
    close(dualad.grad(cubes)(TIED), 3 * (TIED @ TIED).T)
    with pytest.raises((SingularPointError, DirectionNeededError)):
        dualad.hessian(cubes)(TIED)
