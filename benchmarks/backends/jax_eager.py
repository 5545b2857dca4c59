"""JAX without jit."""

import os
from collections.abc import Callable
from typing import Any

from .backend import Backend, numbers


class Jax(Backend):
    """JAX as a user calls it who writes NumPy with control flow."""

    name, package = "jax eager", "jax"
    imports = "import jax, jax.numpy as jnp"
    gradient = "jax.grad(lambda x: jnp.sum(jnp.sin(x) * x))(jnp.ones(3)).block_until_ready()"
    skips = ("chain_1e5", "lstm_256", ("indexing_1000", "grad"), ("newton_200", "grad"))

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

    def done(self, run: Callable) -> Callable:
        return lambda: self.jax.block_until_ready(run())

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return self.done(lambda: self.jax.jvp(f, x, t)[1])

    def grad(self, f: Callable, x: tuple) -> Callable:
        g = self.jax.grad(f, argnums=numbers(x))
        return self.done(lambda: g(*x))

    def vag(self, f: Callable, x: tuple) -> Callable:
        g = self.jax.value_and_grad(f, argnums=numbers(x))
        return self.done(lambda: g(*x))

    def hvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        g = self.jax.grad(f)
        return self.done(lambda: self.jax.jvp(g, x, t)[1])

    def hess(self, f: Callable, x: tuple) -> Callable:
        h = self.jax.hessian(f)
        return self.done(lambda: h(*x))

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        j = self.jax.jacfwd(f, argnums=numbers(x))
        return self.done(lambda: j(*x))

    jac2 = jacfwd

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        j = self.jax.jacrev(f)
        return self.done(lambda: j(*x))

    def jvpk(self, f: Callable, x: tuple, t: tuple) -> Callable:
        push = self.jax.vmap(lambda *v: self.jax.jvp(f, x, v)[1])
        return self.done(lambda: push(*t))
