"""How the engine takes a Tensor apart and puts one together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..engine.kinds.batched_dual import general
from ..engine.kinds.dual import Dual
from ..engine.levels.buffer import Buffer
from ..engine.levels.level import newest_rank
from ..engine.levels.traced import TracedArray, raw
from ..engine.put_off.postponed import stop
from ..engine.requires_grad.graph import GraphValue, rebased
from ..engine.requires_grad.visible import DUAL_LEVEL, is_functional, visible
from ..errors import DualADError, LostDerivativeError, ShapeError

if TYPE_CHECKING:
    from .view import View

__all__ = [
    "State",
    "TensorFace",
    "as_shape_error",
    "deep",
    "operand",
    "shape_checked",
    "unwrap",
    "wrap",
    "wrap_all",
]


class State:
    """What a tensor is made of."""

    __slots__ = (
        "__dict__", "__weakref__", "_born", "_clock", "_grad", "_retains", "_value", "_view",
    )  # fmt: skip

    if TYPE_CHECKING:  # what the parts of Tensor use of each other; operators come from tables

        def __getattr__(self, name: str) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...

    #: the engine value, with what the mode of the context may hide
    _value: Any
    _grad: Any
    #: of which tensor it is a view, if it is one
    _view: View | None
    #: how often it was written in place
    _clock: int
    #: the rank of its time: levels of a higher one were opened later
    _born: int
    #: whether its gradient is kept though it is no leaf
    _retains: bool

    def __dask_tokenize__(self) -> Any:
        """dask does not take a tensor into its graph: it would be an array to it."""
        raise LostDerivativeError(
            "a function of dask.array would drop the derivative of a tensor: use tensors or dask "
            "arrays, which dualad.grad and dualad.jvp take as they are."
        )

    def _full(self) -> Any:
        """The value with what is hidden; a view is read again if its base was written to."""
        value = self._value if self._view is None else self._view.current(self)
        while type(value) is Dual and value.level.name == DUAL_LEVEL and not value.level.is_open:
            value = self._value = value.primal
        return value


class TensorFace:
    """The face of the engine that has PyTorch's names."""

    kind: ClassVar[type]

    @staticmethod
    def unwrap(x: Any) -> Any:
        """The engine value of a tensor, as the grad mode and the open levels let it be seen."""
        return visible(x._full())

    @staticmethod
    def wrap(value: Any) -> Any:
        """A tensor that holds a value."""
        t: Any = object.__new__(TensorFace.kind)
        t._value = stored(value)
        t._grad = t._view = None
        t._clock = 0
        t._born = newest_rank()
        t._retains = False
        return t

    @staticmethod
    def value(x: Any) -> Any:
        """The engine value of what user code returned: a tensor, an array or a number."""
        return operand(x) if isinstance(x, (State, TracedArray)) else np.asarray(x)

    @staticmethod
    def stopped(x: Any) -> Any:
        """A tensor without its derivatives."""
        return x.detach()


def stored(value: Any) -> Any:
    """A value as a tensor holds it: in memory of its own kind, also a 0-d one."""
    if type(value) is GraphValue:
        return value
    value = general(value)
    if isinstance(value, Buffer):
        value = value.primal
    if not isinstance(value, TracedArray):
        return np.asarray(value)
    if type(value) is Dual and is_functional(value):
        stop(value.level)  # A tensor may be written to in its memory.
    elif type(value) is Dual:
        plain = raw(value)
        if isinstance(plain, np.generic):
            return rebased(value, np.asarray(plain))
    return value


unwrap, wrap = TensorFace.unwrap, TensorFace.wrap


def operand(x: Any) -> Any:
    """The engine value of a tensor; anything else is itself."""
    return unwrap(x) if isinstance(x, State) else x


def deep(f: Callable[..., Any], x: Any) -> Any:
    """f of everything in nested lists, tuples and dicts."""
    if isinstance(x, (list, tuple)):
        parts = [deep(f, v) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if isinstance(x, dict):
        return {k: deep(f, v) for k, v in x.items()}
    return f(x)


def wrap_all(x: Any) -> Any:
    """The arrays in nested lists and tuples as tensors."""
    if isinstance(x, (np.ndarray, np.generic, TracedArray)):
        return wrap(x)
    if isinstance(x, (list, tuple)):
        parts = [wrap_all(v) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return x


def shape_checked(f: Callable[..., Any]) -> Callable[..., Any]:
    """f, in which NumPy's ValueError for shapes is a RuntimeError too, as in PyTorch."""

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except ValueError as error:
            raise as_shape_error(error) from None

    return checked


def as_shape_error(error: ValueError) -> ValueError:
    """NumPy's ValueError for shapes as a ShapeError; what says more stays as it is."""
    keeps = isinstance(error, (DualADError, IndexError))
    return error if keeps else ShapeError(str(error))
