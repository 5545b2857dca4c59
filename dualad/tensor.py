"""The PyTorch face: Tensor has PyTorch's names and meanings over the one engine.

A Tensor is a box with an identity; what it holds is an engine value: a plain array, a dual of a
dual_level, a value of the requires_grad graph, or a traced value of a transformation.
"""

from __future__ import annotations

import builtins
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .engine.dual import Dual
from .engine.grad_mode import is_grad_enabled
from .engine.graph import GraphValue, Node, graph_value, rebased, without_graph
from .engine.storage import bump, copy_into, shares_memory, version
from .engine.traced import Buffer, TracedArray, buffer, raw
from .errors import (
    ArgumentError,
    LevelError,
    LostDerivativeError,
    NotDifferentiableError,
    ShapeError,
)
from .ops.indexing import replaced, scatter

__all__ = [
    "Tensor",
    "TensorFace",
    "as_tensor",
    "ones",
    "ones_like",
    "tensor",
    "zeros",
    "zeros_like",
]


class TensorFace:
    """How the engine takes a Tensor apart and puts one together."""

    @staticmethod
    def unwrap(x: Any) -> Any:
        """The engine value of a tensor, as the grad mode and the open levels let it be seen."""
        v = x._value if x._base is None else x._current()
        if isinstance(v, TracedArray):
            while type(v) is Dual and not v.level.is_open and v.level.name == "dual_level":
                v = v.primal
            if not is_grad_enabled():
                v = without_graph(v)
        return v

    @staticmethod
    def wrap(value: Any) -> Any:
        t = object.__new__(Tensor)
        if isinstance(value, Buffer):
            value = value.primal
        elif type(value) is Dual and value.level.name == "dual_level":
            plain = raw(value)
            if isinstance(plain, np.generic):
                value = rebased(value, np.asarray(plain))
        t._value = value if isinstance(value, TracedArray) else np.asarray(value)
        t._grad = t._base = t._locked = None
        t._clock = 0
        return t

    @staticmethod
    def value(x: Any) -> Any:
        """The engine value of what user code returned: a tensor, an array or a number."""
        return TensorFace.unwrap(x) if isinstance(x, Tensor) else np.asarray(x)


unwrap, wrap = TensorFace.unwrap, TensorFace.wrap


class ValuesAndIndices(NamedTuple):
    """What sort, max and min along a dimension give."""

    values: Tensor
    indices: Tensor


def operand(x: Any) -> Any:
    return unwrap(x) if isinstance(x, Tensor) else x


def _deep(f: Callable[..., Any], x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(_deep(f, v) for v in x)
    if isinstance(x, dict):
        return {k: _deep(f, v) for k, v in x.items()}
    return f(x)


def _wrap_result(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.generic, TracedArray)):
        return wrap(x)
    if hasattr(x, "_fields"):
        return type(x)(*map(_wrap_result, x))
    return type(x)(map(_wrap_result, x)) if type(x) in (list, tuple) else x


class Tensor:
    """A multi-dimensional array with PyTorch's interface: requires_grad, grad, backward, duals.

    Make one with `dualad.tensor`. NumPy functions work on tensors and give tensors.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_base",
        "_clock",
        "_grad",
        "_locked",
        "_put",
        "_read",
        "_seen",
        "_value",
    )
    __dualad_face__ = TensorFace
    __array_priority__ = 2000.0

    _value: Any
    _grad: Tensor | None
    #: the tensor this one is a view of, how to read it from there and to put it back
    _base: Tensor | None
    _read: Callable[[Any], Any]
    _put: Callable[[Any, Any], Any]
    #: why it may not be written in place, if so
    _locked: str | None
    #: how often this tensor was written in place; a view has seen its base at `_seen`
    _clock: int
    _seen: int

    # --- NumPy's protocols ---------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = getattr(ufunc, method)(*map(operand, inputs), **_deep(operand, kwargs))
        return _wrap_result(out)

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        return _wrap_result(func(*_deep(operand, args), **_deep(operand, kwargs)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.numpy(), dtype)

    # --- what it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return self._value.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of its entries, a NumPy dtype."""
        return np.dtype(self._value.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one axis."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """The number of entries."""
        return int(np.prod(self.shape, dtype=int))

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
        extra = ""
        if type(self._value) is GraphValue:
            node = self._value.tangent
            extra = (
                ", requires_grad=True"
                if node.entry is None and not node.freed
                else f", grad_fn={node!r}"
            )
        elif isinstance(self._value, TracedArray):
            extra = f", {self._value.kind}"
        text = np.array2string(np.asarray(raw(self._value)), separator=", ", prefix="tensor(")
        kind = (
            "" if self.dtype in (np.float32, np.int64, np.bool_) else f", dtype={self.dtype.name}"
        )
        return f"tensor({text}{kind}{extra})"

    def __format__(self, spec: str) -> str:
        return format(raw(self._value).item(), spec) if self.shape == () else repr(self)

    __hash__ = object.__hash__

    def __bool__(self) -> builtins.bool:
        if isinstance(self._value, TracedArray):
            return bool(unwrap(self))
        return builtins.bool(self._value)

    # --- leaving ---------------------------------------------------------------------------------

    def numpy(self) -> np.ndarray:
        """The plain array, sharing memory; refused for a tensor with a derivative (detach it)."""
        v = unwrap(self)
        if type(v) is GraphValue:
            raise LostDerivativeError(
                "numpy() on a tensor that requires grad would drop its derivative: use "
                "tensor.detach().numpy()"
            )
        return self._plain("numpy()")

    def _plain(self, what: str) -> np.ndarray:
        v = without_graph(unwrap(self))
        if isinstance(v, TracedArray):
            raise LostDerivativeError(
                f"{what} on a tensor that carries a derivative ({v.kind}) would drop it: compute "
                "with tensor operations, or detach() first where the derivative is not wanted"
            )
        return v

    def item(self) -> Any:
        """The one entry as a Python number."""
        return self._plain("item()").item()

    def tolist(self) -> Any:
        """The entries as nested lists of Python numbers."""
        return self._plain("tolist()").tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        return self._plain("index").__index__()

    def detach(self) -> Tensor:
        """The same values, sharing memory, without any derivative."""
        from .transforms.custom import stop_gradient

        return wrap(stop_gradient(unwrap(self)))

    def clone(self) -> Tensor:
        """A copy with the same derivative."""
        v = unwrap(self)
        return wrap(+v if isinstance(v, TracedArray) else v.copy())

    def data_ptr(self) -> int:
        """The address of the first entry."""
        return np.asarray(raw(self._value)).__array_interface__["data"][0]

    def to(self, dtype: Any) -> Tensor:
        """The tensor in another dtype."""
        dtype = dtype.dtype if isinstance(dtype, Tensor) else np.dtype(dtype)
        return self if dtype == self.dtype else wrap(unwrap(self).astype(dtype))

    def double(self) -> Tensor:
        """The tensor in float64."""
        return self.to(np.float64)

    def float(self) -> Tensor:
        """The tensor in float32."""
        return self.to(np.float32)

    def __reduce__(self) -> Any:
        if isinstance(self._value, TracedArray) and not self.is_leaf:
            raise LostDerivativeError("only leaf tensors can be pickled or copied: detach() first")
        return _rebuild, (np.asarray(raw(self._value)), self.requires_grad)

    def __deepcopy__(self, memo: dict) -> Tensor:
        if isinstance(self._value, TracedArray) and type(self._value) is not GraphValue:
            return self.clone()
        f, (value, flag) = self.__reduce__()
        return f(value.copy(), flag)

    # --- views and writing in place -------------------------------------------------------------

    def _current(self) -> Any:
        """The value of a view: read again from its base if that has been written to."""
        base = self._base
        assert base is not None
        under = base._value if base._base is None else base._current()
        if base._clock != self._seen:
            self._seen = base._clock
            self._clock += 1
            self._value = self._read(under)
        return self._value

    def _view(self, read: Callable[[Any], Any], put: Callable[[Any, Any], Any]) -> Tensor:
        """A view of this tensor: read(value) gives its value, put(value, new) writes to it."""
        value = unwrap(self)
        out = wrap(read(value))
        if isinstance(value, TracedArray) and not isinstance(out._value, TracedArray):
            return out
        plain = raw(out._value)
        if plain is not raw(value) and not shares_memory(plain, value):
            return out
        if value is not self._value:
            return out
        out._base, out._read, out._put, out._seen = self, read, put, self._clock
        return out

    def _root(self) -> Tensor:
        return self if self._base is None else self._base._root()

    def _write(self, value: Any) -> Tensor:
        """Give the tensor new values in place: memory, tangents and history, its base's too."""
        if isinstance(value, Buffer):
            value = value.primal
        self._may_write(value)
        old = unwrap(self)
        if value.shape != old.shape:
            raise ShapeError(
                f"an in-place operation on a tensor of shape {old.shape} has a result of shape "
                f"{value.shape}"
            )
        if value.dtype != old.dtype:
            if np.dtype(value.dtype).kind == "c" and old.dtype.kind != "c":
                raise ShapeError(
                    f"result type {value.dtype} can't be cast to {old.dtype} in place"
                )
            value = value.astype(old.dtype)
        if self._base is None:
            self._rebind(value)
        else:
            self._base._write(self._put(frozen_value(unwrap(self._base)), value))
        return self

    def _rebind(self, value: Any) -> None:
        if _in_transformation(value) or _in_transformation(self._value):
            self._value = value
        else:
            memory = np.asarray(raw(self._value))
            if not memory.flags.writeable:
                memory = memory.copy()
            copy_into(memory, raw(value))
            if not is_grad_enabled() and type(self._value) is GraphValue:
                value = graph_value(memory, self._value.tangent)
            self._value = rebased(value, memory)
        self._clock += 1

    def _may_write(self, value: Any) -> None:
        if not is_grad_enabled():
            return
        if self._locked is not None:
            raise LevelError(self._locked)
        root = self._root()
        node = root._node()
        if node is not None and node.leaf is not None and node.leaf() is root:
            what = "a leaf tensor" if root is self else "a view of a leaf tensor"
            raise LevelError(
                f"{what} that requires grad is being used in an in-place operation: do it under "
                f"no_grad(), or on a clone()"
            )

    @property
    def _version(self) -> int:
        """How often the memory of this tensor has been written in place."""
        return version(self._value)

    def __setitem__(self, key: Any, new: Any) -> None:
        value = unwrap(self)
        key, new = _deep(operand, key), operand(new)
        if not isinstance(value, TracedArray) and not isinstance(new, TracedArray):
            self._may_write(new)
            if self._base is None or not isinstance(unwrap(self._root()), TracedArray):
                value[key] = new
                bump(value)
                return
        self._write(replaced(buffer(value), key, new))

    def copy_(self, src: Any) -> Tensor:
        """Write the values (and derivative) of src into this tensor."""
        v = operand(src)
        v = v if hasattr(v, "shape") else np.asarray(v)
        return self._write(np.broadcast_to(v, self.shape))

    def zero_(self) -> Tensor:
        """Set all entries to zero."""
        return self.fill_(0)

    def fill_(self, value: Any) -> Tensor:
        """Set all entries to one value."""
        return self.copy_(value if isinstance(value, Tensor) else np.asarray(value, self.dtype))

    # --- the graph -------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> builtins.bool:
        """Whether operations on this tensor are recorded for backward."""
        v = self._value
        while type(v) is Dual:
            if _has_graph(v.tangent):
                return True
            v = v.primal
        return isinstance(v, TracedArray) and v.kind in ("graph", "recorded")

    @requires_grad.setter
    def requires_grad(self, flag: builtins.bool) -> None:
        self.requires_grad_(flag)

    def requires_grad_(self, flag: builtins.bool = True) -> Tensor:
        """Make this tensor a leaf that collects a gradient (or an ordinary one again)."""
        if flag == self.requires_grad:
            return self
        if not flag:
            if not self.is_leaf:
                raise LostDerivativeError(
                    "requires_grad can be switched off only for leaf tensors: use detach()"
                )
            self._value = self._value.primal
            return self
        if self.dtype.kind not in "fc":
            raise NotDifferentiableError(
                "only tensors of floating point or complex dtype can require gradients, not "
                f"{self.dtype}"
            )
        if isinstance(self._value, TracedArray):
            raise ArgumentError(
                "requires_grad_() inside a transformation: use dualad.grad or vjp there"
            )
        node = Node("AccumulateGrad", None)
        node.leaf = weakref.ref(self)
        self._value = graph_value(self._value, node)
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward has collected for this leaf."""
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        self._grad = value

    def _node(self) -> Node | None:
        v = self._value
        while type(v) is Dual:
            v = v.primal
        return v.tangent if type(v) is GraphValue else None

    @property
    def grad_fn(self) -> Node | None:
        """The recorded operation that made this tensor; None for a leaf."""
        node = self._node()
        return None if node is None or node.leaf is not None else node

    @property
    def is_leaf(self) -> builtins.bool:
        """Whether the tensor was made by the user rather than by a recorded operation."""
        return self.grad_fn is None

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Sequence[Tensor] | None = None,
    ) -> None:
        """Add the gradient of this tensor to .grad of the leaves it depends on.

        >>> import dualad
        >>> x = dualad.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        from .autograd import backward

        backward(self, gradient, retain_graph, create_graph, inputs)

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in .grad too, though it is not a leaf."""
        node = self._node()
        if node is None:
            raise LevelError("can't retain_grad on a tensor that has requires_grad=False")
        if node.leaf is not None:
            return
        me = weakref.ref(self)

        def keep(ct: Any) -> Any:
            tensor = me()
            if tensor is not None:
                new = wrap(ct)
                tensor._grad = new if tensor._grad is None else tensor._grad + new
            return ct

        node.hooks = [*(node.hooks or ()), keep]

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Call hook with the gradient of this tensor; what it returns replaces it."""
        node = self._node()
        if node is None:
            raise LevelError("cannot register a hook on a tensor that doesn't require gradient")

        def call(ct: Any) -> Any:
            out = hook(wrap(ct))
            return ct if out is None else unwrap(out)

        node.hooks = [*(node.hooks or ()), call]
        return _Handle(node, call)

    # --- operations ------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Tensor:
        key = _deep(operand, key)
        # With an ellipsis one entry of an array is a view of it, not a scalar.
        view = (*key, ...) if isinstance(key, tuple) else (key, ...)
        view = key if any(k is ... for k in view[:-1]) else view
        return self._view(lambda v: v[view], lambda v, new: replaced(buffer(v), key, new))

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def sum(self, dim: Any = None, keepdim: builtins.bool = False, *, axis: Any = None) -> Tensor:
        """The sum of all entries, or along axes."""
        return wrap(unwrap(self).sum(axis=dim if axis is None else axis, keepdims=keepdim))

    def mean(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        """The mean of all entries, or along axes."""
        return wrap(unwrap(self).mean(axis=dim, keepdims=keepdim))

    def reshape(self, *shape: Any) -> Tensor:
        """The same entries in another shape."""
        return self._view(lambda v: v.reshape(*shape), lambda v, new: np.reshape(new, v.shape))

    view = reshape

    def t(self) -> Tensor:
        """The transpose of a matrix."""
        if self.ndim > 2:
            raise ShapeError(
                f"t() expects a tensor with at most 2 dimensions, this one has {self.ndim}"
            )
        return self.T

    @property
    def T(self) -> Tensor:
        """The tensor with its axes reversed."""
        return self._view(lambda v: np.transpose(v), lambda v, new: np.transpose(new))

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """The tensor with two axes exchanged."""
        return self._view(
            lambda v: np.swapaxes(v, dim0, dim1), lambda v, new: np.swapaxes(new, dim0, dim1)
        )

    def movedim(self, source: Any, destination: Any) -> Tensor:
        """The tensor with axes moved."""
        return self._view(
            lambda v: np.moveaxis(v, source, destination),
            lambda v, new: np.moveaxis(new, destination, source),
        )

    def expand(self, *sizes: Any) -> Tensor:
        """The tensor broadcast to a larger shape; -1 keeps an axis."""
        given = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
        lead = len(given) - self.ndim
        shape = tuple(self.shape[k - lead] if n == -1 else n for k, n in enumerate(given))
        return self._view(lambda v: np.broadcast_to(v, shape), _overlapping)

    def max(self, dim: int | None = None, keepdim: builtins.bool = False) -> Any:
        """The largest entry; along a dimension a pair (values, indices)."""
        return self._extreme(np.argmax, np.max, dim, keepdim)

    def min(self, dim: int | None = None, keepdim: builtins.bool = False) -> Any:
        """The smallest entry; along a dimension a pair (values, indices)."""
        return self._extreme(np.argmin, np.min, dim, keepdim)

    def _extreme(self, where: Any, what: Any, dim: int | None, keepdim: builtins.bool) -> Any:
        v = unwrap(self)
        if dim is None:
            return wrap(what(v))
        at = where(v, axis=dim, keepdims=True)
        values = np.take_along_axis(v, at, dim)
        if not keepdim:
            values, at = np.squeeze(values, dim), np.squeeze(at, dim)
        return ValuesAndIndices(wrap(values), wrap(at))

    def argsort(self, dim: int = -1, descending: builtins.bool = False) -> Tensor:
        """The indices that sort the tensor along a dimension."""
        v = np.asarray(raw(unwrap(self)))
        return wrap(np.argsort(-v if descending else v, axis=dim, kind="stable"))

    def sort(self, dim: int = -1, descending: builtins.bool = False) -> ValuesAndIndices:
        """A pair (sorted values, indices) along a dimension."""
        at = self.argsort(dim, descending)
        return ValuesAndIndices(wrap(np.take_along_axis(unwrap(self), at._value, dim)), at)

    def index_add(self, dim: int, index: Tensor, source: Tensor) -> Tensor:
        """A copy with the rows of source added at the indices of a dimension."""
        v = unwrap(self)
        front = np.moveaxis(operand(source), dim, 0)
        shape = np.moveaxis(np.broadcast_to(0, v.shape), dim, 0).shape
        at = np.asarray(operand(index))
        added = scatter(front, index=(at,) + (slice(None),) * (len(shape) - 1), shape=shape)
        return wrap(v + np.moveaxis(added, 0, dim))

    def squeeze(self, dim: Any = None) -> Tensor:
        """The tensor without axes of length one."""
        return self._view(lambda v: np.squeeze(v, dim), lambda v, new: np.reshape(new, v.shape))

    def unsqueeze(self, dim: int) -> Tensor:
        """The tensor with a new axis of length one."""
        return self._view(
            lambda v: np.expand_dims(v, dim), lambda v, new: np.reshape(new, v.shape)
        )


def _overlapping(value: Any, new: Any) -> Any:
    raise ShapeError(
        "an expanded tensor cannot be written in place: more than one of its elements refers to a "
        "single memory location. clone() it first."
    )


def _in_transformation(v: Any) -> builtins.bool:
    """Whether a value belongs to a functional transformation, whose tape reads must stay."""
    while type(v) is Dual and v.level.name == "dual_level":
        v = v.primal
    return isinstance(v, TracedArray) and type(v) is not GraphValue


def frozen_value(v: Any) -> Any:
    """A plain array as it is now; what is traced is not changed in place."""
    return v.copy() if isinstance(v, np.ndarray) else v


class _Handle:
    """What `register_hook` gives: `remove()` takes the hook off again."""

    def __init__(self, node: Node, hook: Callable[..., Any]):
        self._node, self._hook = node, hook

    def remove(self) -> None:
        """Take the hook off."""
        self._node.hooks = [h for h in self._node.hooks or () if h is not self._hook]


def _has_graph(v: Any) -> builtins.bool:
    while type(v) is Dual:
        v = v.primal
    return type(v) is GraphValue


def _rebuild(value: np.ndarray, requires_grad: builtins.bool) -> Tensor:
    return wrap(value).requires_grad_(requires_grad)


def _binary(name: str) -> Callable[[Tensor, Any], Any]:
    reflected = (
        f"__r{name[2:]}"
        if name not in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")
        else {"__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__"}.get(
            name, name
        )
    )

    def op(self: Tensor, other: Any) -> Any:
        if not isinstance(
            other, (Tensor, TracedArray, np.ndarray, np.generic, int, builtins.float, complex)
        ):
            return NotImplemented
        a, b = unwrap(self), operand(other)
        out = getattr(a, name)(b)
        if out is NotImplemented:
            out = getattr(b, reflected)(a)
        return NotImplemented if out is NotImplemented else wrap(out)

    op.__name__ = name
    return op


for _name in "add sub mul truediv pow mod matmul floordiv".split():
    setattr(Tensor, f"__{_name}__", _binary(f"__{_name}__"))
    setattr(Tensor, f"__r{_name}__", _binary(f"__r{_name}__"))
for _name in "lt le gt ge eq ne".split():
    setattr(Tensor, f"__{_name}__", _binary(f"__{_name}__"))
for _name in "neg pos abs invert".split():
    setattr(
        Tensor, f"__{_name}__", lambda self, _op=f"__{_name}__": wrap(getattr(unwrap(self), _op)())
    )


def _in_place(function: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        out = function(_as_it_was(self), *args, **kwargs)
        return out if out is NotImplemented else self._write(unwrap(out))

    method.__name__ = name
    method.__doc__ = f"{name.strip('_')}, in place."
    return method


def _as_it_was(x: Tensor) -> Tensor:
    """x with its values copied: an in-place operation reads what it is about to overwrite."""
    value = unwrap(x)
    return x if _in_transformation(value) else wrap(rebased(value, np.array(raw(value))))


def _unary(function: Callable[..., Any], name: str) -> Callable[[Tensor], Tensor]:
    def method(self: Tensor) -> Tensor:
        return wrap(function(unwrap(self)))

    method.__name__ = name
    method.__doc__ = f"{name} of each entry."
    return method


_UNARY = {
    "exp": np.exp, "expm1": np.expm1, "exp2": np.exp2, "log": np.log, "log1p": np.log1p,
    "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, "square": np.square,
    "reciprocal": np.reciprocal, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "abs": np.abs,
    "neg": np.negative, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "round": np.rint,
    "trunc": np.trunc, "conj": np.conj, "isnan": np.isnan, "isfinite": np.isfinite,
}  # fmt: skip
for _name, _f in _UNARY.items():
    setattr(Tensor, _name, _unary(_f, _name))
    if _name not in ("isnan", "isfinite"):
        setattr(Tensor, f"{_name}_", _in_place(getattr(Tensor, _name), f"{_name}_"))
Tensor.index_add_ = _in_place(Tensor.index_add, "index_add_")  # type: ignore[attr-defined]
for _name, _op in {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "truediv",
    "pow": "pow",
}.items():
    setattr(Tensor, _name, getattr(Tensor, f"__{_op}__"))
    setattr(Tensor, f"{_name}_", _in_place(getattr(Tensor, f"__{_op}__"), f"{_name}_"))
    setattr(Tensor, f"__i{_op}__", _in_place(getattr(Tensor, f"__{_op}__"), f"__i{_op}__"))


# --- making tensors ------------------------------------------------------------------------------


def tensor(data: Any, *, dtype: Any = None, requires_grad: builtins.bool = False) -> Tensor:
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
    return (
        wrap(np.asarray(data, dtype))
        if isinstance(data, np.ndarray)
        else tensor(data, dtype=dtype)
    )


def _size(size: tuple) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def zeros(*size: Any, dtype: Any = np.float32, requires_grad: builtins.bool = False) -> Tensor:
    """A tensor of zeros, float32 unless another dtype is named."""
    return wrap(np.zeros(_size(size), dtype)).requires_grad_(requires_grad)


def ones(*size: Any, dtype: Any = np.float32, requires_grad: builtins.bool = False) -> Tensor:
    """A tensor of ones, float32 unless another dtype is named."""
    return wrap(np.ones(_size(size), dtype)).requires_grad_(requires_grad)


def zeros_like(x: Any, *, dtype: Any = None, requires_grad: builtins.bool = False) -> Tensor:
    """Zeros in the shape and dtype of x."""
    return wrap(np.zeros(x.shape, dtype or x.dtype)).requires_grad_(requires_grad)


def ones_like(x: Any, *, dtype: Any = None, requires_grad: builtins.bool = False) -> Tensor:
    """Ones in the shape and dtype of x."""
    return wrap(np.ones(x.shape, dtype or x.dtype)).requires_grad_(requires_grad)
