"""linearize, its programs, and linear_transpose."""

import numpy as np
import pytest

import dualad
from dualad.errors import ArgumentError, LinearityError


def test_linearize_runs_f_once_and_is_linear():
    runs = []

    def f(x):
        runs.append(1)
        return np.sin(x) * x[0]

    x = np.array([0.2, 0.4])
    _, f_lin = dualad.linearize(f, x)
    J = np.diag(np.cos(x) * x[0])
    J[:, 0] += np.sin(x)
    for t in np.eye(2):
        np.testing.assert_allclose(f_lin(t), J @ t, rtol=1e-15)
    assert len(runs) == 1
    with pytest.raises(ArgumentError, match="takes 1 tangents, got 2"):
        f_lin(x, x)


def test_the_program_runs_as_numpy_source_in_both_directions():
    A = np.arange(12.0).reshape(3, 4) / 10
    x, t, ct = np.linspace(0, 1, 4), np.array([1.0, -2.0, 0.5, 3.0]), np.array([2.0, 0.0, -1.0])
    _, f_lin = dualad.linearize(lambda x: np.exp(A @ np.sin(x)), x)
    J = np.exp(A @ np.sin(x))[:, None] * A * np.cos(x)
    scope, back = {}, {}
    exec(f_lin.program.source(), scope)
    exec(f_lin.program.source(transpose=True), back)
    np.testing.assert_allclose(scope["linear"](t)[0], J @ t)
    np.testing.assert_allclose(back["linear"](ct)[0], J.T @ ct)
    assert "import numpy as np" in str(f_lin.program)


def test_linear_transpose_is_the_adjoint():
    A = np.array([[1.0, 2j], [3.0, 4.0]])
    back = dualad.linear_transpose(lambda x: A @ x, np.zeros(2, complex))
    np.testing.assert_allclose(back(np.array([1.0, 1j]))[0], A.conj().T @ [1.0, 1j])


def test_linear_transpose_names_what_is_not_linear():
    with pytest.raises(LinearityError, match="sin"):
        dualad.linear_transpose(lambda x: np.sin(x), np.ones(2))
    with pytest.raises(LinearityError, match="constant"):
        dualad.linear_transpose(lambda x: x + 1.0, np.ones(2))
