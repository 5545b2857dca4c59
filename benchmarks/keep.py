"""Runs in files: JSON, one result a line, so that two of them can be compared by eye as well."""

import json
from pathlib import Path
from typing import Any

__all__ = ["STORED", "keep", "load"]

#: The run that `--compare` compares with.
STORED = Path(__file__).parent / "stored" / "reference.json"


def keep(run: dict[str, Any], path: Path) -> None:
    """Write a run."""
    rest = {k: v for k, v in run.items() if k != "results"}
    results = ",\n".join(map(json.dumps, run["results"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rest)[:-1] + ',\n"results": [\n' + results + "\n]}\n")


def load(path: Path) -> dict[str, Any]:
    """Read a run."""
    return json.loads(path.read_text())
