"""One operation as an expression of NumPy, in the shortest form that does the same."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..engine.arrays.memory import F64, LARGE
from ..engine.arrays.sums import is_by_columns
from ..engine.programs.source import Literals
from ..engine.staging.operations import Operation, Variable

__all__ = ["Expressions", "may_be_float"]

#: Arrays up to which NumPy takes an array without axes quicker than a number of Python.
SMALL = 16384


class Expressions(Literals):
    """Operations as expressions; what they need by name is in `constants` and `helpers`."""

    def __init__(self) -> None:
        super().__init__()
        self.helpers: dict[str, Any] = {}
        self.names: dict[Variable, str] = {}
        self._numbers: dict[Any, str] = {}

    # --- operands ----------------------------------------------------------------------------

    def value(self, x: Any) -> str:
        """A variable by its name, a constant by value or by name."""
        if type(x) is Variable:
            return self.names[x]
        if isinstance(x, np.ndarray) and x.ndim == 0:
            return self.named(x)
        return self.constant(x)

    def named(self, x: Any) -> str:
        """A constant by name."""
        if id(x) not in self._by_id:
            name = f"c{len(self.constants)}"
            self.constants[name] = x
            self._by_id[id(x)] = name
            self._kept.append(x)
        return self._by_id[id(x)]

    def constant(self, x: Any) -> str:
        if type(x) is Variable:
            return self.names[x]
        if x is None or x is Ellipsis or isinstance(x, (bool, int, float, complex, str)):
            return super().constant(x) if x is not Ellipsis else "..."
        if isinstance(x, np.generic):
            return super().constant(x) if x.dtype.kind in "fciub" else self.named(x)
        return self.named(x)

    def number(self, x: Any, dtype: np.dtype) -> str:
        """A number as an array without axes, which NumPy need not convert at each call."""
        a = np.array(x, dtype)
        key = (a.tobytes(), dtype)
        if key not in self._numbers:
            self._numbers[key] = self.named(a)
        return self._numbers[key]

    def operands(self, s: Operation) -> list[str]:
        """The operands of an operation entry by entry."""
        known = {x.dtype for x in s.operands if type(x) is Variable}
        dtype = known.pop() if len(known) == 1 else None
        shown: list[str] = []
        for x in s.operands:
            if type(x) is Variable or not _is_number(x):
                shown.append(self.value(x))
            elif not _is_weak(x, dtype):
                shown.append(self.named(x))  # as it is: its dtype decides that of the result
            elif dtype is not None and self.is_small_array(s) and may_be_float(s, x, dtype):
                shown.append(self.number(x, dtype))
            else:
                shown.append(self.value(x))
        return shown

    def given(self, s: Operation) -> list[str]:
        """The operands of a function; NumPy's scalars are numbers where that is the same dtype."""
        dtype = s.results[0].dtype if s.results else None
        known = any(type(x) is Variable and x.dtype == dtype for x in s.operands)
        return [
            self.named(x)
            if isinstance(x, np.generic)
            and not (known and x.dtype == dtype and _is_weak(x, dtype))
            else self.value(x)
            for x in s.operands
        ]

    @staticmethod
    def is_small_array(s: Operation) -> bool:
        r = s.results[0]
        return r.is_array and 0 < r.size <= SMALL

    # --- expressions -------------------------------------------------------------------------

    def expression(self, s: Operation) -> str:
        """The call that an operation is."""
        name = s.primitive.name
        operator = getattr(s.primitive, "operator", None)
        if operator == "**" and s.results[0].dtype.kind not in "fc":
            operator = None  # of truth values it has another dtype than the function
        if operator is not None and not s.params:
            names = [f"({n})" if n.startswith("-") else n for n in self.operands(s)]
            return f"{operator}{names[0]}" if len(names) == 1 else f" {operator} ".join(names)
        if name == "square" and s.results[0].size <= SMALL and s.results[0].dtype.kind in "fc":
            return f"{self.value(s.operands[0])} * {self.value(s.operands[0])}"
        if name in WAYS and s.primitive.family in ("linear", "composite"):
            text = WAYS[name](self, s)
            if text is not None:
                return text
        names = (
            self.operands(s) if isinstance(s.primitive.impl, np.ufunc)
            else self.given(s)
        )  # fmt: skip
        given = names + [f"{k}={self.parameter(v)}" for k, v in s.params.items()]
        return f"{self.function(s.primitive)}({', '.join(given)})"

    def function(self, primitive: Any) -> str:
        """The function of a primitive by name: NumPy's, or one that the source defines."""
        impl = primitive.impl
        name = getattr(impl, "__name__", "")
        if getattr(np, name, None) is impl:
            return f"np.{name}"
        known = re.sub(r"\W", "_", primitive.name)
        while self.helpers.get(known, impl) is not impl:
            known += "_"
        self.helpers[known] = impl
        return known


def may_be_float(s: Operation, x: Any, dtype: np.dtype) -> bool:
    """Whether an operation takes a number beside arrays of a real dtype as one of that dtype."""
    kinds = (int, float, np.floating, np.integer)
    real = dtype.kind == "f" and isinstance(x, kinds) and not isinstance(x, bool)
    return real and s.primitive.impl in ALIKE


#: Functions of two numbers of one dtype.
ALIKE = {
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.less, np.less_equal,
    np.greater, np.greater_equal, np.equal, np.not_equal, np.hypot, np.arctan2, np.remainder,
}  # fmt: skip


def _is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex, np.generic))


def _is_weak(x: Any, dtype: np.dtype | None) -> bool:
    """Whether a number of Python in its place gives the same dtype."""
    if not isinstance(x, np.generic):
        return True
    if dtype is None:
        return x.dtype.type in (np.float64, np.complex128, np.bool_)
    if dtype.kind == "b":
        return False
    number = x.item()
    if isinstance(number, np.generic):
        return False  # a longdouble, for which Python has no number
    try:
        return np.result_type(dtype, number) == np.result_type(dtype, x.dtype)
    except (OverflowError, TypeError):
        return False


# --- operations that have a shorter form ---------------------------------------------------------


def _getitem(e: Expressions, s: Operation) -> str:
    return f"{e.value(s.operands[0])}[{e.brackets(s.params['index'])}]"


def _reshape(e: Expressions, s: Operation) -> str | None:
    return _method(e, s, f"reshape({e.parameter(s.params['shape'])})")


def _transpose(e: Expressions, s: Operation) -> str | None:
    axes = s.params["axes"]
    reverse = tuple(range(len(axes)))[::-1]
    return _method(e, s, "T" if axes == reverse else f"transpose({e.parameter(axes)})")


def _method(e: Expressions, s: Operation, call: str) -> str | None:
    x = s.operands[0]
    return f"{e.value(x)}.{call}" if isinstance(x, (Variable, np.ndarray)) else None


def _sum(e: Expressions, s: Operation) -> str:
    x, axes = s.operands[0], s.params["axes"]
    if type(x) is Variable and x.size >= LARGE and x.dtype is F64 and x.contiguous:
        if s.quiet:  # in a derivative
            return f"sum_up({e.value(x)}, {e.parameter(axes)})"
        if is_by_columns(x.shape, axes):
            return f"sum_as_numpy({e.value(x)}, {e.parameter(axes)})"
    return _reduced(e, s, "np.add")


def _reduced(e: Expressions, s: Operation, ufunc: str) -> str:
    x, axes = s.operands[0], s.params["axes"]
    text = e.value(x)
    if axes == (0,):
        return f"{ufunc}.reduce({text})"
    return f"{ufunc}.reduce({text}, {axes[0] if len(axes) == 1 else e.parameter(axes)})"


def _where(e: Expressions, s: Operation) -> str:
    scalar = "" if s.results[0].is_array else "[()]"
    return f"np.where({', '.join(e.given(s))}){scalar}"


def _matmul(e: Expressions, s: Operation) -> str:
    return " @ ".join(map(e.value, s.operands))


def _gram(e: Expressions, s: Operation) -> str | None:
    x = s.operands[0]
    if type(x) is not Variable or len(x.shape) != 2:
        return None
    return f"{e.value(x)} @ {e.value(x)}.T"


def _concatenate(e: Expressions, s: Operation) -> str:
    axis = s.params["axis"]
    parts = f"({', '.join(map(e.value, s.operands))},)"
    return f"np.concatenate({parts}, {axis})" if axis else f"np.concatenate({parts})"


def _stack(e: Expressions, s: Operation) -> str | None:
    if s.params["axis"] != 0 or len(s.results[0].shape) != 1:
        return None
    return f"np.array([{', '.join(map(e.value, s.operands))}])"


def _broadcast(e: Expressions, s: Operation) -> str:
    return f"np.broadcast_to({e.value(s.operands[0])}, {e.parameter(s.params['shape'])})"


def _cast(e: Expressions, s: Operation) -> str | None:
    x, dtype = s.operands[0], np.dtype(s.params["dtype"])
    if type(x) is not Variable or (x.dtype.kind == "c" and dtype.kind != "c"):
        return None
    return f"{e.value(x)}.astype({e.parameter(dtype)})"


WAYS: dict[str, Any] = {
    "getitem": _getitem, "reshape": _reshape, "transpose": _transpose, "sum_axes": _sum,
    "where": _where, "matmul": _matmul, "gram": _gram, "concatenate": _concatenate,
    "stack": _stack, "broadcast_to": _broadcast, "cast": _cast,
    "max": lambda e, s: _reduced(e, s, "np.maximum"),
    "min": lambda e, s: _reduced(e, s, "np.minimum"),
}  # fmt: skip
