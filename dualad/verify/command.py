"""`dualad verify`: proofs on the command line.

Exit codes: 0 all proved, 1 something is refuted, 2 the command was not usable, 3 undecided.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..errors import ArgumentError, DualADError

__all__ = ["add_parser", "verify_command"]

PROVED, REFUTED, USAGE, UNDECIDED = 0, 1, 2, 3


def add_parser(commands: Any) -> None:
    """Add the grammar of `verify` to the commands."""
    verify = commands.add_parser(
        "verify",
        help="prove derivative formulas on symbols, or refute them",
        description="Prove the rule of a custom function, or a claimed derivative, on symbols; or "
        "prove the rules of this library.",
        epilog="NAME is a custom_jvp function, a Function class or a pair (f, jac). Exit codes: "
        "0 all proved (with --builtin: none refuted), 1 refuted, 2 the command was not usable, 3 "
        "undecided.",
    )
    what = verify.add_mutually_exclusive_group(required=True)
    what.add_argument("target", nargs="?", metavar="MODULE:NAME", help="what to prove")
    what.add_argument(
        "--builtin", nargs="*", metavar="RULE", help="rules of this library; none named: all"
    )
    verify.add_argument(
        "--shape", action="append", default=[], type=shape, metavar="NAME=SHAPE",
        help="the shape of an argument, such as v=3 or a=2,2; arguments are numbers otherwise",
    )  # fmt: skip
    verify.add_argument(
        "--assume", action="append", default=[], metavar="STATEMENT",
        help="what holds of the arguments, such as 'x > 0' or 'n integer'",
    )  # fmt: skip
    verify.add_argument("--wrt", action="append", metavar="NAME", help="arguments of the claim")
    verify.add_argument("--limit", type=float, default=10.0, help="seconds for an entry; 10")
    verify.add_argument("--seed", type=int, default=0, help="of the points that are tried; 0")
    verify.add_argument("--format", choices=("table", "json", "md"), default="table")
    verify.set_defaults(run=verify_command)


def shape(text: str) -> tuple[str, tuple[int, ...]]:
    """NAME=2,3 as a name and a shape."""
    name, equals, sizes = text.partition("=")
    try:
        return name, tuple(int(n) for n in sizes.split(",") if n or not equals)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not of the form NAME=2,3") from None


def verify_command(args: argparse.Namespace) -> int:
    """Run it; gives the exit code."""
    from ..symbolic import NotSymbolicError

    try:
        return _builtin(args) if args.builtin is not None else _target(args)
    except NotSymbolicError as error:
        print(f"dualad: undecided: {error}", file=sys.stderr)
        return UNDECIDED
    except DualADError as error:
        print(f"dualad: {error}", file=sys.stderr)
        return USAGE


def _builtin(args: argparse.Namespace) -> int:
    from .builtin import prove_all
    from .page import page

    if args.format == "json":
        raise ArgumentError("--builtin prints a table or md, not json")
    rules = prove_all(args.builtin or None, limit=args.limit, seed=args.seed)
    sys.stdout.write(page(rules) if args.format == "md" else rules.table() + "\n")
    return PROVED if rules else REFUTED


def _target(args: argparse.Namespace) -> int:
    from .proving import prove
    from .target import load_target

    proof = prove(
        load_target(args.target), shapes=dict(args.shape), assume=args.assume, wrt=args.wrt,
        limit=args.limit, seed=args.seed,
    )  # fmt: skip
    show = {"table": proof.table, "json": proof.to_json, "md": proof.markdown}[args.format]
    print(show())
    return {"proved": PROVED, "refuted": REFUTED, "undecided": UNDECIDED}[proof.verdict]
