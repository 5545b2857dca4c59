"""What tells one ensemble from another, so that a file of one is not taken for the other's."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..functions.sampling import ParameterSets
from ..parameters.parameters import Parameters
from .problem import Problem

__all__ = ["fingerprint"]


def fingerprint(problem: Problem, sets: ParameterSets, seed: Any) -> str:
    """A hash of the model's code, its other arguments, and the sets."""
    parts = [
        problem.analysis.__name__,
        describe(problem.arguments),
        describe(problem.parameters),
        repr(sets.names),
        hashlib.sha256(np.ascontiguousarray(sets.values).tobytes()).hexdigest(),
        repr(seed),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def describe(x: Any) -> str:
    """An object as text that is the same in another process, for the same code and numbers."""
    if isinstance(x, Parameters):
        return repr([(name, vars(p)) for name, p in x.details()])
    if isinstance(x, np.ndarray):
        return f"{x.shape}{x.dtype}{hashlib.sha256(x.tobytes()).hexdigest()}"
    if isinstance(x, Mapping):
        return "{" + ",".join(f"{k!r}:{describe(v)}" for k, v in x.items()) + "}"
    if isinstance(x, list | tuple):
        return "(" + ",".join(map(describe, x)) + ")"
    code = getattr(x, "__code__", None)
    if code is not None:
        closed = [cell.cell_contents for cell in getattr(x, "__closure__", None) or ()]
        return f"{x.__qualname__}:{_code(code)}:{describe(closed)}:{describe(x.__defaults__)}"
    if callable(x):
        return getattr(x, "__qualname__", None) or f"{type(x).__qualname__}:{describe(_state(x))}"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(x))


def _code(code: Any) -> str:
    constants = [_code(c) if hasattr(c, "co_code") else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()}{code.co_names}{constants}"


def _state(x: Any) -> dict[str, Any]:
    return dict(getattr(x, "__dict__", {}))
