"""Warnings that can be kept quiet in one thread or task without touching the others.

`warnings.catch_warnings` changes the filters of the whole process, so that it must not be used
where the members of an ensemble run in threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from .errors import SensitivityWarning

__all__ = ["absent", "quietly", "warn"]

_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def warn(message: str, category: type[Warning] = SensitivityWarning, stacklevel: int = 1) -> None:
    """What `warnings.warn` does, unless it is inside of `quietly`; stacklevel 1 is the caller."""
    if not _QUIET.get():
        warnings.warn(message, category, stacklevel=stacklevel + 1)


@contextmanager
def quietly() -> Iterator[None]:
    """No warning of ours, and none of NumPy's about floating point, in this thread or task.

    >>> with quietly():
    ...     warn("not heard")
    """
    token = _QUIET.set(True)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _QUIET.reset(token)


def absent(names: Sequence[str], jacobian: np.ndarray, stacklevel: int = 3) -> list[str]:
    """A warning for parameters whose derivatives are all zero; the parameter is the last axis.

    Args:
        names: the parameters.
        jacobian: shape (*out, k), of all outputs.
        stacklevel: of the warning; 2 is who called the caller.
    """
    lost = [name for j, name in enumerate(names) if not jacobian[..., j].any()]
    if not lost:
        return []
    it = (
        "does not enter the model, or has" if len(lost) == 1 else "do not enter the model, or have"
    )
    note = f"{', '.join(lost)} {it} no effect of first order here: all derivatives are zero"
    warn(note, stacklevel=stacklevel)
    return [note]
