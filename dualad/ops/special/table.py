"""How the tables of this package state derivatives of the ufuncs of scipy.special.

A line names a function of SciPy and gives one partial derivative an argument, a formula of out and
of the arguments x, y, z, w in their order. A SciPy that lacks a function skips its line.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs as private

from ...engine.arrays.guard import has_nan, quiet
from ...engine.levels.rules import UFUNCS
from ...engine.levels.traced import raw
from ...engine.primitives.composite import Composite
from ...engine.primitives.elementwise import Elementwise, Partial
from ...engine.primitives.primitive import Opaque, Primitive, align
from ...engine.primitives.shape import zero_wins
from ...errors import MissingRuleError

__all__ = [
    "NAMESPACE",
    "SPECIAL",
    "Refused",
    "constant",
    "fixed",
    "formula",
    "kernel",
    "lookup",
    "refuse_argument",
    "refuse_where",
    "several",
    "special",
    "state",
    "whole_number",
]

#: Every primitive of scipy.special with a rule, by the name of its ufunc.
SPECIAL: dict[str, Primitive] = {}

#: What formulas may name: the ufuncs of NumPy and SciPy, and what `formula` adds.
NAMESPACE: dict[str, Any] = {
    name: f
    for module in (np, private, sp)
    for name, f in vars(module).items()
    if isinstance(f, np.ufunc)
} | {"imag": np.imag, "real": np.real, "where": np.where}


#: A value that steers how a result is computed and does not change it: it carries no derivative.
fixed = Opaque(lambda x: x, name="fixed", elementwise=True, builtin=False)


def formula(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let the tables name a formula that does not fit into a line."""
    NAMESPACE[f.__name__] = f
    return f


class Refused:
    """In place of a partial: an argument in which no derivative is known, and why."""

    def __init__(self, argument: str, why: str):
        self.argument = argument
        self.why = why

    def of(self, function: str) -> Callable[..., Any]:
        def refuse(out: Any, *args: Any) -> Any:
            raise refuse_argument(function, self.argument, self.why)

        return refuse


def refuse_argument(function: str, argument: str, why: str) -> MissingRuleError:
    """The error for an argument in which a function has no derivative."""
    return MissingRuleError(
        f"scipy.special.{function} has no derivative in its argument {argument}: {why}. Pass "
        f"dualad.stop_gradient({argument}) where that derivative is not wanted, or state a rule "
        f"with dualad.defelementwise or dualad.custom_jvp."
    )


def whole_number(argument: str) -> Refused:
    """An argument that SciPy takes as an integer."""
    return Refused(argument, "SciPy takes it as an integer")


def lookup(name: str) -> Any:
    """The ufunc of a name, public or behind a Python function; None where SciPy has none."""
    found = (getattr(module, name, None) for module in (sp, private))
    return next((f for f in found if isinstance(f, np.ufunc)), None)


def _bound(name: str, partials: tuple) -> list[Any]:
    return [p.of(name.lstrip("_")) if isinstance(p, Refused) else p for p in partials]


def state(name: str, primitive: Primitive) -> None:
    """Register the rule of a ufunc; one that the user stated before stays."""
    ufunc = lookup(name)
    if ufunc is not None:
        SPECIAL[name] = primitive
        if ufunc not in UFUNCS:
            UFUNCS[ufunc] = primitive


def refuse_where(condition: Any, function: str, argument: str, why: str) -> None:
    """Raise if a condition holds anywhere, because no formula is known there."""
    if np.any(raw(condition)):
        raise refuse_argument(function, argument, why)


def special(name: str, *partials: Any, complex: Any = None, joint: bool = False) -> None:
    """State the partial derivatives of a function with one result.

    complex: the partials for complex arguments where they are others, or a primitive for them.
    """
    ufunc = lookup(name)
    if ufunc is None:
        return
    title = f"scipy.special.{name.lstrip('_')}"
    if isinstance(complex, tuple):
        complex = _elementwise(ufunc, name, complex, f"{title} of complex numbers")
    primitive = _elementwise(ufunc, name, partials, title, complex=complex, joint=joint)
    state(name, primitive)


def kernel(impl: Callable[..., Any], *partials: Any, name: str) -> Elementwise:
    """An elementwise function of our own that formulas need, with its partials."""

    @functools.wraps(impl)
    def call(*args: Any) -> Any:
        for a in args:
            if hasattr(a, "__dualad_named__"):  # no number, but a value that knows it by its name
                return a.__dualad_named__(name, args)
        return impl(*args)

    NAMESPACE[name] = primitive = _elementwise(call, name, partials, name)
    return primitive


def _elementwise(
    f: Callable[..., Any], name: str, partials: tuple, title: str, **options: Any
) -> Elementwise:
    """A slope may be infinite where the value is not, so all are `singular`."""
    return Elementwise(
        f,
        *_bound(name, partials),
        namespace=NAMESPACE,
        name=title,
        singular=True,
        builtin=False,
        **options,
    )


def constant(name: str) -> None:
    """A function whose result carries no derivative."""
    ufunc = lookup(name)
    if ufunc is not None:
        primitive = Opaque(ufunc, f"scipy.special.{name}", elementwise=True, builtin=False)
        state(name, primitive)


def several(name: str, *columns: Any, impl: Callable[..., Any] | None = None) -> None:
    """State the derivatives of a function with several results: an argument, a tuple of partials.

    None for an argument without derivative. `out` is the tuple of the results.
    """
    ufunc = lookup(name)
    if ufunc is None:
        return
    bound = _bound(name, columns)

    def partial_column(column: Any) -> Any:
        if column is None or callable(column):
            return column
        return tuple(Partial(p, NAMESPACE) for p in column)

    table = [partial_column(c) for c in bound]

    def rule(tangents: tuple, out: Any, *args: Any) -> tuple:
        return tuple(_sum(tangents, table, j, out, args) for j in range(len(out)))

    primitive = Composite(
        impl or ufunc,
        rule,
        whole=True,
        name=f"scipy.special.{name.lstrip('_')}",
        batch=lambda args, mine: primitive(*align(args, mine)),
        builtin=False,
    )
    state(name, primitive)


def _sum(tangents: tuple, table: list, j: int, out: Any, args: tuple) -> Any:
    """The tangent of result j; a zero tangent stays zero where the slope is infinite."""
    with quiet():
        total = _terms(tangents, table, j, out, args, None)
        if total is not None and has_nan(total):
            total = _terms(tangents, table, j, out, args, zero_wins)
    return total


def _terms(tangents: tuple, table: list, j: int, out: Any, args: tuple, product: Any) -> Any:
    total = None
    for t, column in zip(tangents, table, strict=True):
        if t is None or column is None:
            continue
        if callable(column):
            column(out, *args)
        if column[j].constant != 0.0:
            term = column[j].term(t, out, args, product)
            total = term if total is None else total + term
    return total
