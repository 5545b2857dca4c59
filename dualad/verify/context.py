"""The context that a custom Function meets when it runs on symbols."""

from __future__ import annotations

from typing import Any

__all__ = ["SymbolicContext"]


class SymbolicContext:
    """What forward, setup_context, jvp and backward may do with ctx, on symbolic arrays."""

    def __init__(self, needs_input_grad: tuple[bool, ...]):
        self.needs_input_grad = needs_input_grad
        self.rule = "forward"
        self.materialize = True
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
        return not any(output is f for f in self._fixed)

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize = value

    def set_output_grad_dtype(self, *dtypes: Any) -> None:
        """Symbols stand for exact numbers, of no particular dtype."""
