"""The command: python -m benchmarks."""

# ruff: noqa: E402 - the number of threads is read when NumPy is imported
import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before NumPy is imported

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .backends import available
from .costs import costs
from .measure import BUDGET, ROUNDS, bytes_per_operation, measure, startup
from .report import compare, machine, page, progress, table
from .workloads import WORKLOADS


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    p.add_argument("--quick", action="store_true", help="fewer rounds, no long workloads")
    p.add_argument("--only", nargs="*", metavar="NAME", help="workloads whose names begin so")
    p.add_argument("--backends", nargs="*", metavar="NAME", help="default: all installed")
    p.add_argument("--json", type=Path, metavar="FILE", help="keep the run")
    p.add_argument("--load", type=Path, metavar="FILE", help="a kept run instead of a new one")
    p.add_argument("--compare", type=Path, metavar="FILE", help="an older run to compare with")
    p.add_argument("--page", type=Path, metavar="FILE", help="write the page of the documentation")
    return p


def run(options: argparse.Namespace) -> dict[str, Any]:
    backends = available(options.backends)
    rounds, budget = (5, 1.0) if options.quick else (ROUNDS, BUDGET)
    results = []
    for w in WORKLOADS.values():
        if options.only and not w.name.startswith(tuple(options.only)):
            continue
        if options.quick and not w.quick:
            continue
        progress(w.name)
        results += [r.as_dict() for r in measure(w, backends, rounds, budget)]
    progress("")
    found: dict[str, Any] = {"machine": machine(backends), "results": results}
    if not options.only:
        found["costs"] = costs(5 if options.quick else 15)
        found["startup"] = startup(backends, 2 if options.quick else 5)
        found["bytes_per_operation"] = bytes_per_operation(backends)
    return found


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    found = json.loads(options.load.read_text()) if options.load else run(options)
    print(table(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    if options.page:
        options.page.write_text(page(found))
    if options.compare:
        changes = compare(found, json.loads(options.compare.read_text()))
        print("\n".join(["", *(changes or ["no change beyond the noise"])]))
        return int(any(line.endswith("slower") for line in changes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
