"""The question whether what a function reads is what it was, as one expression.

It is asked at each call. An expression that is written for it takes a third of the time of a loop
over what there is to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

import numpy as np

from ..engine.arrays.bits import same_bits
from .following import Following
from .holding import MISSING, entries

__all__ = ["unchanged"]


def unchanged(x: Following) -> Callable[[], bool]:
    """A function that tells whether everything is the same object as before.

    Where it says no, something may be equal all the same.
    """
    writer = _Writer()
    for cell, value, _ in x.cells:
        writer.add("{}.cell_contents is {}", cell, value)
    for names, name, value in x.items:
        writer.add(f"{{}}({name!r}, MISSING) is {{}}", names.get, value)
    for held, name, value in x.slots:
        if name == "__code__":
            writer.add("{}.__code__ is {}", held, value)
        else:
            writer.add(f"getattr({{}}, {name!r}, MISSING) is {{}}", held, value)
    for own, n, _ in x.sizes:
        writer.add(f"len({{}}) == {n}", own)
    for container, before, _ in x.contents:
        writer.entries(container, before)
    for array, shape, dtype, _ in x.layouts:
        writer.add(f"{{}}.shape == {shape} and {{}}.dtype is {{}}", array, array, dtype)
    for array, copy, _ in x.compared:
        if type(copy) is bytes:
            writer.add("{}.tobytes() == {}", array, copy)
        else:
            writer.add("same_bits({}, {})", array, copy)
    return writer.function()


class _Writer:
    """Writes the tests, and names what they are of."""

    def __init__(self) -> None:
        self.tests: list[str] = []
        self.scope: dict[str, Any] = {
            "MISSING": MISSING, "is_": is_, "same_bits": same_bits, "entries": entries,
        }  # fmt: skip

    def add(self, test: str, *values: Any) -> None:
        """A test of values, which stand for the braces in it."""
        names = [f"v{len(self.scope) + k}" for k in range(len(values))]
        self.scope.update(zip(names, values, strict=True))
        self.tests.append(test.format(*names))

    def entries(self, container: Any, before: Sequence[Any]) -> None:
        """That a container has the entries that it had."""
        n = len(before)
        if type(container) is dict:
            n //= 2
            self.add(
                f"len({{}}) == {n} and all(map(is_, {{}}, {{}}))", container, container, before[:n]
            )
            self.add("all(map(is_, {}.values(), {}))", container, before[n:])
        elif isinstance(container, np.ndarray):
            self.add(
                f"{{}}.size == {n} and all(map(is_, {{}}.flat, {{}}))",
                container,
                container,
                before,
            )
        elif type(container) is list:
            self.add(
                f"len({{}}) == {n} and all(map(is_, {{}}, {{}}))", container, container, before
            )
        else:
            self.add(f"len([*entries({{}})]) == {n}", container)
            self.add("all(map(is_, entries({}), {}))", container, before)

    def function(self) -> Callable[[], bool]:
        """The function of all tests."""
        tests = " and\n            ".join(self.tests) or "True"
        text = (
            "def unchanged():\n    try:\n        return (\n            "
            f"{tests}\n        )\n    except Exception:\n        return False\n"
        )
        exec(text, self.scope)
        return self.scope["unchanged"]
