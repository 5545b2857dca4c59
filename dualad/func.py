"""PyTorch's `torch.func`: the transformations of dualad under its signatures and return values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .transforms.batching import vmap as _vmap
from .transforms.forward import jvp
from .transforms.gradient import grad, value_and_grad
from .transforms.hessian import hessian
from .transforms.jacobian import jacfwd as _jacfwd, jacrev as _jacrev
from .transforms.linearize import linearize
from .transforms.reverse import vjp

__all__ = [
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
    "vmap",
]


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Map a function over a dimension of its arguments; see `dualad.vmap`."""
    return _vmap(func, in_dims, out_dims, randomness=randomness, chunk_size=chunk_size)


def grad_and_value(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives (gradient, value), the reverse order of `dualad.value_and_grad`."""
    both = value_and_grad(func, argnums, has_aux)

    def call(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return gradient, value

    return call


def jacfwd(
    func: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The Jacobian by forward mode; see `dualad.jacfwd`."""
    return _jacfwd(func, argnums, has_aux, chunk_size=chunk_size)


def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The Jacobian by reverse mode; see `dualad.jacrev`."""
    return _jacrev(func, argnums, has_aux, chunk_size=chunk_size)
