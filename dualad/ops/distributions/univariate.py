"""One random number: how SciPy's calling forms lead to a formula on the standard scale.

A distribution states its formulas for location 0 and scale 1, inside of its support. Outside of it
values are SciPy's and derivatives 0; parameters that are not valid give NaN.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...engine.arrays.guard import quiet
from ...engine.kinds.direction import constant
from ..dropin import ROOT, is_tracked, operand, refusing, unboxed

__all__ = ["Continuous", "Discrete", "Frozen", "passed"]

INF = np.inf
#: The value of each function below and above the support.
BELOW = {"pdf": 0, "logpdf": -INF, "pmf": 0, "logpmf": -INF, "cdf": 0, "logcdf": -INF}
BELOW |= {"sf": 1, "logsf": 0}
ABOVE = {**BELOW, "cdf": 1, "logcdf": 0, "sf": 0, "logsf": -INF}


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwds: Any) -> Any:
        return self.call(name, args, kwds)

    method.__name__ = name
    method.__doc__ = f"As scipy.stats' {name}, differentiable in all arguments."
    return method


def exponential(y: Any) -> Any:
    """exp(y), which is constant where it underflows: slopes of y may be infinite there."""
    seen = y > -1000.0
    return np.where(seen, np.exp(np.where(seen, y, 0.0)), 0.0)


def _named(name: str) -> Any:
    return getattr(importlib.import_module(f"{ROOT}.scipy.stats"), name)


def passed(original: Any, name: str, kind: type) -> Any:
    """An attribute of SciPy's object; a method without a rule refuses tracked arguments."""
    value = getattr(original, name)
    if not inspect.ismethod(value):
        return value
    title = getattr(original, "name", None) or type(original).__name__.removesuffix("_gen")
    title = f"scipy.stats.{title}"
    covered = [f"{title}.{n}" for n in BELOW if hasattr(kind, n)]
    return refusing(value, f"{title}.{name}", tuple(covered))


class Distribution:
    """A distribution of SciPy, with formulas for some of its functions.

    Args:
        original: SciPy's object, which serves plain arguments and all other names.
        shapes: the names of the shape parameters.
        support: the ends of the support at location 0 and scale 1.
        formulas: by name of function, (z, *shapes) -> value inside of the support.
    """

    #: the first argument, and location and scale with SciPy's defaults
    argument = "x"
    frame: ClassVar[dict[str, float]] = {"loc": 0, "scale": 1}

    def __init__(
        self,
        original: Any,
        shapes: tuple[str, ...],
        support: tuple[float, float],
        **formulas: Callable[..., Any],
    ):
        self.original, self.shapes, self.support = original, shapes, support
        self.formulas = formulas
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        named = [inspect.Parameter(n, kind) for n in (self.argument, *shapes)]
        framed = [inspect.Parameter(n, kind, default=v) for n, v in self.frame.items()]
        self.signature = inspect.Signature(named + framed)

    def __call__(self, *args: Any, **kwds: Any) -> Frozen:
        return Frozen(self, args, kwds)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "original":
            raise AttributeError(name)
        return passed(self.original, name, type(self))

    def __repr__(self) -> str:
        return f"<{ROOT}.scipy.stats.{self.original.name}>"

    def __reduce__(self) -> Any:
        return _named, (self.original.name,)

    def call(self, name: str, args: tuple, kwds: dict) -> Any:
        """SciPy's function on plain arguments, the formula where one is tracked."""
        return unboxed(self._call, (name, *args), kwds)

    def _call(self, name: str, *args: Any, **kwds: Any) -> Any:
        if not is_tracked((args, kwds)):
            return getattr(self.original, name)(*args, **kwds)
        bound = self.signature.bind(*args, **kwds)
        bound.apply_defaults()
        values = [operand(v).astype(np.float64) for v in bound.arguments.values()]
        with quiet():
            return self.value(name, *values)

    def formula(self, name: str) -> Callable[..., Any]:
        """The formula of a function: its own, or from that of its logarithm or exponential."""
        if name in self.formulas:
            return self.formulas[name]
        if name.startswith("log"):
            plain = self.formulas[name[3:]]
            return lambda z, *shapes: np.log(plain(z, *shapes))
        logarithm = self.formulas[f"log{name}"]
        return lambda z, *shapes: exponential(logarithm(z, *shapes))

    def value(self, name: str, x: Any, *parameters: Any) -> Any:
        """The value of a function on arguments of which one is tracked."""
        raise NotImplementedError

    def joined(self, name: str, z: Any, within: Any, valid: Any, y: Callable[[Any], Any]) -> Any:
        """y(z) in the support, and what SciPy gives elsewhere, without derivative.

        An end of the support where the density is 0 counts as outside of it.
        """
        low, high = self.support
        middle = 0.0 if low == -INF else low + min(high - low, 2.0) / 2
        within = within & valid & np.isfinite(z)
        value = y(np.where(within, z, middle))
        if name in ("logpdf", "logpmf"):
            within = within & (value > -INF)
        outside = np.where(z >= high, ABOVE[name], BELOW[name])
        outside = np.where(valid & (z == z), outside, np.nan)
        return np.where(within, value, outside)


class Continuous(Distribution):
    """A continuous distribution, whose parameters are positive but for the location."""

    pdf, logpdf, cdf, logcdf, sf, logsf = map(
        _method, ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
    )

    def value(self, name: str, x: Any, *parameters: Any) -> Any:
        """The formula at (x - loc) / scale; densities are divided by the scale."""
        *shapes, loc, scale = parameters
        valid = scale > 0
        for s in shapes:
            valid = valid & (s > 0)
        shapes = [np.where(valid, s, 1.0) for s in shapes]
        scale = np.where(valid, scale, 1.0)
        z, (low, high) = (x - loc) / scale, self.support
        is_density = name in ("pdf", "logpdf")
        within = (z >= low) & (z <= high) if is_density else (z > low) & (z < high)

        def y(z: Any) -> Any:
            value = self.formula(name)(z, *shapes)
            if not is_density:
                return value
            return value / scale if name == "pdf" else value - np.log(scale)

        return self.joined(name, z, within, valid, y)


class Discrete(Distribution):
    """A distribution of whole numbers, whose parameters are not negative but for the location.

    Its functions are step functions of k, with slope 0 in it.
    """

    argument = "k"
    frame: ClassVar[dict[str, float]] = {"loc": 0}

    pmf, logpmf, cdf, logcdf, sf, logsf = map(
        _method, ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
    )

    def value(self, name: str, x: Any, *parameters: Any) -> Any:
        """The formula at k - loc, or at the whole number below it."""
        *shapes, loc = parameters
        k = constant(x - loc)
        valid = k == k
        for s in shapes:
            valid = valid & (s >= 0)
        shapes = [np.where(valid, s, 1.0) for s in shapes]
        within = k >= self.support[0]
        if name in ("pmf", "logpmf"):
            within = within & (k == np.floor(k))
        return self.joined(
            name, np.floor(k), within, valid, lambda k: self.formula(name)(k, *shapes)
        )


class Frozen:
    """A distribution with its parameters; what has no rule is SciPy's frozen distribution's."""

    def __init__(self, dist: Distribution, args: tuple, kwds: dict):
        self.dist, self.args, self.kwds = dist, args, kwds

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("dist", "args", "kwds"):
            raise AttributeError(name)
        if name in BELOW and hasattr(type(self.dist), name):
            return lambda x: getattr(self.dist, name)(x, *self.args, **self.kwds)
        if is_tracked((self.args, self.kwds)):
            return getattr(self.dist, name)(*self.args, **self.kwds)
        return getattr(self.dist.original(*self.args, **self.kwds), name)
