"""How long a fresh interpreter takes to import a library, and to its first gradient."""

import os
import subprocess
import sys
from collections.abc import Iterator

from .backends import Backend
from .result import Result

__all__ = ["MILLISECONDS", "STARTUP_TARGETS", "startup"]

MILLISECONDS = "ms"
STARTUP_TARGETS = {"import": 30, "first gradient": 2}
# Whether a collection of garbage falls into the few hundred operations of a gradient is chance.
CODE = """
import gc
import time
import numpy
start = time.process_time()
{imports}
loaded = time.process_time()
gc.collect()
first = time.process_time()
{gradient}
print(1e3 * (loaded - start), 1e3 * (time.process_time() - first))
"""


def startup(backends: list[Backend], times: int = 5) -> Iterator[Result]:
    """Milliseconds to import, beyond NumPy, and to the first gradient: the least of several."""
    # As a user has it: compiled files are kept, and are there from the second time on.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for backend in backends:
        if backend.imports:
            code = CODE.format(imports=backend.imports, gradient=backend.gradient)
            runs = []
            for _ in range(times):
                done = subprocess.run(
                    [sys.executable, "-c", code],
                    capture_output=True,
                    text=True,
                    check=True,
                    env=environment,
                )
                runs.append(tuple(map(float, done.stdout.split())))
            for job, found in zip(STARTUP_TARGETS, zip(*runs, strict=True), strict=True):
                yield Result("start", job, backend.name, min(found), MILLISECONDS, rounds=times)
