"""NumPy's functions on symbolic arrays, by what they do, and those that are methods as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import buffers, choosing, fourier, matrices, moving, reductions  # noqa: F401
from .tables import METHODS, UFUNCS
from .value import FUNCTIONS, Symbolic

__all__ = ["METHODS", "UFUNCS"]


def method_of(f: Any) -> Callable[..., Any]:
    """A NumPy function as a method; PyTorch's names of axis and keepdims are understood."""

    def method(self: Symbolic, *args: Any, **kwargs: Any) -> Any:
        for theirs, ours in (("dim", "axis"), ("keepdim", "keepdims")):
            if theirs in kwargs:
                kwargs[ours] = kwargs.pop(theirs)
        return FUNCTIONS[f](self, *args, **kwargs)

    return method


for _name, _function in (
    *(("sum", np.sum), ("prod", np.prod), ("mean", np.mean), ("var", np.var), ("std", np.std)),
    *(("max", np.max), ("min", np.min), ("all", np.all), ("any", np.any), ("ptp", np.ptp)),
    *(("cumsum", np.cumsum), ("cumprod", np.cumprod), ("dot", np.dot), ("clip", np.clip)),
    *(("trace", np.trace), ("diagonal", np.diagonal), ("repeat", np.repeat), ("take", np.take)),
    *(("squeeze", np.squeeze), ("swapaxes", np.swapaxes), ("outer", np.outer)),
):
    setattr(Symbolic, _name, method_of(_function))
