"""A case: what is to be verified, where, and what is expected of it. Files list them in VERIFY."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import ArgumentError
from .problem import name_of

__all__ = ["EXPECTED", "Case"]

#: What a file may expect of a case.
EXPECTED = ("verified", "refuted", "undecided")


@dataclass(init=False)
class Case:
    """One entry of the list VERIFY of a file that `dualad verify` is given.

    Args:
        subject: whatever `prove` and `check` take: a custom function, a Function class, a plain
            function, a pair (f, jac).
        derivative: the claimed gradient or Jacobian, for a subject that is no pair.
        at: name of an argument -> its value, where the numerical check looks; by default points
            are drawn that suit `shapes` and `assume`.
        expect: "verified", or "refuted" or "undecided" for what a file shows on purpose.
        by: "prove" or "check", for a case that one of them cannot do or has no use for; default
            both, as `dualad verify` does them.
        name: what the report calls it; the name of the subject by default.
        options: what else `prove` is told: shapes, assume, fixed, wrt, hessian, equals, ...

    >>> import numpy as np
    >>> VERIFY = [
    ...     Case((np.sin, np.cos), shapes={"x": ()}),
    ...     Case((np.sin, np.sin), shapes={"x": ()}, expect="refuted", name="a wrong slope"),
    ... ]
    >>> [case.name for case in VERIFY]
    ['sin', 'a wrong slope']
    """

    subject: Any
    at: dict[str, Any]
    expect: str
    by: str | None
    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        subject: Any,
        derivative: Any = None,
        *,
        at: Mapping[str, Any] | None = None,
        expect: str = "verified",
        by: str | None = None,
        name: str | None = None,
        **options: Any,
    ):
        if expect not in EXPECTED:
            raise ArgumentError(f"expect is one of {', '.join(EXPECTED)}, not {expect!r}")
        if by not in (None, "prove", "check"):
            raise ArgumentError(f"by is 'prove' or 'check', not {by!r}")
        self.by = by
        self.subject = subject if derivative is None else (subject, derivative)
        self.at, self.expect, self.options = dict(at or {}), expect, options
        first = self.subject[0] if isinstance(self.subject, tuple) else self.subject
        self.name = name or name_of(first)
