"""Passes over programs. What they leave equals what was there to rounding.

A pass may change the last digits of a number. It does not change which entries are NaN or
infinite, the sign of an infinity, dtypes, shapes, or what warns; nor the sign of a zero, but for
one case: an entry to which a slice adds nothing stays as it is, where adding 0.0 would turn -0.0
into 0.0 (`slices`).
"""

from __future__ import annotations

from ..program import Program
from .arithmetic import ARITHMETIC
from .arrangement import ARRANGEMENT
from .constants import constants_of
from .dead_code import without_dead_code
from .formulas import FORMULAS
from .guards import without_implied_guards
from .repetition import without_repetition
from .rewriting import rewritten
from .slices import summed_by_slices

__all__ = ["simplified", "without_dead_code", "without_repetition"]


#: From how many steps a program is rewritten once, and not twice.
LONG = 1000


def simplified(program: Program) -> Program:
    """The program after all passes."""
    program = rewritten(program, FORMULAS, constants_of(program), ARITHMETIC, ARRANGEMENT)
    program = without_dead_code(without_repetition(program))
    if any(s.primitive.name == "scatter_add" for s in program.operations):
        program = summed_by_slices(program)
    if len(program.steps) < LONG:  # what the first round has found may be used once after it
        program = rewritten(program, ARITHMETIC, ARRANGEMENT)
    program = without_dead_code(without_repetition(program))
    return without_dead_code(without_implied_guards(program))
