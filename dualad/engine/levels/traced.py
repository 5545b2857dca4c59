"""The traced array: what all kinds of tracked value share.

The kinds (dual, recorded, linear variable, batched, buffer) share one slot layout, so that an
array can change its kind when something of another level is written into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LostDerivativeError
from .level import Level, noted_object, refused

__all__ = ["TracedArray", "memory_of", "raw"]

#: Asked before an array is converted: a remedy for the function that wants to do it, or None.
REMEDIES: list[Callable[[], str | None]] = []
#: Asked when a conversion is refused: a remedy for who wanted it, or None.
HINTS: list[Callable[[], str | None]] = []
NO_CONVERSION = (
    "use np.stack or np.concatenate to assemble an array, np.zeros_like(x) for a buffer to write "
    "into, `import dualad.numpy as np` for asarray, array, full and zeros that take traced "
    "values, or dualad.stop_gradient(x) where the derivative is not wanted"
)

OBJECT = np.dtype(object)
FLOAT64 = np.dtype(np.float64)


class TracedArray:
    """An array that belongs to a running transformation.

    It has the names and the meaning of `numpy.ndarray`. `primal` is its value one level
    further down, `tangent` what its own level tracks of it.
    """

    __slots__ = ("__weakref__", "_base", "_views", "level", "primal", "tangent")

    level: Level
    primal: Any
    tangent: Any

    kind = "traced"
    #: nothing lies below it that may be looked at without a trace: see `staged`
    ends = False
    #: not computed yet: see `postponed`
    waits = False
    __array_priority__ = 1000.0

    if TYPE_CHECKING:  # operators, indexing and ndarray's methods are attached in ops/
        #: how functions and ufuncs come to their rules; attached in `protocols`
        __array_function__: Any
        __array_ufunc__: Any
        _base: Any
        _views: Any
        __getitem__: Any
        __setitem__: Any
        __iter__: Any
        __pos__: Any
        #: how a ufunc call with keywords is made; set by `codegen`, which knows all kinds
        with_keywords: Any

        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        """Apply a primitive whose highest argument belongs to `level`."""
        raise NotImplementedError

    # --- what would lose the derivative -----------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        for remedy in filter(None, (ask() for ask in REMEDIES)):
            raise lost("conversion to a plain ndarray", remedy)
        wanted = dtype is not None and np.dtype(dtype) == OBJECT
        # The parts of a complex object array are not what real and imag of it give.
        if (wanted or (dtype is None and self.shape == ())) and np.dtype(self.dtype).kind != "c":
            noted_object()
            return objects(self)
        hints = [hint for hint in (ask() for ask in HINTS) if hint]
        raise lost(
            "conversion to a plain ndarray (np.asarray, np.array, or storing into an ndarray)",
            hints[0] if hints else NO_CONVERSION,
        )

    def __dask_tokenize__(self) -> Any:
        raise lost(
            "a function of dask.array, which would take a traced array into its graph,",
            "call NumPy's function of that name, which dispatches (np.sum(x), np.stack([x, y])); "
            "and x.map_blocks or da.map_blocks take no traced arrays",
        )

    def _lost(self, what: str) -> Any:
        for remedy in filter(None, (ask() for ask in REMEDIES)):
            raise lost(what, remedy)
        raise lost(
            what,
            "compute with NumPy functions (np.sin instead of math.sin), store into buffers "
            "(np.zeros_like(x), dualad.numpy.zeros) instead of plain arrays and keep the value "
            "traced; give what takes plain numbers only a rule of its own (@dualad.custom_jvp); "
            "or take dualad.stop_gradient(x) first where the derivative is not wanted",
        )

    def __float__(self) -> float:
        return self._lost("float(x)")

    def __int__(self) -> int:
        return self._lost("int(x)")

    def __complex__(self) -> complex:
        return self._lost("complex(x)")

    def __index__(self) -> int:
        return self._lost("the use of a traced value as an index")

    def as_number(self, kind: type = np.float64) -> Any:
        """The value as what has the kind of an argument has it; see `staged`."""
        return self

    def type_given(self) -> type:
        """The type that results which belong to this argument come in."""
        return type(self)

    def item(self, *args: Any) -> Any:
        """The one entry, or that at an index, as a traced scalar."""
        if not args:
            if self.size != 1:
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            return self[(0,) * self.ndim]
        at = args[0] if len(args) == 1 else args
        return self[at if isinstance(at, tuple) else np.unravel_index(at, self.shape)]

    def tolist(self) -> Any:
        """A nested list of traced scalars."""
        return [v.tolist() for v in self] if self.shape else self

    # --- what is known without computing --------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.primal.shape

    @property
    def dtype(self) -> np.dtype:
        return self.primal.dtype

    @property
    def ndim(self) -> int:
        return self.primal.ndim

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __bool__(self) -> bool:
        return bool(self.primal)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.primal!r})"

    def __str__(self) -> str:
        return str(self.primal)

    def __format__(self, spec: str) -> str:
        return format(self.primal, spec)

    def __hash__(self) -> int:
        # By identity it would not be found where its value is; by value a cache would give what
        # it holds for that number, without the derivative.
        raise LostDerivativeError(
            refused(
                "a traced value cannot be looked up in a dict, a set or a cache "
                "(functools.lru_cache): what is found there by its number has no derivative. "
                "Compare it (x == 2.0, or `in` a list), look up float(dualad.stop_gradient(x)) "
                "in a table of constants, call a cached function without its cache "
                "(f.__wrapped__), and take id(x) for its identity"
            )
        )

    def __reduce__(self) -> Any:
        raise LostDerivativeError(
            "a traced array cannot be pickled: it lives only inside its transformation. "
            "Return it from the transformed function and pickle the result."
        )


def raw(x: Any) -> Any:
    """The plain value under all levels; a staged one stays, so that a look at it is noticed."""
    while isinstance(x, TracedArray) and not x.ends:
        x = x.primal
    return x


def memory_of(x: Any) -> Any:
    """The plain value under all levels, asked how it lies in memory and never what it is."""
    while isinstance(x, TracedArray):
        if x.waits:
            x.general()
        x = SLOT.__get__(x)
    return x


SLOT: Any = TracedArray.__dict__["primal"]


def lost(what: str, remedy: str) -> LostDerivativeError:
    message = f"{what} would drop the derivative of a traced array: {remedy}."
    return LostDerivativeError(refused(message))


def objects(x: TracedArray) -> np.ndarray:
    """An object array of the entries of x as traced scalars."""
    out = np.empty(x.shape, dtype=object)
    for at in np.ndindex(x.shape):
        out[at] = x[at] if at else x
    return out
