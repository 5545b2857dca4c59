"""What is said where a derivative rule is missing: what to do, and what is covered instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import MissingRuleError
from .rules import FUNCTIONS, UFUNCS

__all__ = ["INSTEAD", "missing_rule", "name_of"]

#: Names without a rule -> what to write instead, where the nearest name would not say it.
INSTEAD: dict[str, str] = {}

REMEDY = (
    "Give it one: dualad.defelementwise(ufunc, *partials) for a ufunc, @dualad.custom_jvp for a "
    "function; or pass it dualad.stop_gradient(x) where the derivative is not wanted."
)


def missing_rule(name: str, covered: Iterable[str] | None = None) -> MissingRuleError:
    """The error for a function without a rule, which names what is covered near to it.

    covered: the names of those that have a rule; default: all of NumPy's and SciPy's.
    """
    if covered is None:
        FUNCTIONS.complete()
        covered = [name_of(f) for f in (*FUNCTIONS, *UFUNCS)]
    text = f"{name} has no derivative rule. {REMEDY}"
    if name in INSTEAD:
        return MissingRuleError(f"{text} Instead of it: {INSTEAD[name]}.")
    near = _nearest(name, covered)
    return MissingRuleError(
        f"{text} Covered, of similar name: {', '.join(near)}." if near else text
    )


def _nearest(name: str, covered: Iterable[str]) -> list[str]:
    """The covered names that are most like a name, the packages left out of the comparison."""
    import difflib

    full = {c.rpartition(".")[2]: c for c in covered}
    short = name.rpartition(".")[2].rpartition(" ")[2]
    return [full[c] for c in difflib.get_close_matches(short, full, n=3, cutoff=0.7)]


def name_of(function: Any) -> str:
    """The name by which people call a function or ufunc of NumPy or SciPy."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__name__", str(function))
    full = name if module is None else f"{module}.{name}"
    return full.replace("numpy.lib.scimath", "numpy.emath")
