"""The dtype in which PyTorch computes with two operands.

The category comes first (booleans, integers, floats, complex numbers). A tensor with dimensions
beats a 0-d one of its category, both beat a Python number, and integers meet floats in the float's
dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["DEFAULT", "category", "floating", "promoted"]

#: The dtype of new floating point numbers.
DEFAULT = np.dtype(np.float32)


def category(dtype: Any) -> int:
    """0 for booleans, 1 for integers, 2 for floats, 3 for complex numbers."""
    return {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}[np.dtype(dtype).kind]


def promoted(a: Any, b: Any) -> tuple[Any, Any]:
    """Both operands in the dtype that PyTorch computes in; Python numbers stay as they are."""
    if _is_number(a) or _is_number(b):
        return _beside(a, b), _beside(b, a)
    x, y = np.dtype(a.dtype), np.dtype(b.dtype)
    if x == y:
        return a, b
    common = _common(x, y, a.shape != (), b.shape != ())
    return _cast(a, common), _cast(b, common)


def floating(x: Any) -> Any:
    """x, integers and booleans in the default floating point dtype."""
    return _cast(x, DEFAULT) if not _is_number(x) and category(x.dtype) < 2 else x


def _is_number(x: Any) -> bool:
    # np.float64 and np.complex128 are Python numbers here, as PyTorch takes them.
    return isinstance(x, bool | int | float | complex)


def _beside(x: Any, number: Any) -> Any:
    """An operand of which one is a Python number: an integer tensor meets a float as a float."""
    if _is_number(x):
        return x.item() if isinstance(x, np.generic) else x
    return floating(x) if isinstance(number, float | complex) else x


def _common(x: np.dtype, y: np.dtype, x_has_dims: bool, y_has_dims: bool) -> np.dtype:
    if x_has_dims != y_has_dims:
        strong, weak = (x, y) if x_has_dims else (y, x)
        if category(strong) >= category(weak):
            return strong
    low, high = sorted((x, y), key=category)
    return high if category(low) < 2 <= category(high) else np.promote_types(x, y)


def _cast(x: Any, dtype: np.dtype) -> Any:
    return x if x.dtype == dtype else x.astype(dtype)
