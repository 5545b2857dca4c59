"""`dualad sens`: values and derivatives of a model, as a table or a file, with a picture."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..model_file import ModelFile, load
from ..plot import save_time_courses
from ..plots.files import write_picture
from ..reference import Reference, ReferenceFile
from ..results import report
from ..results.checking import Check
from ..results.export import result_table
from ..results.sensitivities import Sensitivities
from ..results.tabular import Table
from ..results.time_sensitivities import TimeSensitivities
from .request import posed, selected, with_units
from .writing import checked_paths, put, said_warnings, tell

__all__ = ["run"]

DONE, CHECK_FAILED = 0, 3
#: More outputs than this are not told apart as bars.
MANY = 6


def run(args: argparse.Namespace) -> int:
    """All that can be wrong with the request is found before the model is run."""
    model = load(args.model)
    picture = checked_paths(args, f"{model.name}_sensitivities.png")
    figures = None if model.reference_path is None else ReferenceFile(model.reference_path)
    with said_warnings():
        work = posed(model, args, progress=True, dense_output=picture is not None)
        result = selected(with_units(work({}), model), args.outputs)
    references, notes = _references(figures, result, tuple(work.parameters), args.outputs)
    put(args, _written(args, model, result, references, notes))
    if picture is not None:
        _draw(result, picture, model.name)
        tell(args, f"picture: {picture}")
    return _checked(args, result) if args.check else DONE


def _references(
    figures: ReferenceFile | None,
    result: Sensitivities,
    parameters: tuple[str, ...],
    chosen: list[str] | None,
) -> tuple[list[Reference], list[str]]:
    """The figures of others for these outputs, and what is to be said of them."""
    if figures is None or not isinstance(result, TimeSensitivities):
        return [], []
    if chosen is None:
        figures.check_names(result.outputs, parameters)
    figures.rows = [row for row in figures.rows if row["output"] in result.outputs]
    return figures.at(result), figures.notes


def _written(
    args: argparse.Namespace,
    model: ModelFile,
    result: Sensitivities,
    references: list[Reference],
    notes: list[str],
) -> str:
    if args.format == "csv":
        return result.to_csv()
    if args.format == "json":
        return result.to_json()
    if args.format == "md":
        return "\n\n".join(_parts(result, args.scaled, "markdown"))
    if isinstance(result, TimeSensitivities) and not args.scaled and "steps" in result.stats:
        return report.page(result, references, notes, model.name, _more(result, False, "text"))
    values = ", ".join(f"{n} = {v:g}" for n, v in result.parameters.items())
    head = f"{model.name}: {', '.join(result.outputs)} and their derivatives by {values}"
    counts = [report.counts(result)] if isinstance(result, TimeSensitivities) else []
    return "\n\n".join([head, *_parts(result, args.scaled, "text"), *counts])


def _parts(result: Sensitivities, scaled: bool, fmt: str) -> list[str]:
    """The tables of a result: its own, those of its events, that of its integrals."""
    return [result_table(result, scaled).render(fmt), *_more(result, scaled, fmt)]


def _more(result: Sensitivities, scaled: bool, fmt: str) -> list[str]:
    if not isinstance(result, TimeSensitivities):
        return []
    out = []
    for name, times in result.events.items():
        out.append(_titled(times, f"times of the event {name}", scaled, fmt))
    if result.integrals is not None:
        out.append(_titled(result.integrals, "integrals", scaled, fmt))
    return out


def _titled(result: Sensitivities, title: str, scaled: bool, fmt: str) -> str:
    table = result_table(result, scaled)
    note = [] if len(table) else ["none"]
    both = f"{title}; {table.title}" if table.title else title
    return Table(table.columns, table.rows, both, note).render(fmt)


def _draw(result: Sensitivities, picture: Path, name: str) -> None:
    if isinstance(result, TimeSensitivities):
        title = f"{name}: change of each output for a relative change of a parameter"
        save_time_courses(result, picture, title)
    else:
        plot = result.plot.heatmap if len(result.outputs) > MANY else result.plot.bar
        write_picture(plot(title=f"{name}: elasticities of the outputs"), picture)


def _checked(args: argparse.Namespace, result: Sensitivities) -> int:
    """Compare with an independent method; rows that differ or have no derivative are shown."""
    found = result.check(progress=True)
    assert isinstance(found, Check)
    bad = found.failed() + found.kinks()
    tell(args, f"check: {found.title}")
    if bad:
        rows = [tuple(row.values()) for row in bad]
        tell(args, str(Table(found.columns, rows)))
    return DONE if found.ok else CHECK_FAILED
