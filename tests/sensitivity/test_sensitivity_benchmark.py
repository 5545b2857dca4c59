"""The benchmark of sensitivity analysis runs, and its model is differentiable."""

import numpy as np

from benchmarks.sensitivity import PARAMS, main, model
from dualad import sensitivity as ds


def test_it_prints_both_tables(capsys):
    assert main(["--quick", "--only", "nothing"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("problem") and "ensemble of 100 members" in out
    assert "in one pass" in out and "times faster" in out


def test_its_model_has_the_derivatives_of_its_formula():
    r = ds.function(model, PARAMS)
    a, b, c = ds.Parameters(PARAMS).vector()
    e = np.exp(-b * c)
    np.testing.assert_allclose(r.jacobian[0], [e, -a * c * e, -a * b * e], rtol=1e-14)
