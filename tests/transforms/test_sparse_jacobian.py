"""Sparse Jacobians: the entries are those of the dense one, by few tangents."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import least_squares, root

import dualad
from dualad.errors import ArgumentError, LostDerivativeError, NotDifferentiableError, ShapeError

X = np.array([0.5, -1.0, 2.0, 0.3, 1.5])


def chain(x):
    """f_i = x_i^2 - sin(x_{i+1}): two diagonals."""
    return x**2 - np.sin(np.concatenate([x[1:], [0.0]]))


def chain_jacobian(x):
    return np.diag(2 * x) - np.diag(np.cos(x[1:]), 1)


def test_the_pattern_is_found_and_the_entries_are_exact():
    J = dualad.sparse_jacobian(chain)
    assert J.groups is None
    for x in (X, 2 * X, X):
        found = J(x)
        assert isinstance(found, scipy.sparse.csr_array) and found.shape == (5, 5)
        np.testing.assert_allclose(found.toarray(), chain_jacobian(x), rtol=1e-14)
        assert found.nnz == 9
    assert J.groups == 2


def test_the_function_runs_once_a_call_when_the_pattern_is_known():
    calls = []

    def f(x):
        calls.append(1)
        return chain(x)

    for J in (dualad.sparse_jacobian(f, chain_jacobian(X)), dualad.sparse_jacobian(f)):
        J(X)
        calls.clear()
        J(2 * X)
        assert len(calls) == 1


@pytest.mark.parametrize("pattern", [np.eye(6, 4), scipy.sparse.eye(6, 4), np.eye(6, 4) > 0])
def test_rectangles_and_every_kind_of_pattern(pattern):
    f = lambda x: np.concatenate([np.exp(x), [1.0, 2.0]])
    J = dualad.sparse_jacobian(f, pattern)
    np.testing.assert_allclose(J(X[:4]).toarray(), np.eye(6, 4) * np.exp(X[:4]))
    assert J.groups == 1
    tall = dualad.sparse_jacobian(lambda x: x[:2] * x[2:4])
    expected = [[X[2], 0.0, X[0], 0.0, 0.0], [0.0, X[3], 0.0, X[1], 0.0]]
    np.testing.assert_allclose(tall(X).toarray(), expected)


def test_an_entry_that_is_zero_by_chance_is_part_of_the_pattern():
    """x_i^2 has slope 0 at 0."""
    J = dualad.sparse_jacobian(lambda x: x**2)
    np.testing.assert_array_equal(J(np.zeros(3)).toarray(), np.zeros((3, 3)))
    np.testing.assert_allclose(J(np.ones(3)).toarray(), 2 * np.eye(3))


def test_a_branch_with_more_entries_is_noticed_and_its_pattern_found():
    f = lambda x: x * 2 if x[0] > 0 else x * x[::-1]
    J = dualad.sparse_jacobian(f)
    np.testing.assert_allclose(J(np.ones(4)).toarray(), 2 * np.eye(4))
    x = np.array([-1.0, 2.0, 3.0, 5.0])
    anti = np.diag(x[::-1]) + np.fliplr(np.diag(x))
    np.testing.assert_allclose(J(x).toarray(), anti)
    np.testing.assert_allclose(J(np.ones(4)).toarray(), 2 * np.eye(4))
    with pytest.raises(ShapeError, match="output 0 depends on entries of x"):
        dualad.sparse_jacobian(f, np.eye(4))(x)


def test_shapes_arguments_and_chunks():
    f = lambda x, k, power=1: (k * x**power).reshape(3, 2)
    x = np.arange(1.0, 7.0).reshape(2, 3)
    J = dualad.sparse_jacobian(f, chunk_size=1)
    np.testing.assert_allclose(J(x, 2.0, power=2).toarray(), np.diag(4 * x.ravel()))
    other = np.arange(1.0, 5.0).reshape(2, 2)
    g = dualad.sparse_jacobian(lambda x: np.ravel(x) ** 2)
    for y in (x, other, x):  # another number of entries: another pattern
        np.testing.assert_allclose(g(y).toarray(), np.diag(2 * y.ravel()))


def test_more_columns_than_are_looked_at_at_once():
    n = 300
    x = np.linspace(-1.0, 1.0, n)
    J = dualad.sparse_jacobian(chain)
    np.testing.assert_allclose(J(x).toarray(), chain_jacobian(x), rtol=1e-13)
    assert J.groups == 2


def test_float32_and_constant_functions():
    J = dualad.sparse_jacobian(lambda x: x * x)(np.ones(3, np.float32))
    assert J.dtype == np.float32
    np.testing.assert_array_equal(J.toarray(), 2 * np.eye(3))
    nothing = dualad.sparse_jacobian(lambda x: np.ones(4))(np.ones(3))
    assert nothing.shape == (4, 3) and nothing.nnz == 0


def test_what_is_not_finite_stays_where_it_is():
    J = dualad.sparse_jacobian(np.sqrt)
    J(np.ones(3))
    np.testing.assert_array_equal(J(np.array([0.0, 1.0, 4.0])).diagonal(), [np.inf, 0.5, 0.25])


def test_solvers_take_it():
    target = chain(X)
    f = lambda x: chain(x) - target
    fit = least_squares(f, X + 0.1, jac=dualad.sparse_jacobian(f))
    np.testing.assert_allclose(chain(fit.x), target, atol=1e-8)
    dense = dualad.sparse_jacobian(f)
    solved = root(f, X + 0.1, jac=lambda x: dense(x).toarray())
    np.testing.assert_allclose(chain(solved.x), target, atol=1e-8)


def test_it_says_what_it_does_not_take():
    with pytest.raises(NotDifferentiableError, match="one real array as the first argument"):
        dualad.sparse_jacobian(lambda p: p["a"])({"a": X, "b": X})
    with pytest.raises(NotDifferentiableError, match="int64"):
        dualad.sparse_jacobian(chain)(np.arange(3))
    with pytest.raises(NotDifferentiableError, match="one real array"):
        dualad.sparse_jacobian(lambda z: z)(X + 1j)
    with pytest.raises(NotDifferentiableError, match="the output is one real array"):
        dualad.sparse_jacobian(lambda x: (x, x))(X)
    for shape in ((5, 4), (4, 5)):
        with pytest.raises(ShapeError, match=r"sparsity has shape .* it must have one"):
            dualad.sparse_jacobian(chain, np.ones(shape))(X)
    with pytest.raises(ArgumentError, match="chunk_size"):
        dualad.sparse_jacobian(chain, chunk_size=0)
    with pytest.raises(LostDerivativeError):
        dualad.grad(lambda x: dualad.sparse_jacobian(chain)(x).sum())(X)
