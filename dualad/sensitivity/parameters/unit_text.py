"""Units as text: the unit of a quotient, and a name with its unit behind it."""

from __future__ import annotations

__all__ = ["named", "quotient"]


def quotient(numerator: str, denominator: str) -> str:
    """The unit of one quantity divided by another; "" where it has none.

    >>> quotient("m", "s"), quotient("", "s"), quotient("m", "m"), quotient("V", "m/s")
    ('m/s', '1/s', '', 'V/(m/s)')
    """
    if numerator == denominator:
        return ""
    if not denominator or denominator == "1":
        return numerator
    return f"{_closed(numerator) or '1'}/{_closed(denominator)}"


def _closed(unit: str) -> str:
    """In brackets, if it is a product or a quotient of its own."""
    return f"({unit})" if any(c in unit for c in "/*· ") else unit


def named(name: str, unit: str | None) -> str:
    """A name with its unit, as an axis has it.

    >>> named("length", "m"), named("ratio", "")
    ('length (m)', 'ratio')
    """
    return f"{name} ({unit})" if unit else name
