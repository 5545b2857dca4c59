"""What writes a function down first and runs the program: dualad.compile, and its peers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .backend import numbers
from .jax_eager import Jax
from .ours import DualAD
from .pytorch import TorchFunc

__all__ = ["JaxJit", "OnMachine", "OnNumpy", "TorchCompile"]


class OnNumpy(DualAD):
    """dualad.compile without a further package."""

    name = "compile"
    rival = False
    is_compiled = True
    imports = gradient = ""
    tier = "numpy"

    def run(self, g: Callable, *x: Any) -> Callable:
        """g of x as a program that has been traced and built."""
        compiled = self.ad.compile(g, backend=self.tier)
        for _ in range(3):
            compiled(*x)
        return lambda: compiled(*x)

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self.run(lambda x, t: self.ad.jvp(f, x, t)[1], x, t)

    def grad(self, f: Callable, x: tuple) -> Callable:
        return self.run(self.ad.grad(f, argnums=numbers(x)), *x)

    def vag(self, f: Callable, x: tuple) -> Callable:
        return self.run(self.ad.value_and_grad(f, argnums=numbers(x)), *x)

    def hvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self.run(lambda x, t: self.ad.hvp(f, x, t), x, t)

    def hess(self, f: Callable, x: tuple) -> Callable:
        return self.run(self.ad.hessian(f), *x)

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        return self.run(self.ad.jacfwd(f, argnums=numbers(x)), *x)

    jac2 = jacfwd

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        return self.run(self.ad.jacrev(f), *x)

    def jvpk(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self.run(self.ad.vmap(lambda *v: self.ad.jvp(f, x, v)[1]), *t)

    def slopes(self, f: Callable) -> Callable:
        return self.ad.compile(super().slopes(f), backend=self.tier)


class OnMachine(OnNumpy):
    """dualad.compile with the extra jit."""

    name = "compile jit"
    tier = "numba"

    def __init__(self) -> None:
        import numba

        super().__init__()
        self.numba = numba


class JaxJit(Jax):
    """JAX with jit around the whole job."""

    name = "jax jit"
    rival = False
    is_compiled = True
    imports = gradient = ""
    #: unrolled loops, which take XLA minutes
    skips = ("chain_1e5", "lstm_256", "indexing_1000", "newton_200", "ops_scalar", "ops_len10")

    def _of(self, g: Callable, *x: Any) -> Callable:
        call = self.jax.jit(g)
        return lambda: self.jax.block_until_ready(call(*x))

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self._of(lambda x, t: self.jax.jvp(f, x, t)[1], x, t)

    def grad(self, f: Callable, x: tuple) -> Callable:
        return self._of(self.jax.grad(f, argnums=numbers(x)), *x)

    def vag(self, f: Callable, x: tuple) -> Callable:
        return self._of(self.jax.value_and_grad(f, argnums=numbers(x)), *x)

    def hvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self._of(lambda x, t: self.jax.jvp(self.jax.grad(f), x, t)[1], x, t)

    def hess(self, f: Callable, x: tuple) -> Callable:
        return self._of(self.jax.hessian(f), *x)

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        return self._of(self.jax.jacfwd(f, argnums=numbers(x)), *x)

    jac2 = jacfwd

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        return self._of(self.jax.jacrev(f), *x)

    def jvpk(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self._of(lambda x, t: self.jax.vmap(lambda *v: self.jax.jvp(f, x, v)[1])(*t), x, t)

    def slopes(self, f: Callable) -> Callable:
        units = self.xp.eye(3)

        def push(y: Any, p: Any, s: Any) -> Any:
            along = self.jax.vmap(lambda u, v: self.jax.jvp(f, (y, p), (u, v)), out_axes=(None, 0))
            return along(s, units)

        call = self.jax.jit(push)
        return lambda *at: tuple(map(np.asarray, call(*at)))


class TorchCompile(TorchFunc):
    """PyTorch's compiler around the function transformations."""

    name = "torch compile"
    rival = False
    is_compiled = True
    imports = gradient = ""
    only = (
        "black_scholes_1e6", "polynomial_1e6", "mlp", "rosenbrock_100", "rosenbrock_10000",
        "gmm_d10_k25",
    )  # fmt: skip

    def _of(self, g: Callable, *x: Any) -> Callable:
        call = self.torch.compile(g)
        return lambda: call(*x)

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self._of(lambda x, t: self.torch.func.jvp(f, x, t)[1], x, t)

    def grad(self, f: Callable, x: tuple) -> Callable:
        return self._of(self.torch.func.grad(f, argnums=numbers(x)), *x)

    def vag(self, f: Callable, x: tuple) -> Callable:
        g = self.torch.func.grad_and_value(f, argnums=numbers(x))
        return self._of(lambda *x: g(*x)[::-1], *x)

    def hvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self._of(lambda x, t: self.torch.func.jvp(self.torch.func.grad(f), x, t)[1], x, t)
