"""Hooks: functions that a sweep calls with gradients of tensors, and of recorded operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.requires_grad.graph import Node
from ..errors import ArgumentError, ShapeError
from .face import State, unwrap, wrap

__all__ = ["RemovableHandle", "borrowed", "checked"]


class RemovableHandle:
    """What `register_hook` gives: `remove()`, or the end of a `with` block, takes it off again."""

    def __init__(self, owner: Any, name: str, hook: Callable[..., Any]):
        setattr(owner, name, [*getattr(owner, name), hook])
        self._owner, self._name, self._hook = owner, name, hook

    def remove(self) -> None:
        """Take the hook off."""
        rest = [h for h in getattr(self._owner, self._name) if h is not self._hook]
        setattr(self._owner, self._name, rest)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def borrowed(value: Any) -> Any:
    """An array of the engine as a tensor may hold it: to write to it in place is to copy it."""
    if not isinstance(value, np.ndarray):
        return value
    shown = value.view()
    shown.flags.writeable = False
    return shown


def checked(hook: Any, out: Any, ct: Any) -> Any:
    """What a hook returned in place of a gradient, as a value like that."""
    name = getattr(hook, "__name__", hook)
    if not isinstance(out, State):
        raise ArgumentError(
            f"expected a Tensor or None, but hook {name!r} returned {type(out).__name__!r}"
        )
    value = unwrap(out)
    if value.shape != ct.shape:
        raise ShapeError(
            f"hook {name!r} has changed the size of the gradient from {ct.shape} to {value.shape}"
        )
    if value.dtype != ct.dtype:
        raise ShapeError(
            f"hook {name!r} has changed the type of the gradient from {ct.dtype} to {value.dtype}"
        )
    return value


# --- of recorded operations ----------------------------------------------------------------------


def _shown(values: list[Any]) -> tuple[Any, ...]:
    return tuple([None if v is None else wrap(borrowed(v)) for v in values])


def _replaced(hook: Any, out: Any, values: list[Any]) -> list[Any]:
    """The gradients that a hook of a node returned in place of others."""
    name = getattr(hook, "__name__", hook)
    if out is None:
        return values
    if not isinstance(out, tuple):
        raise ArgumentError(
            f"expected a tuple or None, but hook {name!r} returned {type(out).__name__!r}"
        )
    # PyTorch has no place for a number as the last argument, as of x**2: it may be left out here.
    if len(out) < len(values) and not any(v is not None for v in values[len(out) :]):
        out += (None,) * (len(values) - len(out))
    if len(out) != len(values):
        raise ShapeError(
            f"hook {name!r} has returned an incorrect number of values: {len(out)} in place of "
            f"{len(values)}"
        )
    return [
        None if new is None else unwrap(new) if old is None else checked(hook, new, old)
        for new, old in zip(out, values, strict=True)
    ]


def register_prehook(self: Node, hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(grad_outputs)` before backward runs the rule of this operation.

    Args:
        hook: takes a tuple with the gradient of each output, None where there is none, and gives
            None, or a tuple of the same length to go on with.

    Raises:
        ArgumentError: in backward, where the hook gives something else.
        ShapeError: in backward, where it gives another number of gradients, or another shape.

    Returns:
        A handle, whose `remove()` takes the hook off again.

    >>> import dualad
    >>> x = dualad.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * 3
    >>> handle = y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 10,))
    >>> y.sum().backward()
    >>> x.grad
    tensor([30., 30.])
    """

    def call(given: list[Any]) -> list[Any]:
        return _replaced(hook, hook(_shown(given)), given)

    return RemovableHandle(self.hooked(), "before", call)


def register_hook(self: Node, hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(grad_inputs, grad_outputs)` after backward has run the rule of this operation.

    Args:
        hook: takes a tuple with the gradient that the rule gave for each argument (None for one
            that has none; () for a leaf, whose .grad has changed then) and one with the gradients
            of the outputs, and gives None, or a tuple in place of the first.

    Raises:
        ArgumentError, ShapeError: in backward, as for `register_prehook`.

    Returns:
        A handle, whose `remove()` takes the hook off again.

    >>> import dualad
    >>> x = dualad.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * 3
    >>> handle = y.grad_fn.register_hook(lambda grad_inputs, _: (grad_inputs[0] + 1, None))
    >>> y.sum().backward()
    >>> x.grad
    tensor([4., 4.])
    """

    def call(found: list[Any], given: list[Any]) -> list[Any]:
        return _replaced(hook, hook(_shown(found), _shown(given)), found)

    return RemovableHandle(self.hooked(), "after", call)


Node.register_prehook = register_prehook  # type: ignore[attr-defined]
Node.register_hook = register_hook  # type: ignore[attr-defined]
