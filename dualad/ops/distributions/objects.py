"""SciPy's objects of random vectors, some of whose methods have rules; the others stay SciPy's."""

from __future__ import annotations

from typing import Any

from ..dropin import is_tracked, unboxed
from .univariate import passed

__all__ = ["DropIn", "FrozenDistribution"]


class DropIn:
    """SciPy's object for plain arguments and for all names without a rule."""

    def __init__(self, original: Any):
        self.original = original

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "original":
            raise AttributeError(name)
        return passed(self.original, name, type(self))

    def _serve(self, name: str, rule: Any, args: tuple, kwds: dict) -> Any:
        def call(*args: Any, **kwds: Any) -> Any:
            served = rule if is_tracked((args, kwds)) else getattr(self.original, name)
            return served(*args, **kwds)

        return unboxed(call, args, kwds)


class FrozenDistribution(DropIn):
    """A distribution with its parameters."""

    def __init__(self, dist: Any, functions: tuple, args: tuple, kwds: dict):
        self.dist, self.functions, self.args, self.kwds = dist, functions, args, kwds

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("dist", "functions", "args", "kwds"):
            raise AttributeError(name)
        if name in self.functions:
            return lambda x, **more: getattr(self.dist, name)(x, *self.args, **self.kwds, **more)
        return getattr(self.dist.original(*self.args, **self.kwds), name)
