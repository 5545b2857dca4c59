"""Units as text: the unit of a quotient, and a name with its unit behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ParameterError, unknown_name

__all__ = ["named", "quotient", "units_by_name"]


def units_by_name(
    units: Any,
    names: Sequence[str],
    groups: Mapping[str, Sequence[str]] | None = None,
    what: str = "output",
) -> dict[str, str]:
    """The unit of each output that has one.

    Args:
        units: one for all; or by the name of an output or of a group of them; or None.
        names: the outputs.
        groups: the names of the outputs that a name of a model's stands for.
        what: how an error calls them.

    Raises:
        ParameterError: a name is unknown.

    >>> units_by_name({"c": "mg"}, ("c[0]", "c[1]", "t"), {"c": ("c[0]", "c[1]")})
    {'c[0]': 'mg', 'c[1]': 'mg'}
    """
    if units is None or units == "":
        return {}
    if isinstance(units, str):
        return dict.fromkeys(names, units)
    if not isinstance(units, Mapping):
        raise ParameterError(f"units must be a mapping of names to units, or one, got {units!r}")
    groups, out = groups or {}, dict[str, str]()
    for name, unit in units.items():
        if name not in names and name not in groups:
            raise ParameterError(unknown_name(what, name, dict.fromkeys([*groups, *names])))
        if unit:
            out |= {each: str(unit) for each in groups.get(name, (name,))}
    return out


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
