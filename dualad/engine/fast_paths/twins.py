"""The twins of a pull made for one primitive: guarded, and forwards, by way of the general one."""

from __future__ import annotations

from typing import Any

from ..primitives.elementwise import Elementwise
from ..programs.entries import pull_elementwise

__all__ = ["Twins"]


class Twins:
    """The twins of a pull whose entries are of one shape and dtype."""

    __slots__ = ("places", "primitive")

    def __init__(self, primitive: Elementwise, places: list[int | None]):
        """places: where an entry has the result, the parents and the arguments."""
        self.primitive, self.places = primitive, places

    def general(self, entry: tuple) -> tuple:
        """The same entry as the general pull has it, without the Specs of the arguments."""
        n = len(self.primitive.partials)
        out, *rest = [None if k is None else entry[k] for k in self.places]
        return (pull_elementwise, tuple(rest[:n]), self.primitive, tuple(rest[2 : 2 + n]), {}, out)

    # Of one shape and dtype: so any tangent or cotangent serves as the Spec of all.

    def guarded(self, ct: Any, entry: tuple, g: Any, own: set) -> None:
        like = (ct,) * len(self.primitive.partials)
        pull_elementwise.guarded(ct, (*self.general(entry), like), g, own)  # type: ignore[attr-defined]

    def push(self, entry: tuple, v: Any, twin: str = "push") -> Any:
        e = self.general(entry)
        t = next(v[i] for i in e[1] if i is not None)
        return getattr(pull_elementwise, twin)((*e[:5], t if e[5] is None else e[5], None), v)

    def guarded_push(self, entry: tuple, v: Any) -> Any:
        return self.push(entry, v, "guarded_push")
