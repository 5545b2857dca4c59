"""The keys of x[key]: their normal form, and the shape of what they select."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.kinds.duck import duck_under
from ..engine.levels.spec import Spec
from ..engine.levels.traced import TracedArray
from ..engine.levels.values import as_operand
from ..engine.primitives.shape import zeros
from ..errors import NotDifferentiableError

__all__ = ["normal_index", "shape_at"]

FULL = slice(None)


def is_array(k: Any) -> bool:
    return isinstance(k, (np.ndarray, TracedArray))


def normal_index(key: Any, shape: tuple) -> tuple:
    """A key as a tuple of ints, slices, None and integer arrays that speaks of every axis."""
    items: list[Any] = []
    masks: list[tuple[int, tuple]] = []
    for k in key if isinstance(key, tuple) else (key,):
        k = as_index(k) if isinstance(k, list) else k
        if isinstance(k, np.ndarray) and k.dtype.kind == "b":
            masks.append((len(items), k.shape))
        items += _normal(k)
    used = sum(1 for k in items if k is not None and k is not Ellipsis)
    if used > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {used} were "
            f"indexed"
        )
    at = next((n for n, k in enumerate(items) if k is Ellipsis), len(items))
    # An ellipsis that stands for no axis still keeps the index arrays beside it apart.
    rest = [FULL] * (len(shape) - used) or items[at : at + 1]
    full = (*items[:at], *rest, *items[at + 1 :])
    for n, mask in masks:
        _check_mask(full, n if n < at else n + len(full) - len(items), mask, shape)
    return full


def _check_mask(full: tuple, n: int, mask: tuple, shape: tuple) -> None:
    first = sum(k is not None and k is not Ellipsis for k in full[:n])
    for axis, size in enumerate(mask, first):
        if size != shape[axis]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is "
                f"{shape[axis]} but size of corresponding boolean axis is {size}"
            )


def as_index(k: Any) -> Any:
    """A list or object array in a key as the array it stands for."""
    k = as_operand(k)
    return k if is_array(k) else np.asarray(k)


def _normal(k: Any) -> list[Any]:
    if k is None or k is Ellipsis or isinstance(k, slice):
        return [k]
    if isinstance(k, TracedArray) and not (k.ends and k.dtype.kind == "b"):
        return [_traced_index(k)]
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
        return [int(k)]
    k = np.array(k)  # recorded operations keep it, whatever the user writes into it later
    if k.dtype.kind == "b":
        if k.ndim == 0:
            raise IndexError("a 0-d boolean inside an index of a traced array is not supported")
        return list(k.nonzero())
    if k.size == 0 and k.dtype.kind == "f":
        k = k.astype(np.intp)
    if k.dtype.kind not in "iu":
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
            "boolean arrays are valid indices"
        )
    return [int(k) if k.ndim == 0 else k]


def _traced_index(k: TracedArray) -> TracedArray:
    kind = np.dtype(k.dtype).kind
    if kind == "b" and duck_under(k) is not None:
        raise NotDifferentiableError(
            "a boolean mask of a lazy array selects a number of entries that is not known before "
            "it is computed: use np.where(mask, x, 0)."
        )
    if kind == "b":
        raise NotDifferentiableError(
            "a boolean mask that differs from one entry of a batch to the next selects a "
            "different number of elements in each: use np.where(mask, x, 0) under vmap."
        )
    if kind not in "iu":
        raise IndexError(
            f"a traced array of dtype {k.dtype} is not an index: indices are integers"
        )
    return k


def is_truth(key: Any) -> bool:
    """Whether a key is one truth value, which selects all or nothing along a new axis."""
    if isinstance(key, np.ndarray):
        return key.dtype.kind == "b" and key.ndim == 0
    return isinstance(key, (bool, np.bool))


def advanced(index: tuple) -> list[int]:
    """The positions of what NumPy treats as index arrays; integers are, beside an array."""
    if not any(map(is_array, index)):
        return []
    return [n for n, k in enumerate(index) if is_array(k) or isinstance(k, int)]


def adjacent(positions: list[int]) -> bool:
    return positions == list(range(positions[0], positions[-1] + 1))


def place_of_batch(index: tuple) -> int:
    """Where the batch axis ends up when the index is applied behind it.

    Index arrays that are separated by a slice or None put their axes in front of everything.
    """
    at = advanced(index)
    if not at or adjacent(at):
        return 0
    return np.broadcast(*[index[n] for n in at]).ndim


def shape_at(shape: tuple, index: tuple) -> tuple[int, ...]:
    """The shape of x[index] for an x of that shape."""
    return zeros(Spec(shape, np.dtype(bool)))[index].shape
