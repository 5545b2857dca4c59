"""What may be the cause of a mismatch, found by looking once more at its entry."""

from __future__ import annotations

import numpy as np

from .differences import Differences
from .subject import Variable

__all__ = ["hints"]


def hints(
    differences: Differences,
    output: tuple[int, tuple[int, ...]],
    input: tuple[Variable, tuple[int, ...]],
    analytic: complex,
    numeric: complex,
    part: complex = 1.0,
) -> list[str]:
    """Sentences on a mismatch of one entry of an output with respect to one of an input.

    `part` is 1j where the imaginary part of the output is differentiated.
    """
    found = [
        _not_repeatable(differences, *output),
        _not_finite(numeric) or _kink(differences, output, input),
        _conjugate(analytic / part, numeric / part),
        _coarse(input[0]),
    ]
    return [hint for hint in found if hint]


def _not_repeatable(differences: Differences, j: int, entry: tuple[int, ...]) -> str:
    first, second = (differences.subject.values()[j][entry] for _ in range(2))
    if first == second or np.isnan(first):
        return ""
    return (
        f"func is not deterministic: for the same input this entry was {first:.12g} and then "
        f"{second:.12g}, so the numeric derivative means nothing"
    )


def _not_finite(numeric: complex) -> str:
    if np.isfinite(numeric):
        return ""
    return "func is not finite on both sides of this input, which may be an edge of its domain"


def _kink(
    differences: Differences,
    output: tuple[int, tuple[int, ...]],
    input: tuple[Variable, tuple[int, ...]],
) -> str:
    """One-sided derivatives of a smooth function differ by eps times its curvature only."""
    j, entry = output
    for unit in input[0].units:
        left, right = (side[j][entry] for side in differences.one_sided(*input, unit))
        if abs(right - left) > 1e-2 * max(abs(left), abs(right), 1.0):
            return (
                f"the numeric derivative is {left:.6g} from the left and {right:.6g} from the "
                f"right: func has a kink or a jump here, where no derivative is unique"
            )
    return ""


def _conjugate(analytic: complex, numeric: complex) -> str:
    scale = 1e-3 * abs(numeric)
    if (
        not np.isfinite(scale)
        or abs(numeric.imag) <= scale
        or abs(analytic - numeric.conjugate()) > scale
    ):
        return ""
    return (
        "analytic is the conjugate of numeric: backward multiplies the gradient by the conjugate "
        "of the derivative of a holomorphic function"
    )


def _coarse(x: Variable) -> str:
    if np.finfo(x.tensor.dtype).eps < 1e-12:
        return ""
    return f"{x.name} is {x.tensor.dtype}, and these tolerances are meant for float64"
