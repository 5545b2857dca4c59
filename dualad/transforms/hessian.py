"""Hessians, and their products with vectors: forward over reverse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .forward import arguments, jvp
from .gradient import Gradient, grad
from .jacobian import ForwardJacobian, jacfwd, jacrev

__all__ = ["hessian", "hvp"]


def hessian(
    f: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    holomorphic: bool = False,
) -> ForwardJacobian:
    """The Hessian, forward over reverse. For a scalar f of shape (n,) it gives (n, n).

    >>> import numpy as np, dualad
    >>> dualad.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    inner = jacrev(f, argnums, has_aux, holomorphic=holomorphic)
    return jacfwd(inner, argnums, has_aux, chunk_size=chunk_size, holomorphic=holomorphic)


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The Hessian of a scalar function times a vector, forward over reverse, at about 6 times f.

    Returns the product in the structure of the primals: one entry for one primal, else a tuple.

    >>> import numpy as np, dualad
    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    >>> dualad.hvp(lambda x: x[0] ** 2 * x[1], (x,), (v,))
    array([4., 2.])
    """
    primals = arguments(primals, "primals")
    if len(primals) == 1:
        return jvp(Gradient(f), primals, tangents)[1]
    return jvp(grad(f, tuple(range(len(primals)))), primals, tangents)[1]
