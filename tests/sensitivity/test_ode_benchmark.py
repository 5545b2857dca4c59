"""The benchmark of differential equations runs, and its models are the ones that it says."""

import numpy as np

from benchmarks.ode import PROBLEMS, main, robertson

from .models import ROBERTSON, robertson as ours


def test_one_problem_gives_one_row_a_method(capsys):
    assert main(["--quick", "--only", "Lotka"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["problem", "method", "rtol"]
    assert {row.split()[1] for row in rows} >= {"RK45", "DOP853"}


def test_its_models_are_those_of_the_tests():
    p, y = type("P", (), ROBERTSON), np.array([0.9, 2e-5, 0.1])
    np.testing.assert_allclose(robertson(0.0, y, p), ours(0.0, y, p), rtol=1e-14)
    for problem in PROBLEMS:
        slope = problem.rhs(0.0, np.asarray(problem.y0), type("P", (), problem.params))
        assert np.shape(slope) == np.shape(problem.y0)
