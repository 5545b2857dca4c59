"""One measurement."""

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["EVALUATIONS", "Result"]

#: The unit of a time: evaluations of the function in NumPy.
EVALUATIONS = "f"


@dataclass
class Result:
    """What one job of one backend costs.

    Attributes:
        figure: in `unit`, the median of the rounds; None where the backend fails.
        low, high: the quartiles of the rounds.
        error: the largest difference from the first backend, over the largest entry.
        failure: what the backend said.
    """

    workload: str
    job: str
    backend: str
    figure: float | None
    unit: str = EVALUATIONS
    low: float | None = None
    high: float | None = None
    rounds: int = 1
    error: float = 0.0
    failure: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The fields that say something, figures with four digits: to keep it."""
        short = {k: float(f"{v:.4g}") if type(v) is float else v for k, v in asdict(self).items()}
        return {k: v for k, v in short.items() if v is not None and v != ""}
