"""The twins of a pull made for one primitive: guarded, and forwards, by way of the general one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .primitive import Elementwise
from .tape import pull_elementwise

__all__ = ["give_twins"]


def give_twins(primitive: Elementwise, pull: Any, unpack: Callable[[tuple], tuple]) -> None:
    """Give a pull its `guarded`, `push` and `guarded_push`; unpack takes its entries apart."""

    def general(entry: tuple) -> tuple:
        parents, out, args = unpack(entry)
        return (pull_elementwise, parents, primitive, args, {}, out, None)

    # These entries are of one shape and dtype, so any tangent or cotangent serves as their Spec.
    def guarded(ct: Any, entry: tuple, g: Any, own: set) -> None:
        like = (ct,) * len(primitive.partials)
        pull_elementwise.guarded(ct, (*general(entry)[:6], like), g, own)  # type: ignore[attr-defined]

    def push(entry: tuple, v: Any, twin: str = "push") -> Any:
        e = general(entry)
        t = next(v[i] for i in e[1] if i is not None)
        return getattr(pull_elementwise, twin)((*e[:5], t if e[5] is None else e[5], None), v)

    pull.guarded = guarded
    pull.push = push
    pull.guarded_push = lambda entry, v: push(entry, v, "guarded_push")
