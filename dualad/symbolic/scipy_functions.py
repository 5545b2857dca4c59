"""Functions of SciPy that are no ufuncs, on symbolic arrays: one line each, by SciPy's names.

They are reached through `dualad.scipy`; SciPy's own functions take nothing but numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arrays  # noqa: F401  (NumPy's functions on symbolic arrays)
from .errors import REMEDY, NotSymbolicError

__all__ = ["call_scipy"]


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    total = np.sum(np.exp(a) if b is None else b * np.exp(a), axis=axis, keepdims=keepdims)
    return (np.log(np.abs(total)), np.sign(total)) if return_sign else np.log(total)


def softmax(x: Any, axis: Any = None) -> Any:
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


#: A function by its module and name.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "special.logsumexp": logsumexp,
    "special.softmax": softmax,
    "special.log_softmax": log_softmax,
    "linalg.inv": lambda a: np.linalg.inv(a),
    "linalg.det": lambda a: np.linalg.det(a),
    "linalg.norm": lambda a, ord=None, axis=None, keepdims=False: np.linalg.norm(
        a, ord, axis, keepdims
    ),
    "linalg.solve": lambda a, b: np.linalg.solve(a, b),
}


def call_scipy(original: Any, args: tuple, kwargs: dict) -> Any:
    """A function of SciPy of symbolic arrays.

    Raises:
        NotSymbolicError: it is not known on symbols.
    """
    module = original.__module__.removeprefix("scipy.").partition(".")[0]
    name = f"{module}.{original.__name__}"
    if name not in FUNCTIONS:
        raise NotSymbolicError(f"scipy.{name} is not known on symbols: {REMEDY}")
    kwargs = {k: v for k, v in kwargs.items() if not k.startswith(("check_", "overwrite_"))}
    return FUNCTIONS[name](*args, **kwargs)
