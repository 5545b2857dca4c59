"""What people fit: a network, a mixture of Gaussians, cameras."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .workload import rng, workload

ROWS, LAYERS = 128, (784, 256, 256, 10)


def layers() -> tuple:
    parts: list[np.ndarray] = []
    for k, (n, m) in enumerate(itertools.pairwise(LAYERS)):
        parts += [rng(10 + k).normal(0.0, n**-0.5, (n, m)), np.zeros(m)]
    return tuple(parts)


def log_sum_exp(xp: Any, z: Any, axis: int) -> Any:
    top = xp.max(z, axis=axis, keepdims=True)
    return xp.log(xp.sum(xp.exp(z - top), axis=axis, keepdims=True)) + top


@workload(
    "mlp",
    "cross entropy of a network 784-256-256-10 on 128 rows",
    layers,
    targets={"vag": 2.0, "jvp": 2.2},
    dominates="Two thirds are matrix products: eight for value and gradient, which is as few "
    "as there can be, since no cotangent of the rows is computed, eight for the jvp. In "
    "NumPy's library these products alone take 1.85 f; PyTorch's takes four fifths of that "
    "for the first layer. A gradient written by hand costs 2.2 f, in pages that are not "
    "fresh. What is left: the slope of tanh, which is exact in the tails, and some eight hundred "
    "calls of Python for sixty small operations, whose code and data a product "
    "has put out of the caches each time: they take half a microsecond each.",
    operations=20,
    peak=("vag",),
)
def mlp(xp: Any, constant: Callable) -> Callable:
    rows = constant(rng(6).normal(size=(ROWS, LAYERS[0])))
    labels = constant(np.eye(LAYERS[-1])[rng(7).integers(0, LAYERS[-1], ROWS)])

    def f(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
        hidden = xp.tanh(xp.matmul(rows, w1) + b1)
        hidden = xp.tanh(xp.matmul(hidden, w2) + b2)
        z = xp.matmul(hidden, w3) + b3
        return xp.sum((log_sum_exp(xp, z, 1) - z) * labels) / float(ROWS)

    return f


POINTS, DIMENSIONS, COMPONENTS = 1000, 10, 25


def mixture_arguments() -> tuple:
    r, d, k = rng(8), DIMENSIONS, COMPONENTS
    triangle = d * (d - 1) // 2
    return (
        r.normal(size=k),
        r.uniform(size=(k, d)),
        r.normal(0.0, 0.5, (k, d)),
        r.normal(0.0, 0.5, (k, triangle)),
    )


def triangle_places(d: int) -> np.ndarray:
    """Where each entry below the diagonal stands in its packing by columns; 0 is a zero."""
    places = np.zeros((d, d), int)
    columns, rows = np.triu_indices(d, 1)
    places[rows, columns] = 1 + np.arange(len(rows))
    return places


@workload(
    "gmm_d10_k25",
    "a mixture of 25 Gaussians in 10 dimensions with its prior, 1000 points",
    mixture_arguments,
    targets={"grad": 2.6, "jvp": 2.4},
    dominates=(
        "No single operation. Forwards these are six passes over arrays of 2 MB (25 by 1000 by "
        "10), half of the time: each takes what NumPy's ufunc or product takes. The sweep takes "
        "five Gaussians at a time, whose cotangents stay in the cache, and computes of that of "
        "the differences the sums over the points alone: three tenths of the time. The rest is "
        "Python for eighty small operations, whose code the passes have put out of the caches. "
        "To put off products until what reads them, to run every other pass backwards, and huge "
        "pages gained nothing. f itself needs half of its time for pages of fresh memory, which "
        "the pool saves, unless the program has freed larger blocks before."
    ),
    operations=28,
    peak=("grad",),
)
def mixture(xp: Any, constant: Callable) -> Callable:
    """The log posterior by weights, means, and factors of the precisions (log diagonal, rest)."""
    points = constant(rng(9).normal(size=(1, POINTS, DIMENSIONS)))
    places = constant(triangle_places(DIMENSIONS))
    nothing = constant(np.zeros((COMPONENTS, 1)))

    def f(weights: Any, means: Any, diagonals: Any, lower: Any) -> Any:
        factors = xp.concatenate([nothing, lower], axis=1)[:, places]
        away = points - means[:, None, :]
        scaled = xp.matmul(away, xp.swapaxes(factors, 1, 2))
        scaled = scaled + xp.exp(diagonals)[:, None, :] * away
        logs = (weights + xp.sum(diagonals, axis=1))[:, None]
        each = log_sum_exp(xp, logs - 0.5 * xp.sum(scaled * scaled, axis=2), 0)
        prior = 0.5 * (xp.sum(xp.exp(2.0 * diagonals)) + xp.sum(lower * lower))
        return xp.sum(each) - POINTS * xp.sum(log_sum_exp(xp, weights, 0)) + prior

    return f


SIGHTINGS = 2000


def sightings() -> tuple:
    """A row each: rotation 3, centre 3, focal, principal point 2, distortion 2, point 3, w."""
    r, n = rng(10), SIGHTINGS
    return (
        np.column_stack(
            [
                r.normal(0.0, 0.2, (n, 3)),
                r.normal(0.0, 5.0, (n, 3)),
                200.0 + r.normal(size=n),
                r.normal(0.0, 5.0, (n, 2)),
                r.normal(0.0, 0.05, (n, 2)),
                r.normal((0.0, 0.0, 60.0), 5.0, (n, 3)),
                r.uniform(size=n),
            ]
        ),
    )


@workload(
    "bundle_2000",
    "2000 sightings of points by cameras; their Jacobian as 2000 blocks of 3 by 15",
    sightings,
    targets={"jacrev": 15},
    dominates="The arguments are fifteen columns of one array: putting the cotangents of the "
    "columns back into it, each with a stride of fifteen numbers and three rows at a "
    "time, is two fifths of the time.",
    operations=70,
)
def bundle(xp: Any, constant: Callable) -> Callable:
    """Each of the three residuals, summed: the Jacobian of the sums is all the blocks."""
    seen = rng(11).normal(0.0, 100.0, (2, SIGHTINGS))
    seen_u, seen_v = constant(seen[0]), constant(seen[1])

    def f(z: Any) -> Any:
        x, y, w = turned(xp, z)
        u, v = x / w, y / w
        r = u * u + v * v
        focal = (1.0 + z[:, 9] * r + z[:, 10] * r * r) * z[:, 6]
        weight = z[:, 14]
        return xp.stack(
            [
                xp.sum(weight * (u * focal + z[:, 7] - seen_u)),
                xp.sum(weight * (v * focal + z[:, 8] - seen_v)),
                xp.sum(1.0 - weight * weight),
            ]
        )

    return f


def turned(xp: Any, z: Any) -> tuple:
    """The point as the camera sees it: Rodrigues' formula."""
    rx, ry, rz = z[:, 0], z[:, 1], z[:, 2]
    x, y, w = z[:, 11] - z[:, 3], z[:, 12] - z[:, 4], z[:, 13] - z[:, 5]
    angle = xp.sqrt(rx * rx + ry * ry + rz * rz)
    c, s = xp.cos(angle), xp.sin(angle)
    kx, ky, kz = rx / angle, ry / angle, rz / angle
    along = (kx * x + ky * y + kz * w) * (1.0 - c)
    return (
        x * c + (ky * w - kz * y) * s + kx * along,
        y * c + (kz * x - kx * w) * s + ky * along,
        w * c + (kx * y - ky * x) * s + kz * along,
    )
