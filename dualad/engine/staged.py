"""Staging: a value whose operations are written down as a program while they are computed.

A staged value lies below all transformations that run inside of the traced function, so that
what is written down is the derivative program, of primitives alone. What Python decides by such
a value (a branch, an index, a conversion) becomes a guard: a question with its answer. Any other
look at the value is a guard too, that it is what it was; so nothing is ever used unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .guard import error_state
from .level import Level
from .primitive import Elementwise, Linear, Opaque
from .shown import NotNumbers, Shown, cast, python_type
from .traced import SLOT, UFUNC_METHODS, Buffer, TracedArray, frozen, name_of
from .watch import users_frame

__all__ = [
    "Constants",
    "Guard",
    "Operation",
    "Staged",
    "Untraceable",
    "Variable",
    "concrete",
    "settled_constants",
    "staged",
]


class Variable:
    """A value of a program: its shape and dtype, and by which name it is printed."""

    __slots__ = ("axes", "contiguous", "dtype", "is_array", "number", "shape")

    def __init__(self, value: Any, number: float):
        known = value if hasattr(value, "dtype") else np.asarray(value)
        self.shape: tuple[int, ...] = known.shape
        self.dtype: np.dtype = known.dtype
        #: an ndarray, and no NumPy scalar
        self.is_array = isinstance(value, np.ndarray)
        #: whether its entries lie in memory in C order without gaps
        self.contiguous: bool = not self.is_array or value.flags.c_contiguous
        #: for other orders without gaps, the axes from the one with the largest steps on
        self.axes = None if self.contiguous else _axes(value)
        self.number = number

    def another(self) -> Variable:
        """A new variable of the same kind."""
        new = object.__new__(Variable)
        new.shape, new.dtype, new.number = self.shape, self.dtype, self.number
        new.is_array, new.contiguous, new.axes = self.is_array, self.contiguous, self.axes
        return new

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n

    def __repr__(self) -> str:
        return f"v{self.number}: {self.dtype.name}[{','.join(map(str, self.shape))}]"


def _axes(a: np.ndarray) -> tuple[int, ...] | None:
    order = tuple(sorted(range(a.ndim), key=lambda k: -a.strides[k]))
    return order if a.transpose(order).flags.c_contiguous else None


class Operation(NamedTuple):
    """A primitive applied to variables and constants, which may lie inside of its parameters."""

    primitive: Any
    operands: tuple
    params: dict[str, Any]
    results: tuple[Variable, ...]
    #: whether the primitive gives one result, and not a tuple
    is_single: bool
    #: whether it runs without NumPy's warnings, as derivative rules do
    quiet: bool
    #: for each result the operands whose memory it shares
    aliases: tuple[Variable, ...]


class Guard(NamedTuple):
    """What Python was told about a variable: the question, the answer, and who asked."""

    variable: Variable
    question: str
    answer: Any
    where: str


class Untraceable(Exception):
    """What keeps a function from being written down as a program."""

    def __init__(self, why: str, always: bool = False):
        super().__init__(why)
        #: whether it does so whenever the function is called
        self.always = always


class Staged(TracedArray):
    """A value on the tape of a staging level: `tangent` is its variable."""

    __slots__ = ()
    kind = "staged"
    ends = True

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        shown = level.pool.shown if level.pool is not None else None
        if shown:
            return _with_numbers(shown, level, primitive, args, params)
        values = tuple([_value(level, a) for a in args])
        out = primitive(*values, **_values(level, params))
        return record(level, primitive, args, params, values, out)

    @property
    def primal(self) -> Any:
        """The value itself: who looks at it makes it a guard."""
        return self.tell("value", concrete(self))

    @primal.setter
    def primal(self, value: Any) -> None:
        SLOT.__set__(self, value)

    def tell(self, question: str, answer: Any) -> Any:
        """An answer about this value, which the program asks for again whenever it runs."""
        self.level.tape.append(Guard(self.tangent, question, answer, caller()))
        return answer

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tangent.shape

    @property
    def ndim(self) -> int:
        return len(self.tangent.shape)

    @property
    def dtype(self) -> np.dtype:
        return self.tangent.dtype

    def has_nan(self) -> bool:
        """Whether an entry is NaN: the engine asks for it where zero may have met infinity."""
        return self.tell("has_nan", bool(np.isnan(concrete(self)).any()))

    def __bool__(self) -> bool:
        return self.tell("bool", bool(concrete(self)))

    def __int__(self) -> int:
        return self.tell("int", int(concrete(self)))

    def __float__(self) -> float:
        return self.tell("float", float(concrete(self)))

    def __complex__(self) -> complex:
        return self.tell("complex", complex(concrete(self)))

    def __index__(self) -> int:
        return self.tell("index", concrete(self).__index__())

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        array = np.array(self.primal, dtype)
        if not copy:
            array.flags.writeable = False  # the function would write into the value itself
        return array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" and not kwargs and UFUNC_METHODS[ufunc, method] is None:
            if all(is_plain(a) for a in inputs):
                return call_of(getattr(ufunc, method))(*inputs)
        return self._shown_as(None, super().__array_ufunc__(ufunc, method, *inputs, **kwargs))

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        out = super().__array_function__(func, types, args, kwargs)
        # a function that gives an argument back gives it as it is
        return out if any(out is a for a in args) else self._shown_as(KINDS.get(func), out)

    def _shown_as(self, kind: type | None, out: Any) -> Any:
        """A scalar of this level, noted as what the function has in its place."""
        if type(out) is Staged and out.level is self.level and not out.tangent.is_array:
            self.level.pool.shown.mark(out, kind)
        return out

    def as_number(self, kind: type = np.float64) -> Any:
        """The value as NumPy has it, or as a number of Python of that kind."""
        pool = self.level.pool
        if pool is None or self.tangent.shape != ():
            return frozen(self)
        x = self[()] if self.tangent.is_array and kind is not np.ndarray else self
        if kind in (float, complex):
            return pool.shown.mark(strong(x), kind)
        return strong(x) if pool.shown.kind(x) else x

    def type_given(self) -> type:
        """The type of the argument in the function itself."""
        kind = self.level.pool.shown.kind(self) if self.level.pool is not None else None
        return kind or (np.ndarray if self.tangent.is_array else self.tangent.dtype.type)

    def __pow__(self, other: Any) -> Any:
        v = self.tangent
        if v.dtype.kind == "b" and v.is_array and type(other) is int and other == 2:
            return np.square(self)  # as NumPy's operator does it, in fewer bits than np.power
        return TracedArray.__pow__(self, other)  # type: ignore[operator]

    def item(self, *args: Any) -> Any:
        """The one entry, or that at an index, which is a number of Python in the function."""
        out = super().item(*args)
        if type(out) is not Staged:
            return out
        return self._shown_as(python_type(out.dtype), strong(out))

    def tolist(self) -> Any:
        """A nested list of numbers of Python."""
        return [v.tolist() for v in self] if self.shape else self.item()

    def __reduce__(self) -> Any:
        return self.primal.__reduce__()

    def __repr__(self) -> str:
        return repr(self.primal if self.level.is_open else concrete(self))


def concrete(x: Staged) -> Any:
    """The value at the time of the trace, for who only asks for its layout or computes with it."""
    return SLOT.__get__(x)


def staged(level: Level, value: Any, variable: Variable) -> Staged:
    """A value of a staging level."""
    s = level.new(Staged)
    s.level, s.tangent = level, variable
    SLOT.__set__(s, value)
    return s


#: Functions that give arrays, and numbers of Python, where one would expect NumPy's scalars.
KINDS: dict[Any, type] = {
    np.where: np.ndarray, np.select: np.ndarray, np.piecewise: np.ndarray,
    np.allclose: bool, np.array_equal: bool, np.array_equiv: bool,
}  # fmt: skip


def strong(x: Any) -> Any:
    """The same scalar of the same trace, as a number of NumPy."""
    return staged(x.level, concrete(x), x.tangent)


def _with_numbers(shown: Shown, level: Level, primitive: Any, args: tuple, params: dict) -> Any:
    """An operation whose operands may stand for numbers of Python."""
    try:
        dtype, kind = shown.wanted(primitive, args), shown.of_result(primitive, args)
    except NotNumbers as error:
        raise Untraceable(str(error), always=True) from None
    if dtype is not None:
        args = tuple([cast(a, dtype) if shown.number(a) and shown.kind(a) else a for a in args])
    values = tuple([_value(level, a) for a in args])
    out = primitive(*values, **_values(level, params))
    result = record(level, primitive, args, params, values, out)
    return result if kind is None else shown.mark(result, kind)


def is_plain(x: Any) -> bool:
    """Whether no transformation tracks a value."""
    return not isinstance(x, TracedArray) or type(x) in (Staged, Buffer)


def call_of(function: Callable[..., Any]) -> Opaque:
    """A function of NumPy without a rule, as an operation of its own."""
    return Opaque(function, name=name_of(function), builtin=False)


def _value(level: Level, x: Any) -> Any:
    if not isinstance(x, TracedArray):
        return x
    if type(x) is Staged and x.level is level:
        return concrete(x)
    if type(x) is Buffer:
        return x.primal
    raise Untraceable("it uses a value that another transformation tracks, from outside of it")


def _values(level: Level, params: dict) -> dict:
    return {k: _inside(v, lambda x: _value(level, x)) for k, v in params.items()}


def _inside(x: Any, f: Callable[[Any], Any]) -> Any:
    """Replace the traced values, and plain arrays, inside of a parameter."""
    if isinstance(x, (TracedArray, np.ndarray)):
        return f(x)
    if type(x) in (tuple, list):
        return type(x)([_inside(v, f) for v in x])
    return slice(*map(_bound, (x.start, x.stop, x.step))) if type(x) is slice else x


def _bound(x: Any) -> Any:
    """The end of a slice: a number, by a guard where it is a value."""
    return x.__index__() if isinstance(x, TracedArray) else x


def _operand(level: Level, x: Any) -> Any:
    if type(x) is Staged:
        return x.tangent
    if type(x) is Buffer:
        return x.primal.copy("K")
    return level.pool.constant(x) if type(x) is np.ndarray else x


class Constants:
    """The arrays that a trace reads beside its variables.

    An array is kept itself, so that a program sees what is written into it between two calls; but
    a copy of it is kept where the function itself writes into it while it runs.
    """

    __slots__ = ("_known", "_quiet", "_state", "copies", "shown")

    def __init__(self) -> None:
        #: NumPy's error state where the trace began, and others with what they mean
        self._state = (error_state(), np.geterr())
        self._quiet: tuple[Any, bool] = (self._state[0], False)
        self._known: dict[int, list[tuple[Constant, np.ndarray]]] = {}
        #: copies that derivative rules keep of arrays, and these
        self.copies: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        #: what the function has in place of some scalars
        self.shown = Shown()

    def constant(self, array: np.ndarray) -> Any:
        """The array as an operand of a step, as it is now."""
        if not array.flags.writeable and array.base is None:
            return array
        known = self._known.setdefault(id(array), [])
        if not known or not _same(known[-1][1], array):
            known.append((Constant(array), array.copy("K")))
        return known[-1][0]

    def is_quiet(self) -> bool:
        """Whether NumPy gives fewer warnings here than where the trace began."""
        state = error_state()
        if state is not self._quiet[0]:
            self._quiet = (state, self._decide())
        return self._quiet[1]

    def _decide(self) -> bool:
        now = np.geterr()
        if error_state() is self._state[0] or now == self._state[1]:
            return False
        if not {"raise", "call", "log", "print"}.isdisjoint(now.values()):
            raise Untraceable("it tells NumPy itself what to do at an error (np.errstate)", True)
        return "ignore" in now.values()

    def close(self) -> None:
        """Decide for each constant, at the end of the trace, what the program reads."""
        for versions in self._known.values():
            for constant, copy in versions:
                changed = len(versions) > 1 or not _same(constant.array, copy)
                constant.value = copy if changed else self._original(constant.array)

    def _original(self, array: np.ndarray) -> np.ndarray:
        """What an array, or the one that it is a view of, was copied from, if it is that still."""
        root = array
        while isinstance(root.base, np.ndarray) and id(root) not in self.copies:
            root = root.base
        copy, original = self.copies.get(id(root), (None, None))
        if copy is None or original is None or copy.strides != original.strides:
            return array
        if not _same(copy, original):
            return array
        if array is copy:
            return original
        start = _address(array) - _address(copy)
        low, high = np.lib.array_utils.byte_bounds(copy)
        first, last = np.lib.array_utils.byte_bounds(array)
        whole = original.flags.c_contiguous or original.flags.f_contiguous
        if not whole or first < low or last > high or array.dtype != original.dtype:
            return array
        flat = original.T if not original.flags.c_contiguous else original
        return np.ndarray(array.shape, array.dtype, flat, start, array.strides)


def _address(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]


class Constant:
    """An array beside the variables, whose value is known at the end of a trace."""

    __slots__ = ("array", "value")

    def __init__(self, array: np.ndarray):
        self.array, self.value = array, array


def settled_constants(step: Operation | Guard) -> Operation | Guard:
    """A step with its constants, after the trace."""
    if isinstance(step, Guard):
        return step

    def new(x: Any) -> Any:
        if type(x) is Constant:
            return x.value
        return type(x)([new(v) for v in x]) if type(x) in (tuple, list) else x

    if any(type(x) is Constant for x in step.operands):
        step = step._replace(operands=new(step.operands))
    return (
        step._replace(params={k: new(v) for k, v in step.params.items()}) if step.params else step
    )


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "f" and a.itemsize == 8:
        a, b = a.view(np.int64), b.view(np.int64)  # to the last bit: -0.0 is not 0.0
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def record(
    level: Level, primitive: Any, args: tuple, params: dict, values: tuple, out: Any
) -> Any:
    """Write an operation down, and give its result as staged values."""
    tape, k = level.tape, len(level.tape)
    operands = tuple([_operand(level, a) for a in args])
    if params:
        params = {n: _inside(v, lambda x: _operand(level, x)) for n, v in params.items()}
    if not isinstance(out, tuple):
        result = Variable(_checked(out, primitive), k)
        plain = isinstance(primitive, Elementwise)  # the result is in new memory
        shared = () if plain else _sharing(operands, values, (out,))
        tape.append(
            Operation(primitive, operands, params, (result,), True, level.pool.is_quiet(), shared)
        )
        if not plain and result.is_array and decides_shape(primitive):
            tape.append(Guard(result, "shape", result.shape, caller()))
        return staged(level, out, result)
    results = tuple(
        [Variable(_checked(o, primitive), k + j / len(out)) for j, o in enumerate(out)]
    )
    shared = _sharing(operands, values, out)
    tape.append(
        Operation(primitive, operands, params, results, False, level.pool.is_quiet(), shared)
    )
    if decides_shape(primitive):
        tape += [Guard(r, "shape", r.shape, caller()) for r in results if r.is_array]
    made = [staged(level, o, r) for o, r in zip(out, results, strict=True)]
    return type(out)(made) if type(out) is tuple else out._make(made)  # type: ignore[attr-defined]


def _checked(out: Any, primitive: Any) -> Any:
    """A result that can be a variable."""
    if isinstance(out, (np.ndarray, np.generic, bool, int, float, complex)):
        return out
    raise Untraceable(f"{primitive.name} gives a {type(out).__name__}")


def decides_shape(primitive: Any) -> bool:
    """Whether the shape of a result may depend on values, as that of np.nonzero."""
    if isinstance(primitive, Opaque):
        return not primitive.elementwise
    return not isinstance(primitive, (Elementwise, Linear))


def _sharing(operands: tuple, values: tuple, outs: tuple) -> tuple[Variable, ...]:
    """The operands whose memory a result lies in."""
    return tuple(
        [
            x
            for x, v in zip(operands, values, strict=True)
            if type(x) is Variable
            and type(v) is np.ndarray
            and any(type(o) is np.ndarray and np.may_share_memory(v, o) for o in outs)
        ]
    )


def caller() -> str:
    """File and line of the user's code that asks."""
    frame = users_frame()
    return "unknown" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
