"""The traced array: what all kinds of tracked value share, and NumPy's dispatch protocols.

The kinds (dual, recorded, linear variable, batched, buffer) share one slot layout, so that an
array can change its kind when something of another level is written into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LostDerivativeError, MissingRuleError, NotDifferentiableError
from . import missing
from .level import Level, noted_object, refused
from .rules import Rules

__all__ = [
    "FUNCTIONS",
    "Buffer",
    "Spec",
    "TracedArray",
    "as_value",
    "frozen",
    "memory_of",
    "raw",
    "settled",
    "spec_of",
    "ufunc_rule",
]

#: NumPy function -> what handles it when an argument is traced.
FUNCTIONS = Rules()
#: ufunc -> what handles a plain call of it.
UFUNCS = Rules()
#: (ufunc, method) -> what handles ufunc.reduce, ufunc.outer, ...
UFUNC_METHODS = Rules()
#: method -> what makes the rule of that method for a ufunc which has none of its own, or None.
GENERAL = Rules()
#: Asked before an array is converted: a remedy for the function that wants to do it, or None.
REMEDIES: list[Callable[[], str | None]] = []

#: Asked when a conversion is refused: a remedy for who wanted it, or None.
HINTS: list[Callable[[], str | None]] = []
#: Asked about an operand that is no array, and whether an operator has it, so that its own
#: reflected one may be tried: each may raise the error that says what to do.
FOREIGN: list[Callable[[Any, bool], None]] = []
#: Asked about an array of another library: a value that stands for it, or None.
VALUES: list[Callable[[Any], Any]] = []
NO_CONVERSION = (
    "use np.stack or np.concatenate to assemble an array, np.zeros_like(x) for a buffer to write "
    "into, `import dualad.numpy as np` for asarray, array, full and zeros that take traced "
    "values, or dualad.stop_gradient(x) where the derivative is not wanted"
)

#: The types of arrays that a function may mix: ndarray and the kinds that have been met.
OWN: set[type] = {np.ndarray}

OBJECT = np.dtype(object)
FLOAT64 = np.dtype(np.float64)


class Spec:
    """Shape and dtype of a value, without the value."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any):
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def __repr__(self) -> str:
        return f"{np.dtype(self.dtype).name}[{','.join(map(str, self.shape))}]"


#: The Spec of the scalars that most scalars are.
SCALARS = {np.float64: Spec((), FLOAT64), float: Spec((), FLOAT64), int: Spec((), np.dtype(int))}


def spec_of(x: Any) -> Spec:
    """The Spec of any value: traced, array, scalar or Spec."""
    if type(x) is np.ndarray:
        return Spec(x.shape, x.dtype)
    known = SCALARS.get(type(x))
    if known is not None and (known.dtype is FLOAT64 or -(2**63) <= x < 2**63):
        return known
    if isinstance(x, TracedArray):
        return Spec(x.shape, x.dtype)
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        return Spec(x.shape, x.dtype)
    a = np.asarray(x)
    return Spec(a.shape, a.dtype)


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

    # --- NumPy's protocols -----------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        for a in inputs:
            if not isinstance(a, TracedArray) and hasattr(a, "__dualad_face__"):
                return NotImplemented
        if kwargs:
            return self.with_keywords(ufunc, method, inputs, kwargs)
        if method == "at":
            return ufunc_rule(ufunc, method)(*inputs)
        return ufunc_rule(ufunc, method)(*map(as_operand, inputs))

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        for t in types:
            if t in OWN:
                continue
            if hasattr(t, "__dualad_face__"):
                return NotImplemented
            if issubclass(t, TracedArray):
                OWN.add(t)
            else:
                error = foreign(t, f"an argument of {name_of(func)}")
                args, kwargs = with_values(t, args, error), with_values(t, kwargs, error)
        rule = FUNCTIONS[func]
        if rule is None:
            raise missing_rule(name_of(func))
        return rule(*args, **kwargs)

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


class Buffer(TracedArray):
    """An array without any derivative that can take traced values by assignment.

    This is what `np.zeros_like(x)` gives for a traced x. Its level is below all others.
    """

    __slots__ = ()
    kind = "buffer"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        out = primitive(*(a.primal if type(a) is Buffer else a for a in args), **params)
        return tuple(map(buffer, out)) if isinstance(out, tuple) else buffer(out)

    __hash__ = object.__hash__

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.primal, dtype)

    def __float__(self) -> float:
        return float(self.primal)

    def __int__(self) -> int:
        return int(self.primal)

    def __complex__(self) -> complex:
        return complex(self.primal)

    def item(self, *args: Any) -> Any:
        """The entry as a Python number."""
        return self.primal.item(*args)

    def __reduce__(self) -> Any:
        return self.primal.__reduce__()

    def tolist(self) -> Any:
        """The entries as nested lists of Python numbers."""
        return self.primal.tolist()


BOTTOM = Level("buffer")
BOTTOM.rank = 0


def buffer(value: Any) -> Any:
    """Wrap a plain array; scalars, and what is traced or has no tangent space, stay themselves."""
    if type(value) is not np.ndarray or value.dtype.kind not in "fc":
        return value
    b = object.__new__(Buffer)
    b.level, b.primal, b.tangent = BOTTOM, value, None
    return b


def settled(operand: Any) -> Any:
    """An operand of another level: a buffer, which has no derivative, as its plain value."""
    return operand.primal if type(operand) is Buffer else operand


def frozen(array: Any) -> Any:
    """The present value of an array, as an array that later writes do not touch."""
    if not isinstance(array, TracedArray):
        return array
    if type(array) is Buffer:
        return array.primal
    if array.waits:
        array.general()
    f = object.__new__(type(array))
    f.level, f.primal, f.tangent = array.level, SLOT.__get__(array), array.tangent
    return f


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


def plain_rule(ufunc: Any) -> Callable[..., Any] | None:
    """What handles a plain call of a ufunc; None where there is no rule."""
    return UFUNCS[ufunc]


#: What as_operand knows to be no foreign array.
PLAIN = (TracedArray, np.generic)
NUMBERS = (float, int, complex, bool)


def ufunc_rule(ufunc: Any, method: str = "__call__") -> Callable[..., Any]:
    """What handles a ufunc, or one of its methods, on traced values."""
    rule = UFUNCS[ufunc] if method == "__call__" else UFUNC_METHODS[ufunc, method]
    if rule is None:
        general = GENERAL[method]
        rule = None if general is None else general(ufunc)
    if rule is None:
        name = ufunc.__name__ + ("" if method == "__call__" else f".{method}")
        raise missing_rule(f"the ufunc {name}")
    return rule


def name_of(function: Any) -> str:
    """The name by which people call a function or ufunc of NumPy or SciPy."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__name__", str(function))
    full = name if module is None else f"{module}.{name}"
    return full.replace("numpy.lib.scimath", "numpy.emath")


def missing_rule(name: str) -> MissingRuleError:
    """The error for a function without a rule, which names what is covered near to it."""
    FUNCTIONS.complete()
    return missing.missing_rule(name, [name_of(f) for f in (*FUNCTIONS, *UFUNCS)])


def lost(what: str, remedy: str) -> LostDerivativeError:
    message = f"{what} would drop the derivative of a traced array: {remedy}."
    return LostDerivativeError(refused(message))


def as_operand(x: Any) -> Any:
    """What an operation may meet beside a traced value: object arrays and lists are stacked."""
    if isinstance(x, TracedArray):
        return x
    if isinstance(x, np.ndarray):
        if type(x) is not np.ndarray:
            return plain_array(x, "an operand")
        return x if x.dtype is not OBJECT else stack_objects(x)
    if isinstance(x, (list, tuple)):
        return stack_objects(x)
    if type(x) is range:
        return np.asarray(x)
    if hasattr(x, "__array__") and not isinstance(x, PLAIN) and not hasattr(x, "__dualad_face__"):
        if not hasattr(x, "__dualad_value__"):
            return of_library(x, foreign(type(x), "an operand"))
    elif type(x) not in NUMBERS and not isinstance(x, PLAIN):
        for ask in FOREIGN:
            ask(x, False)
    return x


def of_library(x: Any, error: Exception) -> Any:
    """An array of another library as a value; the error where the library is not registered."""
    for ask in VALUES:
        value = ask(x)
        if value is not None:
            return value
    raise error


def with_values(t: type, x: Any, error: Exception) -> Any:
    """Arguments with the arrays of a type as values."""
    if type(x) is t:
        return of_library(x, error)
    if type(x) in (tuple, list):
        return type(x)(with_values(t, v, error) for v in x)
    return {k: with_values(t, v, error) for k, v in x.items()} if type(x) is dict else x


def plain_array(x: np.ndarray, name: str) -> np.ndarray:
    """A memory map as an array; any other subclass of ndarray has operations of its own."""
    if type(x) is np.memmap:
        return np.asarray(x)
    raise foreign(type(x), name)


def foreign(t: type, name: str) -> NotDifferentiableError:
    """The error for an array type that computes by rules of its own."""
    return NotDifferentiableError(
        f"{name} is a {t.__module__}.{t.__qualname__}, whose operations differ from ndarray's: "
        f"pass the plain array (x.to_numpy() for pandas, x.values for xarray, np.asarray(x) for "
        f"an ndarray subclass) and label the results afterwards."
    )


def objects(x: TracedArray) -> np.ndarray:
    """An object array of the entries of x as traced scalars."""
    out = np.empty(x.shape, dtype=object)
    for at in np.ndindex(x.shape):
        out[at] = x[at] if at else x
    return out


def stack_objects(x: Any) -> Any:
    """An object array, or a nested list, of traced scalars and numbers as one array."""
    if isinstance(x, np.ndarray) and x.dtype is not OBJECT:
        return x
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return as_value(x[()])
    if isinstance(x, (list, tuple, np.ndarray)):
        parts = [stack_objects(v) for v in x]
        if not any(isinstance(p, TracedArray) for p in parts):
            return np.asarray(parts, dtype=None if parts else FLOAT64)
        return FUNCTIONS[np.stack](parts)
    return x


def as_value(x: Any, name: str = "value") -> Any:
    """Bring something from outside to what the engine computes with, or refuse it."""
    if isinstance(x, TracedArray):
        return x.as_number() if x.ends else x
    t = type(x)
    if t is float:
        return np.float64(x)
    if t is complex:
        return np.complex128(x)
    if t in (list, tuple) or (t is np.ndarray and x.dtype is OBJECT):
        value = stack_objects(x)
        if isinstance(value, TracedArray) or value.dtype.kind in "fciub":
            return value
    elif t is np.ndarray or isinstance(x, np.generic):
        if x.dtype.kind in "fciub":
            return x
    elif t in (int, bool):
        return np.asarray(x)[()]
    elif isinstance(x, np.ndarray):
        return plain_array(x, name)
    error = NotDifferentiableError(
        f"{name} is of type {t.__module__}.{t.__qualname__}, which is not a numeric array: give "
        f"a float, a NumPy array (x.to_numpy() for pandas, x.data for xarray), or a container of "
        f"those."
    )
    return of_library(x, error)
