"""How it is timed: the ratio of a job to the function itself, in the same process and round.

The floor is the plain NumPy evaluation of the function. CPU time of the process, one thread, the
median over rounds. Differences under 20 % between two runs mean nothing on a shared machine.
"""

import gc
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .backends import Backend
from .workloads import CHAIN, Workload, chain

__all__ = ["Result", "bytes_per_operation", "measure", "startup"]

ROUNDS, BUDGET = 15, 4.0
#: One timing lasts at least so many seconds, so that the clock does not matter.
LEAST = 2e-3


@dataclass
class Result:
    """One job of one backend: its cost in evaluations of f, and how far the rounds spread."""

    workload: str
    job: str
    backend: str
    ratio: float
    low: float
    high: float
    microseconds: float
    rounds: int
    error: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def seconds(call: Callable[[], Any], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def repetitions(call: Callable[[], Any]) -> int:
    """How often to call within one timing; the call has been made once before."""
    return max(1, min(200, int(LEAST / max(seconds(call, 1), 1e-7))))


def measure(
    workload: Workload, backends: list[Backend], rounds: int = ROUNDS, budget: float = BUDGET
) -> Iterator[Result]:
    """Time every job of a workload with every backend that does it."""
    arguments = workload.arguments()
    floor_of = workload.make(np, lambda a: a)
    floor = lambda: floor_of(*arguments)
    floor()
    floor_times = repetitions(floor)
    for job in workload.jobs:
        expected = None
        for backend in backends:
            if not hasattr(backend, job):
                continue
            call = prepared(workload, job, backend, arguments)
            value = flat(backend, call())
            expected = value if expected is None else expected
            error = float(np.max(np.abs(value - expected)) / np.max(np.abs(expected)))
            yield timed(
                workload.name, job, backend.name, call, floor, floor_times, rounds, budget, error
            )


def prepared(workload: Workload, job: str, backend: Backend, arguments: tuple) -> Callable:
    f = workload.make(backend.xp, backend.array)
    x = tuple(map(backend.array, arguments))
    if job != "jvp":
        return getattr(backend, job)(f, x)
    return backend.jvp(f, x, tuple(backend.array(np.ones_like(a)[()]) for a in arguments))  # type: ignore[attr-defined]


def flat(backend: Backend, value: Any) -> np.ndarray:
    """A result, or the parts of one, as one vector, to compare it."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return np.concatenate([np.ravel(backend.plain(p)) for p in parts])


def timed(
    workload: str,
    job: str,
    backend: str,
    call: Callable,
    floor: Callable,
    floor_times: int,
    rounds: int,
    budget: float,
    error: float,
) -> Result:
    times = repetitions(call)
    ratios, own = [], []
    gc.collect()
    gc.freeze()  # what other libraries have loaded is not for this one to scan
    start = time.process_time()
    while len(ratios) < rounds and (not ratios or time.process_time() - start < budget):
        base = seconds(floor, floor_times)
        own.append(seconds(call, times))
        ratios.append(own[-1] / base)
    ordered = sorted(ratios)
    quarter = len(ordered) // 4
    return Result(
        workload,
        job,
        backend,
        statistics.median(ratios),
        ordered[quarter],
        ordered[-1 - quarter],
        min(own) * 1e6,
        len(ratios),
        error,
    )


def bytes_per_operation(backends: list[Backend]) -> dict[str, float]:
    """Peak memory of the gradient of a long chain, per operation, where tracemalloc sees it."""
    found = {}
    for backend in backends:
        if backend.xp is not np and "numpy" not in backend.xp.__name__:
            continue
        if backend.name.startswith("jax"):
            continue
        run = backend.grad(chain(backend.xp, backend.array), (np.float64(1.0),))  # type: ignore[attr-defined]
        gc.collect()
        tracemalloc.start()
        run()
        found[backend.name] = tracemalloc.get_traced_memory()[1] / CHAIN
        tracemalloc.stop()
    return found


STARTUP = """
import time
import numpy
start = time.process_time()
{imports}
loaded = time.process_time()
{gradient}
print(1e3 * (loaded - start), 1e3 * (time.process_time() - loaded))
"""
FIRST = {
    "dualad": (
        "import dualad",
        "dualad.grad(lambda x: numpy.sum(numpy.sin(x) * x))(numpy.ones(3))",
    ),
    "autograd": (
        "import autograd, autograd.numpy as anp",
        "autograd.grad(lambda x: anp.sum(anp.sin(x) * x))(numpy.ones(3))",
    ),
    "torch": (
        "import torch",
        "x = torch.ones(3, requires_grad=True); torch.sum(torch.sin(x) * x).backward()",
    ),
    "jax eager": (
        "import jax, jax.numpy as jnp",
        "jax.grad(lambda x: jnp.sum(jnp.sin(x) * x))(jnp.ones(3)).block_until_ready()",
    ),
}


def startup(backends: list[Backend], times: int = 5) -> dict[str, tuple[float, float]]:
    """Milliseconds to import, beyond NumPy, and to the first gradient, in fresh interpreters."""
    found = {}
    for backend in backends:
        if backend.name in FIRST:
            imports, gradient = FIRST[backend.name]
            code = STARTUP.format(imports=imports, gradient=gradient)
            runs = []
            for _ in range(times):
                done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
                runs.append(tuple(map(float, done.stdout.split())))
            found[backend.name] = min(r[0] for r in runs), min(r[1] for r in runs)
    return found
