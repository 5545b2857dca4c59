"""Derivatives made comparable: by the parameter, by the output, by both, by the uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import SensitivityError
from ..given import number, one_of

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["KINDS", "elasticity", "kind_of", "notes_on", "scaled", "symbol"]

#: Each kind of scaling, and how pictures and tables write it.
KINDS = {
    "none": "∂y/∂p",
    "p": "p ∂y/∂p",
    "y": "(1/y) ∂y/∂p",
    "elasticity": "(p/y) ∂y/∂p",
    "u": "u(p) ∂y/∂p",
}


def kind_of(scaled: bool | str) -> str:
    """The kind that an argument `scaled` stands for: True is "elasticity", False is "none"."""
    if isinstance(scaled, bool):
        return "elasticity" if scaled else "none"
    return str(one_of("the scaling", scaled, KINDS))


def symbol(kind: str) -> str:
    """How a scaled derivative is written."""
    return KINDS[kind_of(kind)]


def scaled(result: Sensitivities, kind: str | bool = "p") -> np.ndarray:
    """The derivatives of a result, scaled; of the shape of its Jacobian.

    Args:
        result: values and derivatives.
        kind: "p": times the parameter, in the unit of the output; "y": divided by the output;
            "elasticity": both, without a unit; "u": times the standard uncertainty of the
            parameter (0 where none is given); "none": as they are.

    Raises:
        SensitivityError: the kind is unknown, or "u" and there is no uncertainty at all.
    """
    kind = kind_of(kind)
    if kind == "none":
        return result.jacobian.copy()
    if kind == "p":
        return result.jacobian * result.parameters.vector()
    if kind == "u":
        if all(p.u is None for _, p in result.parameters.details()):
            raise SensitivityError(
                f"no parameter has an uncertainty to scale by: give Parameter(value, u=...) for "
                f"{', '.join(result.parameters)}"
            )
        return result.jacobian * result.parameters.u
    factor = result.parameters.vector() if kind == "elasticity" else 1.0
    return result.jacobian * factor / _divisor(result)


def elasticity(result: Sensitivities, zero: str | float = "nan") -> np.ndarray:
    """p/y dy/dp; see `Sensitivities.elasticity` for what an output of 0 gives."""
    zeros = _zeros(result)
    if zero == "raise" and zeros:
        raise SensitivityError(
            f"the elasticity of {', '.join(zeros)} is not defined where the output is 0: ask for "
            f"semi('p'), or give the least magnitude as zero=..."
        )
    if not isinstance(zero, str):
        floor = number("zero (else 'nan' or 'raise')", zero)
        if not floor > 0:
            raise SensitivityError(f"zero must be 'nan', 'raise' or a positive number, got {zero}")
        y = result.values
        y = np.where(y < 0, -1.0, 1.0) * np.maximum(np.abs(y), floor)
        return result.jacobian * result.parameters.vector() / y[..., np.newaxis]
    if zero not in ("nan", "raise"):
        raise SensitivityError(f"zero must be 'nan', 'raise' or a positive number, got {zero!r}")
    for note in notes_on(result, "elasticity"):
        if note not in result.warnings:
            result.warnings.append(note)
    return scaled(result, "elasticity")


def notes_on(result: Sensitivities, kind: str) -> list[str]:
    """What there is to say of outputs and parameters that are 0, where a scaling is by them."""
    out, zeros = [], _zeros(result) if kind == "elasticity" else []
    count = int((result.values == 0).sum())
    if zeros and count == 1:
        out.append(f"1 value of {zeros[0]} is 0: its elasticity is NaN")
    elif zeros:
        out.append(f"{count} values of {', '.join(zeros)} are 0: their elasticities are NaN")
    if kind in ("elasticity", "p"):
        moving = np.any(result.flat()[1], axis=(0, 1)).tolist()
        rest = [
            n for (n, p), m in zip(result.parameters.items(), moving, strict=True) if m and not p
        ]
        if rest:
            out.append(
                f"{', '.join(rest)} {'is' if len(rest) == 1 else 'are'} 0, and so is p ∂y/∂p, "
                f"whatever the effect: semi('y') shows it"
            )
    return out


def _zeros(result: Sensitivities) -> list[str]:
    """The outputs that are 0 somewhere."""
    at = (result.flat()[0] == 0).any(axis=0)
    return [name for name, is_zero in zip(result.outputs, at, strict=True) if is_zero]


def _divisor(result: Sensitivities) -> np.ndarray:
    """The outputs beside the axis of the parameters, NaN where they are 0."""
    return np.where(result.values == 0, np.nan, result.values)[..., np.newaxis]
