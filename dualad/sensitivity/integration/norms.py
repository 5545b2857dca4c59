"""How large an error is: as large as for the worst parameter, if it alone were asked for.

A mean over everything would let many small errors hide a large one, and would change the steps
with every parameter that is asked for. So each sensitivity is measured together with the states,
and the states also alone; the largest of these counts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["BlockNorm", "Tolerance"]


class BlockNorm:
    """The norm of k + 1 blocks of length n, the states and k sensitivities.

    It is the largest root mean square of the first block and one other, or of the first alone.

    It sees all that a stepper measures, so it also counts the steps that were refused.

    Args:
        n, k: the size of a block, and how many there are beside the states.
        only_states: whether the error test looks at the states alone; Newton's never does.
        multistep: whether the stepper measures its error without solving for it, as BDF does.
        weight: what the square of a sensitivity's estimated error counts.
    """

    def __init__(self, n: int, k: int, only_states: bool, multistep: bool, weight: float = 1.0):
        self.weight = weight
        self.n, self.k, self.only_states, self.multistep = n, k, only_states, multistep
        self.rejected = self.rejected_by_sensitivity = 0
        self._solved = False
        self._measured: list[tuple[float, float]] = []

    def __call__(self, x: np.ndarray) -> np.float64:
        """In SciPy's scale: the root mean square, times the root of the number of entries."""
        squares = (x * x).reshape(-1, self.k + 1, self.n).mean(axis=(0, 2))
        newton = x.ndim == 2 or (self.multistep and self._solved)
        self._solved = False
        worst = squares[0]
        if self.k and (newton or not self.only_states):
            weight = 1.0 if newton else self.weight
            worst = max(worst, 0.5 * (worst + weight * squares[1:].max()))
        if newton:
            self._refuse()
        else:
            self._measured.append((float(worst), float(squares[0])))
        return np.sqrt(worst * x.size)

    def together(self, x: np.ndarray) -> np.ndarray:
        """Mean squares of rows (k + 1, n): of the states, and of them with each sensitivity.

        The first alone, where the error test looks at nothing else.
        """
        squares = np.einsum("jn,jn->j", x, x) / self.n
        if self.only_states or not self.k:
            return squares[:1]
        squares[1:] *= self.weight
        squares[1:] += squares[0]
        squares[1:] *= 0.5
        return squares

    def of_rows(self, x: np.ndarray) -> float:
        """The size of an error given as rows, of shape (k + 1, n), in the scale of 1."""
        return self.note(self.together(x.reshape(-1, self.n)))

    def note(self, squares: np.ndarray) -> float:
        """The largest of sizes whose squares are given, that of the states first."""
        worst = float(squares.max())
        self._measured[:] = [(worst, float(squares[0]))]
        return math.sqrt(worst)

    def measure(self, squares: np.ndarray) -> None:
        """Take note of one more attempt, whose sizes have these squares."""
        self._measured.append((float(squares.max()), float(squares[0])))

    def refuse(self) -> None:
        """The step whose error was measured last is not taken."""
        self._refuse()

    def after_solve(self, x: np.ndarray) -> np.ndarray:
        """A linear system was solved: what is measured next is a correction of Newton's."""
        self._solved = True
        return x

    def _refuse(self) -> None:
        """Newton's method begins again: if an error had been measured, it was too large."""
        if self._measured:
            self.rejected += 1
            self.rejected_by_sensitivity += self._measured[-1][1] <= 1 < self._measured[-1][0]
        self._measured.clear()

    def end_of_step(self, attempts: int | None = None) -> None:
        """The step was taken; an explicit method says how many attempts it took."""
        if attempts is not None:
            self.rejected += attempts - 1
            by_sensitivity = sum(states <= 1 < worst for worst, states in self._measured)
            self.rejected_by_sensitivity += min(by_sensitivity, attempts - 1)
        self._measured.clear()


class Tolerance(np.ndarray):
    """Tolerances of the entries; what is divided by them is measured by blocks.

    SciPy's steppers measure `numpy.linalg.norm(error / (atol + rtol * abs(y)))`. An array of this
    class as atol makes that norm ours.
    """

    norm: BlockNorm

    @classmethod
    def of(cls, values: np.ndarray, norm: BlockNorm) -> Tolerance:
        out = np.array(values).view(cls)
        out.norm = norm
        return out

    def __array_finalize__(self, other: Any) -> None:
        self.norm = getattr(other, "norm", None)  # type: ignore[assignment]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.linalg.norm and len(args) == 1 and not kwargs:
            return self.norm(np.asarray(args[0]))
        return super().__array_function__(func, types, args, kwargs)
