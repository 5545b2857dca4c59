"""How a formulas file says for which function of SciPy a Python function takes over.

SciPy's own functions convert their arguments to plain arrays, so that a tracked value cannot pass
through them. The function decorated here calls SciPy where all arguments are plain, and the rule
where one is tracked.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..engine.levels.missing import missing_rule
from ..engine.levels.traced import TracedArray, raw
from .operands import array_of

__all__ = ["attribute", "drop_in", "is_tracked", "matrix", "operand", "refusing", "unboxed"]

ROOT = __name__.partition(".")[0]

#: What SciPy lets the caller choose about memory, which has no meaning for tracked values.
MEMORY = ("overwrite_", "lwork", "workers")


# --- what is tracked -----------------------------------------------------------------------------


def _leaves(x: Any) -> Iterator[Any]:
    """Everything in nested lists, tuples, dictionaries and object arrays."""
    if isinstance(x, (list, tuple)):
        for v in x:
            yield from _leaves(v)
    elif isinstance(x, dict):
        yield from _leaves(list(x.values()))
    elif type(x) is np.ndarray and x.dtype.kind == "O":
        yield from x.ravel()
    else:
        yield x


#: Types of what holds no tracked value.
PLAIN = (bool, int, float, complex, str, type(None), np.float64)


def _is_plain(x: Any) -> bool:
    """Whether an argument is seen at once to hold no tracked value."""
    return x.dtype.kind != "O" if type(x) is np.ndarray else type(x) in PLAIN


def is_tracked(x: Any) -> bool:
    """Whether an argument holds a tracked value."""
    return any(isinstance(v, TracedArray) for v in _leaves(x))


def _face_of(x: Any) -> Any:
    faces = (getattr(v, "__dualad_face__", None) for v in _leaves(x))
    return next((f for f in faces if f is not None), None)


def _mapped(f: Callable[[Any], Any], x: Any) -> Any:
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(_mapped(f, v) for v in x))
    if isinstance(x, (list, tuple)):
        return type(x)(_mapped(f, v) for v in x)
    return {k: _mapped(f, v) for k, v in x.items()} if isinstance(x, dict) else f(x)


def unboxed(call: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
    """A call with the values of tensors in place of the tensors; its results are tensors again."""
    face = _face_of((args, kwargs))
    if face is None:
        return call(*args, **kwargs)

    def wrap(v: Any) -> Any:
        return face.wrap(v) if isinstance(v, (TracedArray, np.ndarray, np.generic)) else v

    return _mapped(wrap, call(*_mapped(_unwrapped, args), **_mapped(_unwrapped, kwargs)))


def _unwrapped(v: Any) -> Any:
    face = getattr(v, "__dualad_face__", None)
    return v if face is None else face.unwrap(v)


# --- what a rule computes with -------------------------------------------------------------------


def operand(x: Any) -> Any:
    """An argument as an array of floating dtype."""
    x = array_of(x)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def matrix(x: Any, what: str = "a") -> Any:
    """An argument as one square matrix."""
    x = operand(x)
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise ValueError(f"expected square matrix {what}, got an array of shape {x.shape}")
    return x


# --- the decorator -------------------------------------------------------------------------------


def drop_in(original: Any, **cores: Any) -> Callable[[Any], Any]:
    """The decorated function, the rule, takes over for a SciPy function on tracked arguments.

    It gets SciPy's arguments by SciPy's names, without those about memory and `check_finite`,
    whose check is made here.

    Args:
        original: the SciPy function.
        cores: for each argument that may be a stack, the number of axes that belong to one
            problem, or "1|2". Stacks are worked through one by one.
    """
    signature = inspect.signature(original)
    check = signature.parameters.get("check_finite")

    def register(rule: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not is_tracked((args, kwargs)):
                return original(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            given = bound.arguments
            checked = given.pop("check_finite", check.default if check is not None else False)
            for name in [n for n in given if n.startswith(MEMORY)]:
                del given[name]
            if checked:
                _require_finite(given)
            if cores and (stack := _stack_shape(given, cores)):
                return _over_stack(rule, bound, cores, stack)
            return rule(*bound.args, **bound.kwargs)

        @functools.wraps(rule)
        def entry(*args: Any, **kwargs: Any) -> Any:
            if all(map(_is_plain, args)) and all(map(_is_plain, kwargs.values())):
                return original(*args, **kwargs)
            for v in (*args, *kwargs.values()):
                if hasattr(v, "__dualad_function__"):  # no number: it knows what the function is
                    return v.__dualad_function__(original, args, kwargs)
            return unboxed(call, args, kwargs)

        entry.__signature__ = signature  # type: ignore[attr-defined]
        return entry

    return register


def _require_finite(given: dict) -> None:
    for v in _leaves(given):
        value = raw(v)
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc":
            if not np.isfinite(value).all():
                raise ValueError("array must not contain infs or NaNs")


def _core(x: Any, axes: Any) -> int:
    return (2 if x.ndim >= 2 else 1) if axes == "1|2" else axes


def _stack_shape(given: dict, cores: dict) -> tuple[int, ...]:
    """The shape of the stack that the arguments make together; () for a single problem."""
    shapes = []
    for name, axes in cores.items():
        if given.get(name) is not None:
            x = given[name] = array_of(given[name])
            shapes.append(x.shape[: max(x.ndim - _core(x, axes), 0)])
    return np.broadcast_shapes(*shapes)


def _over_stack(rule: Any, bound: Any, cores: dict, stack: tuple[int, ...]) -> Any:
    """The rule on each problem of a stack, its results stacked."""
    given = bound.arguments
    if 0 in stack:
        raise ValueError(f"{rule.__name__} does not support zero-size batches.")
    whole = {n: given[n] for n in cores if given.get(n) is not None}
    for name, x in whole.items():
        core = x.shape[x.ndim - _core(x, cores[name]) :]
        whole[name] = np.broadcast_to(x, (*stack, *core))
    rows = []
    for at in itertools.product(*map(range, stack)):
        given.update({name: x[at] for name, x in whole.items()})
        rows.append(rule(*bound.args, **bound.kwargs))
    if isinstance(rows[0], tuple):
        return tuple(_restacked(column, stack) for column in zip(*rows, strict=True))
    return _restacked(rows, stack)


def _restacked(rows: Any, stack: tuple[int, ...]) -> Any:
    if rows[0] is None:
        return None
    if len({np.shape(r) for r in rows}) != 1:
        raise ValueError("the problems of this stack have results of different shapes")
    out = np.stack(rows)
    return np.reshape(out, (*stack, *out.shape[1:]))


# --- functions without a rule --------------------------------------------------------------------


def attribute(original: Any, name: str, covered: Sequence[str]) -> Any:
    """What a drop-in namespace gives for a name of the SciPy module that it has no rule for.

    A function is SciPy's on plain arguments, and an error on tracked ones; all else is SciPy's.
    """
    try:
        value = getattr(original, name)
    except AttributeError:
        drop_in_name = original.__name__.replace("scipy", f"{ROOT}.scipy", 1)
        raise AttributeError(f"module {drop_in_name!r} has no attribute {name!r}") from None
    if not inspect.isfunction(value):
        return value
    return refusing(value, f"{original.__name__}.{name}", tuple(covered))


@functools.cache
def refusing(original: Any, name: str, covered: tuple[str, ...]) -> Any:
    """A function of SciPy that has no rule: tracked arguments are an error that says so."""

    @functools.wraps(original)
    def entry(*args: Any, **kwargs: Any) -> Any:
        if is_tracked(_mapped(_unwrapped, (args, kwargs))):
            raise missing_rule(name, [f"{name.rpartition('.')[0]}.{c}" for c in covered])
        return original(*args, **kwargs)

    return entry
