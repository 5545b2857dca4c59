"""What a caller gave, as the kind of thing that was asked for; or an error that says what it is.

Python and NumPy answer a wrong kind of argument with errors that name neither the argument nor
what it may be.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DualADError
from .errors import ModelError, SensitivityError
from .user_errors import failure

__all__ = [
    "called_with",
    "file_path",
    "generator",
    "is_among",
    "mapped",
    "members",
    "number",
    "numbers",
    "one_of",
    "seed_sequence",
]


def numbers(what: str, given: Any) -> np.ndarray:
    """Real numbers as an array of floats."""
    try:
        out = np.asarray(given)
        # NumPy makes NaN of None, drops imaginary parts, and reads numbers in texts.
        if out.dtype.kind not in "USc" and not any(v is None for v in _objects(out)):
            return np.asarray(given, float)
    except DualADError:
        raise
    except (TypeError, ValueError):
        pass
    raise SensitivityError(f"{what} must be real numbers, got {given!r}")


def _objects(array: np.ndarray) -> Iterable[Any]:
    return array.flat if array.dtype.kind == "O" else ()


def number(what: str, given: Any) -> float:
    """One real number as a float."""
    value = numbers(what, given)
    if value.shape != ():
        raise SensitivityError(f"{what} must be one real number, got {given!r}")
    return float(value)


def members(what: str, given: Any, of: str) -> list[Any]:
    """The members of a sequence; a text or a mapping is one, too."""
    if not isinstance(given, Iterable):
        raise SensitivityError(f"{what} must be a sequence of {of}, got {given!r}")
    return list(given)


def mapped(what: str, given: Any, of: str) -> dict[Any, Any]:
    """A mapping; None is an empty one."""
    if given is not None and not isinstance(given, Mapping):
        raise SensitivityError(f"{what} must be a mapping of {of}, got {given!r}")
    return dict(given or {})


def is_among(name: Any, names: Any) -> bool:
    """Whether a name is among others; what cannot be a key is none."""
    try:
        return name in names
    except (TypeError, ValueError):
        return False


def one_of(what: str, given: Any, names: Iterable[str]) -> Any:
    """One of several names."""
    known = tuple(names)
    if not isinstance(given, str) or given not in known:
        raise SensitivityError(f"{what} must be one of {', '.join(known)}, got {given!r}")
    return given


def generator(what: str, seed: Any) -> np.random.Generator:
    """A generator of random numbers: the one that was given, or one from a seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise _no_seed(what, seed) from None


def seed_sequence(what: str, seed: Any) -> np.random.SeedSequence:
    """What generators of their own are drawn from."""
    try:
        return np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise _no_seed(what, seed) from None


def _no_seed(what: str, seed: Any) -> SensitivityError:
    return SensitivityError(f"{what} must be a non-negative integer, got {seed!r}")


def file_path(what: str, given: Any) -> Path:
    """The path of a file."""
    if not isinstance(given, (str, os.PathLike)):
        raise SensitivityError(f"{what} must be the path of a file, got {given!r}")
    return Path(given)


def called_with(what: str, f: Callable[..., Any], *args: Any, expects: str) -> Any:
    """What a function of the user's returned; an exception of it as a ModelError."""
    try:
        return f(*args)
    except SensitivityError:
        raise
    except Exception as error:
        raise ModelError(failure(what, f, error, expects)) from error
