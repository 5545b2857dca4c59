"""Where and with what a run was made."""

import datetime
import os
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from .backends import Backend

__all__ = ["machine"]


def machine(backends: Sequence[Backend]) -> dict[str, Any]:
    """The processor, the load of it, and the versions."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "versions": {b.package: b.version() for b in backends},
    }


def processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
