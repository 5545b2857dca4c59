"""SymPy and mpmath: imported when they are used, and named when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import MissingExtraError

__all__ = ["symbolic_extra"]


def symbolic_extra(module: str = "sympy") -> Any:
    """A module of the extra `symbolic`.

    Raises:
        MissingExtraError: it is not installed.

    >>> symbolic_extra("sympy").__name__
    'sympy'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name != module.partition(".")[0]:
            raise
        raise MissingExtraError(
            f"symbolic work needs {missing.name}, which is not installed: "
            "pip install 'dualad[symbolic]'"
        ) from None
