"""Every example runs from start to end, as a reader would run it, and says something."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dualad.cli import main

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted(ROOT.glob("examples/*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_runs(example, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", example],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    pictures = re.findall(r"\S+\.png", done.stdout)
    assert all(tmp_path.joinpath(p).read_bytes().startswith(b"\x89PNG") for p in pictures)
    assert bool(pictures) == ("def draw" in example.read_text())


MODELS = (
    "bouncing_ball.py", "epidemic.py", "gauge_block.py", "hybrid_dosing.py",
    "metabolic_network.py", "metabolic_network.py:rhs", "pharmacokinetics.py",
)  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_the_command_takes_an_example_as_its_model(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    over_time = model not in ("gauge_block.py", "metabolic_network.py")
    times = ["--n", "3"] if over_time else []
    assert main(["sens", str(ROOT / "examples" / model), *times]) == 0
    out = capsys.readouterr().out
    name = model.partition(".")[0]
    assert out.startswith(f"{name}: ")
    assert tmp_path.joinpath(f"{name}_sensitivities.png").exists()


def test_the_command_fits_and_budgets_examples(monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert main(["sens", "fit", str(ROOT / "examples/pharmacokinetics.py")]) == 0
    assert "3 parameters fitted to 11 observations" in capsys.readouterr().out
    given = ["sens", "budget", str(ROOT / "examples/gauge_block.py"), "--level", "0.99"]
    assert main(given) == 0
    # GUM H.1: 32 nm, effective degrees of freedom 16, expanded uncertainty 93 nm (for 16 exactly).
    assert "u = 31.7, dof = 16.7, U = 92.1 (k = 2.91, 99 %)" in capsys.readouterr().out


def test_the_pictures_of_the_guide_are_small():
    pictures = list(ROOT.glob("docs/images/*.png"))
    assert pictures
    assert max(p.stat().st_size for p in pictures) < 60_000
