"""In which combination parameters enter, read from a direction in which nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

__all__ = ["shifts", "small_ratios", "together_by_factor", "together_by_shift"]

#: Ratios of whole numbers up to this are recognised.
LARGEST = 6


def small_ratios(direction: np.ndarray, tol: float = 1e-6) -> list[int] | None:
    """The direction as whole numbers without a common factor, if they are small; else None.

    >>> small_ratios(np.array([0.5, -1.0])), small_ratios(np.array([1.0, 0.333333333333]))
    ([1, -2], [3, 1])
    """
    unit = direction / direction[np.abs(direction).argmax()]
    fractions = [Fraction(float(x)).limit_denominator(LARGEST) for x in unit]
    if any(abs(float(f) - x) > tol for f, x in zip(fractions, unit, strict=True)):
        return None
    common = int(np.lcm.reduce([f.denominator for f in fractions]))
    whole = [int(f * common) for f in fractions]
    if max(map(abs, whole)) > LARGEST or 0 in whole:
        return None
    sign = 1 if whole[0] > 0 else -1
    return [sign * n for n in whole]


def together_by_factor(names: Sequence[str], powers: Sequence[int]) -> str:
    """What is said where p_j -> p_j f**n_j changes nothing.

    >>> together_by_factor(["cons", "D"], [1, 1]), together_by_factor(["a", "b"], [1, -2])
    ('cons and D enter as cons/D', 'a and b enter as a**2*b')
    >>> together_by_factor(["a", "b", "c"], [1, 1, -1])
    'nothing changes when a, b are multiplied and c is divided by the same factor'
    """
    if len(names) == 2:
        # The power of each is that of the other in the direction, so that the product is kept.
        (a, b), (n, m) = names, powers
        return f"{a} and {b} enter as {_monomial(a, abs(m), b, -n if m > 0 else n)}"
    if {abs(n) for n in powers} == {1}:
        up = [name for name, n in zip(names, powers, strict=True) if n > 0]
        down = [name for name, n in zip(names, powers, strict=True) if n < 0]
        text = f"{', '.join(up)} {'is' if len(up) == 1 else 'are'} multiplied"
        if down:
            text += f" and {', '.join(down)} {'is' if len(down) == 1 else 'are'} divided"
        return f"nothing changes when {text} by the same factor"
    moves = ", ".join(f"{name} by f**{n}" for name, n in zip(names, powers, strict=True))
    return f"nothing changes when, for any f, one multiplies {moves}"


def _monomial(a: str, m: int, b: str, n: int) -> str:
    """a**m * b**n, m positive, written as a product or a quotient."""
    left = a if m == 1 else f"{a}**{m}"
    right = b if abs(n) == 1 else f"{b}**{abs(n)}"
    return f"{left}{'*' if n > 0 else '/'}{right}"


def together_by_shift(names: Sequence[str], steps: Sequence[int]) -> str:
    """What is said where p_j -> p_j + n_j d changes nothing.

    >>> together_by_shift(["a", "b"], [1, -1]), together_by_shift(["a", "b"], [1, 2])
    ('a and b enter as a + b', 'a and b enter as 2*a - b')
    """
    if len(names) == 2:
        (a, b), (n, m) = names, steps
        left, right = abs(m), (-n if m > 0 else n)
        first = a if left == 1 else f"{left}*{a}"
        second = b if abs(right) == 1 else f"{abs(right)}*{b}"
        return f"{a} and {b} enter as {first} {'+' if right > 0 else '-'} {second}"
    return f"nothing changes when one adds {shifts(names, steps)}, for any d"


def shifts(names: Sequence[str], steps: Sequence[float]) -> str:
    """The steps of a direction, each with its parameter.

    >>> shifts(["a", "b"], [1, -2])
    'd to a, -2*d to b'
    """
    words = {1: "d", -1: "-d"}
    parts = [f"{words.get(n, f'{n:.4g}*d')} to {a}" for a, n in zip(names, steps, strict=True)]  # type: ignore[call-overload]
    return ", ".join(parts)
