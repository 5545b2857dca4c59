"""dask arrays as values: a program of chunked arrays, differentiated, is one, and stays lazy.

Operations are those of `dask_operations`, and functions of single entries, which are applied chunk
by chunk. Everything else raises; nothing is computed while the graph is built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.kinds.duck import Library, duck_under, is_entrywise
from ..engine.levels.traced import TracedArray, lost
from ..engine.primitives.primitive import PRIMITIVES
from ..errors import NotDifferentiableError, RefusedAttributeError
from ..ops.later import load_all
from .dask_operations import OPERATIONS, Chunkwise, broadcast_to, da, remember

__all__ = ["operations"]


def admit(x: Any) -> None:
    """Refuse what has no shape that is known, or chunks that are not NumPy's."""
    if np.isnan(x.shape).any():
        raise NotDifferentiableError(
            "a dask array of unknown chunk sizes has no shape that tangents could have: call "
            "x.compute_chunk_sizes() first, or use np.where in place of a boolean mask."
        )
    if isinstance(x._meta, TracedArray):
        raise lost("a function of dask.array", "call NumPy's function of that name (np.sum(x))")
    remember(x)
    if type(x._meta) is not np.ndarray and not isinstance(x._meta, np.generic):
        raise NotDifferentiableError(
            f"the chunks of this dask array are {type(x._meta).__name__}, not NumPy arrays: "
            "x.map_blocks(np.asarray) makes them that."
        )


def constant(x: Any) -> Any:
    """A NumPy array beside chunked ones; one that is repeated along axes is so by dask."""
    if not isinstance(x, np.ndarray) or 0 not in x.strides or x.size <= 1:
        return x
    one = x[tuple(slice(0, 1) if step == 0 else slice(None) for step in x.strides)]
    return broadcast_to(da.from_array(one.copy(), chunks=-1), x.shape)


def alike(value: Any, model: Any) -> Any:
    """A value as an array in the chunks of another."""
    if not isinstance(value, da.Array):
        value = da.asarray(value)
    return value if value.chunks == model.chunks else value.rechunk(model.chunks)


def entrywise(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of single entries as one of dask arrays."""

    def apply(*xs: Any, **options: Any) -> Any:
        quiet = np.geterr()["invalid"] == "ignore"
        if isinstance(f, np.ufunc) and not quiet:
            return f(*xs)
        return da.core.elemwise(Chunkwise(f, name, quiet, options), *xs)

    return apply


def operations() -> tuple[str, ...]:
    """The names of the operations that dask arrays have inside of transformations.

    Those of single entries, of NumPy and, once it is loaded, of scipy.special; then OPERATIONS.

    >>> {"sin", "matmul", "getitem"} <= set(operations())
    True
    """
    load_all()
    single = sorted(name for name, p in PRIMITIVES.items() if is_entrywise(p))
    return (*single, *OPERATIONS)


Library(
    "dask arrays",
    da.Array,
    OPERATIONS,
    entrywise=entrywise,
    admit=admit,
    constant=constant,
    alike=alike,
    remedy="compute it outside of the transformation (x.compute() of its argument or result), "
    "write it with operations that dualad.ducks.dask.operations() lists, or give it a rule",
)


def _refused(name: str) -> property:
    def get(self: Any) -> Any:
        if duck_under(self) is None:
            raise AttributeError(f"a traced array has no attribute {name!r}")
        raise RefusedAttributeError(
            f"x.{name} of a traced dask array: inside of a transformation there are NumPy's names "
            f"only. Take .{name} of its argument before, or of its result afterwards."
        )

    return property(get)


for _name in (
    "blocks", "chunks", "chunksize", "compute", "compute_chunk_sizes", "map_blocks",
    "map_overlap", "npartitions", "numblocks", "partitions", "persist", "rechunk", "store",
    "to_delayed", "vindex",
):  # fmt: skip
    setattr(TracedArray, _name, _refused(_name))
