"""Staging: a value whose operations are written down as a program while they are computed.

A staged value lies below all transformations that run inside of the traced function, so that
what is written down is the derivative program, of primitives alone. What Python decides by such
a value (a branch, an index, a conversion) becomes a guard: a question with its answer. Any other
look at the value is a guard too, that it is what it was; so nothing is ever used unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..levels.buffer import Buffer, frozen
from ..levels.level import Level
from ..levels.missing import name_of
from ..levels.rules import UFUNC_METHODS
from ..levels.traced import SLOT, TracedArray
from ..levels.watch import users_frame
from ..primitives.elementwise import Elementwise
from ..primitives.linear import Linear
from ..primitives.primitive import Opaque
from .operations import Guard, Operation, Untraceable, Variable
from .shown import NotNumbers, Shown, cast, python_type

__all__ = ["Staged", "concrete", "staged"]


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

    def __hash__(self) -> int:
        if not self.level.is_open:
            return id(self)
        if self.dtype.kind in "iub" and not self.tangent.is_array:
            return hash(int(self))  # who finds it in a dict or a set compares it as well
        raise Untraceable("it looks a value up in a dict, in a set or in a cache", True)

    def __reduce__(self) -> Any:
        return self.primal.__reduce__()

    def __abs__(self) -> Any:
        out = TracedArray.__abs__(self)  # type: ignore[attr-defined]
        pool = self.level.pool
        if pool is not None and pool.shown.kind(self) is complex:
            pool.shown.mark(out, float)
        return out

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __repr__(self) -> str:
        if not self.level.is_open or self.level.pool is None:
            return repr(concrete(self))
        kind = self.level.pool.shown.number(self)
        return repr(self.primal if kind is None else kind(self.primal))


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
