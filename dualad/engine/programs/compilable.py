"""What linear maps share: they can be compiled, once for many applications."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["Compilable"]

ROOT = __name__.partition(".")[0]


class Compilable:
    """A callable that offers `compile()`."""

    def compile(self, **options: Any) -> Any:
        """This linear map as a compiled function of the same arguments.

        The options are those of `dualad.compile`.
        """
        return importlib.import_module(f"{ROOT}.compiling").compile(self, **options)
