"""A function with a backward rule of its own, as a decorator on functions of arrays.

It is a custom `Function` underneath, so forward mode, nesting and vmap follow from the one rule.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..engine.kinds.batched import Batched
from ..engine.levels.traced import TracedArray
from ..engine.levels.tree import Tree, flatten, flatten_like
from ..engine.levels.values import stack_objects
from ..errors import ArgumentError, MissingRuleError
from ..tensor import Tensor, operand, unwrap, wrap
from .arguments import is_array
from .function import Function

__all__ = ["custom_vjp"]

#: Whether a fwd rule is running on a whole batch, where only values are asked for.
ON_BATCH: ContextVar[bool] = ContextVar("dualad_fwd_on_batch", default=False)


class custom_vjp:
    """A function with a backward rule of its own; forward mode is the transpose of that.

    Reverse mode calls the rule once for a cotangent, whatever it does with it. Forward mode needs
    it to be linear in the cotangent: it runs it on linear variables, and transposes what it
    recorded. The rule is written in NumPy, and is differentiated itself for higher orders.

    Args:
        f: a function of arrays or nested containers, returning the same.
        nondiff_argnums: arguments that are no arrays or have no derivative.

    >>> import numpy as np, dualad
    >>> @dualad.custom_vjp
    ... def log1pexp(x):
    ...     return np.log1p(np.exp(x))
    >>> def fwd(x):
    ...     return log1pexp(x), x
    >>> def bwd(x, g):
    ...     return (g / (1 + np.exp(-x)),)
    >>> log1pexp.defvjp(fwd, bwd)
    >>> dualad.grad(log1pexp)(0.0)
    0.5
    >>> dualad.jvp(log1pexp, (0.0,), (2.0,))[1]
    np.float64(1.0)
    """

    def __init__(self, f: Callable[..., Any], nondiff_argnums: tuple[int, ...] = ()):
        functools.update_wrapper(self, f)
        self.f = f
        self.nondiff_argnums = tuple(nondiff_argnums)
        self._rule: tuple[Callable[..., Any], Callable[..., Any]] | None = None
        #: a class of its own, so that messages name this function
        self._function: Any = type(getattr(f, "__name__", "custom_vjp"), (_Custom,), {})

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """State the rule.

        Args:
            fwd: called as f is; it gives (output, residuals), and the residuals are anything.
            bwd: called with the arguments of nondiff_argnums, the residuals and the cotangent of
                the output; it gives a tuple with the cotangent of each other argument, None for
                zero.
        """
        self._rule = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._rule is None:
            raise MissingRuleError(
                f"{self.f.__name__} is a custom_vjp function without a rule: define one with "
                f"{self.f.__name__}.defvjp(fwd, bwd)"
            )
        args, kwargs = _placed(self.f, args, kwargs)
        call = _Call(self.f.__name__, *self._rule, args, kwargs, self.nondiff_argnums)
        traced = [v for v in map(operand, call.leaves) if isinstance(v, TracedArray)]
        if all(map(_is_batch, traced)) and (not traced or ON_BATCH.get()):
            return self.f(*args, **kwargs)
        return call.out_tree_of(self._function.apply(call, *call.leaves))


class _Call:
    """One call: how its arguments and results come apart, and what the rule is given."""

    def __init__(
        self,
        name: str,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        args: tuple,
        kwargs: dict,
        still: tuple[int, ...],
    ):
        self.name, self.fwd, self.bwd, self.args, self.kwargs = name, fwd, bwd, args, kwargs
        self.still = [k % len(args) for k in still]
        self.moving = [k for k in range(len(args)) if k not in self.still]
        self.trees: list[Tree] = []
        self.leaves: list[Any] = []
        for k in self.moving:
            leaves, tree = flatten(args[k])
            self.trees.append(tree)
            self.leaves += [_number(x) for x in leaves]
        self.face = any(isinstance(x, Tensor) for x in self.leaves)
        self.out_tree: Tree | None = None

    def forward(self, leaves: tuple) -> tuple[list[Any], Any]:
        """The output's leaves as tensors, and the residuals."""
        args, given = list(self.args), iter([self._seen(x) for x in leaves])
        for k, tree in zip(self.moving, self.trees, strict=True):
            args[k] = tree.unflatten([next(given) for _ in range(tree.size)])
        whole = ON_BATCH.set(any(_is_batch(operand(x)) for x in leaves))
        try:
            result = self.fwd(*args, **self.kwargs)
        finally:
            ON_BATCH.reset(whole)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise ArgumentError(f"the fwd rule of {self.name} must return (output, residuals)")
        out, self.out_tree = flatten(result[0])
        return [self._given(x) for x in out], result[1]

    def backward(self, residuals: Any, cotangents: tuple) -> list[Any]:
        """The cotangents of the leaves as tensors, None for zero."""
        still = [self.args[k] for k in self.still]
        shares = self.bwd(*still, residuals, self.out_tree_of([self._seen(c) for c in cotangents]))
        if not isinstance(shares, tuple) or len(shares) != len(self.moving):
            raise ArgumentError(
                f"the bwd rule of {self.name} must return a tuple with one entry for each of the "
                f"{len(self.moving)} differentiated arguments"
            )
        out: list[Any] = []
        for k, tree, share in zip(self.moving, self.trees, shares, strict=True):
            what = f"the cotangent of argument {k} of {self.name}"
            empty = share is None
            out += (
                [None] * tree.size if empty else flatten_like(tree, share, what, f"argument {k}")
            )
        kinds = zip(out, self.leaves, strict=True)
        return [None if g is None or not is_array(x) else self._given(g) for g, x in kinds]

    def out_tree_of(self, leaves: Any) -> Any:
        """The output with these leaves."""
        assert self.out_tree is not None
        return self.out_tree.unflatten(leaves)

    def _seen(self, x: Any) -> Any:
        """A tensor as the user's functions see it: on arrays an array."""
        if self.face or not isinstance(x, Tensor):
            return x
        value = unwrap(x)
        return value[()] if isinstance(value, np.ndarray) else value

    def _given(self, x: Any) -> Any:
        """What a user's function returned, as a tensor."""
        return x if isinstance(x, Tensor) else wrap(stack_objects(x))


def _placed(f: Callable[..., Any], args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments in order, keywords and defaults at their positions, where they have one."""
    try:
        bound = inspect.signature(f).bind(*args, **kwargs)
    except ValueError:  # a function from C, whose signature is not known
        return args, kwargs
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _is_batch(value: Any) -> bool:
    """Whether it is a batch of plain values."""
    return type(value) is Batched and not isinstance(value.primal, TracedArray)


def _number(x: Any) -> Any:
    """A Python float as one of NumPy, which takes part in derivatives."""
    return np.float64(x) if type(x) is float else np.complex128(x) if type(x) is complex else x


class _Custom(Function):
    """The custom function behind all decorated ones."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, call: _Call, *leaves: Any) -> tuple[Any, ...]:
        ctx.save_for_backward(*[x if isinstance(x, Tensor) else None for x in leaves])
        out, ctx.residuals = call.forward(leaves)
        ctx.call = call
        return tuple(out)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        residuals = ctx.residuals
        if ctx.is_differentiated():
            # fwd again, this time recorded: the residuals are functions of the arguments.
            given = zip(ctx.saved_tensors, ctx.call.leaves, strict=True)
            _, residuals = ctx.call.forward(tuple([x if s is None else s for s, x in given]))
        return (None, *ctx.call.backward(residuals, cotangents))
