"""Symbolic arrays under PyTorch's names: what `forward` and the rules of a Function are given.

The names that are one NumPy function each come from the tables of the tensor itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from ..tensor.operations import Operations
from ..tensor.operators import OPERATORS
from ..tensor.selection import ValuesAndIndices
from ..tensor.tables import ALONG, FLOATING, KEEPING, PAIRS, REDUCTIONS, TESTING
from . import arrays  # noqa: F401  (NumPy's functions on symbolic arrays)
from .value import FUNCTIONS, Symbolic, symbolic

__all__ = ["SymbolicTensor", "plain_face", "tensor_face"]


def tensor_face(x: Any) -> Any:
    """Symbolic arrays, also those in lists and tuples, under PyTorch's names."""
    return _with_face(x, SymbolicTensor)


def plain_face(x: Any) -> Any:
    """Symbolic arrays, also those in lists and tuples, under NumPy's names."""
    return _with_face(x, Symbolic)


def _with_face(x: Any, face: type[Symbolic]) -> Any:
    if isinstance(x, Symbolic):
        return x if type(x) is face else face(x.entries)
    if isinstance(x, (list, tuple)):
        parts = [_with_face(v, face) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return x


def sizes(given: tuple) -> tuple[int, ...]:
    """A shape given as several integers or as one tuple of them."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else given


class SymbolicTensor(Symbolic):
    """A symbolic array with the methods, and the meanings, of a tensor.

    >>> x = tensor_face(symbolic(sympy.symbols("a b", real=True)))
    >>> x.pow(2).sum(dim=0).unsqueeze(0)
    Symbolic([a**2 + b**2])
    """

    __slots__ = ()
    __hash__ = object.__hash__
    __array_priority__ = 3001.0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return tensor_face(super().__array_ufunc__(ufunc, method, *inputs, **kwargs))

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        return tensor_face(super().__array_function__(func, types, args, kwargs))

    def __getitem__(self, index: Any) -> Any:
        return tensor_face(super().__getitem__(index))

    def __iter__(self) -> Any:
        return map(tensor_face, super().__iter__())

    # --- what it is ------------------------------------------------------------------------------

    def size(self, dim: int | None = None) -> Any:  # type: ignore[override]
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        return self.entries.size

    def dim(self) -> int:
        return self.ndim

    def is_complex(self) -> bool:
        return self.dtype.kind == "c"

    def is_floating_point(self) -> bool:
        return self.dtype.kind == "f"

    requires_grad = False

    def detach(self) -> SymbolicTensor:
        """Nothing: what forward computes is not differentiated, but compared."""
        return self

    nelement, ndimension = numel, dim

    # --- the same numbers in another shape -------------------------------------------------------

    def view(self, *shape: Any) -> Any:
        return tensor_face(Symbolic(self.entries.reshape(sizes(shape))))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Any:
        n = self.ndim
        if n == 0:
            return self.view(1)
        first, last = start_dim % n, end_dim % n
        size = math.prod(self.shape[first : last + 1])
        return self.view(*self.shape[:first], size, *self.shape[last + 1 :])

    def view_as(self, other: Any) -> Any:
        return self.view(*other.shape)

    reshape_as = view_as

    def expand(self, *shape: Any) -> Any:
        wanted = sizes(shape)
        behind = len(wanted) - self.ndim
        full = [self.shape[k - behind] if n == -1 else n for k, n in enumerate(wanted)]
        return np.broadcast_to(self, tuple(full))

    def expand_as(self, other: Any) -> Any:
        return self.expand(*other.shape)

    def unsqueeze(self, dim: int) -> Any:
        return np.expand_dims(self, dim)

    def squeeze(self, dim: Any = None) -> Any:
        return np.squeeze(self, dim)

    def transpose(self, dim0: int, dim1: int) -> Any:
        return np.swapaxes(self, dim0, dim1)

    def permute(self, *dims: Any) -> Any:
        return np.transpose(self, sizes(dims))

    def t(self) -> Any:
        return tensor_face(Symbolic(self.entries.T))

    def repeat(self, *counts: Any) -> Any:
        return np.tile(self, sizes(counts))

    def flip(self, *dims: Any) -> Any:
        return np.flip(self, sizes(dims))

    def select(self, dim: int, index: int) -> Any:
        return np.take(self, index, dim)

    def narrow(self, dim: int, start: int, length: int) -> Any:
        return self.index_select(dim, np.arange(start, start + length))

    def index_select(self, dim: int, index: Any) -> Any:
        return np.take(self, np.asarray(index), dim)

    def unbind(self, dim: int = 0) -> tuple[Any, ...]:
        x: Any = self
        return tuple(np.moveaxis(x, dim, 0))

    def clone(self) -> Any:  # type: ignore[override]
        return tensor_face(Symbolic(self.entries.copy()))

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Symbols stand for exact numbers, of no particular dtype."""
        return self

    double = float = contiguous = cpu = requires_grad_ = type_as = to

    # --- along dimensions ------------------------------------------------------------------------

    def std(self, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
        return np.std(self, axis=dim, ddof=correction, keepdims=keepdim)

    def var(self, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
        return np.var(self, axis=dim, ddof=correction, keepdims=keepdim)

    def norm(self, p: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
        x = self if dim is not None else self.view(-1)
        ord = None if p == "fro" else p
        return tensor_face(FUNCTIONS[np.linalg.norm](x, ord, axis=dim, keepdims=keepdim))

    def logsumexp(self, dim: Any, keepdim: bool = False) -> Any:
        x: Any = self
        return x.exp().sum(dim, keepdim).log()

    def softmax(self, dim: int) -> Any:
        x: Any = self
        return x.exp() / x.exp().sum(dim, True)

    def log_softmax(self, dim: int) -> Any:
        return self - self.logsumexp(dim, True)

    def max(self, dim: Any = None, keepdim: bool = False) -> Any:
        return self._extreme(np.max, np.maximum, dim, keepdim)

    def min(self, dim: Any = None, keepdim: bool = False) -> Any:
        return self._extreme(np.min, np.minimum, dim, keepdim)

    def _extreme(self, along: Any, of_two: Any, dim: Any, keepdim: bool) -> Any:
        """The indices, which depend on values, are None."""
        if isinstance(dim, Symbolic):
            return of_two(self, dim)
        out = tensor_face(FUNCTIONS[along](self, axis=dim, keepdims=keepdim))
        return out if dim is None else ValuesAndIndices(out, None)

    def sort(self, dim: int = -1, descending: bool = False) -> Any:
        out = np.sort(self, axis=dim)
        return ValuesAndIndices(np.flip(out, dim) if descending else out, None)

    # --- choosing --------------------------------------------------------------------------------

    def where(self, condition: Any, other: Any) -> Any:
        return np.where(condition, self, other)

    def masked_fill(self, mask: Any, value: Any) -> Any:
        return np.where(mask, value, self)

    def clamp(self, min: Any = None, max: Any = None) -> Any:
        return tensor_face(FUNCTIONS[np.clip](self, min, max))

    def diag(self, diagonal: int = 0) -> Any:
        return np.diag(self, diagonal)

    def tril(self, diagonal: int = 0) -> Any:
        return np.tril(self, diagonal)

    def triu(self, diagonal: int = 0) -> Any:
        return np.triu(self, diagonal)

    clip = clamp

    # --- new and changed ones --------------------------------------------------------------------

    def new_zeros(self, *shape: Any, **_: Any) -> Any:
        return self.new_full(sizes(shape), 0)

    def new_ones(self, *shape: Any, **_: Any) -> Any:
        return self.new_full(sizes(shape), 1)

    def new_full(self, shape: Any, value: Any, **_: Any) -> Any:
        out = np.empty(shape, object)
        out[...] = sympy.sympify(value)
        return SymbolicTensor(out)

    def new_tensor(self, data: Any, **_: Any) -> Any:
        return tensor_face(symbolic(data).copy())

    def copy_(self, other: Any) -> Any:
        self[...] = other
        return self

    def fill_(self, value: Any) -> Any:
        return self.copy_(value)

    def zero_(self) -> Any:
        return self.copy_(0)


def _reduction(f: Any) -> Callable[..., Any]:
    def method(self: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
        return tensor_face(FUNCTIONS[f](self, axis=dim, keepdims=keepdim))

    return method


def _in_place(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: self.copy_(method(self, *args, **kwargs))


def _install() -> None:
    methods: dict[str, Callable[..., Any]] = {}
    for table in (FLOATING, KEEPING, TESTING):
        for name, f in table.items():
            methods[name] = lambda self, f=f: f(self)
    for name, f in PAIRS.items():
        methods[name] = lambda self, other, f=f: f(self, other)
    for name, operator in OPERATORS.items():
        methods[name] = getattr(Symbolic, f"__{operator}__")
    for name in ("div", "divide", "true_divide"):
        methods[name] = Symbolic.__truediv__
    for name, f in ALONG.items():
        methods[name] = lambda self, dim=-1, f=f: f(self, axis=dim)
    for name in (
        "add", "sub", "addcmul", "addcdiv", "lerp", "sigmoid", "relu", "rsqrt", "frac",
    ):  # fmt: skip
        methods[name] = getattr(Operations, name)
    methods["subtract"] = Operations.sub
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        methods[name] = getattr(Symbolic, f"__{name}__")
    for name, f in REDUCTIONS.items():
        if f in FUNCTIONS:
            setattr(SymbolicTensor, name, _reduction(f))
    for name, method in methods.items():
        setattr(SymbolicTensor, name, method)
    for name in (*methods, "clamp", "clip", "masked_fill", "tril", "triu"):
        setattr(SymbolicTensor, f"{name}_", _in_place(getattr(SymbolicTensor, name)))
    for name in ("reshape", "ravel", "astype", "trace", "diagonal", "__copy__"):
        setattr(SymbolicTensor, name, _faced(getattr(Symbolic, name)))
    for name in ("T", "mT", "real", "imag"):
        setattr(SymbolicTensor, name, property(_faced(getattr(Symbolic, name).fget)))


def _faced(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: tensor_face(method(self, *args, **kwargs))


_install()
