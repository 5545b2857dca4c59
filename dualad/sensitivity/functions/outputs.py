"""What a model returns (a number, an array, a mapping, a pandas object), with names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.levels.values import as_value
from ...errors import DualADError
from ..errors import ModelError, ParameterError, unknown_name
from ..given import is_among, members
from ..named import mapping_of

__all__ = ["Layout", "entries", "layout_of"]


@dataclass(frozen=True)
class Layout:
    """The shape of the values and the names of their entries, flat.

    groups: for a mapping, the names of the entries of each of its items; else empty.
    """

    shape: tuple[int, ...]
    names: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]

    def selected(self, outputs: Iterable[str] | str | None) -> tuple[Layout, np.ndarray | None]:
        """The layout of chosen outputs, and where they stand; None where all stay as they are.

        A model that returns a mapping or a pandas object names its outputs, so they are chosen by
        name; for an array, as many names as it has entries name them.
        """
        if outputs is None:
            return self, None
        wanted = [outputs] if isinstance(outputs, str) else members("outputs", outputs, "names")
        naming = not self.groups and len(wanted) == len(self.names)
        if naming and not set(wanted) <= set(self.names):
            _require_different(wanted)
            return Layout(self.shape, tuple(wanted), {}), None
        groups = {name: self._group(name) for name in wanted}
        _require_different(wanted)
        names = tuple(n for group in groups.values() for n in group)
        at = np.array([self.names.index(n) for n in names], int)
        return Layout((len(names),), names, groups if self.groups else {}), at

    def _group(self, name: str) -> tuple[str, ...]:
        if is_among(name, self.groups):
            return self.groups[name]
        if name not in self.names:
            known = dict.fromkeys([*self.groups, *self.names])
            raise ParameterError(unknown_name("output", name, known))
        return (name,)


def _require_different(names: Sequence[Any]) -> None:
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"the name of an output must be a string, got {name!r}")
        if list(names).count(name) > 1:
            raise ParameterError(f"the output {name!r} is asked for twice")


def entries(
    returned: Any, what: str, failed: Callable[[str], ModelError], kinds: str = "fiu"
) -> dict[str, Any]:
    """The items of what a model returned as values, traced or not, by name.

    Args:
        returned: a number, an array, a list, a mapping, a dataclass, a named tuple, a pandas
            Series or DataFrame.
        what: how an error names it.
        failed: makes the error of a sentence.
        kinds: the kinds of dtype that are taken; real numbers, if nothing else is said.
    """
    items = mapping_of(returned)
    items = {"": _without_index(returned)} if items is None else items
    if not items:
        raise failed("returned no output")
    out = {}
    for name, item in items.items():
        if not isinstance(name, str):
            raise failed(f"returned an output of the name {name!r}: a name must be a string")
        label = f"output {name!r} of {what}" if name else f"what {what} returned"
        if item is None:
            raise failed(f"{label} is None: is a return statement missing?")
        try:
            value = as_value(_without_index(item), label)
        except (DualADError, ValueError, TypeError) as error:
            told = isinstance(error, DualADError)
            raise failed(str(error) if told else f"{label} is no array: {error}") from error
        if value.dtype.kind not in kinds:
            hint = ": return its real and its imaginary part" if value.dtype.kind == "c" else ""
            raise failed(f"{label} is of {value.dtype}, not of real numbers{hint}")
        out[name] = value
    return out


def _without_index(item: Any) -> Any:
    """The numbers of a pandas object; anything else as it is."""
    return item.to_numpy() if _is_pandas(item) else item


def _is_pandas(item: Any) -> bool:
    return type(item).__module__.partition(".")[0] == "pandas" and hasattr(item, "to_numpy")


def layout_of(returned: Any, values: Mapping[str, Any]) -> Layout:
    """Shape and names of what a model returned, whose items are `values`."""
    if mapping_of(returned) is not None:
        groups = {name: tuple(_numbered(name, v.shape)) for name, v in values.items()}
        names = tuple(n for group in groups.values() for n in group)
        return Layout((len(names),), names, groups)
    shape = tuple(values[""].shape)
    if _is_pandas(returned):
        return Layout(shape, _pandas_names(returned), {})
    return Layout(shape, tuple(_numbered("y", shape)), {})


def _numbered(name: str, shape: Sequence[int]) -> Iterable[str]:
    """A name for each entry of an array: the name itself, where there is one entry."""
    if not shape:
        return [name]
    return [f"{name}[{','.join(map(str, i))}]" for i in itertools.product(*map(range, shape))]


def _pandas_names(returned: Any) -> tuple[str, ...]:
    """The index of a Series; the columns of a DataFrame with the index of each row."""
    index = [str(i) for i in returned.index]
    if not hasattr(returned, "columns"):
        return tuple(index)
    return tuple(f"{c}[{i}]" for i in index for c in returned.columns)
