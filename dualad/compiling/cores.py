"""How many threads a program may use."""

from __future__ import annotations

import os

from ..errors import ArgumentError

__all__ = ["number_of_threads"]

#: Environment variables in the order in which they are asked.
OWN, COMMON = "DUALAD_NUM_THREADS", "OMP_NUM_THREADS"
#: More threads than this are never started.
MOST = 256


def number_of_threads(asked: int | None = None) -> int:
    """How many threads run a large loop, the one that calls among them.

    The first of these that is set: the argument, DUALAD_NUM_THREADS, OMP_NUM_THREADS (of a list
    its first number), the number of CPUs that this process may use.

    Raises:
        ArgumentError: the argument or DUALAD_NUM_THREADS is no whole number from 1 on.

    >>> number_of_threads(3)
    3
    """
    if asked is not None:
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise ArgumentError(f"threads is a whole number from 1 on, or None, not {asked!r}")
        return min(asked, MOST)
    own = os.environ.get(OWN, "").strip()
    if own:
        found = _positive(own)
        if found is None:
            raise ArgumentError(f"{OWN} is a whole number from 1 on, not {own!r}")
        return min(found, MOST)
    common = _positive(os.environ.get(COMMON, "").partition(",")[0].strip())
    return min(common or _cpus(), MOST)


def _positive(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text) else None


def _cpus() -> int:
    """The number of CPUs that this process may use."""
    count = getattr(os, "process_cpu_count", None)  # from Python 3.13 on
    if count is not None:
        return count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
