"""A custom function under vmap: by its own rule, or by its other methods on the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine.kinds.batched import batched
from ..engine.levels.level import Level
from ..engine.levels.traced import TracedArray
from ..engine.requires_grad.grad_mode import graph_recording
from ..errors import DualADError
from ..tensor import Tensor, unwrap, wrap
from .context import FunctionCtx
from .errors import FunctionError

if TYPE_CHECKING:
    from .call import Call

__all__ = ["VmapInfo", "vectorized"]


class VmapInfo(NamedTuple):
    """What a `vmap` method is told: the length of the batch, and vmap's randomness option."""

    batch_size: int
    randomness: str


def vectorized(
    call: Call, level: Level, values: list[Any], mine: list[bool], n: int
) -> tuple[list[Any], FunctionCtx]:
    """The outputs of a call on batched values, and their context."""
    rule = call.cls.vmap_rule()
    if rule is not None:
        return _by_own_rule(call, rule, level, values, mine, n), FunctionCtx()
    if not call.cls.generate_vmap_rule and call.face:
        raise FunctionError(
            f"{call.cls.__name__} was called under vmap, but has no rule for that: give it a vmap "
            f"static method, or set generate_vmap_rule = True"
        )
    if not any(
        isinstance(v.primal if m else v, TracedArray) for v, m in zip(values, mine, strict=True)
    ):
        try:
            return _at_once(call, values)
        except DualADError:
            pass  # forward needs plain numbers
    return _one_by_one(call, level, values, mine, n), FunctionCtx()


def _at_once(call: Call, values: list[Any]) -> tuple[list[Any], FunctionCtx]:
    """Forward on the batched values, if it is made of operations that batch."""
    inputs = [wrap(v) for v in values]
    ctx = FunctionCtx()
    with graph_recording(False):
        call.outputs.take(call.forward(ctx, inputs))
        tensors = call.outputs.tensors
        call.set_up(ctx, inputs, tensors)
        outs = [unwrap(t) for t in tensors]
        call.outputs.check(ctx, inputs, outs)
        ctx.settle(inputs, tensors, outs, call.outputs.began)
    return outs, ctx


def _one_by_one(
    call: Call, level: Level, values: list[Any], mine: list[bool], n: int
) -> list[Any]:
    rows = [
        call.run([v.primal[k] if m else v for v, m in zip(values, mine, strict=True)])[0]
        for k in range(max(n, 1))
    ]
    return [batched(level, np.stack(column)[:n], n) for column in zip(*rows, strict=True)]


def _by_own_rule(
    call: Call, rule: Any, level: Level, values: list[Any], mine: list[bool], n: int
) -> list[Any]:
    given: list[Any] = list(call.args)
    dims: list[int | None] = [None] * len(call.args)
    options = level.tape if isinstance(level.tape, dict) else {}
    for k, v, m in zip(call.at, values, mine, strict=True):
        whole, axis = options.get("origins", {}).get(id(v), (v.primal, 0)) if m else (v, None)
        given[k], dims[k] = wrap(whole), axis
    result = rule(VmapInfo(n, options.get("randomness", "error")), tuple(dims), *given)
    if not (isinstance(result, tuple) and len(result) == 2):
        raise FunctionError(
            f"{call.cls.__name__}.vmap must return a tuple (output, out_dims), got "
            f"{type(result).__name__}"
        )
    out, out_dims = result
    call.outputs.take(out)
    count = len(call.out)
    where = list(out_dims) if isinstance(out_dims, tuple) else [out_dims] * count
    if len(where) != count or isinstance(out_dims, tuple) != call.outputs.is_tuple:
        raise FunctionError(
            f"{call.cls.__name__}.vmap returned out_dims {out_dims!r}, which do not have the "
            "structure of the output"
        )
    name = call.cls.__name__
    return [_placed(level, call.out[k], where[k], n, name) for k in call.out_at]


def _placed(level: Level, tensor: Tensor, dim: int | None, n: int, name: str) -> Any:
    value = unwrap(tensor)
    if dim is None:
        return value
    axes = len(value.shape)
    if not isinstance(dim, int) or not -axes <= dim < axes or value.shape[dim] != n:
        raise FunctionError(
            f"{name}.vmap returned an output of shape {value.shape} and out_dims {dim!r} for it, "
            f"but that is no axis of the length of the batch, {n}"
        )
    return batched(level, np.moveaxis(value, dim, 0), n)
