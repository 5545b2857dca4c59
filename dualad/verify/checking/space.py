"""Nested containers as vectors of real numbers, each of which has a name."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...engine.levels.tree import flatten

__all__ = ["Leaf", "Space", "paths", "plain"]


@dataclasses.dataclass(frozen=True)
class Leaf:
    """One array of numbers: its name, its shape, its dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"

    @property
    def coordinates(self) -> int:
        """How many real numbers it is: a complex one is two."""
        return self.size * (2 if self.is_complex else 1)

    def entry(self, at: int) -> str:
        """The name of an entry, such as params["k1"] or out[0, 2]."""
        if self.shape == ():
            return self.name
        return f"{self.name}[{', '.join(map(str, np.unravel_index(at, self.shape)))}]"

    def label(self, coordinate: int) -> str:
        """The name of a coordinate: of an entry, of its real or its imaginary part."""
        if not self.is_complex:
            return self.entry(coordinate)
        part = "re" if coordinate < self.size else "im"
        return f"{part}({self.entry(coordinate % self.size)})"


class Space:
    """A list of leaves as one real vector; complex leaves are their real, then imaginary parts."""

    def __init__(self, leaves: Sequence[Leaf]):
        self.leaves = list(leaves)
        ends = np.cumsum([leaf.coordinates for leaf in self.leaves]).tolist()
        self.slices = [
            slice(end - leaf.coordinates, end) for leaf, end in zip(self.leaves, ends, strict=True)
        ]
        self.size = ends[-1] if ends else 0

    def vector(self, values: Sequence[Any]) -> np.ndarray:
        """The real vector of values, in double precision."""
        out = np.zeros(self.size)
        for leaf, part, value in zip(self.leaves, self.slices, values, strict=True):
            flat = np.asarray(plain(value)).ravel()
            if flat.size != leaf.size:
                raise ValueError(
                    f"{leaf.name} has {flat.size} entries, it should have {leaf.size}"
                )
            if leaf.is_complex:
                out[part] = np.concatenate([flat.real, flat.imag])
            else:
                out[part] = flat.real
        return out

    def values(self, vector: Any, wide: bool = True) -> list[Any]:
        """Arrays from a real (or, for the complex step, complex) vector; scalars are scalars.

        Args:
            vector: as `vector` gives it.
            wide: double precision, whatever the dtypes of the leaves.
        """
        out = []
        for leaf, part in zip(self.leaves, self.slices, strict=True):
            flat = vector[part]
            if leaf.is_complex:
                flat = flat[: leaf.size] + 1j * flat[leaf.size :]
            shaped = np.array(flat).reshape(leaf.shape)
            if not wide and shaped.dtype != leaf.dtype:
                shaped = shaped.astype(leaf.dtype)
            out.append(shaped[()])
        return out

    def labels(self) -> list[str]:
        """The names of all coordinates."""
        return [leaf.label(k) for leaf in self.leaves for k in range(leaf.coordinates)]

    def with_dtype(self, real: Any, complex_: Any) -> Space:
        """The same leaves in other dtypes."""
        kinds = (np.dtype(complex_) if leaf.is_complex else np.dtype(real) for leaf in self.leaves)
        return Space(
            [
                dataclasses.replace(leaf, dtype=d)
                for leaf, d in zip(self.leaves, kinds, strict=True)
            ]
        )


def plain(x: Any) -> Any:
    """The array in a Tensor; what is none stays."""
    face = getattr(x, "__dualad_face__", None)
    return x if face is None else np.asarray(x.detach().numpy())


def paths(x: Any, root: str) -> list[str]:
    """The names of the leaves of a container, in the order of `flatten`.

    >>> paths({"k": [1.0, 2.0], "n": 3.0}, "params")
    ['params["k"][0]', 'params["k"][1]', 'params["n"]']
    """
    return list(_paths(x, root))


def _paths(x: Any, root: str) -> Iterator[str]:
    if x is None:
        return
    if isinstance(x, (list, tuple)):
        fields = getattr(x, "_fields", None)
        for k, v in enumerate(x):
            yield from _paths(v, f"{root}.{fields[k]}" if fields else f"{root}[{k}]")
    elif isinstance(x, dict):
        for k, v in x.items():
            key = f'"{k}"' if isinstance(k, str) else repr(k)
            yield from _paths(v, f"{root}[{key}]")
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        for f in dataclasses.fields(x):
            if f.init:
                yield from _paths(getattr(x, f.name), f"{root}.{f.name}")
    else:
        yield root


def leaf_of(name: str, value: Any) -> Leaf | None:
    """A leaf with a derivative; None for integers, text and other things."""
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, (float, complex, np.ndarray, np.generic)):
        return None
    dtype = np.asarray(value).dtype
    return Leaf(name, np.shape(value), dtype) if dtype.kind in "fc" else None


def leaves_of(x: Any, root: str) -> tuple[list[Any], list[Leaf | None]]:
    """All leaves of a container, and what is known of those that have a derivative."""
    values, _ = flatten(x)
    return values, [leaf_of(n, v) for n, v in zip(paths(x, root), values, strict=True)]
