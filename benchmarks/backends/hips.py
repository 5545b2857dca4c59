"""HIPS autograd."""

from collections.abc import Callable

import numpy as np

from .backend import Backend, numbers


class Autograd(Backend):
    """autograd with its own NumPy."""

    name = package = "autograd"
    imports = "import autograd, autograd.numpy as anp"
    gradient = "autograd.grad(lambda x: anp.sum(anp.sin(x) * x))(numpy.ones(3))"

    def __init__(self) -> None:
        import autograd
        import autograd.numpy
        from autograd import differential_operators

        self.ad, self.xp, self.operators = autograd, autograd.numpy, differential_operators

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        along = self.operators.make_jvp(lambda x: f(*x))
        return lambda: along(tuple(x))(tuple(t))[1]

    def grad(self, f: Callable, x: tuple) -> Callable:
        g = self.ad.grad(f, argnum=numbers(x))
        return lambda: g(*x)

    def vag(self, f: Callable, x: tuple) -> Callable:
        packed = self.ad.value_and_grad(lambda x: f(*x))
        return lambda: packed(tuple(x))

    def hvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        h = self.operators.make_hvp(f)
        return lambda: h(*x)[0](*t)

    def hess(self, f: Callable, x: tuple) -> Callable:
        h = self.ad.hessian(f)
        return lambda: h(*x)

    def jacfwd(self, f: Callable, x: tuple) -> Callable:
        at, units = self.operators.make_jvp(f), np.eye(x[0].size)

        def run() -> np.ndarray:
            along = at(*x)
            return np.stack([along(e)[1] for e in units], axis=-1)

        return run

    def jacrev(self, f: Callable, x: tuple) -> Callable:
        j = self.ad.jacobian(f)
        return lambda: j(*x)

    def jac2(self, f: Callable, x: tuple) -> Callable:
        first, second = self.ad.jacobian(f, 0), self.ad.jacobian(f, 1)
        return lambda: (first(*x), second(*x))

    def jvpk(self, f: Callable, x: tuple, t: tuple) -> Callable:
        at = self.operators.make_jvp(lambda x: f(*x))

        def run() -> np.ndarray:
            along = at(tuple(x))
            return np.stack([along(tuple(v))[1] for v in zip(*t, strict=True)])

        return run

    def slopes(self, f: Callable) -> Callable:
        at, units = self.operators.make_jvp(lambda x: f(*x)), np.eye(3)

        def rhs(y: np.ndarray, p: np.ndarray, s: np.ndarray) -> tuple:
            along = at((y, p))
            found = [along(v) for v in zip(s, units, strict=True)]
            return found[0][0], np.stack([moved for _, moved in found])

        return rhs
