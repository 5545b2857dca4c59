"""CasADi: a graph that is built once, beforehand, and evaluated by its virtual machine."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from .backend import Backend


class Casadi(Backend):
    """Symbolic expressions of scalars; no rival of a library that runs the user's Python."""

    name = package = "casadi"
    rival = False
    is_compiled = True
    only = (
        "ops_scalar", "ops_len10", "rosenbrock_2", "rosenbrock_100", "rosenbrock_10000",
        "robertson", "brusselator_100", "radau_robertson", "rk45_brusselator",
    )  # fmt: skip
    imports = "import casadi"
    gradient = (
        "x = casadi.SX.sym('x', 3); y = casadi.sum1(casadi.sin(x) * x); "
        "casadi.Function('g', [x], [casadi.gradient(y, x)])(numpy.ones(3))"
    )

    def __init__(self) -> None:
        import casadi

        self.casadi = casadi
        join = lambda parts, axis=0: casadi.vertcat(*parts)
        self.xp = SimpleNamespace(
            sin=casadi.sin, cos=casadi.cos, sum=casadi.sum1, stack=join, concatenate=join
        )

    def plain(self, x: Any) -> np.ndarray:
        return x.full()

    def symbols(self, name: str, x: tuple, columns: int = 1) -> list:
        return [
            self.casadi.SX.sym(f"{name}{k}", int(np.size(v)), columns) for k, v in enumerate(x)
        ]

    def call(self, symbols: list, results: list, x: tuple) -> Callable:
        function = self.casadi.Function("run", symbols, results)
        return lambda: function(*x)

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        at, along = self.symbols("x", x), self.symbols("t", t)
        return self.call([*at, *along], [self.casadi.jtimes(f(*at), at[0], along[0])], x + t)

    def grad(self, f: Callable, x: tuple) -> Callable:
        at = self.symbols("x", x)
        return self.call(at, [self.casadi.gradient(f(*at), at[0])], x)

    def hvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        at, along = self.symbols("x", x), self.symbols("t", t)
        gradient = self.casadi.gradient(f(*at), at[0])
        return self.call([*at, *along], [self.casadi.jtimes(gradient, at[0], along[0])], x + t)

    def hess(self, f: Callable, x: tuple) -> Callable:
        at = self.symbols("x", x)
        return self.call(at, [self.casadi.hessian(f(*at), at[0])[0]], x)

    def jac2(self, f: Callable, x: tuple) -> Callable:
        at = self.symbols("x", x)
        y = f(*at)
        return self.call(at, [self.casadi.jacobian(y, v) for v in at], x)

    def three(self, f: Callable, at: list, along: list) -> Any:
        y, derivative = f(*at), self.casadi.jtimes
        return self.casadi.horzcat(
            *(
                sum(derivative(y, v, t[:, k]) for v, t in zip(at, along, strict=True))
                for k in range(3)
            )
        )

    def jvpk(self, f: Callable, x: tuple, t: tuple) -> Callable:
        at, along = self.symbols("x", x), self.symbols("t", x, 3)
        columns = tuple(v.T for v in t)
        return self.call([*at, *along], [self.three(f, at, along).T], x + columns)

    def slopes(self, f: Callable) -> Callable:
        made: dict[int, Any] = {}

        def rhs(y: np.ndarray, p: np.ndarray, s: np.ndarray) -> tuple:
            if y.size not in made:
                at = self.symbols("x", (y, p))
                along = [self.casadi.SX.sym("s", y.size, 3), self.casadi.DM.eye(3)]
                results = [f(*at), self.three(f, at, along)]
                made[y.size] = self.casadi.Function("run", [*at, along[0]], results)
            dy, ds = made[y.size](y, p, s.T)
            return dy.full().ravel(), ds.full().T

        return rhs
