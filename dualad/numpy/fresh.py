"""NumPy's functions that make arrays: buffers while a transformation runs, else plain arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from ..engine.levels.buffer import buffer
from ..engine.levels.level import is_running
from ..engine.levels.rules import FUNCTIONS

#: Made by rules of their own, from sizes and from values.
BY_RULE = (
    "arange", "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray",
    "asfortranarray", "empty", "eye", "frombuffer", "fromfile", "fromfunction", "fromiter",
    "fromstring", "full", "genfromtxt", "identity", "loadtxt", "ones", "require", "tri", "zeros",
)  # fmt: skip
#: NumPy's own, whose plain results are fresh.
FROM_NUMPY = (
    "bartlett", "blackman", "copy", "diag", "diagflat", "empty_like", "full_like", "geomspace",
    "hamming", "hanning", "kaiser", "linspace", "logspace", "ones_like", "repeat", "resize",
    "tile", "tril", "triu", "vander", "zeros_like",
)  # fmt: skip
#: Traced values may be where NumPy does not look for them, if the array itself is a buffer.
BY_FIRST = (
    "apply_along_axis", "apply_over_axes", "full_like", "nan_to_num", "pad", "piecewise",
    "polyint", "unwrap",
)  # fmt: skip

__all__ = sorted({*BY_RULE, *FROM_NUMPY, *BY_FIRST})


def _by_rule(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def make(*args: Any, **kwargs: Any) -> Any:
        return FUNCTIONS[f](*args, **kwargs) if is_running() else f(*args, **kwargs)

    return make


def _from_numpy(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def make(*args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)
        return buffer(out) if is_running() else out

    return make


def _by_first(f: Callable[..., Any], place: int = 0) -> Callable[..., Any]:
    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_running() and len(args) > place:
            args = (*args[:place], buffer(args[place]), *args[place + 1 :])
        return f(*args, **kwargs)

    return call


for _name in BY_RULE:
    globals()[_name] = _by_rule(getattr(numpy, _name))
for _name in FROM_NUMPY:
    globals()[_name] = _from_numpy(getattr(numpy, _name))
for _name in BY_FIRST:
    _place = {"apply_along_axis": 2, "apply_over_axes": 1}.get(_name, 0)
    globals()[_name] = _by_first(globals().get(_name, getattr(numpy, _name)), _place)
