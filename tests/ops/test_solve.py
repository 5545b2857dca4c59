"""Linear systems against the closed forms of their derivatives."""

import numpy as np
import pytest
import sympy
from every_mode import close, derivative, without_values

import dualad

RNG = np.random.default_rng(3)
A = RNG.uniform(-1, 1, (4, 4)) + 3 * np.eye(4)
T = RNG.uniform(-1, 1, (4, 4))
B = RNG.uniform(-1, 1, (4, 2))
inv, solve = np.linalg.inv, np.linalg.solve


def along(f, x, t):
    return dualad.jvp(f, (x,), (t,))[1]


# --- solve ---------------------------------------------------------------------------------------


def test_a_solution_moves_with_both_sides():
    """a x = b gives dx = a^-1 (db - da x)."""
    db = RNG.uniform(-1, 1, (4, 2))
    _, moved = dualad.jvp(solve, (A, B), (T, db))
    close(moved, inv(A) @ (db - T @ inv(A) @ B))


def test_gradient_of_a_weighted_solution():
    """w.x has the gradients a^-T w in b, and minus its outer product with x in a."""
    b, w = B[:, 0], B[:, 1]
    in_a, in_b = dualad.grad(lambda a, b: w @ solve(a, b), argnums=(0, 1))(A, b)
    close(in_b, inv(A).T @ w)
    close(in_a, -np.outer(inv(A).T @ w, inv(A) @ b))


@pytest.mark.parametrize("a", [np.eye(3), np.diag([1.0, 2, 4]), np.triu(A[:3, :3])])
def test_every_entry_of_a_structured_matrix_has_its_derivative(a):
    """A value that is diagonal or triangular says nothing about the directions of the matrix."""
    b = np.array([1.0, 3.0, -2.0])
    expected = [[-inv(a) @ e @ inv(a) @ b for e in row] for row in np.eye(9).reshape(3, 3, 3, 3)]
    close(np.moveaxis(dualad.jacfwd(solve)(a, b), 0, -1), np.array(expected))
    close(np.moveaxis(dualad.jacrev(solve)(a, b), 0, -1), np.array(expected))


def test_second_derivative_of_a_solution():
    """x(t) = (a + t da)^-1 b has x'' = 2 (a^-1 da)^2 x."""
    f = lambda t: solve(A + t * T, B)
    twice = along(lambda t: along(f, t, 1.0), 0.0, 1.0)
    close(twice, 2 * inv(A) @ T @ inv(A) @ T @ inv(A) @ B)


def test_solve_is_linear_in_b_without_a_value():
    without_values(lambda b: solve(A, b), B)
    without_values(lambda b: solve(A, b), B[:, 0])
    without_values(lambda b: solve(np.stack([A, T]), b), B)
    without_values(lambda b: solve(A + 1j * T, b), B + 0j)


def test_one_matrix_for_a_whole_batch_is_factorised_once(monkeypatch):
    shapes = []

    def counted(a, b, plain=np.linalg.solve):
        shapes.append((a.shape, b.shape))
        return plain(a, b)

    mapped = dualad.vmap(lambda b: solve(A, b))
    monkeypatch.setattr(np.linalg, "solve", counted)
    found = mapped(np.stack([B, 2 * B, 3 * B]))
    assert shapes == [((4, 4), (4, 6))]
    close(found, np.stack([inv(A) @ B * k for k in (1, 2, 3)]))


def test_the_other_operand_may_be_a_list_or_of_integers():
    close(along(lambda a: solve(a, [1, 2, 3, 4]), A, T), -inv(A) @ T @ inv(A) @ [1, 2, 3, 4])
    close(along(lambda b: solve([[2, 0], [0, 4]], b), np.ones(2), np.ones(2)), [0.5, 0.25])


def test_what_numpy_refuses_is_refused():
    for f in (lambda a: solve(a[:2], B[:2]), lambda a: solve(a, B[:3]), lambda a: inv(a[0])):
        with pytest.raises(ValueError):
            dualad.jvp(f, (A,), (T,))
    with pytest.raises(np.linalg.LinAlgError):
        dualad.grad(lambda a: np.sum(solve(a, B)))(np.ones((4, 4)))


# --- inv -----------------------------------------------------------------------------------------


def test_derivatives_of_the_inverse_of_all_orders():
    """(a + t da)^-1 is a^-1 times the geometric series of -t da a^-1."""
    f = lambda t: inv(A + t * T)
    derivatives = [f]
    for _ in range(3):
        derivatives.append(lambda t, g=derivatives[-1]: along(g, t, 1.0))
    expected = inv(A)
    for k, g in enumerate(derivatives):
        expected = expected if k == 0 else -k * inv(A) @ T @ expected
        close(g(0.0), expected, 1e-10)


def test_inverse_against_sympy():
    x, y = sympy.symbols("x y")
    m = sympy.Matrix([[x, y], [y**2, 1 + x]]).inv()

    def f(x, y):
        one = np.ones_like(x)
        return inv(np.stack([np.stack([x, y]), np.stack([y**2, one + x])]))

    for k, s in enumerate((x, y)):
        exact = m.diff(s).subs({x: 2, y: sympy.Rational(1, 3)})
        found = dualad.jacfwd(f, argnums=k)(2.0, 1 / 3)
        close(found, np.array(exact.tolist(), float))


def test_an_empty_matrix():
    close(
        dualad.grad(lambda a: np.sum(inv(a)) + np.linalg.det(a))(np.zeros((0, 0))),
        np.zeros((0, 0)),
    )


# --- powers and tensors --------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(-3, 7))
def test_matrix_power_is_the_sum_over_places(n):
    """d(a^n) = sum_i a^i da a^(n-1-i); a negative power is that of the inverse."""
    base, move = (A, T) if n >= 0 else (inv(A), -inv(A) @ T @ inv(A))
    power = np.linalg.matrix_power
    places = [power(base, i) @ move @ power(base, abs(n) - 1 - i) for i in range(abs(n))]
    close(along(lambda a: power(a, n), A, T), sum(places, np.zeros((4, 4))), 1e-10)


def test_matrix_power_zero_is_constant():
    close(
        dualad.vmap(lambda a: np.linalg.matrix_power(a, 0) @ a)(np.stack([A, T])), np.stack([A, T])
    )
    close(dualad.grad(lambda a: np.sum(np.linalg.matrix_power(a, 0)))(A), np.zeros((4, 4)))
    with pytest.raises(TypeError):
        dualad.grad(lambda a: np.sum(np.linalg.matrix_power(a, 0.5)))(A)


def test_tensorsolve_and_tensorinv_undo_tensordot():
    a = RNG.uniform(-1, 1, (2, 3, 6)) + 3 * np.eye(6).reshape(2, 3, 6)
    x = RNG.uniform(-1, 1, 6)
    derivative(lambda a: np.linalg.tensorsolve(a, np.tensordot(a, x, 1)), a)
    move = RNG.uniform(-1, 1, a.shape)
    identity = lambda a: np.tensordot(np.linalg.tensorinv(a, 2), a, 2)
    close(along(identity, a, move), np.zeros((6, 6)))
    undone = lambda a: np.linalg.tensorsolve(a, np.tensordot(a, x, 1))
    close(along(undone, a, move), np.zeros(6))
    with pytest.raises(np.linalg.LinAlgError):
        dualad.grad(lambda a: np.sum(np.linalg.tensorsolve(a, np.ones(2))))(a)
    with pytest.raises(ValueError):
        dualad.grad(lambda a: np.sum(np.linalg.tensorinv(a, 0)))(a)
