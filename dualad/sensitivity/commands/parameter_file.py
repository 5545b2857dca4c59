"""Parameters in a file: TOML, with correlations, or CSV.

k1 = 0.04                         name,value,u,unit
k2 = {value = 1e4, u = 100.0}     k1,0.04,,
correlation = [["k1", "k2", 0.5]]
"""

from __future__ import annotations

import csv
import json
import math
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ..errors import ParameterError, SensitivityError, unknown_name
from ..parameters.parameter import Parameter
from ..parameters.parameters import Parameters

__all__ = ["read_parameters", "written"]

FIELDS = tuple(f.name for f in fields(Parameter))
TEXTS = ("unit", "scale", "label")


def read_parameters(path: str, known: Parameters | None) -> Parameters:
    """The parameters of a file, in the place of those that are known, if there are any.

    Raises:
        SensitivityError: the file cannot be read, or names a parameter that is not known.
    """
    read = _from_csv if Path(path).suffix.lower() == ".csv" else _from_toml
    try:
        rows, pairs = read(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SensitivityError(f"the parameters {path} cannot be read: {error}") from error
    changed = {} if known is None else dict(known.details())
    for name, row in rows.items():
        if known is not None and name not in changed:
            raise ParameterError(f"{path}: {unknown_name('parameter', name, changed)}")
        changed[name] = _parameter(path, name, row, changed.get(name))
    out = Parameters(changed)
    if known is not None:
        for i, a in enumerate(known.names):
            for j, b in enumerate(known.names[:i]):
                if known.correlation[i, j]:
                    out.set_correlation(a, b, float(known.correlation[i, j]))
    for a, b, r in pairs:
        for name in (a, b):
            if name not in out:
                raise ParameterError(f"{path}: {unknown_name('parameter', name, out)}")
        out.set_correlation(a, b, r)
    return out


def _parameter(path: str, name: str, row: dict[str, Any], old: Parameter | None) -> Parameter:
    for key in row:
        if key not in FIELDS:
            raise ParameterError(f"{path}, {name}: {unknown_name('entry', key, FIELDS)}")
    if old is not None:
        return replace(old, **row)
    if "value" not in row:
        raise ParameterError(f"{path}: parameter {name!r} has no value")
    return Parameter(**row)


def _from_toml(text: str) -> tuple[dict[str, dict[str, Any]], list[Any]]:
    table = tomllib.loads(text)
    pairs = table.pop("correlation") if isinstance(table.get("correlation"), list) else []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 3:
            raise ValueError(f'a correlation is ["a", "b", number], got {pair!r}')
    return {n: v if isinstance(v, dict) else {"value": v} for n, v in table.items()}, pairs


def _from_csv(text: str) -> tuple[dict[str, dict[str, Any]], list[Any]]:
    reader = csv.DictReader(text.splitlines(), skipinitialspace=True)
    if not reader.fieldnames or "name" not in reader.fieldnames:
        raise ValueError(f"its columns must be name and some of {', '.join(FIELDS)}")
    out: dict[str, dict[str, Any]] = {}
    for row in reader:
        name = (row.pop("name") or "").strip()
        if name in out:
            raise ValueError(f"the parameter {name!r} comes twice")
        if None in row:
            raise ValueError(f"the row of {name!r} has too many cells")
        out[name] = {key: _cell(name, key, cell) for key, cell in row.items() if cell}
    return out, []


def _cell(name: str, key: str, cell: str) -> Any:
    if key in TEXTS or key not in FIELDS:
        return cell
    if key == "fixed":
        if cell.lower() not in ("true", "false"):
            raise ValueError(f"fixed of {name!r} must be true or false, got {cell!r}")
        return cell.lower() == "true"
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"{key} of {name!r} is no number: {cell!r}") from None


def written(parameters: Parameters) -> str:
    """Parameters as TOML, with all digits."""
    lines = []
    for name, p in parameters.details():
        said = [(f.name, getattr(p, f.name), f.default) for f in fields(p)]
        cells = [f"{key} = {_toml(value)}" for key, value, usual in said if value != usual]
        lines.append(f"{_toml(name)} = {{{', '.join(cells)}}}")
    names, r = parameters.names, parameters.correlation
    pairs = [
        f"    [{_toml(names[i])}, {_toml(names[j])}, {_toml(float(r[i, j]))}],"
        for j in range(len(names))
        for i in range(j)
        if r[i, j] and math.isfinite(r[i, j])
    ]
    return "\n".join([*lines, *(["correlation = [", *pairs, "]"] if pairs else []), ""])


def _toml(value: Any) -> str:
    """A string, a number or a truth value; what JSON writes of these is TOML, too."""
    if isinstance(value, float):
        return repr(float(value))
    return json.dumps(value, ensure_ascii=False)
