"""A custom Function on symbolic arrays: its forward, and the context that its rules then read."""

from __future__ import annotations

from typing import Any

from .errors import NotSymbolicError
from .tensor_face import SymbolicTensor, plain_face, tensor_face
from .value import Symbolic

__all__ = ["SymbolicContext", "run_forward"]


class SymbolicContext:
    """What forward, setup_context, jvp and backward may do with ctx, on symbolic arrays."""

    def __init__(self, needs_input_grad: tuple[bool, ...]):
        self.needs_input_grad = needs_input_grad
        self.rule = "forward"
        self._saved: dict[str, tuple] = {}
        self._fixed: tuple = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self._saved["backward"] = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self._saved["forward"] = tensors

    @property
    def saved_tensors(self) -> tuple:
        return self._saved.get(self.rule, ())

    def mark_dirty(self, *inputs: Any) -> None:
        """What is written in place is compared like any other output."""

    def mark_non_differentiable(self, *outputs: Any) -> None:
        self._fixed = outputs

    def differentiable(self, output: Any) -> bool:
        """Whether an output of forward was not marked as one without derivative."""
        return not any(output is f for f in self._fixed)

    def set_materialize_grads(self, value: bool) -> None:
        """Symbols are never known to be zero, so all rules are given values."""

    def set_output_grad_dtype(self, *dtypes: Any) -> None:
        """Symbols stand for exact numbers, of no particular dtype."""


def run_forward(cls: Any, args: tuple, kwargs: dict) -> tuple[Any, SymbolicContext, tuple]:
    """(what apply gives its caller, the context, the outputs of forward one by one).

    As in `Function.apply`, forward and setup_context are given tensors, and the caller gets back
    the kind of array that it gave.
    """
    caller = tensor_face if any(isinstance(a, SymbolicTensor) for a in args) else plain_face
    given = tuple(map(tensor_face, args))
    ctx = SymbolicContext(tuple(isinstance(a, Symbolic) for a in args))
    if cls.is_split():
        out = cls.forward(*given, **kwargs)
        cls.setup_context(ctx, given, out)
    else:
        out = cls.forward(ctx, *given, **kwargs)
    outs = out if isinstance(out, tuple) else (out,)
    if not any(isinstance(o, Symbolic) for o in outs):
        raise NotSymbolicError(f"the forward of {cls.__name__} gives no symbolic value")
    return caller(out), ctx, outs
