"""How it is timed: the ratio of a job to the function itself, in the same process and round.

The floor is the plain NumPy evaluation of the function. CPU time of the process, one thread, the
median over rounds, once a call is warm. Differences under 20 % between two runs mean nothing on
a shared machine.
"""

import gc
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .backends import Backend
from .result import Result
from .workloads import Workload
from .workloads.odes import integrate, integrate_sensitivities

__all__ = ["measure", "prepared", "seconds", "tangents"]

ROUNDS, BUDGET = 15, 1.2
#: One timing lasts at least so many seconds, so that the clock does not matter.
LEAST = 2e-3
#: A call is warm after so many calls, or so many seconds of them.
WARM_CALLS, WARM = 200, 0.1


def seconds(call: Callable[[], Any], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def repetitions(call: Callable[[], Any]) -> int:
    """How often to call within one timing; the call has been made once before."""
    return max(1, min(200, int(LEAST / max(seconds(call, 1), 1e-7))))


def warm_up(call: Callable[[], Any]) -> None:
    """Call until caches are full and what is made for operations that are called often is made."""
    start = time.process_time()
    for _ in range(WARM_CALLS):
        call()
        if time.process_time() - start > WARM:
            break


def measure(
    workload: Workload, backends: list[Backend], rounds: int = ROUNDS, budget: float = BUDGET
) -> Iterator[Result]:
    """Time every job of a workload with every backend that does it.

    A job gets as many rounds as fit into `budget` seconds, at least one.
    """
    arguments = workload.arguments()
    for job in workload.jobs:
        floor = floor_of(workload, job, arguments)
        floor()
        timing = Timing(floor, repetitions(floor), rounds, budget)
        expected: list[np.ndarray] = []
        for backend in backends:
            if backend.does(workload, job):
                result = Result(workload.name, job, backend.name, None)
                try:
                    call = prepared(workload, job, backend, arguments)
                    fill(result, call, backend, expected, timing)
                except Exception as failure:  # what a peer cannot do is a result
                    if backend.name == "dualad":
                        raise
                    result.failure = f"{type(failure).__name__}: {failure}".split("\n")[0][:120]
                yield result


def floor_of(workload: Workload, job: str, arguments: tuple) -> Callable[[], Any]:
    f = workload.make(np, lambda a: a)
    if job == "ivp":
        return lambda: integrate(f, *arguments)
    return lambda: f(*arguments)


@dataclass(frozen=True)
class Timing:
    """The floor, how often it is called within one timing, and how long a job is timed."""

    floor: Callable[[], Any]
    times: int
    rounds: int
    budget: float

    def ratios(self, call: Callable[[], Any], times: int) -> list[float]:
        """The ratios of all rounds, ordered."""
        found: list[float] = []
        gc.collect()
        gc.freeze()  # what other libraries have loaded is not for this one to scan
        start = time.process_time()
        while len(found) < self.rounds and (
            not found or time.process_time() - start < self.budget
        ):
            base = seconds(self.floor, self.times)
            found.append(seconds(call, times) / base)
        return sorted(found)


def fill(
    result: Result,
    call: Callable[[], Any],
    backend: Backend,
    expected: list[np.ndarray],
    timing: Timing,
) -> None:
    """Fill a result in: the error of the first call, then the figures of the rounds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = flat(backend, call())
    first = time.process_time() - start
    expected.append(value)
    result.error = difference(value, expected[0])
    is_short = first < max(timing.budget, 0.1)
    if is_short:
        warm_up(call)
    ratios = timing.ratios(call, repetitions(call) if is_short else 1)
    quarter = len(ratios) // 4
    result.figure = statistics.median(ratios)
    result.low, result.high = ratios[quarter], ratios[-1 - quarter]
    result.rounds = len(ratios)


def prepared(workload: Workload, job: str, backend: Backend, arguments: tuple) -> Callable:
    """The call that does a job once."""
    f = workload.make(backend.xp, backend.array)
    if job == "ivp":
        rhs = backend.slopes(f)  # type: ignore[attr-defined]
        return lambda: integrate_sensitivities(rhs, *arguments)
    x = tuple(map(backend.array, arguments))
    along = tangents(workload, job, arguments)
    return getattr(backend, job)(f, x, *([tuple(map(backend.array, along))] if along else []))


def tangents(workload: Workload, job: str, arguments: tuple) -> tuple:
    """The directions of a job that has some."""
    if job == "jvpk":
        assert workload.directions is not None
        return workload.directions()
    return tuple(np.ones_like(a)[()] for a in arguments) if job in ("jvp", "hvp") else ()


def flat(backend: Backend, value: Any) -> np.ndarray:
    """A result, or the parts of one, as one vector, to compare it."""
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(backend, part) for part in value])
    plain = value if isinstance(value, np.ndarray) else backend.plain(value)
    return np.ravel(plain)


def difference(value: np.ndarray, expected: np.ndarray) -> float:
    return float(np.max(np.abs(value - expected)) / np.max(np.abs(expected)))
