"""Optional dependencies: imported when they are used, and named when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingExtraError

__all__ = ["required"]


def required(module: str, work: str, remedy: str) -> Any:
    """A module that some work needs and an extra brings.

    Raises:
        MissingExtraError: it is not installed; the error names the work and the remedy.

    >>> required("math", "arithmetic", "a Python that is whole").__name__
    'math'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        name = module.partition(".")[0]
        if missing.name is None or missing.name.partition(".")[0] != name:
            raise
        raise MissingExtraError(f"{work} needs {name}, which is not installed: {remedy}") from None
