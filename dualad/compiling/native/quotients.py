"""Which quotients of a loop are computed without a division of their own.

What several are divided by is inverted once, and so is a scalar; to divide by a number that the
program holds is to multiply.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ...engine.primitives.primitive import Opaque
from ...engine.staging.operations import Guard, Operation, Variable
from ..mathematics import divisions
from .emitter import Emitter
from .entry import F64, Refused
from .machine import has_fused

__all__ = ["QUOTIENTS", "with_shared_divisions"]


def _named(name: str, function: Any) -> Opaque:
    return Opaque(function, name, elementwise=True, builtin=False)


#: The inverse of a divisor, and a quotient by what that inverse belongs to; the same of divisors
#: that are known to be positive and not small; a quotient by a number.
INVERSE = _named("shared_inverse", lambda b: 1.0 / b)
QUOTIENT = _named("shared_quotient", lambda a, b, inverse: a / b)
PLAIN_INVERSE = _named("plain_inverse", lambda b: 1.0 / b)
PLAIN_QUOTIENT = _named("plain_quotient", lambda a, b, inverse: a / b)
BY_NUMBER = _named("quotient_by_number", lambda a, c: a / c)

#: Functions whose results are not negative.
NOT_NEGATIVE = {"square", "exp", "exp2", "cosh", "absolute", "sqrt"}


def _inverse(e: Emitter, b: Any) -> Any:
    return e.formula(divisions.inverse, b, is_chain=False)


def _quotient(e: Emitter, a: Any, b: Any, inverse: Any) -> Any:
    return e.formula(divisions.quotient, a, b, inverse, is_chain=False)


def _plain_inverse(e: Emitter, b: Any) -> Any:
    return e.formula(divisions.plain_inverse, b, is_chain=False)


def _plain_quotient(e: Emitter, a: Any, b: Any, inverse: Any) -> Any:
    return e.formula(divisions.plain_quotient, a, b, inverse, is_chain=False)


def _by_number(e: Emitter, a: Any, c: Any) -> Any:
    if not isinstance(c.constant, float):
        raise Refused("a quotient by what is no number")
    return e.formula(lambda x: divisions.by_number(x, c.constant), a, is_chain=False)


#: What these operations are in machine code.
QUOTIENTS: dict[str, Callable[..., Any]] = {
    INVERSE.name: _inverse,
    QUOTIENT.name: _quotient,
    PLAIN_INVERSE.name: _plain_inverse,
    PLAIN_QUOTIENT.name: _plain_quotient,
    BY_NUMBER.name: _by_number,
}


def with_shared_divisions(steps: Sequence[Operation | Guard]) -> list[Operation | Guard]:
    """The steps of a long loop with fewer divisions, where the processor fuses products."""
    if not has_fused():
        return list(steps)
    times = Counter(s.operands[-1] for s in steps if type(s) is Operation and _divides(s))
    makers = {s.results[0]: s for s in steps if type(s) is Operation}
    inverses: dict[Variable, tuple[Opaque, Variable]] = {}
    out: list[Operation | Guard] = []
    for s in steps:
        if type(s) is Operation and _divides_by_number(s):
            s = s._replace(primitive=BY_NUMBER, operands=(s.operands[0], float(s.operands[1])))
        elif type(s) is Operation and _divides(s) and _is_shared(below := s.operands[-1], times):
            if below not in inverses:
                is_plain = _least(below, makers) >= divisions.SMALL
                inverse = below.another()
                primitive = PLAIN_INVERSE if is_plain else INVERSE
                out.append(s._replace(primitive=primitive, operands=(below,), results=(inverse,)))
                inverses[below] = (PLAIN_QUOTIENT if is_plain else QUOTIENT, inverse)
            primitive, inverse = inverses[below]
            above = s.operands[0] if s.primitive.name == "divide" else 1.0
            s = s._replace(primitive=primitive, operands=(above, below, inverse))
        out.append(s)
    return out


def _divides(s: Operation) -> bool:
    """Whether a step divides by a variable in double precision."""
    return (
        s.primitive.name in ("divide", "reciprocal")
        and type(s.operands[-1]) is Variable
        and s.operands[-1].dtype == F64
        and s.results[0].dtype == F64
    )


def _is_shared(below: Variable, times: Counter[Variable]) -> bool:
    """Whether a divisor serves several quotients, or several turns."""
    return times[below] > 1 or below.size == 1


def _divides_by_number(s: Operation) -> bool:
    x = s.operands[-1]
    return (
        s.primitive.name == "divide"
        and s.results[0].dtype == F64
        and isinstance(x, (int, float))
        and not isinstance(x, bool)
        and divisions.has_inverse(float(x))
    )


def _least(x: Any, makers: dict[Variable, Operation]) -> float:
    """A bound below those entries of an operand that are numbers."""
    if isinstance(x, (int, float)):
        return float(x)
    s = makers.get(x) if type(x) is Variable else None
    if s is None or s.results[0].dtype != F64:
        return -math.inf
    name, operands = s.primitive.name, s.operands
    if name == "add":
        return sum(_least(o, makers) for o in operands)
    is_square = name == "multiply" and operands[0] is operands[1]
    return 0.0 if is_square or name in NOT_NEGATIVE else -math.inf
