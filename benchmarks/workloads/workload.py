"""What a workload is, and the table of all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["JOBS", "WORKLOADS", "Workload", "rng", "workload"]

#: What is timed, by the name that it has in the tables.
JOBS = {
    "jvp": "value and derivative along one tangent",
    "grad": "gradient by all arguments",
    "vag": "value and gradient",
    "hvp": "Hessian times a vector",
    "hess": "Hessian",
    "jacfwd": "Jacobian, forward",
    "jacrev": "Jacobian, reverse",
    "jac2": "Jacobians by both arguments",
    "jvpk": "derivatives along three tangents at one point",
    "ivp": "integration with three sensitivities, against integration of the states alone",
}


@dataclass(frozen=True)
class Workload:
    """A function, its arguments, the derivatives of it that are timed, and their targets.

    Attributes:
        make: `make(xp, constant)` gives the function for a namespace; `constant` turns a NumPy
            array that is no argument into one of that namespace.
        arguments: gives the arguments, always the same.
        targets: what each job should cost at most, in evaluations of f; None where nothing is
            asked. Its keys are the jobs.
        about: one line for the page.
        dominates: what most of the time goes into, for the rows that are lost.
        operations: how many elementary ones f makes.
        quick: whether a quick run has it.
        peak: the jobs whose peak of memory is measured.
        directions: for `jvpk`, the tangents of each argument, an axis of three in front.
        varies: whether the argument changes by a rounding from call to call, where what was
            computed for the last one could be found again.
    """

    name: str
    about: str
    make: Callable[..., Callable[..., Any]]
    arguments: Callable[[], tuple]
    targets: Mapping[str, float | None]
    dominates: str = ""
    operations: int = 0
    quick: bool = True
    peak: tuple[str, ...] = ()
    directions: Callable[[], tuple] | None = None
    varies: bool = False

    @property
    def jobs(self) -> tuple[str, ...]:
        return tuple(self.targets)


WORKLOADS: dict[str, Workload] = {}


def workload(name: str, about: str, arguments: Callable[[], tuple], **more: Any) -> Callable:
    """Register the function that makes f under a name; it may get several."""

    def register(make: Callable) -> Callable:
        WORKLOADS[name] = Workload(name, about, make, arguments, **more)
        return make

    return register


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
