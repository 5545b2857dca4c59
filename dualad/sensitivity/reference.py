"""Figures that others have printed for the same problem: read from a CSV file, compared with."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .errors import SensitivityError, unknown_name
from .results.time_sensitivities import TimeSensitivities

__all__ = ["Difference", "Reference", "ReferenceFile"]


@dataclass(frozen=True)
class Difference:
    """A relative difference from a reference, and where it is."""

    value: float
    output: str
    parameter: str

    def __str__(self) -> str:
        where = f"d{self.output}/d{self.parameter}" if self.parameter else self.output
        return f"{self.value:.1e} ({where})"


@dataclass(frozen=True)
class Reference:
    """The figures of one source, at the times of a result.

    figures: (time index, output, parameter) -> the figure as it was printed; the parameter is
    empty for the output itself.
    """

    name: str
    figures: dict[tuple[int, str, str], str]

    def text(self, k: int, output: str, parameter: str) -> str:
        """The figure as it was printed, or nothing."""
        return self.figures.get((k, output, parameter), "")

    def worst(self, result: TimeSensitivities, k: int) -> Difference | None:
        """The largest relative difference at time k; None where there is nothing to compare."""
        found = []
        for (i, output, parameter), text in self.figures.items():
            if i == k and (not parameter or parameter in result.parameters):
                value = result.column(output, parameter)[k]
                found.append(Difference(_relative(value, float(text)), output, parameter))
        return max(found, key=lambda d: d.value, default=None)


def _relative(value: float, reference: float) -> float:
    """|value - reference| / |reference|, and 0 where both are 0."""
    if value == reference:
        return 0.0
    with np.errstate(divide="ignore"):
        return float(abs(np.float64(value) - reference) / abs(np.float64(reference)))


class ReferenceFile:
    """A CSV file of references.

    The columns are t, output, parameter (empty for the output itself), then one a source. Lines
    that begin with # are notes, which say where the figures come from.

    Raises:
        SensitivityError: the file cannot be read, or has other columns or entries.
    """

    def __init__(self, path: str | Path):
        self.path = path
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SensitivityError(f"the reference {path} cannot be read: {error}") from error
        self.notes = [line.lstrip("#").strip() for line in lines if line.startswith("#")]
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        self.columns = list(rows.fieldnames or ())
        if self.columns[:3] != ["t", "output", "parameter"] or len(self.columns) < 4:
            raise SensitivityError(
                f"the reference {path} must have the columns t, output, parameter and one a "
                f"source; it has {', '.join(self.columns) or 'none'}"
            )
        self.rows = list(rows)
        for row in self.rows:
            self._check_numbers(row)

    def _check_numbers(self, row: dict[str, str]) -> None:
        for name in ("t", *self.columns[3:]):
            try:
                float(row[name] or "nan")
            except (TypeError, ValueError):
                raise SensitivityError(
                    f"the reference {self.path} holds {row[name]!r} in the column {name}, "
                    f"which is no number"
                ) from None

    def check_names(self, outputs: tuple[str, ...], parameters: tuple[str, ...]) -> None:
        """Every output and parameter that the file names must be one of the model's."""
        for row in self.rows:
            for what, known in (("output", outputs), ("parameter", ("", *parameters))):
                if row[what] not in known:
                    sentence = unknown_name(what, row[what], filter(None, known))
                    raise SensitivityError(f"in the reference {self.path}: {sentence}")

    def at(self, result: TimeSensitivities) -> list[Reference]:
        """One Reference a source, at those times of the result that the file has."""
        found: dict[str, dict[tuple[int, str, str], str]] = {n: {} for n in self.columns[3:]}
        for row in self.rows:
            same = np.isclose(result.t, float(row["t"]), rtol=1e-9, atol=0.0)
            for k in np.flatnonzero(same).tolist():
                for name, figures in found.items():
                    if row[name]:
                        figures[k, row["output"], row["parameter"]] = row[name]
        return [Reference(name, figures) for name, figures in found.items()]
