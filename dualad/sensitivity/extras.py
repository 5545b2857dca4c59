"""What the extra `sens` brings: imported when it is used, and named when it is missing."""

from __future__ import annotations

from typing import Any

from ..extras import required

__all__ = ["extra"]


def extra(module: str) -> Any:
    """A module of the extra `sens`.

    Raises:
        MissingExtraError: it is not installed.

    >>> extra("scipy.integrate").__name__
    'scipy.integrate'
    """
    return required(module, "sensitivity analysis", "pip install dualad[sens]")
