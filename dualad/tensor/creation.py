"""Making tensors: from data, of one value, in a sequence, at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray
from ..errors import ArgumentError, NotDifferentiableError
from .core import Tensor
from .draws import generator, manual_seed
from .face import wrap
from .promotion import DEFAULT

__all__ = [
    "arange",
    "as_tensor",
    "empty",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "linspace",
    "manual_seed",
    "ones",
    "ones_like",
    "rand",
    "randn",
    "tensor",
    "zeros",
    "zeros_like",
]


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor with a copy of data.

    Python floats become float32 as in PyTorch; arrays and NumPy scalars keep their dtype.

    >>> import numpy as np, dualad
    >>> dualad.tensor(1.0).dtype, dualad.tensor(np.ones(2)).dtype
    (dtype('float32'), dtype('float64'))
    """
    if isinstance(data, Tensor):
        data = data.detach()._value
    array = np.array(data, dtype=dtype)
    if dtype is None and not isinstance(data, (np.ndarray, np.generic)):
        array = array.astype(
            {"f": np.float32, "c": np.complex64}.get(array.dtype.kind, array.dtype)
        )
    if array.dtype.kind not in "fciub":
        raise NotDifferentiableError(f"a tensor holds numbers or booleans, not {array.dtype}")
    return wrap(array).requires_grad_(requires_grad)


def as_tensor(data: Any, *, dtype: Any = None) -> Tensor:
    """data as a tensor, sharing memory with an array of the right dtype."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, TracedArray):
        return wrap(data)
    if isinstance(data, np.ndarray):
        return wrap(np.asarray(data, dtype))
    return tensor(data, dtype=dtype)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares the memory of an array."""
    if not isinstance(array, np.ndarray):
        raise ArgumentError(f"from_numpy takes an ndarray, not {type(array).__name__}")
    return wrap(array)


def _size(size: tuple) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def full(size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of one value."""
    value = tensor(fill_value, dtype=dtype)._value
    shape = size if isinstance(size, (tuple, list)) else (size,)
    return wrap(np.full(shape, value, value.dtype)).requires_grad_(requires_grad)


def zeros(*size: Any, dtype: Any = DEFAULT, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros, float32 unless another dtype is named."""
    return wrap(np.zeros(_size(size), dtype or DEFAULT)).requires_grad_(requires_grad)


def ones(*size: Any, dtype: Any = DEFAULT, requires_grad: bool = False) -> Tensor:
    """A tensor of ones, float32 unless another dtype is named."""
    return wrap(np.ones(_size(size), dtype or DEFAULT)).requires_grad_(requires_grad)


def empty(*size: Any, dtype: Any = DEFAULT, requires_grad: bool = False) -> Tensor:
    """A tensor to be filled; its entries are zero until then."""
    return zeros(*size, dtype=dtype, requires_grad=requires_grad)


def full_like(
    x: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """One value in the shape and dtype of x."""
    if hasattr(x, "__dualad_value__"):  # a value of another kind, such as a symbolic one
        return np.full_like(x, fill_value)
    return wrap(np.full(x.shape, fill_value, dtype or x.dtype)).requires_grad_(requires_grad)


def zeros_like(x: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and dtype of x."""
    return full_like(x, 0, dtype=dtype, requires_grad=requires_grad)


def ones_like(x: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape and dtype of x."""
    return full_like(x, 1, dtype=dtype, requires_grad=requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = DEFAULT) -> Tensor:
    """The identity matrix."""
    return wrap(np.eye(n, m, dtype=dtype))


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """The numbers from start (default 0) to end, exclusive."""
    start, end = (0, start) if end is None else (start, end)
    values = np.arange(start, end, step)
    return wrap(
        values if dtype is None and values.dtype.kind == "i" else values.astype(dtype or DEFAULT)
    )


def linspace(start: float, end: float, steps: int, *, dtype: Any = DEFAULT) -> Tensor:
    """Numbers at equal distances from start to end, inclusive."""
    return wrap(np.linspace(start, end, steps, dtype=dtype))


def rand(*size: Any, dtype: Any = DEFAULT, requires_grad: bool = False) -> Tensor:
    """Random numbers between 0 and 1."""
    return wrap(np.asarray(generator().random(_size(size))).astype(dtype)).requires_grad_(
        requires_grad
    )


def randn(*size: Any, dtype: Any = DEFAULT, requires_grad: bool = False) -> Tensor:
    """Normally distributed random numbers."""
    values = np.asarray(generator().standard_normal(_size(size)))
    return wrap(values.astype(dtype)).requires_grad_(requires_grad)
