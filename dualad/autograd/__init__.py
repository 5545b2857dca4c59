"""PyTorch's `torch.autograd`: backward and grad on tensors, custom functions, forward mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.dual import Dual, make_dual
from ..engine.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from ..engine.graph import GraphValue, Node, free, reachable, sweep_graph
from ..engine.traced import Spec
from ..errors import ArgumentError, ShapeError
from ..tensor import Tensor, wrap
from ..transforms.boundary import match
from . import forward_ad, function, graph
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "enable_grad",
    "forward_ad",
    "function",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of the tensors to .grad of the leaves they depend on.

    >>> import dualad
    >>> x = dualad.tensor(3.0, requires_grad=True)
    >>> dualad.autograd.backward(x * x)
    >>> x.grad.item()
    6.0
    """
    outputs, cotangents = _outputs(tensors, grad_tensors)
    if inputs is not None:
        for x, g in zip(
            inputs,
            _gradients(outputs, cotangents, list(inputs), retain_graph, create_graph),
            strict=True,
        ):
            if g is not None:
                _accumulate(x, g)
        return
    seeds = [(_node_of(y), ct) for y, ct in zip(outputs, cotangents, strict=True)]
    keep = create_graph if retain_graph is None else retain_graph
    with set_grad_enabled(create_graph):
        found = sweep_graph([(n, _plain(ct)) for n, ct in seeds], create_graph, keep)
    for node, ct in found.items():
        leaf = node.leaf() if node.leaf is not None else None
        if leaf is not None:
            _accumulate(leaf, ct)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple:
    """The gradients of outputs with respect to inputs, without touching .grad.

    The gradient of a dual is dual: its tangent is the derivative of the gradient.

    >>> import dualad
    >>> x = dualad.tensor(3.0, requires_grad=True)
    >>> dualad.autograd.grad(x * x, x)[0].item()
    6.0
    """
    ys, cotangents = _outputs(outputs, grad_outputs)
    xs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    values = _gradients(ys, cotangents, xs, retain_graph, create_graph)
    out = []
    for k, (x, g) in enumerate(zip(xs, values, strict=True)):
        if g is None and materialize_grads:
            g = np.zeros(x.shape, x.dtype)
        if g is None and not (allow_unused or materialize_grads):
            raise ArgumentError_unused(k)
        out.append(None if g is None else wrap(g))
    return tuple(out)


def ArgumentError_unused(k: int) -> Exception:
    from ..errors import LevelError

    return LevelError(
        f"the outputs do not depend on input {k}: it appears not to have been used in the graph. "
        f"Pass allow_unused=True to get None for it."
    )


def _outputs(tensors: Any, grad_tensors: Any) -> tuple[list[Tensor], list[Any]]:
    ys = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    cts = grad_tensors
    cts = [cts] * len(ys) if cts is None or isinstance(cts, Tensor) else list(cts)
    if len(cts) != len(ys):
        raise ArgumentError(f"got {len(ys)} outputs and {len(cts)} gradients for them")
    return ys, [_cotangent(y, ct, k) for k, (y, ct) in enumerate(zip(ys, cts, strict=True))]


def _cotangent(y: Tensor, ct: Any, k: int) -> Any:
    if ct is not None:
        # A gradient of another floating dtype is handed on as it is: a custom function may ask for
        # that.
        return match(ct, Spec(y.shape, _gradient_dtype(ct, y)), f"the gradient of output {k}")
    if y.numel() != 1:
        raise ShapeError(
            f"grad can be implicitly created only for scalar outputs, output {k} has shape "
            f"{y.shape}"
        )
    if y.dtype.kind == "c":
        raise ShapeError(
            "grad can be implicitly created only for real scalar outputs, not complex ones"
        )
    return np.ones(y.shape, y.dtype)


def _gradient_dtype(ct: Any, y: Tensor) -> np.dtype:
    dtype = np.dtype(getattr(ct, "dtype", y.dtype))
    return dtype if dtype.kind == "f" and y.dtype.kind == "f" else y.dtype


def _node_of(y: Tensor) -> Node:
    node = y._node()
    if node is None:
        from ..errors import LevelError

        raise LevelError(
            "element of tensors does not require grad and does not have a grad_fn: no input of "
            "it was made with requires_grad=True, or it was computed under no_grad"
        )
    return node


def _plain(v: Any) -> Any:
    while type(v) is Dual:
        v = v.primal
    return v


def _gradients(
    ys: list[Tensor], cts: list[Any], xs: list[Tensor], retain: bool | None, create_graph: bool
) -> list[Any]:
    for k, x in enumerate(xs):
        if not x.requires_grad:
            from ..errors import LevelError

            raise LevelError(
                f"input {k} does not require grad: one of the differentiated tensors must"
            )
    for y in ys:
        _node_of(y)
    keep = create_graph if retain is None else retain
    values = [y._value for y in ys]
    with set_grad_enabled(create_graph):
        out = _dual_gradients(values, cts, [x._value for x in xs], create_graph)
    if not keep:
        free(reachable(_nodes(values)))
    return out


def _nodes(values: list[Any]) -> list[Node]:
    """All nodes of values that may be dual."""
    duals = [v for v in values if type(v) is Dual]
    inner = _nodes([p for d in duals for p in (d.primal, d.tangent)]) if duals else []
    return inner + [v.tangent for v in values if type(v) is GraphValue]


def _dual_gradients(ys: list[Any], cts: list[Any], xs: list[Any], create_graph: bool) -> list[Any]:
    """Gradients of values that may be dual: (pull(P, c), pull(T, c) + pull(P, c'))."""
    level = max(
        (v.level for v in (*ys, *cts, *xs) if type(v) is Dual and v.level.is_open),
        key=lambda lv: lv.rank,
        default=None,
    )
    if level is None:
        return _plain_gradients(ys, cts, xs, create_graph)

    def parts(v: Any) -> tuple[Any, Any]:
        return (v.primal, v.tangent) if type(v) is Dual and v.level is level else (v, None)

    under = [parts(x)[0] for x in xs]
    primals, tangents = zip(*map(parts, ys), strict=True)
    c, dc = zip(*map(parts, cts), strict=True)
    first = _dual_gradients(list(primals), list(c), under, create_graph)
    second = [(t, k) for t, k in zip(tangents, c, strict=True) if t is not None]
    second += [(p, k) for p, k in zip(primals, dc, strict=True) if k is not None]
    moved = (
        _dual_gradients([a for a, _ in second], [b for _, b in second], under, create_graph)
        if second
        else [None] * len(xs)
    )
    return [
        None
        if g is None and t is None
        else make_dual(
            level,
            np.zeros(x.shape, x.dtype) if g is None else g,
            np.zeros(x.shape, x.dtype) if t is None else t,
        )
        for g, t, x in zip(first, moved, under, strict=True)
    ]


def _plain_gradients(
    ys: list[Any], cts: list[Any], xs: list[Any], create_graph: bool
) -> list[Any]:
    seeds = [(y.tangent, ct) for y, ct in zip(ys, cts, strict=True) if type(y) is GraphValue]
    nodes = [x.tangent if type(x) is GraphValue else None for x in xs]
    if not seeds:
        return [None] * len(xs)
    found = sweep_graph(seeds, create_graph, True, [n for n in nodes if n is not None])
    return [None if n is None else found.get(n) for n in nodes]


def _accumulate(leaf: Tensor, ct: Any) -> None:
    new = wrap(ct if not isinstance(ct, np.ndarray) else np.array(ct, leaf.dtype))
    leaf._grad = new if leaf._grad is None else leaf._grad + new
