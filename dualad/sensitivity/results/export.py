"""A result as a table, a DataFrame, CSV, an xarray Dataset."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.scaling import kind_of, notes_on, scaled, symbol
from ..errors import SensitivityError
from ..extras import extra
from ..given import file_path
from ..parameters.unit_text import named
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
    head_names = [] if times is None else [named("t", getattr(result, "time_unit", None))]
    unit_name = ["unit"] if result.output_units else []
    title = "" if kind == "none" else f"columns of parameters: {symbol(kind)}"
    notes = notes_on(result, kind)
    columns = [*head_names, "output", "value", *unit_name, *marks(result, kind)]
    return Table(columns, body, title, notes)


def marks(result: Sensitivities, kind: str) -> list[str]:
    """What the columns of the parameters are called, with the unit that is divided by.

    The derivative has the unit of the output by that of the parameter; what is scaled by the
    parameter has that of the output alone.
    """
    names = [p if kind != "none" else f"d/d{p}" for p in result.parameters.names]
    if kind not in ("none", "y"):
        return names
    units = [p.unit for _, p in result.parameters.details()]
    return [n if not u else f"{n} (per {u})" for n, u in zip(names, units, strict=True)]


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
    head = len(table.columns) - len(result.parameters)
    first = ["t" if result.row_labels() is not None and i == 0 else c
             for i, c in enumerate(table.columns[:head])]  # fmt: skip
    return frame(table.rows, columns=[*first, *result.parameters.names])


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
            file_path("path", path).write_text(text, encoding="utf-8")
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
    units = [result.output_units.get(name, "") for name in result.outputs]
    of = [p.unit or "" for _, p in result.parameters.details()]
    out = out.assign_coords(output_unit=("output", units), parameter_unit=("parameter", of))
    time_unit = getattr(result, "time_unit", None)
    if times is not None and time_unit:
        out["time"].attrs["units"] = time_unit
    return out
