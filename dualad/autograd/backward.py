"""backward and grad: the gradients of tensors, also of duals, with respect to tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.requires_grad.backprop import sweep_graph
from ..engine.requires_grad.grad_mode import graph_recording
from ..engine.requires_grad.graph import Node
from ..errors import LevelError
from ..tensor import Tensor, operand, wrap
from ..transforms.boundary import own
from .gradients import batched_gradients, gradients_of, primal_of
from .seeds import as_list, node_of_output, outputs_and_cotangents

__all__ = ["backward", "grad"]


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of the tensors to .grad of the leaves they depend on.

    Args:
        tensors: a tensor, or several.
        grad_tensors: their cotangents; None for scalars, which stands for 1.
        retain_graph: keep what the rules read, for a further backward; default create_graph.
        create_graph: record the computation of the gradients, to differentiate it.
        inputs: the tensors whose .grad is added to; default all leaves.

    Raises:
        LevelError: a tensor has no history, or it was freed, or something saved was written to.
        ShapeError: a cotangent is missing for a tensor with several entries, or does not fit.

    >>> import dualad
    >>> x = dualad.tensor(3.0, requires_grad=True)
    >>> dualad.autograd.backward(x * x)
    >>> x.grad.item()
    6.0
    """
    outputs, cotangents = outputs_and_cotangents(tensors, grad_tensors)
    if inputs is not None:
        xs = as_list(inputs, "inputs of backward()")
        gradients = gradients_of(outputs, cotangents, xs, retain_graph, create_graph)
        with graph_recording(create_graph):
            for x, g in zip(xs, gradients, strict=True):
                if g is not None:
                    _accumulate(x, x._node(), primal_of(g))
        return
    seeds = [
        (node_of_output(y, k), primal_of(ct))
        for k, (y, ct) in enumerate(zip(outputs, cotangents, strict=True))
    ]
    keep = create_graph if retain_graph is None else retain_graph
    with graph_recording(create_graph):
        for node, ct in sweep_graph(seeds, create_graph, keep).items():
            leaf = node.leaf() if node.leaf is not None else None
            if leaf is not None:
                _accumulate(leaf, node, ct)


def _accumulate(tensor: Tensor, node: Node, ct: Any) -> None:
    """Add to .grad, between the hooks of the leaf's node."""
    hooks = node.hooks if node.leaf is not None else None
    given = [ct]
    for before in () if hooks is None else hooks.before:
        given = before(given)
    if given[0] is not None:
        tensor._accumulate(given[0])
    for after in () if hooks is None else hooks.after:
        after([], given)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of outputs with respect to inputs, without touching .grad.

    The gradient of a dual is dual: its tangent is the derivative of the gradient.

    Args:
        outputs, inputs: tensors.
        grad_outputs, retain_graph, create_graph: as for `backward`.
        allow_unused: an input on which no output depends has the gradient None; default an error.
        is_grads_batched: each cotangent has a leading axis, and so has each gradient.
        materialize_grads: zeros in place of None.

    >>> import dualad
    >>> x = dualad.tensor(3.0, requires_grad=True)
    >>> dualad.autograd.grad(x * x, x)[0].item()
    6.0
    """
    if materialize_grads and allow_unused is False:
        raise _UnusedError(
            "expected allow_unused to be True or left out when materialize_grads=True, but got "
            "allow_unused=False"
        )
    xs = as_list(inputs, "inputs of grad()")
    if is_grads_batched:
        values = batched_gradients(outputs, grad_outputs, xs, retain_graph, create_graph)
    else:
        ys, cotangents = outputs_and_cotangents(outputs, grad_outputs)
        values = gradients_of(ys, cotangents, xs, retain_graph, create_graph)
    out: list[Any] = []
    for k, (x, g) in enumerate(zip(xs, values, strict=True)):
        if g is None and materialize_grads:
            g = np.zeros(x.shape, x.dtype)
        if g is None and not (allow_unused or materialize_grads):
            raise LevelError(
                f"the differentiated Tensor at index {k} appears to not have been used in the "
                f"graph: the outputs do not depend on it. Set allow_unused=True to get None for it"
            )
        out.append(g)
    return tuple(None if g is None else wrap(g) for g in _unshared(out, grad_outputs))


class _UnusedError(LevelError, ValueError):
    """Two options of grad contradict each other."""


def _unshared(gradients: list[Any], grad_outputs: Any) -> list[Any]:
    """The gradients in memory of their own: a sum hands one cotangent to both of its terms."""
    given = (
        []
        if grad_outputs is None
        else [grad_outputs]
        if isinstance(grad_outputs, Tensor)
        else grad_outputs
    )
    taken = [v for v in map(operand, given) if isinstance(v, np.ndarray)]
    out = []
    for g in gradients:
        out.append(own(g, taken))
        if isinstance(out[-1], np.ndarray):
            taken.append(out[-1])
    return out
