"""Arguments outside of a domain, where vector mathematics chooses the result and raises no flag.

The formula of a logarithm gives NaN for a negative number by a choice between two numbers, in
which the processor sees nothing wrong. Such an argument is noticed beside the formula, and behind
the loop the flag is raised after all.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from .entry import TRUTH
from .flags import Flags

__all__ = ["Alarm"]

INT32 = ir.IntType(32)
#: Where functions that end at a bound are defined and finite.
INSIDE = {"log": (">", 0.0), "log2": (">", 0.0), "log10": (">", 0.0), "log1p": (">", -1.0),
          "arccosh": (">=", 1.0)}  # fmt: skip


class Alarm:
    """What one function has noticed."""

    def __init__(self, emitter: Any):
        self.emitter = emitter
        self.place: Any = None

    def watch(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        """Notice arguments outside of the domain of a function."""
        outside = self._outside(name, args, result)
        if outside is None:
            return
        b, top = self.emitter.builder, self.emitter.top
        if self.place is None:
            self.place = top.alloca(TRUTH)
            top.store(ir.Constant(TRUTH, 0), self.place)
        b.store(b.or_(b.load(self.place, typ=TRUTH), outside), self.place)

    def _outside(self, name: str, args: tuple[Any, ...], result: Any) -> Any:
        b = self.emitter.builder
        x = args[0]
        if name in INSIDE:
            relation, bound = INSIDE[name]
            return b.not_(b.fcmp_ordered(relation, x, ir.Constant(x.type, bound)))
        if name == "arctanh":
            one = ir.Constant(x.type, 1.0)
            above = b.fcmp_ordered(">=", x, one)
            return b.or_(above, b.fcmp_ordered("<=", x, ir.Constant(x.type, -1.0)))
        if name == "power":
            # No number, of two that are numbers.
            known = b.fcmp_ordered("ord", x, args[1])
            return b.and_(known, b.fcmp_unordered("uno", result, result))
        return None

    def raise_flag(self) -> None:
        """Raise the flag of an invalid operation, at the end of the function."""
        if self.place is None:
            return
        b = self.emitter.builder
        with b.if_then(b.load(self.place, typ=TRUTH), likely=False):
            Flags(b, self.emitter.top.alloca(INT32)).raise_invalid()
