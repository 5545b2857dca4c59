"""The staggered corrector: Newton's method for the states, then a linear system a sensitivity.

Sensitivities do not act on the states, and their equations are linear. So a step first solves for
the states alone, with the right-hand side alone; one pass with tangents at what was found then
gives J and df/dp, and the sensitivities follow by iterations that call the user's function no
more, with the factorisation that the states had. Maly and Petzold, Numerical methods and software
for sensitivity analysis of differential-algebraic systems (1996); Feehery, Tolsma, Barton,
Efficient sensitivity analysis of large-scale differential-algebraic systems (1997).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..extras import extra
from .blocks import Factorised
from .linear import Linear
from .norms import BlockNorm
from .variational import VariationalSystem

__all__ = ["Convergence", "Staggered"]


#: A rate of earlier steps may have grown: it is taken to be at least this.
LEAST_RATE = 0.05


class Convergence:
    """Whether an iteration has come near enough to its limit, from the sizes of its changes.

    Args:
        tolerance: what the distance to the limit may be.
        most: how many iterations there may be.
        rate: what each change is to the one before, where it is known beforehand.
    """

    def __init__(self, tolerance: float, most: int, rate: float | None = None):
        self.tolerance, self.most = tolerance, most
        self.rate = None if rate is None else max(rate, LEAST_RATE)
        self.last: float | None = None
        self.count = 0
        self.done = False

    def hopeless(self, size: float) -> bool:
        """Take note of a change; whether it says that the limit will not be reached in time."""
        if not math.isfinite(size):
            return True
        if self.last is not None:
            self.rate = size / self.last
        self.last = size
        left = self.most - self.count
        self.count += 1
        rate = self.rate if self.count > 1 else None
        if rate is not None and (rate >= 1 or rate**left / (1 - rate) * size > self.tolerance):
            return True
        self.done = size == 0 or (
            self.rate is not None
            and self.rate < 1
            and self.rate / (1 - self.rate) * size < self.tolerance
        )
        return False


class Staggered:
    """What both steppers share: a part of a class that is also one of SciPy's.

    Attributes:
        system: the right-hand side, with its derivatives.
        block_norm: how errors are measured.
    """

    system: VariationalSystem
    block_norm: BlockNorm
    J: Any
    t: float
    y: np.ndarray
    n: int
    nlu: int

    def _validate_jac(self, jac: Any, sparsity: Any) -> Any:
        """SciPy's steppers prepare for a matrix of the size of z; a sparse one costs nothing."""
        return jac, extra("scipy.sparse").csc_matrix((self.n, self.n))

    def begin(self) -> None:
        """The first Jacobian, and the shape of z."""
        self.size = self.system.n
        self.J = self.system.matrix(self.t, self.y[: self.size])
        self.linear_rate: float | None = None

    def rows(self, z: np.ndarray) -> np.ndarray:
        return z.reshape(self.system.k + 1, self.size)

    def factorised(self, a: Any, b: float) -> Factorised:
        self.nlu += 1
        return Factorised(a, b, self.J)

    def take_up(self, t: float, y: np.ndarray, linear: Linear | None = None) -> None:
        """Make the Jacobian of Newton's method that at (t, y)."""
        self.J = self.system.matrix(t, y, linear)


def root_mean_square(x: np.ndarray) -> float:
    """Over all entries."""
    flat = x.ravel()
    return float(np.sqrt(flat @ flat / flat.size))


def largest_row(x: np.ndarray) -> float:
    """The largest root mean square of a row; the rows are those of the last but one axis."""
    if not x.size:
        return 0.0
    rows, n = x.shape[-2:]
    squares = np.einsum("ijn,ijn->j", *(x.reshape(-1, rows, n),) * 2)
    return float(np.sqrt(squares.max() * rows / x.size))
