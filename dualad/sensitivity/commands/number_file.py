"""A CSV file of numbers under named columns."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

from ..errors import SensitivityError

__all__ = ["read_numbers"]


def read_numbers(path: str | Path, *, gaps: bool = False) -> dict[str, np.ndarray]:
    """The columns of a CSV file; lines that begin with # are notes.

    Args:
        path: of the file.
        gaps: whether a cell may be empty: it is NaN then.

    Raises:
        SensitivityError: the file cannot be read, has no rows, or a cell is no number; the error
            names the line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SensitivityError(f"{path} cannot be read: {error}") from error
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]
    if not lines:
        raise SensitivityError(f"{path} is empty")
    rows = list(csv.reader((line for _, line in lines), skipinitialspace=True))
    names = [name.strip() for name in rows[0]]
    for name in names:
        if not name or names.count(name) > 1:
            raise SensitivityError(f"{path}: the columns need names, each once; got {names}")
    if len(rows) < 2:
        raise SensitivityError(f"{path} has no rows below {', '.join(names)}")
    out = np.empty((len(rows) - 1, len(names)))
    for i, ((number, _), row) in enumerate(zip(lines[1:], rows[1:], strict=True)):
        if len(row) != len(names):
            raise SensitivityError(
                f"{path}, line {number}: {len(row)} cells under {len(names)} columns"
            )
        where = f"{path}, line {number}"
        out[i] = [_number(where, n, c, gaps) for n, c in zip(names, row, strict=True)]
    return dict(zip(names, out.T.copy(), strict=True))


def _number(where: str, name: str, cell: str, gaps: bool) -> float:
    if gaps and not cell.strip():
        return math.nan
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SensitivityError(f"{where}: {name} is {cell!r}, which is no finite number")
    return value
