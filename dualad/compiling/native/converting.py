"""Calls of native functions with arguments that lie otherwise than a kernel reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.staging.operations import Variable

__all__ = ["Slow"]


class Slow:
    """The call for arguments that lie otherwise than a kernel reads them."""

    def __init__(self, inputs: tuple[Variable, ...]):
        self.inputs = inputs
        self.fast: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        if len(args) != len(self.inputs):
            raise TypeError(f"a program of {len(self.inputs)} inputs got {len(args)}")
        return self.fast(*[_plain(v, a) for v, a in zip(self.inputs, args, strict=True)])


def _plain(v: Variable, a: Any) -> Any:
    found = np.asarray(a)
    if found.shape != v.shape or not np.can_cast(found.dtype, v.dtype, "same_kind"):
        raise TypeError(f"an input of a program is {found.dtype}{found.shape}, not {v!r}")
    if not v.is_array:
        return v.dtype.type(found[()])
    plain = np.array(found, v.dtype, order="C", copy=None, subok=False)
    aligned = plain.flags.aligned and plain.dtype.isnative and type(plain) is np.ndarray
    return plain if aligned else plain.copy()
