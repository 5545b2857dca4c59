"""Equations with a sparse Jacobian: Bratu's problem on a line."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse as sp

from dualad import sensitivity as ds


def bratu(u, p):
    """u'' + lam exp(u) = 0 on a line, u = 0 at its ends, by differences."""
    n = len(u)
    left = np.concatenate([np.zeros_like(u[:1]), u[:-1]])
    right = np.concatenate([u[1:], np.zeros_like(u[:1])])
    return (left - 2.0 * u + right) * (n + 1.0) ** 2 + p.lam * np.exp(p.s * u)


P = {"lam": 1.0, "s": 1.0}


def tridiagonal(n):
    return sp.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])


@pytest.mark.parametrize("pattern", ["auto", "given"])
def test_sparse_and_dense_are_the_same(pattern):
    n = 60
    sparse = ds.root(
        bratu, np.zeros(n), P, order=2, outputs={"middle": lambda u, p: p.s * u[n // 2]},
        jac_sparsity="auto" if pattern == "auto" else tridiagonal(n),
    )  # fmt: skip
    dense = ds.root(
        bratu, np.zeros(n), P, order=2, outputs={"middle": lambda u, p: p.s * u[n // 2]}
    )
    assert np.allclose(sparse.values, dense.values, rtol=1e-10)
    assert np.allclose(sparse.jacobian, dense.jacobian, rtol=1e-9)
    assert np.allclose(sparse.hessian, dense.hessian, rtol=1e-8)
    assert sparse.check().ok
    assert sparse.check("complex").ok


def test_the_closed_form_of_bratu_s_problem():
    """u = -2 log(cosh(v (1 - 2 x) / 2) / cosh(v / 2)) where v = sqrt(lam / 2) cosh(v / 2)."""
    n = 2000
    begun = time.process_time()
    r = ds.root(bratu, np.zeros(n), P, wrt=["lam"], jac_sparsity="auto")
    taken = time.process_time() - begun
    inner = ds.root(lambda v, p: v - np.sqrt(p.lam / 2.0) * np.cosh(v / 2.0), 0.8, {"lam": 1.0})
    x = np.arange(1, n + 1) / (n + 1.0)

    def form(p):
        return -2.0 * np.log(np.cosh(p.v * (0.5 - x)) / np.cosh(p.v / 2.0))

    closed = ds.function(form, {"v": float(inner.values)})
    assert np.allclose(r.values, closed.values, rtol=1e-5)
    assert np.allclose(r.jacobian[:, 0], closed.jacobian[:, 0] * inner.jacobian[0], rtol=1e-5)
    assert taken < 5.0


def test_a_pattern_that_lacks_an_entry_is_an_error_with_the_equation():
    with pytest.raises(ds.SensitivityError, match=r"lacks an entry in the equation of x1, x2"):
        ds.root(bratu, np.zeros(5), P, jac_sparsity=np.eye(5))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("all", "jac_sparsity must be a matrix or 'auto', got 'all'"),
        (np.eye(3), r"jac_sparsity has shape \(3, 3\); there are 5 unknowns"),
        (object(), "jac_sparsity is no matrix"),
    ],
)
def test_patterns_that_are_none(given, says):
    with pytest.raises(ds.SensitivityError, match=says):
        ds.root(bratu, np.zeros(5), P, jac_sparsity=given)


def test_totals_are_written_as_equations():
    with pytest.raises(ds.SensitivityError, match="in place of one of the equations"):
        ds.root(
            lambda x, p: [p.a - x[0], x[0] - p.a], [1.0, 2.0], {"a": 1.0}, jac_sparsity="auto",
            conserved={"sum": [1.0, 1.0]},
        )  # fmt: skip


@pytest.mark.parametrize(
    "residual",
    [
        lambda x, p: np.stack([x[0] - p.a, x[0] - p.a, x[2] - p.a]),
        lambda x, p: np.stack([x[0] - x[1], x[1] - x[0], x[2] - p.a]),
    ],
)
def test_a_singular_sparse_jacobian_names_what_is_free(residual):
    with pytest.raises(ds.ModelError, match=r"is singular.*may move along \((x2|x1 \+ x2)\)"):
        ds.root(residual, [1.0, 1.0, 1.0], {"a": 1.0}, jac_sparsity="auto")


def test_equations_without_a_solution():
    with pytest.raises(ds.ModelError, match="no solution"):
        ds.root(lambda x, p: x**2 + p.a, [1.0, 2.0], {"a": 1.0}, jac_sparsity="auto")
