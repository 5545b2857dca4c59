"""backward and grad: the gradients of tensors, also of duals, with respect to tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engine.backprop import free, sweep_graph
from ..engine.batched import batched, unbatch
from ..engine.dual import Dual, make_dual
from ..engine.grad_mode import graph_recording
from ..engine.graph import GraphValue, Node
from ..engine.level import Level
from ..engine.traced import Spec
from ..engine.visible import DUAL_LEVEL, is_functional
from ..errors import ArgumentError, LevelError, ShapeError
from ..tensor import Tensor, operand, wrap
from ..transforms.boundary import match, own

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
    outputs, cotangents = _outputs(tensors, grad_tensors)
    if inputs is not None:
        xs = _list(inputs, "inputs of backward()")
        gradients = _gradients(outputs, cotangents, xs, retain_graph, create_graph)
        with graph_recording(create_graph):
            for x, g in zip(xs, gradients, strict=True):
                if g is not None:
                    _accumulate(x, x._node(), _primal(g))
        return
    seeds = [
        (_node_of(y, k), _primal(ct))
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
    xs = _list(inputs, "inputs of grad()")
    if is_grads_batched:
        values = _batched_gradients(outputs, grad_outputs, xs, retain_graph, create_graph)
    else:
        ys, cotangents = _outputs(outputs, grad_outputs)
        values = _gradients(ys, cotangents, xs, retain_graph, create_graph)
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


# --- what was asked for ------------------------------------------------------------------------


def _list(x: Any, what: str) -> list[Any]:
    xs = [x] if isinstance(x, Tensor) else list(x)
    if not xs:
        raise LevelError(f"the {what} cannot be empty")
    return xs


def _outputs(tensors: Any, grad_tensors: Any) -> tuple[list[Tensor], list[Any]]:
    ys, cts = _paired(tensors, grad_tensors)
    return ys, [_cotangent(y, ct, k) for k, (y, ct) in enumerate(zip(ys, cts, strict=True))]


def _paired(tensors: Any, grad_tensors: Any) -> tuple[list[Tensor], list[Any]]:
    ys = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    cts = grad_tensors
    cts = [cts] * len(ys) if cts is None or isinstance(cts, Tensor) else cts
    if not isinstance(cts, (tuple, list)):
        raise ArgumentError(f"gradients must be Tensors or None, not {type(cts).__name__}")
    if len(cts) != len(ys):
        raise ArgumentError(f"got {len(ys)} tensors and {len(cts)} gradients for them")
    for ct in cts:
        if ct is not None and not hasattr(ct, "shape"):
            raise ArgumentError(f"gradients can be Tensors or None, but got {type(ct).__name__}")
    return ys, list(cts)


def _cotangent(y: Tensor, ct: Any, k: int) -> Any:
    if ct is not None:
        if ct.shape != y.shape:
            raise ShapeError(
                f"mismatch in shape: the gradient of output {k} has shape {ct.shape}, it should "
                f"be {y.shape}"
            )
        # A gradient of another floating dtype is handed on: a custom function may ask for that.
        ct = ct.to(y.dtype) if isinstance(ct, Tensor) and ct.dtype.kind in "biu" else ct
        return match(
            ct,
            Spec(y.shape, _gradient_dtype(ct, y)),
            f"mismatch in dtype: the gradient of output {k}",
        )
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


def _node_of(y: Tensor, k: int) -> Node:
    _refuse_functional(y, f"output {k}")
    node = y._node()
    if node is not None:
        return node
    raise LevelError(
        f"element {k} of tensors does not require grad and does not have a grad_fn: no input of "
        "it was made with requires_grad=True, or it was computed under no_grad"
    )


def _refuse_functional(x: Tensor, name: str) -> None:
    if is_functional(x._full()):
        raise LevelError(
            f"{name} belongs to a running transformation, not to the graph of tensors that "
            "require grad: use dualad.grad or dualad.vjp inside of it"
        )


def _primal(v: Any) -> Any:
    while type(v) is Dual and v.level.name == DUAL_LEVEL:
        v = v.primal
    return v


# --- gradients of duals, and of many cotangents at once --------------------------------------


def _gradients(
    ys: list[Tensor], cts: list[Any], xs: list[Tensor], retain: bool | None, create_graph: bool
) -> list[Any]:
    for k, x in enumerate(xs):
        _refuse_functional(x, f"input {k}")
        if x._node() is None:
            raise LevelError(f"One of the differentiated Tensors does not require grad: input {k}")
    for k, y in enumerate(ys):
        _node_of(y, k)
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
        (_primal(y).tangent, ct)
        for y, ct in zip(ys, cts, strict=True)
        if type(_primal(y)) is GraphValue
    ]
    nodes = [_primal(x).tangent for x in xs]
    found = sweep_graph(seeds, create_graph, wanted=nodes, swept=swept) if seeds else {}
    return [found.get(n) for n in nodes]


def _batched_gradients(
    outputs: Any, grad_outputs: Any, xs: Sequence[Any], retain: bool | None, create_graph: bool
) -> list[Any]:
    """One sweep with cotangents that carry a leading axis."""
    ys, cts = _paired(outputs, grad_outputs)
    if any(ct is None for ct in cts):
        raise ArgumentError("is_grads_batched=True needs grad_outputs for all outputs")
    values = [operand(ct) for ct in cts]
    n = values[0].shape[0]
    with Level("vmap") as level:
        rows = [batched(level, v, n) for v in values]
        checked = [_cotangent(y, ct, k) for k, (y, ct) in enumerate(zip(ys, rows, strict=True))]
        out = _gradients(list(ys), checked, list(xs), retain, create_graph)
        return [None if g is None else unbatch(level, g, n) for g in out]
