"""The joint system of states and sensitivities against SymPy."""

import numpy as np
import pytest
import sympy as sp

from dualad.sensitivity import Parameters
from dualad.sensitivity.integration.model import Model
from dualad.sensitivity.integration.variational import VariationalSystem

from .models import ROBERTSON, robertson

STATES = ("y1", "y2", "y3")


def system(rhs=robertson, wrt=("k1", "k2", "k3"), scales=None, params=None, states=STATES):
    parameters = Parameters(params or ROBERTSON)
    chosen = parameters.subset(wrt)
    scales = abs(chosen.vector()) if scales is None else np.asarray(scales, float)
    return VariationalSystem(Model(rhs, parameters, states), chosen, scales)


def symbolic(rhs, params, scales, n):
    """z' and dz'/dz as functions of z, from the definition, by SymPy."""
    y = sp.symbols(f"y1:{n + 1}")
    p = {name: sp.Symbol(name) for name in params}
    s = [sp.symbols(f"s{name}_1:{n + 1}") for name in params]
    f = sp.Matrix(rhs(0.0, y, type("P", (), p)).tolist())
    rows = [f]
    for name, sj in zip(params, s, strict=True):
        c = sp.Symbol(f"c_{name}")
        rows.append(f.jacobian(y) * sp.Matrix(sj) + c * f.diff(p[name]))
    joint = sp.Matrix.vstack(*rows)
    z = [*y, *(v for sj in s for v in sj)]
    values = {p[k]: v for k, v in params.items()}
    values |= {sp.Symbol(f"c_{k}"): c for k, c in zip(params, scales, strict=True)}
    joint = joint.subs(values)
    return sp.lambdify([z], joint[:], "numpy"), sp.lambdify([z], joint.jacobian(z), "numpy")


def swing(t, y, p):
    """A right-hand side with more than polynomials in it."""
    sin = np.sin if isinstance(y[0], (float, np.floating)) or hasattr(y[0], "level") else sp.sin
    return np.array([p.a * y[1] / (1 + y[0] ** 2), -p.b * sin(y[0] * p.a) + y[1] ** 3])


@pytest.mark.parametrize(
    ("rhs", "params", "states"),
    [(robertson, ROBERTSON, STATES), (swing, {"a": 1.7, "b": 0.6}, ("q", "v"))],
    ids=["robertson", "swing"],
)
def test_slopes_and_the_whole_jacobian_are_what_sympy_says(rhs, params, states):
    scales = np.array([0.5, 2.0, 3.0])[: len(params)]
    slope, jacobian = symbolic(rhs, params, scales, len(states))
    joint = system(rhs, tuple(params), scales, params, states)
    z = np.random.default_rng(3).uniform(0.2, 1.0, len(states) * (1 + len(params)))
    np.testing.assert_allclose(joint(0.0, z), slope(z), rtol=1e-12)
    np.testing.assert_allclose(joint.jacobian(0.0, z), jacobian(z), rtol=1e-12, atol=1e-12)


def test_the_jacobian_is_block_lower_triangular_with_one_block_on_the_diagonal():
    z = np.random.default_rng(4).uniform(0.2, 1.0, 12)
    blocks = system().jacobian(0.0, z).reshape(4, 3, 4, 3).transpose(0, 2, 1, 3)
    for j in range(1, 4):
        np.testing.assert_array_equal(blocks[j, j], blocks[0, 0])
        assert blocks[j, 0].any()
        for other in {1, 2, 3} - {j}:
            assert not blocks[j, other].any()
        assert not blocks[0, j].any()


def test_a_column_is_the_same_to_the_last_bit_whatever_else_is_asked_for():
    z = np.random.default_rng(5).uniform(0.2, 1.0, 12).reshape(4, 3)
    whole = system()(0.0, z.ravel()).reshape(4, 3)
    names = ("k1", "k2", "k3")
    for wrt in [("k1",), ("k3",), ("k3", "k1"), ("k2", "k3")]:
        rows = [0, *(1 + names.index(n) for n in wrt)]
        part = system(wrt=wrt)(0.0, z[rows].ravel()).reshape(-1, 3)
        np.testing.assert_array_equal(part, whole[rows])


def test_the_start_is_differentiated_where_it_depends_on_parameters():
    z = system().start(lambda p: {"y1": p.k1**2, "y2": 0.0, "y3": p.k1 * p.k2})
    expected = np.zeros((4, 3))
    expected[0] = 0.04**2, 0.0, 0.04 * 1e4
    expected[1] = 0.04 * 2 * 0.04, 0.0, 0.04 * 1e4  # scale k1 times d/dk1
    expected[2] = 0.0, 0.0, 1e4 * 0.04
    np.testing.assert_allclose(z.reshape(4, 3), expected, rtol=1e-15)


def test_calls_are_counted():
    joint = system()
    z = np.ones(12)
    joint(0.0, z)
    joint(0.0, z)
    joint.jacobian(0.0, z)
    assert (joint.rhs_calls, joint.jacobian_calls) == (2, 1)
