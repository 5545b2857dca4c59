"""The grammar of `dualad sens`, `sens ensemble`, `sens budget` and `sens fit`.

Nothing of the analyses is imported here, so that `dualad --help` is quick.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

__all__ = ["MORE_WORDS", "add_parsers"]

#: The second words of `dualad sens`.
MORE_WORDS = ("ensemble", "budget", "fit")
MODEL = (
    "A model file defines params and rhs(t, y, p) with y0 and t_span, or model(p), or "
    "residual(x, p) with x0, or problem = dualad.sensitivity.problem(...); it may define t_eval, "
    "states, outputs, integrals, events, method, rtol, atol, pscale, units, time_unit, data and "
    "reference. "
)
CODES = "Exit codes: 0 done, 1 the model failed, 2 the command was not usable"


def add_parsers(commands: Any) -> None:
    """Add the four commands."""
    sens = _command(
        commands, "sens", "sensitivities of a model by its parameters",
        "Run the model of a Python file together with its sensitivities, print them (beside the "
        "figures of the model's reference file, if it names one), and draw them. `dualad sens "
        "ensemble`, `budget` and `fit` have a --help of their own.",
        f"{MODEL}{CODES}, 3 --check found a derivative that differs.",
    )  # fmt: skip
    sens.add_argument(
        "--scaled", action="store_true", help="elasticities, p/y dy/dp, in the table"
    )
    sens.add_argument(
        "--check",
        action="store_true",
        help="compare each derivative with differences of the model",
    )
    _pictures(sens, "default with a table: MODEL_sensitivities.png")
    _ensemble(commands)
    _budget(commands)
    _fit(commands)


def _ensemble(commands: Any) -> None:
    p = _command(
        commands, "sens ensemble", "the same for many sets of parameters, on many processes",
        "Run the model for each set of parameters and print mean, spread and quantiles of its "
        "outputs; as csv or json, every member with its derivatives.",
        f"{MODEL}{CODES} (1 also where every member failed; members that fail are counted).",
    )  # fmt: skip
    sets = p.add_mutually_exclusive_group(required=True)
    sets.add_argument("--sets", metavar="FILE.csv", help="one column a parameter, one row a set")
    sets.add_argument(
        "--sample", type=_count, metavar="N", help="draw N sets from bounds and uncertainties"
    )
    p.add_argument(
        "--method", choices=("lhs", "sobol", "normal"), default="lhs", help="of --sample; lhs"
    )
    p.add_argument("--seed", type=int, help="of --sample (default 0) and of models that draw")
    where = p.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=_count, default=1, metavar="N", help="processes; default 1")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a dask cluster")
    p.add_argument(
        "--resume", metavar="FILE", help="members are kept in this file, and not run again"
    )
    _pictures(p, "the median and range over time, or histograms")


def _budget(commands: Any) -> None:
    p = _command(
        commands, "sens budget", "the uncertainty budget of the outputs",
        "Propagate the uncertainties u of the parameters, with their correlations and degrees of "
        "freedom, and print what each contributes.",
        f"{MODEL}Uncertainties are those of the file, or of --params. {CODES}.",
    )  # fmt: skip
    p.add_argument("--order", type=int, choices=(1, 2), default=1, help="2 adds the curvature")
    _level(p)
    p.add_argument("--t", type=float, metavar="T", help="of a time course: at this time; the last")
    _pictures(p, "the shares of the variance as bars")


def _fit(commands: Any) -> None:
    p = _command(
        commands, "sens fit", "fit the parameters to data",
        "Fit the parameters by least squares and print them with standard errors. The data are a "
        "CSV file: for a differential equation a column t (or time) and one for each observed "
        "output; for model(p, x) first the column x. An empty cell was not observed; a column "
        "u_NAME holds the standard deviations of NAME.",
        f"{MODEL}A model that returns an array is fitted to one column. {CODES}.",
    )  # fmt: skip
    p.add_argument("--data", metavar="FILE.csv", help="default: data of the model file")
    p.add_argument("--x", type=_names, metavar="NAMES", help="the columns that the model is given")
    p.add_argument(
        "--bounds",
        choices=("parameters", "none"),
        default="parameters",
        help="default: parameters",
    )
    p.add_argument("--loss", default="linear", help="linear, or soft_l1, huber, cauchy, arctan")
    p.add_argument("--starts", type=_count, metavar="N", help="try N starts, take the best")
    p.add_argument("--profile", action="store_true", help="profile intervals as well")
    p.add_argument(
        "--save", metavar="FILE.toml", help="the estimates with u and correlations, for --params"
    )
    _level(p)
    _pictures(p, "data, estimate and band")


def _command(
    commands: Any, words: str, short: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """A command with the options that all four have."""
    p = commands.add_parser(words, help=short, description=description, epilog=epilog)
    p.add_argument("model", metavar="MODEL[:NAME]", help="a Python file, or the name of a module")
    p.add_argument(
        "--params", metavar="FILE", help="a TOML or CSV file of parameters, for those of the model"
    )
    p.add_argument(
        "--set", action="append", default=[], type=_assignment, metavar="NAME=VALUE",
        help="another value of a parameter",
    )  # fmt: skip
    p.add_argument(
        "--wrt", type=_names, metavar="NAMES", help="the parameters, with commas; default all"
    )
    p.add_argument(
        "--outputs", type=_names, metavar="NAMES", help="the outputs, with commas; default all"
    )
    p.add_argument("--t0", type=_number, metavar="T", help="the first time")
    p.add_argument("--t1", type=_number, metavar="T", help="the last time")
    p.add_argument("--n", type=_count, metavar="N", help="so many times, at equal distances")
    p.add_argument("--rtol", type=_tolerance, help="relative tolerance, for the model's own")
    p.add_argument("--atol", type=_positive, help="absolute tolerance, for the model's own")
    p.add_argument(
        "--format", choices=("table", "csv", "json", "md"), default="table", help="default: table"
    )
    p.add_argument("--out", metavar="FILE", help="the file for what would be printed")
    p.set_defaults(run=_run, words=words)
    return p


def _pictures(p: argparse.ArgumentParser, what: str) -> None:
    picture = p.add_mutually_exclusive_group()
    picture.add_argument("--plot", metavar="FILE", help=f"the picture; {what}")
    if p.prog.endswith("sens"):
        picture.add_argument("--no-plot", action="store_true", help="draw no picture")


def _level(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--level", type=_tolerance, default=0.95, help="coverage probability; default 0.95"
    )


def _run(args: argparse.Namespace) -> int:
    """The command that was named; its code is imported now."""
    import importlib

    name = args.words.split()[-1]
    return int(importlib.import_module(f"dualad.sensitivity.commands.{name}").run(args))


# --- what an option may be


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a number") from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text} is not finite")
    return value


def _positive(text: str) -> float:
    value = _number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def _tolerance(text: str) -> float:
    value = _number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number") from None
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _assignment(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not name.strip() or not equals or not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text} is not of the form NAME=NUMBER")
    return name.strip(), number
