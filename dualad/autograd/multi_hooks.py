"""Hooks that wait for the gradients of several tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from ..engine.requires_grad.backprop import SWEEP
from ..errors import ArgumentError
from ..tensor import RemovableHandle, Tensor

__all__ = ["RemovableHandles", "register_multi_grad_hook"]


class RemovableHandles:
    """Handles of several hooks, taken off together by `remove()` or by the end of a `with`."""

    def __init__(self, handles: Sequence[RemovableHandle]):
        self._handles = tuple(handles)

    def remove(self) -> None:
        """Take the hooks off."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> RemovableHandles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class _ModeError(ArgumentError, ValueError):
    """A mode that does not exist."""


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[..., Any],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandles:
    """Call fn when backward has come to several tensors, once in each sweep.

    Args:
        tensors: tensors that require grad.
        fn: what it returns is ignored. With "all" it takes a list with the gradient of each
            tensor, after the last of them; None for a tensor that has none in that sweep. With
            "any" it takes the first gradient that is found.
        mode: "all" or "any".

    Raises:
        ArgumentError: for another mode.
        LevelError: a tensor does not require grad ("any" leaves it out).

    Returns:
        A handle, whose `remove()` takes the hook off again.

    >>> import dualad
    >>> x = dualad.tensor(2.0, requires_grad=True)
    >>> y = x * x
    >>> handle = dualad.autograd.graph.register_multi_grad_hook((x, y), print)
    >>> y.backward()
    [tensor(4.), tensor(1.)]
    """
    if mode not in ("all", "any"):
        raise _ModeError(f"Expects mode to be one of ('all', 'any') but got {mode!r}")
    tensors = tuple(tensors)
    for t in tensors:
        if not isinstance(t, Tensor):
            raise ArgumentError(f"register_multi_grad_hook takes tensors, not {type(t).__name__}")
    if mode == "any":
        first = _First(fn)
        return RemovableHandles([t.register_hook(first) for t in tensors if t.requires_grad])
    waits = _WaitsForAll([t._node() for t in tensors], fn)
    return RemovableHandles(
        [t.register_hook(partial(waits.arrived, k)) for k, t in enumerate(tensors)]
    )


class _First:
    """Calls fn with the first gradient of a sweep."""

    def __init__(self, fn: Callable[[Any], Any]):
        self.fn = fn

    def __call__(self, gradient: Any) -> None:
        waiting = _waiting()
        if self not in waiting:
            waiting[self] = _nothing
            self.fn(gradient)


class _WaitsForAll:
    """Calls fn with the gradients of a sweep, when it has come to all nodes that it visits."""

    def __init__(self, nodes: list[Any], fn: Callable[[list[Any]], Any]):
        self.nodes, self.fn = nodes, fn

    def arrived(self, k: int, gradient: Any) -> None:
        """Note the gradient of tensor number k."""
        waiting = _waiting()
        if self not in waiting:
            waiting[self] = _Gradients(self)
        waiting[self].note(k, gradient)


class _Gradients:
    """The gradients of one sweep."""

    def __init__(self, hook: _WaitsForAll):
        sweep = SWEEP.get()
        assert sweep is not None
        visited = set(sweep.order)
        self.hook = hook
        self.found: list[Any] = [None] * len(hook.nodes)
        self.missing = {k for k, node in enumerate(hook.nodes) if node in visited}

    def note(self, k: int, gradient: Any) -> None:
        self.found[k] = gradient
        self.missing.discard(k)
        if not self.missing:
            self.hook.fn(self.found)

    def __call__(self) -> None:
        """At the end of the sweep: a rule gave no gradient for what is missing."""
        if self.missing:
            self.hook.fn(self.found)


def _waiting() -> dict[Any, Any]:
    sweep = SWEEP.get()
    assert sweep is not None, "hooks are called in a sweep"
    return sweep.waiting


def _nothing() -> None:
    """What is to be done when a sweep ends."""
