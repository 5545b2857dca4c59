"""The operators of a tensor: dtypes as PyTorch has them, levels as the engine has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.rules import UFUNCS
from ..engine.levels.traced import TracedArray
from ..engine.requires_grad.graph import GRAPH, GraphValue
from .face import State, as_shape_error, operand, unwrap, wrap
from .promotion import floating, promoted
from .writing import as_it_was, in_place

__all__ = ["install_operators"]

NUMBERS = (State, TracedArray, np.ndarray, np.generic, int, float, complex)

#: Methods that are an operator.
OPERATORS = {
    "mul": "mul", "multiply": "mul", "floor_divide": "floordiv", "remainder": "mod", "pow": "pow",
    "bitwise_and": "and",
    "bitwise_or": "or", "bitwise_xor": "xor",
}  # fmt: skip

MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def _operator(name: str, reflected: str) -> Callable[[Any, Any], Any]:
    """self name other; `reflected` is the operator of the other operand that means the same."""
    divides, inverts = "truediv" in name, name == "__rtruediv__"
    ufunc, swaps = UFUNC_OF.get(name.replace("__r", "__")), name.startswith("__r")

    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, NUMBERS):
            return NotImplemented
        a, b = unwrap(self), operand(other)
        if inverts and not hasattr(b, "shape"):
            a = unwrap(as_it_was(self))  # as in reciprocal()
        if ufunc is not None and _is_plainly_recorded(a, b):
            return _recorded(ufunc, (b, a) if swaps else (a, b))
        if type(b) is not float or a.dtype.kind != "f":
            a, b = promoted(a, b)
            if divides:
                a, b = floating(a), floating(b)
        try:
            out = getattr(a, name)(b)
            if out is NotImplemented:
                out = getattr(b, reflected)(a)
        except ValueError as error:
            raise as_shape_error(error) from None
        return NotImplemented if out is NotImplemented else wrap(out)

    method.__name__ = name
    return method


#: The ufunc of the commonest operators.
UFUNC_OF = {
    "__add__": np.add, "__sub__": np.subtract, "__mul__": np.multiply, "__truediv__": np.divide,
}  # fmt: skip


def _is_plainly_recorded(a: Any, b: Any) -> bool:
    """Whether both are real floats of one dtype, in the requires_grad graph or plain."""
    if type(a) is not GraphValue or a.primal.dtype.kind != "f":
        return False
    return type(b) is float or (type(b) in (GraphValue, np.ndarray) and b.dtype == a.primal.dtype)


def _recorded(ufunc: np.ufunc, operands: tuple[Any, Any]) -> Any:
    """What an operator gives in the graph, without asking which level is to handle it."""
    try:
        return wrap(GraphValue.bind(UFUNCS[ufunc], GRAPH, operands, {}))
    except ValueError as error:
        raise as_shape_error(error) from None


def install_operators(cls: type) -> None:
    """Give a class the operators, the methods of the same meaning, and what writes in place."""
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
        there, back = f"__{name}__", f"__r{name}__"
        setattr(cls, there, _operator(there, back))
        setattr(cls, back, _operator(back, there))
        if name != "matmul":
            setattr(cls, f"__i{name}__", in_place(getattr(cls, there), f"__i{name}__"))
    for name, mirror in MIRRORED.items():
        setattr(cls, f"__{name}__", _operator(f"__{name}__", f"__{mirror}__"))
        setattr(cls, name, getattr(cls, f"__{name}__"))
    for method, name in OPERATORS.items():
        setattr(cls, method, getattr(cls, f"__{name}__"))
        setattr(cls, f"{method}_", in_place(getattr(cls, method), f"{method}_"))
    for name in "neg abs invert".split():
        setattr(cls, f"__{name}__", _unary(f"__{name}__"))


def _unary(name: str) -> Callable[[Any], Any]:
    return lambda self: wrap(getattr(unwrap(self), name)())
