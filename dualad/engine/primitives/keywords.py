"""ufunc calls with keywords: out=, where=, dtype=, casting=, axes of generalised ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import LostDerivativeError
from ..arrays.guard import quiet
from ..levels.buffer import frozen
from ..levels.missing import name_of
from ..levels.protocols import ufunc_rule
from ..levels.rules import FUNCTIONS
from ..levels.traced import TracedArray
from ..levels.values import as_operand
from .inplace import not_a_buffer, store

__all__ = ["call_with_keywords"]


def call_with_keywords(ufunc: Any, method: str, inputs: tuple, kwargs: dict) -> Any:
    """A ufunc, or one of its methods, with keyword arguments, on traced inputs or outputs."""
    outs = kwargs.pop("out", None)
    outs = outs if isinstance(outs, tuple) else (outs,)
    inputs = tuple(map(as_operand, inputs))
    if method != "__call__":
        result = ufunc_rule(ufunc, method)(*inputs, **kwargs)
        return result if outs[0] is None else store(outs[0], result)
    casting = kwargs.pop("casting", "same_kind")
    for ignored in ("order", "subok"):
        kwargs.pop(ignored, None)
    inputs = _typed(ufunc, inputs, kwargs, casting)
    where = kwargs.pop("where", True)
    if ufunc.signature is not None and kwargs:
        return _each(outs, _along_axes(ufunc, inputs, **kwargs), casting)
    if kwargs:
        raise TypeError(f"{name_of(ufunc)} on traced arrays does not take {sorted(kwargs)}")
    if where is not True:
        return _where(ufunc, inputs, outs, where, casting)
    return _each(outs, _plain_call(ufunc, inputs), casting)


def _plain_call(ufunc: Any, inputs: tuple) -> Any:
    traced = any(isinstance(a, TracedArray) for a in inputs)
    return ufunc_rule(ufunc)(*inputs) if traced else ufunc(*inputs)


def _each(outs: tuple, result: Any, casting: str) -> Any:
    """The results, each in its output array where one is given."""
    if not isinstance(result, tuple):
        return result if outs[0] is None else store(outs[0], result, casting)
    outs = outs if len(outs) == len(result) else (None,) * len(result)
    return tuple(
        r if o is None else store(o, r, casting) for o, r in zip(outs, result, strict=True)
    )


def _typed(ufunc: Any, inputs: tuple, kwargs: dict, casting: str) -> tuple:
    """The inputs in the dtypes of the loop that dtype= or signature= asks for."""
    signature = kwargs.pop("signature", kwargs.pop("sig", None))
    dtype = kwargs.pop("dtype", None)
    if dtype is None and signature is None:
        return inputs
    if signature is None:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    have = [getattr(a, "dtype", type(a)) for a in inputs]
    want = ufunc.resolve_dtypes(
        (*have, *(None,) * ufunc.nout), signature=signature, casting=casting
    )
    return tuple(
        a.astype(t) if hasattr(a, "astype") else np.asarray(a, t)
        for a, t in zip(inputs, want, strict=False)
    )


# --- where= --------------------------------------------------------------------------------------


def _where(ufunc: Any, inputs: tuple, outs: tuple, where: Any, casting: str) -> Any:
    """The ufunc where a mask says so; elsewhere the outputs keep their value and derivative."""
    if any(o is None for o in outs) or len(outs) != ufunc.nout:
        raise LostDerivativeError(
            f"{name_of(ufunc)}(..., where=mask) without out= leaves entries undefined: pass out= "
            "a traced buffer, or use np.where(mask, f(x), other)."
        )
    if isinstance(where, TracedArray):
        with quiet():
            result = _plain_call(ufunc, inputs)
        parts = result if isinstance(result, tuple) else (result,)
        choose = FUNCTIONS[np.where]
        filled = tuple(choose(where, r, frozen(o)) for r, o in zip(parts, outs, strict=True))
        return _each(outs, filled if len(filled) > 1 else filled[0], casting)
    if not all(isinstance(o, TracedArray) for o in outs):
        raise not_a_buffer()
    shape = np.broadcast_shapes(np.shape(where), *(np.shape(a) for a in (*inputs, *outs)))
    mask = np.broadcast_to(where, shape)
    chosen = _plain_call(ufunc, tuple(np.broadcast_to(a, shape)[mask] for a in inputs))
    parts = chosen if isinstance(chosen, tuple) else (chosen,)
    for o, r in zip(outs, parts, strict=True):
        new = o.astype(r.dtype)
        new[mask] = r
        store(o, new, casting)
    return outs if len(outs) > 1 else outs[0]


# --- axes= of generalised ufuncs -----------------------------------------------------------------


def _along_axes(
    ufunc: Any, inputs: tuple, axes: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """A ufunc of vectors or matrices along other axes than the last."""
    ins, outs = ufunc.signature.split("->")
    cores = [_names(part) for part in (*ins[1:-1].split("),("), outs[1:-1])]
    if axes is None and axis is not None:
        axes = [(axis,) * len(c) for c in cores]
    if axes is None:
        axes = [tuple(range(-len(c), 0)) for c in cores]
    axes = [a if isinstance(a, tuple) else (a,) for a in axes]
    axes += [tuple(axes[0])] if len(axes) < len(cores) else []
    move = FUNCTIONS[np.moveaxis]
    moved = [
        move(a, axes[k], tuple(range(-len(axes[k]), 0))) if np.ndim(a) > 1 else a
        for k, a in enumerate(inputs)
    ]
    result = _plain_call(ufunc, tuple(moved))
    if keepdims:
        return FUNCTIONS[np.expand_dims](result, axes[0])
    core = len(cores[-1])
    return move(result, tuple(range(-core, 0)), axes[-1]) if core else result


def _names(core: str) -> list[str]:
    return [name for name in core.replace("?", "").split(",") if name]
