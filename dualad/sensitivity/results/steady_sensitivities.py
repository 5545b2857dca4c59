"""What `steady_state` returns: a state, its sensitivities, its stability and what controls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...transforms.jacobian import jacfwd
from ..errors import ModelError, SensitivityError
from ..implicit.equations import UserFunction
from ..implicit.factor import Factor
from ..implicit.stoichiometry import stoichiometry
from ..named import mapping_of
from .named_matrix import NamedMatrix
from .sensitivities import Sensitivities

__all__ = ["ControlCoefficients", "SteadyPoint", "SteadySensitivities"]


@dataclass(frozen=True)
class SteadyPoint:
    """A steady state as a point of its equations.

    Attributes:
        user: the right-hand side f(x, p).
        x, q: the state, and the parameters that move.
        by_x: df/dx, of shape (n, n).
        totals: the gradients of the m conserved totals, of shape (m, n).
    """

    user: UserFunction
    x: np.ndarray
    q: np.ndarray
    by_x: np.ndarray
    totals: np.ndarray

    def eigenvalues(self) -> np.ndarray:
        """Those of df/dx for changes that keep the totals, by falling real part."""
        basis = np.eye(len(self.x))
        if len(self.totals):
            basis = np.linalg.svd(self.totals)[2][len(self.totals) :].T
        out = np.linalg.eigvals(basis.T @ self.by_x @ basis)
        return out[np.argsort(-out.real)]

    def unstable(self) -> complex | None:
        """An eigenvalue with a positive real part, if there is one."""
        values = self.eigenvalues()
        if not values.size or values[0].real <= 1e-9 * np.abs(values).max():
            return None
        return complex(values[0])

    def neutral(self) -> complex | None:
        """An eigenvalue whose real part is zero, if there is one and none is positive."""
        values = self.eigenvalues()
        if not values.size or abs(values[0].real) > 1e-9 * np.abs(values).max():
            return None
        return complex(values[0])


@dataclass(frozen=True)
class ControlCoefficients:
    """How rates control states and fluxes: dx/dv and dJ/dv, scaled by v/x and v/J or not.

    Attributes:
        concentration: one row a state, one column a rate.
        flux: one row a flux, one column a rate.
        scaled: whether they are relative changes.
    """

    concentration: NamedMatrix
    flux: NamedMatrix
    scaled: bool

    def __str__(self) -> str:
        return f"{self.concentration}\n\n{self.flux}"


class SteadySensitivities(Sensitivities):
    """A steady state and its derivatives by the parameters.

    Attributes:
        point: the steady state as a point of its equations.
        totals: the conserved totals, in words.

    All else is as in `Sensitivities`. `jacobian` there is dx/dp; the derivative of the right-hand
    side by the states is `state_jacobian()`.
    """

    _functions = ("again", "point")

    def __init__(
        self,
        *args: Any,
        point: SteadyPoint | None = None,
        totals: Sequence[str] = (),
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        self.point, self.totals = point, tuple(totals)

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "point": self.point, "totals": self.totals}

    def _point(self) -> SteadyPoint:
        if self.point is None:
            raise SensitivityError(
                "this result was loaded from a file, which does not keep the model: call "
                "steady_state again"
            )
        return self.point

    def state_jacobian(self) -> NamedMatrix:
        """df/dx at the steady state, one row an equation, one column a state."""
        point = self._point()
        names = point.user.unknowns.names
        return NamedMatrix(point.by_x, names, names)

    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of df/dx for changes that keep the conserved totals."""
        return self._point().eigenvalues()

    def elasticities(self, rates: Callable[..., Any], scaled: bool = True) -> NamedMatrix:
        """dv/dx at the steady state, times x/v if scaled: one row a rate, one column a state.

        Args:
            rates: rates(x, p) gives the rates, as a mapping of names or an array.
            scaled: relative changes; NaN where a rate is 0.
        """
        point = self._point()
        function, names, v = _rates(point, rates)
        by_x = jacfwd(lambda x: function(x, point.q))(point.x)
        return NamedMatrix(
            _times(by_x, point.x, v) if scaled else by_x, names, point.user.unknowns.names
        )

    def control_coefficients(
        self, rates: Callable[..., Any], scaled: bool = True, stoichiometry: Any = None
    ) -> ControlCoefficients:
        """How a change of each rate, all else as it is, moves the steady state and its fluxes.

        dx/dv = -(df/dx)^-1 N, where conserved totals stay; dJ/dv = 1 + dv/dx dx/dv. Heinrich and
        Rapoport, A linear steady-state treatment of enzymatic chains (1974); Reder, Metabolic
        control theory: a structural approach (1988).

        Args:
            rates: rates(x, p) gives the rates, as a mapping of names or an array.
            scaled: relative changes; NaN where a state or a flux is 0.
            stoichiometry: N of shape (n, r) with rhs = N rates; found, if it is not given.

        Raises:
            ModelError: rhs is not made from these rates, or they do not determine N.
        """
        point = self._point()
        function, names, v = _rates(point, rates)
        n = self._stoichiometry(stoichiometry, function, names)
        rows = np.concatenate([point.by_x, point.totals])
        right = np.concatenate([n, np.zeros((len(point.totals), len(names)))])
        by_v = -Factor(rows).solve(right)
        by_x = jacfwd(lambda x: function(x, point.q))(point.x)
        flux = np.eye(len(names)) + by_x @ by_v
        if scaled:
            by_v, flux = _times(by_v, v, point.x), _times(flux, v, v)
        return ControlCoefficients(
            NamedMatrix(by_v, point.user.unknowns.names, names),
            NamedMatrix(flux, names, names),
            scaled,
        )

    def _stoichiometry(
        self, given: Any, function: UserFunction, names: tuple[str, ...]
    ) -> np.ndarray:
        point = self._point()
        if given is None:
            return stoichiometry(point.user, function, names, point.x, point.q)
        out = np.asarray(given, float)
        if out.shape != (len(point.x), len(names)):
            raise ModelError(
                f"the stoichiometry has shape {out.shape}; there are {len(point.x)} states and "
                f"{len(names)} rates"
            )
        return out


def _rates(
    point: SteadyPoint, rates: Callable[..., Any]
) -> tuple[UserFunction, tuple[str, ...], np.ndarray]:
    """The function of the rates, their names and their values."""
    user = point.user
    function = UserFunction(
        rates, user.parameters, user.wrt, user.unknowns, user.args, "the function of the rates"
    )
    returned = function.raw(point.x, point.q)
    v = np.array(function.array(returned), float)
    if v.ndim != 1:
        raise ModelError(f"{function.name} returned shape {v.shape}, not one number a rate")
    named = mapping_of(returned) or [f"v{i + 1}" for i in range(len(v))]
    names = tuple(map(str, named))
    return function, names, v


def _times(matrix: np.ndarray, columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """A derivative as a relative change: times the column's value, by the row's; NaN by 0."""
    by = np.where(rows == 0, np.nan, rows)
    return matrix * columns / by[:, np.newaxis]
