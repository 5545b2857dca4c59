"""`dualad sens fit`: the parameters that fit a model file to data."""

from __future__ import annotations

import argparse
import json

from ..errors import SensitivityError
from ..fitting.fit import fit
from ..fitting.fit_result import FitResult
from ..model_file import load
from ..results.export import write
from ..results.tabular import Table
from .data import data_of
from .fit_picture import draw
from .fitted_model import question
from .parameter_file import written
from .request import posed
from .writing import as_text, checked_paths, plain, put, said_warnings, tell

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Fit, and print the estimates."""
    model = load(args.model, {2: "model"})
    picture = checked_paths(args)
    asked = question(posed(model, args), lambda given: data_of(model, args, given), args.x)
    if picture is not None and asked.finer is None:
        raise SensitivityError("a picture of a fit is drawn over t or one x: this model has none")
    with said_warnings():
        found = fit(
            asked.model, asked.problem.parameters, asked.seen, x=asked.x, sigma=asked.sigma,
            wrt=args.wrt, loss=args.loss, missing="drop",
            bounds="from parameters" if args.bounds == "parameters" else None,
            start="values" if args.starts is None else args.starts, progress=True,
        )  # fmt: skip
        put(args, _shown(args, found))
        if args.save is not None:
            write(written(found.params), args.save)
            tell(args, f"parameters: {args.save}")
        if picture is not None:
            draw(found, picture, asked, model, args.level)
            tell(args, f"picture: {picture}")
    return 0


def _shown(args: argparse.Namespace, found: FitResult) -> str:
    if args.format == "csv":
        return as_text(found.table(args.level), "csv")
    if args.format == "json":
        record = {
            "parameters": list(found.table(args.level)), "rss": found.rss, "dof": found.dof,
            "residual_sd": found.residual_sd, "aic": found.aic, "bic": found.bic,
            "covariance": found.covariance, "warnings": found.warnings,
        }  # fmt: skip
        return json.dumps(plain(record), indent=1)
    form = "markdown" if args.format == "md" else "text"
    parts = [found.report(args.level, form).rstrip("\n")]
    if args.profile:
        ends = found.confidence_intervals(args.level, method="profile").values
        rows = [(n, *map(float, row)) for n, row in zip(found.names, ends, strict=True)]
        title = f"profile intervals, {100 * args.level:.4g} %"
        parts.append(Table(["parameter", "from", "to"], rows, title).render(form))
    return "\n\n".join(parts)
