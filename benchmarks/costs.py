"""What the parts of a derivative cost: a transformation, and one operation more inside of it."""

from collections.abc import Callable
from typing import Any

import numpy as np

import dualad

from .measure import seconds

__all__ = ["COSTS", "costs"]

X = np.linspace(0.2, 0.8, 10)
MATRIX = np.linspace(-1.0, 1.0, 100).reshape(10, 10)
COPIES = 20

#: One operation of each kind, from an array of ten numbers to one that can be given to it again.
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "`x * y`, `np.sin(x)`: elementwise": lambda x: np.sin(x),
    "`x[1:]` and `np.concatenate`": lambda x: np.concatenate([x[1:], x[:1]]),
    "`x.reshape(...)`, twice": lambda x: x.reshape(2, 5).reshape(10),
    "`A @ x`": lambda x: MATRIX @ x,
    "`np.where(mask, x, y)`": lambda x: np.where(X > 0.5, x, X),
    "`np.stack([x[0], ...])` of ten entries": lambda x: np.stack([x[k] for k in range(10)]),
    "`np.cumsum(x)`": np.cumsum,
    "`np.sort(x)`, a composite rule": np.sort,
}
COSTS = ("NumPy", "jvp", "grad")


def fastest(call: Callable[[], Any], rounds: int) -> float:
    """Microseconds of one call: the least of several rounds, which other work disturbs least."""
    call()
    return 1e6 * min(seconds(call, 50) for _ in range(rounds))


def repeated(operation: Callable[[Any], Any], times: int) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        for _ in range(times):
            x = operation(x)
        return x[0]

    return f


def three(f: Callable[[Any], Any], rounds: int) -> list[float]:
    g = dualad.grad(f)
    calls = (lambda: f(X), lambda: dualad.jvp(f, (X,), (X,)), lambda: g(X))
    return [fastest(call, rounds) for call in calls]


def costs(rounds: int = 15) -> dict[str, list[float]]:
    """Microseconds in NumPy, jvp and grad: of a call around nothing, and of one operation."""
    empty = three(lambda x: x[0], rounds)
    found = {"the transformation itself, around `x[0]`": empty}
    for name, operation in OPERATIONS.items():
        many = three(repeated(operation, COPIES), rounds)
        found[name] = [(m - e) / COPIES for m, e in zip(many, empty, strict=True)]
    return found
