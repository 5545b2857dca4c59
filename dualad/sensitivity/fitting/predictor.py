"""What a model predicts of observations, with derivatives: of a function, or of an analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import LostDerivativeError
from ...transforms.hessian import hessian
from ...transforms.jacobian import jacfwd
from ..errors import ModelError, ParameterError, SensitivityError, unknown_name
from ..functions.function_model import FunctionModel, is_result
from ..notices import quietly
from ..parameters.parameters import ModelParameters, Parameters
from ..results.sensitivities import Sensitivities
from .observations import Observations

__all__ = ["InnerAnalysis", "Predictor"]


class InnerAnalysis(FunctionModel):
    """model(p, *args), where the model may be an analysis that p is handed on to.

    Such a model returns what `ode`, `root` or `steady_state` give; its derivatives are theirs.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        parameters: Parameters,
        free: Parameters,
        args: Sequence[Any] = (),
    ):
        super().__init__(model, parameters, free, args)
        self.origin = self._plain(free.vector())
        self.handed_on = False

    def call(self, x: Any) -> Any:
        """What the model returns; an analysis inside of it sees plain parameters."""
        moving = {name: x[i] for i, name in enumerate(self.chosen)}
        self.handed_on = False

        def origin() -> Parameters:
            self.handed_on = True
            return self.origin

        try:
            out = self.model(ModelParameters({**self.parameters, **moving}, origin), *self.args)
        except Exception as error:
            raise self.failure(error) from error
        if self.handed_on and not is_result(out):
            raise self.failed(
                "computes with the numbers of an analysis, which do not carry its derivatives: "
                "return the result of the analysis itself, and compute in its outputs="
            )
        return out

    def _plain(self, theta: np.ndarray) -> Parameters:
        """The parameters with these values of the free ones; all others are fixed."""
        values = dict(zip(self.chosen.names, theta.tolist(), strict=True))
        return Parameters(
            (name, replace(p, value=values.get(name, p.value), lower=None, upper=None, u=None,
                           fixed=name not in values))
            for name, p in self.parameters.details()
        )  # fmt: skip

    def result_at(self, theta: np.ndarray) -> Sensitivities:
        """The result of the analysis at these values of the free parameters, derivatives by them.

        The model is run with traced parameters, so that one that reaches a number outside of the
        analysis (a start state, say) is refused there, and its derivative is not lost.
        """
        self.origin = self._plain(theta)
        box: list[Any] = []

        def run(x: Any) -> Any:
            box.append(self.call(x))
            return x

        try:
            jacfwd(run)(theta)
        except ModelError as error:
            if not isinstance(error.__cause__, LostDerivativeError):
                raise
            raise ModelError(
                f"{error}. An analysis in {self.name} takes p as its parameters: give what else "
                f"depends on them as functions of p, such as y0=lambda p: [p.a, 0.0]"
            ) from error.__cause__
        result = box[0]
        if not is_result(result):
            raise self.failed("returned the result of an analysis once, and something else then")
        if self.handed_on:
            self.require_own(result)
        return result

    def require_own(self, result: Sensitivities) -> None:
        """The analysis must differentiate by the parameters that it was handed."""
        if set(result.parameters) != set(self.chosen):
            raise self.failed(
                f"its analysis differentiates by {', '.join(result.parameters)}, not by "
                f"{', '.join(self.chosen)}: hand p on as its parameters, without wrt="
            )


class Predictor(InnerAnalysis):
    """The predictions of observations as a function of the free parameters, flat."""

    def __init__(
        self,
        model: Callable[..., Any],
        parameters: Parameters,
        free: Parameters,
        args: Sequence[Any],
        seen: Observations,
    ):
        super().__init__(model, parameters, free, args)
        self.seen = seen
        self.analysed: Sensitivities | None = None
        self.evaluations = 0
        self._last: tuple[bytes, np.ndarray, np.ndarray] | None = None
        try:
            with quietly():
                returned = self.start(None if seen.names is None else list(seen.names))
            if is_result(returned):
                self.require_own(returned)
                self.analysed = returned
            self._require_same_size(returned)
        except ParameterError as error:
            named = [n for n in seen.names or () if str(error).startswith(_no_output(n))]
            if not named:
                raise
            raise ParameterError(
                f"the data name an output that {self.name} does not have: {error}. Give the data "
                "the names of its outputs, leave out what it does not predict, or give an array"
            ) from None

    def _require_same_size(self, returned: Any) -> None:
        size = self.entries_of(returned)[0].size if is_result(returned) else None
        if size is None:
            assert self.layout is not None
            size = int(np.prod(self.layout.shape, dtype=int))
            shape = self.layout.shape
        else:
            shape = returned.values.shape
        if size != len(self.seen.kept):
            raise ModelError(
                f"{self.name} predicts {size} observations (shape {shape}), and there are "
                f"{len(self.seen.kept)} (shape {self.seen.shape})"
            )

    def entries_of(self, result: Sensitivities) -> tuple[np.ndarray, np.ndarray]:
        """Predictions and derivatives of what was observed, from the result of an analysis."""
        values, jacobian = result.flat()
        if self.seen.names is not None:
            at = [result.output_index(name) for name in self.seen.names]
            values, jacobian = values[:, at], jacobian[:, at]
            values, jacobian = values.T, np.swapaxes(jacobian, 0, 1)
        columns = [result.parameter_index(name) for name in self.chosen]
        return values.reshape(-1), jacobian.reshape(values.size, -1)[:, columns]

    def entry_names(self) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
        """The names of all predictions, and by that of an output those of its predictions."""
        if self.analysed is None:
            assert self.layout is not None
            if self.seen.names is not None:
                return self.layout.names, dict(self.layout.groups)
            return tuple(f"y[{i}]" for i in range(len(self.seen.kept))), {}
        outputs, times = self.seen.names or self.analysed.outputs, self.analysed.row_labels()
        if times is None:
            return outputs, {}
        ticks = [f"{t:g}" for t in times]
        if len(set(ticks)) < len(ticks):
            ticks = [f"{t:.17g}" for t in times]
        groups = {name: tuple(f"{name}({t})" for t in ticks) for name in outputs}
        if self.seen.names is not None:
            return tuple(n for group in groups.values() for n in group), groups
        return tuple(n for at in zip(*groups.values(), strict=True) for n in at), groups

    # --- evaluation ------------------------------------------------------------------------

    def evaluate(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predictions (m,) and derivatives (m, k) of what was kept of the observations."""
        key = theta.tobytes()
        if self._last is None or self._last[0] != key:
            self.evaluations += 1
            values, jacobian = self._evaluated(np.array(theta, float))
            self._last = (key, values[self.seen.kept], jacobian[self.seen.kept])
        return self._last[1], self._last[2]

    def values_at(self, theta: np.ndarray) -> np.ndarray:
        """Predictions of what was kept of the observations."""
        if np.iscomplexobj(theta):
            if self.analysed is not None:
                raise SensitivityError("the analysis in the model differentiates real parameters")
            return np.asarray(self.flat(np.asarray(theta)))[self.seen.kept]
        return self.evaluate(np.array(theta, float))[0]

    def _evaluated(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with quietly():
            if self.analysed is not None:
                self.analysed = self.result_at(theta)
                return self.entries_of(self.analysed)
            jacobian, values = jacfwd(lambda x: (f := self.flat(x), f), has_aux=True)(theta)
            return np.asarray(values, float), np.asarray(jacobian, float)

    def second(self, theta: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
        """The second derivatives of the weighted sum of predictions, (k, k); None, if unknown."""
        if self.analysed is not None:
            return None
        whole = np.zeros(len(self.seen.kept))
        whole[self.seen.kept] = weights
        with np.errstate(all="ignore"):
            out = hessian(lambda x: np.sum(whole * self.flat(x)))(np.array(theta, float))
        return np.asarray(out, float)


def _no_output(name: str) -> str:
    """How the error begins for an output that there is not."""
    return unknown_name("output", name, ()).partition(":")[0]
