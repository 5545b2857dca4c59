"""Linear systems: solve, inv, and what is written with them.

a x = b gives da x + a dx = db, hence dx = solve(a, db - da x) and d(a^-1) = -a^-1 da a^-1 (Giles,
"Collected matrix derivative results for forward and reverse mode AD", 2008, section 2.2).
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.levels.traced import raw
from ..engine.primitives.chain import Chain, Link
from ..engine.primitives.composite import Composite
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from ..errors import SingularPointError
from .batch_axis import batch_size, with_batch_axis
from .linalg import adjoint, square
from .operands import array_of
from .products import matmul
from .registry import function
from .shared import inverse_of, solution, solve_by
from .structure import reshape, transpose

__all__ = ["inverse", "inverse_again", "inverse_for", "solve", "solve_again"]


# --- the primitives ------------------------------------------------------------------------------


def _solve_spec(a: Any, b: Any) -> Spec:
    if a.shape[-1] != a.shape[-2] or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"solve: shapes {a.shape} and {b.shape} do not fit")
    stack = ()
    if a.ndim > 2 or b.ndim > 2:
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return Spec((*stack, *b.shape[-2:]), np.result_type(a.dtype, b.dtype))


#: dx = a^-1 (-da x), of which the last operation is defined below.
_in_matrix = Chain()
#: In the place of a solution that is not known.
UNKNOWN = np.zeros(())


def _batch(primitive: Any, args: tuple, mine: tuple, **params: Any) -> Any:
    """One matrix for the whole batch is factorised once, and takes the batch as columns."""
    (a, b), known = args[:2], args[2:]
    if mine[0] or a.ndim > 2:
        return primitive(*align((a, b), mine[:2]), *known, **params)
    last = b.ndim - 1
    rows_first = transpose(b, axes=(last - 1, *range(last - 1), last))
    flat = reshape(rows_first, shape=(b.shape[-2], math.prod(b.shape[:-2]) * b.shape[-1]))
    x = reshape(primitive(a, flat, *known, **params), shape=rows_first.shape)
    return transpose(x, axes=(*range(1, last), 0, last))


def _batch_again(args: tuple, mine: tuple, transposed: bool) -> Any:
    """The same; what a batch was solved by before is not looked for."""
    a, b, _ = args
    if not any(mine[:2]):
        b = with_batch_axis(b, False, batch_size(args, mine))
    return _batch(
        solve_again, (a, b, UNKNOWN), (mine[0], not mine[0] or mine[1]), transposed=transposed
    )


def _show_again(a: str, b: str, x: str, transposed: str) -> str:
    a = f"np.conj(np.swapaxes({a}, -1, -2))" if transposed == "True" else a
    return f"np.linalg.solve({a}, {b})"


def _again_in_matrix(t: Any, out: Any, a: Any, b: Any, x: Any, transposed: bool) -> Any:
    t = adjoint(t) if transposed else t
    return solve_again(a, -t @ out, x, transposed=transposed)


solve = Linear(
    solution,
    None,
    lambda ct, a, b: solve_again(a, ct, UNKNOWN, transposed=True),
    rules=(_in_matrix, None),
    batch=lambda args, mine: _batch(solve, args, mine),
    spec=_solve_spec,
    show=lambda a, b: f"np.linalg.solve({a}, {b})",
    name="solve",
)
#: What rules solve again with the same matrix or its adjoint, where x is what solved it before.
solve_again = Linear(
    solve_by,
    None,
    lambda ct, a, b, x, transposed: solve_again(a, ct, x, transposed=not transposed),
    None,
    rules=(_again_in_matrix, None, None),
    batch=_batch_again,
    spec=lambda a, b, x, transposed: _solve_spec(a, b),
    show=_show_again,
    name="solve_again",
)
_in_matrix.links = (
    Link(matmul, 0, lambda out, a, b: (-out,)),
    Link(solve_again, 1, lambda out, a, b: (a, out), lambda: {"transposed": False}),
)


def _inverter(impl: Any, name: str) -> Composite:
    """The inverse of each matrix as a primitive."""
    primitive = Composite(
        impl,
        Chain(Link(matmul, 1, lambda out, a: (-out,)), Link(matmul, 0, lambda out, a: (out,))),
        reads="out",
        batch=lambda args, mine: primitive(args[0]),
        name=name,
    )
    return primitive


inverse = _inverter(lambda a: np.linalg.inv(a), "inv")
# What rules invert again; the values of a function itself are NumPy's to the last bit.
inverse_again = _inverter(inverse_of, "inverse_again")


def inverse_for(a: Any, what: str) -> Any:
    """The inverse that a rule needs, or an error that says whose derivative does not exist."""
    try:
        return inverse_again(a)
    except np.linalg.LinAlgError as error:
        raise SingularPointError(
            f"{what} has no derivative here: {_size(a)} is singular. Move the point off the "
            f"singularity (a + eps * np.eye(n)), or take dualad.stop_gradient(a)."
        ) from error


def _size(a: Any) -> str:
    shape = raw(a).shape
    return f"a matrix of shape {shape[-2:]}" + (" in the stack" if len(shape) > 2 else "")


# --- NumPy's names -------------------------------------------------------------------------------


@function(np.linalg.solve)
def np_solve(a: Any, b: Any) -> Any:
    """The solution of a x = b: linear in b, and differentiable in a where a is regular.

    A b with one axis is a vector, else it is a stack of matrices. Every entry of a has its
    derivative, whatever its value: an a that happens to be diagonal is not treated as diagonal.
    """
    a, b = array_of(a), array_of(b)
    square(a)
    if b.ndim != 1:
        return solve(a, b)
    x = solve(a, reshape(b, shape=(*b.shape, 1)))
    return reshape(x, shape=x.shape[:-1])


@function(np.linalg.inv)
def np_inv(a: Any) -> Any:
    """The inverse of each matrix."""
    square(a)
    return inverse(a)


@function(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    """a to the power n, an integer, by repeated squaring; n = 0 is constant, n < 0 inverts a."""
    square(a)
    n = operator.index(n)
    if n == 0:
        return np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype)
    power = np_inv(a) if n < 0 else a
    n, result = abs(n), None
    while True:
        if n % 2:
            result = power if result is None else result @ power
        n //= 2
        if not n:
            return result
        power = power @ power


@function(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The x with np.tensordot(a, x, x.ndim) = b."""
    a, b = array_of(a), array_of(b)
    if axes is not None:
        moved = tuple(operator.index(k) % a.ndim for k in axes)
        a = np.transpose(a, (*(k for k in range(a.ndim) if k not in moved), *moved))
    shape = a.shape[b.ndim :] if b.ndim else a.shape
    n = math.prod(shape)
    if a.size != n**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == "
            "prod(a.shape[:b.ndim])"
        )
    return np.reshape(np_solve(np.reshape(a, (n, n)), np.ravel(b)), shape)


@function(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of a as a linear map from its last axes to its first `ind` ones."""
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows, columns = a.shape[:ind], a.shape[ind:]
    matrix = np.reshape(a, (math.prod(rows), math.prod(columns)))
    return np.reshape(np_inv(matrix), (*columns, *rows))
