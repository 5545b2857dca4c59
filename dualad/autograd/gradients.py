"""Gradients through the graph, of duals too, and of many cotangents in one sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engine.kinds.batched import batched, unbatch
from ..engine.kinds.dual import Dual, make_dual
from ..engine.levels.level import Level
from ..engine.requires_grad.backprop import free, sweep_graph
from ..engine.requires_grad.grad_mode import graph_recording
from ..engine.requires_grad.graph import GraphValue, Node
from ..engine.requires_grad.visible import DUAL_LEVEL
from ..errors import ArgumentError, LevelError
from ..tensor import Tensor, operand
from .seeds import cotangent_of, node_of_output, paired, refuse_functional

__all__ = ["batched_gradients", "gradients_of", "primal_of"]


def primal_of(v: Any) -> Any:
    """What lies under the duals of dual levels."""
    while type(v) is Dual and v.level.name == DUAL_LEVEL:
        v = v.primal
    return v


def gradients_of(
    ys: list[Tensor], cts: list[Any], xs: list[Tensor], retain: bool | None, create_graph: bool
) -> list[Any]:
    """The gradients of outputs by inputs, None for an input on which none depends."""
    for k, x in enumerate(xs):
        refuse_functional(x, f"input {k}")
        if x._node() is None:
            raise LevelError(f"One of the differentiated Tensors does not require grad: input {k}")
    for k, y in enumerate(ys):
        node_of_output(y, k)
    swept: set[Node] = set()
    with graph_recording(create_graph):
        run = partial(_plain_gradients, create_graph=create_graph, swept=swept)
        out = _dual_gradients([y._full() for y in ys], cts, [x._full() for x in xs], run)
    if not (create_graph if retain is None else retain):
        free(swept)
    return out


_Run = Callable[[list[Any], list[Any], list[Any]], list[Any]]


def _dual_gradients(ys: list[Any], cts: list[Any], xs: list[Any], run: _Run) -> list[Any]:
    """Gradients of duals (P, T): primal pull(P, c), tangent pull(T, c) + pull(P, c')."""
    level = _highest_dual_level([*ys, *cts, *xs])
    if level is None:
        return run(ys, cts, xs)

    def parts(v: Any) -> tuple[Any, Any]:
        return (v.primal, v.tangent) if type(v) is Dual and v.level is level else (v, None)

    under = [parts(x)[0] for x in xs]
    primals, tangents = zip(*map(parts, ys), strict=True)
    c, dc = zip(*map(parts, cts), strict=True)
    first = _dual_gradients(list(primals), list(c), under, run)
    second = [(t, k) for t, k in zip(tangents, c, strict=True) if t is not None]
    second += [(p, k) for p, k in zip(primals, dc, strict=True) if k is not None]
    moved: list[Any] = [None] * len(xs)
    if second:
        moved = _dual_gradients([a for a, _ in second], [b for _, b in second], under, run)
    return [_joined(level, g, t, x) for g, t, x in zip(first, moved, under, strict=True)]


def _highest_dual_level(values: list[Any]) -> Level | None:
    levels = [v.level for v in values if type(v) is Dual and v.level.name == DUAL_LEVEL]
    return max((lv for lv in levels if lv.is_open), key=lambda lv: lv.rank, default=None)


def _joined(level: Level, gradient: Any, tangent: Any, like: Any) -> Any:
    """A gradient with its tangent; both None where the output does not depend on the input."""
    if gradient is None and tangent is None:
        return None
    zeros = np.zeros(like.shape, like.dtype)
    return make_dual(
        level, zeros if gradient is None else gradient, zeros if tangent is None else tangent
    )


def _plain_gradients(
    ys: list[Any], cts: list[Any], xs: list[Any], create_graph: bool, swept: set[Node]
) -> list[Any]:
    seeds = [
        (primal_of(y).tangent, ct)
        for y, ct in zip(ys, cts, strict=True)
        if type(primal_of(y)) is GraphValue
    ]
    nodes = [primal_of(x).tangent for x in xs]
    found = sweep_graph(seeds, create_graph, wanted=nodes, swept=swept) if seeds else {}
    return [found.get(n) for n in nodes]


def batched_gradients(
    outputs: Any, grad_outputs: Any, xs: Sequence[Any], retain: bool | None, create_graph: bool
) -> list[Any]:
    """One sweep with cotangents that carry a leading axis."""
    ys, cts = paired(outputs, grad_outputs)
    if any(ct is None for ct in cts):
        raise ArgumentError("is_grads_batched=True needs grad_outputs for all outputs")
    values = [operand(ct) for ct in cts]
    n = values[0].shape[0]
    with Level("vmap") as level:
        rows = [batched(level, v, n) for v in values]
        checked = [cotangent_of(y, ct, k) for k, (y, ct) in enumerate(zip(ys, rows, strict=True))]
        out = gradients_of(list(ys), checked, list(xs), retain, create_graph)
        return [None if g is None else unbatch(level, g, n) for g in out]
