"""Right-hand sides of differential equations, and their integration with sensitivities."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .workload import rng, workload

__all__ = ["integrate", "integrate_sensitivities"]

NODES = 50


def robertson(xp: Any, constant: Callable) -> Callable:
    def f(y: Any, p: Any) -> Any:
        slow, fast, twice = p[0] * y[0], p[1] * y[1] * y[2], p[2] * y[1] * y[1]
        return xp.stack([fast - slow, slow - fast - twice, twice])

    return f


def robertson_arguments() -> tuple:
    return np.array([0.9, 2e-5, 0.1]), np.array([0.04, 1e4, 3e7])


def brusselator(xp: Any, constant: Callable) -> Callable:
    """Reaction and diffusion on a line, by finite differences; the ends are held."""
    u_end, v_end = constant(np.ones(1)), constant(np.full(1, 3.0))

    def f(y: Any, p: Any) -> Any:
        u, v = y[:NODES], y[NODES:]
        a, b, spread = p[0], p[1], p[2] * float((NODES + 1) ** 2)
        wide_u = xp.concatenate([u_end, u, u_end])
        wide_v = xp.concatenate([v_end, v, v_end])
        react = u * u * v
        du = a + react - (b + 1.0) * u + spread * (wide_u[2:] - 2.0 * u + wide_u[:-2])
        dv = b * u - react + spread * (wide_v[2:] - 2.0 * v + wide_v[:-2])
        return xp.concatenate([du, dv])

    return f


def brusselator_arguments() -> tuple:
    x = np.arange(1, NODES + 1) / (NODES + 1)
    y = np.concatenate([1.0 + np.sin(2.0 * np.pi * x), np.full(NODES, 3.0)])
    return y, np.array([1.0, 3.0, 0.02])


def directions(arguments: Callable[[], tuple]) -> Callable[[], tuple]:
    """Three tangents (s, e): one a parameter, as forward sensitivities have them."""

    def three() -> tuple:
        y, p = arguments()
        return rng(19).normal(size=(3, y.size)) * y, np.eye(3) * p

    return three


ENTRIES = (
    "NumPy evaluates f in 5 microseconds, twenty operations on scalars. Each operation is one "
    "on the value and two or three on an array of its three to six tangents, a microsecond "
    "each; the transformation itself is a third of the time."
)
SLICES = (
    "The Jacobians carry 103 tangents of 50 numbers: half of their time is products and sums "
    "of these arrays, of 40 kB each, which is what derivatives written by hand in NumPy take "
    "as well (7 f). With three tangents it is the calls: thirty operations of which each makes "
    "three of NumPy's, the three concatenations a fifth of the time."
)

for _name, _about, _make, _arguments, _targets, _operations, _dominates in (
    (
        "robertson",
        "right-hand side of Robertson's reaction: 3 states, 3 parameters",
        robertson,
        robertson_arguments,
        {"jac2": 12, "jvpk": 10},
        20,
        ENTRIES,
    ),
    (
        "brusselator_100",
        "right-hand side of the Brusselator on a line: 100 states, 3 parameters",
        brusselator,
        brusselator_arguments,
        {"jac2": 15, "jvpk": 8},
        30,
        SLICES,
    ),
):
    workload(
        _name,
        _about,
        _arguments,
        targets=_targets,
        operations=_operations,
        directions=directions(_arguments),
        dominates=_dominates,
    )(_make)


workload(
    "radau_robertson",
    "Robertson's reaction by SciPy's Radau, with 3 sensitivities; f: the states alone",
    robertson_arguments,
    targets={"ivp": 10},
    dominates="The right-hand side with three tangents is called at each step of the "
    "integration; its cost is that of the row `robertson` jvpk. SciPy's own steps, on "
    "four times as many numbers, are a part of it: they factorise a matrix of 12 rows "
    "where the floor has 3.",
    quick=False,
)(robertson)
workload(
    "rk45_brusselator",
    "the Brusselator by SciPy's RK45, with 3 sensitivities; f: the states alone",
    brusselator_arguments,
    targets={"ivp": 10},
    dominates="The right-hand side with three tangents is called at each step of the "
    "integration; its cost is that of the row `brusselator_100` jvpk. SciPy's own "
    "steps, on four times as many numbers, are less than f.",
    quick=False,
)(brusselator)


def integrate(f: Callable, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The states at the end, from a right-hand side f(y, p) in NumPy."""
    return solved(lambda t, z: f(z, p), y, y.size)


def integrate_sensitivities(rhs: Callable, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """States and sensitivities at the end, in one vector; rhs(y, p, S) gives dy and dS."""
    n = y.size

    def together(t: float, z: np.ndarray) -> np.ndarray:
        dy, ds = rhs(z[:n], p, z[n:].reshape(3, n))
        return np.concatenate([dy, np.ravel(ds)])

    return solved(together, np.concatenate([y, np.zeros(3 * n)]), n)


def solved(slope: Callable, start: np.ndarray, states: int) -> np.ndarray:
    from scipy.integrate import solve_ivp

    if states == 3:
        run = solve_ivp(slope, (0.0, 100.0), start, method="Radau", rtol=1e-5, atol=1e-8)
    else:
        run = solve_ivp(slope, (0.0, 0.5), start, method="RK45", rtol=1e-5, atol=1e-7)
    return run.y[:, -1]
