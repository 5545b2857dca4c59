"""What a library is to the benchmarks: a namespace, and one method a job."""

import importlib.metadata
from collections.abc import Collection
from typing import Any

import numpy as np

from ..workloads import Workload

__all__ = ["Backend", "numbers"]


class Backend:
    """A library with its namespace; a job that it does not do is a method that is missing.

    `f` is made by a workload for the namespace `xp`. Inputs are converted beforehand and results
    are not converted back, which favours the libraries that do not work on NumPy arrays.

    Attributes:
        rival: whether it runs the user's Python on NumPy-like arrays at each call, and so is a
            peer that no row may be behind.
        is_compiled: whether it writes the function down first, and runs that.
        only: the workloads that it can do, where these are few.
        skips: workloads, and pairs of workload and job, that would take minutes.
        imports, gradient: the code of a fresh interpreter that imports it and takes a gradient.
    """

    name = ""
    package = ""
    xp: Any = np
    rival = True
    is_compiled = False
    only: Collection[str] | None = None
    skips: Collection[str | tuple[str, str]] = ()
    imports, gradient = "", ""

    def array(self, x: Any) -> Any:
        return x

    def plain(self, x: Any) -> np.ndarray:
        return np.asarray(x)

    def release(self) -> None:
        """Give back what the library keeps between calls, so that the next one shows it all."""

    def version(self) -> str:
        return importlib.metadata.version(self.package)

    def does(self, workload: Workload, job: str) -> bool:
        if self.only is not None and workload.name not in self.only:
            return False
        if workload.name in self.skips or (workload.name, job) in self.skips:
            return False
        return hasattr(self, "slopes" if job == "ivp" else job)


def numbers(x: tuple) -> int | tuple[int, ...]:
    """Which arguments to differentiate by: all; the one as a user would name it."""
    return tuple(range(len(x))) if len(x) > 1 else 0
