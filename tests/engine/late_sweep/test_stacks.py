"""Gradients over stacks of small arrays: swept some entries at a time, right, and only as one run
where that is allowed."""

import numpy as np
import pytest

import dualad
from dualad.engine.late_sweep import fused, stacks

rng = np.random.default_rng(11)
K, N, D, M = 7, 2500, 9, 5
POINTS = rng.normal(size=(K, N, D))
ONE = rng.normal(size=(1, N, D))
CENTRES = rng.normal(size=(K, D))
MATRICES = rng.normal(size=(K, D, D))
WIDE = rng.normal(size=(K, D, M))
SCALES = rng.uniform(0.5, 2.0, size=(K, D))
WEIGHTS = rng.normal(size=(K, N))


@pytest.fixture
def runs(monkeypatch):
    """What the runs are that were swept: of which entries, and of which only sums were wanted."""
    found = []

    class Seen(stacks.StackRun):
        def sweep(self, steps, count):
            found.append(([s.variable for s in steps], self.summed))
            super().sweep(steps, count)

    monkeypatch.setattr(stacks, "StackRun", Seen)
    return found


def close(got, want):
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max())


def squares_from_centres(centres, matrices, scales):
    """Like the exponents of a mixture of Gaussians."""
    away = ONE - centres[:, None, :]
    scaled = np.matmul(away, np.swapaxes(matrices, 1, 2)) + scales[:, None, :] * away
    return np.sum(WEIGHTS * np.sum(scaled * scaled, axis=2))


def its_gradient(centres, matrices, scales):
    """Of w |(M + S) a|^2 by a, M and the diagonal S, for all points at once, by hand."""
    away = ONE - centres[:, None, :]
    both = matrices + scales[:, :, None] * np.eye(D)
    scaled = np.einsum("kij,knj->kni", both, away)
    c = 2.0 * WEIGHTS[:, :, None] * scaled
    return (
        -np.einsum("kni,kij->kj", c, both),
        np.einsum("kni,knj->kij", c, away),
        np.einsum("kni,kni->ki", c, away),
    )


def test_squares_from_centres(runs):
    given = CENTRES, MATRICES, SCALES
    close(dualad.grad(squares_from_centres, argnums=(0, 1, 2))(*given), its_gradient(*given))
    ((variables, summed),) = runs
    assert len(variables) == 5  # the square, the sum, two products, the difference
    assert list(summed.values()) == [(1,)]  # of the difference, which the centres alone are in


def test_the_memory_of_blocks_is_that_of_no_result(runs):
    f = dualad.grad(squares_from_centres, argnums=(0, 1, 2))
    first = f(CENTRES, MATRICES, SCALES)
    kept = [a.copy() for a in first]
    f(2.0 * CENTRES, MATRICES, SCALES)
    for a, b in zip(first, kept, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(runs) == 2


@pytest.mark.parametrize("axis", [0, 2])
def test_all_of_a_cotangent_where_it_is_wanted(runs, axis):
    """The points move as well: the cotangent of the difference is theirs."""

    def f(points, centres, matrices):
        away = points - centres[:, None, :]
        z = np.matmul(away, matrices) + away
        return np.sum(np.sum(z * z, axis=axis) ** 2)

    away = POINTS - CENTRES[:, None, :]
    both = MATRICES + np.eye(D)
    z = away @ both
    c = 4.0 * z * np.sum(z * z, axis=axis, keepdims=True)
    by_points = c @ both.swapaxes(1, 2)
    close(
        dualad.grad(f, argnums=(0, 1, 2))(POINTS, CENTRES, MATRICES),
        (by_points, -by_points.sum(1), away.swapaxes(1, 2) @ c),
    )
    assert len(runs) == 1
    assert not runs[0][1]


def test_factors_of_other_shapes(runs):
    """The cotangent of a factor with more columns, and that of the matrices, leave the run."""

    def f(wide, matrices, scales):
        rows = np.matmul(POINTS, wide)
        rows = np.matmul(rows, np.swapaxes(wide, 1, 2)) * scales[:, None, :]
        return np.sum(rows * POINTS)

    def by_hand(wide, matrices, scales):
        rows = POINTS @ wide
        c = POINTS * scales[:, None, :]
        by_rows = c @ wide
        return (
            POINTS.swapaxes(1, 2) @ by_rows + c.swapaxes(1, 2) @ rows,
            np.zeros_like(matrices),
            np.sum(POINTS * (rows @ wide.swapaxes(1, 2)), axis=1),
        )

    given = WIDE, MATRICES, SCALES
    close(dualad.grad(f, argnums=(0, 1, 2))(*given), by_hand(*given))
    assert len(runs) == 1


def test_a_difference_that_is_used_twice(runs):
    """Once times what moves with it: more than the sum of a cotangent is wanted."""

    def f(centres, scales):
        away = ONE - centres[:, None, :]
        z = scales[:, None, :] * away + away
        return np.sum(z * away * POINTS)

    away = ONE - CENTRES[:, None, :]
    twice = 2.0 * (SCALES[:, None, :] + 1.0) * away * POINTS
    close(
        dualad.grad(f, argnums=(0, 1))(CENTRES, SCALES),
        (-twice.sum(1), np.sum(away * away * POINTS, axis=1)),
    )
    assert len(runs) == 1


def test_a_difference_of_which_only_sums_are_wanted_in_two_ways(runs):
    def f(a, b, scales):
        z = POINTS - a[:, None, :] + b[:, None, :]
        z = z * scales[:, None, :] - z
        return np.sum(z * POINTS)

    def by_hand(a, b, scales):
        c = ((scales[:, None, :] - 1.0) * POINTS).sum(1)
        z = POINTS - a[:, None, :] + b[:, None, :]
        return -c, c, np.sum(z * POINTS, axis=1)

    given = CENTRES, CENTRES[::-1] + 0.5, SCALES
    close(dualad.grad(f, argnums=(0, 1, 2))(*given), by_hand(*given))
    assert len(runs) == 1
    assert len(runs[0][1]) == 2


def test_what_comes_between_is_pulled_later(runs):
    """A large array that a skipped entry adds to ends the run above it."""

    def f(centres, scales):
        away = ONE - centres[:, None, :]
        turned = np.transpose(away, (0, 2, 1))
        z = scales[:, None, :] * away
        return np.sum(z * z) + np.sum(np.sum(turned, axis=2) ** 2)

    away = ONE - CENTRES[:, None, :]
    z = SCALES[:, None, :] * away
    total = away.sum(1)
    close(
        dualad.grad(f, argnums=(0, 1))(CENTRES, SCALES),
        (
            -(2.0 * z * SCALES[:, None, :]).sum(1) - 2.0 * N * total,
            (2.0 * z * away).sum(1),
        ),
    )
    assert all(not summed for _, summed in runs)


@pytest.mark.parametrize("large", [1e300, 1.7e308])
def test_a_cotangent_that_cannot_be_doubled(runs, large):
    """The square of what is small, times what is large, has a gradient of middle size."""
    weights = WEIGHTS.copy()
    weights[3, 5] = large
    tiny = 1e-12 * SCALES

    def f(scales):
        z = scales[:, None, :] * POINTS - scales[:, None, :]
        return np.sum(z * z, axis=2)

    (got,) = dualad.vjp(f, tiny)[1](weights)
    slope = POINTS - 1.0
    want = np.sum((tiny[:, None, :] * slope) * weights[:, :, None] * (2.0 * slope), axis=1)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert len(runs) == 1


def test_zero_wins_over_infinity_here_too(runs):
    """Where a cotangent of zero meets an infinite scale, zero it stays."""
    scales = SCALES.copy()
    scales[2, 4] = np.inf
    weights = np.ones((K, N, D))
    weights[2, :, 4] = 0.0

    def g(centres):
        return (ONE - centres[:, None, :]) * scales[:, None, :] + centres[:, None, :]

    with np.errstate(invalid="ignore"):
        (got,) = dualad.vjp(g, CENTRES)[1](weights)
    finite = np.where(np.isinf(scales), 0.0, scales)
    np.testing.assert_allclose(got, -N * finite + weights.sum(1), rtol=1e-10)
    assert len(runs) == 1


def test_derivatives_of_gradients_go_the_plain_way(runs):
    """d/dt of the gradient at centres + t: the gradient is linear in the centres."""
    grad = dualad.grad(squares_from_centres)
    ones = np.ones_like(CENTRES)
    _, along = dualad.jvp(lambda c: grad(c, MATRICES, SCALES), (CENTRES,), (ones,))
    both = MATRICES + SCALES[:, :, None] * np.eye(D)
    total = 2.0 * WEIGHTS.sum(1)[:, None]
    want = total * np.einsum("kij,kil,kl->kj", both, both, ones)
    np.testing.assert_allclose(along, want, rtol=1e-9)


def test_flat_runs_are_left_to_flat_blocks(runs):
    """Elementwise operations alone, above one that is for no run."""

    def f(points):
        z = np.sort(points, axis=1)
        return np.sum(np.tanh(z * POINTS) * WEIGHTS[:, :, None])

    order = np.argsort(POINTS, axis=1)
    z = np.take_along_axis(POINTS, order, axis=1)
    by_sorted = POINTS * (1.0 - np.tanh(z * POINTS) ** 2) * WEIGHTS[:, :, None]
    want = np.empty_like(POINTS)
    np.put_along_axis(want, order, by_sorted, axis=1)
    np.testing.assert_allclose(dualad.grad(f)(POINTS), want, rtol=1e-9, atol=1e-12)
    assert not runs


def test_small_stacks_are_not_cut(runs):
    few = ONE[:, :200]
    f = dualad.grad(lambda c: np.sum((np.matmul(few - c[:, None, :], MATRICES)) ** 2))
    c = 2.0 * (few - CENTRES[:, None, :]) @ MATRICES @ MATRICES.swapaxes(1, 2)
    close((f(CENTRES),), (-c.sum(1),))
    assert not runs
    assert fused.pull_stack is stacks.pull_stack
