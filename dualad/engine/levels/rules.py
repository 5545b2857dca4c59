"""Tables of rules, which load what is missing in them when it is first looked up.

What a file states while it is being loaded is seen when the file is complete: no other thread
meets a rule whose file is half executed, and a file that was interrupted can be loaded again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["FUNCTIONS", "GENERAL", "UFUNCS", "UFUNC_METHODS", "Rules", "Table", "loading"]

#: Held by the thread that loads.
_lock = threading.RLock()
#: The thread that loads.
_loader: int | None = None
_tables: list[Table] = []


class Table(dict[Any, Any]):
    """What the files of formulas state; an entry of a file that is being loaded waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[Any, Any] = {}
        _tables.append(self)

    def __setitem__(self, key: Any, value: Any) -> None:
        if _loader is not None and _loader == threading.get_ident():
            self._waiting[key] = value
        else:
            super().__setitem__(key, value)

    def _publish(self) -> None:
        """Show what waits; what somebody stated in the meantime stays."""
        for key, value in self._waiting.items():
            self.setdefault(key, value)
        self._waiting.clear()


class Rules(Table):
    """A table that loads what is missing in it: table[key] is None where there is no rule at all.

    A look-up that finds something costs what it does in a dict; `table.get` and `in` load nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        #: Each may load rules for a key, all that it has for None, and says whether that was all.
        self.loaders: list[Callable[[Any], bool]] = []

    def __missing__(self, key: Any) -> Any:
        if key in self._waiting and _loader == threading.get_ident():
            return self._waiting[key]
        for load in self.loaders:
            done = load(key)
            if done:
                with _lock:
                    self.loaders = [other for other in self.loaders if other is not load]
            if key in self:
                break
        return self.get(key)

    def complete(self) -> None:
        """Load all that can be loaded."""
        for load in self.loaders:
            load(None)


@contextmanager
def loading() -> Iterator[None]:
    """What is stated here is seen afterwards by all threads at once, or, after an error, never."""
    global _loader
    with _lock:
        outer, _loader = _loader, threading.get_ident()
        try:
            yield
        except BaseException:
            for table in _tables if outer is None else ():
                table._waiting.clear()
            raise
        finally:
            _loader = outer
        for table in _tables if outer is None else ():
            table._publish()


#: NumPy function -> what handles it when an argument is traced.
FUNCTIONS = Rules()
#: ufunc -> what handles a plain call of it.
UFUNCS = Rules()
#: (ufunc, method) -> what handles ufunc.reduce, ufunc.outer, ...
UFUNC_METHODS = Rules()
#: method -> what makes the rule of that method for a ufunc which has none of its own, or None.
GENERAL = Rules()
