"""`dualad sens budget`: where the uncertainty of an output comes from."""

from __future__ import annotations

import argparse

import numpy as np

from ..errors import SensitivityError
from ..functions.propagate import propagate
from ..model_file import load
from ..plots.files import write_picture
from ..results.sensitivities import Sensitivities
from ..results.tabular import Table
from ..results.time_sensitivities import TimeSensitivities
from .request import posed, selected, with_units
from .writing import as_text, checked_paths, put, said_warnings, tell

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Run the model, propagate, and print the budget."""
    model = load(args.model)
    picture = checked_paths(args)
    with said_warnings():
        work = posed(model, args, progress=True, order=args.order)
        uncertain = [name for name, p in work.parameters.details() if p.u is not None]
        if args.wrt is None and uncertain:
            args.wrt = uncertain
            work = posed(model, args, progress=True, order=args.order)
        result, where = _at(selected(with_units(work({}), model), args.outputs), args.t)
        found = propagate(result, work.parameters, order=args.order, level=args.level)
    table = found.budget()
    titled = Table(table.columns, table.rows, f"{model.name}: {table.title}{where}", table.notes)
    put(args, as_text(titled, args.format))
    if picture is not None:
        write_picture(found.plot.budget(title=titled.title), picture)
        tell(args, f"picture: {picture}")
    return 0


def _at(result: Sensitivities, t: float | None) -> tuple[Sensitivities, str]:
    """The result at one time, and how a title says which."""
    if not isinstance(result, TimeSensitivities):
        if t is not None:
            raise SensitivityError("--t is for a model with times")
        return result, ""
    if t is None:
        return result.last(), f" at t = {result.t[-1]:g}"
    near = int(np.argmin(np.abs(result.t - t)))
    if abs(result.t[near] - t) > 1e-9 * max(1.0, abs(t)):
        times = ", ".join(f"{time:g}" for time in result.t[:12])
        raise SensitivityError(f"--t: {t:g} is none of the times of the result ({times}, ...)")
    return result.time(near), f" at t = {result.t[near]:g}"
