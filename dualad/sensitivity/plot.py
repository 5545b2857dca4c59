"""The picture that the command line writes: scaled sensitivity time courses."""

from __future__ import annotations

from pathlib import Path

from .plots.files import check_picture, write_picture
from .plots.time import time
from .results.time_sensitivities import TimeSensitivities

__all__ = ["check_picture", "save_time_courses"]


def save_time_courses(result: TimeSensitivities, path: str | Path, title: str = "") -> Path:
    """Write p_j dy_i/dp_j over time as a picture; over many decades the time axis is logarithmic.

    Marks are the times of the result; the lines between them need its dense output.

    Returns:
        The path, resolved.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SensitivityError: the file cannot be written.
    """
    check_picture(path)
    return write_picture(time(result, values=True, title=title or None), path)
