"""Kinks that the user declares: the slopes on both sides, and a slope between them at the kink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError

__all__ = ["kink_points"]

#: How far beside a kink both sides are looked at, in units of the kink or of 1.
BESIDE = 1e-2
#: Entries of an array that are moved to a kink, one at a time.
ENTRIES = 6


def kink_points(
    kinks: Any, names: Sequence[str], args: Sequence[Any]
) -> Iterator[tuple[str, list[Any], bool]]:
    """(label, arguments, whether this is the kink itself) for every declared kink.

    Args:
        kinks: name of an argument -> the values at which the function has a kink in it; or a
            list of values, of a function of one argument; or a list of tuples, whole points.
        names, args: the arguments.
    """
    if isinstance(kinks, Mapping):
        if unknown := [n for n in kinks if n not in names]:
            raise ArgumentError(
                f"kinks: there is no argument {unknown[0]!r} among {', '.join(names)}"
            )
        for name, values in kinks.items():
            for value in np.atleast_1d(values).tolist():
                yield from _moved(name, value, names, args)
        return
    for item in np.atleast_1d(kinks).tolist() if not _points(kinks) else kinks:
        if _points(kinks):
            if len(item) != len(args):
                raise ArgumentError(f"a kink is a point with {len(args)} arguments, not {item!r}")
            yield f"at the kink {item}", list(item), True
        elif len(names) == 1:
            yield from _moved(names[0], item, names, args)
        else:
            raise ArgumentError('kinks: say of which argument, such as kinks={"x": [0.0]}')


def _points(kinks: Any) -> bool:
    return isinstance(kinks, (list, tuple)) and any(isinstance(k, tuple) for k in kinks)


def _moved(
    name: str, value: float, names: Sequence[str], args: Sequence[Any]
) -> Iterator[tuple[str, list[Any], bool]]:
    k = list(names).index(name)
    step = BESIDE * (abs(value) or 1.0)
    for where, put in _entries(name, args[k]):
        for label, to in ((" - ", value - step), (" ", value), (" + ", value + step)):
            at_it = to == value
            said = f"at {where} = {value:g}" if at_it else f"at {where} = {value:g}{label}{step:g}"
            yield said, [put(to) if j == k else a for j, a in enumerate(args)], at_it


def _entries(name: str, x: Any) -> Iterator[tuple[str, Callable[[float], Any]]]:
    """Every entry of an argument, with how to give it another value."""
    if isinstance(x, (dict, list, tuple)):
        raise ArgumentError(
            f"the argument {name} is a container: give its kinks as whole points, a list of tuples"
        )
    if np.ndim(x) == 0:
        yield name, lambda v: type(x)(v)
        return
    shape = np.shape(x)
    for flat in range(min(int(np.size(x)), ENTRIES)):
        at = tuple(int(i) for i in np.unravel_index(flat, shape))

        def put(v: float, at: tuple[int, ...] = at) -> Any:
            out = np.array(x)
            out[at] = v
            return out

        yield f"{name}[{', '.join(map(str, at))}]", put
