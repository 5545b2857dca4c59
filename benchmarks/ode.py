"""What sensitivities of differential equations cost: python -m benchmarks.ode.

Three problems, each by SciPy's methods: Robertson's kinetics (stiff), Lotka and Volterra's model,
and a one-dimensional Brusselator on 50 cells (100 states). Steps, right-hand sides and time with
sensitivities are given as ratios to the same integration without them; errors in units of the
relative tolerance, against a run at a far tighter one; time also with compile=True. CasADi's
CVODES stands beside them where CasADi is installed.
"""

# ruff: noqa: E402 - the number of threads is read when NumPy is imported
import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before NumPy is imported

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from dualad import sensitivity as ds

from .cvodes import available, cvodes
from .equations import PROBLEMS, Problem
from .machine import machine

__all__ = ["main", "measured"]

#: The run whose table is in the documentation.
STORED = Path(__file__).parent / "stored" / "ode.json"
TOLERANCES = (1e-4, 1e-6, 1e-8)
CVODES = "CVODES"
MARKS = "<!-- the table of benchmarks.ode -->", "<!-- end -->"


def solve(problem: Problem, method: str, rtol: float, **options: Any) -> ds.TimeSensitivities:
    return ds.ode(
        problem.rhs, problem.y0, problem.params, (0.0, problem.times[-1]), t_eval=problem.times,
        method=method, rtol=rtol, atol=rtol * problem.atol, **options,
    )  # fmt: skip


def error(found: np.ndarray, exact: np.ndarray, rtol: float) -> float:
    """The root mean square of the errors, each by the largest value over time, in tolerances."""
    scale = np.abs(exact).max(axis=0)
    return float(np.sqrt(np.mean(((found - exact) / np.where(scale > 0, scale, 1.0)) ** 2)) / rtol)


def ours(problem: Problem, method: str, rtol: float, rounds: int) -> dict[str, Any]:
    """As `cvodes` has it; times are the best of the rounds, with and without in turn."""
    runs = [solve(problem, method, rtol, compare=True, compile=False) for _ in range(rounds)]
    programs = [solve(problem, method, rtol, compile=True) for _ in range(rounds)]
    states = solve(problem, method, rtol, error_control="states", compile=False)
    return {
        "compiled_cpu": min(r.stats["cpu"] for r in programs),
        **runs[-1].stats, "cpu": min(r.stats["cpu"] for r in runs),
        "alone": {
            **runs[-1].stats["alone"], "cpu": min(r.stats["alone"]["cpu"] for r in runs),
        },
        "y": runs[-1].y, "scaled": runs[-1].scaled(), "alone_y": states.y,
    }  # fmt: skip


def measured(
    problem: Problem, method: str, rtol: float, exact: Any, rounds: int = 5
) -> dict[str, Any]:
    """One row: counts, times in milliseconds and errors, without and with sensitivities."""
    run = (
        cvodes(problem, rtol, rounds) if method == CVODES else ours(problem, method, rtol, rounds)
    )
    alone = run["alone"]
    return {
        "problem": problem.name, "method": method, "rtol": rtol, "parameters": len(problem.params),
        **{name: run[name] for name in ("steps", "rhs", "tangent_rhs", "factorisations")},
        "alone": {name: alone[name] for name in ("steps", "rhs", "factorisations")},
        "ms": float(f"{1e3 * run['cpu']:.3g}"), "alone_ms": float(f"{1e3 * alone['cpu']:.3g}"),
        "time_ratio": float(f"{run['cpu'] / alone['cpu']:.3g}"),
        **compiled(run),
        "error_y_alone": float(f"{error(run['alone_y'], exact.y, rtol):.2g}"),
        "error_y": float(f"{error(run['y'], exact.y, rtol):.2g}"),
        "error_s": float(f"{error(run['scaled'], exact.scaled(), rtol):.2g}"),
    }  # fmt: skip


def compiled(run: dict[str, Any]) -> dict[str, float]:
    """The time of the same with compile=True, where there is such a thing."""
    if "compiled_cpu" not in run:
        return {}
    seconds = run["compiled_cpu"]
    return {
        "compiled_ms": float(f"{1e3 * seconds:.3g}"),
        "compiled_time_ratio": float(f"{seconds / run['alone']['cpu']:.3g}"),
    }


# --- tables

HEAD = (
    "problem", "method, rtol", "steps", "rhs", "LU", "time", "compiled", "ms", "y alone", "y",
    "p dy/dp",
)  # fmt: skip
WIDTHS = (15, 15, 20, 21, 6, 6, 10, 8, 9, 9, 9)


def cells(row: dict[str, Any]) -> list[str]:
    """One row of the table."""
    alone = row["alone"]
    of = lambda name: f"{row[name]} / {alone[name]} = {row[name] / alone[name]:.2f}"
    lus = row["factorisations"] / (alone["factorisations"] or 1)
    fast = row.get("compiled_time_ratio")
    return [
        row["problem"], f"{row['method']}, {row['rtol']:.0e}".replace("e-0", "e-"),
        of("steps"), of("rhs"), f"{lus:.2f}" if lus else "", f"{row['time_ratio']:.1f}",
        "" if fast is None else f"{fast:.1f}", f"{row['ms']:.3g}",
        *(f"{row[name]:.2g}" for name in ("error_y_alone", "error_y", "error_s")),
    ]  # fmt: skip


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table of the documentation."""
    lines = [list(HEAD), ["---"] * len(HEAD)]
    for before, row in zip([None, *rows], rows, strict=False):
        line = cells(row)
        if before is not None and before["problem"] == row["problem"]:
            line[0] = ""
        lines.append(line)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plain(values: list[str]) -> str:
    return "".join(f"{v:<{w}}" for v, w in zip(values, WIDTHS, strict=True)).rstrip()


def write_page(path: Path, rows: list[dict[str, Any]]) -> None:
    """Put the table between its marks."""
    text = path.read_text()
    before, rest = text.split(MARKS[0])
    path.write_text(
        before + MARKS[0] + "\n" + markdown(rows) + "\n" + MARKS[1] + rest.split(MARKS[1])[1]
    )


# --- the command


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure, and print row by row."""
    rows = []
    print(plain(list(HEAD)))
    for problem in PROBLEMS:
        if options.only and not problem.name.startswith(tuple(options.only)):
            continue
        method, tight = problem.exact
        exact = solve(problem, method, tight)
        methods = (*problem.methods, *([CVODES] if available() else []))
        for rtol in TOLERANCES[:1] if options.quick else TOLERANCES:
            for method in methods:
                rounds = 1 if options.quick else options.rounds
                rows.append(measured(problem, method, rtol, exact, rounds))
                print(plain(cells(rows[-1])), flush=True)
    return rows


def versions() -> dict[str, Any]:
    import scipy

    found = {**machine([]), "scipy": scipy.__version__}
    if available():
        import casadi

        found["casadi"] = casadi.__version__
    del found["versions"]
    return found


def main(arguments: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.ode", description=__doc__)
    p.add_argument("--quick", action="store_true", help="one tolerance, one round")
    p.add_argument("--only", nargs="*", metavar="NAME", help="problems whose names begin so")
    p.add_argument("--rounds", type=int, default=5, help="times are the best of so many")
    p.add_argument(
        "--json", type=Path, nargs="?", const=STORED, metavar="FILE",
        help="keep the run (default: the stored one)",
    )  # fmt: skip
    p.add_argument(
        "--page", type=Path, metavar="FILE", help="write the stored table into a page of the docs"
    )
    options = p.parse_args(arguments)
    if options.page:
        write_page(options.page, json.loads(STORED.read_text())["rows"])
        return 0
    rows = run(options)
    if options.json:
        kept = ",\n".join(map(json.dumps, rows))
        head = json.dumps({"machine": versions()})[:-1]
        options.json.write_text(f'{head},\n"rows": [\n{kept}\n]}}\n')
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
