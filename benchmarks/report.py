"""What is printed and kept: a table, a JSON file, a comparison of two, a page of the docs."""

import datetime
import os
import platform
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .backends import Backend
from .costs import COSTS
from .workloads import WORKLOADS

__all__ = ["compare", "machine", "page", "table"]

#: Changes below this factor are noise.
NOISE = 1.2


def machine(backends: Sequence[Backend]) -> dict[str, Any]:
    """Where and with what a run was made."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "versions": {b.package: b.version() for b in backends},
    }


def processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def names_of(run: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(r["backend"] for r in run["results"]))


def rows(run: dict[str, Any]) -> list[list[str]]:
    """Workload, job, one ratio a backend, and the best; ours first."""
    names = names_of(run)
    found: dict[tuple[str, str], dict[str, float]] = {}
    for r in run["results"]:
        found.setdefault((r["workload"], r["job"]), {})[r["backend"]] = r["ratio"]
    out = [["workload", "job", *names, "best"]]
    for (workload, job), ratios in found.items():
        best = min(ratios, key=ratios.__getitem__)
        out.append([workload, job, *(number(ratios.get(n)) for n in names), best])
    return out


def number(x: float | None) -> str:
    return "–" if x is None else f"{x:.0f}" if x >= 99.5 else f"{x:#.3g}".rstrip(".")


def table(run: dict[str, Any]) -> str:
    """The run as aligned text."""
    cells = rows(run)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            c.ljust(w) if k < 2 else c.rjust(w)
            for k, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join([*lines, "", *map("".join, extras(run))])


def extras(run: dict[str, Any]) -> list[str]:
    lines = [
        f"import {name}: {load:.0f} ms over NumPy, first gradient {first:.1f} ms"
        for name, (load, first) in run.get("startup", {}).items()
    ]
    lines += [
        f"memory of a recorded scalar operation, {name}: {b:.0f} bytes"
        for name, b in run.get("bytes_per_operation", {}).items()
    ]
    return lines


def compare(run: dict[str, Any], old: dict[str, Any], backend: str = "dualad") -> list[str]:
    """What became slower, or faster, by more than the noise."""
    before = {
        (r["workload"], r["job"]): r["ratio"] for r in old["results"] if r["backend"] == backend
    }
    lines = []
    for r in run["results"]:
        key = (r["workload"], r["job"])
        if r["backend"] == backend and key in before:
            change = r["ratio"] / before[key]
            if not 1 / NOISE < change < NOISE:
                word = "slower" if change > 1 else "faster"
                lines.append(
                    f"{key[0]} {key[1]}: {number(before[key])} -> {number(r['ratio'])} f, "
                    f"{max(change, 1 / change):.2f} times {word}"
                )
    return lines


PAGE = """# Performance

What a derivative costs, in evaluations of the function itself: 3.0 means as much time as three
plain NumPy evaluations of `f` with the same arguments. Lower is better. This page is written by

    python -m benchmarks --page docs/performance.md

{table}

{workloads}

## How it is measured

- Each job is timed in the same process and in the same round as the plain NumPy evaluation of
  `f`; the figure is the median over rounds of their ratio. CPU time of the process, one thread,
  float64.
- Peers get their inputs converted beforehand and their outputs are not converted back, which
  favours those that do not work on NumPy arrays. `jax eager` is JAX without `jit`, `torch` is
  `requires_grad` and `backward`, `torch.func` its function transformations. What compiles the
  function first is faster on small operations by orders of magnitude: no library that runs the
  user's Python can follow there.
- All figures of this page are from one run. Every result of a peer was compared with that of
  dualad: the largest difference was {error:.0e} of the largest entry.
- All libraries are loaded in one process. Before each job `gc.freeze` keeps Python's garbage
  collector from scanning what they have loaded. Without it, the gradient of `chain_1e5` by dualad
  cost about 40 with every peer loaded, where it costs about 13 alone: a program that holds
  millions of objects pays for its collector in long recordings.
- Two runs on one machine differ by 10 to 20 %, by more where other work shares the cores (see
  the load below); treat smaller differences as none.

## What an operation costs

{costs}

Microseconds: of a transformation around a function that does nothing, and of one operation more
inside of it, on ten numbers. The figures explain the table above, and say what a change of the
engine may cost.

- An elementwise operation runs generated code: one look at the type of each operand, NumPy's own
  call for the value and one or two for the tangent, one object for the result. In reverse mode
  it is one tuple on the tape and one call in the sweep. Nothing else may happen there: a further
  attribute look-up on this path is 3 % of every program of small operations.
- Slices and single entries have a path of their own. All other operations go through the general
  one: arguments are normalised as NumPy normalises them, the primitive asks for the highest level
  among its arguments, and what the transpose reads is written down by shape and dtype. That is 5
  to 15 microseconds, whatever the size of the arrays.
- A composite rule is run again for every tangent, and traced and transposed for every cotangent:
  20 to 90 microseconds. A function that is called in a loop deserves better: `dualad.custom_jvp`
  with linear operations alone, or a rule in `ops/`.
- From 32768 entries on (256 kB), value and tangent of elementwise operations are computed together
  on blocks that stay in the cache, in memory that the level reuses; cotangents are added in place
  where nobody else holds them. Below that, an operation costs what its calls cost.
- `vjp` and `linearize` copy those large arguments that a rule reads, so that a later write to the
  argument cannot reach the derivative; `grad` and `jvp` copy nothing.

## Beside time

{extras}

## Where this was measured

{where}
"""


def page(run: dict[str, Any]) -> str:
    """The run as a page of the documentation."""
    cells = rows(run)
    head, body = cells[0], cells[1:]
    lines = [
        "| " + " | ".join(head) + " |",
        "| --- | --- |" + " ---: |" * (len(head) - 3) + " --- |",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in body]
    about = [f"- `{n}`: {WORKLOADS[n].about}" for n in dict.fromkeys(row[0] for row in body)]
    meta = run["machine"]
    where = [
        f"- {meta['processor']}, {meta['cores']} cores, {meta['system']}, {meta['date']}; "
        f"load average {meta['load']} at the end of the run",
        f"- Python {meta['python']}, NumPy {meta['numpy']}, "
        + ", ".join(f"{n} {v}" for n, v in meta["versions"].items()),
    ]
    return PAGE.format(
        table="\n".join(lines),
        workloads="\n".join(about),
        error=max(r["error"] for r in run["results"]),
        costs=cost_table(run.get("costs", {})),
        extras="\n".join(f"- {line[0].upper()}{line[1:]}." for line in extras(run)),
        where="\n".join(where),
    )


def cost_table(found: dict[str, list[float]]) -> str:
    """The cost of each kind of operation, as a table of the page."""
    lines = ["| | " + " | ".join(COSTS) + " |", "| --- |" + " ---: |" * len(COSTS)]
    lines += [f"| {name} | " + " | ".join(map(number, v)) + " |" for name, v in found.items()]
    return "\n".join(lines)


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:70s}", end="", file=sys.stderr, flush=True)
