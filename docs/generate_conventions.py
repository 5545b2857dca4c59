"""Write the tables of docs/conventions.md from the conventions that stand beside the rules."""

from pathlib import Path

from dualad.conventions import filled_in

PAGE = Path(__file__).with_name("conventions.md")
PAGE.write_text(filled_in(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
