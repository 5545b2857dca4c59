"""A matrix whose rows and columns have names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError, unknown_name
from ..extras import extra

__all__ = ["NamedMatrix"]


class NamedMatrix:
    """Numbers by row and column; NumPy takes it for the array `values`.

    >>> m = NamedMatrix([[1.0, 2.0]], ["J0"], ["S1", "S2"])
    >>> m["J0", "S2"], np.asarray(m).shape
    (2.0, (1, 2))
    """

    def __init__(self, values: Any, rows: Sequence[str], columns: Sequence[str]):
        self.values = np.asarray(values, float)
        self.rows, self.columns = tuple(rows), tuple(columns)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __getitem__(self, names: tuple[str, str]) -> float:
        row, column = names
        for what, name, known in (("row", row, self.rows), ("column", column, self.columns)):
            if name not in known:
                raise ParameterError(unknown_name(what, name, known))
        return float(self.values[self.rows.index(row), self.columns.index(column)])

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape

    def __repr__(self) -> str:
        return f"<NamedMatrix {' × '.join(map(str, self.shape))}>\n{self}"

    def __str__(self) -> str:
        head = max((len(n) for n in self.rows), default=0)
        width = max(13, *(len(n) + 2 for n in self.columns))
        lines = [" " * head + "".join(f"{n:>{width}}" for n in self.columns)]
        for name, row in zip(self.rows, self.values, strict=True):
            lines.append(f"{name:<{head}}" + "".join(f"{v:>{width}.6g}" for v in row))
        return "\n".join(lines)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with the same names."""
        return extra("pandas").DataFrame(self.values, self.rows, self.columns)
