"""Traced arrays that are not computed yet: whoever looks at one computes it first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.memory import F64
from ..levels.traced import SLOT

__all__ = ["KNOWN", "Late", "settle", "settled_within", "state_of_result"]

#: What is known of a result that is not computed.
KNOWN = frozenset(
    ["__class__", "bind", "compute", "content", "dtype", "ends", "general", "kind", "level",
     "mean", "ndim", "primal", "shape", "size", "sum", "tangent", "waits"]
)  # fmt: skip


class Late:
    """What the kinds have in common whose results may wait. The slot of the value has its node.

    Every attribute but those of `KNOWN`, and every operator but those that can be put off,
    computes the result, which changes its kind.
    """

    __slots__ = ()
    waits = True

    #: of a number what it is made of
    content: Any = None

    def compute(self) -> None:
        """Compute the result; it is of the kind that such results have from now on."""
        raise NotImplementedError

    def general(self) -> Any:
        return settle(self)

    @property
    def primal(self) -> Any:
        return SLOT.__get__(settle(self))

    @property
    def shape(self) -> tuple[int, ...]:
        return SLOT.__get__(self).shape

    @property
    def ndim(self) -> int:
        return len(SLOT.__get__(self).shape)

    @property
    def dtype(self) -> np.dtype:
        return F64

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self if name in KNOWN else settle(self), name)


def settle(x: Any) -> Any:
    """Any value; one that is put off is computed and is an ordinary one from now on."""
    if issubclass(type(x), Late):
        with state_of_result(x).computing:
            if issubclass(type(x), Late):  # no other thread has computed it
                x.compute()
    return x


def state_of_result(d: Any) -> Any:
    """The state of the level of a result; an error where the level is closed."""
    if not d.level.is_open:
        d.level.new(type(d))  # which raises the error of a leak
    return d.level.given


def settled_within(x: Any) -> Any:
    """Any value; in containers too, what is put off is computed."""
    kind = type(x)
    if kind is list or kind is tuple:
        return kind(map(settled_within, x))
    return {k: settled_within(v) for k, v in x.items()} if kind is dict else settle(x)


def _computed_first(name: str) -> Any:
    """A special method of results that are put off: that of what they become."""

    def method(self: Any, *args: Any) -> Any:
        f = getattr(settle(self), name, None)
        return NotImplemented if f is None else f(*map(settle, args))

    method.__name__ = name
    return method


IN_PLACE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
            "lshift", "rshift")  # fmt: skip
for _name in (
    "array bool ceil complex contains copy deepcopy delitem divmod eq float floor floordiv format "
    "ge getitem gt index int invert iter le len lt matmul ne rdivmod repr rfloordiv rmatmul round "
    "setitem str trunc and or xor rand ror rxor lshift rshift rlshift rrshift "
    + " ".join(f"i{operation}" for operation in IN_PLACE)
).split():
    setattr(Late, f"__{_name}__", _computed_first(f"__{_name}__"))
Late.__hash__ = object.__hash__  # type: ignore[method-assign]  # eq is among them
