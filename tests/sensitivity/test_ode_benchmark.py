"""The benchmark of differential equations runs, and its models are the ones that it says."""

import json
from pathlib import Path

import numpy as np

from benchmarks.cvodes import available
from benchmarks.equations import PROBLEMS, robertson
from benchmarks.ode import MARKS, STORED, TOLERANCES, main, markdown, write_page

from .models import ROBERTSON, robertson as ours

PAGE = Path(__file__).parents[2] / "docs" / "differential-equations.md"


def test_one_problem_gives_one_row_a_method_and_is_kept(capsys, tmp_path):
    kept = tmp_path / "run.json"
    assert main(["--quick", "--only", "Lotka", "--json", str(kept)]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "problem"
    run = json.loads(kept.read_text())
    methods = ["RK45", "DOP853", *(["CVODES"] if available() else [])]
    assert [row["method"] for row in run["rows"]] == methods and len(lines) == len(methods)
    for row in run["rows"]:
        assert row["steps"] > row["alone"]["steps"] > 10
        assert 0 < row["error_y"] < 100 and 0 < row["error_s"] < 100
    assert run["rows"][0]["tangent_rhs"] == 4 * run["rows"][0]["rhs"]


def test_its_models_are_those_of_the_tests():
    p, y = type("P", (), ROBERTSON), np.array([0.9, 2e-5, 0.1])
    np.testing.assert_allclose(robertson(0.0, y, p), ours(0.0, y, p), rtol=1e-14)
    for problem in PROBLEMS:
        slope = problem.rhs(0.0, np.asarray(problem.y0), type("P", (), problem.params))
        assert np.shape(slope) == np.shape(problem.y0)


def test_the_stored_run_is_whole_and_is_the_table_of_the_page(tmp_path):
    rows = json.loads(STORED.read_text())["rows"]
    expected = [
        (q.name, m, r) for q in PROBLEMS for r in TOLERANCES for m in (*q.methods, "CVODES")
    ]
    assert [(row["problem"], row["method"], row["rtol"]) for row in rows] == expected
    table = PAGE.read_text().split(MARKS[0])[1].split(MARKS[1])[0]
    assert table.strip() == markdown(rows)
    copy = tmp_path / "page.md"
    copy.write_text(PAGE.read_text())
    write_page(copy, rows)
    assert copy.read_text() == PAGE.read_text()
