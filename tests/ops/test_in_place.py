"""Steps in place: each is linear and is transposed as it says, and so is what is made of them."""

import numpy as np
import pytest

from dualad.ops.in_place import Fold, Halve, Mirror, Subtract, Times, run, run_transposed

RNG = np.random.default_rng(31)
FIRST, LAST = slice(0, 2), slice(2, 5)


def numbers(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


STEPS = {
    "fold": Fold((LAST, LAST)),
    "mirror": Mirror((FIRST, FIRST)),
    "halve": Halve((FIRST, FIRST)),
    "times left": Times((LAST, FIRST), numbers(3, 3), None),
    "times both": Times((LAST, FIRST), numbers(3, 3), numbers(2, 2)),
    "subtract": Subtract((FIRST, LAST), (LAST, FIRST), None, None),
    "subtract products": Subtract((LAST, FIRST), (FIRST, FIRST), numbers(3, 2), numbers(2, 2)),
}


def inner(a, b):
    return np.vdot(a, b).real


@pytest.mark.parametrize("shape", [(5, 5), (2, 5, 5)])
@pytest.mark.parametrize("steps", [[s] for s in STEPS.values()] + [list(STEPS.values())])
def test_the_transpose(steps, shape):
    x, w = numbers(*shape), numbers(*shape)
    before = x.copy()
    assert np.isclose(inner(w, run(steps, x)), inner(run_transposed(steps, w), x), rtol=1e-12)
    assert np.array_equal(x, before)


def test_what_the_steps_do():
    m = numbers(5, 5)
    b, c = m[2:, :2], m[:2, :2]
    left, right = numbers(3, 3), numbers(2, 2)
    np.testing.assert_allclose(
        run([Times((LAST, FIRST), left, right)], m)[2:, :2], left @ b @ right
    )
    found = run([Subtract((LAST, FIRST), (FIRST, FIRST), b, right)], m)
    np.testing.assert_allclose(found[2:, :2], b - b @ c.conj().T @ right)
    half = lambda x: np.tril(x) - np.diag(np.diag(x)) / 2
    np.testing.assert_allclose(run([Halve((FIRST, FIRST))], m)[:2, :2], half(c))
    np.testing.assert_allclose(run([Fold((FIRST, FIRST))], m)[:2, :2], half(c + c.conj().T))
    mirrored = half(c) + half(c).conj().T
    np.testing.assert_allclose(run([Mirror((FIRST, FIRST))], m)[:2, :2], mirrored)
    assert np.array_equal(found[:, 2:], m[:, 2:])
