"""Sets of numbers: which entries are chosen carries no derivative, the entries themselves do.

Of equal entries the first carries the derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.primitives.primitive import Opaque
from .operands import array_of
from .places import of_many_sizes
from .registry import function, kinks

__all__: list[str] = []


# --- distinct entries ----------------------------------------------------------------------------


def _first_places(x: Any, axis: Any = None, equal_nan: bool = True) -> tuple[Any, Any, Any]:
    return np.unique(x, True, True, True, axis, equal_nan=equal_nan)[1:]


distinct = Opaque(_first_places, name="first_places", batch=of_many_sizes("np.unique"))


@function(np.unique)
def np_unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The sorted distinct entries, or slices along an axis."""
    places, inverse, counts = distinct(ar, axis=axis, equal_nan=equal_nan)
    values = np.take(ar, places, axis)
    wanted = ((return_index, places), (return_inverse, inverse), (return_counts, counts))
    more = tuple(part for want, part in wanted if want)
    return (values, *more) if more else values


def _places_in_numpys_order(x: Any) -> Any:
    values, places = np.unique(x, return_index=True)
    return places[np.searchsorted(values, np.unique_values(x))]


_unordered = Opaque(
    _places_in_numpys_order, name="places_of_values", batch=of_many_sizes("np.unique_values")
)


@function(np.unique_values)
def np_unique_values(x: Any) -> Any:
    """The distinct entries in the order that NumPy gives them, which it leaves open."""
    return np.take(x, _unordered(x))


def _named(f: Any, *options: str) -> None:
    """np.unique under one of its newer names, whose results have names too."""
    result = type(f(np.zeros(1)))

    @function(f)
    def rule(x: Any) -> Any:
        return result(*np_unique(x, **dict.fromkeys(options, True), equal_nan=False))


_named(np.unique_all, "return_index", "return_inverse", "return_counts")
_named(np.unique_counts, "return_counts")
_named(np.unique_inverse, "return_inverse")


# --- two sets ------------------------------------------------------------------------------------


def _pair(ar1: Any, ar2: Any, assume_unique: bool) -> tuple[Any, Any]:
    a, b = np.ravel(array_of(ar1)), np.ravel(array_of(ar2))
    return (a, b) if assume_unique else (np.unique(a), np.unique(b))


@function(np.union1d)
def np_union1d(ar1: Any, ar2: Any) -> Any:
    """The distinct entries of both."""
    return np.unique(np.concatenate(_pair(ar1, ar2, True)))


@function(np.setdiff1d)
def np_setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The distinct entries of the first that are not in the second."""
    a, b = _pair(ar1, ar2, assume_unique)
    return a[np.isin(a, b, invert=True)]


@function(np.setxor1d)
def np_setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The distinct entries that are in one of both only."""
    both = np.sort(np.concatenate(_pair(ar1, ar2, assume_unique)))
    differs = np.not_equal(both[1:], both[:-1])
    alone = np.concatenate([[True], differs]) & np.concatenate([differs, [True]])
    return both[alone[: both.shape[0]]]


_common = Opaque(
    lambda a, b, assume_unique: np.intersect1d(a, b, assume_unique, return_indices=True)[1:],
    name="common_places",
    batch=of_many_sizes("np.intersect1d"),
)


@function(np.intersect1d)
def np_intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The entries that are in both, as those of the first."""
    a, b = array_of(ar1), array_of(ar2)
    places, others = _common(a, b, assume_unique=assume_unique)
    values = np.take(a, places)
    return (values, places, others) if return_indices else values


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Of equal entries the first is chosen.
kinks(
    (
        "np.unique(x)[1]",
        "[2.0, 2.0, 1.0]",
        "[1.0, 0.0, 0.0]",
        "of equal entries the first is chosen",
    ),
)
