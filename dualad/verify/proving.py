"""`prove`: is this derivative formula right, for all arguments?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..autograd.custom_vjp import custom_vjp
from ..errors import ArgumentError
from ..symbolic.errors import REMEDY, NotSymbolicError
from ..symbolic.extra import symbolic_extra
from ..transforms.custom import custom_jvp
from .assumptions import PROPERTIES
from .problem import (
    Problem,
    argument_names,
    is_expression,
    is_function_class,
    name_of,
    shape_of,
)
from .proof import Proof

__all__ = ["prove"]

#: How long a function may take to run on symbols, in units of the limit for one entry.
RUNNING = 6


def prove(
    subject: Any,
    derivative: Any = None,
    *,
    gradient: Any = None,
    jacobian: Any = None,
    hessian: Any = None,
    equals: Any = None,
    forward: Any = None,
    shapes: Mapping[str, tuple[int, ...] | int] | None = None,
    fixed: Mapping[str, Any] | None = None,
    wrt: str | Sequence[str] | None = None,
    assume: Any = (),
    limit: float = 10.0,
    seed: int = 0,
    name: str | None = None,
) -> Proof:
    """Prove a derivative formula on symbols, or refute it by a counterexample.

    The code itself is run on SymPy symbols, so nothing is typed a second time. Each entry of the
    claim is compared with SymPy's derivative of the forward function, on every piece that the
    branches (np.where, abs, maximum, ...) make, and gets one of three verdicts: *proved*, if the
    difference simplifies to zero; *refuted*, with an exact rational point at which it is not
    zero; *undecided*, with what a check in 50-digit arithmetic at random points has seen.

    Args:
        subject: a `custom_jvp` or `custom_vjp` function; a `Function` class with jvp, backward
            or both; a function or SymPy expression with one of the claims below; a pair (f, jac).
        derivative: the claimed gradient or Jacobian of f: a function of the same arguments, or a
            SymPy expression or Matrix. Its axes are those of the output, then of the input.
        gradient, jacobian: the same by name.
        hessian: the claimed second derivative of a function of one argument.
        equals: a function or expression that is claimed to have the same values.
        forward: what a custom rule is compared with, where its own forward cannot run on symbols:
            a function or a SymPy expression in the names of the arguments.
        shapes: name of an argument -> its shape; arguments are single numbers otherwise.
        fixed: name of an argument -> the value it has; no derivative is asked of it.
        wrt: the arguments by which a gradient, Jacobian or Hessian is claimed; default all.
        assume: what holds of the arguments: "x > 0", "0 < p < 1", "n integer", "z complex",
            "a != b", one text or several; or a dict such as {"x": "positive", "p": (0, 1)}; or
            SymPy relations. What SymPy's symbols are known to be is assumed as well. Nothing is
            claimed on the boundary, except of whole numbers: "n >= 0" includes 0.
        limit: seconds for one entry; when they are over it is undecided.
        seed: of the random points.
        name: what the report calls the subject.

    Returns:
        A `Proof`, true only if every entry is proved.

    Raises:
        NotSymbolicError: the code uses something that cannot be done on symbols.
        ArgumentError: there is nothing to prove, or a claim or assumption does not fit.
        MissingExtraError: SymPy is not installed.

    >>> import numpy as np
    >>> proof = prove(lambda x: np.log1p(np.exp(x)), lambda x: 1 / (1 + np.exp(-x)))
    >>> proof.verdict
    'proved'
    >>> wrong = prove(lambda v: np.mean(v**2), lambda v: 2 * v, shapes={"v": 2})
    >>> wrong.verdict, wrong.counterexample.point
    ('refuted', {'v[0]': '1'})
    """
    symbolic_extra()
    from ..symbolic.numerals import noted
    from ..symbolic.partial import watching
    from .deadline import Deadline, OutOfTime
    from .decide import decide
    from .domain import without_value
    from .kinks import kinks_of
    from .region import Region

    if isinstance(subject, (tuple, list)) and len(subject) == 2:
        subject, derivative = subject
    claimed = _the_claim(subject, derivative, gradient, jacobian, hessian, equals)
    names = argument_names(subject, shapes or {}, fixed or {})
    sizes = {n: shape_of((shapes or {}).get(n, ())) for n in names if n not in (fixed or {})}
    region = Region(sizes, [*_of_symbols((subject, *(c for c in claimed[1:])), names), assume])
    problem = Problem(subject, names, region, fixed or {}, wrt, forward)
    try:
        with Deadline(RUNNING * limit), noted() as readings, watching() as partial, _on_symbols():
            values = problem.values()
            claims = list(problem.claims(values, *claimed))
    except OutOfTime:
        raise NotSymbolicError(
            f"running the function on symbols took more than {RUNNING * limit:g} s: take smaller "
            f"shapes; or {REMEDY}"
        ) from None
    entries = tuple(decide(c, region, limit, seed) for c in claims)

    def run(point: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
        problem.point = point
        there = problem.values()
        flat = [e for v in there.values() for e in v.ravel()]
        return flat, [c.claimed for c in problem.claims(there, *claimed)]

    if partial:
        entries = without_value(entries, run, partial, region, limit, seed)
    kinks = kinks_of(values, region, entries)
    return Proof(name or name_of(subject), entries, kinks, region.assume, readings)


def _of_symbols(expressions: Iterable[Any], names: Sequence[str]) -> Iterator[str]:
    """What the symbols of SymPy expressions are declared to be."""
    for e in filter(is_expression, expressions):
        for s in sorted(e.free_symbols, key=str):
            yield from (
                f"{s.name} {word}" for word in PROPERTIES
                if s.name in names and word in s._assumptions_orig and s._assumptions_orig[word]
            )  # fmt: skip


def _the_claim(subject: Any, *claims: Any) -> tuple[str, Any]:
    kinds = ("derivative", "derivative", "derivative", "hessian", "equals")
    given = [(k, c) for k, c in zip(kinds, claims, strict=True) if c is not None]
    if len(given) > 1:
        raise ArgumentError("prove takes one claim at a time: a derivative, hessian= or equals=")
    if given:
        return given[0]
    if isinstance(subject, (custom_jvp, custom_vjp)) or is_function_class(subject):
        return "rule", None
    raise ArgumentError(
        f"there is nothing to prove about {name_of(subject)}: give its claimed derivative, "
        "hessian= or equals=, or pass a custom_jvp or custom_vjp function or a Function class"
    )


@contextlib.contextmanager
def _on_symbols() -> Iterator[None]:
    """Say what went wrong where code met a symbolic array and knew nothing of it."""
    try:
        yield
    except (AttributeError, TypeError, ValueError) as e:
        stored = "setting an array element" in str(e)
        if stored:
            raise NotSymbolicError(
                "a symbol cannot be written into a plain array: make the buffer with "
                f"np.zeros_like(x) of an argument; or {REMEDY}"
            ) from e
        if isinstance(e, NotSymbolicError) or "Symbolic" not in str(e):
            raise
        raise NotSymbolicError(f"on symbols this cannot be done ({e}): {REMEDY}") from e
