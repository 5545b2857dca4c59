"""Questions about matrices, whose answers carry no derivative."""

from __future__ import annotations

from typing import Any

import scipy.linalg as sp

from ...engine.kinds.batched import Batched
from ...engine.levels.traced import TracedArray
from ...errors import LostDerivativeError
from ..dropin import drop_in

__all__ = ["bandwidth", "ishermitian", "issymmetric"]


def _value(x: Any, name: str) -> Any:
    """The plain value, which many matrices at once do not have."""
    while isinstance(x, TracedArray):
        if isinstance(x, Batched):
            raise LostDerivativeError(
                f"scipy.linalg.{name} answers with one Python value, but a batch of matrices may "
                f"have several: ask outside of vmap."
            )
        x = x.primal
    return x


@drop_in(sp.bandwidth)
def bandwidth(a: Any) -> tuple[int, int]:
    """scipy.linalg.bandwidth of the value."""
    return sp.bandwidth(_value(a, "bandwidth"))


@drop_in(sp.issymmetric)
def issymmetric(a: Any, atol: Any = None, rtol: Any = None) -> bool:
    """scipy.linalg.issymmetric of the value."""
    return sp.issymmetric(_value(a, "issymmetric"), atol, rtol)


@drop_in(sp.ishermitian)
def ishermitian(a: Any, atol: Any = None, rtol: Any = None) -> bool:
    """scipy.linalg.ishermitian of the value."""
    return sp.ishermitian(_value(a, "ishermitian"), atol, rtol)
