"""What is differentiated: functions written once, against a namespace like NumPy's."""

from . import chains, elementwise, models, sequences, jacobians, odes, factorisations  # noqa: F401, I001 - their order is that of the tables
from .workload import JOBS, WORKLOADS, Workload

__all__ = ["JOBS", "WORKLOADS", "Workload"]
