"""The linear operations of the library: that they are linear, and that their transposes are.

An operation is run on arrays of symbols. It is linear if each entry of its result is a sum of
symbols with constant factors; its transpose is right if Re<w, L x> = Re<transpose of w, x> for
all w and x, which compares these factors one by one. That is a proof for every value of the
entries and for the shapes that were run. What a shape, or an axis, or an index does to an
operation is not symbolic: other shapes are not proved, and the page says which were tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.primitives.linear import Linear
from ..errors import DualADError
from ..symbolic.errors import NotSymbolicError
from .proof import PROVED, REFUTED, UNDECIDED, Entry

if TYPE_CHECKING:
    from .decide import Claim
    from .region import Region

__all__ = ["Call", "linear_entries", "of_shapes"]


@dataclass(frozen=True)
class Call:
    """Arguments of a call: a shape stands for an array of symbols, anything else for itself.

    Attributes:
        args: shapes as tuples, and other arguments as Fixed.
        params: keyword arguments of the primitive.
        complex: whether the symbols are complex.
    """

    args: tuple[Any, ...]
    params: dict[str, Any] = field(default_factory=dict)
    complex: bool = False

    def shown(self) -> str:
        """The shapes in words."""
        shapes = ["×".join(map(str, a)) or "()" for a in self.args if isinstance(a, tuple)]
        return " and ".join(shapes) + (" complex" if self.complex else "")


def of_shapes(*args: Any, complex: bool = False, **params: Any) -> Call:
    """A call; a number is the length of a vector."""
    return Call(tuple((a,) if type(a) is int else a for a in args), params, complex)


def linear_entries(primitive: Linear, calls: list[Call], limit: float, seed: int) -> list[Entry]:
    """One entry for each call and each argument that has a transpose, or a rule."""
    return [e for call in calls for e in _of_call(primitive, call, limit, seed)]


def _of_call(primitive: Linear, call: Call, limit: float, seed: int) -> Iterator[Entry]:
    from .deadline import Deadline, OutOfTime

    try:
        with Deadline(limit):
            region, claims = _on_symbols(primitive, call)
    except OutOfTime:
        why = f"no proof within {limit:g} s"
        yield Entry("out", call.shown(), UNDECIDED, None, None, reason=why)
        return
    except DualADError as e:
        yield Entry("out", call.shown(), UNDECIDED, None, None, reason=str(e).partition(":")[0])
        return
    yield from _verdicts(claims, call, region, limit, seed)


def _on_symbols(primitive: Linear, call: Call) -> tuple[Region, list[Claim]]:
    """The region and the claims; what makes buffers of a dtype is told to make them of objects."""
    from ..symbolic.value import as_objects

    try:
        region, claims = _claims(primitive, call)
        return region, list(claims)
    except NotSymbolicError:
        with as_objects():
            region, claims = _claims(primitive, call)
            return region, list(claims)


def _verdicts(
    claims: list[Claim], call: Call, region: Region, limit: float, seed: int
) -> Iterator[Entry]:
    """The claims in one entry, or the first that is not proved."""
    from .decide import decide

    steps: dict[str, None] = {}
    for c in claims:
        if c.claimed == c.exact:
            continue
        e = decide(c, region, limit, seed)
        if e.verdict in (REFUTED, UNDECIDED):
            yield e
            return
        steps |= dict.fromkeys(s.rpartition(": ")[2] for s in e.steps)
    how = ("linear, adjoint identity", *steps)
    yield Entry("out", call.shown(), PROVED, None, None, how)


def _claims(primitive: Linear, call: Call) -> tuple[Region, Iterator[Claim]]:
    from .region import Region

    at = [k for k, a in enumerate(call.args) if isinstance(a, tuple)]
    names = dict(zip(at, (f"x{k}" for k in at), strict=True))
    shapes = {names[k]: call.args[k] for k in at}
    region = Region(shapes, [f"{n} complex" for n in shapes] if call.complex else ())
    by_name = {v.name: v for v in region.variables}
    variables = {k: by_name[n] for k, n in names.items()}
    return region, _all_claims(primitive, call, variables)


def _all_claims(primitive: Linear, call: Call, variables: dict[int, Any]) -> Iterator[Claim]:
    from .claims import fresh, jvp_claims, outputs, vjp_claims

    def arguments() -> list[Any]:
        return [fresh(variables[k].array) if k in variables else a
                for k, a in enumerate(call.args)]  # fmt: skip

    values = outputs(primitive(*arguments(), **call.params))
    moved = [k for k in variables if primitive.transpose_in(k) is not None]
    yield from _linearity(primitive, values, [variables[k] for k in moved])

    def shares(cotangents: list[Any]) -> list[Any]:
        (ct,) = cotangents
        transposes = [(k, primitive.transpose_in(k)) for k in moved]
        return [
            None if t is None
            else _summed(t(fresh(ct), *arguments(), **call.params), variables[k].shape)
            for k, t in transposes
        ]  # fmt: skip

    yield from vjp_claims([variables[k] for k in moved], values, shares)
    if primitive.rules:

        def rule(tangents: list[Any]) -> Any:
            moves: list[Any] = [None] * len(call.args)
            for k, t in zip(variables, tangents, strict=True):
                moves[k] = fresh(t)
            args = tuple(arguments())
            out = primitive(*args, **call.params)
            return outputs(primitive.rule(tuple(moves), out, args, call.params))

        yield from jvp_claims(list(variables.values()), values, rule)


def _linearity(primitive: Linear, values: Any, variables: list[Any]) -> Iterator[Claim]:
    """That each entry is the sum of the symbols of an argument with constant factors."""
    import sympy

    from .claims import cells
    from .decide import Claim

    groups = [variables] if primitive.joint else [[v] for v in variables]
    for group in groups:
        symbols = [s for v in group for s in v.symbols]
        for label, e in cells(values):
            slopes = [sympy.diff(e, s) for s in symbols]
            yield Claim(label, "", sum(m * s for m, s in zip(slopes, symbols, strict=True)), e)
            for s, slope in zip(symbols, slopes, strict=True):
                if slope.free_symbols & set(symbols):
                    yield Claim(label, str(s), slope, slope.subs(dict.fromkeys(symbols, 0)))


def _summed(share: Any, shape: tuple[int, ...]) -> Any:
    """A share of the shape of an argument, as the engine makes it where an operation broadcast."""
    from ..symbolic.value import Symbolic, entries_of

    entries = entries_of(share)
    while entries.ndim > len(shape):
        entries = np.asarray(entries.sum(axis=0))
    for k, n in enumerate(shape):
        if n == 1 and entries.shape[k] != 1:
            entries = entries.sum(axis=k, keepdims=True)
    return Symbolic(entries)
