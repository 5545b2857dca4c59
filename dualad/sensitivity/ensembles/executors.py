"""Anything that runs tasks, as one thing that yields their results in the order they finish."""

from __future__ import annotations

import concurrent.futures
import os
import pickle
import queue
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import SensitivityError

__all__ = ["Crew", "Lost", "require_picklable", "results", "workers_of"]


class Lost:
    """A task that its executor lost, with the reason."""

    def __init__(self, task: tuple[Any, ...], error: BaseException):
        self.task, self.error = task, error


class Crew:
    """What runs the tasks: an executor that was given, or one that is opened and closed here.

    Args:
        executor: None for here and now; a number of processes; a dask Client; anything with
            submit, as concurrent.futures, loky and mpi4py.futures have it; or with imap or map.

    Attributes:
        runner: the executor; None for here and now.
    """

    def __init__(self, executor: Any):
        self.processes = executor if isinstance(executor, int) else None
        if isinstance(executor, bool):
            raise SensitivityError("executor must be None, a number of processes or an executor")
        self.runner = executor
        if self.processes is not None:
            self.runner = _pool(self.processes)
        elif hasattr(executor, "get_executor"):
            # A dask Client: its own futures are not those of the standard library.
            self.runner = executor.get_executor(pure=False)
        elif executor is not None and not any(hasattr(executor, n) for n in TASKS):
            raise SensitivityError(
                f"executor must be None, a number of processes, or have submit "
                f"(concurrent.futures, loky, a dask Client, mpi4py.futures); got "
                f"{type(executor).__name__}"
            )

    def renew(self) -> None:
        """A new pool for one that lost a process, if it was opened here."""
        if self.processes is not None:
            self.close()
            self.runner = _pool(self.processes)

    def close(self) -> None:
        """End the pool, if it was opened here."""
        if self.processes is not None:
            self.runner.shutdown(wait=True)


#: How tasks are handed over.
TASKS = ("submit", "imap", "map")


def _pool(n: int) -> Any:
    """A pool of n processes: loky's where it is installed, since it takes lambdas."""
    if n < 1:
        raise SensitivityError(f"the number of processes must be positive, got {n}")
    try:
        from loky import ProcessPoolExecutor
    except ImportError:
        return concurrent.futures.ProcessPoolExecutor(max_workers=n)
    return ProcessPoolExecutor(max_workers=n)


def workers_of(executor: Any) -> int:
    """How many tasks run at once, as far as can be told."""
    if executor is None:
        return 1
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        return max(1, sum(client.nthreads().values()))
    for name in ("_max_workers", "_processes", "num_workers"):
        n = getattr(executor, name, None)
        if isinstance(n, int) and n > 0:
            return n
    return os.cpu_count() or 1


def require_picklable(executor: Any, problem: Any) -> None:
    """Nothing, if the executor can send the problem to another process.

    Raises:
        SensitivityError: it uses plain pickle, and the problem has a lambda or a local function.
    """
    plain = isinstance(executor, concurrent.futures.ProcessPoolExecutor)
    module = type(executor).__module__
    if module.startswith("loky") or not (
        plain or module.startswith(("mpi4py", "multiprocessing.pool"))
    ):
        return
    if "Thread" in type(executor).__name__:
        return
    try:
        pickle.dumps(problem)
    except Exception as error:
        raise SensitivityError(
            f"the model cannot be sent to another process ({error}): define it at the top of a "
            f"module that can be imported, or take loky or dask, which send lambdas, too"
        ) from None


def results(
    executor: Any, call: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], in_flight: int
) -> Iterator[Any]:
    """What call(*task) gives for each task, as they finish; at most so many are under way.

    A task whose executor failed it, because a process died, comes back as `Lost`.
    """
    if executor is None:
        for task in tasks:
            yield call(*task)
    elif hasattr(executor, "submit"):
        yield from _submitted(executor, call, iter(tasks), in_flight)
    else:
        spread = getattr(executor, "imap", None) or executor.map
        yield from spread(_Star(call), list(tasks))


class _Star:
    """call(*task) as a function of one argument."""

    def __init__(self, call: Callable[..., Any]):
        self.call = call

    def __call__(self, task: tuple[Any, ...]) -> Any:
        return self.call(*task)


def _submitted(
    executor: Any, call: Callable[..., Any], tasks: Iterator[tuple[Any, ...]], in_flight: int
) -> Iterator[Any]:
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    pending: dict[int, tuple[Any, tuple[Any, ...]]] = {}
    count = 0
    try:
        while True:
            while len(pending) < in_flight and (task := next(tasks, None)) is not None:
                count += 1
                try:
                    future = executor.submit(call, *task)
                except Exception as error:
                    yield Lost(task, error)
                    continue
                pending[count] = (future, task)
                future.add_done_callback(lambda _, key=count: done.put(key))
            if not pending:
                return
            future, task = pending.pop(done.get())
            try:
                found = future.result()
            except Exception as error:
                found = Lost(task, error)
            yield found
    finally:
        for future, _ in pending.values():
            future.cancel()
