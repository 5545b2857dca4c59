"""Differential-algebraic equations of index 1: M y' = f(t, y, p) with a singular M.

The rows L with L M = 0 leave algebraic equations L f = 0. Along the solution they stay true, so
that their derivative gives what M does not say of y':

    M_r y' = f_r,    L f_y y' = -L f_t,

where M_r are independent rows of M. This is an ordinary system with the same solutions, exact
derivatives included, wherever its matrix is regular: that is what index 1 means. The state at the
start, and after each event, is made to fulfil L f = 0 while M_r y stays. Hairer and Wanner,
Solving Ordinary Differential Equations II, section VI.1; Brenan, Campbell, Petzold, Numerical
Solution of Initial-Value Problems in Differential-Algebraic Equations, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...transforms.custom import stop_gradient
from ...transforms.jacobian import jacfwd
from ..errors import ModelError
from ..extras import extra
from ..implicit.factor import combination, echelon
from ..parameters.parameters import ModelParameters, Parameters
from .events import Event
from .handling import ByName
from .model import start_of, state_vector
from .pushing import derivative, pushed

__all__ = ["Algebraic", "ConsistentStart", "consistent_events"]

#: Newton steps to a consistent state at most; and how many more carry the derivatives along: each
#: doubles the order up to which they are right, 1, 3, 7.
STEPS, CARRYING = 50, 3
INDEX = (
    "that is a system of index above 1, or one whose algebraic equations do not determine their "
    "unknowns. Differentiate an algebraic equation by the time, or eliminate an unknown"
)


class Algebraic:
    """y' of a differential-algebraic system, under the name of its right-hand side.

    Args:
        rhs: rhs(t, y, p) gives f, as one array.
        mass: M(p), as one array.
        matrix: its value, of shape (n, n), singular.
        states: the names of the n states.
    """

    def __init__(
        self,
        rhs: Callable[..., Any],
        mass: Callable[[Any], Any],
        matrix: np.ndarray,
        states: Sequence[str],
    ):
        self.rhs, self.mass, self.states = rhs, mass, tuple(states)
        self.__name__ = getattr(rhs, "__name__", type(rhs).__name__)
        self.__code__ = getattr(rhs, "__code__", None)
        self.n = len(matrix)
        left, sizes, _ = np.linalg.svd(matrix)
        rank = int((sizes > 1e-12 * sizes[0]).sum()) if sizes.any() else 0
        self.left = echelon(left[:, rank:].T)
        pivots = extra("scipy.linalg").qr(matrix.T, pivoting=True)[2]
        self.rows = np.sort(pivots[:rank])

    def equations(self) -> list[str]:
        """The algebraic equations in words: which rows of rhs they are made of."""
        names = [f"rhs[{i}]" for i in range(self.n)]
        return [f"{combination(row, names)} = 0" for row in self.left]

    def __call__(self, t: Any, y: Any, p: Any) -> Any:
        """y' at (t, y, p)."""
        n = self.n
        moves_t, moves_y = np.eye(n + 1)[n], np.eye(n + 1)[:, :n]
        f, moves = pushed(lambda t, y, q: self.rhs(t, y, p), t, y, [], dt=moves_t, dy=moves_y)
        along = derivative(f, moves, n + 1) @ self.left.T
        matrix = np.concatenate([self.mass(p)[self.rows], along[:n].T])
        right = np.concatenate([f[self.rows], -along[n]])
        try:
            return np.linalg.solve(matrix, right)
        except np.linalg.LinAlgError as error:
            raise ModelError(
                f"the algebraic equations ({'; '.join(self.equations())}) of {self.__name__} do "
                f"not determine the slopes of their unknowns: {INDEX}"
            ) from error

    # --- consistent states

    def consistent(self, t: Any, y: Any, p: Any) -> Any:
        """The state near y that fulfils the algebraic equations and has the same M y.

        Raises:
            ModelError: there is none near, or the index is above 1.
        """
        kept = self.mass(p)[self.rows] @ y
        plain = [stop_gradient(v) for v in (t, y, kept)]
        seen = ModelParameters({name: stop_gradient(p[name]) for name in p})
        x = self.searched(plain[0], np.asarray(plain[1], float), seen, plain[2])
        for _ in range(CARRYING):
            rest, matrix = self.linearized(t, x, p, kept)
            x = x - np.linalg.solve(matrix, rest)
        return x

    def linearized(self, t: Any, x: Any, p: Any, kept: Any) -> tuple[Any, Any]:
        """What is left of (M_r x - kept, L f), and its derivative by x."""
        f, moves = pushed(lambda t, y, q: self.rhs(t, y, p), t, x, [], dy=np.eye(self.n))
        mass = self.mass(p)[self.rows]
        matrix = np.concatenate([mass, (derivative(f, moves, self.n) @ self.left.T).T])
        return np.concatenate([mass @ x - kept, self.left @ f]), matrix

    def searched(self, t: Any, y: np.ndarray, p: Any, kept: Any) -> np.ndarray:
        """The consistent state by Newton's method."""
        x, last = y, np.inf
        for _ in range(STEPS):
            rest, matrix = (np.asarray(a, float) for a in self.linearized(t, x, p, kept))
            if not (np.isfinite(rest).all() and np.isfinite(matrix).all()):
                break
            self.require_index_one(t, matrix)
            move = np.linalg.solve(matrix, rest)
            size = np.abs(move).max()
            if size <= 1e-10 * np.abs(x).max() and size >= 0.5 * last:
                return x
            x, last = x - move, size
            if size == 0.0:
                return x
        said = ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.states, y, strict=True))
        raise ModelError(
            f"no state near {said} fulfils the algebraic equations of {self.__name__} at t = "
            f"{float(t):g}: {'; '.join(self.equations())}. Give a start nearer to one that does"
        )

    def require_index_one(self, t: Any, matrix: np.ndarray) -> None:
        rows = np.abs(matrix).max(axis=1, keepdims=True)
        scaled = matrix / np.where(rows > 0, rows, 1.0)
        columns = np.abs(scaled).max(axis=0)
        scaled = scaled / np.where(columns > 0, columns, 1.0)
        if np.linalg.matrix_rank(scaled, tol=1e-12) < self.n:
            raise ModelError(
                f"the algebraic equations ({'; '.join(self.equations())}) of {self.__name__} do "
                f"not determine their unknowns at t = {float(t):g}: {INDEX}"
            )

    def require_constant_rows(self, parameters: Parameters) -> None:
        """The algebraic equations must stay the same rows for all parameters.

        Raises:
            ModelError: they do not.
        """
        names = parameters.names

        def rest(q: Any) -> Any:
            moving = {name: q[j] for j, name in enumerate(names)}
            return self.left @ self.mass(ModelParameters(moving))

        slopes = np.asarray(jacfwd(rest)(parameters.vector()), float)
        if np.abs(slopes).max(initial=0.0) > 1e-12:
            name = names[int(np.argmax(np.abs(slopes).reshape(-1, len(names)).max(axis=0)))]
            raise ModelError(
                f"mass is singular here, and which equations are algebraic depends on {name!r}: "
                f"scale the equations so that the algebraic ones have rows of zeros in mass"
            )


class ConsistentStart:
    """y0(p), made consistent."""

    def __init__(self, system: Algebraic, y0: Any, begin: Any):
        self.system, self.y0, self.begin = system, y0, begin
        self.__code__ = getattr(y0, "__code__", None)

    def __call__(self, p: Any) -> Any:
        t = self.begin(p) if callable(self.begin) else float(self.begin)
        given = state_vector(start_of(self.y0, p) if callable(self.y0) else self.y0)
        return self.system.consistent(t, given * 1.0, p)


class ConsistentUpdate:
    """The update of an event, made consistent."""

    def __init__(self, system: Algebraic, update: Callable[..., Any]):
        self.system, self.update = system, ByName(update, system.states)
        self.__code__ = getattr(update, "__code__", None)

    def __call__(self, t: Any, y: Any, p: Any) -> Any:
        return self.system.consistent(t, state_vector(self.update(t, y, p)), p)


def consistent_events(
    system: Algebraic, events: Sequence[tuple[str, Event]]
) -> tuple[tuple[str, Event], ...]:
    """The events, whose updates leave a consistent state."""
    return tuple(
        (name, e if e.update is None else replace(e, update=ConsistentUpdate(system, e.update)))
        for name, e in events
    )
