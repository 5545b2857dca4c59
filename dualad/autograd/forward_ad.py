"""PyTorch's `torch.autograd.forward_ad`: dual levels, making duals and taking them apart.

Unlike PyTorch's, levels nest to any depth. The current level belongs to the thread and context.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from ..engine.arrays.storage import overlap
from ..engine.kinds.dual import Dual, make_dual as _dual
from ..engine.levels.level import Level
from ..engine.levels.traced import raw
from ..engine.requires_grad.visible import DUAL_LEVEL, is_functional, levels_of, visible
from ..errors import LevelError, NotDifferentiableError, ShapeError
from ..tensor import Tensor, as_tensor, borrowed, unwrap, wrap
from ..tensor.view import DualView, apart

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_levels: ContextVar[tuple[Level, ...]] = ContextVar("dualad_dual_levels", default=())


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives: the primal, and the tangent or None."""

    primal: Any
    tangent: Any


def enter_dual_level() -> Level:
    """Open a dual level that `exit_dual_level` closes. Prefer the context manager `dual_level`."""
    level = Level(DUAL_LEVEL)
    _levels.set((*_levels.get(), level))
    return level


def exit_dual_level(*, level: Level | None = None) -> None:
    """Close the innermost dual level (which `level` must be, if given): its tangents are gone."""
    stack = _levels.get()
    if not stack:
        raise LevelError("exit_dual_level: no dual level is open in this thread or context")
    if level is not None and stack[-1] is not level:
        raise LevelError(
            "exit_dual_level: the level is not the innermost one, and they close in order"
        )
    stack[-1].close()
    _levels.set(stack[:-1])


class dual_level:
    """A context in which tensors can be dual; it nests, and is closed after any exception.

    >>> import dualad
    >>> import dualad.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(dualad.tensor(3.0), dualad.tensor(1.0))
    ...     fwAD.unpack_dual(x * x).tangent
    tensor(6.)
    """

    def __init__(self) -> None:
        self._entered: list[tuple[Level, tuple[Level, ...]]] = []

    def __enter__(self) -> Level:
        before = _levels.get()
        self._entered.append((enter_dual_level(), before))
        return self._entered[-1][0]

    def __exit__(self, *exc: object) -> None:
        level, before = self._entered.pop()
        for inner in _levels.get()[len(before) :]:
            inner.close()
        level.close()
        _levels.set(before)


def _current(level: Level | None, what: str) -> Level | None:
    stack = _levels.get()
    if level is None:
        return stack[-1] if stack else None
    if not isinstance(level, Level) or not level.is_open:
        raise LevelError(f"{what}: the level is not an open dual level")
    return level


def make_dual(tensor: Any, tangent: Any, *, level: Level | None = None) -> Tensor:
    """A tensor that shares tensor's values and has the given tangent at a dual level.

    A tensor given as the tangent is taken as it is, so that what is written in place to either
    is written to both, if it has the layout of the primal; otherwise it is copied, as an array is.

    Args:
        tensor: the primal; an array is taken as a tensor that shares its memory.
        tangent: of the same shape; another real floating dtype is cast to that of the primal.
        level: an open dual level; default the innermost.

    Raises:
        LevelError: no level is open.
        NotDifferentiableError: an integer primal or tangent.
        ShapeError: the tangent is not of the primal's shape and dtype.
    """
    at = _current(level, "make_dual")
    if at is None:
        raise LevelError(
            "make_dual: no dual level is open: make duals inside `with dual_level():`"
        )
    primal = as_tensor(tensor)
    move = (
        as_tensor(tangent) if hasattr(tangent, "dtype") else as_tensor(tangent, dtype=primal.dtype)
    )
    if primal.dtype != move.dtype and primal.dtype.kind == move.dtype.kind == "f":
        move = move.to(primal.dtype)
    _check_pair(primal, move)
    value, moving = primal._full(), unwrap(move)
    ranks = [lv.rank for lv in (*levels_of(unwrap(primal)), *levels_of(moving))]
    if at.rank in ranks:
        raise LevelError(
            "make_dual: the tensor or its tangent is a dual of this level already: unpack it "
            "first, or open an inner level"
        )
    if max(ranks, default=0) > at.rank:
        raise LevelError(
            "make_dual: the tensor belongs to an inner level or transformation; make its dual "
            "at a level opened inside of that"
        )
    aliased = isinstance(tangent, Tensor) and _may_alias(value, moving)
    link = DualView(primal, at, move if aliased else None)
    out = wrap(_dual(at, visible(link.value(value)), apart(moving)))
    if visible(value) is value:
        out._view = link
    return out


def _may_alias(primal: Any, tangent: Any) -> bool:
    """Whether the tangent is taken as it is: it lies in memory like the primal, but not in its."""
    if is_functional(primal) or is_functional(tangent):
        return False
    p, t = raw(primal), raw(tangent)
    return p.strides == t.strides and t.flags.writeable and not overlap(p, t)


def _check_pair(primal: Tensor, move: Tensor) -> None:
    for name, t in (("tensor", primal), ("tangent", move)):
        if t.dtype.kind not in "fc":
            raise _NotFloat(
                f"make_dual: expected {name} to be floating point or complex, but got {t.dtype}"
            )
    if primal.shape != move.shape:
        raise ShapeError(
            f"make_dual: the tangent has size {move.shape}, it should have the shape of the "
            f"primal, {primal.shape}"
        )
    if primal.dtype != move.dtype:
        raise ShapeError(
            f"make_dual: the tangent has dtype {move.dtype}, it should be {primal.dtype}"
        )


class _NotFloat(NotDifferentiableError, ValueError):
    pass


def unpack_dual(tensor: Any, *, level: Level | None = None) -> UnpackedDualTensor:
    """The primal of a tensor and its tangent at a dual level, None if it has none there."""
    at = _current(level, "unpack_dual")
    t = as_tensor(tensor)
    value = unwrap(t)
    if at is not None and type(value) is Dual and value.level is at:
        link = t._view
        if isinstance(link, DualView) and link.level is at and link.move is not None:
            return UnpackedDualTensor(wrap(value.primal), link.move)
        return UnpackedDualTensor(wrap(value.primal), wrap(borrowed(value.tangent)))
    if at is not None and getattr(value, "level", at).rank > at.rank:
        raise LevelError(
            "unpack_dual: the tensor belongs to a level or transformation inside of this dual "
            "level; unpack it after that has ended"
        )
    return UnpackedDualTensor(t, None)
