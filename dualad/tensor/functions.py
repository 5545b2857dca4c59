"""PyTorch's functions of tensors, as `dualad.exp(x)`, `dualad.stack([x, y])`, `dualad.where(...)`.

They take tensors: functions of arrays are NumPy's. Their names are in `dualad.tensor_functions`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..tensor_functions import IN_PLACE, METHODS
from .core import Tensor
from .creation import as_tensor, rand, randn, zeros_like
from .face import operand, shape_checked, unwrap, wrap
from .promotion import promoted

__all__ = [
    "broadcast_tensors",
    "cat",
    "concat",
    "concatenate",
    "einsum",
    "empty_like",
    "hstack",
    "imag",
    "is_tensor",
    "meshgrid",
    "rand_like",
    "randn_like",
    "real",
    "stack",
    "vstack",
    "where",
]

#: Functions whose first argument may be a number, as `dualad.sub(1, x)`.
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "subtract": operator.sub, "mul": operator.mul,
    "multiply": operator.mul, "div": operator.truediv, "divide": operator.truediv,
    "true_divide": operator.truediv, "floor_divide": operator.floordiv, "pow": operator.pow,
    "remainder": operator.mod,
}  # fmt: skip


def _refuse(x: Any, name: str, what: str = "") -> ArgumentError:
    remedy = f"; for arrays and numbers use numpy.{name}" if hasattr(np, name) else ""
    return ArgumentError(
        f"{name}(): {what or 'its first argument'} must be Tensor, not {type(x).__name__}{remedy}"
    )


def _is_other(x: Any) -> bool:
    """Whether x is a value of another kind, such as a symbolic one, with a tensor's methods."""
    return hasattr(x, "__dualad_value__")


def _wrapped(x: Any) -> Any:
    return x if _is_other(x) else wrap(x)


@cache
def _of_method(name: str) -> Callable[..., Any]:
    method, symbol = getattr(Tensor, name), OPERATORS.get(name)

    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            raise ArgumentError(
                f"{name}(): tensors are not written to by out=, which has no derivative: use "
                "copy_ of the tensor"
            )
        if isinstance(input, Tensor):
            return method(input, *args, **kwargs)
        if symbol is not None and isinstance(input, (bool, int, float, complex)):
            if len(args) == 1 and isinstance(args[0], Tensor) and not kwargs:
                return symbol(input, args[0])
        if _is_other(input):
            return getattr(input, name)(*args, **kwargs)
        raise _refuse(input, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{method.__doc__} The method of the tensor by that name."
    return function


def __getattr__(name: str) -> Any:
    # Not as globals of this module: any, sum, max, ... are Python's in it.
    if name in METHODS or name in IN_PLACE:
        return _of_method(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# --- several tensors -----------------------------------------------------------------------------


def _values(tensors: Any, name: str) -> list[Any]:
    """The engine values of a sequence of tensors, in one dtype."""
    if not isinstance(tensors, (tuple, list)):
        raise ArgumentError(
            f"{name}(): argument 'tensors' must be a tuple or list of Tensors, not "
            f"{type(tensors).__name__}"
        )
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor) and not _is_other(t):
            raise _refuse(t, name, f"element {k} of argument 'tensors'")
    values = [operand(t) for t in tensors]
    if any(map(_is_other, values)):
        return values
    if len({v.dtype for v in values}) > 1:
        common = reduce(lambda a, b: promoted(a, b)[0], values).dtype
        values = [v if v.dtype == common else v.astype(common) for v in values]
    return values


@shape_checked
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after the other along a dimension; empty ones of one dimension count not.

    >>> import dualad
    >>> dualad.cat([dualad.ones(2), dualad.zeros(1)])
    tensor([1., 1., 0.])
    """
    values = _values(tensors, "cat")
    if not values:
        raise ShapeError("cat(): expected a non-empty list of Tensors")
    return _wrapped(np.concatenate([v for v in values if v.shape != (0,)] or values[:1], dim))


concat = concatenate = cat


@shape_checked
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension.

    >>> import dualad
    >>> dualad.stack([dualad.ones(2), dualad.zeros(2)], dim=1)
    tensor([[1., 0.],
            [1., 0.]])
    """
    values = _values(tensors, "stack")
    if not values:
        raise ShapeError("stack(): expected a non-empty list of Tensors")
    return _wrapped(np.stack(values, dim))


@shape_checked
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors beside each other; see numpy.hstack."""
    return _wrapped(np.hstack(_values(tensors, "hstack")))


@shape_checked
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other, as rows; see numpy.vstack."""
    return _wrapped(np.vstack(_values(tensors, "vstack")))


@shape_checked
def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products of entries by Einstein's notation; see numpy.einsum.

    >>> import dualad
    >>> dualad.einsum("ij,j->i", dualad.ones(2, 3), dualad.ones(3))
    tensor([3., 3.])
    """
    tensors = operands[0] if len(operands) == 1 and isinstance(operands[0], list) else operands
    return _wrapped(np.einsum(equation, *_values(list(tensors), "einsum")))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of the tensors, all in the shape to which they broadcast."""
    shape = np.broadcast_shapes(*[t.shape for t in tensors])
    return tuple([t.expand(shape) for t in tensors])


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid from those along each dimension; see numpy.meshgrid."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    values = np.meshgrid(*_values(list(given), "meshgrid"), indexing=indexing)  # type: ignore[call-overload]
    return tuple(map(_wrapped, values))


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """input where a condition holds, other elsewhere; without them the indices where it holds.

    >>> import dualad
    >>> x = dualad.tensor([-1.0, 2.0])
    >>> dualad.where(x > 0, x, 0.0)
    tensor([0., 2.])
    """
    if _is_other(condition):
        return np.where(condition, input, other)
    if not isinstance(condition, Tensor):
        raise _refuse(condition, "where")
    if input is None and other is None:
        return tuple(map(wrap, np.nonzero(unwrap(condition))))
    if isinstance(input, Tensor):
        return input.where(condition, other)
    if isinstance(other, Tensor):
        return other.where(condition.logical_not(), input)
    return as_tensor(input).where(condition, as_tensor(other))


# --- parts, likenesses, questions ----------------------------------------------------------------


def real(input: Tensor) -> Tensor:
    """The real parts."""
    if not isinstance(input, Tensor) and not _is_other(input):
        raise _refuse(input, "real")
    return input.real


def imag(input: Tensor) -> Tensor:
    """The imaginary parts."""
    if not isinstance(input, Tensor) and not _is_other(input):
        raise _refuse(input, "imag")
    return input.imag


def is_tensor(obj: object) -> bool:
    """Whether something is a tensor."""
    return isinstance(obj, Tensor)


def empty_like(
    x: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor to be filled, in the shape and dtype of x; its entries are zero until then."""
    return zeros_like(x, dtype=dtype, device=device, requires_grad=requires_grad)


def rand_like(
    x: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Random numbers between 0 and 1, in the shape and dtype of x."""
    return rand(x.shape, dtype=dtype or x.dtype, device=device, requires_grad=requires_grad)


def randn_like(
    x: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Normally distributed random numbers, in the shape and dtype of x."""
    return randn(x.shape, dtype=dtype or x.dtype, device=device, requires_grad=requires_grad)
