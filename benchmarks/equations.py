"""The differential equations of `benchmarks.ode`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PROBLEMS", "Problem"]

CELLS = 50


def robertson(t, y, p, stack=np.array):
    a, b, c = p.k1 * y[0], p.k2 * y[1] * y[2], p.k3 * y[1] ** 2
    return stack([-a + b, a - b - c, c])


def lotka_volterra(t, y, p, stack=np.array):
    eaten = y[0] * y[1]
    return stack([p.a * y[0] - p.b * eaten, -p.c * y[1] + p.d * eaten])


def brusselator(t, y, p, stack=np.concatenate, ends=np.array):
    u, v = y[:CELLS], y[CELLS:]
    c = p.D * (CELLS + 1) ** 2
    uu, vv = stack([ends([1.0]), u, ends([1.0])]), stack([ends([3.0]), v, ends([3.0])])
    du = p.A + u**2 * v - (p.B + 1) * u + c * (uu[:-2] - 2 * u + uu[2:])
    dv = p.B * u - u**2 * v + c * (vv[:-2] - 2 * v + vv[2:])
    return stack([du, dv])


@dataclass(frozen=True)
class Problem:
    """A model, its parameters, times of the result, and the ratio of atol to rtol."""

    name: str
    rhs: Callable[..., Any]
    y0: Any
    params: dict[str, float]
    times: np.ndarray
    atol: Any
    methods: tuple[str, ...]
    #: the method and tolerance of the run that errors are measured by
    exact: tuple[str, float]


X = np.arange(1, CELLS + 1) / (CELLS + 1)
PROBLEMS = [
    Problem(
        "Robertson", robertson, [1.0, 0.0, 0.0], {"k1": 0.04, "k2": 1e4, "k3": 3e7},
        0.4 * 10.0 ** np.arange(4), np.array([1e-4, 1e-10, 1e-2]), ("BDF", "Radau"),
        ("Radau", 1e-11),
    ),
    Problem(
        "Lotka-Volterra", lotka_volterra, [10.0, 5.0], {"a": 1.5, "b": 1.0, "c": 3.0, "d": 1.0},
        np.arange(1.0, 11.0), 1e-2, ("RK45", "DOP853"), ("DOP853", 1e-12),
    ),
    Problem(
        "Brusselator", brusselator, np.concatenate([1 + np.sin(2 * np.pi * X), 3 + 0 * X]),
        {"A": 1.0, "B": 3.0, "D": 0.02}, np.arange(1.0, 6.0), 1e-1, ("BDF", "Radau"),
        ("Radau", 1e-11),
    ),
]  # fmt: skip
