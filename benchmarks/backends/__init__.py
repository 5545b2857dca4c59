"""Who differentiates: dualad, and the peers that are installed."""

from .backend import Backend
from .compiled import JaxJit, OnMachine, OnNumpy, TorchCompile
from .hips import Autograd
from .jax_eager import Jax
from .ours import DualAD
from .pytorch import Torch, TorchFunc
from .scalars import NumDual
from .symbolic import Casadi

__all__ = ["ALL", "Backend", "available"]

ALL: tuple[type[Backend], ...] = (
    DualAD, Autograd, Torch, TorchFunc, Jax, Casadi, NumDual,
    OnNumpy, OnMachine, JaxJit, TorchCompile,
)  # fmt: skip


def available(names: list[str] | None = None) -> list[Backend]:
    """The backends whose package is installed, dualad first."""
    found = []
    for cls in ALL:
        if names is None or cls.name in names or cls.package in names:
            try:
                found.append(cls())
            except ImportError:
                if names is not None:
                    raise
    return found
