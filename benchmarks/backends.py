"""Who differentiates: dualad, and the peers that are installed. One class each, one method a job.

`f` is made by a workload for the namespace `xp`; inputs are converted beforehand and results are
not converted back, which favours the peers that do not work on NumPy arrays.
"""

import importlib.metadata
import os
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Backend", "available"]


class Backend:
    """A library with its namespace; a job that it does not do is a method that is missing."""

    name = ""
    package = ""
    xp: Any = np

    def array(self, x: Any) -> Any:
        return x

    def plain(self, x: Any) -> np.ndarray:
        return np.asarray(x)

    def version(self) -> str:
        return importlib.metadata.version(self.package)


class DualAD(Backend):
    """This library on plain NumPy arrays."""

    name = package = "dualad"

    def __init__(self) -> None:
        import dualad

        self.ad = dualad

    def version(self) -> str:
        return self.ad.__version__

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return lambda: self.ad.jvp(f, x, t)[1]

    def grad(self, f: Callable, x: tuple) -> Callable:
        g = self.ad.grad(f, argnums=tuple(range(len(x))))
        return lambda: g(*x)

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        return lambda: self.ad.jacfwd(f)(*x)

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        return lambda: self.ad.jacrev(f)(*x)


class Autograd(Backend):
    """HIPS autograd."""

    name = package = "autograd"

    def __init__(self) -> None:
        import autograd
        import autograd.numpy

        self.ad, self.xp = autograd, autograd.numpy

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        from autograd.differential_operators import make_jvp

        packed = make_jvp(lambda x: f(*x))
        return lambda: packed(tuple(x))(tuple(t))[1]

    def grad(self, f: Callable, x: tuple) -> Callable:
        g = self.ad.grad(f, argnum=tuple(range(len(x))))
        return lambda: g(*x)

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        return lambda: self.ad.jacobian(f)(*x)


class Torch(Backend):
    """PyTorch's tape: requires_grad and backward."""

    name, package = "torch", "torch"

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.xp = self.torch = torch

    def array(self, x: Any) -> Any:
        return self.torch.tensor(np.asarray(x), dtype=self.torch.float64)

    def plain(self, x: Any) -> np.ndarray:
        return x.detach().numpy()

    def grad(self, f: Callable, x: tuple) -> Callable:
        leaves = [v.clone().requires_grad_() for v in x]

        def run() -> tuple:
            for v in leaves:
                v.grad = None
            f(*leaves).backward()
            return tuple(v.grad for v in leaves)

        return run


class TorchFunc(Torch):
    """PyTorch's function transformations, torch.func."""

    name = "torch.func"

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return lambda: self.torch.func.jvp(f, x, t)[1]

    def grad(self, f: Callable, x: tuple) -> Callable:
        g = self.torch.func.grad(f, argnums=tuple(range(len(x))))
        return lambda: g(*x)

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        return lambda: self.torch.func.jacfwd(f)(*x)

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        return lambda: self.torch.func.jacrev(f)(*x)


class Jax(Backend):
    """JAX without jit, as a user calls it who writes NumPy with control flow."""

    name, package = "jax eager", "jax"

    def __init__(self) -> None:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        os.environ.setdefault(
            "XLA_FLAGS",
            "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
        )
        import jax
        import jax.numpy

        jax.config.update("jax_enable_x64", True)
        self.jax, self.xp = jax, jax.numpy

    def array(self, x: Any) -> Any:
        return self.xp.asarray(x)

    def _done(self, run: Callable) -> Callable:
        return lambda: self.jax.block_until_ready(run())

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self._done(lambda: self.jax.jvp(f, x, t)[1])

    def grad(self, f: Callable, x: tuple) -> Callable:
        g = self.jax.grad(f, argnums=tuple(range(len(x))))
        return self._done(lambda: g(*x))

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        return self._done(lambda: self.jax.jacfwd(f)(*x))

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        return self._done(lambda: self.jax.jacrev(f)(*x))


ALL: tuple[type[Backend], ...] = (DualAD, Autograd, TorchFunc, Torch, Jax)


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
