"""ode(compile=True) gives what ode gives, by programs."""

import numpy as np
import pytest

from benchmarks.equations import PROBLEMS
from dualad import sensitivity as ds

from .models import ROBERTSON, chain, robertson

P = {"a": 1.3, "b": 0.4}


def both(rhs, y0, params, span, **options):
    return (ds.ode(rhs, y0, params, span, compile=c, **options) for c in (False, True))


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_it_takes_the_same_steps_to_the_same_values(method):
    plain, programs = both(chain, [1.0, 0.0], P, (0.0, 3.0), method=method)
    np.testing.assert_allclose(programs.t, plain.t, rtol=1e-12)
    np.testing.assert_allclose(programs.S, plain.S, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("corrector", ["staggered", "simultaneous"])
def test_stiff_problems_by_both_correctors(corrector):
    ask = {"rtol": 1e-5, "atol": [1e-9, 1e-13, 1e-7], "t_eval": [0.4, 4.0]}
    plain, programs = both(
        robertson, [1.0, 0.0, 0.0], ROBERTSON, (0.0, 4.0), corrector=corrector, **ask
    )
    np.testing.assert_allclose(programs.scaled(), plain.scaled(), rtol=1e-9, atol=1e-13)


def test_sparse_problems():
    p = PROBLEMS[2]
    plain, programs = both(
        p.rhs, p.y0, p.params, (0.0, 0.5), t_eval=[0.5], method="BDF", rtol=1e-4
    )
    assert programs.settings["sparse"]
    np.testing.assert_allclose(programs.scaled(), plain.scaled(), rtol=1e-9, atol=1e-12)


def test_branches_events_integrals_and_moving_ends():
    def rhs(t, y, p):
        rate = p.a if y[0] > 0.5 else p.b
        return [-rate * y[0]]

    ask = {
        "t_eval": [0.2, ds.Time("T")],
        "rtol": 1e-8,
        "outputs": {"twice": lambda t, y, p: 2 * y[0]},
        "integrals": {"area": lambda t, y, p: y[0] * p.a},
        "events": ds.Event(lambda t, y, p: y[0] - 0.5),
    }
    plain, programs = both(rhs, [1.0], {**P, "T": 2.0}, (0.0, ds.Time("T")), **ask)
    np.testing.assert_allclose(programs.S, plain.S, rtol=1e-9)
    np.testing.assert_allclose(programs.integrals.jacobian, plain.integrals.jacobian, rtol=1e-9)


def test_second_derivatives():
    plain, programs = both(chain, [1.0, 0.0], P, (0.0, 2.0), t_eval=[1.0, 2.0], order=2)
    np.testing.assert_allclose(programs.hessian, plain.hessian, rtol=1e-9, atol=1e-12)


def test_errors_are_those_of_the_model():
    def rhs(t, y, p):
        if t > 0.5:
            raise RuntimeError("too late")
        return [-p.a * y[0]]

    with pytest.raises(ds.ModelError, match="too late"):
        ds.ode(rhs, [1.0], P, (0.0, 1.0), wrt=["a"], compile=True)
    with pytest.raises(ds.SensitivityError, match="compile must be False or True"):
        ds.ode(chain, [1.0, 0.0], P, (0.0, 1.0), compile="always")
