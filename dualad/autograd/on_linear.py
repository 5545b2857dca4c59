"""A custom function applied to a linear variable, as in a backward that calls another function.

If the function is linear in that argument, its derivative is itself and its backward is its
transpose, at whatever point. That it is so is tested on random numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.levels.level import Level
from ..engine.levels.spec import Spec, spec_of
from ..engine.levels.traced import raw
from ..engine.primitives.shape import unfit
from ..engine.programs.entries import add_cotangent
from ..engine.programs.variable import not_linear, variable
from .rule import Rule

if TYPE_CHECKING:
    from .call import Call

__all__ = ["applied_to_linear"]


def applied_to_linear(
    call: Call, level: Level, values: list[Any], mine: list[bool]
) -> tuple[list[Any], Any]:
    """The outputs as linear variables of a level, and the context."""
    others = [raw(v) for v, m in zip(values, mine, strict=True) if not m]
    if call.back is None or any(isinstance(v, Spec) for v in others):
        raise not_linear(level, f"{call.cls.__name__} was applied to it")
    specs = [v.primal if m else spec_of(v) for v, m in zip(values, mine, strict=True)]
    draw = np.random.default_rng(0)
    point = [_draw(draw, s) if m else v for v, s, m in zip(values, specs, mine, strict=True)]
    image = call.run(point)[0]
    start = [
        np.zeros(s.shape, s.dtype) if m else v for v, s, m in zip(values, specs, mine, strict=True)
    ]
    outs, ctx = call.run(start)
    rule = call.rule_at(level, ctx, start, [k if m else None for k, m in enumerate(mine)], outs)
    weights = [
        _draw(draw, spec_of(o)) if d else None for o, d in zip(outs, rule.keep, strict=True)
    ]
    shares = rule.pull(weights)
    moved = [(p, s) for p, s, m in zip(point, shares, mine, strict=True) if m]
    if not _equal(_paired(image, weights), _paired(*zip(*moved, strict=True)), outs):
        raise not_linear(
            level,
            f"{call.cls.__name__}, which was applied to it, is not linear in it, or its backward "
            "is not the transpose of it",
        )
    parents = tuple([v.tangent if m else None for v, m in zip(values, mine, strict=True)])
    like = tuple([s if m else None for s, m in zip(specs, mine, strict=True)])
    made = []
    for j, (out, differentiable) in enumerate(zip(outs, rule.keep, strict=True)):
        k = len(level.tape)
        if differentiable:
            level.tape.append((pull_output, parents, rule, j, {}, spec_of(out), like))
        made.append(variable(level, spec_of(out), k) if differentiable else out)
    return made, ctx


def _draw(draw: Any, spec: Spec) -> Any:
    values = draw.standard_normal(spec.shape)
    if np.dtype(spec.dtype).kind == "c":
        values = values + 1j * draw.standard_normal(spec.shape)
    return np.asarray(values, spec.dtype)


def _paired(a: Any, b: Any) -> list[Any]:
    """The entries of the real inner product of two rows of values, None for zero."""
    return [
        np.asarray(raw((x * np.conj(y)).real))
        for x, y in zip(a, b, strict=True)
        if x is not None and y is not None
    ]


def _equal(a: list[Any], b: list[Any], outs: list[Any]) -> bool:
    """Whether two inner products are equal, up to rounding."""
    eps = max(np.finfo(o.dtype).eps for o in outs if np.dtype(o.dtype).kind in "fc")
    sums = [sum(np.sum(t) for t in terms) for terms in (a, b)]
    scale = sum(np.sum(np.abs(t)) for t in (*a, *b))
    return bool(abs(sums[0] - sums[1]) <= np.sqrt(eps) * scale)


def pull_output(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """One output's share of the function's own backward."""
    _, parents, rule, j, _, _, like = entry
    shares = rule.pull(_alone(rule, j, ct))
    for i, share, spec in zip(parents, shares, like, strict=True):
        if i is not None and share is not None:
            add_cotangent(g, i, unfit(share, spec))


def push_output(entry: tuple, v: Any) -> Any:
    """The tangent of one output."""
    _, parents, rule, j, _, out, _ = entry
    t = rule.push([None if i is None else v[i] for i in parents])[j]
    return np.zeros(out.shape, out.dtype) if t is None else t


def _alone(rule: Rule, j: int, ct: Any) -> list[Any]:
    return [ct if k == j else None for k in range(len(rule.outs))]


pull_output.push = push_output  # type: ignore[attr-defined]
