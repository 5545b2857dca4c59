"""Where the text of a command goes, how tables are written, and how warnings are said."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import SensitivityError, SensitivityWarning
from ..plots.files import check_picture
from ..results.export import write
from ..results.tabular import Table

__all__ = ["as_text", "checked_paths", "plain", "put", "said_warnings", "tell"]


def checked_paths(args: Any, default: str | None = None) -> Path | None:
    """The picture's path, if there is to be one; a folder that is not there is told before a run.

    Raises:
        SensitivityError: there is no such folder, or no such picture format.
    """
    for path in (args.out, getattr(args, "save", None)):
        if path is not None and not Path(path).resolve().parent.is_dir():
            raise SensitivityError(f"{path} cannot be written: there is no such folder")
    picture = args.plot
    if picture is None and args.format == "table" and not getattr(args, "no_plot", True):
        picture = default
    return None if picture is None else check_picture(picture)


def put(args: Any, text: str) -> None:
    """Print the text, or write it to the file of --out."""
    text = text if text.endswith("\n") else text + "\n"
    if args.out is not None:
        write(text, args.out)
        tell(args, f"written: {Path(args.out).resolve()}")
        return
    sys.stdout.write(text)
    sys.stdout.flush()


def tell(args: Any, line: str) -> None:
    """A line for the reader: beside a table on standard output, else on standard error."""
    print(line, file=sys.stdout if args.format == "table" else sys.stderr)


def as_text(table: Table, form: str) -> str:
    """A table in the format of the command line."""
    if form == "csv":
        return table.render("csv")
    if form == "json":
        return json.dumps({"rows": plain(list(table)), "notes": table.notes}, indent=1)
    return table.render("markdown" if form == "md" else "text")


def plain(x: Any) -> Any:
    """What JSON can hold: a number that is not finite becomes null."""
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [plain(v) for v in x]
    if hasattr(x, "tolist"):
        return plain(x.tolist())
    return None if isinstance(x, float) and not math.isfinite(x) else x


@contextlib.contextmanager
def said_warnings() -> Iterator[None]:
    """Warnings of an analysis are lines on standard error, each said once."""
    said: set[str] = set()
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
            if not issubclass(category, SensitivityWarning):
                before(message, category, *rest, **more)
            elif str(message) not in said:
                said.add(str(message))
                print(f"dualad: warning: {message}", file=sys.stderr)

        warnings.simplefilter("always", SensitivityWarning)
        warnings.showwarning = show
        yield
