"""vmap: run a function once on many inputs that it does not know to be many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.kinds.batched import Batched, batched, unbatch
from ..engine.levels.level import Level
from ..engine.levels.traced import TracedArray
from ..engine.levels.tree import Tree, flatten
from ..engine.levels.values import as_value
from ..errors import ArgumentError, ShapeError, StructureError
from .boundary import face_of, outputs_of, rebuild, restore
from .plain import plain_length

__all__ = ["Vectorized", "vmap"]

UNSET: Any = object()


class MappingError(ArgumentError, ValueError):
    """vmap was asked for something that is no mapping."""


def vmap(
    f: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    in_dims: Any = UNSET,
    out_dims: Any = UNSET,
    randomness: str = "error",
    chunk_size: int | None = None,
) -> Vectorized:
    """A function that maps f over an axis of its arguments, in one pass of array operations.

    Args:
        f: a function of arrays or nested containers of them.
        in_axes: the axis to map over: one integer, or one entry per argument, each an integer,
            None (not mapped), or a container of those that mirrors the argument.
        out_axes: where the mapped axis goes in the outputs; None for an output that is the same
            for all entries.
        in_dims, out_dims: PyTorch's names of the same two arguments.
        randomness: "error", "different" or "same", told to custom functions. Draws of
            numpy.random inside f happen once, the same for all entries: map over an array of
            draws for different ones.
        chunk_size: how many entries at a time, to bound memory; default all.

    Keyword arguments of the mapped function are not mapped.

    >>> import numpy as np, dualad
    >>> dualad.vmap(np.dot)(np.ones((3, 2)), np.arange(6.0).reshape(3, 2))
    array([1., 5., 9.])
    """
    if in_dims is not UNSET:
        in_axes = in_dims
    if out_dims is not UNSET:
        out_axes = out_dims
    if randomness not in ("error", "different", "same"):
        raise MappingError(
            f"randomness must be 'error', 'different' or 'same', got {randomness!r}"
        )
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise MappingError(
            f"chunk_size must be None or an integer greater than 0, got {chunk_size!r}"
        )
    return Vectorized(f, in_axes, out_axes, chunk_size, randomness)


class Vectorized:
    """A mapped function; see `vmap`."""

    def __init__(
        self,
        f: Callable[..., Any],
        in_axes: Any,
        out_axes: Any,
        chunk_size: int | None,
        randomness: str = "error",
    ):
        if not callable(f):
            raise ArgumentError(f"the first argument must be a function, got {type(f).__name__}")
        self.f, self.in_axes, self.out_axes, self.chunk_size = f, in_axes, out_axes, chunk_size
        self.randomness = randomness
        self.__name__ = f"vmap of {getattr(f, '__name__', f)}"

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if type(self.in_axes) is int and self.in_axes == 0 and self.chunk_size is None:
            n = plain_length(args)
            if n is not None:
                return self._plain(args, n, kwargs)
        return self._general(args, kwargs)

    def _plain(self, arrays: tuple, n: int, kwargs: dict) -> Any:
        """The call on float64 arrays, of which each is mapped over its first axis."""
        with Level("vmap") as level:
            level.tape = {"randomness": self.randomness}
            out = self.f(*[batched(level, a, n) for a in arrays], **kwargs)
            if type(out) is Batched and out.level is level and type(out.primal) is np.ndarray:
                if type(self.out_axes) is int and self.out_axes == 0:
                    return out.primal
            return _join([self._results(level, out, n)])

    def _general(self, args: tuple, kwargs: dict) -> Any:
        leaves, trees = [], []
        for arg in args:
            part, tree = flatten(arg)
            leaves += part
            trees.append(tree)
        axes = self._axes(args, trees)
        faces = [face_of(x) for x in leaves]
        values = [
            x if a is None else _in_front(_value(x, f, k), a, k)
            for k, (x, f, a) in enumerate(zip(leaves, faces, axes, strict=True))
        ]
        n = _batch_size(values, axes)
        if self.chunk_size is None:
            return _join([self._run(trees, values, axes, faces, n, kwargs)])
        step = min(self.chunk_size or max(n, 1), max(n, 1))
        parts = [
            self._run(
                trees,
                [_cut(v, a, lo, lo + step) for v, a in zip(values, axes, strict=True)],
                axes,
                faces,
                min(step, n - lo),
                kwargs,
            )
            for lo in range(0, max(n, 1), step)
        ]
        return _join(parts)

    def _axes(self, args: tuple, trees: list[Tree]) -> list[int | None]:
        if not args:
            raise MappingError("vmap got no inputs: it needs at least one positional argument")
        given = self.in_axes
        if type(given) is int:
            return [given] * sum([tree.size for tree in trees])
        if isinstance(given, (int, np.integer)) or given is None:
            given = (given,) * len(args)
        if not isinstance(given, (tuple, list)) or len(given) != len(args):
            raise MappingError(
                f"in_axes={self.in_axes!r} must be an integer or have one entry for each of the "
                f"{len(args)} arguments"
            )
        return [
            a
            for k, (axis, tree) in enumerate(zip(given, trees, strict=True))
            for a in spread(axis, tree, f"in_axes[{k}]")
        ]

    def _run(
        self, trees: list[Tree], values: list, axes: list, faces: list, n: int, kwargs: dict
    ) -> tuple[list[Any], Tree, list[Any], list[int | None]]:
        with Level("vmap") as level:
            mapped = [
                v if a is None else batched(level, v, n) for v, a in zip(values, axes, strict=True)
            ]
            # What custom functions with a vmap rule are told: the option, and each input as it was
            # given.
            level.tape = {
                "randomness": self.randomness,
                "origins": {
                    id(b): (np.moveaxis(v, 0, a) if a else v, a % v.ndim)
                    for b, v, a in zip(mapped, values, axes, strict=True)
                    if a is not None
                },
            }
            inner = [
                v if a is None else _wrap(v, f)
                for v, a, f in zip(mapped, axes, faces, strict=True)
            ]
            return self._results(level, self.f(*rebuild(trees, inner), **kwargs), n)

    def _results(
        self, level: Level, result: Any, n: int
    ) -> tuple[list[Any], Tree, list[Any], list[int | None]]:
        """What f returned as arrays, with the mapped axis where it is wanted."""
        out, tree, faces = outputs_of(result)
        given = self.out_axes
        if isinstance(given, tuple) and len(given) == 1 and not tree.children:
            (given,) = given
        where = spread(given, tree, "out_axes")
        return (
            [_place(level, v, a, n) for v, a in zip(out, where, strict=True)],
            tree,
            faces,
            where,
        )


def _value(x: Any, face: Any, k: int) -> Any:
    return face.unwrap(x) if face is not None else as_value(x, f"argument leaf {k}")


def _wrap(value: Any, face: Any) -> Any:
    return value if face is None else face.wrap(value)


def _in_front(x: Any, axis: int, k: int) -> Any:
    n = x.ndim
    if not -n <= axis < n:
        raise ShapeError(f"argument leaf {k} of shape {x.shape} has no axis {axis} to map over")
    return x if axis % n == 0 else np.moveaxis(x, axis, 0)


def _batch_size(values: list, axes: list) -> int:
    sizes = [v.shape[0] for v, a in zip(values, axes, strict=True) if a is not None]
    if not sizes:
        raise MappingError(
            "vmap needs at least one mapped argument: every entry of in_axes is None"
        )
    if sizes.count(sizes[0]) < len(sizes):
        mapped = [k for k, a in enumerate(axes) if a is not None]
        given = dict(zip(mapped, sizes, strict=True))
        raise ShapeError(f"the mapped axes have different lengths, by argument leaf: {given}")
    return sizes[0]


def _cut(value: Any, axis: int | None, start: int, stop: int) -> Any:
    if axis is None or (start == 0 and stop >= value.shape[0]):
        return value
    return value[start:stop]


def spread(axes: Any, tree: Tree, what: str) -> list[int | None]:
    """One axis per leaf of a tree, from an axis or a container of axes that is a prefix of it."""
    if axes is None or isinstance(axes, (int, np.integer)):
        return [None if axes is None else int(axes)] * tree.size
    children = (
        [axes[k] for k in tree.keys]
        if isinstance(axes, dict) and set(axes) == set(tree.keys)
        else list(axes)
        if isinstance(axes, (tuple, list)) and len(axes) == len(tree.children)
        else None
    )
    if children is None or not tree.children:
        raise StructureError(
            f"{what} is {axes!r}, which does not mirror the structure {tree.describe()}"
        )
    return [
        a
        for k, (c, t) in enumerate(zip(children, tree.children, strict=True))
        for a in spread(c, t, f"{what}[{k}]")
    ]


def _place(level: Level, value: Any, axis: int | None, n: int) -> Any:
    if axis is None:
        if getattr(value, "level", None) is level:
            raise ShapeError(
                "out_axes is None for an output that differs between the mapped entries"
            )
        return value
    out = unbatch(level, value, n)
    return out if axis == 0 else np.moveaxis(out, 0, axis)


def _join(parts: Sequence[tuple]) -> Any:
    results, tree, faces, where = parts[0]
    if len(parts) > 1:
        columns = zip(*(p[0] for p in parts), strict=True)
        results = [
            c[0] if a is None else np.concatenate(c, axis=a)
            for c, a in zip(columns, where, strict=True)
        ]
    return tree.unflatten(
        [
            restore(r, type(r) if isinstance(r, TracedArray) else np.ndarray, f)
            for r, f in zip(results, faces, strict=True)
        ]
    )
