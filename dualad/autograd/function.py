"""Custom functions with PyTorch's contract: forward, setup_context, jvp, backward, vmap.

`forward` runs once, on plain values. Each level then reads what was saved as that level's values.
Either rule gives the other: `jvp` is transposed for reverse mode, `backward` for forward mode, by
running it on linear variables.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from ..engine.requires_grad.grad_mode import no_grad
from .arguments import positional
from .call import Call
from .context import FunctionCtx
from .errors import FunctionError
from .vmap_rule import VmapInfo

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "VmapInfo", "once_differentiable"]


class Function:
    """A differentiable function with rules of its own; subclass it and call `apply`.

    Define `forward(ctx, *args)`, or `forward(*args)` with `setup_context(ctx, inputs, output)`;
    and `jvp(ctx, *tangents)` or `backward(ctx, *cotangents)` (also named `vjp`), or both.
    One of the two rules suffices: the other is its transpose.

    >>> import dualad
    >>> class Cube(dualad.autograd.Function):
    ...     @staticmethod
    ...     def forward(x):
    ...         return x**3
    ...     @staticmethod
    ...     def setup_context(ctx, inputs, output):
    ...         ctx.save_for_forward(*inputs)
    ...     @staticmethod
    ...     def jvp(ctx, dx):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * dx
    >>> dualad.grad(Cube.apply)(2.0)
    12.0
    """

    #: Batch this function under vmap by its other methods.
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any):
        warnings.warn(
            f"{type(self).__name__} should not be instantiated: call "
            f"{type(self).__name__}.apply, a method of the class",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise FunctionError(
            f"a custom Function is not called as an instance: use {type(self).__name__}.apply(...)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The value of the function on tensors; override it.

        Its first argument is ctx, unless the class defines `setup_context`.
        """
        raise NotImplementedError(
            "you must implement the forward function of a custom autograd.Function: "
            "forward(ctx, *args), or forward(*args) together with setup_context"
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        """Prepare ctx from the inputs and the output; override it to give forward no ctx."""
        raise NotImplementedError("setup_context is not implemented")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """One cotangent (or None) per input from one per output; override it."""
        raise NotImplementedError(
            "you must implement backward or vjp (or jvp) of the custom Function"
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """One tangent (or None) per output from one per input; override it."""
        raise NotImplementedError("you must implement jvp (or backward) of the custom Function")

    @staticmethod
    def vmap(info: VmapInfo, in_dims: tuple, *args: Any) -> Any:
        """(output, out_dims) for batched inputs; override it, or set generate_vmap_rule."""
        raise NotImplementedError("vmap is not implemented")

    @classmethod
    def is_split(cls) -> bool:
        """Whether the class has setup_context, so that forward takes no ctx."""
        return cls.setup_context is not Function.setup_context

    @classmethod
    def rules(cls) -> tuple[Callable | None, Callable | None]:
        """(jvp, backward) of the class, None for what it does not define."""
        own_backward = cls.backward is not Function.backward
        own_vjp = cls.vjp is not Function.vjp
        if own_backward and own_vjp:
            raise FunctionError(
                f"implementing both 'backward' and 'vjp' for the custom Function {cls.__name__} "
                "is not allowed: they are one rule, define one of them"
            )
        back = cls.backward if own_backward else cls.vjp if own_vjp else None
        return (cls.jvp if cls.jvp is not Function.jvp else None), back

    @classmethod
    def vmap_rule(cls) -> Callable | None:
        """The class's own rule for vmap, if it defines one."""
        if cls.vmap is Function.vmap:
            return None
        if cls.generate_vmap_rule:
            raise FunctionError(
                f"{cls.__name__} has both a vmap method and generate_vmap_rule=True: choose one"
            )
        return cls.vmap

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function: on tensors it gives tensors, on arrays arrays."""
        if cls.forward is Function.forward:
            cls.forward()
        for a in args:
            if hasattr(a, "__dualad_apply__"):  # a value of another kind, such as a symbolic one
                return a.__dualad_apply__(cls, *positional(cls, args, kwargs))
        return Call(cls, *positional(cls, args, kwargs)).result()


class InplaceFunction(Function):
    """PyTorch keeps this name for compatibility; all that holds for `Function` holds for it."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that cannot be differentiated: a second derivative is an error."""

    @functools.wraps(backward)
    def once(*args: Any) -> Any:
        with no_grad():
            return backward(*args)

    once.once = True  # type: ignore[attr-defined]
    return once
