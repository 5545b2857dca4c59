"""A result as a table, a DataFrame, CSV, an xarray Dataset."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.scaling import kind_of, scaled, symbol
from ..errors import SensitivityError
from ..extras import extra
from .tabular import Table

if TYPE_CHECKING:
    from .sensitivities import Sensitivities

__all__ = ["TIDY", "result_table", "tidy_rows", "to_csv", "to_dataframe", "to_xarray", "write"]

#: The columns of the tidy table; t is there where there are times.
TIDY = ("t", "output", "parameter", "value", "sensitivity", "elasticity", "u_contribution", "unit")


def result_table(result: Sensitivities, kind: bool | str = False) -> Table:
    """One row an output (at each time), one column a parameter."""
    kind = kind_of(kind)
    times = result.row_labels()
    rows = scaled(result, kind).reshape(result.flat()[1].shape)
    values = result.flat()[0]
    body = []
    for r, i in np.ndindex(values.shape):
        head = () if times is None else (float(times[r]),)
        name = result.outputs[i]
        unit = (result.output_units.get(name, ""),) if result.output_units else ()
        body.append((*head, name, float(values[r, i]), *unit, *map(float, rows[r, i])))
    head_names = [] if times is None else ["t"]
    unit_name = ["unit"] if result.output_units else []
    title = "" if kind == "none" else f"columns of parameters: {symbol(kind)}"
    marks = [p if kind != "none" else f"d/d{p}" for p in result.parameters.names]
    return Table([*head_names, "output", "value", *unit_name, *marks], body, title)


def tidy_rows(result: Sensitivities) -> Iterator[tuple[Any, ...]]:
    """One row a time, output and parameter, with the cells that `TIDY` names.

    The unit is that of the output, of its value and of u_contribution. Where an uncertainty is not
    known, its contribution is NaN.
    """
    times = result.row_labels()
    values, jacobian = result.flat()
    relative = scaled(result, "elasticity").reshape(jacobian.shape)
    for r, i in np.ndindex(values.shape):
        output = result.outputs[i]
        unit = result.output_units.get(output, "")
        head = () if times is None else (float(times[r]),)
        for j, (name, p) in enumerate(result.parameters.details()):
            slope = float(jacobian[r, i, j])
            u = np.nan if p.u is None else abs(slope) * p.u
            share = float(relative[r, i, j])
            yield (*head, output, name, float(values[r, i]), slope, share, float(u), unit)


def tidy_columns(result: Sensitivities) -> tuple[str, ...]:
    """The columns of the tidy table of a result."""
    return TIDY[1:] if result.row_labels() is None else TIDY


def to_dataframe(result: Sensitivities, tidy: bool) -> Any:
    """See `Sensitivities.to_dataframe`."""
    frame = extra("pandas").DataFrame
    if tidy:
        return frame(list(tidy_rows(result)), columns=list(tidy_columns(result)))
    table = result_table(result)
    names = [c.removeprefix("d/d") for c in table.columns]
    return frame(table.rows, columns=names)


def to_csv(result: Sensitivities, path: str | Path | None) -> str:
    """See `Sensitivities.to_csv`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(tidy_columns(result))
    writer.writerows(tidy_rows(result))
    return write(out.getvalue(), path)


def write(text: str, path: str | Path | None) -> str:
    """The text, written to a file if there is a path."""
    if path is not None:
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise SensitivityError(f"{path} cannot be written: {error}") from error
    return text


def to_xarray(result: Sensitivities) -> Any:
    """See `Sensitivities.to_xarray`."""
    from ...extras import required

    xarray = required("xarray", "to_xarray", "pip install dualad[xarray]")
    times = result.row_labels()
    values, jacobian = result.flat()
    front = ["output"]
    coords: dict[str, Any] = {"output": list(result.outputs)}
    if times is None:
        values, jacobian = values[0], jacobian[0]
    else:
        front, coords = ["time", "output"], {"time": times, **coords}
    names = list(result.parameters.names)
    coords["parameter"] = names
    data = {"value": (front, values), "sensitivity": ([*front, "parameter"], jacobian)}
    if result.hessian is not None:
        coords["parameter2"] = names
        second = result.hessian.reshape(*jacobian.shape, len(names))
        data["hessian"] = ([*front, "parameter", "parameter2"], second)
    out = xarray.Dataset(data, coords)
    out["parameter_value"] = ("parameter", result.parameters.vector())
    out.attrs["units"] = str(result.output_units) if result.output_units else ""
    return out
