"""The names of numpy.ndarray on traced arrays. Here are names, and no mathematics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..engine.fast_paths.items import install as install_items
from ..engine.levels.buffer import Buffer
from ..engine.levels.missing import missing_rule
from ..engine.levels.rules import FUNCTIONS, UFUNCS
from ..engine.levels.traced import TracedArray
from ..engine.primitives.inplace import holds_array, link, store
from ..engine.primitives.primitive import Opaque
from ..errors import ArgumentError, RefusedAttributeError
from .assignment import assign, resize
from .indexing import index
from .structure import cast, reshape

__all__ = ["REFUSED"]


def call(f: Any, *args: Any, **kwargs: Any) -> Any:
    """What np.f gives for traced arguments."""
    rule = FUNCTIONS[f]
    if rule is None:
        raise missing_rule(f"numpy.{f.__name__}")
    return rule(*args, **kwargs)


def method(name: str) -> Callable[[Any], Any]:
    """Make the decorated function the method `name` of all traced arrays."""

    def install(f: Any) -> Any:
        setattr(TracedArray, name, f)
        return f

    return install


# --- methods that are NumPy functions with the array as first argument -----------------------


def _delegate(name: str, f: Any) -> None:
    def bound(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(f, self, *args, **kwargs)

    bound.__name__ = name
    bound.__doc__ = f"numpy.ndarray.{name}: see numpy.{f.__name__}."
    setattr(TracedArray, name, bound)


for _name in (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "cumprod",
    "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "put", "ravel", "repeat",
    "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
):  # fmt: skip
    _delegate(_name, getattr(np, _name))


@method("reshape")
def _reshape(self: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    """numpy.ndarray.reshape: the shape is given as a tuple or as several integers."""
    return call(np.reshape, self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


@method("transpose")
def _transpose(self: Any, *axes: Any) -> Any:
    """numpy.ndarray.transpose: the axes are a tuple, several integers, or left out."""
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    return call(np.transpose, self, order)


@method("flatten")
def _flatten(self: Any, order: str = "C") -> Any:
    """A copy with one axis."""
    return call(np.ravel, call(np.copy, self), order)


@method("to_device")
def _to_device(self: Any, device: str, /, *, stream: Any = None) -> Any:
    """The array itself, on the one device that NumPy knows."""
    if stream is not None or device != "cpu":
        raise ValueError(f"a traced array is on the device 'cpu', not on {device!r}")
    return self


@method("resize")
def _resize(self: Any, *new_shape: Any, refcheck: bool = True) -> None:
    """Another shape in place: the entries in C order, followed by zeros or cut off."""
    if not new_shape or new_shape == (None,):
        return  # as in NumPy: without a shape nothing changes
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    resize(self, tuple(shape) if isinstance(shape, (tuple, list)) else (int(shape),))


@method("view")
def _view(self: Any, dtype: Any = None, type: Any = None) -> Any:
    """A view; to read the memory as another dtype is refused."""
    if (dtype is not None and np.dtype(dtype) != self.dtype) or type is not None:
        raise RefusedAttributeError(
            f"x.view({dtype or type}) of a traced array reads its memory as something else, which "
            f"has no derivative: use x.astype for another dtype."
        )
    return self[...]


@method("copy")
def _copy(self: Any, order: str = "C") -> Any:
    """A copy, which keeps the derivative; that of a NumPy scalar is one."""
    return call(np.copy, self, order) if holds_array(self) else +self


@method("__copy__")
def _shallow(self: Any) -> Any:
    return self.copy("K")


@method("__deepcopy__")
def _deep(self: Any, memo: dict) -> Any:
    return self.copy()


@method("compress")
def _compress(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    """numpy.ndarray.compress: see numpy.compress."""
    return call(np.compress, condition, self, axis, out)


@method("conj")
def _conj(self: Any) -> Any:
    """The complex conjugate; a real array gives itself."""
    return UFUNCS[np.conjugate](self) if np.dtype(self.dtype).kind == "c" else self


TracedArray.conjugate = _conj  # type: ignore[attr-defined]


# --- dtype -----------------------------------------------------------------------------------

_to_constant = Opaque(lambda x, dtype: x.astype(dtype), name="astype", elementwise=True)


@method("astype")
def _astype(
    self: Any,
    dtype: Any,
    order: str = "K",
    casting: Any = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    """The array in another dtype; integers and booleans are locally constant in it."""
    have, want = np.dtype(self.dtype), np.dtype(dtype)
    if not np.can_cast(have, want, casting):
        raise TypeError(
            f"Cannot cast array data from {have!r} to {want!r} by the rule {casting!r}"
        )
    if want.kind not in "fciub":
        raise ArgumentError(f"a traced array has a numeric dtype, astype got {want}")
    if have == want:
        return self.copy(order) if copy else self
    if have.kind == "c" and want.kind not in "cb":
        warnings.warn(
            "Casting complex values to real discards the imaginary part",
            np.exceptions.ComplexWarning,
            stacklevel=2,
        )
    return cast(self, dtype=want) if want.kind in "fc" else _to_constant(self, dtype=want)


FUNCTIONS[np.astype] = lambda x, dtype, /, *, copy=True, device=None: x.astype(dtype, copy=copy)


# --- attributes ------------------------------------------------------------------------------


def _part(name: str, f: Any) -> property:
    def get(self: Any) -> Any:
        return call(f, self)

    def put(self: Any, value: Any) -> None:
        if np.dtype(self.dtype).kind != "c" and name == "imag":
            raise TypeError("array does not have imaginary part to set")
        part = call(f, self)
        part[...] = value

    return property(get, put, doc=f"The {name} part, which can be written to.")


def _flat(self: Any) -> Any:
    """The entries in C order, as a view with one axis."""
    shape = self.shape
    flat = reshape(self, shape=(self.size,))
    return link(
        self,
        flat,
        lambda base: reshape(base, shape=(base.size,)),
        lambda base, value: reshape(value, shape=shape),
    )


def _set_flat(self: Any, value: Any) -> None:
    FUNCTIONS[np.put](self, np.arange(self.size), value)


TracedArray.real = _part("real", np.real)  # type: ignore[attr-defined]
TracedArray.imag = _part("imag", np.imag)  # type: ignore[attr-defined]
TracedArray.flat = property(_flat, _set_flat)  # type: ignore[attr-defined]
TracedArray.T = property(lambda self: call(np.transpose, self))  # type: ignore[attr-defined]
TracedArray.mT = property(lambda self: call(np.matrix_transpose, self))  # type: ignore[attr-defined]
TracedArray.base = property(lambda self: getattr(self, "_base", (None,))[0])  # type: ignore[attr-defined]
TracedArray.device = "cpu"  # type: ignore[attr-defined]

_MEMORY = "a traced array has no memory of its own"
REFUSED = {
    "data": _MEMORY,
    "ctypes": _MEMORY,
    "strides": _MEMORY,
    "flags": _MEMORY,
    "tobytes": "bytes have no derivative",
    "tofile": "a file has no derivative",
    "dump": "a file has no derivative",
    "dumps": "bytes have no derivative",
    "byteswap": "bytes have no derivative",
    "getfield": "bytes have no derivative",
    "setfield": "bytes have no derivative",
    "setflags": _MEMORY,
}


def _refuse(name: str, why: str) -> property:
    def get(self: Any) -> Any:
        if type(self) is Buffer and not name.startswith("set"):
            return getattr(self.primal, name)
        raise RefusedAttributeError(
            f"x.{name} of a traced array: {why}. Where the derivative is not wanted, take "
            f"dualad.stop_gradient(x).{name}."
        )

    return property(get)


for _name, _why in REFUSED.items():
    setattr(TracedArray, _name, _refuse(_name, _why))


# --- indexing, iteration, assignment ---------------------------------------------------------

install_items(index, assign)


@method("__iter__")
def _iter(self: Any) -> Iterator[Any]:
    if not self.shape:
        raise TypeError("iteration over a 0-d array")
    return (self[k] for k in range(self.shape[0]))


@method("__contains__")
def _contains(self: Any, value: Any) -> bool:
    return bool(call(np.any, self == value))


@method("fill")
def _fill(self: Any, value: Any) -> None:
    """Set every entry to one value, which keeps its derivative."""
    self[...] = value


def _reorder(name: str, f: Any) -> None:
    def in_place(self: Any, *args: Any, **kwargs: Any) -> None:
        store(self, call(f, self, *args, **kwargs))

    in_place.__name__ = name
    in_place.__doc__ = f"Reorder the entries in place: see numpy.{name}."
    setattr(TracedArray, name, in_place)


_reorder("sort", np.sort)
_reorder("partition", np.partition)


# --- what NumPy's loops over object arrays call on their elements ----------------------------

_ufunc: Any
for _ufunc in (
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh,
    np.arcsinh, np.arccosh, np.arctanh, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10,
    np.log1p, np.sqrt, np.cbrt, np.fabs, np.deg2rad, np.rad2deg, np.degrees, np.radians, np.rint,
    np.trunc, np.square,
):  # fmt: skip
    setattr(TracedArray, _ufunc.__name__, lambda self, f=_ufunc: f(self))
for _ufunc in (np.arctan2, np.hypot, np.fmod, np.logaddexp, np.copysign):
    setattr(TracedArray, _ufunc.__name__, lambda self, other, f=_ufunc: f(self, other))
