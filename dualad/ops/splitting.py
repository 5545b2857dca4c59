"""Taking arrays apart along an axis: split and its kin, and unstack."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .registry import function
from .structure import axis_of
from .views import np_moveaxis

__all__: list[str] = []


def _cuts(n: int, sections: Any, equal: bool) -> list[tuple[int, int]]:
    if isinstance(sections, (int, np.integer)):
        if equal and n % sections:
            raise ValueError("array split does not result in an equal division")
        each, extra = divmod(n, int(sections))
        sizes = [each + 1] * extra + [each] * (int(sections) - extra)
        ends = np.cumsum([0, *sizes]).tolist()
    else:
        ends = [0, *(slice(int(k)).indices(n)[1] for k in sections), n]
    return [(a, max(a, b)) for a, b in itertools.pairwise(ends)]


def _split(ary: Any, sections: Any, axis: int, equal: bool) -> list[Any]:
    axis = axis_of(axis, ary.ndim)
    lead = (slice(None),) * axis
    return [ary[(*lead, slice(a, b))] for a, b in _cuts(ary.shape[axis], sections, equal)]


@function(np.split)
def np_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return _split(ary, indices_or_sections, axis, True)


@function(np.array_split)
def np_array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return _split(ary, indices_or_sections, axis, False)


@function(np.hsplit)
def np_hsplit(ary: Any, indices_or_sections: Any) -> Any:
    return _split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0, True)


@function(np.vsplit)
def np_vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return _split(ary, indices_or_sections, 0, True)


@function(np.dsplit)
def np_dsplit(ary: Any, indices_or_sections: Any) -> Any:
    return _split(ary, indices_or_sections, 2, True)


if hasattr(np, "unstack"):  # NumPy 2.1

    @function(np.unstack)
    def np_unstack(x: Any, /, *, axis: int = 0) -> Any:
        return tuple(np_moveaxis(x, axis, 0))
