"""Gradient edges: places in the graph at which a gradient arrives, without their tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.programs.entries import pull_part
from ..engine.requires_grad.graph import Node, readable
from ..errors import ArgumentError, LevelError
from ..tensor import Tensor

__all__ = ["GradientEdge", "get_gradient_edge", "node_of_edge", "spec_of_edge"]


class GradientEdge(NamedTuple):
    """Output number output_nr of an operation of the graph, or a leaf: where its gradient is.

    `grad` and `backward` take it in place of a tensor. The graph lives as long as the node, so
    that ownership_token, which PyTorch has, is not needed.
    """

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge at which the gradient of a tensor arrives: of the value that it holds now.

    Raises:
        LevelError: the tensor does not require grad.

    >>> import dualad
    >>> x = dualad.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * x
    >>> edge = dualad.autograd.graph.get_gradient_edge(y)
    >>> dualad.autograd.grad((3 * y).sum(), edge)
    (tensor([3., 3.]),)
    """
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"get_gradient_edge takes a Tensor, not {type(tensor).__name__}")
    node = tensor._node()
    if node is None:
        raise LevelError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(node.whole or node, node.output_nr)


def node_of_edge(edge: GradientEdge) -> Node:
    """A node at which to start a sweep from an edge."""
    node = edge.node
    outputs = None if node.entry is None else readable(node, False)[5]
    if not isinstance(outputs, tuple):
        return node
    return Node(node.label, (pull_part, node, edge.output_nr, len(outputs)))


def spec_of_edge(edge: GradientEdge) -> Spec:
    """The shape and dtype of the gradient at an edge."""
    node = edge.node
    if node.leaf is not None:
        leaf = node.leaf()
        if leaf is None:
            raise LevelError("the leaf of a gradient edge does not exist any more")
        return Spec(leaf.shape, leaf.dtype)
    if node.entry is None:
        raise LevelError(
            "backward through the graph a second time: what the rule of a gradient edge read has "
            "been freed. Pass retain_graph=True to the first backward or grad."
        )
    out = readable(node, False)[5]
    out = out[edge.output_nr] if isinstance(out, tuple) else out
    return Spec(out.shape, np.dtype(out.dtype))
