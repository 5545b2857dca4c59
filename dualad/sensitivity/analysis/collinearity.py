"""The collinearity index: how well a change of one parameter is undone by the others of a set."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError, SensitivityError, unknown_name
from ..given import is_among, members, number
from ..results.tabular import Table
from .normalised import Normalised, normalised

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["collinearity"]

#: More sets than this are not made unasked.
MANY = 20_000


def collinearity(
    result: Sensitivities, sets: Iterable[Iterable[str]] | None, max_size: int
) -> Table:
    """The index of each set, the largest first; see `Sensitivities.collinearity`.

    The index is 1 over the smallest singular value of the normalised columns of the set (Brun,
    Reichert and Kuensch 2001): a change of one parameter of the set can be undone by the others up
    to a part of 1 over the index. A singular value that rounding cannot tell from 0 gives
    infinity.
    """
    matrix = normalised(result)
    if sets is None:
        chosen = _all_sets(matrix, number("max_size", max_size))
    else:
        chosen = [_named(result, s) for s in members("sets", sets, "sets of names")]
    rows = [(len(names), ", ".join(names), index_of(matrix, names)) for names in chosen]
    rows.sort(key=lambda row: (-row[2], row[0]))
    notes = [f"without effect on any output: {', '.join(matrix.absent)}"] if matrix.absent else []
    return Table(["size", "parameters", "index"], rows, "collinearity index", notes)


def index_of(matrix: Normalised, names: Iterable[str]) -> float:
    """The collinearity index of a set of parameters."""
    chosen = list(names)
    if set(chosen) & set(matrix.absent):
        return math.inf
    columns = matrix.matrix[:, [matrix.names.index(n) for n in chosen]]
    if columns.shape[0] < columns.shape[1]:
        return math.inf
    smallest = float(np.linalg.svd(columns, compute_uv=False)[-1])
    return math.inf if smallest <= matrix.tolerance() else 1.0 / smallest


def _all_sets(matrix: Normalised, max_size: float) -> list[tuple[str, ...]]:
    if not max_size >= 1:
        raise SensitivityError(f"max_size must be a positive integer, got {max_size}")
    sizes = range(2, int(min(max_size, len(matrix.names))) + 1)
    count = sum(math.comb(len(matrix.names), size) for size in sizes)
    if count > MANY:
        raise SensitivityError(
            f"{len(matrix.names)} parameters make {count} sets of up to {max_size:g}: lower "
            f"max_size, or name the sets"
        )
    return [s for size in sizes for s in itertools.combinations(matrix.names, size)]


def _named(result: Sensitivities, names: Iterable[str]) -> tuple[str, ...]:
    several = (names,) if isinstance(names, str) else members("a set", names, "names")
    chosen = tuple(several)
    for name in chosen:
        if not is_among(name, result.parameters):
            raise ParameterError(unknown_name("parameter", name, result.parameters))
    if len(set(chosen)) != len(chosen) or not chosen:
        raise ParameterError(f"a set must name different parameters, at least one; got {chosen}")
    return chosen
