"""The code that is written for one primitive: what it refers to, and how it is run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from ..primitives.blocks import Later
from ..primitives.elementwise import Elementwise
from ..primitives.formulas import Formulas

__all__ = ["Written", "quick"]


@functools.cache
def code_of(text: str) -> CodeType:
    """The code of a function without defaults: what names of a scope mean is no part of it."""
    return compile(text, "<written>", "exec").co_consts[0]


def quick(text: str) -> str:
    """A formula as it is written where no array is large; see `doubled`."""
    return text.replace("x + x", "(x + x if type(x) is float64 else doubled(x))")


class Written(Formulas):
    """The functions of one primitive for one kind, as far as they are written."""

    def __init__(
        self,
        primitive: Elementwise,
        scope: dict[str, Any],
        made: Callable[[Elementwise, str], tuple[Callable, Callable | None]],
    ):
        """scope: what all written code refers to; made: the functions of a primitive and kind."""
        super().__init__(primitive)
        self.made = made
        #: the block-by-block rules that the written code calls, by name
        self.rules: dict[str, Callable[..., Any]] = {}
        #: what the written code refers to
        self.scope = {**primitive.namespace, **scope, "P": primitive, "F": primitive.impl}
        self.scope.update(self.functions)

    def execute(self, text: str, name: str) -> None:
        """Run what was written, with the rules that it calls."""
        for key, rule in self.rules.items():
            self.scope[key] = rule
            if isinstance(rule, Later):
                rule.scope, rule.name = self.scope, key
        self.rules.clear()
        for piece in text.split("\ndef "):
            code = code_of(piece if piece.startswith("def ") else f"def {piece}")
            code = code.replace(co_filename=f"<{name}>")
            self.scope[code.co_name] = FunctionType(code, self.scope)

    @property
    def quick_call(self) -> str:
        """The same for any operands; a square of an array reads it once."""
        return "F(x) if type(x) is ndarray else x * x" if self.call == "x * x" else self.call

    def summed_up(self, total: str) -> list[str]:
        """Lines that compute the tangent t, without warnings where a slope may be infinite."""
        if not self.p.singular:
            return [f"t = {total}"]
        return [
            "token = set_state(IGNORE)",
            "try:",
            f"    t = {total}",
            "finally:",
            "    restore(token)",
        ]
