"""The symbolic array: SymPy expressions under NumPy's protocols.

It holds a plain object array of expressions, so shapes, views, indexing and assignment are
NumPy's own. Whatever is written in NumPy runs on it.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy
from numpy.lib.mixins import NDArrayOperatorsMixin

from .entries import entry, expression, is_complex, is_truth
from .errors import REMEDY, NotSymbolicError, SymbolicBranchError
from .held import holding

__all__ = ["FUNCTIONS", "Symbolic", "as_objects", "entries_of", "symbolic"]

#: NumPy function -> what handles it on symbolic arrays.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


_objects: contextvars.ContextVar[bool] = contextvars.ContextVar("objects", default=False)


@contextlib.contextmanager
def as_objects() -> Iterator[None]:
    """Symbolic arrays say that they hold objects, so that buffers made like them can, too."""
    token = _objects.set(True)
    try:
        yield
    finally:
        _objects.reset(token)


def entries_of(x: Any) -> np.ndarray:
    """Anything array-like as an object array of SymPy expressions."""
    if isinstance(x, Symbolic):
        return x.entries
    if isinstance(x, sympy.MatrixBase):
        x = np.array(x.tolist(), dtype=object).reshape(x.shape)
    if isinstance(x, (list, tuple)):
        parts = [entries_of(v) for v in x]
        return np.stack(parts) if parts else np.zeros(0, object)
    plain = np.asarray(getattr(x, "_value", x), dtype=object)
    out = np.empty(plain.shape, dtype=object)
    for at in np.ndindex(plain.shape):
        out[at] = expression(plain[at])
    return out


def symbolic(x: Any) -> Symbolic:
    """Anything array-like as a symbolic array; an object array of expressions is not copied."""
    return x if isinstance(x, Symbolic) else Symbolic(entries_of(x))


def wrapped(x: Any) -> Symbolic:
    """The result of a NumPy function on object arrays, as a symbolic array."""
    if isinstance(x, np.ndarray):
        return Symbolic(x)
    out = np.empty((), object)
    out[()] = x
    return Symbolic(out)


class Symbolic(NDArrayOperatorsMixin):
    """An array of SymPy expressions that NumPy's functions work on.

    >>> import numpy as np, sympy
    >>> x = symbolic(sympy.symbols("a b"))
    >>> np.sum(np.exp(x)) * 2
    Symbolic(2*exp(a) + 2*exp(b))
    """

    __slots__ = ("entries",)
    __array_priority__ = 3000.0
    #: Another kind of value: the engine passes it on to the functions and rules of users.
    __dualad_value__ = True
    __hash__ = object.__hash__
    entries: np.ndarray

    def __init__(self, entries: np.ndarray):
        self.entries = entries

    # --- NumPy's protocols -------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .arrays import METHODS, UFUNCS

        out = kwargs.pop("out", None)
        kwargs.pop("casting", None)
        kwargs.pop("dtype", None)
        special = UFUNCS.get(ufunc.__name__)
        if method == "__call__" and special is not None:
            result = special(*inputs, **kwargs)
        elif method == "__call__":
            where = kwargs.pop("where", True)
            if kwargs:
                raise NotSymbolicError(f"{ufunc.__name__} on symbols has no option {set(kwargs)}")
            result = apply(ufunc.__name__, *inputs)
            if where is not True:
                before = np.nan if out is None else out[0]
                result = FUNCTIONS[np.where](where, result, before)
        elif method in METHODS:
            result = METHODS[method](ufunc.__name__, *inputs, **kwargs)
        else:
            raise NotSymbolicError(
                f"{ufunc.__name__}.{method} has no meaning on symbols: {REMEDY}"
            )
        return result if out is None else store(out[0], result)

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        from . import arrays  # noqa: F401  (fills the table)

        rule = FUNCTIONS.get(func)
        if rule is None:
            name = f"{getattr(func, '__module__', 'numpy')}.{getattr(func, '__name__', func)}"
            raise NotSymbolicError(f"{name} is not known on symbols: {REMEDY}")
        return rule(*args, **kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if dtype is not None and np.dtype(dtype) != object:
            return np.array([float(Symbolic(e)) for e in _cells(self)]).reshape(self.shape)
        out = np.empty(self.shape, object)
        for at in np.ndindex(self.shape):
            out[at] = wrapped(self.entries[at])
        return out

    def _sympy_(self) -> Any:
        """Let SymPy's own functions work on a single entry."""
        if self.ndim:
            raise sympy.SympifyError(f"{self!r} is an array of expressions")
        return self.entries[()]

    def __dualad_named__(self, name: str, args: tuple) -> Any:
        """A function that the library computes by numbers only, by its name."""
        return apply(name, *args)

    def __dualad_function__(self, original: Any, args: tuple, kwargs: dict) -> Any:
        """A function of SciPy that the library takes over where arguments are no numbers."""
        from .scipy_functions import call_scipy

        return call_scipy(original, args, kwargs)

    def __dualad_apply__(self, cls: Any, args: tuple, kwargs: dict) -> Any:
        """What Function.apply does when an argument is symbolic."""
        from .custom import run_forward

        return run_forward(cls, args, kwargs)[0]

    # --- what is known of it -------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.entries.shape

    @property
    def ndim(self) -> int:
        return self.entries.ndim

    @property
    def size(self) -> int:
        return self.entries.size

    @property
    def dtype(self) -> np.dtype:
        """Symbols stand for exact numbers; the dtype says which: bool, float64 or complex128."""
        if _objects.get():
            return np.dtype(object)
        flat = self.entries.ravel()
        if flat.size and all(is_truth(e) for e in flat):
            return np.dtype(bool)
        return np.dtype(complex if any(is_complex(e) for e in flat) else float)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Any:
        return (wrapped(e) for e in self.entries)

    def __repr__(self) -> str:
        inner = self.entries[()] if self.ndim == 0 else self.entries.tolist()
        return f"Symbolic({inner})"

    # --- indexing ------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Symbolic:
        return wrapped(self.entries[index_of(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, Symbolic):
            old = Symbolic(self.entries.copy())
            self.entries[...] = FUNCTIONS[np.where](index, value, old).entries
            return
        new = entries_of(value)
        self.entries[index] = new if new.ndim else new[()]

    # --- Python's numbers ------------------------------------------------------------------------

    def _number(self, what: str) -> Any:
        e = self.entries.item() if self.size == 1 else None
        if e is None or not (e.is_number or e in (sympy.true, sympy.false)):
            shown = self if e is None else e
            raise SymbolicBranchError(
                f"{what} of the symbolic value {shown} is not known: write the branch with "
                "np.where, np.select or np.piecewise, buffers with np.zeros_like(x), and "
                f"math.f as np.f; or say what a routine of plain numbers computes, by "
                f"prove(rule, forward=expr); or {REMEDY}"
            )
        return e

    def __bool__(self) -> bool:
        return bool(self._number("the truth"))

    def __float__(self) -> float:
        return float(self._number("the number"))

    def __int__(self) -> int:
        return int(self._number("the integer"))

    def __complex__(self) -> complex:
        return complex(self._number("the number"))

    def __index__(self) -> int:
        e = self._number("the integer")
        if not e.is_integer:
            raise TypeError(f"{e} is no integer, so it cannot be an index")
        return int(e)

    # --- methods of ndarray and Tensor -----------------------------------------------------------

    @property
    def T(self) -> Symbolic:
        return Symbolic(self.entries.T)

    @property
    def mT(self) -> Symbolic:
        return Symbolic(np.swapaxes(self.entries, -1, -2))

    @property
    def real(self) -> Symbolic:
        return apply("real", self)

    @property
    def imag(self) -> Symbolic:
        return apply("imag", self)

    @property
    def flat(self) -> Any:
        return iter(self.ravel())

    def item(self, *args: Any) -> Symbolic:
        return self[np.unravel_index(args[0], self.shape)] if args else self.reshape(())

    def tolist(self) -> Any:
        return [v.tolist() for v in self] if self.ndim else self

    def astype(self, dtype: Any, **options: Any) -> Symbolic:
        kind = np.dtype(dtype).kind
        if kind in "iu":
            return apply("trunc", self)
        if kind == "b":
            return apply("not_equal", self, 0)
        if kind == "f" and self.dtype.kind == "c":
            return apply("real", self)
        return Symbolic(self.entries.copy())

    def copy(self, order: str = "C") -> Symbolic:
        return Symbolic(self.entries.copy())

    clone = __copy__ = copy

    def stopped(self) -> Symbolic:
        """The same values, held constant."""
        return wrapped(np.frompyfunc(holding, 1, 1)(self.entries))

    detach = stopped

    def reshape(self, *shape: Any, order: Any = "C") -> Symbolic:
        return Symbolic(self.entries.reshape(*shape, order=order))

    def ravel(self, order: Any = "C") -> Symbolic:
        return Symbolic(self.entries.ravel(order))

    def flatten(self, order: Any = "C") -> Symbolic:
        return Symbolic(self.entries.flatten(order))

    def transpose(self, *axes: Any) -> Symbolic:
        return Symbolic(self.entries.transpose(*axes))

    def fill(self, value: Any) -> None:
        self.entries[...] = expression(value)


def _cells(x: Symbolic) -> list[np.ndarray]:
    return [wrapped(e).entries for e in x.entries.ravel()]


def index_of(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(index_of, index))
    if isinstance(index, Symbolic):
        if index.dtype.kind == "b":
            if index.ndim == 0:
                return bool(index)
            return np.array([bool(wrapped(e)) for e in index.entries.ravel()]).reshape(index.shape)
        return np.array([int(wrapped(e)) for e in index.entries.ravel()]).reshape(index.shape)
    return index


def apply(name: str, *inputs: Any) -> Symbolic:
    """A ufunc, by its name, entry by entry on broadcast inputs."""
    f = entry(name)
    return wrapped(np.frompyfunc(f, len(inputs), 1)(*map(entries_of, inputs)))


def store(out: Any, result: Any) -> Any:
    """What a function with out= does."""
    if isinstance(out, np.ndarray) and out.dtype == object:
        out[...] = entries_of(result)
        return out
    if not isinstance(out, Symbolic):
        raise NotSymbolicError(
            "a symbolic result cannot be written into a plain array: make the buffer with "
            "np.zeros_like(x) of a symbolic x"
        )
    out[...] = result
    return out


def _elementwise_method(name: str) -> Callable[..., Any]:
    def method(self: Symbolic) -> Symbolic:
        return apply(name, self)

    method.__name__ = name
    return method


#: The methods that NumPy's object loops call, and those that a Tensor has.
for _name in (
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"),
    *("arcsinh", "arccosh", "arctanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("sqrt", "cbrt", "square", "reciprocal", "sign", "floor", "ceil", "trunc", "rint"),
    *("conjugate", "deg2rad", "rad2deg", "degrees", "radians", "fabs"),
):
    setattr(Symbolic, _name, _elementwise_method(_name))
for _name, _ufunc in (("conj", "conjugate"), ("abs", "absolute"), ("neg", "negative")):
    setattr(Symbolic, _name, _elementwise_method(_ufunc))
