"""What members of an ensemble do in threads must leave the process's warning filters alone."""

import sys
import warnings

import numpy as np
import pytest

from dualad import sensitivity as ds

X = np.array([1.0, 2.0, 3.0, 4.0])
Y = np.array([1.1, 1.9, 3.2, 3.9])


def fitted():
    r = ds.fit(lambda p, x: p.a * np.exp(p.b * x), {"a": 1.0, "b": 0.3}, Y, x=X, sigma="estimate")
    r.confidence_intervals(method="profile")
    r.predict(x=X)


def steady():
    def rhs(t, x, p):
        return p.a - p.b * x

    quick = {"t_eval": [1.0], "method": "RK45", "rtol": 1e-3, "atol": 1e-5}
    ds.ode(rhs, [1.0], {"a": 1.0, "b": 2.0}, (0.0, 1.0), order=2, **quick).check()
    ds.steady_state(rhs, [1.0], {"a": 1.0, "b": 2.0}).check()
    ds.root(lambda x, p: p.a - x**3, 1.0, {"a": 2.0}).check()
    ds.fixed_point(lambda x, p: np.cos(p.a * x), 1.0, {"a": 1.0}).check()
    ds.minimize(lambda x, p: (x - p.a) ** 4 + x**2, 1.0, {"a": 2.0}).check()
    ds.linear_solve(lambda p: np.eye(2) * p.a, np.ones(2), {"a": 2.0}).check()


def discrete():
    ds.simulate(lambda k, x, p: p.a * x, [1.0], {"a": 0.5}, 3).check()
    r = ds.function(lambda p: p.a**2, {"a": ds.Parameter(1.0, u=0.1)})
    r.check()
    ds.propagate(r)


@pytest.mark.filterwarnings("ignore::dualad.sensitivity.SensitivityWarning")
@pytest.mark.parametrize("work", [fitted, steady, discrete])
def test_no_analysis_changes_the_filters_of_the_process(work, monkeypatch):
    class Watched(warnings.catch_warnings):
        def __enter__(self):
            caller = sys._getframe(1).f_globals["__name__"]
            assert not caller.startswith("dualad"), f"{caller}: not safe in threads"
            return super().__enter__()

    monkeypatch.setattr("warnings.catch_warnings", Watched)
    work()
