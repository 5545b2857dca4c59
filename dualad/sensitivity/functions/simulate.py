"""Discrete-time models: x_{k+1} = step(k, x_k, p), simulated with exact derivatives."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...engine.levels.values import as_value
from ...errors import DualADError
from ...transforms.jacobian import jacfwd
from ..errors import ModelError, ParameterError, SensitivityError, unknown_name
from ..given import called_with, generator, mapped, members
from ..named import in_order, mapping_of
from ..notices import absent
from ..parameters.parameters import ModelParameters, Parameters
from ..parameters.unit_text import units_by_name
from ..progress import Line
from ..results.time_sensitivities import TimeSensitivities
from ..user_errors import own_line, sentence
from .function import given_parameters

__all__ = ["simulate"]


def simulate(
    step: Callable[..., Any],
    x0: Any,
    params: Any,
    n: int,
    *,
    inputs: Any = None,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    every: int = 1,
    carry: Any = None,
    wrt: Iterable[str] | None = None,
    states: Sequence[str] | None = None,
    seed: int | None = None,
    units: Mapping[str, str] | str | None = None,
    progress: bool = False,
) -> TimeSensitivities:
    """n steps of a discrete-time model, and the derivatives of its states by the parameters.

    Random numbers are differentiated through as constants: they come from `inputs`, so that runs
    with other parameters see the same ones (common random numbers).

    Args:
        step: step(k, x, p), or step(k, x, p, u_k) with inputs, gives the next state; with carry
            it takes that last, too, and gives (state, carry).
        x0: the first state: floats, a mapping of names, or x0(p).
        params: all parameters, by name.
        n: how many steps.
        inputs: a table whose row k is u_k, or a function inputs(k, rng) that draws it, once.
        outputs: by name, g(k, x, p), differentiated along the way; default the states.
        every: how many steps lie between two that are kept; the first state is always kept.
        carry: what a step hands to the next beside the state, such as a buffer.
        wrt: the parameters to differentiate by; default all that are not fixed.
        states: names of the states; default those of x0, or x1, x2, ...
        seed: for the generator that `inputs` draws with.
        units: the units of the outputs, by name or one for all.
        progress: show on a terminal how far a long run has come.

    Returns:
        A result whose times are the numbers of the steps.

    Raises:
        ModelError: a step fails, has another shape, is not finite, or its state is of integers.

    >>> r = simulate(lambda k, x, p: p.a * x, [2.0], {"a": 0.5}, 3)
    >>> r.y[:, 0], r.S[:, 0, 0]
    (array([2.  , 1.  , 0.5 , 0.25]), array([0. , 2. , 2. , 1.5]))
    """
    for name, value in (("n", n), ("every", every)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise SensitivityError(f"{name} must be a positive integer, got {value!r}")
    parameters, _ = given_parameters(params, None)
    chosen = parameters.chosen(wrt)
    run = Simulation(step, x0, parameters, chosen, int(n), int(every), carry, outputs, states)
    run.inputs = _inputs(inputs, run.n, seed)
    begun = time.perf_counter()
    with np.errstate(all="ignore"), Line(progress) as run.line:
        values = run(chosen.vector())
        slopes = np.asarray(jacfwd(run)(chosen.vector()), float)
        again = run(chosen.vector())
    if not np.array_equal(values, again, equal_nan=True):
        raise ModelError(
            f"{run.name} gave two results for the same parameters: random numbers must come from "
            f"inputs, and what a step remembers from carry"
        )
    if not np.isfinite(slopes).all():
        k, i, j = (int(a[0]) for a in np.nonzero(~np.isfinite(slopes)))
        raise ModelError(
            f"the derivative of {run.names[i]} by {chosen.names[j]} is not finite at step "
            f"{k * run.every}"
        )
    return TimeSensitivities(
        np.arange(0, run.n + 1, run.every, dtype=float), values, slopes, run.names, chosen,
        {"steps": run.n, "wall": time.perf_counter() - begun}, {"analysis": "simulate"},
        units=units_by_name(units, run.names), again=run, time_unit="step",
        warnings=[] if outputs else absent(chosen.names, slopes),
    )  # fmt: skip


def _inputs(inputs: Any, n: int, seed: int | None) -> Any:
    """The table of inputs, drawn once where it is drawn at all."""
    if inputs is None:
        return None
    if callable(inputs):
        drawn = generator("seed", seed)
        expects = "inputs(k, generator)"
        return [called_with("inputs", inputs, k, drawn, expects=expects) for k in range(n)]
    if not hasattr(inputs, "__len__"):
        raise SensitivityError(f"inputs must be a table or a function of (k, rng), got {inputs!r}")
    if len(inputs) < n:
        raise SensitivityError(f"there are {len(inputs)} rows of inputs for {n} steps")
    return inputs


class Simulation:
    """The outputs at the steps that are kept, as a function of the chosen parameters."""

    def __init__(
        self,
        step: Callable[..., Any],
        x0: Any,
        parameters: Parameters,
        chosen: Parameters,
        n: int,
        every: int,
        carry: Any,
        outputs: Mapping[str, Callable[..., Any]] | None,
        states: Sequence[str] | None,
    ):
        self.step, self.x0, self.parameters, self.chosen = step, x0, parameters, chosen
        self.n, self.every, self.carry, self.inputs = n, every, carry, None
        self.kind, self.line = "f", Line(False)
        self.name = getattr(step, "__name__", type(step).__name__)
        first = x0
        if callable(x0):
            first = called_with("x0", x0, ModelParameters(parameters), expects="x0(p)")
        self.states: tuple[str, ...] = ()
        size = len(self._state(first, "x0", None))
        names = tuple(mapping_of(first) or ()) or None
        own = None if states is None else members("states", states, "names")
        self.states = tuple(own or names or (f"x{i + 1}" for i in range(size)))
        if len(self.states) != size or len(set(self.states)) != size:
            raise ModelError(f"there are {size} states, so as many names: {self.states!r}")
        self.outputs = mapped("outputs", outputs, "names to functions of (k, x, p)")
        for name, g in self.outputs.items():
            if not callable(g):
                raise SensitivityError(f"outputs[{name!r}] must be a function, got {g!r}")
        self.names = tuple(self.outputs) if outputs else self.states
        if "" in self.names:
            raise ParameterError(unknown_name("output", "", self.names))

    def __call__(self, vector: Any) -> Any:
        """The outputs, shape (kept, outputs), traced where the vector is."""
        self.kind = "c" if vector.dtype.kind == "c" else "f"
        moving = {name: vector[i] for i, name in enumerate(self.chosen)}
        p = ModelParameters({**self.parameters, **moving})
        x = self._state(self.x0(p) if callable(self.x0) else self.x0, "x0", None)
        carry, kept = self.carry, [self._seen(0, x, p)]
        for k in range(self.n):
            x, carry = self._next(k, x, p, carry)
            if self.line.shown:
                what = "" if isinstance(vector, np.ndarray) else ", derivatives"
                done = f"step {k + 1} of {self.n}{what}"
                self.line.say(done.__str__)
            if (k + 1) % self.every == 0:
                kept.append(self._seen(k + 1, x, p))
        return np.stack(kept)

    def _next(self, k: int, x: Any, p: ModelParameters, carry: Any) -> tuple[Any, Any]:
        extra = [] if self.inputs is None else [self.inputs[k]]
        extra += [] if self.carry is None else [carry]
        try:
            out = self.step(k, x, p, *extra)
        except Exception as error:
            place = own_line(self.step, error)
            raise ModelError(
                f"{self.name} at step {k}{place}: {sentence(error)}{self._arity()}"
            ) from error
        if self.carry is not None:
            if not isinstance(out, tuple) or len(out) != 2:
                raise ModelError(
                    f"{self.name} must return (state, carry), got {type(out).__name__}"
                )
            out, carry = out
        return self._state(out, f"what {self.name} returned at step {k}", x), carry

    def _arity(self) -> str:
        """A hint where the number of arguments is the matter."""
        wanted = 3 + (self.inputs is not None) + (self.carry is not None)
        try:
            inspect.signature(self.step).bind(*range(wanted))
        except (TypeError, ValueError):
            return f"; it is given {wanted} arguments: k, x, p, then inputs and carry, if any"
        return ""

    def _state(self, given: Any, what: str, before: Any) -> Any:
        """A state as one vector of floats."""
        named = mapping_of(given) if before is None else None
        parts = in_order(given, self.states, what) if named is None else list(named.values())
        try:
            out = as_value(parts, what)
        except (DualADError, ValueError, TypeError) as error:
            raise ModelError(f"{what} is no list of numbers: {error}") from error
        if out.dtype.kind in "iu":
            raise ModelError(f"{what} is of integers, and has no derivative: write 1.0 for 1")
        if out.dtype.kind not in ("f", self.kind) or len(out.shape) != 1 or not out.shape[0]:
            raise ModelError(f"{what} must be a list of floats, got {out.dtype} of {out.shape}")
        if before is not None and out.shape != before.shape:
            raise ModelError(f"{what} has shape {out.shape}, the state before {before.shape}")
        if isinstance(out, np.ndarray) and not np.isfinite(out).all():
            given = ", ".join(f"{n} = {v:.6g}" for n, v in self.parameters.items())
            raise ModelError(f"{what} is not finite: {out}; parameters: {given}")
        return out

    def _seen(self, k: int, x: Any, p: ModelParameters) -> Any:
        """The outputs at one step."""
        if not self.outputs:
            return x
        found = []
        for name, g in self.outputs.items():
            value = as_value(g(k, x, p), f"output {name!r}")
            if value.shape != ():
                raise ModelError(f"output {name!r} must be a number, got shape {value.shape}")
            found.append(value)
        return np.stack(found)
