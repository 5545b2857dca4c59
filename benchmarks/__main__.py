"""The command: python -m benchmarks."""

# ruff: noqa: E402 - the number of threads is read when NumPy is imported
import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before NumPy is imported

import argparse
import sys
from pathlib import Path
from typing import Any

from .backends import available
from .compare import compare
from .costs import costs
from .keep import STORED, keep, load
from .machine import machine
from .measure import BUDGET, ROUNDS, measure
from .memory import bytes_per_operation, peaks
from .page import page
from .progress import Progress
from .result import Result
from .startup import startup
from .table import table
from .workloads import WORKLOADS, Workload


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="What derivatives cost, beside the peers that are installed.",
    )
    p.add_argument("--quick", action="store_true", help="fewer rounds, no long workloads")
    p.add_argument("--only", nargs="*", metavar="NAME", help="workloads whose names begin so")
    p.add_argument("--backends", nargs="*", metavar="NAME", help="default: all installed")
    p.add_argument(
        "--budget",
        type=float,
        metavar="S",
        help=f"seconds for the rounds of one job of one backend (default {BUDGET})",
    )
    p.add_argument("--json", type=Path, metavar="FILE", help="keep the run")
    p.add_argument("--load", type=Path, metavar="FILE", help="a kept run instead of a new one")
    p.add_argument("--page", type=Path, metavar="FILE", help="write the page of the documentation")
    p.add_argument(
        "--compare",
        type=Path,
        nargs="?",
        const=STORED,
        metavar="FILE",
        help="an older run to compare with (default: the stored one)",
    )
    p.add_argument("--strict", action="store_true", help="fail where --compare finds worse")
    return p


def chosen(options: argparse.Namespace) -> list[Workload]:
    return [
        w
        for w in WORKLOADS.values()
        if (not options.only or w.name.startswith(tuple(options.only)))
        and (w.quick or options.only or not options.quick)
    ]


def run(options: argparse.Namespace) -> dict[str, Any]:
    backends, workloads = available(options.backends), chosen(options)
    rounds, budget = (5, 0.2) if options.quick else (ROUNDS, BUDGET)
    budget = budget if options.budget is None else options.budget
    progress = Progress(2 * len(workloads) + 3)
    results: list[Result] = []
    for w in workloads:
        progress.step(w.name)
        results += measure(w, backends, rounds, budget)
    for w in workloads:
        progress.step(f"memory of {w.name}")
        results += peaks(w, backends)
    found: dict[str, Any] = {}
    if not options.only:
        if not options.quick:
            progress.step("memory of an operation")
            results += bytes_per_operation(backends)
        progress.step("imports")
        results += startup(backends, 2 if options.quick else 5)
        progress.step("operations")
        found["costs"] = costs(5 if options.quick else 15)
    progress.end()
    return {"machine": machine(backends), **found, "results": [r.as_dict() for r in results]}


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    found = load(options.load) if options.load else run(options)
    print(table(found))
    if options.compare:
        old = load(options.compare) if options.compare.exists() else None
        changes = report_changes(found, old, options.compare)
        if options.strict and any(line.endswith("worse") for line in changes):
            return 1
    if options.json:
        keep(found, options.json)
    if options.page:
        options.page.write_text(page(found))
    return 0


def report_changes(found: dict[str, Any], old: dict[str, Any] | None, path: Path) -> list[str]:
    """Print what moved since an older run; ratios on another machine are another matter."""
    if old is None:
        print(f"\nno stored run: {path}")
        return []
    changes = compare(found, old)
    of = f"{old['machine']['date']} on {old['machine']['processor']}"
    print(f"\nsince the run of {of}:", *(changes or ["no change beyond the noise"]), sep="\n")
    return changes


if __name__ == "__main__":
    sys.exit(main())
