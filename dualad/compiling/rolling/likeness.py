"""Which steps are of one kind: they differ at most in the values and numbers that they read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.staging.operations import Guard, Operation, Variable

__all__ = ["kinds_of", "places", "rebuilt"]


def kinds_of(steps: list[Any]) -> np.ndarray:
    """A number for each step, the same for steps of one kind."""
    numbers: dict[Any, int] = {}
    out = np.empty(len(steps), np.int64)
    for k, s in enumerate(steps):
        key = _kind(s)
        out[k] = numbers.setdefault(key, len(numbers)) if key is not None else -1 - k
    return out


def _kind(step: Any) -> Any:
    if isinstance(step, Guard):
        answer = step.answer if step.question != "value" else None
        if answer is None:
            return None
        return (Guard, step.question, answer, _form(step.variable))
    if not isinstance(step, Operation):
        return None
    key = (
        step.primitive,
        step.quiet,
        step.is_single,
        tuple(map(_form, step.operands)),
        tuple([(k, _form(v)) for k, v in step.params.items()]),
        tuple(map(_form, step.results)),
        len(step.aliases),
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _form(x: Any) -> Any:
    """What is compared of a value: shape and dtype of a variable, the type of a number."""
    if type(x) is Variable:
        return (Variable, x.shape, x.dtype.str, x.is_array)
    if type(x) in (tuple, list):
        return (type(x), tuple(map(_form, x)))
    if type(x) is slice:
        return (slice, _form(x.start), _form(x.stop), _form(x.step))
    if isinstance(x, np.ndarray):
        return (np.ndarray, x.shape, x.dtype.str)
    if type(x) in (int, float) or isinstance(x, np.generic):
        return type(x)
    return (type(x), x)


def places(step: Any) -> list[Any]:
    """Everything that a step reads and that may differ between steps of one kind, in order."""
    if isinstance(step, Guard):
        return [step.variable]
    found: list[Any] = []
    for x in (*step.operands, *step.params.values(), *step.aliases):
        _places(x, found)
    return found


def _places(x: Any, found: list[Any]) -> None:
    if type(x) in (tuple, list):
        for v in x:
            _places(v, found)
    elif type(x) is slice:
        found += [x.start, x.stop, x.step]
    else:
        found.append(x)


def rebuilt(step: Any, values: list[Any], results: tuple[Variable, ...]) -> Any:
    """A step of the same kind that reads other values and gives other variables."""
    if isinstance(step, Guard):
        return step._replace(variable=values[0])
    rest = iter(values)

    def new(x: Any) -> Any:
        if type(x) in (tuple, list):
            return type(x)([new(v) for v in x])
        if type(x) is slice:
            return slice(next(rest), next(rest), next(rest))
        return next(rest)

    operands = tuple([new(x) for x in step.operands])
    params = {k: new(v) for k, v in step.params.items()}
    aliases = tuple([v for v in [new(x) for x in step.aliases] if type(v) is Variable])
    return step._replace(operands=operands, params=params, aliases=aliases, results=results)
