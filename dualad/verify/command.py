"""`dualad verify`: proofs and numerical checks on the command line.

Exit codes: 0 all verified, 1 something is refuted, 2 the command was not usable, 3 undecided. What
a file expects to be refuted, or undecided, and is, counts as verified.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, DualADError

if TYPE_CHECKING:
    from .case import Case
    from .verifying import Outcome, Wish

__all__ = ["add_parser", "verify_command"]

#: So many rules are proved in one process.
FEW = 20
VERIFIED, REFUTED, USAGE, UNDECIDED = 0, 1, 2, 3


def add_parser(commands: Any) -> None:
    """Add the grammar of `verify` to the commands."""
    verify = commands.add_parser(
        "verify",
        help="prove derivative formulas on symbols, or check them at points",
        description="Prove the rule of a custom function, or a claimed derivative, on symbols, "
        "and check numerically, with error bounds, what cannot be proved; or prove the rules of "
        "this library.",
        epilog="NAME is a custom_jvp or custom_vjp function, a Function class, a pair (f, "
        "derivative), a plain function (whose derivatives by this library are checked), or a "
        "list of these. A file alone stands for its list VERIFY, or for every rule and pair in "
        "it. Exit codes: 0 all verified (with --builtin: none refuted), 1 refuted, 2 the command "
        "was not usable, 3 undecided.",
    )
    what = verify.add_mutually_exclusive_group()
    what.add_argument(
        "target", nargs="*", default=[], metavar="MODULE:NAME",
        help="what to verify: a module or file, with or without the name of something in it",
    )  # fmt: skip
    what.add_argument(
        "--builtin", nargs="*", metavar="RULE", help="rules of this library; none named: all"
    )
    verify.add_argument(
        "--prove", action="store_true", help="only prove (with --numeric: both, always)"
    )
    verify.add_argument("--numeric", action="store_true", help="only check numerically")
    verify.add_argument(
        "--at", action="append", default=[], metavar="NAME=VALUE",
        help="where the numerical check looks, such as x=2.5 or v=[1,2]; random points otherwise",
    )  # fmt: skip
    verify.add_argument(
        "--shape", action="append", default=[], type=shape, metavar="NAME=SHAPE",
        help="the shape of an argument, such as v=3 or a=2,2; arguments are numbers otherwise",
    )  # fmt: skip
    verify.add_argument(
        "--assume", action="append", default=[], metavar="STATEMENT",
        help="what holds of the arguments, such as 'x > 0' or 'n integer'",
    )  # fmt: skip
    verify.add_argument("--wrt", action="append", metavar="NAME", help="arguments of the claim")
    verify.add_argument("--limit", type=seconds, help="seconds for an entry; 10")
    verify.add_argument("--seed", type=int, default=0, help="of the points that are tried; 0")
    verify.add_argument("--format", choices=("table", "json", "md"), default="table")
    verify.set_defaults(run=verify_command, usage_error=verify.error)


def shape(text: str) -> tuple[str, tuple[int, ...]]:
    """NAME=2,3 as a name and a shape."""
    name, equals, sizes = text.partition("=")
    try:
        return name, tuple(int(n) for n in sizes.split(",") if n or not equals)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not of the form NAME=2,3") from None


def seconds(text: str) -> float:
    """A time limit."""
    try:
        if 0 < (limit := float(text)) < float("inf"):
            return limit
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")


def verify_command(args: argparse.Namespace) -> int:
    """Run it; gives the exit code."""
    if args.builtin is None and not args.target:
        args.usage_error("give MODULE:NAME, a file, or --builtin")
    try:
        return _builtin(args) if args.builtin is not None else _targets(args)
    except DualADError as error:
        print(f"dualad: {error}", file=sys.stderr)
        return USAGE


def _builtin(args: argparse.Namespace) -> int:
    from .builtin import prove_all, rules as known_rules
    from .page import page

    if args.format == "json":
        raise ArgumentError("--builtin prints a table or md, not json")
    names = args.builtin or list(known_rules())
    # To start a process takes as long as to prove some rules.
    jobs = (os.cpu_count() or 1) if len(names) > FEW else 1
    with _progress(len(names)) as advance:
        rules = prove_all(names, limit=args.limit or 10.0, seed=args.seed, jobs=jobs, done=advance)
    sys.stdout.write(page(rules) if args.format == "md" else rules.table() + "\n")
    return VERIFIED if rules else REFUTED


def _targets(args: argparse.Namespace) -> int:
    from .target import load_cases

    cases = [case for target in args.target for case in load_cases(target)]
    wish = _wish(args)
    outcomes, failed = [], False
    with _progress(len(cases)) as advance:
        for case in cases:
            advance(case.name)
            try:
                outcomes.append(_verified(case, wish))
            except Exception as error:  # the user's code may raise anything
                said = (
                    error if isinstance(error, DualADError) else f"{type(error).__name__}: {error}"
                )
                print(f"dualad: {case.name}: {said}", file=sys.stderr)
                failed = True
    if outcomes:
        print(_shown(outcomes, args.format))
    return USAGE if failed else _code(outcomes)


def _verified(case: Case, wish: Wish) -> Outcome:
    from .verifying import verify_case

    return verify_case(case, wish)


def _wish(args: argparse.Namespace) -> Wish:
    from .points import read_point
    from .verifying import Wish

    given = {
        "shapes": dict(args.shape), "assume": args.assume, "wrt": args.wrt, "limit": args.limit,
    }  # fmt: skip
    options = {k: v for k, v in given.items() if v}
    return Wish(args.prove, args.numeric, read_point(args.at), options, args.seed)


def _shown(outcomes: list[Outcome], form: str) -> str:
    if form == "json":
        if len(outcomes) == 1:
            return json.dumps(outcomes[0].to_dict())
        worst = {VERIFIED: "verified", REFUTED: "refuted", UNDECIDED: "undecided"}[_code(outcomes)]
        return json.dumps({"verdict": worst, "cases": [o.to_dict() for o in outcomes]})
    if form == "md":
        if len(outcomes) == 1 and outcomes[0].report is None and outcomes[0].proof is not None:
            return outcomes[0].proof.markdown()
        return "\n\n".join(o.markdown() for o in outcomes)
    lines = [o.table() for o in outcomes]
    return "\n".join([*lines, *([_summary(outcomes)] if len(outcomes) > 1 else [])])


def _summary(outcomes: list[Outcome]) -> str:
    counts: dict[str, int] = {}
    for o in outcomes:
        kind = o.verdict if o.as_expected or o.case.expect == "verified" else "not as expected"
        counts[kind] = counts.get(kind, 0) + 1
    told = ", ".join(f"{n} {kind}" for kind, n in counts.items())
    return f"{len(outcomes)} cases: {told}"


def _code(outcomes: Iterable[Outcome]) -> int:
    """1 if one is refuted (or was to be, and is not), else 3 if one is undecided, else 0."""
    surprises = [o for o in outcomes if not o.as_expected]
    if not surprises:
        return VERIFIED
    if all(o.verdict == "undecided" and o.case.expect == "verified" for o in surprises):
        return UNDECIDED
    return REFUTED


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Any]:
    """A bar on a terminal for several cases, if rich is installed; otherwise nothing."""
    if total > 1 and sys.stderr.isatty():
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        except ModuleNotFoundError:
            yield lambda name: None
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=total)
            started: list[str] = []

            def advance(name: str) -> None:
                bar.update(task, description=name, advance=1 if started else 0)
                started.append(name)

            yield advance
        return
    yield lambda name: None
