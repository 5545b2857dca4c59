"""Where a picture is written: asked before a long run, not after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import SensitivityError
from ..extras import extra

__all__ = ["check_picture", "write_picture"]


def check_picture(path: str | Path) -> Path:
    """The path, resolved, if a picture can be written there.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SensitivityError: there is no such folder, or the ending of the name is no picture format.
    """
    formats = extra("matplotlib.backends.backend_agg").FigureCanvasAgg.get_supported_filetypes()
    path = Path(path).resolve()
    if not path.parent.is_dir():
        raise SensitivityError(f"the picture {path} cannot be written: there is no such folder")
    if path.suffix.lstrip(".").lower() not in formats:
        raise SensitivityError(
            f"the picture {path.name} must end with one of .{', .'.join(sorted(formats))}"
        )
    return path


def write_picture(figure: Any, path: str | Path) -> Path:
    """Write a figure; returns the path, resolved.

    Raises:
        SensitivityError: the file cannot be written.
    """
    target = check_picture(path)
    try:
        figure.savefig(target, dpi=200)
    except OSError as error:
        raise SensitivityError(f"the picture {target} cannot be written: {error}") from error
    return target
