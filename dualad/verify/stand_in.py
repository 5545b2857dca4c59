"""A routine of plain numbers, for which its formula stands in while a rule is proved.

A rule mostly calls its own function, for the output that it returns. Where that is a routine in C
or Fortran, or a solver, it takes no symbols; `prove(rule, forward=...)` says what it computes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.custom_vjp import custom_vjp
from ..engine.levels.tree import flatten
from ..transforms.custom import custom_jvp

if TYPE_CHECKING:
    from .problem import Problem

__all__ = ["as_symbols", "standing_in"]


@contextmanager
def standing_in(problem: Problem) -> Iterator[None]:
    """A context in which the subject, where it is given symbols, is the forward given beside it.

    Calls with numbers, of this thread or another, are those of the function as ever.
    """
    subject = problem.subject
    if problem.forward is subject or not isinstance(subject, (custom_jvp, custom_vjp)):
        yield
        return
    from ..symbolic.value import Symbolic

    routine = subject.f

    @functools.wraps(routine)
    def either(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Symbolic) for x in flatten((args, kwargs))[0]):
            return as_symbols(formula_at(problem, args))
        return routine(*args, **kwargs)

    subject.f = either
    try:
        yield
    finally:
        subject.f = routine


def formula_at(problem: Problem, args: tuple) -> Any:
    """The forward that was given, of these arguments."""
    from ..symbolic.value import entries_of

    f = problem.forward
    if callable(f) and not hasattr(f, "xreplace"):
        return (f.f if isinstance(f, (custom_jvp, custom_vjp)) else f)(*args)
    there: dict[Any, Any] = {}
    for name, given in zip(problem.names, args, strict=False):
        if name in problem.by_name:
            own = problem.by_name[name].array.ravel()
            there.update(zip(own, entries_of(given).ravel(), strict=True))
    point, problem.point = problem.point, {}
    try:
        return replaced(problem.call(f), there)
    finally:
        problem.point = point


def replaced(e: Any, there: Mapping) -> Any:
    """Expressions, in lists too, with symbols replaced."""
    if isinstance(e, (list, tuple)):
        return type(e)(replaced(v, there) for v in e)
    return e.xreplace(dict(there)) if hasattr(e, "xreplace") else e


def as_symbols(x: Any) -> Any:
    """SymPy's expressions, in containers too, as symbolic arrays that rules compute with.

    A matrix of one column is a vector.
    """
    from ..symbolic.value import Symbolic, entries_of

    if isinstance(x, Symbolic):
        return x
    if isinstance(x, (tuple, list)):
        return type(x)(map(as_symbols, x))
    if isinstance(x, dict):
        return {key: as_symbols(v) for key, v in x.items()}
    entries = np.array(entries_of(x), dtype=object)
    column = hasattr(x, "tolist") and entries.ndim == 2 and entries.shape[1] == 1
    return Symbolic(entries[:, 0] if column else entries)
