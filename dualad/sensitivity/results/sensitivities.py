"""What every analysis returns: values and their derivatives by named parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SensitivityError
from ..given import is_among, numbers
from .named_derivatives import NamedDerivatives

if TYPE_CHECKING:
    from ..analysis.identifiability import Identifiability
    from ..plots import Plots
    from .checking import Check
    from .tabular import Table

__all__ = ["Sensitivities"]


class Sensitivities(NamedDerivatives):
    """The outputs of a model and their derivatives; the parameter is always the last axis.

    Attributes:
        values: the outputs, shape (*out).
        jacobian: their derivatives, shape (*out, k).
        hessian: their second derivatives, shape (*out, k, k), or None.
        outputs: the names of the outputs, flat: one for each entry of values.
        parameters: the k parameters that were differentiated by, in the order of the last axis.
        layout: for a model that returns a mapping, the flat names of each of its entries.
        output_units: the unit of each output that has one.
        stats: what the computation took.
        warnings: what to know before the numbers are believed.
        settings: how it was computed; "noise" is the relative error that derivatives may have.
        again: recomputes the values, plain, for other values of `parameters`, given as a vector
            (real, complex or longdouble); None where that is not possible.
    """

    def block(self, name: str) -> Sensitivities:
        """One entry of the mapping that the model returned, by its name, as a result of its own.

        Raises:
            ParameterError: there is no such entry.
        """
        names = self.layout[name] if is_among(name, self.layout) else (name,)
        at = [self.output_index(output) for output in names]
        values, jacobian = self.flat()
        hessian = (
            None if self.hessian is None else self.hessian.reshape(-1, *[len(self.parameters)] * 2)
        )
        return Sensitivities(
            values[0, at], jacobian[0, at], outputs=names, parameters=self.parameters,
            hessian=None if hessian is None else hessian[at], units=self.output_units,
            settings=self.settings,
        )  # fmt: skip

    # --- scaling

    def scaled(self, kind: str = "p") -> np.ndarray:
        """The derivatives, scaled: "p", "y", "elasticity", "u" or "none"; see `scaling.scaled`."""
        from ..analysis.scaling import scaled

        return scaled(self, kind)

    def semi(self, kind: str = "p") -> np.ndarray:
        """Semi-relative: p dy/dp (the change of y for a relative change of p) or 1/y dy/dp.

        Args:
            kind: "p" or "y": what is relative.
        """
        if kind not in ("p", "y"):
            raise SensitivityError(f"kind must be 'p' or 'y', got {kind!r}")
        return self.scaled(kind)

    def elasticity(self, zero: str | float = "nan") -> np.ndarray:
        """p/y dy/dp: the relative change of y for a relative change of p, shape (*out, k).

        Args:
            zero: what an output of 0 gives: "nan", with a note in `warnings`; "raise", an error;
                a number, the least magnitude of y that is divided by.

        Raises:
            SensitivityError: an output is 0 and zero is "raise".
        """
        from ..analysis.scaling import elasticity

        return elasticity(self, zero)

    # --- derivatives as maps

    def jvp(self, v: Any) -> np.ndarray:
        """The change of the outputs along a change v of the parameters, shape (*out).

        Args:
            v: of shape (k,), or a mapping of names to numbers (0 for those left out).
        """
        return self.jacobian @ self._direction(v)

    def vjp(self, w: Any) -> np.ndarray:
        """The gradient of the sum of w times the outputs, shape (k,).

        Args:
            w: of the shape of the outputs, or a mapping of names of outputs to numbers.
        """
        cotangent = numbers("w", self._weights(w))
        if cotangent.shape != self.values.shape:
            raise SensitivityError(
                f"w has shape {cotangent.shape}; the outputs have shape {self.values.shape}"
            )
        return np.tensordot(cotangent, self.jacobian, cotangent.ndim)

    def _direction(self, v: Any) -> np.ndarray:
        names = self.parameters.names
        if isinstance(v, Mapping):
            for name in v:
                self.parameter_index(name)
            v = [v.get(name, 0.0) for name in names]
        out = numbers("v", v)
        if out.shape != (len(names),):
            raise SensitivityError(
                f"v has shape {out.shape}; there are {len(names)} parameters: {', '.join(names)}"
            )
        return out

    def _weights(self, w: Any) -> Any:
        if not isinstance(w, Mapping):
            return w
        for name in w:
            self.output_index(name)
        row = [w.get(name, 0.0) for name in self.outputs]
        values = np.asarray(row, float)
        if values.size != self.values.size:
            raise SensitivityError("weights by name are for a result without times")
        return values.reshape(self.values.shape)

    # --- summaries

    def summary(self, norm: str | None = None, *, scaled: str = "elasticity") -> Any:
        """Norms of the scaled sensitivities over time (over the outputs, where there is no time).

        Args:
            norm: "l1", "l2", "mean", "min" or "max" gives an array (outputs, k) of it; None gives
                a table of all.
            scaled: the scaling; see `scaled`.
        """
        from ..analysis.summary import summary

        return summary(self, norm, scaled)

    def ranking(
        self, output: str | None = None, by: str = "l2", scaled: bool | str = True
    ) -> Table:
        """The parameters, the most influential first.

        Args:
            output: for one output alone; default over all.
            by: "l1", "l2" or "max", over time and outputs.
            scaled: by elasticity (True), as they are (False), or a kind of `scaled`.
        """
        from ..analysis.summary import ranking

        return ranking(self, output, by, scaled)

    def identifiability(self, tol: float | None = None, max_size: int = 4) -> Identifiability:
        """Which parameters the outputs determine, and in which combinations the others enter.

        Args:
            tol: relative to the largest, what a singular value must exceed; default the rounding
                of exact derivatives, or the tolerance of an integration.
            max_size: up to how many parameters a null direction is searched with.
        """
        from ..analysis.identifiability import identifiability

        return identifiability(self, tol, max_size)

    def collinearity(
        self, sets: Iterable[Iterable[str]] | None = None, max_size: int = 4
    ) -> Table:
        """The collinearity index of sets of parameters; infinite where they are dependent.

        Args:
            sets: sets of names; default all of 2 up to max_size parameters.
            max_size: the size up to which sets are made.
        """
        from ..analysis.collinearity import collinearity

        return collinearity(self, sets, max_size)

    def fisher(self, sigma: Any = 1.0) -> np.ndarray:
        """The Fisher information S' V^-1 S of observing the outputs, shape (k, k).

        Args:
            sigma: the standard deviation of the observations: one number, one for each output, or
                an array of the shape of the outputs; or their covariance matrix.
        """
        from ..analysis.fisher import fisher

        return fisher(self, sigma)

    # --- tables and files

    def _repr_html_(self) -> str:
        from .html import page

        return page(self)

    def table(self, scaled: bool | str = False, fmt: str = "text") -> str:
        """Values and derivatives as text.

        Args:
            scaled: see `ranking`.
            fmt: "text", "markdown", "latex" or "rich" (with rich installed; else text).
        """
        from .export import result_table

        return result_table(self, scaled).render(fmt)

    def to_dataframe(self, tidy: bool = True) -> Any:
        """A pandas DataFrame.

        Args:
            tidy: one row a time, output and parameter; else one row a time and output, one column
                a parameter.
        """
        from .export import to_dataframe

        return to_dataframe(self, tidy)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The tidy table as CSV, with all digits: written to a file, if a path is given."""
        from .export import to_csv

        return to_csv(self, path)

    def to_json(self, path: str | Path | None = None) -> str:
        """All numbers, names and settings as JSON: written to a file, if a path is given."""
        from .storage import to_json

        return to_json(self, path)

    @classmethod
    def from_json(cls, source: str | Path) -> Any:
        """The result that a path, or the text itself, holds.

        Raises:
            SensitivityError: it is no such file, or from a newer version.
        """
        from .storage import from_json

        return from_json(source)

    def to_xarray(self) -> Any:
        """An xarray Dataset of values, jacobian and, if there is one, hessian."""
        from .export import to_xarray

        return to_xarray(self)

    # --- pictures and checks

    @property
    def plot(self) -> Plots:
        """Pictures: `.plot.bar()`, `.heatmap()`, `.tornado()`, `.pairs()`, `.collinearity()`."""
        from ..plots import Plots

        return Plots(self)

    def check(
        self, method: str = "central", rtol: float | None = None, progress: bool = False
    ) -> Check:
        """Each derivative beside what an independent method finds, with a verdict.

        Args:
            method: "central" differences, extrapolated; "complex" steps; "high precision":
                extrapolated central differences in long double.
            rtol: relative to the derivative, what may differ; default what the method can tell.
            progress: show on a terminal how far a long check has come.

        Raises:
            SensitivityError: the result does not know how to compute its values again.
        """
        from .checking import check

        return check(self, method, rtol, progress)
