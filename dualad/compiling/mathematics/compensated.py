"""Sums, products and quotients with what their rounding leaves, as a sum of two doubles.

T. J. Dekker, A Floating-Point Technique for Extending the Available Precision, Numerische
Mathematik 18 (1971) 224-242; D. E. Knuth, The Art of Computer Programming, vol. 2, 4.2.2.
"""

from __future__ import annotations

from typing import Any

from .arithmetic import Real, fma

__all__ = ["fast_two_sum", "quotient", "quotient_parts", "remainder", "two_product", "two_sum"]

#: Veltkamp's constant: it splits a double into two halves of 26 bits.
SPLIT = 134217729.0


def two_sum(x: Real, y: Real) -> tuple[Real, Real]:
    """x + y, and exactly what its rounding left (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def fast_two_sum(large: Any, small: Real) -> tuple[Real, Real]:
    """The same for |large| >= |small| or large = 0 (Dekker)."""
    total = large + small
    return total, small - (total - large)


def two_product(x: Real, y: Any) -> tuple[Real, Real]:
    """x y, and exactly what its rounding left (Dekker and Veltkamp without a fused product)."""
    product = x * y
    if x.machine.fused:
        return product, fma(x, y, -product)
    (high, low), (top, rest) = halves(x), halves(x.like(y))
    return product, low * rest - (((product - high * top) - low * top) - high * rest)


def halves(x: Real) -> tuple[Real, Real]:
    """Two numbers of 26 bits whose sum is x."""
    scaled = x * SPLIT
    high = scaled - (scaled - x)
    return high, x - high


def quotient_parts(top: Real, top_low: Real, bottom: Real, bottom_low: Real) -> tuple[Real, Real]:
    """(top + top_low) / (bottom + bottom_low) as a sum of two: one division, one Newton step."""
    inverse = 1.0 / bottom
    first = top * inverse
    return first, inverse * fma(-first, bottom_low, remainder(top, first, bottom) + top_low)


def quotient(top: Real, top_low: Real, bottom: Real, bottom_low: Real) -> Real:
    """The same, rounded."""
    first, rest = quotient_parts(top, top_low, bottom, bottom_low)
    return first + rest


def remainder(top: Real, first: Real, bottom: Any) -> Real:
    """Top - first bottom, nearly exact though the two cancel."""
    if top.machine.fused:
        return fma(-first, bottom, top)
    product, low = two_product(first, bottom)
    return (top - product) - low
