"""The formulas of one elementwise primitive as source: what its functions compute, however made.

`interpreted` carries them out one by one, `writer` writes them into functions. Both take them
from here, so that they compute the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .primitive import Elementwise
from .terms import scaled, summed

__all__ = ["Formulas"]


class Formulas:
    """The formulas of a primitive of one or two arguments, x and y, whose result is out.

    `active` says everywhere which arguments have a tangent: "x", "y" or "xy".
    """

    def __init__(self, primitive: Elementwise):
        self.p = primitive
        self.arity = len(primitive.partials)
        self.names = "xy"[: self.arity]
        #: the partial derivative in each argument, "0" for none
        self.slopes: dict[str, str] = {}
        #: those that are functions, by the names that formulas call them
        self.functions: dict[str, Callable[..., Any]] = {}
        for a, partial in zip(self.names, primitive.partials, strict=True):
            text = partial.text
            if text is None and partial.constant is None:
                text = f"partial_{a}(out, {', '.join(self.names)})"
                self.functions[f"partial_{a}"] = partial.value
            self.slopes[a] = "0" if text is None or partial.constant == 0.0 else text

    @property
    def call(self) -> str:
        """The operation."""
        if self.p.call is not None:
            return self.p.call
        if self.p.operator is None:
            return f"F({', '.join(self.names)})"
        return f"{self.p.operator}x" if self.arity == 1 else f"x {self.p.operator} y"

    @property
    def has_plain_loop(self) -> bool:
        """Whether plain float64 gives plain float64, as the operands tell beforehand."""
        return "d" * self.arity + "->d" in getattr(self.p.impl, "types", ())

    def patterns(self) -> list[str]:
        """Which arguments may have a tangent that counts."""
        live = self.live(self.names)
        if self.arity == 1 or len(live) == 1:
            return live
        return ["xy", *live] if live else live

    def live(self, active: str) -> list[str]:
        """The active arguments whose partial derivative is not zero."""
        return [a for a in active if self.slopes[a] != "0"]

    def total(self, active: str, tangents: dict[str, str]) -> str:
        """The tangent of the result."""
        return summed([(tangents[a], self.slopes[a]) for a in self.live(active)])

    def share(self, a: str) -> tuple[str, str]:
        """Sign and source of the share of an argument in a cotangent c."""
        return scaled("c", self.slopes[a])

    def reads(self, active: str) -> list[str]:
        """What the partial derivatives in the active arguments read."""
        partials = self.p.partials
        names = partials[active == "y"].names
        if active == "xy":
            names |= partials[1].names
        return [n for n in ("out", *self.names) if n in names]

    def spans(self, live: list[str]) -> bool:
        """Whether the terms of the tangent read all operands: then its shape is the result's."""
        read = set(live)
        for a in live:
            partial = self.p.partials["xy".index(a)]
            if partial.text is not None:  # of a function it is not known what it reads
                read |= partial.names
        return "out" in read or read >= set(self.names)

    def computes_with_constant(self, active: str) -> bool:
        """Whether the slope in one argument is computed from the other, which is constant.

        Integers of few bits wrap around in a formula: the general path makes them wider.
        """
        other = "y" if active == "x" else "x"
        return other in self.reads(active) and self.slopes[active] != other

    def places(self, active: str) -> list[int | None]:
        """Where an entry, (pull, *parents, *reads), has result, parents and arguments."""
        names = ["", *(f"i{a}" for a in active), *self.reads(active)]
        return [names.index(n) if n in names else None for n in ("out", "ix", "iy", "x", "y")]
