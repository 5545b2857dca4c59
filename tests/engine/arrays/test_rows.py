"""Short rows made long: the results of NumPy to the last bit, whatever broadcasts."""

import numpy as np
import pytest

import dualad
from dualad.engine.arrays.memory import LARGE, large_result
from dualad.engine.arrays.rows import SHORT, long_rows

rng = np.random.default_rng(3)
FULL = rng.normal(size=(8, 1000, 10))
OPERANDS = {
    "a row for each matrix": rng.normal(size=(8, 1, 10)),
    "one row": rng.normal(size=10),
    "one matrix": rng.normal(size=(1, 1000, 10)),
    "one matrix of two axes": rng.normal(size=(1000, 10)),
    "a number for each matrix": rng.normal(size=(8, 1, 1)),
    "one number": rng.normal(size=(1, 1, 1)),
    "no axis": np.array(0.5),
    "a row that is repeated": np.broadcast_to(rng.normal(size=(8, 1, 10)), (8, 1000, 10)),
    "a matrix that is repeated": np.broadcast_to(rng.normal(size=(1000, 10)), (8, 1000, 10)),
    "a number that is repeated": np.broadcast_to(0.25, (8, 1000, 10)),
    "a number of Python": 0.75,
}
#: An operand with an entry for each row.
COLUMN = rng.normal(size=(8, 1000, 1))


@pytest.mark.parametrize("name", OPERANDS)
def test_results_are_those_of_numpy(name):
    other = OPERANDS[name]
    frame, laid = long_rows(FULL.shape, (FULL, other))
    assert frame == (8, 10, 1000)
    want = np.subtract(FULL, other)
    assert np.subtract(*laid).reshape(FULL.shape).tobytes() == want.tobytes()
    assert np.shares_memory(laid[0], FULL)
    np.testing.assert_array_equal(large_result(np.subtract, FULL, other), want)


@pytest.mark.parametrize(
    "shape, operands",
    [
        (FULL.shape, (FULL, COLUMN)),
        (FULL.shape, (FULL, np.broadcast_to(COLUMN, FULL.shape))),
        ((80000,), (FULL.reshape(-1), 2.0)),
        ((8, 1009, 10), (rng.normal(size=(8, 1009, 10)), 2.0)),  # a prime number of rows
        ((100, 100, SHORT), (rng.normal(size=(100, 100, SHORT)), 2.0)),
        ((80000, 1), (FULL.reshape(-1, 1), 2.0)),
        (FULL.shape, (np.asfortranarray(FULL), OPERANDS["one row"])),
    ],
)
def test_other_arrays_are_left_as_they_are(shape, operands):
    assert long_rows(shape, operands) is None


@pytest.mark.parametrize("name", [*OPERANDS, "column"])
@pytest.mark.parametrize("f", [np.multiply, np.divide, np.hypot, np.add, np.subtract])
def test_derivatives_of_what_broadcasts(f, name):
    """Value, tangent and cotangents, as on pieces below the size at which blocks begin."""
    other = COLUMN if name == "column" else OPERANDS[name]
    other = np.abs(other) + 1.0
    t, s = FULL[::-1].copy(), np.cos(other)
    assert FULL.size >= LARGE
    y, moved = dualad.jvp(f, (FULL, other), (t, s))
    wide_other, wide_s = (np.broadcast_to(a, FULL.shape) for a in (other, s))
    for k in range(8):
        part = (slice(k, k + 1), slice(0, 300))
        want = dualad.jvp(f, (FULL[part], wide_other[part].copy()), (t[part], wide_s[part]))
        assert y[part].tobytes() == want[0].tobytes()
        np.testing.assert_array_equal(moved[part], want[1])
    _, pullback = dualad.vjp(f, FULL, other)
    c = np.sin(FULL)
    left, right = pullback(c)
    inner = np.sum(c * moved)
    np.testing.assert_allclose(np.sum(left * t) + np.sum(right * s), inner, rtol=1e-10, atol=1e-9)
