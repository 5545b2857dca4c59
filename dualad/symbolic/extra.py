"""SymPy and mpmath: imported when they are used, and named when they are missing."""

from __future__ import annotations

from typing import Any

from ..extras import required

__all__ = ["symbolic_extra"]


def symbolic_extra(module: str = "sympy") -> Any:
    """A module of the extra `symbolic`.

    Raises:
        MissingExtraError: it is not installed.

    >>> symbolic_extra("sympy").__name__
    'sympy'
    """
    return required(module, "symbolic work", "pip install 'dualad[symbolic]'")
