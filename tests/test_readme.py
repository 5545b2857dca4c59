"""The code in the README does what the README says."""

from pathlib import Path

from markdown import python_blocks, run

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_readme_runs():
    run(README)


def test_its_first_example_is_ten_lines():
    assert len(python_blocks(README)[0][1].splitlines()) <= 10
