"""Arrays of other libraries as values: sealed, and computed with by a list of operations alone.

A `Duck` is a tracked value without derivative, below all levels: a primitive that meets it asks
the array's library for its operation, and one that the library does not list is an error. Nothing
ever converts the array to NumPy's.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ...errors import LostDerivativeError, MissingRuleError
from ..levels.buffer import Buffer
from ..levels.level import Level
from ..levels.traced import TracedArray
from ..levels.values import VALUES
from ..primitives.primitive import PRIMITIVES

__all__ = ["Duck", "Library", "as_duck", "duck", "duck_under", "is_entrywise"]

ROOT = __name__.partition(".")[0]
#: Package of an array type -> the module that registers its library, imported when one is met.
MODULES = {"dask": f"{ROOT}.ducks.dask"}
#: Array type -> library; None for types that were seen and belong to none.
LIBRARIES: dict[type, Library | None] = {}


class Library:
    """What a library of arrays can do: its operations by the names of primitives."""

    def __init__(
        self,
        name: str,
        arrays: type,
        operations: dict[str, Callable[..., Any]],
        entrywise: Callable[[Callable[..., Any], str], Callable[..., Any]],
        admit: Callable[[Any], None],
        constant: Callable[[Any], Any],
        alike: Callable[[Any, Any], Any],
        remedy: str,
    ):
        """Register a library.

        Args:
            name: what errors call its arrays.
            arrays: the type of its arrays.
            operations: for each primitive it does right, a function of arrays and the primitive's
                parameters.
            entrywise: (f, name) -> the function of arrays that applies f, which computes single
                entries of NumPy arrays.
            admit: raises for an array that cannot take part.
            constant: a NumPy array or number as the library's functions take it.
            alike: (value, model) -> value as an array of the library that is laid out as model.
            remedy: what to do where an operation is missing.
        """
        self.name, self.arrays = name, arrays
        self.operations, self.entrywise = operations, entrywise
        self.admit, self.constant, self.alike = admit, constant, alike
        self.remedy = remedy
        LIBRARIES[arrays] = self

    def operation(self, primitive: Any) -> Callable[..., Any]:
        """The library's function for a primitive."""
        own = self.operations.get(primitive.name)
        if own is not None:
            return own
        if is_entrywise(primitive):
            return self.entrywise(primitive.impl, primitive.name)
        raise MissingRuleError(
            f"{primitive.name} is not among the operations that are known to be right and lazy "
            f"on {self.name}: {self.remedy}."
        )


def is_entrywise(primitive: Any) -> bool:
    """Whether a primitive computes each entry from the entries at its place, and one result."""
    return primitive.family == "elementwise" or getattr(primitive, "elementwise", False)


class Sealed:
    """Holds an array of another library, and gives away its shape and dtype only."""

    __slots__ = ("array", "library")

    def __init__(self, array: Any, library: Library):
        self.array, self.library = array, library

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    @property
    def ndim(self) -> int:
        return len(self.array.shape)

    def __repr__(self) -> str:
        return repr(self.array)

    __hash__ = object.__hash__

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise MissingRuleError(
            f"an operation that asks for the entries of {self.library.name} has no lazy form: "
            f"{self.library.remedy}."
        )


for _name in (
    "__array__", "__array_function__", "__array_ufunc__", "__bool__", "__float__", "__int__",
    "__index__", "__len__", "__iter__", "__getitem__", "__eq__", "__ne__", "__lt__", "__le__",
    "__gt__", "__ge__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__",
    "__truediv__", "__rtruediv__", "__pow__", "__neg__", "__abs__", "__matmul__", "__rmatmul__",
):  # fmt: skip
    setattr(Sealed, _name, Sealed._refuse)


class Duck(TracedArray):
    """An array of another library: `primal` seals it, `tangent` is its library."""

    __slots__ = ()
    kind = "duck"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        if primitive.family == "composite" and PRIMITIVES.get(primitive.name) is not primitive:
            return primitive.impl(*args, **params)  # a user's function, of listed operations
        library = next(a.tangent for a in args if type(a) is Duck)
        operation = library.operation(primitive)
        given = [opened(library, a) for a in args]
        out = operation(*given, **params)
        return args[0] if out is given[0] else duck(library, out)

    def alike(self, value: Any) -> Any:
        """A value as a Duck that is laid out as this one; what is tracked stays."""
        if isinstance(value, TracedArray) and type(value) not in (Duck, Buffer):
            return value
        library = self.tangent
        return duck(library, library.alike(opened(library, value), self.primal.array))

    def zeros(self) -> Any:
        """Zero in the shape of this array, of its dtype if that is floating."""
        dtype = self.dtype if self.dtype.kind in "fc" else np.dtype(np.float64)
        return self.alike(np.broadcast_to(np.zeros((), dtype), self.shape))

    def _lost(self, what: str) -> Any:
        name = self.tangent.name
        raise LostDerivativeError(
            f"{what} would compute {name} inside of a transformation: {self.tangent.remedy}."
        )

    def __bool__(self) -> bool:
        return self._lost("a branch on an array (use np.where)")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._lost("conversion to a plain ndarray")

    def __repr__(self) -> str:
        return f"Duck({self.primal!r})"

    def __str__(self) -> str:
        return str(self.primal)

    def __reduce__(self) -> Any:
        return self._lost("pickling")


#: Below all levels, and above buffers, which are constants to it.
DUCKS = Level("duck")
DUCKS.rank = 0.5  # type: ignore[assignment]


def duck(library: Library, array: Any) -> Any:
    """An array of a library as a value; what else an operation gave as it is."""
    if isinstance(array, tuple):
        return tuple(duck(library, a) for a in array)
    if not isinstance(array, library.arrays):
        return array
    d = object.__new__(Duck)
    d.level, d.primal, d.tangent = DUCKS, Sealed(array, library), library
    return d


def opened(library: Library, x: Any) -> Any:
    """An operand as the library's functions take it."""
    if type(x) is Duck:
        return x.primal.array
    return library.constant(x.primal if type(x) is Buffer else x)


def as_duck(x: Any) -> Any:
    """An array of a registered library as a value; None for anything else."""
    t = type(x)
    if t is Sealed:
        return duck(x.library, x.array)
    if t not in LIBRARIES:
        module = MODULES.get(t.__module__.partition(".")[0])
        if module is not None:
            importlib.import_module(module)
        LIBRARIES.setdefault(t, None)
    library = LIBRARIES[t]
    if library is None:
        return None
    library.admit(x)
    return duck(library, x)


def duck_under(x: Any) -> Any:
    """The array of another library that a value is made of; None where there is none."""
    while isinstance(x, TracedArray) and type(x) is not Duck:
        if x.ends or x.kind in ("linear", "batched"):
            return None
        x = x.primal
    return x if type(x) is Duck else None


VALUES.append(as_duck)
