"""num-dual: dual numbers of scalars in Rust."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .backend import Backend


class NumDual(Backend):
    """Numbers of its own, no arrays; no rival of a library for arrays."""

    name, package = "num-dual", "num_dual"
    rival = False
    only = ("ops_scalar", "newton_200", "chain_1e5")
    imports = "import num_dual"
    gradient = "num_dual.gradient(lambda x: sum(v.sin() * v for v in x), [1.0, 1.0, 1.0])"

    def __init__(self) -> None:
        import num_dual

        self.first = num_dual.first_derivative
        self.xp = SimpleNamespace(sin=lambda x: x.sin(), cos=lambda x: x.cos())

    def array(self, x: Any) -> Any:
        return float(x)

    def jvp(self, f: Callable, x: tuple, t: tuple) -> Callable:
        return lambda: self.first(f, x[0])[1]

    def grad(self, f: Callable, x: tuple) -> Callable:
        return self.jvp(f, x, ())
