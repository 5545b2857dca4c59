"""What a model is fitted to: the columns of a file or of the model file, told apart."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SensitivityError, unknown_name
from ..model_file import ModelFile
from .number_file import read_numbers

__all__ = ["Data", "data_of"]

TIME_NAMES = ("t", "time")


@dataclass(frozen=True)
class Data:
    """Columns of equal length.

    Attributes:
        x: what the model is given: the times of a differential equation, or the x of model(p, x).
        seen: the observations by output, NaN where there was none.
        sigma: their standard deviations by output, where they are known.
        name: where they come from.
        columns: the names of all columns there.
    """

    x: dict[str, np.ndarray]
    seen: dict[str, np.ndarray]
    sigma: dict[str, np.ndarray] | None
    name: str
    columns: tuple[str, ...] = ()


def data_of(model: ModelFile, args: argparse.Namespace, given: str) -> Data:
    """The data of --data, or those that the model file has.

    Args:
        model: what the file defines.
        args: the options.
        given: "t" for a model over time, "x" for model(p, x) or another name of that argument,
            "" for model(p).
    """
    columns, name = _columns(model, args)
    x = _chosen(columns, args.x if given else [], given, name)
    deviations = {n: c for n, c in columns.items() if n[:2] == "u_" and n[2:] in columns}
    rest = [n for n in columns if n not in x and n not in deviations]
    for output in args.outputs or ():
        if output not in rest:
            raise SensitivityError(f"{name}: {unknown_name('column', output, rest)}")
    seen = {n: columns[n] for n in args.outputs or rest}
    if not seen:
        raise SensitivityError(f"{name} has no column of observations, only {', '.join(columns)}")
    for n, column in x.items():
        if np.isnan(column).any():
            raise SensitivityError(f"{name}: {n} has an empty cell")
    known = {n: deviations[f"u_{n}"] for n in seen if f"u_{n}" in deviations}
    if known and len(known) < len(seen):
        lacking = ", ".join(f"u_{n}" for n in seen if n not in known)
        raise SensitivityError(f"{name} has standard deviations of some outputs: add {lacking}")
    return Data(x, seen, known or None, name, tuple(columns))


def _columns(model: ModelFile, args: argparse.Namespace) -> tuple[dict[str, np.ndarray], str]:
    """All columns, and where they come from."""
    source, name = args.data, str(args.data)
    if source is None:
        source, name = model.given.get("data"), f"data of {model.name}"
        if source is None:
            raise SensitivityError(f"there is no --data, and {model.name} defines no data")
        if isinstance(source, str):
            source = model.folder / source
    if not isinstance(source, Mapping):
        return read_numbers(source, gaps=True), name
    columns = {str(n): np.asarray(c, float) for n, c in source.items()}
    if len({c.shape for c in columns.values()}) != 1 or any(c.ndim != 1 for c in columns.values()):
        shapes = ", ".join(f"{n}: {c.shape}" for n, c in columns.items())
        raise SensitivityError(f"{name} must be columns of one length, got {shapes}")
    return columns, name


def _chosen(
    columns: Mapping[str, Any], names: list[str] | None, given: str, where: str
) -> dict[str, np.ndarray]:
    """The columns that the model is given: those of --x, or t, or the first."""
    if names is None:
        usual = TIME_NAMES if given == "t" else (given,)
        names = [next((n for n in usual if n in columns), next(iter(columns)))]
        if given == "t" and names[0] not in TIME_NAMES:
            raise SensitivityError(f"{where} has no column t: name the one with the times, --x")
    for n in names:
        if n not in columns:
            raise SensitivityError(f"{where}: {unknown_name('column', n, columns)}")
    return {n: columns[n] for n in names}
