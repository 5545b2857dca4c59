"""jacfwd, jacrev, jacobian, value_and_jacobian."""

import numpy as np
import pytest

import dualad
from dualad.engine.late_sweep import fused
from dualad.engine.programs.tape import sweep_of_large
from dualad.errors import ArgumentError, ShapeError

BUILDERS = [dualad.jacfwd, dualad.jacrev, dualad.jacobian]
each = pytest.mark.parametrize("build", BUILDERS, ids=lambda b: b.__name__)


@each
@pytest.mark.parametrize("chunk_size", [None, 1, 2, 100])
def test_a_matrix_function_with_any_chunk(build, chunk_size):
    x = np.arange(1.0, 4.0)
    J = build(lambda x: np.outer(x, x), chunk_size=chunk_size)(x)
    eye = np.eye(3)
    want = np.einsum("ik,j->ijk", eye, x) + np.einsum("i,jk->ijk", x, eye)
    np.testing.assert_allclose(J, want)


@each
def test_shapes_of_scalars_arrays_and_nothing(build):
    assert build(lambda x: x * x)(3.0) == 6.0
    assert np.shape(build(lambda x: x * np.ones(2))(3.0)) == (2,)
    assert np.shape(build(np.sum)(np.ones((2, 3)))) == (2, 3)
    assert np.shape(build(lambda x: x**2)(np.zeros(0))) == (0, 0)
    assert np.shape(build(lambda x: x[:0])(np.ones(3))) == (0, 3)
    np.testing.assert_array_equal(build(lambda x: np.ones(2))(np.ones(3)), np.zeros((2, 3)))


@each
def test_containers_on_both_sides(build):
    p = {"a": np.array([1.0, 2.0]), "b": 3.0}
    J = build(lambda p: (p["a"] * p["b"], {"s": p["b"] ** 2}))(p)
    np.testing.assert_allclose(J[0]["a"], 3 * np.eye(2))
    np.testing.assert_allclose(J[0]["b"], [1.0, 2.0])
    np.testing.assert_allclose(J[1]["s"]["a"], [0.0, 0.0])
    assert J[1]["s"]["b"] == 6.0


@each
def test_argnums_and_aux(build):
    J, aux = build(lambda x, y: (x * y, "extra"), (0, 1), True)(np.array([1.0, 2.0]), 3.0)
    np.testing.assert_allclose(J[0], 3 * np.eye(2))
    np.testing.assert_allclose(J[1], [1.0, 2.0])
    assert aux == "extra"


@each
def test_complex_arguments_need_a_promise(build):
    z = np.array([1 + 2j, 3.0])
    with pytest.raises(ShapeError, match="holomorphic"):
        build(lambda z: z**2)(z)
    np.testing.assert_allclose(build(lambda z: z**2, holomorphic=True)(z), np.diag(2 * z))


def test_jacobian_says_which_mode_it_took():
    tall = dualad.jacobian(lambda x: np.concatenate([x, x, x]))
    tall(np.ones(2))
    assert tall.last_mode == "forward"
    wide = dualad.jacobian(lambda x: np.sum(x))
    wide(np.ones(9))
    assert wide.last_mode == "reverse"
    for mode in ("forward", "reverse"):
        J = dualad.jacobian(lambda x: x**2, mode=mode)
        np.testing.assert_allclose(J(np.array([1.0, 2.0])), np.diag([2.0, 4.0]))
        assert J.last_mode == mode
    with pytest.raises(ArgumentError, match="mode"):
        dualad.jacobian(np.sum, mode="sideways")


def test_jacobian_runs_the_function_once():
    runs = []
    value, _ = dualad.value_and_jacobian(lambda x: runs.append(1) or x**2)(np.arange(5.0))
    np.testing.assert_array_equal(value, np.arange(5.0) ** 2)
    assert len(runs) == 1


@pytest.mark.parametrize("chunk_size", [0, -1, 1.5])
def test_a_chunk_is_a_positive_integer(chunk_size):
    with pytest.raises(ArgumentError, match="chunk_size"):
        dualad.jacfwd(np.sum, chunk_size=chunk_size)


def test_infinite_slopes_do_not_poison_a_jacobian():
    f = lambda x: np.where(x > 0.5, x, np.sqrt(x * 0.0))
    for build in BUILDERS:
        np.testing.assert_array_equal(build(f)(np.array([1.0, 0.0])), [[1.0, 0.0], [0.0, 0.0]])


def test_large_arguments_are_swept_by_blocks(monkeypatch):
    """Each scalar output is a sweep of its own; rows of a vector are one together."""
    x = np.linspace(0.1, 0.9, 1 << 16)
    swept = []
    by_blocks = fused.sweep_large
    monkeypatch.setattr(fused, "sweep_large", lambda *a: swept.append(1) or by_blocks(*a))
    sweep_of_large.cache_clear()
    try:
        f = lambda x: (np.sum(np.exp(x) * x - x / 3), np.sum(np.sin(x) * x * x) * 2)
        rows = dualad.jacrev(f)(x)
        assert len(swept) == 2
        np.testing.assert_allclose(rows[0], np.exp(x) * (1 + x) - 1 / 3, rtol=1e-13)
        np.testing.assert_allclose(
            rows[1], 2 * (np.cos(x) * x * x + 2 * x * np.sin(x)), rtol=1e-13
        )
        rows[0][:] = 0.0
        np.testing.assert_array_equal(x, np.linspace(0.1, 0.9, 1 << 16))
        rows = dualad.jacrev(lambda x: np.stack([np.sum(x * x), np.sum(np.exp(x) * x)]))(x)
        np.testing.assert_allclose(rows, [2 * x, np.exp(x) * (1 + x)], rtol=1e-13)
        x[7] = 0.0
        root = dualad.jacrev(lambda x: np.sum(np.sqrt(x) * (x * 0.0) + x))(x)
        np.testing.assert_array_equal(root, 1.0)
    finally:
        sweep_of_large.cache_clear()
