"""Small operations, one after the other: the cost of dispatch."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .workload import rng, workload

__all__ = ["CHAIN", "chain"]

TURNS = 167


def circle(x: Any, turns: int, xp: Any) -> Any:
    """A map of the circle: six operations a turn, with fan-out, and a slope of order one."""
    sin, cos = xp.sin, xp.cos
    for _ in range(turns):
        x = x + 0.05 * (sin(x) * cos(x)) + 0.1
    return x


@workload(
    "ops_scalar",
    "1000 small operations on a scalar",
    lambda: (np.float64(0.5),),
    targets={"jvp": 11, "grad": 15},
    dominates="An operation on NumPy's scalars takes 0.05 microseconds; a traced one is a call "
    "of generated code, a new object and, in reverse, a tuple on the tape and a call "
    "of the sweep. Making the object alone is a fifth to a quarter of the time.",
    operations=6 * TURNS,
)
def on_a_scalar(xp: Any, constant: Callable) -> Callable:
    return lambda x: circle(x, TURNS, xp)


@workload(
    "ops_len10",
    "1000 small operations on 10 numbers",
    lambda: (np.linspace(0.2, 0.8, 10),),
    targets={"jvp": 5, "grad": 9},
    dominates="Each operation is one or two calls of NumPy on ten numbers for the tangent beside "
    "the one for the value; what is left is the object for the result.",
    operations=6 * TURNS,
)
def on_ten(xp: Any, constant: Callable) -> Callable:
    return lambda x: xp.sum(circle(x, TURNS, xp))


CHAIN = 6 * 16_667


@workload(
    "chain_1e5",
    "100,000 operations in a row on a scalar",
    lambda: (np.float64(0.5),),
    targets={"grad": 20},
    dominates="An operation on NumPy's scalars takes 0.05 microseconds; a traced one is a call "
    "of generated code, a new object and, in reverse, a tuple on the tape and a call "
    "of the sweep. Making the object alone is a fifth to a quarter of the time.",
    operations=CHAIN,
    quick=False,
)
def chain(xp: Any, constant: Callable) -> Callable:
    return lambda x: circle(x, CHAIN // 6, xp)


@workload(
    "newton_200",
    "200 steps of Newton's method for a cube root, with a branch in each",
    lambda: (np.float64(7.3),),
    targets={"jvp": 10, "grad": 16},
    dominates="An operation on NumPy's scalars takes 0.05 microseconds; a traced one is a call "
    "of generated code, a new object and, in reverse, a tuple on the tape and a call "
    "of the sweep. Making the object alone is a fifth to a quarter of the time. Here "
    "NumPy has the shortest operations of all workloads, products of two scalars.",
    operations=1600,
)
def newton(xp: Any, constant: Callable) -> Callable:
    def f(a: Any) -> Any:
        x = a
        for _ in range(200):
            residual = x * x * x - a
            full = residual / (3.0 * x * x)
            x = x - full if residual > 1.0 else x - 0.5 * full
        return x

    return f


@workload(
    "indexing_1000",
    "1000 indexings of one array",
    lambda: (rng(5).uniform(0.5, 1.5, 1000),),
    targets={"jvp": None, "grad": None},
    dominates="Taking an entry out of a traced array, and in reverse adding a number to one "
    "entry of its cotangent.",
    operations=3000,
)
def indexing(xp: Any, constant: Callable) -> Callable:
    def f(x: Any) -> Any:
        total = x[0] * x[999]
        for k in range(999):
            total = total + x[k] * 0.5
        return total

    return f
