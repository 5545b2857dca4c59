"""Named parameters in a fixed order, what is known of each, and what a model sees of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ParameterError, UnknownNameError, unknown_name
from ..given import is_among, members
from ..named import mapping_of
from .covariance import checked_correlation, checked_covariance
from .parameter import Parameter, checked, real_number

__all__ = ["ModelParameters", "Parameter", "Parameters"]


class Parameters(Mapping[str, float]):
    """Named finite real numbers in a fixed order.

    Args:
        values: a mapping of names to numbers or `Parameter` objects, a dataclass, a named tuple or
            a pandas Series of them, or pairs of both.
        correlation: the matrix of correlation coefficients, in the order of the names.

    Raises:
        ParameterError: a name is no string or comes twice; a value is not a finite real number or
            outside of its bounds; an uncertainty is negative; the correlation is none.

    >>> p = Parameters({"k1": 0.04, "k2": Parameter(1e4, u=100.0, unit="1/s")})
    >>> p["k1"], p.names, p.vector()
    (0.04, ('k1', 'k2'), array([4.e-02, 1.e+04]))
    >>> p.parameter("k2").unit
    '1/s'
    """

    def __init__(
        self,
        values: Mapping[str, float | Parameter] | Iterable[tuple[str, float | Parameter]],
        correlation: Any = None,
    ):
        self._details: dict[str, Parameter] = {}
        for name, value in _pairs(values):
            if not isinstance(name, str) or not name or name.startswith("__"):
                raise ParameterError(f"the name of a parameter must be a string, got {name!r}")
            if name in self._details:
                raise ParameterError(f"there are two parameters of the name {name!r}")
            self._details[name] = checked(name, value)
        self._correlation = np.eye(len(self._details))
        if correlation is not None:
            self._correlation = checked_correlation(correlation, self.names)
        elif isinstance(values, Parameters):
            self._correlation = values._correlation.copy()

    def __getitem__(self, name: str) -> float:
        return self.parameter(name).value

    def __iter__(self) -> Iterator[str]:
        return iter(self._details)

    def __len__(self) -> int:
        return len(self._details)

    def __repr__(self) -> str:
        return f"Parameters({dict(self)})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._details)

    def parameter(self, name: str) -> Parameter:
        """One parameter with all that is known of it."""
        if not is_among(name, self._details):
            raise UnknownNameError(unknown_name("parameter", name, self._details))
        return self._details[name]

    def details(self) -> Iterator[tuple[str, Parameter]]:
        """The names with all that is known of each."""
        return iter(self._details.items())

    def label(self, name: str) -> str:
        """How tables and pictures name a parameter."""
        return self.parameter(name).label or name

    def vector(self) -> np.ndarray:
        """The values, in order."""
        return np.array([p.value for p in self._details.values()], float)

    @property
    def u(self) -> np.ndarray:
        """The standard uncertainties, in order; 0 where none is given."""
        return np.array([p.u or 0.0 for p in self._details.values()], float)

    @property
    def dof(self) -> np.ndarray:
        """The degrees of freedom of the uncertainties, in order."""
        return np.array([p.dof for p in self._details.values()], float)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower and the upper bounds, in order; infinite where there is none."""
        lower = [-math.inf if p.lower is None else p.lower for p in self._details.values()]
        upper = [math.inf if p.upper is None else p.upper for p in self._details.values()]
        return np.array(lower, float), np.array(upper, float)

    @property
    def units(self) -> dict[str, str | None]:
        """The units, by name."""
        return {name: p.unit for name, p in self._details.items()}

    @property
    def correlation(self) -> np.ndarray:
        """The correlation coefficients, in order."""
        return self._correlation.copy()

    @property
    def covariance(self) -> np.ndarray:
        """The covariance matrix that uncertainties and correlations make.

        Raises:
            ParameterError: the correlations contradict each other.
        """
        return checked_correlation(self._correlation, self.names) * np.outer(self.u, self.u)

    def set_correlation(self, a: str, b: str, r: float) -> Parameters:
        """Set the correlation coefficient of two parameters, here; returns the same object.

        Whether all of them go together is asked when the covariance is.

        Raises:
            ParameterError: r is outside of [-1, 1], or a name is unknown.

        >>> p = Parameters({"a": Parameter(1.0, u=0.1), "b": Parameter(2.0, u=0.3)})
        >>> p.set_correlation("a", "b", 0.5).covariance.round(3)
        array([[0.01 , 0.015],
               [0.015, 0.09 ]])
        """
        i, j = (self.names.index(name) for name in self._known((a, b)))
        if i == j:
            raise ParameterError(f"the correlation of {a!r} with itself is 1")
        r = real_number(f"the correlation of {a!r} and {b!r}", r)
        if not -1.0 <= r <= 1.0:
            raise ParameterError(f"the correlation of {a!r} and {b!r} is {r}, outside of [-1, 1]")
        self._correlation[i, j] = self._correlation[j, i] = r
        return self

    def with_covariance(self, covariance: Any, dof: Any = None) -> Parameters:
        """The same parameters with uncertainties and correlations from a covariance matrix.

        Args:
            covariance: of shape (k, k), in the order of the names.
            dof: degrees of freedom of the uncertainties; default those that are.
        """
        matrix = checked_covariance(covariance, self.names)
        u = np.sqrt(np.diag(matrix))
        scale = np.where(u > 0, u, 1.0)
        r = np.clip(matrix / np.outer(scale, scale), -1.0, 1.0)
        np.fill_diagonal(r, 1.0)
        dofs = self.dof if dof is None else np.broadcast_to(np.asarray(dof, float), u.shape)
        rows = zip(self._details.items(), u, dofs, strict=True)
        return Parameters(((n, replace(p, u=float(s), dof=float(d))) for (n, p), s, d in rows), r)

    def subset(self, names: Iterable[str]) -> Parameters:
        """These parameters alone, in the order in which they are named.

        Raises:
            ParameterError: a name is unknown or comes twice.
        """
        named = [names] if isinstance(names, str) else members("wrt", names, "names of parameters")
        chosen = list(self._known(named))
        for name in chosen:
            if chosen.count(name) > 1:
                raise ParameterError(f"the parameter {name!r} is asked for twice")
        out = Parameters((name, self._details[name]) for name in chosen)
        at = [self.names.index(name) for name in chosen]
        out._correlation = self._correlation[np.ix_(at, at)]
        return out

    def chosen(self, wrt: Iterable[str] | None = None) -> Parameters:
        """What is differentiated by: those named, or all that are not fixed.

        Raises:
            ParameterError: there is none, or a name is unknown or comes twice.
        """
        names = [n for n, p in self._details.items() if not p.fixed] if wrt is None else wrt
        out = self.subset(names)
        if not len(out):
            raise ParameterError(
                "there is no parameter to differentiate by: wrt is empty, or all are fixed"
            )
        return out

    def replace(self, /, **values: float | Parameter) -> Parameters:
        """The same parameters with some values changed; what else is known of them stays."""
        self._known(values)
        changed = dict(self._details)
        for name, value in values.items():
            given = isinstance(value, Parameter)
            changed[name] = value if given else replace(changed[name], value=value)  # type: ignore
        out = Parameters(changed)
        out._correlation = self._correlation.copy()
        return out

    def moved(self, vector: Iterable[float]) -> Parameters:
        """The same parameters with these values, in order."""
        values = members("the values of the parameters", vector, "numbers")
        if len(values) != len(self):
            raise ParameterError(f"there are {len(self)} parameters, but {len(values)} values")
        return self.replace(**dict(zip(self.names, values, strict=True)))

    def _known(self, names: Iterable[str]) -> Iterable[str]:
        for name in names:
            if not is_among(name, self._details):
                raise ParameterError(unknown_name("parameter", name, self._details))
        return names


def _pairs(values: Any) -> list[tuple[Any, Any]]:
    if isinstance(values, Parameters):
        return list(values.details())
    if isinstance(values, ModelParameters):
        known = values._origin
        return list(values.__dict__.items() if known is None else known().details())
    named = mapping_of(values)
    given = values if named is None else named.items()
    if hasattr(values, "index") and hasattr(values, "items"):
        given = values.items()  # a pandas Series
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(f"parameters are a mapping of names to values; got {values!r}")
    pairs = list(given)
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ParameterError(
                f"parameters are a mapping of names to values, a dataclass, a pandas Series, or "
                f"pairs of names and values: got {pair!r} where a pair should be"
            )
    return [tuple(pair) for pair in pairs]


class ModelParameters:
    """What a model sees: `p.k1` or `p["k1"]`, a number or a traced number.

    It has the methods of a mapping, where no parameter has their name.

    Args:
        values: by name.
        origin: gives the plain parameters, with all that is known of them: what an analysis inside
            of the model takes these for. A traced value that it is handed besides is an error
            there, so that no derivative is lost between the two.
    """

    __slots__ = ("__dict__", "_origin")
    _origin: Callable[[], Parameters] | None

    def __init__(self, values: Mapping[str, Any], origin: Callable[[], Parameters] | None = None):
        object.__setattr__(self, "_origin", origin)
        self.__dict__.update(values)

    def __reduce__(self) -> Any:
        return type(self), (dict(self.__dict__), self._origin)

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dict__:
            raise KeyError(unknown_name("parameter", name, self.__dict__))
        return self.__dict__[name]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(unknown_name("parameter", name, self.__dict__))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a model may read its parameters, not set them ({name!r})")

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)

    def keys(self) -> Any:
        """The names, in order."""
        return self.__dict__.keys()

    def values(self) -> Any:
        """The values, in order."""
        return self.__dict__.values()

    def items(self) -> Any:
        """Names and values, in order."""
        return self.__dict__.items()

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a parameter; the default, if there is none of the name."""
        return self.__dict__.get(name, default)

    def __repr__(self) -> str:
        return f"ModelParameters({self.__dict__})"
