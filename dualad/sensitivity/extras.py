"""Optional dependencies: imported when they are used, and named when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import MissingExtraError

__all__ = ["extra"]


def extra(module: str) -> Any:
    """A module of the extra `sens`.

    Raises:
        MissingExtraError: it is not installed.

    >>> extra("scipy.integrate").__name__
    'scipy.integrate'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        name = module.partition(".")[0]
        if missing.name is None or missing.name.partition(".")[0] != name:
            raise
        raise MissingExtraError(
            f"sensitivity analysis needs {name}, which is not installed: pip install dualad[sens]"
        ) from None
