"""The command `dualad`: `dualad sens MODEL` prints a model's sensitivities and draws them.

Exit codes: 0 done, 1 the model failed, 2 the command was not usable as it was given. The second
command, `dualad verify`, is in `verify.command`, with exit codes of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from .errors import DualADError, MissingExtraError
from .verify.command import add_parser as add_verify
from .version import __version__

__all__ = ["main"]

DONE, MODEL_FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    top = argparse.ArgumentParser(
        prog="dualad", description="Exact derivatives of models written in plain NumPy."
    )
    top.add_argument("--version", action="version", version=f"dualad {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    sens = commands.add_parser(
        "sens",
        help="sensitivities of a differential equation by its parameters",
        description="Integrate the model of a Python file together with its sensitivities, print "
        "them (beside the figures of the model's reference file, if it names one), and draw them.",
        epilog="The file defines rhs(t, y, p), y0, params and t_span, and may define t_eval, "
        "states, method, rtol, atol, pscale and reference. Exit codes: 0 done, 1 the model "
        "failed, 2 the command was not usable.",
    )
    sens.add_argument("model", metavar="MODEL", help="a Python file, or the name of a module")
    sens.add_argument("--wrt", metavar="NAMES", help="the parameters, with commas; default all")
    sens.add_argument("--rtol", type=positive, help="relative tolerance, for the model's own")
    sens.add_argument("--format", choices=("table", "csv"), default="table", help="default: table")
    picture = sens.add_mutually_exclusive_group()
    picture.add_argument(
        "--plot", metavar="FILE", help="the picture; default with a table: MODEL_sensitivities.png"
    )
    picture.add_argument("--no-plot", action="store_true", help="draw no picture")
    sens.set_defaults(run=sens_command)
    add_verify(commands)
    return top


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit code."""
    args = parser().parse_args(argv)
    try:
        return args.run(args)
    except BrokenPipeError:
        # The reader has seen enough (`| head`): nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        print("dualad: interrupted", file=sys.stderr)
        return INTERRUPTED
    except DualADError as error:
        from .sensitivity.errors import ModelError, SensitivityError

        print(f"dualad: {error}", file=sys.stderr)
        unusable = isinstance(error, (SensitivityError, MissingExtraError))
        return USAGE if unusable and not isinstance(error, ModelError) else MODEL_FAILED


def sens_command(args: argparse.Namespace) -> int:
    """`dualad sens`: all that can be wrong with the request is found before the integration."""
    from .sensitivity import report
    from .sensitivity.model_file import load
    from .sensitivity.ode import ode
    from .sensitivity.plot import check_picture, save_time_courses
    from .sensitivity.reference import ReferenceFile

    model = load(args.model)
    picture = args.plot
    if picture is None and not args.no_plot and args.format == "table":
        picture = f"{model.name}_sensitivities.png"
    if picture is not None:
        picture = check_picture(picture)
    figures = None if model.reference_path is None else ReferenceFile(model.reference_path)

    result = ode(
        model.rhs, model.y0, model.params, model.t_span,
        **{**model.options(), **options(args)}, dense_output=picture is not None, progress=True,
    )  # fmt: skip
    if figures is not None:
        figures.check_names(result.outputs, tuple(model.params))
    references = [] if figures is None else figures.at(result)
    notes = [] if figures is None else figures.notes
    if args.format == "csv":
        sys.stdout.write(report.to_csv(result, references))
    else:
        sys.stdout.write(report.page(result, references, notes, model.name))
    sys.stdout.flush()
    if picture is not None:
        title = f"{model.name}: change of each state for a relative change of a parameter"
        save_time_courses(result, picture, title)
        print(f"picture: {picture}", file=sys.stdout if args.format == "table" else sys.stderr)
    return DONE


def options(args: argparse.Namespace) -> dict[str, Any]:
    """What the command line says in place of the model file."""
    out: dict[str, Any] = {} if args.rtol is None else {"rtol": args.rtol}
    if args.wrt is not None:
        out["wrt"] = [name.strip() for name in args.wrt.split(",")]
    return out


if __name__ == "__main__":
    sys.exit(main())
