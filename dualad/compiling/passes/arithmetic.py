"""Arithmetic that changes nothing is left out; signs move into sums.

Each identity here holds in floating point, also for NaN, infinities and zeros of either sign,
but for x**3 and x**4 as products, which round once more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.primitives.primitive import PRIMITIVES
from ...engine.staging.operations import Operation, Variable
from .constants import is_elementwise
from .rewriting import Known, Made, Rules

__all__ = ["ARITHMETIC", "applied"]


def applied(name: str, like: Operation, *operands: Any, result: Any = None) -> Operation:
    """A primitive by name, in place of an operation."""
    return Operation(
        PRIMITIVES[name], operands, {}, like.results if result is None else (result,), True,
        like.quiet, (),
    )  # fmt: skip


def is_float(operation: Operation) -> bool:
    return (
        is_elementwise(operation)
        and operation.results[0].dtype.kind == "f"
        and all(
            type(x) is not Variable or x.dtype == operation.results[0].dtype
            for x in operation.operands
        )
    )


def is_number(x: Any, value: float) -> bool:
    """Whether a constant is this number, with its sign."""
    return (
        isinstance(x, (int, float, np.floating, np.integer))
        and not isinstance(x, bool)
        and x == value
        and bool(np.signbit(x) == np.signbit(value))
    )


def stands_for(x: Any, result: Variable) -> bool:
    """Whether a variable may stand in place of a result."""
    return (
        type(x) is Variable
        and (x.shape, x.dtype, x.is_array) == (result.shape, result.dtype, result.is_array)
        and x.contiguous == result.contiguous
    )


def without_neutral(operation: Operation, made: Made) -> Known | None:
    """x * 1, x / 1, x - 0 and x + -0.0 are x."""
    (a, b), name, result = operation.operands, operation.primitive.name, operation.results[0]
    neutral = {"multiply": 1.0, "divide": 1.0, "subtract": 0.0, "add": -0.0}[name]
    if is_number(b, neutral) and stands_for(a, result):
        return Known(a)
    if name in ("multiply", "add") and is_number(a, neutral) and stands_for(b, result):
        return Known(b)
    return None


def sign_by_negative(operation: Operation, made: Made) -> Operation | None:
    """x * -1 is -x."""
    a, b = operation.operands
    if is_number(b, -1.0) and stands_for(a, operation.results[0]):
        return applied("negative", operation, a)
    if operation.primitive.name == "multiply" and is_number(a, -1.0):
        if stands_for(b, operation.results[0]):
            return applied("negative", operation, b)
    return None


def negated(x: Any, made: Made) -> Any:
    """What a variable is minus of; None if it is not."""
    maker = made.get(x) if type(x) is Variable else None
    if maker is None or maker.primitive.name != "negative" or not is_float(maker):
        return None
    return maker.operands[0]


def signs_in_sums(operation: Operation, made: Made) -> Operation | list[Operation] | Known | None:
    """x + -y is x - y, -x + y is y - x, x - -y is x + y, and - -x is x."""
    name, operands = operation.primitive.name, operation.operands
    if name == "negative":
        inner = negated(operands[0], made)
        return Known(inner) if stands_for(inner, operation.results[0]) else None
    if name == "add":
        if (y := negated(operands[1], made)) is not None:
            return applied("subtract", operation, operands[0], y)
        if (x := negated(operands[0], made)) is not None:
            return applied("subtract", operation, operands[1], x)
    if name == "subtract" and (y := negated(operands[1], made)) is not None:
        return applied("add", operation, operands[0], y)
    if name in ("add", "subtract"):
        return sign_of_product_in_sum(operation, made)
    return None


def sign_of_product_in_sum(operation: Operation, made: Made) -> list[Operation] | None:
    """x + -y * z is x - y * z, and x - -y * z is x + y * z."""
    first, second = operation.operands
    is_sum = operation.primitive.name == "add"
    for p, other in ((second, first), (first, second)) if is_sum else ((second, first),):
        maker = made.get(p) if type(p) is Variable and made.uses[p] == 1 else None
        if maker is None or maker.primitive.name != "multiply" or not is_float(maker):
            continue
        for a, b in (maker.operands, maker.operands[::-1]):
            if (x := negated(a, made)) is not None:
                product = p.another()
                return [
                    applied("multiply", maker, x, b, result=product),
                    applied("subtract" if is_sum else "add", operation, other, product),
                ]
    return None


def number_as_float(operation: Operation, made: Made) -> Operation | None:
    """A whole number among floats is one of them, as NumPy would make it."""
    if not any(type(x) is int for x in operation.operands):
        return None
    return operation._replace(
        operands=tuple([float(x) if type(x) is int else x for x in operation.operands])
    )


def scaled(x: Any, made: Made) -> tuple[float, Any, Variable] | None:
    """(c, x, the product) of a variable that is c times x, for a number c."""
    maker = made.get(x) if type(x) is Variable else None
    if maker is None or maker.primitive.name not in ("multiply", "add") or not is_float(maker):
        return None
    if maker.primitive.name == "add":  # y + y
        y = maker.operands[0]
        return (2.0, y, x) if y is maker.operands[1] and stands_for(y, x) else None
    for c, y in (maker.operands, maker.operands[::-1]):
        if is_finite(c) and stands_for(y, x):
            return float(c), y, x
    return None


def is_finite(x: Any) -> bool:
    """Whether an operand is a number that is finite and not zero."""
    if isinstance(x, bool) or not isinstance(x, (int, float, np.floating, np.integer)):
        return False
    return 0.0 < abs(float(x)) < np.inf


def signs_of_factors(operation: Operation, made: Made) -> Operation | list[Operation] | None:
    """-(c * x) is -c * x; a factor's sign becomes that of the product, where sums take it in."""
    name, operands, result = operation.primitive.name, operation.operands, operation.results[0]
    if name == "negative":
        found = scaled(operands[0], made)
        if found is not None and made.uses[found[2]] == 1:
            return applied("multiply", operation, found[1], -found[0])
    if name == "multiply":
        for a, b in (operands, operands[::-1]):
            x = negated(a, made)
            if x is not None and is_finite(b):
                return applied("multiply", operation, x, -float(b))
            if x is not None and (made.uses[a] == 1 or negated(b, made) is not None):
                product = result.another()
                return [
                    applied("multiply", operation, x, b, result=product),
                    applied("negative", operation, product),
                ]
    return None


def product_of_numbers(operation: Operation, made: Made) -> Operation | None:
    """(x * a) * b is x * (a * b), unless only the one or the other would overflow or vanish."""
    for b, x in (operation.operands, operation.operands[::-1]):
        if not is_finite(b) or (found := scaled(x, made)) is None:
            continue
        a, y, _ = found
        info = np.finfo(operation.results[0].dtype)
        both = abs(a) * abs(float(b))
        same = (abs(a) >= 1) == (abs(b) >= 1) or (abs(a) <= 1 and np.frexp(abs(a))[0] == 0.5)
        if same and 1e3 * float(info.tiny) < both < 1e-3 * float(info.max):
            return applied("multiply", operation, y, a * float(b))
    return None


def quotient_by_square_of_cosh(operation: Operation, made: Made) -> Operation | None:
    """x * (1 / y) is x / y where y is at least 1, as in the slope of tanh."""
    for x, slope in (operation.operands, operation.operands[::-1]):
        maker = made.get(slope) if type(slope) is Variable else None
        if maker is None or maker.primitive.name != "divide" or made.uses[slope] != 1:
            continue
        one, y = maker.operands
        square = made.get(y) if type(y) is Variable else None
        if not is_number(one, 1.0) or square is None or square.primitive.name != "square":
            continue
        cosh = made.get(square.operands[0])
        if cosh is not None and cosh.primitive.name == "cosh":
            return applied("divide", operation, x, y)
    return None


def small_powers(operation: Operation, made: Made) -> Operation | list[Operation] | None:
    """x**2, x**3 and x**4 are products."""
    x, n = operation.operands
    result = operation.results[0]
    if type(x) is not Variable or not any(is_number(n, k) for k in (2.0, 3.0, 4.0)):
        return None
    if n == 2:
        return applied("square", operation, x)
    square = result.another()
    first = applied("square", operation, x, result=square)
    if n == 3:
        return [first, applied("multiply", operation, square, x)]
    return [first, applied("square", operation, square)]


def product_of_scalars(operation: Operation, made: Made) -> Operation | None:
    """Of NumPy's scalars an operator is quicker than a function: x * x, and x + x for 2 * x."""
    if operation.results[0].is_array:
        return None
    name, operands = operation.primitive.name, operation.operands
    if name == "square":
        return applied("multiply", operation, operands[0], operands[0])
    if name == "multiply":
        for c, x in (operands, operands[::-1]):
            if is_number(c, 2.0) and type(x) is Variable and not x.is_array:
                return applied("add", operation, x, x)
    return None


PRODUCT = (
    number_as_float, without_neutral, sign_by_negative, signs_of_factors, product_of_numbers,
    quotient_by_square_of_cosh, product_of_scalars,
)  # fmt: skip
SUM = (number_as_float, without_neutral, signs_in_sums)
ARITHMETIC = Rules(
    {
        "multiply": PRODUCT,
        "divide": (number_as_float, without_neutral, sign_by_negative),
        "add": SUM,
        "subtract": SUM,
        "negative": (signs_in_sums, signs_of_factors),
        "square": (product_of_scalars,),
        "power": (small_powers,),
        "polynomial_power": (small_powers,),
    },
    is_float,
)
