"""Where the time of one job goes: python -m benchmarks.profile rosenbrock_100 hvp."""

# ruff: noqa: E402 - the number of threads is read when NumPy is imported
import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before NumPy is imported

import argparse
import cProfile
import pstats
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .backends import available
from .measure import prepared, seconds
from .workloads import JOBS, WORKLOADS

__all__ = ["profile", "shares"]

#: How long the profile runs, in seconds.
LONG = 0.5


def profile(workload: str, job: str) -> list[tuple[float, float, float, str]]:
    """Each function's share of a job by dualad: own, with callees, calls a job, and its name."""
    w = WORKLOADS[workload]
    run = prepared(w, job, available(["dualad"])[0], w.arguments())
    run()
    return shares(run, max(1, int(LONG / seconds(run, 1))))


def shares(run: Callable[[], Any], times: int) -> list[tuple[float, float, float, str]]:
    """The same of any call, the largest own share first."""
    recorder = cProfile.Profile()
    recorder.enable()
    for _ in range(times):
        run()
    recorder.disable()
    stats = pstats.Stats(recorder)
    total = stats.total_tt  # type: ignore[attr-defined]
    found = [
        (own / total, cumulative / total, calls / times, f"{Path(file).name}:{line} {name}")
        for (file, line, name), (_, calls, own, cumulative, _) in stats.stats.items()  # type: ignore[attr-defined]
    ]
    return sorted(found, reverse=True)


def main(arguments: list[str] | None = None) -> None:
    p = argparse.ArgumentParser(prog="python -m benchmarks.profile", description=__doc__)
    p.add_argument("workload", choices=WORKLOADS)
    p.add_argument("job", choices=JOBS)
    p.add_argument("--top", type=int, default=20, help="how many functions")
    options = p.parse_args(arguments)
    print("  own   with callees  calls  function")
    for own, cumulative, calls, name in profile(options.workload, options.job)[: options.top]:
        print(f"{own:5.1%}  {cumulative:12.1%}  {calls:5.1f}  {name}")


if __name__ == "__main__":
    main()
