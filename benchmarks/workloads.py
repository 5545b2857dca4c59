"""What is differentiated: functions written once, against a namespace like NumPy's."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["WORKLOADS", "Workload"]


@dataclass(frozen=True)
class Workload:
    """A function, its arguments, and the derivatives of it that are timed.

    `make(xp, constant)` gives the function for a namespace; `constant` turns a NumPy array that
    is no argument into one of that namespace. `operations` is how many elementary ones it makes.
    """

    name: str
    about: str
    make: Callable[..., Callable[..., Any]]
    arguments: Callable[[], tuple]
    jobs: tuple[str, ...] = ("jvp", "grad")
    operations: int = 0
    quick: bool = True


WORKLOADS: dict[str, Workload] = {}


def workload(name: str, about: str, arguments: Callable[[], tuple], **more: Any) -> Callable:
    def register(make: Callable) -> Callable:
        WORKLOADS[name] = Workload(name, about, make, arguments, **more)
        return make

    return register


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- small operations: the cost of dispatch --------------------------------------------------

TURNS = 200


def spiral(xp: Any, constant: Callable) -> Callable:
    """Five operations a turn, with fan-out; value and derivative stay of order one."""

    def f(x: Any) -> Any:
        for _ in range(TURNS):
            y = xp.cos(x)
            x = x * 0.9 + y * xp.sin(x)
        return x if x.ndim == 0 else xp.sum(x)

    return f


for _name, _about, _x in (
    ("ops_scalar", "1000 small operations on a scalar", np.float64(0.6)),
    ("ops_len10", "1000 small operations on 10 numbers", np.linspace(0.1, 1.0, 10)),
):
    workload(_name, _about, lambda x=_x: (x,), operations=5 * TURNS)(spiral)


CHAIN = 100_000


@workload(
    "chain_1e5",
    "100,000 operations in a row on a scalar",
    lambda: (np.float64(1.0),),
    operations=CHAIN,
    quick=False,
)
def chain(xp: Any, constant: Callable) -> Callable:
    def f(x: Any) -> Any:
        for _ in range(CHAIN // 2):
            x = x * 1.00001 + 1e-7
        return x

    return f


# --- large arrays: the cost of memory --------------------------------------------------------


@workload(
    "polynomial_1e6",
    "a polynomial of degree 4 on 10^6 numbers",
    lambda: (rng(1).uniform(-1.0, 1.0, 1_000_000),),
    operations=9,
)
def polynomial(xp: Any, constant: Callable) -> Callable:
    def f(x: Any) -> Any:
        return xp.sum((((0.3 * x - 0.7) * x + 1.1) * x - 0.2) * x + 0.5)

    return f


@workload(
    "black_scholes_1e6",
    "option prices by price and volatility, 10^6 of them",
    lambda: (rng(2).uniform(80.0, 120.0, 1_000_000), rng(3).uniform(0.1, 0.4, 1_000_000)),
    operations=40,
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


# --- what people write -----------------------------------------------------------------------


@workload(
    "rosenbrock_100",
    "Rosenbrock's function of 100 numbers",
    lambda: (rng(4).normal(1.0, 0.3, 100),),
    operations=9,
)
def rosenbrock(xp: Any, constant: Callable) -> Callable:
    def f(x: Any) -> Any:
        return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    return f


@workload(
    "indexing_1000",
    "1000 indexings of one array",
    lambda: (rng(5).uniform(0.5, 1.5, 1000),),
    operations=3000,
)
def indexing(xp: Any, constant: Callable) -> Callable:
    def f(x: Any) -> Any:
        total = x[0] * x[999]
        for k in range(999):
            total = total + x[k] * 0.5
        return total

    return f


def layers() -> tuple:
    sizes = (64, 128, 128, 10)
    parts = []
    for k, (n, m) in enumerate(itertools.pairwise(sizes)):
        parts += [rng(10 + k).normal(0.0, n**-0.5, (n, m)), np.zeros(m)]
    return tuple(parts)


@workload("mlp", "a network of three layers on 256 rows", layers, operations=12)
def mlp(xp: Any, constant: Callable) -> Callable:
    rows = constant(rng(6).normal(size=(256, 64)))
    target = constant(rng(7).normal(size=(256, 10)))

    def f(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
        h = xp.tanh(rows @ w1 + b1)
        h = xp.tanh(h @ w2 + b2)
        return xp.sum((h @ w3 + b3 - target) ** 2) / 256.0

    return f


# --- Jacobians -------------------------------------------------------------------------------


@workload(
    "jacobian_tall",
    "1000 outputs of 20 inputs",
    lambda: (rng(8).normal(size=20),),
    jobs=("jacfwd",),
    operations=6,
)
def tall(xp: Any, constant: Callable) -> Callable:
    a = constant(rng(9).normal(size=(1000, 20)) / 20.0)

    def f(x: Any) -> Any:
        z = a @ x
        return xp.exp(-z * z) * xp.sin(3.0 * z)

    return f


@workload(
    "jacobian_wide",
    "20 outputs of 1000 inputs",
    lambda: (rng(11).normal(size=1000),),
    jobs=("jacrev",),
    operations=6,
)
def wide(xp: Any, constant: Callable) -> Callable:
    a = constant(rng(12).normal(size=(20, 1000)) / 1000.0)

    def f(x: Any) -> Any:
        return xp.tanh(a @ (xp.sin(x) * x)) ** 2

    return f
