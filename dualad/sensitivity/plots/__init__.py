"""Pictures of a result: `result.plot.bar(path="bars.png")` and its kin; each gives its figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import SensitivityError
from .band import band, budget
from .bar import bar
from .collinearity import collinearity
from .fitted import fitted
from .heatmap import heatmap
from .histograms import histograms
from .members import members
from .pairs import pairs
from .time import smooth, time
from .tornado import tornado

if TYPE_CHECKING:
    from ..ensembles.result import Ensemble
    from ..fitting.fit_result import FitResult
    from ..results.propagated import Propagated
    from ..results.sensitivities import Sensitivities

__all__ = ["EnsemblePlots", "FitPlots", "Plots", "PropagatedPlots"]


class Plots:
    """What `Sensitivities.plot` gives: the functions of this package, for one result."""

    def __init__(self, result: Sensitivities):
        if not result.outputs:
            raise SensitivityError(f"there is nothing to draw: {result!r} has no outputs")
        self._result = result

    def bar(self, output: str | None = None, path: Any = None, **options: Any) -> Any:
        """Bars, the most influential parameter on top; see `plots.bar.bar`."""
        return bar(self._result, output, path, **options)

    def heatmap(self, path: Any = None, **options: Any) -> Any:
        """Outputs by parameters; see `plots.heatmap.heatmap`."""
        return heatmap(self._result, path, **options)

    def tornado(self, output: str | None = None, path: Any = None, **options: Any) -> Any:
        """What the uncertainty of each parameter does; see `plots.tornado.tornado`."""
        return tornado(self._result, output, path, **options)

    def pairs(self, path: Any = None, **options: Any) -> Any:
        """Sensitivities by each two parameters; see `plots.pairs.pairs`."""
        return pairs(self._result, path, **options)

    def collinearity(self, path: Any = None, **options: Any) -> Any:
        """Collinearity indices of sets; see `plots.collinearity.collinearity`."""
        return collinearity(self._result, path, **options)

    def time(
        self, outputs: Any = None, parameters: Any = None, path: Any = None, **options: Any
    ) -> Any:
        """Sensitivities over time; see `plots.time.time`."""
        self._require_times("time")
        return time(self._result, outputs, parameters, path, **options)  # type: ignore[arg-type]

    def band(
        self, covariance: Any = None, outputs: Any = None, path: Any = None, **options: Any
    ) -> Any:
        """Outputs with the band that the parameters' covariance gives; see `plots.band.band`."""
        from ..functions.propagate import propagate

        self._require_times("band")
        result = smooth(self._result)  # type: ignore[arg-type]
        return band(propagate(result, covariance=covariance), outputs, path, **options)

    def _require_times(self, what: str) -> None:
        if self._result.row_labels() is None:
            raise SensitivityError(f".plot.{what} is drawn over time; this result has no times")


class PropagatedPlots:
    """What `Propagated.plot` gives."""

    def __init__(self, propagated: Propagated):
        self._propagated = propagated

    def band(self, outputs: Any = None, path: Any = None, **options: Any) -> Any:
        """Outputs over time with their intervals; see `plots.band.band`."""
        return band(self._propagated, outputs, path, **options)

    def budget(self, path: Any = None, **options: Any) -> Any:
        """Shares of the variance; see `plots.band.budget`."""
        return budget(self._propagated, path, **options)


class FitPlots:
    """What `FitResult.plot` gives."""

    def __init__(self, fit: FitResult):
        self._fit = fit

    def band(self, outputs: Any = None, path: Any = None, **options: Any) -> Any:
        """Data, estimate and the band that the fit leaves; see `plots.fitted.fitted`."""
        return fitted(self._fit, outputs, path, **options)


class EnsemblePlots:
    """What `Ensemble.plot` gives."""

    def __init__(self, ensemble: Ensemble):
        self._ensemble = ensemble

    def band(self, outputs: Any = None, path: Any = None, **options: Any) -> Any:
        """The members over time, their median and range; see `plots.members.members`."""
        return members(self._ensemble, outputs, path, **options)

    def histograms(self, outputs: Any = None, path: Any = None, **options: Any) -> Any:
        """The values of each output; see `plots.histograms.histograms`."""
        return histograms(self._ensemble, outputs, path, **options)
