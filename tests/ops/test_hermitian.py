"""Hermitian matrices of which one triangle is read."""

import numpy as np
import pytest

from dualad.ops.hermitian import folded, hermitian

RNG = np.random.default_rng(32)


def numbers(*shape, complex_too=False):
    x = RNG.normal(size=shape)
    return x + 1j * RNG.normal(size=shape) if complex_too else x


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 5, 5), (150, 150)])
@pytest.mark.parametrize("lower", [True, False])
def test_the_matrix_of_a_triangle_and_its_transpose(shape, lower, complex_too):
    t, w = (numbers(*shape, complex_too=complex_too) for _ in range(2))
    mine = np.tril(t) if lower else np.triu(t)
    h = hermitian(t, lower=lower)
    assert np.array_equal(h, np.conj(np.swapaxes(h, -1, -2)))
    part = np.tril(h, -1) if lower else np.triu(h, 1)
    assert np.array_equal(part, np.tril(mine, -1) if lower else np.triu(mine, 1))
    diagonals = [np.diagonal(x, axis1=-2, axis2=-1) for x in (h, t)]
    assert np.array_equal(diagonals[0], diagonals[1].real)
    assert np.isclose(np.vdot(w, h).real, np.vdot(folded(w, lower=lower), t).real, rtol=1e-11)


@pytest.mark.parametrize("lower", [True, False])
def test_the_other_triangle_may_hold_anything(lower):
    t = numbers(4, 4)
    other = np.triu(np.full((4, 4), np.nan), 1) if lower else np.tril(np.full((4, 4), np.inf), -1)
    assert np.array_equal(hermitian(t + other, lower=lower), hermitian(t, lower=lower))
    found = folded(t, lower=lower)
    assert not (np.triu(found, 1) if lower else np.tril(found, -1)).any()
