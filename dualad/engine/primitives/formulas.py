"""The formulas of one elementwise primitive: what its functions compute, however these are made.

`interpreted` carries them out one by one, as small functions, and `writer` writes their source
into large ones. Both take them from here, so that they compute the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .elementwise import Elementwise
from .terms import divided_once, scaled, summed

__all__ = ["Formulas"]


#: t times a slope that is read as it is
PLAIN: dict[str, Callable[..., Any]] = {
    "out": lambda t, out, x, y: t * out,
    "x": lambda t, out, x, y: t * x,
    "y": lambda t, out, x, y: t * y,
}
#: the share of an argument of a primitive, and whether it is added
_terms: dict[tuple[Elementwise, str], tuple[bool, Callable[..., Any]]] = {}


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

    # --- as functions ------------------------------------------------------------------------

    def function(self, names: str, text: str) -> Callable[..., Any]:
        """A formula as a function."""
        scope = self.p.namespace
        if self.functions:
            scope = {**scope, **self.functions}
        return eval(f"lambda {names}: {text}", scope)

    def sum_of_two(self) -> Callable[..., Any]:
        """The tangent where both arguments have one, as a function of (out, x, y, dx, dy)."""
        text = divided_once([("dx", self.slopes["x"]), ("dy", self.slopes["y"])])
        if text is not None:
            return self.function("out, x, y, dx, dy", text)
        (x_is_added, first), (y_is_added, second) = self.term("x"), self.term("y")

        def formula(out: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
            t = first(dx, out, x, y) if x_is_added else -first(dx, out, x, y)
            s = second(dy, out, x, y)
            return t + s if y_is_added else t - s

        return formula

    def term(self, a: str) -> tuple[bool, Callable[..., Any]]:
        """The share of an argument as a function (t, out, x, y); whether it is added.

        It is made once for all kinds.
        """
        found = _terms.get((self.p, a))
        if found is None:
            sign, share = "+", self.plain_term(a)
            if share is None:
                sign, text = scaled("t", self.slopes[a])
                share = self.function("t, out, x, y", text)
            found = _terms[self.p, a] = sign == "+", share
        return found

    def plain_term(self, a: str) -> Callable[..., Any] | None:
        """A share for which there is nothing to compile.

        It is t itself, or t times an operand or the result, or a function of that.
        """
        slope = self.slopes[a]
        if slope == "1":
            return lambda t, out, x, y: t
        if slope in PLAIN:
            return PLAIN[slope]
        name, _, rest = slope.partition("(")
        f = self.p.namespace.get(name)
        if f is None or rest not in ("x)", "y)", "out)"):
            return None
        if rest == "x)":
            return lambda t, out, x, y: t * f(x)
        if rest == "y)":
            return lambda t, out, x, y: t * f(y)
        return lambda t, out, x, y: t * f(out)
