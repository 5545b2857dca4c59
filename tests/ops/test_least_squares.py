"""Pseudo-inverse and least squares against normal equations and the rank that stays."""

import numpy as np
import pytest
from every_mode import close, derivative, like

import dualad

RNG = np.random.default_rng(9)
lstsq, pinv = np.linalg.lstsq, np.linalg.pinv


def draw(*shape, complex_too=False):
    t = RNG.normal(size=shape)
    return t + 1j * RNG.normal(size=shape) if complex_too else t


def along(f, a, t):
    return dualad.jvp(f, (a,), (t,))[1]


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


# --- pinv ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("complex_too", [False, True])
def test_full_rank_against_the_normal_equations(complex_too):
    """a^+ = (a^H a)^-1 a^H for a tall matrix, a^H (a a^H)^-1 for a wide one."""
    tall = draw(5, 3, complex_too=complex_too)
    t = like(tall)
    normal = lambda a: np.linalg.inv(adjoint(a) @ a) @ adjoint(a)
    close(along(pinv, tall, t), along(normal, tall, t), 1e-9, 1e-10)
    wide = lambda a: adjoint(a) @ np.linalg.inv(a @ adjoint(a))
    close(
        along(pinv, adjoint(tall), adjoint(t)), along(wide, adjoint(tall), adjoint(t)), 1e-9, 1e-10
    )


@pytest.mark.parametrize("complex_too", [False, True])
def test_deficient_rank_along_directions_that_keep_it(complex_too):
    """Of a product b c of full rank factors it is c^+ b^+."""
    b, c = draw(5, 2, complex_too=complex_too), draw(2, 4, complex_too=complex_too)
    moves = like(b), like(c)
    _, expected = dualad.jvp(lambda b, c: pinv(c) @ pinv(b), (b, c), moves)
    _, found = dualad.jvp(lambda b, c: pinv(b @ c), (b, c), moves)
    close(found, expected, 1e-9, 1e-9)


def test_the_inverse_of_a_regular_matrix():
    a, t = draw(3, 3), draw(3, 3)
    close(along(pinv, a, t), -np.linalg.inv(a) @ t @ np.linalg.inv(a), 1e-9, 1e-10)


def test_what_is_cut_off_does_not_count():
    a = np.diag([1.0, 0.1])
    close(dualad.grad(lambda m: np.sum(pinv(m, rcond=0.5)))(a)[0, 0], -1.0)
    close(dualad.grad(lambda m: np.sum(pinv(m, rtol=0.5)))(a)[1, 1], 0.0)
    close(dualad.grad(lambda m: np.sum(pinv(m, rtol=None)))(a)[1, 1], -100.0)
    with pytest.raises(ValueError, match="both"):
        dualad.grad(lambda m: np.sum(pinv(m, 0.1, rtol=0.1)))(a)


def test_one_cut_for_each_matrix_of_a_stack():
    stack = np.stack([np.diag([1.0, 0.1])] * 2)
    found = dualad.grad(lambda m: np.sum(pinv(m, rcond=[0.5, 0.01])))(stack)
    close(found[:, 1, 1], [0.0, -100.0])


def test_hermitian_reads_one_triangle():
    a = draw(3, 3, complex_too=True)
    a = a + adjoint(a) + 4 * np.eye(3)
    t = like(a)
    t = t + adjoint(t)
    close(along(lambda m: pinv(m, hermitian=True), a, t), along(pinv, a, t), 1e-9, 1e-10)
    gradient = dualad.grad(lambda m: np.sum(np.abs(pinv(m, hermitian=True)) ** 2))(a)
    assert np.all(np.triu(gradient, 1) == 0)


# --- lstsq ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("complex_too", [False, True])
def test_the_solution_against_the_normal_equations(complex_too):
    a, b = draw(6, 3, complex_too=complex_too), draw(6, 2, complex_too=complex_too)

    def normal(a, b):
        x = np.linalg.solve(adjoint(a) @ a, adjoint(a) @ b)
        return x, np.sum(np.abs(b - a @ x) ** 2, axis=0), np.linalg.svdvals(a)

    def found(a, b):
        x, residuals, rank, s = lstsq(a, b)
        assert rank == 3
        return x, residuals, s

    moves = like(a), like(b)
    close(dualad.jvp(found, (a, b), moves)[1], dualad.jvp(normal, (a, b), moves)[1], 1e-9, 1e-10)


def test_a_line_through_points():
    """The slope of the best line is linear in the data."""
    x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    slope = lambda y: lstsq(np.stack([x, np.ones(3)], 1), y)[0][0]
    close(dualad.grad(slope)(y), [-0.5, 0.0, 0.5])
    close(dualad.hessian(slope)(y), np.zeros((3, 3)), 0, 1e-12)


def test_residuals_that_numpy_leaves_out():
    for a in (draw(3, 3), draw(2, 4), draw(5, 1) @ draw(1, 3)):
        b, move = draw(a.shape[0]), draw(*a.shape)
        (_, residuals), (dx, dr) = dualad.jvp(lambda m, b=b: lstsq(m, b)[:2], (a,), (move,))
        assert residuals.shape == dr.shape == (0,) and np.all(np.isfinite(dx))


def test_deficient_rank_is_the_shortest_solution():
    b, c, data = draw(5, 2), draw(2, 4), draw(5)
    moves = like(b), like(c)
    short = lambda b, c: pinv(c) @ (pinv(b) @ data)
    found = lambda b, c: lstsq(b @ c, data)[0]
    close(dualad.jvp(found, (b, c), moves)[1], dualad.jvp(short, (b, c), moves)[1], 1e-8, 1e-9)


def test_every_mode_of_the_outputs_together():
    derivative(lambda a, b: lstsq(a, b)[:2], draw(5, 2), draw(5, 2))
    derivative(lambda a: lstsq(a, [1.0, 2, 3, 4, 5])[3], draw(5, 2))
    derivative(lambda b: lstsq([[1, 0], [1, 1], [1, 2]], b, rcond=1e-9)[1], draw(3, 2))
