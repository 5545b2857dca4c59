"""What a derivative holds: bytes for each operation of a long chain, and peaks of large arrays."""

import ctypes
import gc
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .backends import Backend
from .measure import prepared
from .result import Result
from .workloads import WORKLOADS, Workload

__all__ = ["BYTES", "BYTES_TARGET", "bytes_per_operation", "peaks"]

BYTES, MEGABYTES = "bytes/op", "MB"
BYTES_TARGET = 300
#: How often a peak is measured: what the allocator holds at hand is chance, and only adds to it.
TIMES = 3
PROCESS = Path("/proc/self")


def bytes_per_operation(
    backends: list[Backend], chain: Workload = WORKLOADS["chain_1e5"]
) -> Iterator[Result]:
    """Peak memory of the gradient of a long chain, by the operations of the chain.

    Python's own allocations are counted exactly where all of the memory is Python's; for other
    rivals it is the resident memory that rises.
    """
    for backend in backends:
        if backend.rival and backend.does(chain, "grad"):
            run = prepared(chain, "grad", backend, chain.arguments())
            python = backend.name in ("dualad", "autograd")
            peak = traced(run) if python else resident(run, backend)
            if peak is not None:
                yield Result(
                    "memory", f"{chain.name} grad", backend.name, peak / chain.operations, BYTES
                )


def peaks(workload: Workload, backends: list[Backend]) -> Iterator[Result]:
    """By how much resident memory rises during one call, in megabytes; on Linux alone."""
    for job in workload.peak:
        for backend in backends:
            if (backend.rival or backend.is_compiled) and backend.does(workload, job):
                try:
                    run = prepared(workload, job, backend, workload.arguments())
                    run()
                except Exception:  # its failure is in the table of times
                    continue
                found = [resident(run, backend) for _ in range(TIMES)]
                if (peak := least(found)) is not None:
                    name = f"{workload.name} {job}"
                    yield Result("memory", name, backend.name, peak / 1e6, MEGABYTES)


def least(peaks: Sequence[float | None]) -> float | None:
    return min((p for p in peaks if p is not None), default=None)


def traced(run: Callable[[], Any]) -> float:
    gc.collect()
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)


def resident(run: Callable[[], Any], backend: Backend) -> float | None:
    """The rise of the peak of resident memory during a call, or None where nobody counts it."""
    gc.collect()
    backend.release()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        before = status("VmRSS")
        (PROCESS / "clear_refs").write_text("5")
    except (OSError, AttributeError):
        return None
    kept = run()
    after = status("VmHWM")
    del kept
    return max(after - before, 0.0)


def status(key: str) -> float:
    """A line of the kernel's account of this process, in bytes."""
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(key):
            return 1024.0 * int(line.split()[1])
    raise OSError(f"the kernel does not tell {key}")
