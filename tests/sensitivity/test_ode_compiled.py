"""ode(compile=True) gives what ode gives, by programs."""

import numpy as np
import pytest

from benchmarks.equations import PROBLEMS
from dualad import sensitivity as ds
from dualad.sensitivity.integration.callbacks import AutomaticCallbacks

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


RATE = 1.0


def decay(t, y, p):
    return [-RATE * p.a * y[0]]


def faster(t, y, p):
    global RATE
    RATE = 3.0
    return [0.1 * y[0]]


HALF = {"events": ds.Event(lambda t, y, p: y[0] - 0.5, update=faster, direction=-1)}
LONG = {"t_eval": np.linspace(0.0, 3.0, 7), "rtol": 1e-9, "method": "RK45"}


def test_by_itself_it_follows_a_variable_that_an_event_changes(monkeypatch):
    found = []
    for choice in (False, "auto"):
        monkeypatch.setitem(globals(), "RATE", 1.0)
        found.append(ds.ode(decay, [1.0], {"a": 1.3}, (0.0, 3.0), compile=choice, **HALF, **LONG))
    np.testing.assert_allclose(found[1].S, found[0].S, rtol=1e-9)


def test_by_itself_it_leaves_a_model_alone_that_reads_what_may_change_inside():
    mode = {"rate": 1.0}

    def rhs(t, y, p):
        return [-mode["rate"] * p.a * y[0]]

    def change(t, y, p):
        mode["rate"] = 3.0
        return [0.1 * y[0]]

    event = ds.Event(lambda t, y, p: y[0] - 0.5, update=change, direction=-1)
    found = []
    for choice in (False, "auto"):
        mode["rate"] = 1.0
        ask = {"events": event, "compile": choice, **LONG}
        found.append(ds.ode(rhs, [1.0], {"a": 1.3}, (0.0, 3.0), **ask))
    np.testing.assert_array_equal(found[1].S, found[0].S)


def test_by_itself_it_sees_entries_of_an_array_that_change():
    rate = np.array([1.0, 5.0])

    def rhs(t, y, p):
        return [-rate[0] * p.a * y[0]]

    def change(t, y, p):
        rate[0] = 3.0
        return [0.1 * y[0]]

    # y = exp(-a t) falls to 1/2, is then 1/20, and falls three times as fast.
    event = ds.Event(lambda t, y, p: y[0] - 0.5, update=change, direction=-1)
    a, end = 1.3, 3.0
    found = ds.ode(rhs, [1.0], {"a": a}, (0.0, end), events=event, **LONG)
    moved = 0.1 * 0.5 * np.exp(-3.0 * (a * end - np.log(2.0)))
    np.testing.assert_allclose(found.S[-1, 0, 0], -3.0 * end * moved, rtol=1e-4)


def test_by_itself_it_makes_programs_of_long_runs(monkeypatch):
    made = []
    original = AutomaticCallbacks.if_safe

    def counted(self):
        made.append(original(self))
        return made[-1]

    monkeypatch.setattr(AutomaticCallbacks, "if_safe", counted)
    ds.ode(chain, [1.0, 0.0], P, (0.0, 0.1), method="RK45")
    assert not made
    found = ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), **LONG)
    plain = ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), compile=False, **LONG)
    assert len(made) == 1 and made[0] is not None
    np.testing.assert_allclose(found.S, plain.S, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("mass", [None, np.array([[2.0]]), lambda p: np.array([[2.0 * RATES[0]]])])
@pytest.mark.parametrize("order", [1, 2])
def test_by_itself_it_looks_into_functions_that_ode_wraps(order, mass, monkeypatch):
    made = []
    original = AutomaticCallbacks.if_safe
    monkeypatch.setattr(AutomaticCallbacks, "if_safe", lambda self: made.append(original(self)))
    ask = {"order": order, "mass": mass, **LONG}
    ds.ode(lambda t, y, p: [-RATES[0] * p.a * y[0]], [1.0], {"a": 1.3}, (0.0, 9.0), **ask)
    assert made == [None]
    ds.ode(lambda t, y, p: [-RATE * p.a * y[0]], [1.0], {"a": 1.3}, (0.0, 9.0), **ask)
    assert (made[1] is None) == callable(mass)


RATES = [1.0]
