"""The operations of a tensor under PyTorch's names: by formula, and those of the tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, NotDifferentiableError
from .dtypes import Dtypes
from .face import operand, shape_checked, unwrap, wrap
from .operators import install_operators
from .promotion import floating, promoted
from .selection import Selection
from .tables import ALIASES, ALONG, COPYING, FLOATING, KEEPING, PAIRS, REDUCTIONS, TESTING
from .writing import as_it_was, in_place

__all__ = ["Operations"]

_logsumexp: Any = np.logaddexp.reduce


class Operations(Selection, Dtypes):
    """What a tensor computes."""

    __slots__ = ()

    # --- sums and the like -------------------------------------------------------------------

    def std(
        self,
        dim: Any = None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Any:
        """The standard deviation of all entries, or along dimensions."""
        return _spread(np.std, self, dim, unbiased, keepdim, correction)

    def var(
        self,
        dim: Any = None,
        unbiased: bool = True,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Any:
        """The variance of all entries, or along dimensions."""
        return _spread(np.var, self, dim, unbiased, keepdim, correction)

    def norm(self, p: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
        """The p-norm, by default the Euclidean one, of all entries or along dimensions."""
        x = self if dim is not None else self.reshape(-1)
        return wrap(
            np.linalg.norm(unwrap(x), None if p == "fro" else p, axis=dim, keepdims=keepdim)
        )

    def logsumexp(self, dim: Any, keepdim: bool = False) -> Any:
        """The logarithm of the sum of exponentials along dimensions."""
        return wrap(_logsumexp(unwrap(self), axis=dim, keepdims=keepdim))

    def softmax(self, dim: int) -> Any:
        """The exponentials along a dimension, divided by their sum."""
        x = as_it_was(self)
        return (x - x.logsumexp(dim, True)).exp()

    def log_softmax(self, dim: int) -> Any:
        """The logarithm of `softmax`."""
        x = as_it_was(self)
        return x - x.logsumexp(dim, True)

    # --- arithmetic with a factor ------------------------------------------------------------

    def add(self, other: Any, *, alpha: Any = 1) -> Any:
        """self + alpha * other."""
        return self + (other if alpha == 1 else other * alpha)

    def sub(self, other: Any, *, alpha: Any = 1) -> Any:
        """self - alpha * other."""
        return self - (other if alpha == 1 else other * alpha)

    def div(self, other: Any, *, rounding_mode: str | None = None) -> Any:
        """self / other; rounding_mode "floor" rounds it down, "trunc" towards zero."""
        if rounding_mode not in (None, "floor", "trunc"):
            raise ArgumentError(
                f"div: rounding_mode must be None, 'floor' or 'trunc', not {rounding_mode!r}"
            )
        out = self.__truediv__(other)
        return out if rounding_mode is None else getattr(out, rounding_mode)()

    divide = true_divide = div

    def round(self, *, decimals: int = 0) -> Any:
        """The entries rounded to so many decimals; to the even number at ties."""
        return wrap(np.round(unwrap(self), decimals))

    def addmm(self, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * self + alpha * (a @ b), for matrices, vectors and stacks of matrices."""
        return self * beta + (a @ b) * alpha

    addmv = baddbmm = addmm

    def addr(self, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * self + alpha * the outer product of two vectors."""
        return self * beta + a.outer(b) * alpha

    def addcmul(self, x: Any, y: Any, *, value: Any = 1) -> Any:
        """self + value * x * y."""
        return self + x * y * value

    def addcdiv(self, x: Any, y: Any, *, value: Any = 1) -> Any:
        """self + value * x / y."""
        return self + x / y * value

    def lerp(self, end: Any, weight: Any) -> Any:
        """self + weight * (end - self)."""
        return self + (end - self) * weight

    # --- what leaves real numbers as they are ----------------------------------------------------

    def positive(self) -> Any:
        """The tensor itself."""
        if self._value.dtype.kind == "b":
            raise NotDifferentiableError("positive() is not defined for booleans")
        return self

    __pos__ = positive

    def conj(self) -> Any:
        """The complex conjugate; a real tensor itself."""
        return wrap(np.conj(unwrap(self))) if self._value.dtype.kind == "c" else self

    def conj_physical(self) -> Any:
        """The same as `conj`."""
        return self.conj()

    resolve_conj = resolve_neg = lambda self: self

    # --- by formula ----------------------------------------------------------------------------

    def sigmoid(self) -> Any:
        """1 / (1 + exp(-x)), written so that nothing overflows."""
        return (self * 0.5).tanh() * 0.5 + 0.5

    def relu(self) -> Any:
        """The entries above zero, and zero for the others."""
        return self.where(self > 0, 0.0)

    def rsqrt(self) -> Any:
        """1 / sqrt(x)."""
        return self.sqrt().reciprocal()

    def frac(self) -> Any:
        """What is behind the decimal point."""
        return self - self.trunc()

    @shape_checked
    def clamp(self, min: Any = None, max: Any = None) -> Any:
        """The entries, those outside of [min, max] replaced by the bound."""
        if min is None and max is None:
            raise ArgumentError("clamp: at least one of 'min' and 'max' must not be None")
        return wrap(np.clip(unwrap(self), operand(min), operand(max)))

    clip = clamp

    def clamp_min(self, min: Any) -> Any:
        """The entries, those below a bound replaced by it."""
        return self.clamp(min=min)

    def clamp_max(self, max: Any) -> Any:
        """The entries, those above a bound replaced by it."""
        return self.clamp(max=max)

    def det(self) -> Any:
        """The determinant of a matrix."""
        return wrap(np.linalg.det(unwrap(self)))

    def inverse(self) -> Any:
        """The inverse of a matrix."""
        return wrap(np.linalg.inv(unwrap(self)))

    def allclose(self, other: Any, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
        """Whether all entries are equal to those of another tensor, up to a tolerance."""
        return bool(np.allclose(unwrap(self), operand(other), rtol, atol))

    def equal(self, other: Any) -> bool:
        """Whether another tensor has the same shape and entries."""
        return bool(np.array_equal(unwrap(self), operand(other)))


# --- by table --------------------------------------------------------------------------------


def _entrywise(function: Callable[..., Any], prepare: Callable[[Any], Any]) -> Callable[..., Any]:
    if function.__name__ in COPYING:
        return lambda self: wrap(function(prepare(unwrap(as_it_was(self)))))
    return lambda self: wrap(function(prepare(unwrap(self))))


def _pairwise(function: Callable[..., Any]) -> Callable[..., Any]:
    return shape_checked(
        lambda self, other: wrap(function(*promoted(unwrap(self), operand(other))))
    )


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        if not isinstance(keepdim, bool):
            raise ArgumentError(f"keepdim must be bool, not {type(keepdim).__name__}")
        v = unwrap(self if dtype is None else self.to(dtype))
        return wrap(function(v, axis=_axes(dim), keepdims=keepdim))

    return shape_checked(method)


def _axes(dim: Any) -> Any:
    """Dimensions as NumPy takes them: no dimensions are all dimensions."""
    return (tuple(dim) or None) if isinstance(dim, (tuple, list)) else dim


def _spread(
    function: Any, x: Any, dim: Any, unbiased: bool, keepdim: bool, correction: float | None
) -> Any:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    ddof = int(unbiased) if correction is None else correction
    return wrap(function(unwrap(x), axis=_axes(dim), ddof=ddof, keepdims=keepdim))


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    return shape_checked(lambda self, dim=-1: wrap(function(unwrap(self), axis=dim)))


def _install(table: dict[str, Any], make: Callable[[Any], Any], says: str, writes: bool) -> None:
    for name, function in table.items():
        method = make(function)
        method.__name__, method.__doc__ = name, f"{says}; see numpy.{function.__name__}."
        setattr(Operations, name, method)
        if writes:
            setattr(Operations, f"{name}_", in_place(method, f"{name}_"))


_install(FLOATING, lambda f: _entrywise(f, floating), "Of each entry", True)
_install(KEEPING, lambda f: _entrywise(f, lambda x: x), "Of each entry", True)
_install(TESTING, lambda f: _entrywise(f, lambda x: x), "Of each entry", False)
_install(PAIRS, _pairwise, "Of two tensors", True)
_install(REDUCTIONS, _reduction, "Of all entries, or along dimensions", False)
_install(ALONG, _along, "Along a dimension", True)
install_operators(Operations)
for _name in (
    "add", "sub", "div", "divide", "true_divide", "round", "addcmul", "addcdiv", "lerp", "sigmoid",
    "relu", "rsqrt", "frac", "clamp", "clip", "clamp_min", "clamp_max",
    "addmm", "addmv", "baddbmm", "addr", "lt", "le", "gt", "ge", "eq", "ne",
    "index_add", "index_copy", "index_fill", "index_put", "scatter", "scatter_add", "masked_fill",
    "masked_scatter", "tril", "triu", "conj_physical",
):  # fmt: skip
    setattr(Operations, f"{_name}_", in_place(getattr(Operations, _name), f"{_name}_"))
for _name, _method in ALIASES.items():
    for _end in ("", "_"):
        setattr(Operations, _name + _end, getattr(Operations, _method + _end))
