"""Two runs: what became slower, or faster, or larger, by more than the noise."""

from typing import Any

from .verdict import OURS, number

__all__ = ["compare"]

#: Changes below this factor are noise, whatever the rounds say.
NOISE = 1.25


def compare(run: dict[str, Any], old: dict[str, Any], backend: str = OURS) -> list[str]:
    """A line for each row that moved: beyond the noise, and beyond the quartiles of both runs."""
    before = {key(r): r for r in old["results"] if r["backend"] == backend}
    lines = []
    for new in run["results"]:
        was = before.get(key(new))
        if new["backend"] == backend and was and apart(new, was):
            a, b = was["figure"], new["figure"]
            word = "worse" if b > a else "better"
            lines.append(
                f"{new['workload']} {new['job']}: {number(a)} -> {number(b)} {new['unit']}, "
                f"{max(a, b) / min(a, b):.2f} times {word}"
            )
    return lines


def key(result: dict[str, Any]) -> tuple[str, str, str]:
    return result["workload"], result["job"], result["unit"]


def apart(new: dict[str, Any], was: dict[str, Any]) -> bool:
    smaller, larger = sorted((new, was), key=lambda r: r["figure"])
    if not smaller["figure"] or larger["figure"] / smaller["figure"] < NOISE:
        return False
    return smaller.get("high", smaller["figure"]) < larger.get("low", larger["figure"])
