"""Members on disk: an NPZ file, replaced as a whole, and a JSON file beside it to read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SensitivityError
from ..given import file_path

__all__ = ["read", "with_suffix", "write"]

FORMAT, VERSION = "dualad.ensemble", 1


def with_suffix(path: str | Path) -> Path:
    """The path of the NPZ file."""
    path = file_path("path", path)
    return path if path.suffix == ".npz" else path.with_name(path.name + ".npz")


def write(path: str | Path, arrays: dict[str, np.ndarray], index: dict[str, Any]) -> Path:
    """Write arrays and index; a reader finds the old file or the new one, never a part.

    What counts is the NPZ file, which holds the index, too.
    """
    target = with_suffix(path)
    if not target.parent.is_dir():
        raise SensitivityError(f"{target} cannot be written: there is no such folder")
    record = {"format": FORMAT, "version": VERSION, **index}
    text = json.dumps(record, indent=1)
    try:
        part = target.with_name(target.name + ".part")
        with part.open("wb") as file:
            np.savez(file, index=np.frombuffer(text.encode(), np.uint8), **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
        beside = target.with_suffix(".json")
        part = beside.with_name(beside.name + ".part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, beside)
    except OSError as error:
        raise SensitivityError(f"{target} cannot be written: {error}") from error
    return target


def read(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the index of a file.

    Raises:
        SensitivityError: it is no such file, is damaged, or from a newer version.
    """
    target = with_suffix(path)
    try:
        with np.load(target, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        index = json.loads(arrays.pop("index").tobytes().decode())
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise SensitivityError(f"no ensemble can be read from {target}: {error}") from error
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise SensitivityError(f"{target} is no file of an ensemble")
    if index.get("version", 0) > VERSION:
        raise SensitivityError(
            f"{target} is of version {index['version']} of its format, this program reads up to "
            f"{VERSION}: install a newer dualad"
        )
    return arrays, index
