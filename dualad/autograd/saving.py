"""What operations save for backward: hooks that pack and unpack it, and contexts made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..engine.arrays.storage import overlap, version
from ..engine.levels.traced import raw
from ..engine.requires_grad.grad_mode import no_grad
from ..engine.requires_grad.graph import SAVING
from ..errors import ArgumentError, LevelError
from ..tensor import Tensor, unwrap, wrap

__all__ = [
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "save_on_cpu",
    "saved_tensors_hooks",
]

#: What an attempt to set hooks is answered with, where that is disabled.
DISABLED: ContextVar[str | None] = ContextVar("dualad_saving_disabled", default=None)


class saved_tensors_hooks:
    """Within this context every tensor saved for backward is packed, and unpacked when read.

    Args:
        pack_hook: called under no_grad with a tensor when an operation saves it, which it may not
            write to; its result is kept.
        unpack_hook: called with that result when backward reads it; must give a tensor.

    Raises:
        LevelError: where `disable_saved_tensors_hooks` has disabled it; and in backward, where
            the result of pack_hook is a tensor in the memory of what was saved, which has been
            written to since.

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

        def unpack(kept: _Kept) -> Any:
            kept.check()
            tensor = unpack_hook(kept.what)
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
            return _Kept(kept, value)

        for name, hook in (("pack", pack_hook), ("unpack", unpack_hook)):
            if not callable(hook):
                raise ArgumentError(
                    f"the {name} hook of saved_tensors_hooks must be callable, got "
                    f"{type(hook).__name__}"
                )
        self._pair = (pack, unpack)

    def __enter__(self) -> None:
        message = DISABLED.get()
        if message is not None:
            raise LevelError(message)
        self._tokens.append(SAVING.set(self._pair))

    def __exit__(self, *exc: object) -> None:
        SAVING.reset(self._tokens.pop())


class _Kept:
    """What a pack hook gave, and the version of the memory that it shares with its argument."""

    __slots__ = ("shared", "version", "what")

    def __init__(self, what: Any, value: Any):
        self.what = what
        plain = raw(value)
        shares = isinstance(what, Tensor) and overlap(raw(what._full()), plain)
        #: that memory, if they share any
        self.shared = plain if shares else None
        self.version = version(plain) if shares else 0

    def check(self) -> None:
        """Refuse what was written to in place."""
        if self.shared is not None and version(self.shared) != self.version:
            raise LevelError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: the pack hook of saved_tensors_hooks kept a tensor of shape "
                f"{self.shared.shape} in its own memory, which is at version "
                f"{version(self.shared)}, but it was saved at version {self.version}. clone() it "
                "in the hook, or before the in-place operation"
            )


class save_on_cpu(saved_tensors_hooks):
    """Within this context what is saved for backward is on the CPU: here it always is.

    Args:
        pin_memory: save a copy, so that what was saved may be written to afterwards. Else
            nothing is copied, as in PyTorch for tensors of the CPU.
        device_type: of what it is saved from; of no effect.

    >>> import dualad
    >>> x = dualad.tensor(3.0, requires_grad=True)
    >>> with dualad.autograd.graph.save_on_cpu():
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor(6.)
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        super().__init__(_copied if pin_memory else _as_it_is, _as_it_is)


def _as_it_is(tensor: Any) -> Any:
    return tensor


def _copied(tensor: Any) -> Any:
    return wrap(np.array(raw(tensor._full())))


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Within this context `saved_tensors_hooks` is an error with this message.

    For code that does not work with such hooks.

    Raises:
        LevelError: hooks are set already; or they are to be set within.

    >>> import dualad
    >>> with dualad.autograd.graph.disable_saved_tensors_hooks("not in here"):
    ...     with dualad.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
        ...
    dualad.errors.LevelError: not in here
    """
    if SAVING.get() is not None:
        raise LevelError(error_message)
    token = DISABLED.set(error_message)
    try:
        yield
    finally:
        DISABLED.reset(token)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[None]:
    """Within this context what operations save may be written to in place afterwards.

    Each of them saves a copy, which costs memory; PyTorch copies when it is written to. So these
    contexts may be nested, and backward may run outside of them.

    >>> import dualad
    >>> x = dualad.tensor([1.0, 2.0], requires_grad=True)
    >>> with dualad.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     z = (y**2).sum()
    ...     _ = y.sin_()
    ...     z.backward()
    >>> x.grad
    tensor([2., 4.])
    """
    with saved_tensors_hooks(_copied, _as_it_is):
        yield
