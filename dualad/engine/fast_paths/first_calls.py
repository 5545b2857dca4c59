"""How long the first calls of an elementwise operation last, and which operands they take.

They take the same decisions as the functions that are written later (see `writer`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.guard import ignore, restore
from ..arrays.memory import LARGE
from ..levels.traced import OBJECT
from ..primitives.elementwise import Elementwise
from ..primitives.formulas import Formulas

__all__ = ["FEW", "FirstCalls", "Made", "Pair"]

#: After how many calls of an operation on one kind a function of its own is written. A call costs
#: 0.4 to 1 microsecond more than one of that function, which takes 200 to 1500 to make; twice as
#: many would be about as good, but what runs often is to run at full speed soon.
FEW = 100
#: After how many more such calls of any operation the next one is written: what begins together
#: in one program is not written together, which would hold up one call by tens of milliseconds.
SPREAD = 16

ndarray, float64 = np.ndarray, np.float64

Pair = tuple[Callable[..., Any], Callable[..., Any] | None]
#: What gives the functions of a primitive and kind.
Made = Callable[[Elementwise, str], Pair]

UNARY: dict[str, Callable[..., Any]] = {"-": operator.neg, "+": operator.pos}
BINARY: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "**": operator.pow, "%": operator.mod,
}  # fmt: skip


def is_large(x: Any) -> bool:
    return type(x) is ndarray and x.size >= LARGE


class FirstCalls(Formulas):
    """The calls of one primitive on one kind of traced array."""

    kind: type
    #: the general path of an operator
    mixed: Callable[..., Any]
    #: the functions in use of another primitive
    current: Made
    #: puts the written functions into use, and gives them
    settle: Made
    #: how many calls too many pass before the next function is written
    waiting = 0

    @classmethod
    def connect(cls, mixed: Callable[..., Any], current: Made, settle: Made) -> None:
        """Make known what the first calls go on to."""
        cls.mixed, cls.current, cls.settle = map(staticmethod, (mixed, current, settle))

    def __init__(self, primitive: Elementwise):
        super().__init__(primitive)
        self.left = FEW
        self.is_settled = False
        self.known: dict[str, Any] = {}
        self.compute = self.operation()
        self.may = self.patterns()
        if primitive.complex is not None:
            self.may = [p for p in self.may if p == "x"]
        if primitive.constant is not None:
            self.is_constant = self.function("v", primitive.constant[0])

    def operation(self) -> Callable[..., Any]:
        """The operation as a function of its arguments."""
        if self.p.call is not None:
            return self.function(", ".join(self.names), self.p.call)
        if self.p.operator is not None:
            return (UNARY if self.arity == 1 else BINARY)[self.p.operator]
        return self.p.impl

    def tangent(self, active: str) -> Callable[..., Any]:
        """The formula of the tangent as a function of (out, x, y, dx, dy)."""
        if len(active) == 2:
            formula = self.sum_of_two()
        else:
            is_added, term = self.term(active)
            share = term if is_added else lambda *args: -term(*args)
            if active == "x":
                formula = lambda out, x, y, dx, dy: share(dx, out, x, y)  # noqa: E731
            else:
                formula = lambda out, x, y, dx, dy: share(dy, out, x, y)  # noqa: E731
        self.known[active] = formula
        return formula

    def moved(self, active: str, out: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
        """The tangent, without warnings where a slope may be infinite."""
        formula = self.known.get(active) or self.tangent(active)
        if not self.p.singular:
            return formula(out, x, y, dx, dy)
        token = ignore()
        try:
            return formula(out, x, y, dx, dy)
        finally:
            restore(token)

    def is_over(self) -> bool:
        """Whether this call is one too many, and the written functions take over."""
        self.left -= 1
        return self.left < 0 and (self.is_settled or self.is_next())

    @staticmethod
    def is_next() -> bool:
        """Whether it is time to write a function."""
        FirstCalls.waiting -= 1
        if FirstCalls.waiting > 0:
            return False
        FirstCalls.waiting = SPREAD
        return True

    def written(self) -> Pair:
        self.is_settled = True
        return self.settle(self.p, self.kind.__name__)

    # --- which operands there are -----------------------------------------------------------

    def of_one(self, u: Any) -> Any:
        p, x = self.p, u.primal
        if self.is_over() or is_large(x):
            return self.written()[0](u)
        if p.complex is not None and u.dtype.kind == "c":
            return p.complex(u)
        return self.result("x", u, None, x, None)

    def of_two(self, u: Any, v: Any) -> Any:
        if self.is_over():
            return self.written()[0](u, v)
        p, T = self.p, type(v)
        if p.constant is not None and (T is int or T is float) and self.is_constant(v):
            return self.current(p.constant[1], self.kind.__name__)[0](u, v)
        if T is self.kind and v.level is u.level:
            if "xy" in self.may:
                if p.twice is not None and u is v:
                    return self.current(p.twice, self.kind.__name__)[0](u)
                x, y = u.primal, v.primal
                if is_large(x) or is_large(y):
                    return self.written()[0](u, v)
                return self.result("xy", u, v, x, y)
        elif "x" in self.may and self.is_plain("x", T, v):
            if p.complex is None or (u.dtype.kind != "c" and T is not ndarray):
                x = u.primal
                if is_large(x) or is_large(v):
                    return self.written()[0](u, v)
                return self.result("x", u, None, x, self.constant("x", T, v))
        return self.mixed(p, u, v)

    def reflected(self, v: Any, u: Any) -> Any:
        y, T = v.primal, type(u)
        if self.is_over() or is_large(y) or is_large(u):
            return self.written()[1](v, u)  # type: ignore[misc]
        if "y" in self.may and self.is_plain("y", T, u):
            return self.result("y", None, v, self.constant("y", T, u), y)
        return self.mixed(self.p, u, v)

    def is_plain(self, active: str, T: type, c: Any) -> bool:
        """Whether the other operand, c of type T, is a constant of the common kinds."""
        if T is float or T is int or T is float64:
            return True
        if T is not ndarray:
            return False
        key = f"computed {active}"
        if key not in self.known:
            self.known[key] = self.computes_with_constant(active)
        return c.dtype.kind == "f" if self.known[key] else c.dtype is not OBJECT

    def constant(self, active: str, T: type, c: Any) -> Any:
        """A constant operand as the result refers to it."""
        return c

    def result(self, active: str, u: Any, v: Any, x: Any, y: Any) -> Any:
        """The result from the traced operands u and v, None for a constant, and the primals."""
        raise NotImplementedError
