"""What sensitivity analysis costs: python -m benchmarks.sensitivity.

First the differential equations of `benchmarks.ode`: steps, right-hand sides and time with
sensitivities, as ratios to the same integration without, and CasADi where it is installed. Then
ensembles: a function of the parameters for many sets in one pass against one by one, and what an
executor adds to each member.
"""

from . import ode as equations  # isort: skip - sets the number of threads

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dualad import sensitivity as ds

PARAMS = {
    "a": ds.Parameter(2.0, lower=1.0, upper=3.0),
    "b": ds.Parameter(0.5, lower=0.1, upper=1.0),
    "c": ds.Parameter(1.0, lower=0.5, upper=1.5),
}


def model(p):
    """A peak and its area, by a formula."""
    return {"peak": p.a * np.exp(-p.b * p.c), "area": p.a / p.b * (1.0 - np.exp(-p.b * p.c))}


def seconds(sets: Any, **options: Any) -> float:
    begun = time.perf_counter()
    ds.ensemble(model, sets, params=PARAMS, progress=False, **options)
    return time.perf_counter() - begun


def ensembles(n: int) -> str:
    """The table of the ensembles."""
    sets = ds.sample(PARAMS, n, "lhs")
    seconds(ds.sample(PARAMS, 2, "lhs"))
    alone = min(seconds(sets, batch=1) for _ in range(2))
    passed = min(seconds(sets) for _ in range(3))
    with ThreadPoolExecutor(1) as pool:
        submitted = min(seconds(sets, batch=1, executor=pool) for _ in range(2))
    rows = [
        ("one by one", alone, ""),
        ("in one pass", passed, f"{alone / passed:.0f} times faster"),
        (
            "one thread, a member a task",
            submitted,
            f"{1e3 * (submitted - alone) / n:+.2f} ms each",
        ),
    ]
    lines = [f"ensemble of {n} members, 2 outputs by 3 parameters", ""]
    lines += [f"{name:<30}{1e3 * s:>10.1f} ms   {note}".rstrip() for name, s, note in rows]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.sensitivity", description=__doc__)
    p.add_argument("--quick", action="store_true", help="one tolerance, fewer members")
    p.add_argument("--only", nargs="*", metavar="NAME", help="equations whose names begin so")
    options = p.parse_args(arguments)
    given = ["--quick"] if options.quick else []
    given += [] if options.only is None else ["--only", *options.only]
    equations.main(given)
    print("\n" + ensembles(100 if options.quick else 1000))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
