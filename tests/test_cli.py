"""The command `dualad`: what it prints, what it writes, and its exit codes."""

import csv
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dualad import __version__
from dualad.cli import main

ROOT = Path(__file__).resolve().parents[1]
ROBERTSON = str(ROOT / "examples" / "robertson.py")

DECAY = """
params = {"k": 2.0, "start": 3.0}
t_span, t_eval = (0.0, 1.0), [0.5, 1.0]

def y0(p):
    return [p.start]

def rhs(t, y, p):
    return -p.k * y
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)


def model(text=DECAY, name="decay.py"):
    Path(name).write_text(text)
    return name


def test_robertson_as_the_demo_runs_it(capsys):
    assert main(["sens", ROBERTSON]) == 0
    out = capsys.readouterr().out
    picture = Path(re.search(r"^picture: (.*)$", out, re.M).group(1))
    assert picture.name == "robertson_sensitivities.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert re.search(r"^Radau: \d+ steps, \d+ right-hand sides with \d+ tangents, ", out, re.M)
    assert "CVODES" in out and "SUNDIALS 7.5.0" in out
    found = re.findall(r"^(\S+) +(\S+) \(\S+\) +(\S+) \(\S+\)$", out, re.M)
    differences = np.array(found, float)
    assert differences.shape == (12, 3)
    t, printed, recomputed = differences.T
    np.testing.assert_allclose(t, 0.4 * 10.0 ** np.arange(12))
    assert (recomputed < 1e-5).all()
    assert (printed[t <= 4e7] < 2.5e-3).all()
    assert (printed < 0.2).all()


def test_csv_goes_to_standard_output_alone(capsys):
    assert main(["sens", model(), "--format", "csv"]) == 0
    out = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out.out)))
    for row in rows:
        t = float(row["t"])
        assert float(row["value"]) == pytest.approx(3.0 * np.exp(-2.0 * t), rel=1e-5)
        if row["parameter"] == "k":
            assert float(row["sensitivity"]) == pytest.approx(
                -3.0 * t * np.exp(-2.0 * t), rel=1e-5
            )
    assert out.err == ""
    assert set(os.listdir()) - {"__pycache__"} == {"decay.py"}


def test_wrt_chooses_parameters(capsys):
    assert main(["sens", model(), "--format", "csv", "--wrt", "start"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["parameter"] for row in rows} == {"start"}


def test_rtol_is_used(capsys):
    def error(rtol):
        assert main(["sens", model(), "--format", "csv", "--rtol", rtol]) == 0
        rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        return abs(float(rows[-1]["value"]) - 3.0 * np.exp(-2.0))

    assert error("1e-9") < error("1e-3") / 100


def test_the_picture_goes_where_it_is_told(capsys):
    assert main(["sens", model(), "--plot", "courses.svg"]) == 0
    assert Path("courses.svg").read_text().startswith("<?xml")
    assert str(Path("courses.svg").resolve()) in capsys.readouterr().out


def test_a_picture_beside_csv_is_told_of_on_standard_error(capsys):
    assert main(["sens", model(), "--format", "csv", "--plot", "courses.png"]) == 0
    out = capsys.readouterr()
    assert "courses.png" not in out.out and "courses.png" in out.err


def test_no_picture(capsys):
    assert main(["sens", model(), "--no-plot"]) == 0
    assert "picture" not in capsys.readouterr().out
    assert set(os.listdir()) - {"__pycache__"} == {"decay.py"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DECAY.replace("-p.k * y", "[1.0, 2.0]"), "shape (2,)"),
        (DECAY.replace("-p.k * y", "y * float('nan')"), "not finite for y1"),
        (DECAY.replace("p.k", "p.kk"), "did you mean 'k'"),
        (DECAY.replace("-p.k * y", "1 / 0"), "ZeroDivisionError"),
        (DECAY + "raise RuntimeError('broken')\n", "broken"),
    ],
)
def test_a_model_that_fails_gives_1(text, says, capsys):
    assert main(["sens", model(text)]) == 1
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.startswith("dualad: ") and says in out.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing.py"], "no model file nothing.py"),
        (["decay.py", "--wrt", "q"], "no parameter 'q'"),
        (["decay.py", "--plot", "none/x.png"], "no such folder"),
        (["empty.py"], "defines no model"),
        (["lost.py"], "reference"),
    ],
)
def test_a_request_that_makes_no_sense_gives_2(arguments, says, capsys):
    model()
    model("", "empty.py")
    model(DECAY + 'reference = "nothing.csv"\n', "lost.py")
    assert main(["sens", *arguments]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["sens"],
        ["what"],
        ["sens", "decay.py", "--rtol", "0"],
        ["sens", "x.py", "--format", "xml"],
    ],
)
def test_a_command_line_that_cannot_be_read_gives_2(arguments, capsys):
    with pytest.raises(SystemExit) as e:
        main(arguments)
    assert e.value.code == 2
    assert "usage: dualad" in capsys.readouterr().err


def test_a_missing_extra_gives_2_and_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    assert main(["sens", model(), "--no-plot"]) == 2
    assert "pip install dualad[sens]" in capsys.readouterr().err


def test_an_interrupt_gives_130(capsys):
    assert (
        main(
            ["sens", model(DECAY.replace("-p.k * y", "(_ for _ in ()).throw(KeyboardInterrupt)"))]
        )
        == 130
    )
    assert "interrupted" in capsys.readouterr().err


def test_the_version(capsys):
    with pytest.raises(SystemExit) as e:
        main(["--version"])
    assert e.value.code == 0
    assert capsys.readouterr().out == f"dualad {__version__}\n"


def test_help_names_what_a_model_file_defines(capsys):
    with pytest.raises(SystemExit):
        main(["sens", "--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert "params and rhs(t, y, p) with y0 and t_span, or model(p)" in out


def test_a_reader_that_goes_away_is_no_error():
    """`dualad sens decay.py | head -0`, without a traceback."""
    command = [sys.executable, "-m", "dualad.cli", "sens", model(), "--no-plot"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    run.stdout.close()
    errors = run.stderr.read()
    run.stderr.close()
    assert run.wait(60) == 0
    assert errors == b""
