"""The solution of linear equations with parameters, and its derivatives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...transforms.jacobian import jacfwd
from ..errors import ModelError, SensitivityError
from ..given import members
from ..notices import absent
from ..parameters.parameters import ModelParameters, Parameters
from ..parameters.unit_text import units_by_name
from ..results.implicit_result import checked_order
from ..results.sensitivities import Sensitivities
from ..user_errors import failure
from .equations import called
from .matrix_kinds import MatrixKind, dense_array, matrix_kind
from .unknowns import names_of_shape

__all__ = ["linear_solve"]


def linear_solve(
    A: Any,
    b: Any,
    params: Mapping[str, Any],
    *,
    names: Sequence[str] | None = None,
    wrt: Iterable[str] | None = None,
    order: int = 1,
    method: str = "gmres",
    tol: float = 1e-12,
    preconditioner: Any = None,
    units: Mapping[str, str | None] | None = None,
) -> Sensitivities:
    """The solution x of A(p) x = b(p) and its derivatives dx/dp, from one factorisation.

    A dx/dp_j = db/dp_j - dA/dp_j x, and once more for second derivatives.

    Args:
        A: A(p), or a constant. It gives a dense array of shape (n, n); a sparse matrix made with
            `dualad.scipy.sparse`; or a function x -> A x written in NumPy (a LinearOperator made
            from one is as good), which is solved by iteration.
        b: b(p), or a constant, of shape (n,) or (n, m).
        params: all parameters, by name.
        names: of the unknowns; default x1, x2, ...
        wrt: the parameters to differentiate by; default all that are not fixed.
        order: 2 gives second derivatives as well.
        method: "gmres", "bicgstab", "cg" or "minres", where there is no factorisation.
        tol: relative to b, the residual that an iteration may leave.
        preconditioner: for the iteration, as SciPy takes it.
        units: of the unknowns, by name.

    Raises:
        ModelError: A is not square, singular (the error names what stays open) or not finite; b
            does not fit; a function fails; an iteration does not converge.

    >>> r = linear_solve(lambda p: np.array([[p.a, 1.0], [0.0, 2.0]]), [1.0, 1.0], {"a": 4.0})
    >>> r.values, r.jacobian[:, 0]
    (array([0.125, 0.5  ]), array([-0.03125, -0.     ]))
    """
    begun = time.perf_counter()
    checked_order(order)
    parameters, chosen = Parameters(params), Parameters(params).chosen(wrt)
    q = chosen.vector()
    options = {"method": method, "preconditioner": preconditioner, "tol": tol}
    own = tuple(members("names", names or (), "names of the unknowns"))
    equations = Equations(A, b, parameters, chosen, own, options)
    right = np.array(equations.right(q), float)
    columns = right.reshape(len(right), -1)
    kind = equations.factored(q, len(columns))
    x = kind.solve(columns)

    def rest(derivative: Callable[..., Any], slopes: np.ndarray | None = None) -> np.ndarray:
        """The derivative of A(p) (x + slopes dp) - b(p)."""

        def left(move: Any) -> Any:
            return kind.product(
                equations.matrix(q + move), x if slopes is None else x + slopes @ move
            )

        of_b = derivative(lambda move: equations.right(q + move).reshape(columns.shape))
        return derivative(left)(np.zeros(len(q))) - of_b(np.zeros(len(q)))

    first = _solved(kind, -rest(jacfwd))
    second = _solved(kind, -rest(lambda f: jacfwd(jacfwd(f)), first)) if order == 2 else None
    return _result(
        right.shape, x, first, second, names, chosen, units,
        {"factorisations": 1, "wall": time.perf_counter() - begun},
        equations,
    )  # fmt: skip


class Equations:
    """A(q) x = b(q), where q are the parameters that move; called, it solves them."""

    def __init__(
        self,
        A: Any,
        b: Any,
        parameters: Parameters,
        chosen: Parameters,
        names: tuple[str, ...],
        options: dict[str, Any],
    ):
        self.A, self.b, self.names, self.options = A, b, names, options
        self.parameters, self.chosen = parameters, chosen

    def seen(self, q: Any) -> ModelParameters:
        """What the user's functions see."""
        moving = {name: q[j] for j, name in enumerate(self.chosen)}
        return ModelParameters({**self.parameters, **moving})

    def matrix(self, q: Any) -> Any:
        """A(q), as its function returned it."""
        return evaluated(self.A, self.seen(q), "A")

    def right(self, q: Any) -> Any:
        """b(q) as an array."""
        name = _name(self.b, "b")
        kinds = "fiuc" if np.iscomplexobj(q) else "fiu"
        out = dense_array(evaluated(self.b, self.seen(q), "b"), name, kinds)
        if len(out.shape) not in (1, 2) or not out.shape[0]:
            raise ModelError(f"{name} must have shape (n,) or (n, m), got {out.shape}")
        return out

    def factored(self, q: np.ndarray, n: int) -> MatrixKind:
        """A(q) for n equations, factored."""
        kind = matrix_kind(
            self.matrix(q), _name(self.A, "A"), self.names, {**self.options, "n": n}
        )
        if kind.n != n:
            raise ModelError(f"A has {kind.n} rows, b has {n}")
        return kind

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        if np.iscomplexobj(vector):
            return self.complex_values(np.asarray(vector))
        q = np.array(vector, float)
        right = np.array(self.right(q), float)
        columns = right.reshape(len(right), -1)
        return self.factored(q, len(columns)).solve(columns).reshape(right.shape)

    def complex_values(self, q: np.ndarray) -> np.ndarray:
        """The solution at complex parameters, by repeated correction with the real matrix.

        Raises:
            SensitivityError: the corrections do not become small.
        """
        right = np.asarray(self.right(q), complex)
        columns = right.reshape(len(right), -1)
        kind, matrix = self.factored(q.real, len(columns)), self.matrix(q)
        x = kind.solve(columns.real).astype(complex)
        for _ in range(60):
            rest = columns - np.asarray(kind.product(matrix, x), complex)
            move = kind.solve(rest.real) + 1j * kind.solve(rest.imag)
            x = x + move
            if np.abs(move.imag).max() <= 1e-11 * np.abs(x.imag).max():
                return x.reshape(right.shape)
        raise SensitivityError("the equations are not solved for complex parameters")


def evaluated(f: Any, p: ModelParameters, what: str) -> Any:
    """f(p), or f itself where it is a constant."""
    if not callable(f) or hasattr(f, "matvec"):
        return f
    try:
        return f(p)
    except Exception as error:
        raise ModelError(failure(_name(f, what), f, error)) from error


def _name(f: Any, default: str) -> str:
    return called(f, default) if callable(f) and not hasattr(f, "matvec") else default


def _solved(kind: MatrixKind, right: np.ndarray) -> np.ndarray:
    return kind.solve(right.reshape(len(right), -1)).reshape(right.shape)


def _result(
    shape: tuple[int, ...],
    x: np.ndarray,
    first: np.ndarray,
    second: np.ndarray | None,
    names: Sequence[str] | None,
    chosen: Parameters,
    units: Mapping[str, str | None] | None,
    stats: dict[str, Any],
    again: Callable[[np.ndarray], np.ndarray],
) -> Sensitivities:
    k = len(chosen)
    outputs = names_of_shape(shape) if names is None else tuple(names)
    if len(outputs) != x.size or len(set(outputs)) != len(outputs):
        raise SensitivityError(f"there are {x.size} unknowns, and {len(outputs)} names")
    return Sensitivities(
        x.reshape(shape),
        first.reshape(*shape, k),
        hessian=None if second is None else second.reshape(*shape, k, k),
        outputs=outputs,
        parameters=chosen,
        units=units_by_name(units, outputs),
        stats=stats,
        warnings=absent(chosen.names, first, stacklevel=4),
        again=again,
    )
