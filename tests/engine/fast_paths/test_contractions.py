"""Sums and matrix products of small arrays, in every mode and beside everything."""

import numpy as np
import pytest
from agreement import like, same

import dualad
from dualad.engine.fast_paths.contractions import pull_of_two, pull_sum

X = np.array([2.0, 3.0, 5.0])
M = np.array([[1.0, -2.0, 0.5], [4.0, 3.0, -1.0]])
IDENTITY = np.eye(3)
#: d (x x^T)_ij / dx_k
OUTER = np.einsum("ik,j->ijk", IDENTITY, X) + np.einsum("i,jk->ijk", X, IDENTITY)
#: a function of X and its Jacobian
CONTRACTIONS = {
    "sum": (np.sum, np.ones(3)),
    "sum method": (lambda x: x.sum(), np.ones(3)),
    "sum of squares": (lambda x: np.sum(x * x), 2 * X),
    "sum over an axis": (lambda x: np.sum(M * x, 0), np.diag(M.sum(0))),
    "sum over the last axis": (lambda x: np.sum(M * x, axis=-1), M),
    "sum with axes kept": (lambda x: np.sum(M * x, axis=1, keepdims=True), M[:, None]),
    "sum of all with axes kept": (lambda x: np.sum(x[None], keepdims=True), np.ones((1, 1, 3))),
    "sum of one": (lambda x: np.sum(x[1:2]), [0, 1, 0]),
    "sum of none": (lambda x: np.sum(x[1:1]), [0, 0, 0]),
    "mean": (np.mean, np.full(3, 1 / 3)),
    "add.reduce": (lambda x: np.add.reduce(x * X), X),
    "matrix and vector": (lambda x: M @ x, M),
    "vector and matrix": (lambda x: x @ M.T, M),
    "vectors": (lambda x: x @ X, X),
    "a vector with itself": (lambda x: x @ x, 2 * X),
    "dot": (lambda x: np.dot(M, x), M),
    "dot method": (lambda x: x.dot(x), 2 * X),
    "inner": (lambda x: np.inner(x, X), X),
    "vdot": (lambda x: np.vdot(X, x), X),
    "column and row": (lambda x: x[:, None] @ x[None], OUTER),
    "matrices": (lambda x: (M * x) @ M.T, np.einsum("ik,jk->ijk", M, M)),
    "a matrix of x and x": (lambda x: (M * x) @ x, 2 * M * X),
    "x and a matrix of x": (lambda x: x @ (x[:, None] * M.T), 2 * M * X),
    "a stack": (lambda x: np.ones((2, 1, 3)) @ x, np.ones((2, 1, 3))),
}


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_every_mode(name):
    f, jacobian = CONTRACTIONS[name]
    value = np.asarray(f(X))
    jacobian = np.array(jacobian, float).reshape(*value.shape, 3)
    same(dualad.jacfwd(f)(X), jacobian)
    same(dualad.jacrev(f)(X), jacobian)
    t = like(X)
    same(dualad.jvp(f, (X,), (t,)), (f(X), (jacobian @ t)[()]))
    w = like(value)[()]
    gradient = dualad.grad(lambda x: np.sum(w * f(x)))
    along = np.tensordot(w, jacobian, value.ndim)
    same(gradient(X), along)
    same(dualad.vmap(f)(np.stack([X, X])), np.stack([value, value]))
    same(dualad.vmap(gradient)(np.stack([X, X])), np.stack([along, along]))
    linear = dualad.linearize(f, X)[1]
    same(linear(t), (jacobian @ t)[()])
    same(linear.program.function()(t)[0], (jacobian @ t)[()])
    same(linear.program.transpose().function()(w)[0], along)


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_second_derivatives(name):
    """Of g = sum w f^3 / 3: all ways agree with central differences of the gradient."""
    f, _ = CONTRACTIONS[name]
    w = like(f(X))
    g = lambda x: np.sum(w * f(x) ** 3) / 3
    hessian = dualad.jacfwd(dualad.jacfwd(g))(X)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12)
    same(dualad.hessian(g)(X), hessian)
    same(dualad.jacrev(dualad.grad(g))(X), hessian)
    same(dualad.hvp(g, (X,), (np.ones(3),)), hessian.sum(1))
    e = 1e-5
    central = [(dualad.grad(g)(X + e * i) - dualad.grad(g)(X - e * i)) / (2 * e) for i in IDENTITY]
    np.testing.assert_allclose(hessian, central, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.longdouble])
def test_other_dtypes(dtype):
    x = np.array([2.0, 3.0], dtype)
    t = like(x)
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]], dtype)
    for f, moved in ((np.sum, np.sum(t)), (lambda x: matrix @ x, matrix @ t)):
        tangent = dualad.jvp(f, (x,), (t,))[1]
        assert tangent.dtype == dtype
        same(tangent, moved)


def test_a_complex_cotangent_of_real_numbers():
    """d/dx of Re((1 - 2i) (sum x + w.x)) = 1 + w: the share of a real number is real."""
    w = np.array([1.0, 3.0])
    f = lambda x: np.real((1.0 - 2.0j) * (np.sum(x) + w @ x))
    same(dualad.grad(f)(np.array([2.0, 5.0])), 1 + w)


def test_what_is_recorded_are_the_quick_entries():
    kinds = []

    def f(x):
        y = np.sum(M @ x) + np.sum(x) + x @ x + np.dot(X, x)
        kinds.extend(entry[0] for entry in x.level.tape[1:])
        return y

    same(dualad.grad(f)(X), M.sum(0) + 1 + 3 * X)
    same(dualad.hvp(f, (X,), (X,)), 2 * X)
    assert kinds.count(pull_of_two) == 6 and kinds.count(pull_sum) == 4


def test_values_of_two_levels():
    """d/dx of d/dy of (sum x y + y.x) . s = d/dx of 2 sum x = 2, along ones."""
    ones = np.ones(3)
    f = lambda x, y: np.sum(x * y) + x @ (y * ones)
    inner = lambda x: dualad.grad(lambda y: f(x, y))(4.0)
    same(dualad.grad(inner)(X), 2 * ones)
    same(dualad.jvp(inner, (X,), (ones,))[1], 6.0)
    same(dualad.jvp(lambda x: dualad.jvp(lambda y: x @ (y * x), (1.0,), (1.0,))[1], (X,), (X,))[1],
         2 * X @ X)  # fmt: skip


def test_a_closed_level_is_found_out():
    leaked = []
    dualad.grad(lambda x: leaked.append(x) or np.sum(x))(X)
    dualad.jvp(lambda x: leaked.append(x) or x, (X,), (X,))
    for value in leaked:
        for f in (np.sum, lambda x: M @ x, lambda x: x @ X, lambda x: x @ x):
            with pytest.raises(dualad.errors.LeakError):
                f(value)


def test_operands_that_are_written_to_afterwards():
    def constant(x):
        still = M.copy()
        y = still @ x
        still[...] = 0.0
        return y

    def moving(x):
        z = x * 1.0
        y = z @ x
        z[...] = 0.0
        return y + np.sum(z)

    same(dualad.jacrev(constant)(X), M)
    same(dualad.grad(moving)(X), 2 * X)


def test_the_cotangent_of_a_sum_is_not_shared():
    """sum(x) + sum over the part x[1:], whose cotangent is added to in place: 1, 2, 2."""
    same(dualad.grad(lambda x: np.sum(x[1:]) + np.sum(x))(X), np.array([1.0, 2.0, 2.0]))
    same(dualad.grad(lambda x: np.sum(x) + np.sum(x[1:]))(X), np.array([1.0, 2.0, 2.0]))
    gx, gy = dualad.grad(lambda x, y: np.sum(x + y) + np.sum(x), (0, 1))(X, X)
    same((gx, gy), (2 * np.ones(3), np.ones(3)))


@pytest.mark.parametrize("n", [1000, 5000])
def test_cotangents_of_sums_by_size(n):
    """Of more entries they are read-only views that repeat one; results are the caller's own."""
    x = np.linspace(-1.0, 1.0, 2 * n).reshape(2, n)
    g = dualad.grad(np.sum)(x)
    same(g, np.ones((2, n)))
    g += 1.0
    same(dualad.grad(lambda x: np.sum(x) + np.sum(x[0]))(x), [[2.0], [1.0]] * np.ones(n))
    same(dualad.grad(lambda x: np.sum(np.sum(x, 0) ** 2))(x), 2 * np.ones((2, 1)) * x.sum(0))
    same(dualad.grad(lambda x: np.sum(np.sum(x, 1) ** 2))(x), 2 * x.sum(1)[:, None] * np.ones(n))
    same(dualad.hvp(lambda x: np.sum(x**3), (x,), (x,)), 6 * x * x)


def test_infinities_are_those_of_numpy():
    """The tangent of a sum of infinite entries is that of finite ones: it reads no value."""
    x = np.array([np.inf, 1.0, -2.0])
    same(dualad.grad(np.sum)(x), np.ones(3))
    assert dualad.jvp(np.sum, (x,), (X,)) == (np.inf, 10.0)


def test_errors_are_numpys():
    bad = (lambda x: x @ M, lambda x: M.T @ x, lambda x: x @ 2.0, lambda x: x[0] @ x)
    for f in bad:
        for transform in (dualad.jacfwd, dualad.jacrev):
            with pytest.raises((ValueError, TypeError)):
                transform(f)(X)
    with pytest.raises(np.exceptions.AxisError):
        dualad.jacfwd(lambda x: np.sum(x, 1))(X)


@pytest.mark.parametrize("f", [lambda x: x.sum(), np.sum, lambda x: x @ np.ones(2)])
@pytest.mark.parametrize("transform", [dualad.grad, lambda f: dualad.jacfwd(f)])
def test_debug_nans_watches_them(f, transform):
    x = np.array([np.inf, -np.inf])
    with (
        pytest.raises(FloatingPointError) as error,
        dualad.debug_nans(),
        np.errstate(all="ignore"),
    ):
        transform(f)(x)
    assert error.value.operation in ("numpy.sum", "sum_axes", "matmul")
