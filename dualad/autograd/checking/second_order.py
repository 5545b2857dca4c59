"""The gradients of a function as a function themselves, which gradgradcheck checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...tensor import Tensor, wrap
from ..backward import grad
from .report import GradcheckInputError
from .subject import Subject, as_list, is_checked

__all__ = ["grad_outputs_for", "gradients_of"]


def grad_outputs_for(
    results: list[Any], given: Any, random: np.random.Generator, gaps: bool
) -> list[Tensor | None]:
    """One gradient for each output that requires grad: those given, or random ones."""
    outputs = [y for y in results if is_checked(y)]
    if not outputs:
        raise GradcheckInputError(
            "gradgradcheck needs an output that requires grad: none of func's outputs depends "
            "on an input that requires grad"
        )
    if given is None:
        return [_random_gradient(y, random, gaps) for y in outputs]
    given = as_list(given)
    if len(given) != len(outputs):
        raise GradcheckInputError(
            f"grad_outputs has {len(given)} entries, but the outputs of func that require grad "
            f"are {len(outputs)}: one for each"
        )
    for k, (y, g) in enumerate(zip(outputs, given, strict=True)):
        _refuse_shape(k, y, g)
    return given


def _refuse_shape(k: int, y: Tensor, g: Tensor | None) -> None:
    if g is not None and tuple(g.shape) != y.shape:
        raise GradcheckInputError(
            f"grad_outputs[{k}] has shape {tuple(g.shape)}, its output has shape {y.shape}"
        )
    if g is None and (y.numel() != 1 or y.is_complex()):
        raise GradcheckInputError(
            f"grad_outputs[{k}] is None, which stands for 1 and so needs a real scalar output; "
            f"this one has shape {y.shape} and dtype {y.dtype}"
        )


def _random_gradient(y: Tensor, random: np.random.Generator, gaps: bool) -> Tensor:
    stored = np.zeros((*y.shape, 2), y.dtype)
    stored[...] = random.uniform(-1.0, 1.0, stored.shape)
    if y.is_complex():
        stored += 1j * random.uniform(-1.0, 1.0, stored.shape)
    return wrap(stored[..., 0] if gaps else stored[..., 0].copy()).requires_grad_()


def gradients_of(func: Callable[..., Any], args: list[Any], given: list[Any]) -> Subject:
    """The gradients of func as a function of its arguments and of the gradients of its outputs."""
    n = len(args)
    at = [k for k, x in enumerate(args) if is_checked(x)]

    def gradients(*both: Any) -> tuple[Any, ...]:
        outputs = [y for y in as_list(func(*both[:n])) if is_checked(y)]
        checked = [both[k] for k in at]
        return grad(outputs, checked, both[n:], create_graph=True, allow_unused=True)

    return Subject(
        gradients,
        [*args, *given],
        lambda k: f"input {k}" if k < n else f"grad_outputs[{k - n}]",
        lambda k: f"the gradient of input {at[k]}",
        in_graph=True,
    )
