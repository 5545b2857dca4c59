"""The Tensor: NumPy's protocols, what is known of it, and how its numbers leave it."""

from __future__ import annotations

import builtins
import copy
from typing import Any

import numpy as np

from ..engine.arrays.storage import overlap
from ..engine.kinds.dual import Dual
from ..engine.levels.buffer import buffer
from ..engine.levels.level import refused
from ..engine.levels.traced import TracedArray, raw
from ..engine.programs.variable import LinearVariable
from ..engine.requires_grad.graph import GraphValue
from ..engine.requires_grad.visible import is_functional
from ..errors import LostDerivativeError, ShapeError
from .devices import CPU, device as Device
from .face import State, TensorFace, deep, operand, shape_checked, unwrap, wrap, wrap_all
from .history import History
from .operations import Operations
from .shapes import Shapes
from .writing import Writing

__all__ = ["Tensor"]

#: NumPy functions that write into their first argument.
WRITING = frozenset({np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal})


class Tensor(Operations, History, Writing, Shapes):
    """A multi-dimensional array with PyTorch's interface: requires_grad, grad, backward, duals.

    Make one with `dualad.tensor`. NumPy functions work on tensors and give tensors.
    """

    __slots__ = ()
    __dualad_face__ = TensorFace
    __array_priority__ = 2000.0

    # --- NumPy's protocols -------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        kwargs = deep(operand, kwargs)
        if method == "at":
            return _written_by(ufunc.at, inputs, kwargs)
        result = getattr(ufunc, method)(*map(_weak, inputs), **kwargs)
        return wrap_all(result) if out is None else _stored(result, out)

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        out = kwargs.pop("out", None)
        if func in WRITING:
            return _written_by(func, args, kwargs)
        values = deep(operand, args), deep(operand, kwargs)
        result = func(*values[0], **values[1])
        return wrap_all(_own(result, values)) if out is None else _stored(result, out)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.numpy(), dtype, copy=copy)

    # --- what it is --------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its dimensions."""
        return self._value.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of its entries, a NumPy dtype."""
        return np.dtype(self._value.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    dim = ndimension = lambda self: len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one dimension."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """The number of entries."""
        return int(np.prod(self.shape, dtype=int))

    nelement = numel

    def stride(self, dim: builtins.int | None = None) -> Any:
        """For each dimension, or one, how many entries lie between neighbours in memory."""
        array = np.asarray(raw(self._full()))
        steps = tuple([s // array.itemsize for s in array.strides])
        return steps if dim is None else steps[dim]

    @property
    def itemsize(self) -> builtins.int:
        """The size of an entry in bytes."""
        return self.dtype.itemsize

    def element_size(self) -> builtins.int:
        """The size of an entry in bytes."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> builtins.int:
        """The size of all entries in bytes."""
        return self.numel() * self.dtype.itemsize

    @property
    def device(self) -> Device:
        """Where it is: always the CPU."""
        return CPU

    def is_floating_point(self) -> builtins.bool:
        """Whether the dtype is a real float."""
        return self.dtype.kind == "f"

    def is_complex(self) -> builtins.bool:
        """Whether the dtype is complex."""
        return self.dtype.kind == "c"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __repr__(self) -> str:
        text = np.array2string(np.asarray(raw(self._full())), separator=", ", prefix="tensor(")
        kind = (
            "" if self.dtype in (np.float32, np.int64, np.bool_) else f", dtype={self.dtype.name}"
        )
        return f"tensor({text}{kind}{self._derivative()})"

    def _derivative(self) -> str:
        """What the representation says of its derivatives."""
        value = self._full()
        if type(value) is Dual and not is_functional(value):
            t = raw(value.tangent)
            at = (
                np.array2string(np.asarray(t), separator=", ")
                if isinstance(t, np.ndarray | np.generic)
                else t
            )
            return f", tangent={at}" if value.level.is_open else ""
        if is_functional(value):
            return f", {value.kind}"
        if self.grad_fn is not None:
            return f", grad_fn={self.grad_fn!r}"
        return ", requires_grad=True" if self.requires_grad else ""

    def __format__(self, spec: str) -> str:
        return format(raw(self._full()).item(), spec) if self.shape == () else repr(self)

    def __hash__(self) -> builtins.int:
        return id(self)

    def __contains__(self, x: Any) -> builtins.bool:
        return builtins.bool((self == x).any())

    @shape_checked
    def __bool__(self) -> builtins.bool:
        if self.numel() != 1:
            many = "more than one value" if self.numel() else "no values"
            raise ShapeError(
                f"Boolean value of Tensor with {many} is ambiguous: use any() or all()"
            )
        return builtins.bool(unwrap(self))

    # --- leaving -----------------------------------------------------------------------------

    def numpy(self, *, force: builtins.bool = False) -> np.ndarray:
        """The plain array, sharing memory: what is written to it is not noticed by the tensor.

        Refused for a tensor with a derivative: detach it first, or say force=True, which does.
        """
        if force:
            return self.detach().numpy()
        if type(unwrap(self)) is GraphValue:
            raise LostDerivativeError(
                "can't call numpy() on Tensor that requires grad, which would drop its "
                "derivative: use tensor.detach().numpy() instead"
            )
        return self._plain("numpy()")

    def _plain(self, what: str) -> np.ndarray:
        v = unwrap(self)
        v = v.primal if type(v) is GraphValue else v
        if type(v) is LinearVariable:
            v._lost(what)
        if isinstance(v, TracedArray):
            raise LostDerivativeError(
                refused(
                    f"{what} on a tensor that carries a derivative ({v.kind}) would drop it: "
                    "compute with tensor operations, or detach() first where the derivative is "
                    "not wanted"
                )
            )
        return v

    @shape_checked
    def item(self) -> Any:
        """The one entry as a Python number."""
        if self.numel() != 1:
            raise ShapeError(
                f"a Tensor with {self.numel()} elements cannot be converted to a Python scalar: "
                "only one element tensors can"
            )
        return self._plain("item()").item()

    def tolist(self) -> Any:
        """The entries as nested lists of Python numbers."""
        return self._plain("tolist()").tolist()

    def __float__(self) -> builtins.float:
        return builtins.float(self.item())

    def __int__(self) -> builtins.int:
        return builtins.int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> builtins.int:
        return self._plain("index").__index__()

    def data_ptr(self) -> builtins.int:
        """The address of the first entry."""
        return np.asarray(raw(self._full())).__array_interface__["data"][0]

    def __reduce__(self) -> Any:
        value = self._full()
        if isinstance(value, TracedArray) and (not self.is_leaf or type(value) is not GraphValue):
            raise LostDerivativeError("only leaf tensors can be pickled or copied: detach() first")
        return _rebuilt, (np.array(raw(value)), self.requires_grad)

    def __copy__(self) -> Any:
        """Another tensor in the same memory."""
        self.__reduce__()
        return self.detach().requires_grad_(self.requires_grad)

    def __deepcopy__(self, memo: dict) -> Any:
        value = self._full()
        if isinstance(value, TracedArray) and type(value) is not GraphValue:
            return self.clone()
        f, arguments = self.__reduce__()
        out = f(*arguments)
        out._grad = copy.deepcopy(self._grad, memo)
        return out


TensorFace.kind = Tensor


def _weak(x: Any) -> Any:
    """An operand of a ufunc; np.float64 and np.complex128 are Python numbers beside a tensor."""
    return x.item() if type(x) in (np.float64, np.complex128) else operand(x)


def _rebuilt(value: np.ndarray, requires_grad: builtins.bool) -> Any:
    return wrap(value).requires_grad_(requires_grad)


def _own(result: Any, values: Any) -> Any:
    """A result of a NumPy function in memory of its own: only methods of Tensor make views."""
    arrays: list[Any] = []
    deep(lambda v: arrays.append(v) if isinstance(v, np.ndarray | TracedArray) else None, values)

    def own(r: Any) -> Any:
        shared = any(overlap(r, a) for a in arrays)
        return np.copy(r) if shared and isinstance(r, np.ndarray | TracedArray) else r

    return deep(own, result)


def _written_by(func: Any, args: tuple, kwargs: dict) -> None:
    """Call a function that writes into its first argument, a tensor or an array."""
    target = args[0]
    value = target
    if isinstance(target, State):
        target._leave_hooks()
        value = unwrap(target)
        value = buffer(np.array(value)) if isinstance(value, np.ndarray) else +value
    func(value, *deep(operand, args[1:]), **deep(operand, kwargs))
    if isinstance(target, State):
        target._write(value)


def _stored(result: Any, out: Any) -> Any:
    """A result written to out=, tensors or arrays."""
    outs = out if isinstance(out, tuple) else (out,)
    results = result if isinstance(result, tuple) else (result,)
    for target, value in zip(outs, results, strict=True):
        if isinstance(target, State):
            target._write(value)
        elif isinstance(value, TracedArray):
            raise LostDerivativeError(
                "a tensor with a derivative cannot be stored into a plain ndarray (out=, or an "
                "augmented assignment to one): write into a tensor"
            )
        else:
            target[...] = value
    return out if isinstance(out, tuple) and len(out) > 1 else outs[0]
