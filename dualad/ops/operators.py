"""The operators of traced arrays that have no rule of their own.

In-place ones are the plain ones and a write; comparisons, and those of whole and bitwise numbers,
have results that are locally constant. `+`, `*`, `**` and their like are installed where their
derivatives stand.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..engine.fast_paths.codegen import mixed
from ..engine.kinds.batched_dual import BatchedDual
from ..engine.kinds.dual import Dual
from ..engine.kinds.recorded import Recorded
from ..engine.levels.buffer import Buffer
from ..engine.levels.rules import UFUNCS
from ..engine.levels.traced import TracedArray
from ..engine.primitives.inplace import augmented
from ..engine.requires_grad.graph import GraphValue
from .constants import plain
from .methods import call, method
from .predicates import truth  # noqa: F401  (the operators below need its rules)

__all__: list[str] = []

# --- in place --------------------------------------------------------------------------------

for _op in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift",
    "rshift",
):  # fmt: skip
    _operation = getattr(operator, _op + "_" if _op in ("and", "or") else _op)
    setattr(
        TracedArray,
        f"__i{_op}__",
        lambda self, other, f=_operation: augmented(f, self, other),
    )


# --- comparisons and the other operators whose result is constant ----------------------------

#: Written out for each sign, since branches are asked in loops.
_COMPARISON = """
def of_primal(self, other):
    kind = type(other)
    if kind is float or kind is int or kind is float64:
        return self.primal {sign} other
    if kind is type(self) and other.level is self.level:
        return self.primal {sign} other.primal
    return mixed(primitive, self, other)
"""


def _comparison(name: str, sign: str, ufunc: Any) -> None:
    """The operator on all traced arrays; of those that have a value below, of that value."""
    primitive = UFUNCS[ufunc]
    classes = (Dual, BatchedDual, Recorded, Buffer, GraphValue)

    def write(self: Any, other: Any) -> Any:
        """The operator before its first use, which writes it."""
        scope: dict[str, Any] = {"float64": np.float64, "mixed": mixed, "primitive": primitive}
        exec(_COMPARISON.format(sign=sign), scope)
        for cls in classes:
            setattr(cls, name, scope["of_primal"])
        return scope["of_primal"](self, other)

    setattr(TracedArray, name, lambda self, other: mixed(primitive, self, other))
    for cls in classes:
        setattr(cls, name, write)


_ufunc: Any
for _name, _sign, _ufunc in (
    ("__lt__", "<", np.less),
    ("__le__", "<=", np.less_equal),
    ("__eq__", "==", np.equal),
    ("__ne__", "!=", np.not_equal),
    ("__gt__", ">", np.greater),
    ("__ge__", ">=", np.greater_equal),
):
    _comparison(_name, _sign, _ufunc)


def _binary(name: str, ufunc: Any) -> None:
    rule = UFUNCS[ufunc]
    setattr(TracedArray, f"__{name}__", lambda self, other: mixed(rule, self, other))
    setattr(TracedArray, f"__r{name}__", lambda self, other: mixed(rule, other, self))


for _name, _ufunc in (
    ("floordiv", np.floor_divide),
    ("divmod", np.divmod),
    ("and", np.bitwise_and),
    ("or", np.bitwise_or),
    ("xor", np.bitwise_xor),
    ("lshift", np.left_shift),
    ("rshift", np.right_shift),
):
    _binary(_name, _ufunc)


@method("__invert__")
def _invert(self: Any) -> Any:
    return UFUNCS[np.invert](self)


@method("__round__")
def _builtin_round(self: Any, ndigits: int | None = None) -> Any:
    if ndigits is None:
        return int(np.rint(_number(self, "round(x)")))
    return call(np.round, self, ndigits)


def _number(x: Any, what: str) -> Any:
    if x.shape:
        raise TypeError(f"{what} needs a number, not an array of shape {x.shape}")
    return plain(x, f"the argument of {what}")


@method("__floor__")
def _floor(self: Any) -> int:
    return math.floor(_number(self, "math.floor(x)"))


@method("__ceil__")
def _ceil(self: Any) -> int:
    return math.ceil(_number(self, "math.ceil(x)"))


@method("__trunc__")
def _trunc(self: Any) -> int:
    return math.trunc(_number(self, "math.trunc(x)"))
