"""The device on which tensors are: always the CPU."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError

__all__ = ["CPU", "device", "on_cpu"]


class device(str):
    """The CPU, the only device there is; it is equal to the text "cpu".

    Raises:
        ArgumentError: for any other device.

    >>> import dualad
    >>> dualad.zeros(2).device == dualad.device("cpu")
    True
    """

    __slots__ = ()

    #: as in PyTorch: the kind of device, and its number
    type = "cpu"
    index = None  # type: ignore[assignment]

    def __new__(cls, type: Any = "cpu", index: int | None = None) -> device:
        on_cpu(type)
        return super().__new__(cls, "cpu")

    def __repr__(self) -> str:
        return "device(type='cpu')"


def on_cpu(where: Any) -> None:
    """Refuse a device that is not the CPU; None is the CPU."""
    if where is not None and str(where).partition(":")[0] != "cpu":
        raise ArgumentError(f"device={where!r}: tensors are on the CPU, leave device out")


CPU = device()
