"""The minimax polynomials of dualad.compiling.mathematics, from which its tables were printed.

    python -m benchmarks.minimax [NAME ...]

Remez's exchange algorithm (E. Remez, 1934; J.-M. Muller, Elementary Functions, 3rd ed. 2016,
chapter 3) in 50 digits; the coefficients are then rounded to doubles. mpmath comes with SymPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mpmath
from mpmath import mpf

DIGITS, ROUNDS, DENSITY = 50, 12, 16
#: Below this a series of two or three terms stands for a quotient of differences.
TINY = mpf("1e-10")


class Table(NamedTuple):
    """A function, its weight and its interval; how many coefficients; the bound of the error.

    The weight turns the polynomial's error into one relative to the result. The bound is that of
    the rounded coefficients.
    """

    module: str
    function: Callable[[Any], Any]
    weight: Callable[[Any], Any]
    low: Any
    high: Any
    terms: int
    bound: float


def exponential(r: Any) -> Any:
    """(exp(r) - 1 - r) / r**2."""
    if abs(r) < TINY:
        return mpf(1) / 2 + r / 6 + r * r / 24
    return (mpmath.expm1(r) - r) / r**2


def logarithm(z: Any) -> Any:
    """(2 artanh(s) / s - 2) / z, z = s**2."""
    return 2 * artanh(z)


def artanh(z: Any) -> Any:
    """(artanh(s) / s - 1) / z."""
    if z < TINY:
        return mpf(1) / 3 + z / 5 + z * z / 7
    s = mpmath.sqrt(z)
    return (mpmath.atanh(s) / s - 1) / z


def artanh_rest(z: Any) -> Any:
    """(artanh(s) / s - 1 - z / 3) / z**2."""
    if z < TINY:
        return mpf(1) / 5 + z / 7 + z * z / 9
    return (artanh(z) - mpf(1) / 3) / z


def tangent(z: Any) -> Any:
    """(tanh(x) / x - 1) / z, z = x**2."""
    if z < TINY:
        return -mpf(1) / 3 + z * 2 / 15 - z * z * 17 / 315
    x = mpmath.sqrt(z)
    return (mpmath.tanh(x) / x - 1) / z


def sine(z: Any) -> Any:
    """(sin(r) / r - 1) / z, z = r**2."""
    if z < TINY:
        return -mpf(1) / 6 + z / 120 - z * z / 5040
    r = mpmath.sqrt(z)
    return (mpmath.sin(r) / r - 1) / z


def cosine(z: Any) -> Any:
    """(cos(r) - 1 + z / 2) / z**2."""
    if z < TINY:
        return mpf(1) / 24 - z / 720 + z * z / 40320
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


def arctangent(z: Any) -> Any:
    """(arctan(t) / t - 1) / z, z = t**2."""
    if z < TINY:
        return -mpf(1) / 3 + z / 5 - z * z / 7
    t = mpmath.sqrt(z)
    return (mpmath.atan(t) / t - 1) / z


def arcsine(z: Any) -> Any:
    """(arcsin(t) / t - 1) / z, z = t**2."""
    if z < TINY:
        return mpf(1) / 6 + z * 3 / 40 + z * z * 5 / 112
    t = mpmath.sqrt(z)
    return (mpmath.asin(t) / t - 1) / z


def error_function(z: Any) -> Any:
    """(erf(x) / x - 2 / sqrt(pi)) / z, z = x**2."""
    slope = 2 / mpmath.sqrt(mpmath.pi)
    if z < TINY:
        return slope * (-mpf(1) / 3 + z / 10 - z * z / 42)
    x = mpmath.sqrt(z)
    return (mpmath.erf(x) / x - slope) / z


def hyperbolic_sine(z: Any) -> Any:
    """(sinh(x) / x - 1) / z, z = x**2."""
    if z < TINY:
        return mpf(1) / 6 + z / 120 + z * z / 5040
    x = mpmath.sqrt(z)
    return (mpmath.sinh(x) / x - 1) / z


def middle(t: Any) -> Any:
    """exp(x**2) erfc(x), x = 3 (1 + t) / (1 - t)."""
    x = 3 * (1 + t) / (1 - t)
    return mpmath.exp(x * x) * mpmath.erfc(x)


def complement(t: Any) -> Any:
    """(x + 1) exp(x**2) erfc(x), x = 3 (1 + t) / (1 - t)."""
    x = 3 * (1 + t) / (1 - t)
    return (x + 1) * mpmath.exp(x * x) * mpmath.erfc(x)


def turned(x: float) -> Any:
    """The t of an x."""
    return mpf(x - 3) / mpf(x + 3)


def power(n: int) -> Callable[[Any], Any]:
    """The weight z**n, kept from 0."""
    return lambda z: max(abs(z) ** n, mpf("1e-5"))


def relative(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: 1 / function(x)


with mpmath.workdps(DIGITS):
    HALF_LN2 = mpmath.log(2) / 2 * mpf("1.0001")
    ARTANH = (mpmath.sqrt(2) - 1) ** 4 * mpf("1.0005")
    QUARTER_PI = (mpmath.pi / 4) ** 2 * mpf("1.0005")
    EIGHTH = (mpmath.sqrt(2) - 1) ** 2 * mpf("1.0001")
    SQRT2 = mpmath.sqrt(2)

constant = lambda x: mpf(1)
TABLES = {
    "QUOTIENT": Table("exponentials", exponential, constant, -HALF_LN2, HALF_LN2, 11, 2.0**-58),
    "SERIES": Table("logarithms", logarithm, power(1), 0, ARTANH, 7, 2.0**-57),
    "TANH": Table("hyperbolics", tangent, power(1), 0, mpf("0.5626"), 12, 2.0**-54),
    "SINH": Table("hyperbolics", hyperbolic_sine, power(1), 0, 1, 7, 2.0**-55),
    "ARTANH": Table("powers", artanh_rest, power(2), 0, ARTANH, 8, 2.0**-67),
    "SINE": Table("trigonometry", sine, power(1), 0, QUARTER_PI, 6, 2.0**-56),
    "COSINE": Table("trigonometry", cosine, power(2), 0, QUARTER_PI, 6, 2.0**-60),
    "ARCTAN": Table("inverse_trigonometry", arctangent, power(1), 0, EIGHTH, 11, 2.0**-58),
    "ARCSIN": Table("inverse_trigonometry", arcsine, power(1), 0, mpf(1) / 4, 13, 2.0**-59),
    "NEAR": Table("error_functions", error_function, power(1), 0, 1, 12, 2.0**-55),
    "MIDDLE": Table(
        "error_functions", middle, relative(middle), turned(1), turned(6), 15, 2.0**-52
    ),
    "TAIL": Table(
        "error_functions",
        complement,
        relative(complement),
        turned(0.5),
        turned(27.5),
        22,
        2.0**-54,
    ),
    "START": Table("roots", mpmath.cbrt, relative(mpmath.cbrt), 1 / SQRT2, SQRT2, 5, 1e-5),
}


def minimax(table: Table) -> list[float]:
    """The coefficients, constant first."""
    with mpmath.workdps(DIGITS):
        low, high = mpf(table.low), mpf(table.high)
        points = chebyshev(low, high, table.terms + 1, ends=True)
        grid = chebyshev(low, high, DENSITY * table.terms)
        values = [(x, table.function(x), table.weight(x)) for x in grid]
        for _ in range(ROUNDS):
            coefficients = levelled(table, points)
            errors = [w * (y - mpmath.polyval(coefficients[::-1], x)) for x, y, w in values]
            exchanged = [grid[i] for i in extremes(errors, table.terms + 1)]
            if exchanged == points or len(exchanged) < len(points):
                break  # settled, or as level as the density of the grid can tell
            points = exchanged
        return [float(c) for c in coefficients]


def levelled(table: Table, points: Sequence[Any]) -> list[Any]:
    """The polynomial whose weighted error has one size and changing signs at the points."""
    n = table.terms
    rows = mpmath.matrix(n + 1, n + 1)
    for i, x in enumerate(points):
        for j in range(n):
            rows[i, j] = x**j
        rows[i, n] = (-1) ** i / table.weight(x)
    return list(mpmath.lu_solve(rows, mpmath.matrix([table.function(x) for x in points])))[:n]


def extremes(errors: Sequence[Any], count: int) -> list[int]:
    """Where the error is largest between its changes of sign, the outermost `count` of them."""
    found: list[int] = []
    for i, error in enumerate(errors):
        if found and (error > 0) == (errors[found[-1]] > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return found


def chebyshev(low: Any, high: Any, count: int, ends: bool = False) -> list[Any]:
    """Points that are denser at both ends."""
    shift, steps = (mpf(0), count - 1) if ends else (mpf(1) / 2, count)
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mpmath.cos(mpmath.pi * (k + shift) / steps) for k in range(count)]


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        print(f"{name} = (  # {TABLES[name].module}")
        print("".join(f"    {c!r},\n" for c in minimax(TABLES[name])) + ")")


if __name__ == "__main__":
    main()
