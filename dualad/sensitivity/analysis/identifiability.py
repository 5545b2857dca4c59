"""Which parameters the outputs determine, and in which combinations the others enter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NotIdentifiableError
from ..notices import quietly
from ..results.tabular import Table
from .invariants import shifts, small_ratios, together_by_factor, together_by_shift
from .normalised import Normalised, normalised
from .null_space import sparse_null_basis

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["Identifiability", "NullDirection", "identifiability"]


@dataclass(frozen=True)
class NullDirection:
    """A combination of parameters that changes no output.

    Attributes:
        parameters: the names of those that take part.
        relative: the relative changes dp/p that undo each other (dp where p is 0); the largest
            is 1.
        change: the changes dp themselves, to the same scale.
        text: in which combination the parameters enter.
        holds: "everywhere" where a finite change of the parameters left the outputs as they were,
            "here" where it did not, so that only first order is lost; "not tried" without a model.
    """

    parameters: tuple[str, ...]
    relative: np.ndarray
    change: np.ndarray
    text: str
    holds: str

    def __str__(self) -> str:
        return f"{self.text} ({self.holds})" if self.holds == "here" else self.text


@dataclass(frozen=True)
class Identifiability:
    """What the outputs tell about the parameters, to first order.

    Attributes:
        parameters: the names of all k.
        rank: how many combinations of them the outputs determine.
        singular_values: of the matrix with columns of length 1, the largest first.
        tolerance: up to which a singular value cannot be told from 0.
        absent: the parameters without any effect.
        null_directions: the combinations without effect, each with as few parameters as possible.
    """

    parameters: tuple[str, ...]
    rank: int
    singular_values: np.ndarray
    tolerance: float
    absent: tuple[str, ...]
    null_directions: tuple[NullDirection, ...]

    @property
    def identifiable(self) -> bool:
        """Whether all parameters are determined."""
        return self.rank == len(self.parameters)

    @property
    def determined(self) -> tuple[str, ...]:
        """The parameters that are determined each for itself."""
        lost = set(self.absent).union(*(d.parameters for d in self.null_directions))
        return tuple(name for name in self.parameters if name not in lost)

    @property
    def undetermined(self) -> tuple[str, ...]:
        """The parameters that are not determined each for itself."""
        return tuple(name for name in self.parameters if name not in self.determined)

    def reasons(self) -> list[str]:
        """What is not determined, in sentences."""
        lost = [f"{name} has no effect on any output" for name in self.absent]
        return [*lost, *map(str, self.null_directions)]

    def require(self) -> None:
        """Nothing, if all parameters are determined.

        Raises:
            NotIdentifiableError: they are not; the error says which, and why.
        """
        if not self.identifiable:
            raise NotIdentifiableError(str(self))

    def table(self) -> Table:
        """The singular values, and the parameters of each null direction."""
        rows = [(i + 1, float(s), s > self.tolerance) for i, s in enumerate(self.singular_values)]
        return Table(["", "singular value", "determined"], rows, str(self), [])

    def __str__(self) -> str:
        k = len(self.parameters)
        if self.identifiable:
            return f"all {k} parameters are identifiable: {', '.join(self.parameters)}"
        reasons = "; ".join(self.reasons())
        return f"{self.rank} of {k} combinations of parameters are identifiable: {reasons}"


def identifiability(
    result: Sensitivities, tol: float | None = None, max_size: int = 4
) -> Identifiability:
    """See `Sensitivities.identifiability`.

    The rank is that of the sensitivity matrix with columns of length 1. Its error is that of the
    derivatives, which are exact up to rounding (or up to the tolerance of an integration), so that
    a combination without effect shows as a singular value at the level of rounding.
    """
    matrix = normalised(result)
    limit = matrix.tolerance(tol)
    if not matrix.names:
        return Identifiability(matrix.absent, 0, np.zeros(0), limit, matrix.absent, ())
    sigma = np.linalg.svd(matrix.matrix, compute_uv=False)
    rank, basis = sparse_null_basis(matrix.matrix, limit, max_size)
    directions = tuple(_described(result, matrix, row, limit) for row in basis)
    padded = np.zeros(len(matrix.names))
    padded[: len(sigma)] = sigma
    names = result.parameters.names
    return Identifiability(names, rank, padded, limit, matrix.absent, directions)


def _described(
    result: Sensitivities, matrix: Normalised, row: np.ndarray, limit: float
) -> NullDirection:
    """A null vector of the normalised matrix as a combination of parameters."""
    at = np.flatnonzero(np.abs(row) > max(1e-9, 10 * limit))
    names = tuple(matrix.names[i] for i in at)
    relative = row[at] / matrix.lengths[at]
    relative = relative / relative[np.abs(relative).argmax()]
    change = relative * matrix.scales[at]
    values = np.array([result.parameters[name] for name in names])
    precise = max(1e-6, 100 * limit)
    candidates = list(_candidates(names, relative, change, values, precise))
    for text, move in candidates:
        if _unchanged(result, names, move, limit):
            return NullDirection(names, relative, change, text, "everywhere")
    holds = "not tried" if result.again is None else "here"
    return NullDirection(names, relative, change, candidates[0][0], holds)


def _candidates(
    names: tuple[str, ...],
    relative: np.ndarray,
    change: np.ndarray,
    values: np.ndarray,
    precise: float,
) -> Any:
    """Sentences that fit the direction, each with the finite move that would prove it."""
    signs = relative * np.sign(np.where(values == 0, 1.0, values))
    powers = None if (values == 0).any() else small_ratios(signs, precise)
    if powers is not None:
        factors = 1.2 ** np.array(powers, float)
        yield together_by_factor(names, powers), values * factors
    steps = small_ratios(change, precise)
    if steps is not None:
        size = 0.1 * float(np.abs(change).max()) / max(map(abs, steps))
        yield together_by_shift(names, steps), values + size * np.array(steps)
    unit = change / change[0]
    yield f"nothing changes when one adds {shifts(names, unit)}, small", values + 0.1 * change


def _unchanged(
    result: Sensitivities, names: tuple[str, ...], values: np.ndarray, limit: float
) -> bool:
    """Whether the outputs are the same with other values of these parameters."""
    again: Callable[[np.ndarray], Any] | None = result.again
    if again is None:
        return False
    vector = result.parameters.vector()
    vector[[result.parameters.names.index(name) for name in names]] = values
    try:
        with quietly():
            moved = np.asarray(again(vector), float)
    except Exception:
        return False
    size = np.abs(result.values).max(initial=0.0)
    close = max(1e-9, 100 * limit)
    same_shape = moved.shape == result.values.shape
    return same_shape and bool(np.allclose(moved, result.values, rtol=close, atol=close * size))
