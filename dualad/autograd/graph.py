"""PyTorch's `torch.autograd.graph`: hooks on what custom functions save."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

__all__ = ["current_hooks", "saved_tensors_hooks"]

_hooks: ContextVar[tuple[tuple[Callable, Callable], ...]] = ContextVar(
    "dualad_saved_hooks", default=()
)


class saved_tensors_hooks:
    """Within this context every tensor saved for backward is packed, and unpacked when read.

    Args:
        pack: called with a tensor when a custom function has saved it; its result is kept.
        unpack: called with that result when backward reads it; must give a tensor.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]):
        self.pair = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        self._token = _hooks.set((*_hooks.get(), self.pair))

    def __exit__(self, *exc: object) -> None:
        _hooks.reset(self._token)


def current_hooks() -> tuple[Callable, Callable] | None:
    """The innermost pair of hooks, None outside of any."""
    stack = _hooks.get()
    return stack[-1] if stack else None
