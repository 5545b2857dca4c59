"""A model as a function of some of its parameters: plain or traced, as one vector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError
from ..given import members
from ..parameters.parameters import ModelParameters, Parameters
from ..user_errors import own_line, sentence
from .outputs import Layout, entries, layout_of

__all__ = ["FunctionModel", "own_line"]


class FunctionModel:
    """model(p, *args) as a vector of outputs, a function of some of its parameters as a vector.

    Args:
        model: the function; p gives the parameters by name, or is an array for `vector`.
        parameters: all parameters.
        chosen: those that move.
        args: what else the model is given.
        vector: whether the model takes the parameters as one array.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        parameters: Parameters,
        chosen: Parameters,
        args: Sequence[Any] = (),
        vector: bool = False,
    ):
        self.model, self.parameters, self.chosen = model, parameters, chosen
        self.args, self.vector = tuple(members("args", args, "arguments of the model")), vector
        self.name = getattr(model, "__name__", type(model).__name__)
        self.layout: Layout | None = None
        self.at: np.ndarray | None = None

    def call(self, x: Any) -> Any:
        """What the model returns for the values x of the chosen parameters."""
        moving = {name: x[i] for i, name in enumerate(self.chosen)}
        values = {**self.parameters, **moving}
        given: Any = ModelParameters(values)
        if self.vector:
            given = np.stack(list(values.values()))
        try:
            return self.model(given, *self.args)
        except Exception as error:
            raise self.failure(error) from error

    def start(self, outputs: Iterable[str] | str | None) -> Any:
        """One plain call: returns what the model returned, and learns its outputs from it."""
        returned = self.call(self.chosen.vector())
        if is_result(returned):
            return returned
        found = entries(returned, self.name, self.failed)
        self.layout, self.at = layout_of(returned, found).selected(outputs)
        return returned

    def flat(self, x: Any) -> Any:
        """All chosen outputs as one vector, traced where x is."""
        kinds = "fiuc" if x.dtype.kind == "c" else "fiu"
        found = entries(self.call(x), self.name, self.failed, kinds)
        parts = [np.reshape(v, (-1,)) for v in found.values()]
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return whole if self.at is None else whole[self.at]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values of the outputs, plain, in their shape."""
        assert self.layout is not None
        return np.reshape(self.flat(np.asarray(x)), self.layout.shape)

    def failure(self, error: Exception) -> ModelError:
        """An exception of the model's own, with the line of its code."""
        place = own_line(self.model, error)
        return ModelError(f"{self.name}{place}: {sentence(error)}; {self.where()}")

    def failed(self, sentence: str) -> ModelError:
        """The error that a sentence about the model is."""
        return ModelError(f"{self.name}: {sentence}")

    def where(self) -> str:
        """The parameters with their values."""
        return "parameters: " + ", ".join(f"{n} = {v:.6g}" for n, v in self.parameters.items())


def is_result(returned: Any) -> bool:
    """Whether a model returned the result of another analysis."""
    from ..results.sensitivities import Sensitivities

    return isinstance(returned, Sensitivities)
