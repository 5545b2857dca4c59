"""Whole arrays: Rosenbrock's function in three sizes, and a million numbers at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .workload import rng, workload

MILLION = 1_000_000


def rosenbrock(xp: Any, constant: Callable) -> Callable:
    def f(x: Any) -> Any:
        return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    return f


FEW = (
    "NumPy evaluates f in 5 microseconds. A third of the gradient's time runs f with a record of "
    "its nine operations, two fifths are the sweep, and a quarter the transformation around "
    "both. In hvp each of these operations is one on a dual as well: two fifths run f, a third is "
    "the sweep, a quarter the transformations; squares and their slopes are a fifth of all, "
    "slices a sixth. The Hessian carries as many tangents as there are numbers: its time is in "
    "products and sums of these."
)
MANY = (
    "The gradient makes twice as many passes over arrays of 80 kB as f, after a fixed cost that "
    "is as much as f. In hvp more than half of the time is the sweep with tangents, half of that "
    "the three squares: their slopes and the tangents of these; every result is a new array."
)

for _size, _targets, _dominates in (
    (2, {"grad": 8, "hvp": 16, "hess": None}, FEW),
    (100, {"grad": 8, "hvp": 16, "hess": 50}, FEW),
    (10_000, {"grad": 5, "hvp": 10}, MANY),
):
    workload(
        f"rosenbrock_{_size}",
        f"Rosenbrock's function of {_size} numbers",
        lambda n=_size: (rng(4).normal(1.0, 0.3, n),),
        targets=_targets,
        dominates=_dominates,
        operations=9,
    )(rosenbrock)


@workload(
    "black_scholes_1e6",
    "option prices by price and volatility, 10^6 of them",
    lambda: (rng(2).uniform(80.0, 120.0, MILLION), rng(3).uniform(0.1, 0.4, MILLION)),
    targets={"jvp": 1.9, "grad": 1.6},
    dominates="All operations are put off and computed in one pass by blocks, in the gradient "
    "values and cotangents of a block together: some seventy ufuncs on blocks in the cache, nine "
    "tenths of the time, two fifths of that the values; log, tanh, cosh and divisions are half. A "
    "gradient written by hand in such blocks takes nine tenths of ours. The rest is copying the "
    "arguments, which f might write to by another name.",
    operations=32,
    peak=("jvp", "grad"),
)
def black_scholes(xp: Any, constant: Callable) -> Callable:
    strike, years, rate = 100.0, 0.75, 0.02

    def normal(z: Any) -> Any:
        """The normal distribution by tanh: ufuncs that every library has."""
        return 0.5 * (1.0 + xp.tanh(0.7978845608 * (z + 0.044715 * z * z * z)))

    def f(price: Any, volatility: Any) -> Any:
        spread = volatility * years**0.5
        upper = (xp.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
        discount = float(np.exp(-rate * years))
        return xp.sum(price * normal(upper) - strike * discount * normal(upper - spread))

    return f


@workload(
    "polynomial_1e6",
    "the square of a rational function of degree 4 on 10^6 numbers: memory, hardly any arithmetic",
    lambda: (rng(1).normal(size=MILLION),),
    targets={"jvp": 3.0, "grad": 3.0},
    dominates="Memory: f does one addition or product for every 8 MB that it reads and writes. "
    "Both derivatives are one pass by blocks in the cache, after a copy of the argument.",
    operations=13,
    peak=("jvp", "grad"),
)
def polynomial(xp: Any, constant: Callable) -> Callable:
    def f(x: Any) -> Any:
        y = (((0.3 * x + 0.7) * x - 0.2) * x + 1.1) * x - 0.4
        y = y / (1.0 + x * x)
        return xp.sum(y * y)

    return f
