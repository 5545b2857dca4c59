"""Sets of parameters: Latin hypercube, Sobol' sequence, or draws from their covariance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, overload

import numpy as np

from ..errors import ParameterError, SensitivityError, unknown_name
from ..extras import extra
from ..given import generator as generator_of, members
from ..parameters.parameters import Parameters

__all__ = ["ParameterSets", "sample"]

METHODS = ("lhs", "sobol", "normal")


class ParameterSets:
    """Sets of values for the same parameters.

    Attributes:
        names: the parameters, in the order of the columns.
        values: shape (n, k).
    """

    def __init__(self, names: Iterable[str], values: Any):
        self.names = tuple(members("names", names, "names of parameters"))
        self.values = np.asarray(values)
        for name in self.names:
            if not isinstance(name, str):
                raise ParameterError(f"the name of a parameter must be a string, got {name!r}")
            if self.names.count(name) > 1:
                raise ParameterError(f"there are two columns of the name {name!r}")
        if self.values.dtype.kind not in "fiu":
            raise ParameterError(f"the sets must be real numbers, got {self.values.dtype}")
        self.values = self.values.astype(float)
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names):
            raise ParameterError(
                f"the sets have shape {self.values.shape}: there must be one column for each of "
                f"{', '.join(self.names)}"
            )

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, i: int) -> dict[str, float]: ...

    @overload
    def __getitem__(self, i: slice) -> ParameterSets: ...

    def __getitem__(self, i: int | slice) -> dict[str, float] | ParameterSets:
        if isinstance(i, slice):
            return ParameterSets(self.names, self.values[i])
        return dict(zip(self.names, self.values[i].tolist(), strict=True))

    def __iter__(self) -> Iterator[dict[str, float]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} sets of {', '.join(self.names)}>"

    def column(self, name: str) -> np.ndarray:
        """The values of one parameter, shape (n,)."""
        if name not in self.names:
            raise ParameterError(unknown_name("parameter", name, self.names))
        return self.values[:, self.names.index(name)]

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, one column a parameter."""
        return extra("pandas").DataFrame(self.values, columns=list(self.names))


def sample(params: Any, n: int, method: str = "lhs", seed: Any = 0) -> ParameterSets:
    """Sets of parameters within their bounds, or from their uncertainties.

    Args:
        params: `Parameters`, or a mapping; those that are fixed keep their value.
        n: how many sets.
        method: "lhs", a Latin hypercube, or "sobol", a scrambled Sobol' sequence (best with a
            power of 2): uniform between the bounds, of the logarithm for scale="log"; where there
            are no bounds, normal with u. "normal": from values and covariance, log-normal for
            scale="log", drawn again where a bound is crossed.
        seed: a seed or a NumPy generator.

    Raises:
        ParameterError: a parameter has neither bounds nor u.

    >>> from dualad.sensitivity import Parameter
    >>> sets = sample({"k": Parameter(1.0, lower=0.5, upper=2.0)}, 4)
    >>> len(sets), sets.names, bool(((sets.values > 0.5) & (sets.values < 2.0)).all())
    (4, ('k',), True)
    """
    parameters = params if isinstance(params, Parameters) else Parameters(params)
    if method not in METHODS:
        raise SensitivityError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise SensitivityError(f"the number of sets must be a positive integer, got {n!r}")
    free = parameters.chosen()
    generator = generator_of("seed", seed)
    if method == "normal":
        drawn = _normal(free, int(n), generator)
    else:
        drawn = _stratified(free, int(n), method, generator)
    values = np.tile(parameters.vector(), (n, 1))
    values[:, [parameters.names.index(name) for name in free]] = drawn
    return ParameterSets(parameters.names, values)


def _stratified(free: Parameters, n: int, method: str, generator: np.random.Generator) -> Any:
    """Points of the unit cube, each coordinate through the quantiles of its parameter."""
    qmc = extra("scipy.stats.qmc")
    make = {"lhs": qmc.LatinHypercube, "sobol": qmc.Sobol}[method]
    engine = make(d=len(free), rng=generator)
    if method == "sobol":
        points = engine.random_base2((n - 1).bit_length())[:n] if n > 1 else engine.random(1)
    else:
        points = engine.random(n)
    columns = zip(free.details(), points.T, strict=True)
    return np.column_stack([_quantiles(name, p, x) for (name, p), x in columns])


def _quantiles(name: str, p: Any, x: np.ndarray) -> np.ndarray:
    """What parts of the probability x lie below, for one parameter."""
    log = p.scale == "log"
    if p.lower is not None and p.upper is not None:
        if log and p.lower <= 0:
            raise ParameterError(
                f"parameter {name!r} has a logarithmic scale: its lower bound must be positive"
            )
        ends = (np.log(p.lower), np.log(p.upper)) if log else (p.lower, p.upper)
        y = ends[0] + x * (ends[1] - ends[0])
        return np.clip(np.exp(y) if log else y, p.lower, p.upper)
    if p.u is None:
        raise ParameterError(
            f"parameter {name!r} has neither bounds nor an uncertainty: give lower and upper, or "
            f"u, or fixed=True"
        )
    z = extra("scipy.special").ndtri(np.clip(x, 1e-16, 1 - 1e-16))
    y = p.value * np.exp(z * p.u / p.value) if log else p.value + z * p.u
    return np.clip(y, p.lower, p.upper) if (p.lower, p.upper) != (None, None) else np.asarray(y)


def _normal(free: Parameters, n: int, generator: np.random.Generator) -> np.ndarray:
    """Draws from the covariance, those outside of the bounds drawn again."""
    missing = [name for name, p in free.details() if p.u is None]
    if missing:
        raise ParameterError(
            f"there is no uncertainty to draw from for {', '.join(missing)}: give u, or fixed=True"
        )
    lower, upper = free.bounds
    log = np.array([p.scale == "log" for _, p in free.details()])
    value, covariance = free.vector(), free.covariance
    scale = np.where(log, value, 1.0)
    mean = np.where(log, 0.0, value)
    out = np.empty((0, len(free)))
    for _ in range(200):
        draws = generator.multivariate_normal(
            mean, covariance / np.outer(scale, scale), size=n, method="svd", check_valid="ignore"
        )
        draws = np.where(log, value * np.exp(np.where(log, draws, 0.0)), draws)
        inside = ((draws >= lower) & (draws <= upper)).all(axis=1)
        out = np.concatenate([out, draws[inside]])
        if len(out) >= n:
            return out[:n]
    raise ParameterError("hardly any draw lies within the bounds of all parameters: widen them")


def as_sets(sets: Any, names: Iterable[str]) -> ParameterSets:
    """Sets from a DataFrame, an array, a list of mappings, or `sample`.

    Args:
        sets: what was given.
        names: the names of the columns of an array.
    """
    if isinstance(sets, ParameterSets):
        return sets
    if hasattr(sets, "columns") and hasattr(sets, "to_numpy"):
        return ParameterSets(map(str, sets.columns), sets.to_numpy())
    if isinstance(sets, Mapping):
        return ParameterSets(sets, _columns(sets))
    if isinstance(sets, np.ndarray):
        return ParameterSets(names, sets)
    rows = members("sets", sets, "mappings of names to numbers, or be an array or a table")
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _from_mappings(rows)
    return ParameterSets(names, np.array(rows))


def _columns(sets: Mapping[str, Any]) -> np.ndarray:
    """Columns side by side; a number stands for a column of it."""
    try:
        columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v)) for v in sets.values()))
    except ValueError:
        lengths = ", ".join(f"{name}: {np.size(v)}" for name, v in sets.items())
        raise ParameterError(f"the columns of the sets differ in length ({lengths})") from None
    return np.column_stack(columns)


def _from_mappings(rows: list[Any]) -> ParameterSets:
    columns = tuple(rows[0])
    for i, row in enumerate(rows):
        for name in set(columns) ^ set(row):
            raise ParameterError(f"set {i} and set 0 do not name the same parameters: {name!r}")
    return ParameterSets(columns, [[row[name] for name in columns] for row in rows])
