"""This library."""

from collections.abc import Callable

import numpy as np

from .backend import Backend, numbers


class DualAD(Backend):
    """dualad on plain NumPy arrays, by its public functions."""

    name = package = "dualad"
    imports = "import dualad"
    gradient = "dualad.grad(lambda x: numpy.sum(numpy.sin(x) * x))(numpy.ones(3))"

    def __init__(self) -> None:
        import dualad

        self.ad = dualad

    def release(self) -> None:
        from dualad.engine.arrays.memory import POOL

        POOL.shrink()

    def version(self) -> str:
        return self.ad.__version__

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return lambda: self.ad.jvp(f, x, t)[1]

    def grad(self, f: Callable, x: tuple) -> Callable:
        g = self.ad.grad(f, argnums=numbers(x))
        return lambda: g(*x)

    def vag(self, f: Callable, x: tuple) -> Callable:
        g = self.ad.value_and_grad(f, argnums=numbers(x))
        return lambda: g(*x)

    def hvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return lambda: self.ad.hvp(f, x, t)

    def hess(self, f: Callable, x: tuple) -> Callable:
        h = self.ad.hessian(f)
        return lambda: h(*x)

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        j = self.ad.jacfwd(f, argnums=numbers(x))
        return lambda: j(*x)

    jac2 = jacfwd

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        j = self.ad.jacrev(f)
        return lambda: j(*x)

    def jvpk(self, f: Callable, x: tuple, t: tuple) -> Callable:
        push = self.ad.vmap(lambda *v: self.ad.jvp(f, x, v)[1])
        return lambda: push(*t)

    def slopes(self, f: Callable) -> Callable:
        units = np.eye(3)

        def rhs(y: np.ndarray, p: np.ndarray, s: np.ndarray) -> tuple:
            push = self.ad.vmap(lambda u, v: self.ad.jvp(f, (y, p), (u, v)), out_axes=(None, 0))
            return push(s, units)

        return rhs
