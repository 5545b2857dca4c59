"""PyTorch's `torch.autograd.graph`: hooks on what operations save for backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.arrays.storage import version
from ..engine.requires_grad.grad_mode import no_grad
from ..engine.requires_grad.graph import SAVING
from ..errors import ArgumentError, LevelError
from ..tensor import Tensor, unwrap, wrap

__all__ = ["saved_tensors_hooks"]


class saved_tensors_hooks:
    """Within this context every tensor saved for backward is packed, and unpacked when read.

    Args:
        pack_hook: called under no_grad with a tensor when an operation saves it, which it may not
            write to; its result is kept.
        unpack_hook: called with that result when backward reads it; must give a tensor.

    >>> import dualad
    >>> x = dualad.tensor(2.0, requires_grad=True)
    >>> with dualad.autograd.graph.saved_tensors_hooks(lambda t: t.item(), dualad.tensor):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor(4.)
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]):
        self._tokens: list[Any] = []

        def unpack(kept: Any) -> Any:
            tensor = unpack_hook(kept)
            if not isinstance(tensor, Tensor):
                raise ArgumentError(
                    f"the unpack hook of saved_tensors_hooks was expected to return a Tensor, not "
                    f"{type(tensor).__name__}"
                )
            return unwrap(tensor)

        def pack(value: Any) -> Any:
            before = version(value)
            with no_grad():
                kept = pack_hook(wrap(value))
            if version(value) != before:
                raise LevelError(
                    "A saved tensor pack hook is modifying its input in place: what it is given "
                    "is the very tensor that the computation goes on with. clone() it first"
                )
            return kept

        for name, hook in (("pack", pack_hook), ("unpack", unpack_hook)):
            if not callable(hook):
                raise ArgumentError(
                    f"the {name} hook of saved_tensors_hooks must be callable, got "
                    f"{type(hook).__name__}"
                )
        self._pair = (pack, unpack)

    def __enter__(self) -> None:
        self._tokens.append(SAVING.set(self._pair))

    def __exit__(self, *exc: object) -> None:
        SAVING.reset(self._tokens.pop())
