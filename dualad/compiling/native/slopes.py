"""tanh and its slope from one exponential.

With F = exp(-2 |x|): |tanh(x)| = 1 - 2 F / (1 + F), and the slope 1 / cosh(x)**2 is
4 F / (1 + F)**2. A program that has both computes F and 1 / (1 + F) once, since a compiler sees
the same instructions twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...engine.primitives.primitive import PRIMITIVES
from ...engine.staging.operations import Guard, Operation, Variable
from ..loop import Loop, variables_of
from ..mathematics.arithmetic import Real, copysign, fma, polynomial, select
from ..mathematics.exponentials import exp
from ..mathematics.hyperbolics import TANH
from ..program import Program

__all__ = ["slope", "tanh", "with_slopes"]


def tanh(x: Real) -> Real:
    """The hyperbolic tangent, off by at most 1.5 units in the last place."""
    size = abs(x)
    small, inverse = parts(size)
    far = fma(-2.0 * small, inverse, 1.0)
    z = x * x
    near = fma(size * z, polynomial(z, TANH), size)
    return copysign(select(size > 0.75, far, near), x)


def slope(x: Real) -> Real:
    """Its slope, off by at most 4 units in the last place."""
    small, inverse = parts(abs(x))
    return ((4.0 * small) * inverse) * inverse


def parts(size: Real) -> tuple[Real, Real]:
    """exp(-2 size), and the inverse of its sum with 1."""
    small = exp(-2.0 * size)
    return small, 1.0 / (1.0 + small)


def with_slopes(program: Program) -> Program:
    """The program with 1 / cosh(x)**2 as one operation, also in quotients."""
    used = Counter(program.results())
    for s in program.steps:
        used.update(variables_of(s))
    return program.with_steps(_replaced(program.steps, used))


def _replaced(steps: Sequence[Any], used: Counter[Variable]) -> list[Any]:
    made: dict[Variable, Operation] = {}
    out: list[Any] = []
    for s in steps:
        if isinstance(s, Loop):
            body = _replaced(s.body, _used_inside(s))
            out.append(s._replace(body=tuple(body)))
            continue
        if not isinstance(s, Guard):
            made.update(dict.fromkeys(s.results, s))
            x = _argument(s, made, used)
            if x is not None:
                out += _product(s, x, made)
                continue
        out.append(s)
    return _without_unread(_without_unread(out, steps), steps)


def _product(s: Operation, x: Variable, made: dict) -> list[Operation]:
    """What is divided by cosh(x)**2, times the slope of x."""
    top = s.operands[0] if s.primitive.name == "divide" else 1
    slope = Operation(PRIMITIVES["tanh_slope"], (x,), {}, s.results, True, s.quiet, ())
    if type(top) in (int, float) and top == 1 and x.shape == s.results[0].shape:
        return [slope]
    found = made[s.operands[1]].results[0].another()
    return [
        slope._replace(results=(found,)),
        s._replace(primitive=PRIMITIVES["multiply"], operands=(top, found)),
    ]


def _used_inside(loop: Loop) -> Counter[Variable]:
    used = Counter([c.update for c in loop.carries] + [s.inside for s in loop.saves])
    used.update(v for _, v in loop.finals)
    for s in loop.body:
        used.update(variables_of(s))
    return used


def _argument(s: Operation, made: dict, used: Counter[Variable]) -> Any:
    """The x of a quotient by cosh(x)**2, if an operation is that."""
    if s.primitive.name not in ("reciprocal", "divide"):
        return None
    bottom = s.operands[-1]
    square = _maker(bottom, "square", made, used, 1)
    if square is None:
        square = _maker(bottom, "multiply", made, used, 1)
        if square is None or square.operands[0] is not square.operands[1]:
            return None
    cosh = _maker(square.operands[0], "cosh", made, used, len(square.operands))
    if cosh is None or cosh.operands[0].dtype != s.results[0].dtype:
        return None
    return cosh.operands[0]


def _maker(v: Any, name: str, made: dict, used: Counter[Variable], times: int) -> Any:
    s = made.get(v) if type(v) is Variable and used[v] == times else None
    return s if s is not None and s.primitive.name == name else None


def _without_unread(new: list[Any], old: Sequence[Any]) -> list[Any]:
    """Without what only the operations read that were replaced."""
    read = {v for s in new for v in variables_of(s)}
    was_read = {v for s in old for v in variables_of(s)}
    return [
        s
        for s in new
        if isinstance(s, (Guard, Loop)) or any(r in read or r not in was_read for r in s.results)
    ]
