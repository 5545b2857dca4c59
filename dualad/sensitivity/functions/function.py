"""Sensitivities of a model that is a function of its parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...transforms.hessian import hessian
from ...transforms.jacobian import jacfwd, value_and_jacobian
from ..errors import ModelError, ParameterError, SensitivityError
from ..fitting.predictor import InnerAnalysis
from ..given import members
from ..named import mapping_of
from ..notices import absent
from ..parameters.parameters import Parameters
from ..parameters.unit_text import units_by_name
from ..results.sensitivities import Sensitivities
from .compressed import compressed_jacobian
from .function_model import FunctionModel, is_result

__all__ = ["function"]


def function(
    model: Callable[..., Any],
    params: Any,
    *,
    wrt: Iterable[str] | None = None,
    outputs: Iterable[str] | str | None = None,
    order: int = 1,
    mode: str = "auto",
    sparsity: Any = None,
    args: Sequence[Any] = (),
    units: Mapping[str, str] | str | None = None,
    names: Sequence[str] | None = None,
) -> Sensitivities:
    """The outputs of a model and their derivatives by its parameters, exact to rounding.

    Args:
        model: model(p, *args), written in NumPy; p.k1 or p["k1"] is a parameter. It returns a
            number, an array, a mapping of names to numbers or arrays, a Series or a DataFrame.
        params: all parameters: `Parameters`, a mapping, or with `names` an array that the model
            takes as an array.
        wrt: the parameters to differentiate by; default all that are not fixed.
        outputs: which outputs, by name; for an array, as many names as it has entries name them.
        order: 2 for second derivatives too, as `.hessian`.
        mode: "forward" or "reverse"; "auto" takes the cheaper one.
        sparsity: which entries of the Jacobian (outputs, parameters) can be other than zero, as a
            boolean matrix: parameters that share no output are then differentiated by together.
        args: what else the model is given.
        units: the units of the outputs, by name, or one for all.
        names: the names of the parameters of a model that takes an array.

    Raises:
        ModelError: the model fails, returns no real numbers, is not finite, or not a function.
        ParameterError: a parameter has no usable value, a name is unknown or comes twice.

    >>> import numpy as np
    >>> r = function(lambda p: {"area": p.a * p.b, "ratio": p.a / p.b}, {"a": 6.0, "b": 2.0})
    >>> r.values, r.jacobian
    (array([12.,  3.]), array([[ 2. ,  6. ],
           [ 0.5, -1.5]]))
    >>> r.elasticity()
    array([[ 1.,  1.],
           [ 1., -1.]])
    """
    if order not in (1, 2):
        raise SensitivityError(f"order must be 1 or 2, got {order!r}")
    parameters, vector = given_parameters(params, names)
    chosen = parameters.chosen(wrt)
    run = FunctionModel(model, parameters, chosen, args, vector)
    begun = time.perf_counter()
    with np.errstate(all="ignore"):
        returned = run.start(outputs)
        if is_result(returned):
            inner = InnerAnalysis(model, parameters, chosen, args)
            return of_analysis(inner, outputs, order, units)
        assert run.layout is not None
        values, jacobian, used = differentiated(run, mode, sparsity)
        second = None if order == 1 else second_derivatives(run)
    _require_finite(run, values, jacobian)
    _require_same(run, values)
    shape, k = run.layout.shape, len(chosen)
    return Sensitivities(
        values.reshape(shape),
        jacobian.reshape(*shape, k),
        hessian=None if second is None else second.reshape(*shape, k, k),
        outputs=run.layout.names,
        parameters=chosen,
        layout=run.layout.groups,
        units=units_by_name(units, run.layout.names, run.layout.groups),
        stats={"wall": time.perf_counter() - begun},
        settings={"analysis": "function", "mode": used, "order": order},
        warnings=[] if run.at is not None else absent(chosen.names, jacobian),
        again=run,
    )


def of_analysis(
    inner: InnerAnalysis,
    outputs: Iterable[str] | str | None,
    order: int,
    units: Mapping[str, str] | str | None,
) -> Sensitivities:
    """The result of a model that runs an analysis itself, by the parameters as they were given.

    Raises:
        SensitivityError: the analysis has no second derivatives, and order is 2; outputs are
            chosen, which is for the analysis to do.
    """
    if outputs is not None:
        raise SensitivityError(
            f"{inner.name} returns the result of an analysis, which has its outputs: choose them "
            f"there"
        )
    chosen = inner.chosen
    result = inner.result_at(chosen.vector())
    if order == 2 and result.hessian is None:
        raise SensitivityError(
            f"order=2 needs second derivatives, and the analysis in {inner.name} gives none: let "
            f"it be one of order=2 there"
        )
    parts = [result, getattr(result, "integrals", None), *getattr(result, "events", {}).values()]
    for part in parts:
        if part is not None and dict(part.parameters).items() <= dict(chosen).items():
            # Inside, the parameters were plain numbers; outside they have uncertainties.
            part.parameters = chosen.subset(part.parameters.names)
    if units is not None:
        result.output_units = units_by_name(units, result.outputs, result.layout)
    return result


def given_parameters(params: Any, names: Sequence[str] | None) -> tuple[Parameters, bool]:
    """The parameters, and whether the model takes them as one array."""
    if isinstance(params, Parameters):
        return params, names is not None
    if names is None:
        if mapping_of(params) is None and not hasattr(params, "__dict__"):
            raise ParameterError(
                "params must be a mapping of names to values; for a model that takes an array, "
                "give the names of its entries as names=[...]"
            )
        return Parameters(params), False
    names = members("names", names, "names of the entries of params")
    values = np.asarray(params)
    if values.dtype.kind != "f" or values.shape != (len(names),):
        raise ParameterError(
            f"params must be an array of {len(names)} floats, one for each of "
            f"{', '.join(map(str, names))}; got shape {values.shape} of {values.dtype}"
        )
    return Parameters(zip(names, values.tolist(), strict=True)), True


def differentiated(
    run: FunctionModel, mode: str, sparsity: Any
) -> tuple[np.ndarray, np.ndarray, str]:
    """The values (m,), the Jacobian (m, k) and the mode that found it."""
    x = run.chosen.vector()
    if sparsity is not None:
        return (*compressed_jacobian(run.flat, x, sparsity, run.chosen.names), "sparse")
    if mode not in ("auto", "forward", "reverse"):
        raise SensitivityError(f"mode must be 'auto', 'forward' or 'reverse', got {mode!r}")
    derive = value_and_jacobian(run.flat, mode=mode)
    values, jacobian = derive(x)
    m = len(run.layout.names) if run.layout else 0
    full = np.reshape(np.asarray(jacobian, float), (m, len(x)))
    return np.asarray(values, float), full, str(derive.last_mode)


def second_derivatives(run: FunctionModel) -> np.ndarray:
    """The Hessians of all outputs, flat, (m, k, k); forward twice where outputs are many."""
    k = len(run.chosen)
    m = 0 if run.layout is None else len(run.layout.names)
    twice = jacfwd(jacfwd(run.flat)) if m > k else hessian(run.flat)
    return np.reshape(np.asarray(twice(run.chosen.vector()), float), (-1, k, k))


def _require_finite(run: FunctionModel, values: np.ndarray, jacobian: np.ndarray) -> None:
    assert run.layout is not None
    names = run.layout.names
    bad = [n for n, v in zip(names, values, strict=True) if not np.isfinite(v)]
    if bad:
        raise ModelError(f"{run.name} is not finite for {', '.join(bad)}; {run.where()}")
    for i, j in zip(*np.nonzero(~np.isfinite(jacobian)), strict=True):
        raise ModelError(
            f"the derivative of {names[i]} by {run.chosen.names[j]} is {jacobian[i, j]}: "
            f"{run.name} has none there; {run.where()}"
        )


def _require_same(run: FunctionModel, values: np.ndarray) -> None:
    """A plain call gives what the traced one gave; else the model is no function."""
    with np.errstate(all="ignore"):
        plain = np.asarray(run(run.chosen.vector()), float).reshape(-1)
    size = np.abs(plain).max(initial=0.0)
    if not np.allclose(plain, values, rtol=1e-7, atol=1e-10 * size, equal_nan=True):
        at = int(np.abs(plain - values).argmax())
        assert run.layout is not None
        raise ModelError(
            f"{run.name} gave two results for the same parameters ({run.layout.names[at]}: "
            f"{plain[at]:.10g} and {values[at]:.10g}): it must not keep a state of its own or "
            f"draw random numbers; give it a generator with a seed, or a table, as an argument"
        )
