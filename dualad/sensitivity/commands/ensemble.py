"""`dualad sens ensemble`: the model for many sets of parameters, here or on a cluster."""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np

from ..ensembles import Ensemble, ensemble
from ..ensembles.problem import Problem
from ..ensembles.tables import members_table
from ..errors import ParameterError, unknown_name
from ..functions.sampling import ParameterSets, sample
from ..model_file import ModelFile, load
from ..results.tabular import Table
from .number_file import read_numbers
from .request import posed
from .workers import workers
from .writing import as_text, checked_paths, plain, put, said_warnings, tell

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Run the members that are not done, and print what became of them."""
    model = load(args.model)
    picture = checked_paths(args)
    work = posed(model, args)
    sets = _sets(args, work)
    with said_warnings(), workers(model, work, args) as (sent, executor):
        found = ensemble(sent, sets, executor=executor, resume=args.resume, seed=args.seed)
    _with_units(found, model)
    put(args, _written(args, found))
    if found.failed:
        print(f"dualad: {len(found.failed)} of {len(found)} members failed", file=sys.stderr)
    if picture is not None:
        draw = found.plot.histograms if found.t is None else found.plot.band
        draw(args.outputs, path=picture)
        tell(args, f"picture: {picture}")
    return 0


def _sets(args: argparse.Namespace, work: Problem) -> ParameterSets:
    """The sets of the file, or those that are drawn."""
    if args.sample is not None:
        return sample(work.parameters, args.sample, args.method, args.seed or 0)
    columns = read_numbers(args.sets)
    for name in columns:
        if name not in work.parameters:
            raise ParameterError(
                f"{args.sets}: {unknown_name('parameter', name, work.parameters)}"
            )
    return ParameterSets(columns, np.column_stack(list(columns.values())))


def _with_units(found: Ensemble, model: ModelFile) -> None:
    """The units of the file, where the analysis has not taken them."""
    units, template = model.given.get("units"), found.template
    if template is None:
        return
    if units and not template.units:
        named = dict.fromkeys(found.outputs, units) if isinstance(units, str) else dict(units)
        template.units.update({n: u for n, u in named.items() if n in found.outputs})
    if model.given.get("time_unit") and template.time_unit is None:
        object.__setattr__(template, "time_unit", str(model.given["time_unit"]))


def _written(args: argparse.Namespace, found: Ensemble) -> str:
    for name in args.outputs or ():
        found.output_index(name)
    if args.format == "json":
        table = members_table(found, args.outputs or None)
        return json.dumps({"columns": list(table.columns), "rows": plain(table.rows)}, indent=1)
    if args.format == "csv":
        return as_text(members_table(found, args.outputs or None), "csv")
    table = found.summary()
    rows = [row for row in table if args.outputs is None or row["output"] in args.outputs]
    kept = Table(table.columns, [tuple(r.values()) for r in rows], table.title, table.notes)
    return as_text(kept, args.format)
