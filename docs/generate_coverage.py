"""Write docs/coverage.md from the rules that are registered."""

from pathlib import Path

from dualad.covered import page

Path(__file__).with_name("coverage.md").write_text(page(), encoding="utf-8")
