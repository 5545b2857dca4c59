"""What the analyses return: one file a class, both under one name."""

from .sensitivities import Sensitivities
from .time_sensitivities import TimeSensitivities

__all__ = ["Sensitivities", "TimeSensitivities"]
