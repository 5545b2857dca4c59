"""What is checked: a function at its inputs, which can be moved or made dual, and has names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...engine.levels.traced import TracedArray, raw
from ...engine.requires_grad.graph import GraphValue, Node
from ...errors import ArgumentError
from ...tensor import Tensor, as_tensor, unwrap, wrap
from ..forward_ad import dual_level, make_dual, unpack_dual
from .report import GradcheckError, GradcheckInputError

__all__ = ["Subject", "Variable", "as_list", "is_checked"]


class Variable(NamedTuple):
    """A checked input or output: its position, the name that reports use, its tensor."""

    at: int
    name: str
    tensor: Tensor

    @property
    def units(self) -> tuple[complex, ...]:
        """The real directions of one entry: 1, and for a complex entry 1j."""
        return (1.0, 1j) if self.tensor.is_complex() else (1.0,)

    @property
    def memory(self) -> np.ndarray:
        """The plain values, which moving the variable writes to."""
        return raw(unwrap(self.tensor))

    @property
    def node(self) -> Node:
        """Where the gradient of an input arrives."""
        node = self.tensor._node()
        assert node is not None, "an input requires grad"
        return node


class Subject:
    """A function of tensors at one point, and its outputs there.

    Args:
        func: the function; it gives a tensor or a sequence of tensors.
        args: its arguments; those that require grad are the checked inputs.
        input_name, output_name: the name of what stands at a position.
        in_graph: whether the inputs must require grad in forward mode too.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        args: Sequence[Any],
        input_name: Callable[[int], str] = "input {}".format,
        output_name: Callable[[int], str] = "output {}".format,
        in_graph: bool = False,
    ):
        self.func, self.in_graph = func, in_graph
        self.args = with_own_memory(args)
        self.inputs = [
            Variable(k, input_name(k), x) for k, x in enumerate(self.args) if is_checked(x)
        ]
        if not self.inputs:
            raise GradcheckInputError(
                "gradcheck needs at least one input that requires grad, and here is none: make "
                "one by dualad.tensor(array, requires_grad=True)"
            )
        versions = [x.tensor._version for x in self.inputs]
        self.outputs = self._watched(as_list(func(*self.args)), output_name)
        for x, before in zip(self.inputs, versions, strict=True):
            if x.tensor._version != before:
                raise GradcheckInputError(
                    f"func writes to {x.name} in place, so it cannot be called again at the same "
                    f"point: let it write to a clone() of it"
                )

    @staticmethod
    def _watched(results: list[Any], name: Callable[[int], str]) -> list[Variable]:
        """The outputs that require grad; if none does, all that are real or complex numbers."""
        if not any(hasattr(y, "dtype") or is_number(y) for y in results):
            raise GradcheckInputError(
                "func gives no tensor, so there is nothing to check: did it forget to return one?"
            )
        numbers = [
            Variable(k, name(k), tensor_of(y)) for k, y in enumerate(results) if is_number(y)
        ]
        return [y for y in numbers if y.tensor.requires_grad] or numbers

    def _results(self, args: list[Any]) -> list[Tensor]:
        results = as_list(self.func(*args))
        tensors = [tensor_of(results[y.at]) if y.at < len(results) else None for y in self.outputs]
        for y, t in zip(self.outputs, tensors, strict=True):
            if t is None or t.shape != y.tensor.shape:
                now = "is gone" if t is None else f"has shape {t.shape}"
                raise GradcheckError(
                    f"func has no Jacobian here: {y.name} has shape {y.tensor.shape}, but in "
                    f"another call near the same point it {now}"
                )
        return tensors  # type: ignore[return-value]

    def values(self) -> list[np.ndarray]:
        """The outputs for what the inputs hold now, copied: an output may be an input's view."""
        return [np.array(raw(unwrap(t))) for t in self._results(self.args)]

    def push(self, x: Variable, direction: Any) -> list[Any]:
        """The tangents of the outputs for a direction of one input, None for zero."""
        with dual_level():
            point = wrap(np.array(x.memory))
            if self.in_graph:
                point.requires_grad_()
            moving = make_dual(point, wrap(direction))
            args = [moving if a is x.tensor else self._still(a) for a in self.args]
            tangents = [unpack_dual(t).tangent for t in self._results(args)]
        return [None if t is None else unwrap(t.detach()) for t in tangents]

    def _still(self, arg: Any) -> Any:
        """An argument in forward mode: inputs are not recorded, unless func needs that."""
        return arg.detach() if is_checked(arg) and not self.in_graph else arg


def as_list(x: Any) -> list[Any]:
    """A tensor, or the items of a sequence, as a list."""
    if isinstance(x, dict):
        raise ArgumentError(
            "gradcheck takes functions that give a tensor or a sequence of tensors, not a dict: "
            "let func return tuple(result.values())"
        )
    return list(x) if isinstance(x, (list, tuple)) else [x]


def is_checked(x: Any) -> bool:
    """Whether an argument is an input to differentiate with respect to."""
    return isinstance(x, Tensor) and x.requires_grad


def is_number(x: Any) -> bool:
    """Whether a result of func is a real or complex number or an array of them."""
    return (
        isinstance(x, (float, complex)) or getattr(getattr(x, "dtype", None), "kind", "b") in "fc"
    )


def tensor_of(x: Any) -> Tensor:
    """A result of func as a tensor; a Python number keeps its digits."""
    return as_tensor(x if isinstance(x, (Tensor, TracedArray)) else np.asarray(x))


def with_own_memory(args: Sequence[Any]) -> list[Any]:
    """The arguments, in which each checked input can be moved without moving another one.

    An input that shares memory (with itself after expand, or with another input) or cannot be
    written to is replaced by a copy; the others stay, so that func may also reach them by closure.
    """
    out: list[Any] = []
    kept: dict[int, Tensor] = {}
    for k, x in enumerate(args):
        if is_checked(x) and id(x) not in kept:
            kept[id(x)] = _own(x, list(kept.values()), k)
        out.append(kept.get(id(x), x))
    return out


def _own(x: Tensor, others: list[Tensor], k: int) -> Tensor:
    value = unwrap(x)
    if type(value) is not GraphValue or isinstance(value.primal, TracedArray):
        raise GradcheckInputError(
            f"input {k} belongs to a running transformation or dual level: call gradcheck outside"
        )
    memory = value.primal
    overlaps = any(s == 0 and n > 1 for s, n in zip(memory.strides, memory.shape, strict=True))
    shared = any(np.shares_memory(memory, raw(unwrap(other))) for other in others)
    if overlaps or shared or not memory.flags.writeable:
        return wrap(np.array(memory)).requires_grad_()
    return x
