"""`dualad sens` with its options, `sens ensemble`, `sens budget` and `sens fit`."""

import csv
import io
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.cli import main
from dualad.sensitivity.commands.workers import Portable
from dualad.sensitivity.model_file import load

ROOT = Path(__file__).resolve().parents[2]

MODEL = """
import numpy as np
from dualad import sensitivity as ds

params = {"k": ds.Parameter(2.0, u=0.1, unit="1/s"), "start": ds.Parameter(3.0, u=0.3)}
t_span, units, time_unit = (0.0, 1.0), {"a": "mol"}, "s"
states = ("a", "b")

def y0(p):
    return [p.start, 0.0]

def rhs(t, y, p):
    return np.array([-p.k * y[0], p.k * y[0]])

def area(p):
    return {"area": p.start / p.k, "rate": p.k * 1.0}

def curve(p, x):
    return p.start * np.exp(-p.k * x)

def both(p, x):
    return {"one": curve(p, x), "two": p.start * x}

def square(x, p):
    return x**2 - p.k

x0 = 1.0

def kinked(p):
    return abs(p.k - 2.0)

def cheats(p):
    k = getattr(p.k, "primal", p.k)
    return p.start * k

def fails(p):
    return p.start / (p.k - p.k)

def picky(p):
    if float(getattr(p.k, "primal", p.k)) > 2.5:
        raise ValueError("too fast")
    return {"v": p.k * p.start}

solved = ds.problem(ds.root, square, 1.0, {"k": 4.0})
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(MODEL)


def rows(capsys, *arguments, code=0):
    """The rows of CSV that a command prints."""
    assert main([*arguments, "--format", "csv"]) == code
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def refused(capsys, says, *arguments, code=2):
    assert main(list(arguments)) == code
    error = capsys.readouterr().err
    assert error.startswith("dualad: ") and says in error
    assert "Traceback" not in error


# --- sens


def test_every_kind_of_model(capsys):
    (row,) = [r for r in rows(capsys, "sens", "model.py:area") if r["output"] == "area"][:1]
    assert float(row["sensitivity"]) == pytest.approx(-3.0 / 4.0, rel=1e-14)
    (row,) = rows(capsys, "sens", "model.py:square", "--wrt", "k")
    assert float(row["sensitivity"]) == pytest.approx(0.5 / 2.0**0.5, rel=1e-12)
    (row,) = rows(capsys, "sens", "model.py:solved")
    assert float(row["value"]) == pytest.approx(2.0, rel=1e-12)
    assert float(row["sensitivity"]) == pytest.approx(0.25, rel=1e-12)


def test_times_outputs_parameters_and_tolerances(capsys):
    given = ["--set", "k=1.0", "--t0", "0", "--t1", "2", "--n", "3", "--outputs", "b"]
    found = rows(capsys, "sens", "model.py", *given, "--rtol", "1e-9", "--atol", "1e-12")
    assert [float(r["t"]) for r in found] == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
    assert {r["output"] for r in found} == {"b"}
    by_k = float(found[-2]["sensitivity"])
    assert by_k == pytest.approx(3.0 * 2.0 * np.exp(-2.0), rel=1e-7)


def test_ends_that_are_parameters(capsys):
    """The last time is T; d/dT of the state there is its slope."""
    more = "params = {'k': 2.0, 'start': 3.0, 'T': 1.5}\nt_span = (0.0, ds.Time('T'))\n"
    Path("model.py").write_text(MODEL + more)
    given = ["--n", "1", "--wrt", "T", "--outputs", "a", "--rtol", "1e-9", "--atol", "1e-12"]
    (row,) = rows(capsys, "sens", "model.py", *given)
    assert float(row["t"]) == 1.5
    assert float(row["sensitivity"]) == pytest.approx(-6.0 * np.exp(-3.0), rel=1e-6)


def test_all_parameters_may_come_from_a_file(capsys):
    Path("bare.py").write_text("def model(p): return {'y': p.k * p.start}\n")
    Path("p.csv").write_text("name, value, label\nk, 2.0, speed\nstart, 3.0,\n")
    by_k, by_start = rows(capsys, "sens", "bare.py", "--params", "p.csv")
    assert (float(by_k["sensitivity"]), float(by_start["sensitivity"])) == (3.0, 2.0)


def test_a_file_without_times_gets_some(capsys):
    found = rows(capsys, "sens", "model.py", "--wrt", "k", "--outputs", "a")
    np.testing.assert_allclose([float(r["t"]) for r in found], np.linspace(0, 1, 11))


def test_a_shorter_span_keeps_the_times_of_the_file_that_are_in_it(capsys):
    Path("model.py").write_text(MODEL + "t_eval = [0.25, 0.5, 1.0]\n")
    found = rows(capsys, "sens", "model.py", "--t1", "0.6", "--wrt", "k", "--outputs", "a")
    assert [float(r["t"]) for r in found] == [0.25, 0.5]


def test_scaled_markdown_json_and_out(capsys):
    assert main(["sens", "model.py:area", "--scaled", "--no-plot"]) == 0
    out = capsys.readouterr().out
    assert "(p/y)" in out and "area" in out
    assert main(["sens", "model.py:area", "--format", "md"]) == 0
    assert capsys.readouterr().out.startswith("| output")
    assert main(["sens", "model.py", "--format", "json", "--n", "2", "--out", "kept.json"]) == 0
    said = capsys.readouterr()
    assert said.out == "" and "kept.json" in said.err
    result = ds.TimeSensitivities.from_json("kept.json")
    assert (result.units("a"), result.time_unit) == ("mol", "s")


def test_check_agrees_or_exits_with_3(capsys):
    assert main(["sens", "model.py", "--n", "2", "--check", "--no-plot"]) == 0
    assert "check: 8 derivatives against central: 0 differ" in capsys.readouterr().out
    assert main(["sens", "model.py:cheats", "--check", "--no-plot"]) == 3
    out = capsys.readouterr().out
    assert "differs" in out and "1 differ" in out


def test_check_shows_what_has_no_derivative(capsys, tmp_path):
    """abs(k - 1) at 1: differences from the left and from the right are two."""
    text = "import numpy as np\nparams = {'k': 1.0}\nmodel = lambda p: np.abs(p.k - 1.0)\n"
    (tmp_path / "kink.py").write_text(text)
    assert main(["sens", str(tmp_path / "kink.py"), "--check", "--no-plot"]) == 0
    out = capsys.readouterr().out
    assert "check: 1 derivative against central: 0 differ, 1 not differentiable" in out
    assert "not differentiable: -1 from the left, 1 from the right" in out


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (["--n", "x"], "argument --n: x is not a whole number"),
        (["--t1", "late"], "argument --t1: late is not a number"),
        (["--rtol", "small"], "argument --rtol: small is not a number"),
    ],
)
def test_an_option_that_is_no_number(option, says, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["sens", "model.py", *option])
    assert stop.value.code == 2
    assert says in capsys.readouterr().err


def test_events_and_integrals_are_printed_as_well(capsys):
    more = (
        "events = ds.Event(lambda t, y, p: y[0] - 1.5, name='half')\n"
        "integrals = {'total': lambda t, y, p: y[0]}\n"
    )
    Path("model.py").write_text(MODEL + more)
    assert main(["sens", "model.py", "--n", "2", "--no-plot"]) == 0
    out = capsys.readouterr().out
    assert "times of the event half" in out and "half[1]  0.346574" in out
    assert "integrals" in out and "total" in out


def test_parameters_from_files(capsys):
    Path("p.toml").write_text('k = {value = 4.0, u = 0.5}\ncorrelation = [["k", "start", 0.5]]\n')
    Path("p.csv").write_text("name,value,u,unit,fixed\nk,4.0,0.5,1/h,\nstart,6.0,,,true\n")
    assert len(rows(capsys, "sens", "model.py:area", "--params", "p.toml")) == 4
    found = rows(capsys, "sens", "model.py:area", "--params", "p.csv")
    assert {r["parameter"] for r in found} == {"k"}
    assert float(found[0]["value"]) == 1.5


def test_a_warning_is_a_line_on_standard_error(capsys):
    text = MODEL.replace('"start"', '"idle": 1.0, "start"')
    Path("model.py").write_text(text)
    rows(capsys, "sens", "model.py:area")
    assert main(["sens", "model.py:area", "--format", "csv"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("dualad: warning: ") and "idle" in said.err
    assert "warning" not in said.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["model.py:nothing"], "there is no function 'nothing'"),
        (["model.py:x0"], "is no function and no problem"),
        (["model.py:area", "--n", "3"], "--t0, --t1 and --n"),
        (["model.py:area", "--rtol", "1e-3"], "--rtol is for a model"),
        (["model.py", "--outputs", "aa"], "did you mean 'a'"),
        (["model.py", "--outputs", "a,a"], "twice"),
        (["model.py", "--set", "kk=1"], "did you mean 'k'"),
        (["model.py", "--params", "none.toml"], "cannot be read"),
        (["model.py", "--params", "bad.toml"], "did you mean 'k'"),
        (["model.py", "--params", "bad.csv"], "no number"),
        (["model.py", "--out", "none/x.csv"], "no such folder"),
        (["model.py", "--t0", "1", "--t1", "1"], "t_span"),
        (["bare.py"], "defines no params"),
    ],
)
def test_a_request_that_makes_no_sense(arguments, says, capsys):
    Path("bad.toml").write_text("kk = 1.0\n")
    Path("bad.csv").write_text("name,value\nk,fast\n")
    Path("bare.py").write_text("def model(p): return p.k\n")
    refused(capsys, says, "sens", *arguments)


def test_a_model_that_fails(capsys):
    refused(capsys, "fails", "sens", "model.py:fails", code=1)


@pytest.mark.parametrize("bad", ["k", "k=", "k=fast", "=1", "k=nan"])
def test_set_needs_a_name_and_a_number(bad, capsys):
    with pytest.raises(SystemExit) as e:
        main(["sens", "model.py", "--set", bad])
    assert e.value.code == 2
    assert "NAME=NUMBER" in capsys.readouterr().err


# --- budget


def test_a_budget_is_that_of_the_propagation(capsys):
    found = rows(capsys, "sens", "budget", "model.py:area", "--outputs", "area")
    by_k, by_start = (float(r["contribution"]) for r in found)
    assert (by_k, by_start) == (pytest.approx(-0.075), pytest.approx(0.15))
    assert sum(float(r["share"]) for r in found) == pytest.approx(1.0)


def test_a_budget_at_a_time_of_a_course(capsys):
    given = ["sens", "budget", "model.py", "--outputs", "a", "--n", "3", "--rtol", "1e-9"]
    found = rows(capsys, *given, "--t", "0.5")
    assert float(found[0]["sensitivity"]) == pytest.approx(-1.5 * np.exp(-1.0), rel=1e-6)
    last = rows(capsys, *given)
    assert float(last[0]["sensitivity"]) == pytest.approx(-3.0 * np.exp(-2.0), rel=1e-6)
    refused(capsys, "none of the times", *given, "--t", "0.7")
    assert main([*given, "--order", "2", "--plot", "b.png"]) == 0
    assert "u = " in capsys.readouterr().out
    assert Path("b.png").read_bytes().startswith(b"\x89PNG")


def test_a_budget_needs_uncertainties(capsys):
    Path("model.py").write_text("params = {'k': 1.0}\ndef model(p): return p.k\n")
    refused(capsys, "uncertainty", "sens", "budget", "model.py")
    refused(capsys, "--t is for", "sens", "budget", "model.py", "--t", "1")


# --- fit


def written(path, head, columns):
    lines = [",".join(f"{v:.12g}" for v in row) for row in zip(*columns, strict=True)]
    Path(path).write_text("\n".join([head, *lines, ""]))


def test_the_course_is_fitted_to_exact_data_with_gaps_and_repeats(capsys):
    t = np.array([0.8, 0.2, 0.2, 0.5, 1.0])
    a = 2.0 * np.exp(-1.5 * t)
    written("d.csv", "t,a,b", [t, a, 2.0 - a])
    text = Path("d.csv").read_text().splitlines()
    text[2] = text[2].rsplit(",", 1)[0] + ","
    Path("d.csv").write_text("# seen\n" + "\n".join(text) + "\n")
    options = ["--rtol", "1e-9", "--atol", "1e-11"]
    k, start = rows(capsys, "sens", "fit", "model.py", "--data", "d.csv", *options)
    assert float(k["value"]) == pytest.approx(1.5, rel=1e-6)
    assert float(start["value"]) == pytest.approx(2.0, rel=1e-6)


def test_a_straight_line_by_linear_algebra_then_its_budget(capsys):
    """Estimates, standard errors and correlation of a weighted line are known in closed form."""
    line = "params = {'m': 1.0, 'c': 0.0}\ndef model(p, x): return p.m * x + p.c\n"
    line += "def at_two(p): return {'y': 2.0 * p.m + p.c}\n"
    Path("line.py").write_text(line)
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.1, 2.9, 5.2, 6.8])
    u = np.array([0.1, 0.2, 0.1, 0.3])
    written("d.csv", "x,y,u_y", [x, y, u])
    given = ["sens", "fit", "line.py", "--data", "d.csv", "--save", "fitted.toml"]
    m, c = rows(capsys, *given, "--plot", "fit.png")
    A = np.stack([x, np.ones(4)], axis=1) / u[:, None]
    covariance = np.linalg.inv(A.T @ A)
    np.testing.assert_allclose(
        [float(m["value"]), float(c["value"])], covariance @ A.T @ (y / u), rtol=1e-9
    )
    np.testing.assert_allclose(
        [float(m["standard error"]), float(c["standard error"])],
        np.sqrt(np.diag(covariance)), rtol=1e-9,
    )  # fmt: skip
    assert Path("fit.png").read_bytes().startswith(b"\x89PNG")
    assert main(["sens", "budget", "line.py:at_two", "--params", "fitted.toml",
                 "--format", "json"]) == 0  # fmt: skip
    found = json.loads(capsys.readouterr().out)["rows"]
    g = np.array([2.0, 1.0])
    assert found[0]["contribution"] / found[0]["share"] == pytest.approx(
        2.0 * covariance[0, 0] ** 0.5 * (g @ covariance @ g) / (2.0 * (covariance @ g)[0])
    )


def test_several_outputs_and_the_data_of_the_file(capsys):
    x = np.array([0.1, 0.4, 0.9])
    noisy = (2 * np.exp(-x) + [0.01, -0.01, 0.01]).tolist()
    text = MODEL + f"data = {{'x': {x.tolist()}, 'one': {noisy},"
    Path("model.py").write_text(text + f" 'two': {(2 * x).tolist()}}}\n")
    k, start = rows(capsys, "sens", "fit", "model.py:both")
    assert float(k["value"]) == pytest.approx(1.0, rel=0.1)
    assert float(start["value"]) == pytest.approx(2.0, rel=0.02)
    assert main(["sens", "fit", "model.py:curve", "--outputs", "one", "--profile"]) == 0
    out = capsys.readouterr().out
    assert "profile intervals" in out and "standard error" in out
    refused(capsys, "fitted to one of them", "sens", "fit", "model.py:curve")


def test_an_x_with_a_default_is_the_column_of_that_name(capsys):
    dose = np.array([0.0, 1.0, 2.0, 3.0])
    written("d.csv", "u,dose,y", [dose**2, dose, 2.0 * dose + 1.0])
    text = "params = {'m': 1.0, 'c': 0.0}\n"
    text += "def model(p, dose=0.5, noise=0.0): return p.m * dose + p.c + noise\n"
    Path("line.py").write_text(text)
    given = ["sens", "fit", "line.py", "--data", "d.csv", "--outputs", "y"]
    for options in ([], ["--x", "dose"]):
        m, c = rows(capsys, *given, *options)
        assert float(m["value"]) == pytest.approx(2.0)
        assert float(c["value"]) == pytest.approx(1.0)
    # where there is no such column it is no x, and the model one of its parameters alone
    Path("line.py").write_text(text.replace("dose", "amount"))
    written("d.csv", "y,z", [dose, dose])
    refused(capsys, "its second argument", "sens", "fit", "line.py", "--data", "d.csv")


def test_the_data_of_a_file_may_be_a_file_beside_it(capsys, monkeypatch):
    x = np.array([0.0, 1.0, 2.0])
    written("seen.csv", "x,y", [x, 3.0 * x + 1.0])
    model = "params = {'m': 1.0, 'c': 0.0}\ndata = 'seen.csv'\n"
    Path("line.py").write_text(model + "def model(p, x): return p.m * x + p.c\n")
    folder = Path.cwd()
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    m, c = rows(capsys, "sens", "fit", str(folder / "line.py"))
    assert (float(m["value"]), float(c["value"])) == (pytest.approx(3.0), pytest.approx(1.0))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("t,a\n0.1,1\n0.2\n", "line 3: 1 cells under 2 columns"),
        ("t,a\n0.1,one\n", "line 2: a is 'one'"),
        ("t,a\n0.1,nan\n", "no finite number"),
        ("t,a,a\n0.1,1,1\n", "each once"),
        ("t,a\n", "no rows"),
        ("", "is empty"),
        ("t\n0.1\n0.2\n", "no column of observations"),
        ("s,a\n0.1,1\n", "no column t"),
        ("t,aa\n0.1,1\n0.2,1\n", "did you mean 'a'"),
        ("t,a\n,1\n0.2,1\n", "empty cell"),
        ("t,a,b,u_a\n0.1,1,2,0.1\n0.2,1,2,0.1\n", "add u_b"),
    ],
)
def test_data_that_make_no_sense(text, says, capsys):
    Path("d.csv").write_text(text)
    refused(capsys, says, "sens", "fit", "model.py", "--data", "d.csv")


def test_a_fit_that_has_no_answer(capsys):
    Path("d.csv").write_text("t,a\n0.1,1\n")
    refused(capsys, "fix some", "sens", "fit", "model.py", "--data", "d.csv", code=1)
    refused(capsys, "there is no --data", "sens", "fit", "model.py")
    refused(capsys, "fit is for", "sens", "fit", "model.py:solved", "--data", "d.csv")
    refused(
        capsys, "has none", "sens", "fit", "model.py:area", "--data", "d.csv", "--plot", "f.png"
    )


# --- ensemble


def test_an_ensemble_keeps_order_and_failures(capsys):
    Path("s.csv").write_text("k,start\n1,3\n3,3\n2,4\n")
    found = rows(capsys, "sens", "ensemble", "model.py:picky", "--sets", "s.csv")
    assert [r["error"] != "" for r in found] == [False, True, False]
    assert "too fast" in found[1]["error"] and found[1]["v"] == "nan"
    assert [float(found[i]["v"]) for i in (0, 2)] == [3.0, 8.0]
    assert float(found[2]["dv/dstart"]) == 2.0


def test_an_ensemble_over_time_resumes_and_draws(capsys):
    given = ["sens", "ensemble", "model.py", "--sample", "3", "--method", "normal", "--n", "2"]
    assert main([*given, "--resume", "kept", "--plot", "e.png", "--outputs", "a"]) == 0
    out = capsys.readouterr().out
    assert "3 of 3 members" in out and " b " not in out
    assert Path("e.png").read_bytes().startswith(b"\x89PNG")
    assert ds.Ensemble.load("kept").ok.all()
    assert main([*given, "--resume", "kept", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 6
    refused(capsys, "another problem", *given, "--seed", "5", "--resume", "kept")


def test_an_ensemble_of_which_nothing_is_left(capsys):
    Path("s.csv").write_text("k,start\n3,3\n4,3\n")
    refused(
        capsys, "all 2 members failed", "sens", "ensemble", "model.py:picky", "--sets", "s.csv",
        code=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [("k,kk\n1,1\n", "did you mean 'k'"), ("k,start\n1,\n", "no finite number")],
)
def test_sets_that_make_no_sense(text, says, capsys):
    Path("s.csv").write_text(text)
    refused(capsys, says, "sens", "ensemble", "model.py", "--sets", "s.csv")


def test_sets_or_sample_must_be_given(capsys):
    with pytest.raises(SystemExit) as e:
        main(["sens", "ensemble", "model.py"])
    assert e.value.code == 2


def test_members_without_times_are_drawn_as_histograms(capsys):
    given = ["sens", "ensemble", "model.py:area", "--sample", "20", "--method", "normal"]
    assert main([*given, "--plot", "h.png"]) == 0
    assert Path("h.png").read_bytes().startswith(b"\x89PNG")


def test_a_problem_carries_the_code_of_its_file(monkeypatch):
    """What a worker does that has no such module."""
    model = load("model.py:area")
    packed = pickle.dumps(Portable.of(model.problem(ds.Parameters(model.params), {}), model))
    monkeypatch.delitem(sys.modules, model.module.__name__)
    Path("model.py").unlink()
    result = pickle.loads(packed)({"k": 4.0})
    assert float(result.values[0]) == 0.75


@pytest.mark.parametrize("with_loky", [True, False])
def test_jobs_are_processes(with_loky):
    """As a command of its own: pools of processes and a test runner do not mix."""
    Path("s.csv").write_text("k,start\n1,3\n2,4\n")
    code = "import sys\n" + ("" if with_loky else "sys.modules['loky'] = None\n")
    code += "from dualad.cli import main\n"
    code += "if __name__ == '__main__': sys.exit(main(sys.argv[1:]))\n"
    Path("run.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "run.py", "sens", "ensemble", "model.py:area", "--sets", "s.csv",
         "--jobs", "2", "--format", "csv"],
        capture_output=True, text=True, timeout=120, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [float(r["area"]) for r in found] == [3.0, 2.0]


def test_a_dask_scheduler_that_is_not_there(monkeypatch, capsys):
    distributed = pytest.importorskip("distributed")

    def unreachable(address, timeout):
        raise OSError(f"cannot reach {address}")

    monkeypatch.setattr(distributed, "Client", unreachable)
    given = ["sens", "ensemble", "model.py", "--sample", "2", "--scheduler", "tcp://none:1"]
    refused(capsys, "no dask scheduler answers", *given)
    monkeypatch.setitem(sys.modules, "distributed", None)
    refused(capsys, "pip install dualad[dask]", *given)
