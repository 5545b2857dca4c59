"""scipy.sparse.linalg, whose linear systems differentiate in both sides.

On plain arguments each function is SciPy's; what is not in `__all__` is passed through, and
refuses traced values.

>>> import numpy as np, dualad
>>> import dualad.scipy.sparse as sparse
>>> from dualad.scipy.sparse.linalg import spsolve
>>> A = sparse.csc_array(np.array([[2.0, 0.0], [1.0, 4.0]]))
>>> dualad.grad(lambda b: np.sum(spsolve(A, b)))(np.ones(2))
array([0.375, 0.25 ])
"""

from __future__ import annotations

import inspect as _inspect
from typing import Any

import scipy.sparse.linalg as _original

from ...ops.sparse.construct import passed_on as _passed_on
from ...ops.sparse.systems import factorized, norm, splu, spsolve

__all__ = ["factorized", "norm", "splu", "spsolve"]


def __getattr__(name: str) -> Any:
    try:
        value = getattr(_original, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    if not _inspect.isfunction(value):
        return value
    covered = [f"scipy.sparse.linalg.{c}" for c in __all__]
    return _passed_on(value, f"scipy.sparse.linalg.{name}", covered)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_original)})
