"""`linear_solve`: one factorisation for dense, sparse and matrix-free systems."""

import numpy as np
import pytest
import scipy.sparse as plain_sparse
import scipy.sparse.linalg as sparse_linalg
import sympy

from dualad import sensitivity as ds
from dualad.scipy import sparse

N = 6
LAPLACE = np.diag(np.full(N, 2.0)) - np.diag(np.ones(N - 1), 1) - np.diag(np.ones(N - 1), -1)
P = {"D": 1.5, "k": 0.7, "f": 3.0}


def close(value, exact, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


def load(p):
    return np.stack([p.f, 1.0, 2.0, p.f**2, -1.0, 0.5])


def dense(p):
    return p.D * LAPLACE + p.k**2 * np.eye(N)


def by_diagonals(p):
    one = np.ones(N)
    return sparse.diags(
        [-p.D * one[1:], 2.0 * p.D * one + p.k**2, -p.D * one[1:]], [-1, 0, 1], format="csc"
    )


def by_sum(p):
    lap, one = sparse.csr_array(LAPLACE), sparse.csr_array(plain_sparse.eye_array(N))
    return p.D * lap + p.k**2 * one


def by_product(p):
    return lambda x: p.D * (LAPLACE @ x) + p.k**2 * x


def by_operator(p):
    return sparse_linalg.LinearOperator((N, N), matvec=by_product(p), dtype=float)


def exact():
    """x = A^-1 b, x_j = A^-1 (b_j - A_j x), x_ij = A^-1 (b_ij - A_ij x - A_i x_j - A_j x_i)."""
    inverse = np.linalg.inv(1.5 * LAPLACE + 0.49 * np.eye(N))
    b = np.array([3.0, 1.0, 2.0, 9.0, -1.0, 0.5])
    slopes = [LAPLACE, 1.4 * np.eye(N), np.zeros((N, N))]
    b_f, b_ff = np.zeros(N), np.zeros(N)
    b_f[[0, 3]], b_ff[3] = [1.0, 6.0], 2.0
    x = inverse @ b
    first = [inverse @ (b_j - a @ x) for a, b_j in zip(slopes, [0 * b, 0 * b, b_f])]
    second = np.zeros((N, 3, 3))
    for i in range(3):
        for j in range(3):
            bend = 2.0 * np.eye(N) if i == j == 1 else np.zeros((N, N))
            b_ij = b_ff if i == j == 2 else 0 * b
            rest = b_ij - bend @ x - slopes[i] @ first[j] - slopes[j] @ first[i]
            second[:, i, j] = inverse @ rest
    return x, np.stack(first, axis=1), second


@pytest.mark.parametrize("A", [dense, by_diagonals, by_sum, by_product, by_operator])
def test_every_kind_of_matrix_to_second_order(A):
    r = ds.linear_solve(A, load, P, order=2)
    x, first, second = exact()
    close(r.values, x)
    close(r.jacobian, first)
    close(r.hessian, second, atol=1e-11)
    assert r.stats["factorisations"] == 1


def test_the_resistor_divider_by_sympy():
    """Two nodes with conductances g1, g2, g3 and a current I."""
    g1, g2, g3, current = sympy.symbols("g1 g2 g3 I")
    A = sympy.Matrix([[g1 + g2, -g2], [-g2, g2 + g3]])
    x = A.LUsolve(sympy.Matrix([current, 0]))
    p = {"g1": 1.0, "g2": 0.5, "g3": 2.0, "I": 3.0}
    r = ds.linear_solve(
        lambda p: np.stack([np.stack([p.g1 + p.g2, -p.g2]), np.stack([-p.g2, p.g2 + p.g3])]),
        lambda p: np.stack([p.I, 0.0]), p, names=["V1", "V2"], units={"V1": "V", "V2": "V"},
    )  # fmt: skip
    for i, name in enumerate(("V1", "V2")):
        for q in p:
            close(r.column(name, q), float(x[i].diff(sympy.Symbol(q)).subs(p)))
    assert r.units("V1") == "V"


@pytest.mark.parametrize("A", [dense, by_diagonals, by_product])
def test_several_right_hand_sides(A):
    r = ds.linear_solve(A, lambda p: np.stack([load(p), 2.0 * load(p)], axis=1), P)
    x, first, _ = exact()
    close(r.values, np.stack([x, 2 * x], axis=1))
    close(r.jacobian[:, 1], 2 * first)
    assert r.outputs[1] == "x[0,1]"


def test_constants_in_place_of_functions():
    """A(p) x = b with b fixed, and A fixed with b(p)."""
    close(ds.linear_solve(lambda p: p.a * np.eye(2), [1.0, 2.0], {"a": 2.0}).jacobian[:, 0],
          [-0.25, -0.5])  # fmt: skip
    matrix = plain_sparse.csc_array(2.0 * np.eye(2))
    for A in (matrix, matrix.toarray(), sparse_linalg.aslinearoperator(matrix)):
        r = ds.linear_solve(A, lambda p: p.a * np.ones(2), {"a": 3.0})
        close(r.values, [1.5, 1.5])
        close(r.jacobian[:, 0], [0.5, 0.5])


def test_a_large_sparse_system_with_one_factorisation():
    """-D u'' = 1 on (0, 1): u = x (1 - x)/(2 D), exactly on the grid; du/dD = -u/D."""
    n = 4000
    h, one = 1 / (n + 1), np.ones(n)
    x = np.arange(1, n + 1) * h
    r = ds.linear_solve(
        lambda p: sparse.diags([-p.D * one[1:], 2 * p.D * one, -p.D * one[1:]], [-1, 0, 1]) / h**2,
        one, {"D": 2.0},
    )  # fmt: skip
    u = x * (1 - x) / 4.0
    close(r.values, u, rtol=1e-7)
    close(r.jacobian[:, 0], -u / 2.0, rtol=1e-7)


def test_a_badly_scaled_system():
    scale = 10.0 ** np.arange(-9, 9, 3.0)
    r = ds.linear_solve(lambda p: p.a * np.diag(scale), lambda p: p.a**2 * scale, {"a": 3.0})
    close(r.values, np.full(N, 3.0))
    close(r.jacobian[:, 0], np.ones(N))


@pytest.mark.parametrize(
    ("A", "b", "sentence"),
    [
        (lambda p: p.D * np.ones((2, 2)), [1.0, 1.0], r"A is singular.*\(x1 - x2\) open"),
        (lambda p: sparse.csc_array(p.D * np.ones((2, 2))), [1.0, 1.0], "singular"),
        (lambda p: p.D * np.ones((2, 3)), [1.0, 1.0], r"square matrix, got shape \(2, 3\)"),
        (lambda p: p.D * np.eye(3), [1.0, 1.0], "A has 3 rows, b has 2"),
        (lambda p: p.D * np.diag([1.0, np.nan]), [1.0, 1.0], "A is not finite in row 1"),
        (lambda p: p.D * np.eye(2), 1.0, r"b must have shape \(n,\) or \(n, m\)"),
        (lambda p: p.D * np.eye(2), [1j, 1.0], "b must be real"),
        (lambda p: lambda x: 0.0 * p.D * x, [1.0, 1.0], "did not converge.*preconditioner"),
        (lambda p: p.nothing, [1.0, 1.0], "there is no parameter 'nothing'"),
    ],
)
def test_what_has_no_answer_is_an_error(A, b, sentence):
    with pytest.raises(ds.ModelError, match=sentence):
        ds.linear_solve(A, b, {"D": 1.0})


def test_a_plain_sparse_matrix_says_which_one_to_take():
    eye = plain_sparse.eye_array(2, format="csr")
    with pytest.raises(ds.ModelError, match=r"(?s)p.D \* eye.*dualad.scipy.sparse"):
        ds.linear_solve(lambda p: p.D * eye, [1.0, 1.0], {"D": 1.0})


def test_names_and_options_are_checked():
    with pytest.raises(ds.SensitivityError, match="2 unknowns, and 3 names"):
        ds.linear_solve(lambda p: p.D * np.eye(2), [1.0, 1.0], {"D": 1.0}, names="abc")
    with pytest.raises(ds.SensitivityError, match="method must be one of gmres"):
        ds.linear_solve(by_product, np.ones(N), P, method="magic")
