"""Derived outputs, integrals, second derivatives, dense output and other things `ode` gives."""

import numpy as np
import pytest

from dualad import sensitivity as ds

from .models import chain, chain_solution, decay

A, B = 1.3, 0.4
P = {"a": A, "b": B}
TIMES = np.array([0.5, 1.0, 2.5])
ASK = {"rtol": 1e-8, "atol": 1e-10}


def close(value, exact, rtol=2e-6, atol=1e-8):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


def test_derived_outputs_are_differentiated_along_the_trajectory():
    """The flux a y1 + t b depends on a by itself and through y1."""
    r = ds.ode(
        chain, {"A": 1.0, "B": 0.0}, P, (0.0, 3.0), t_eval=TIMES,
        outputs={"flux": lambda t, y, p: p.a * y[0] + t * p.b, "ten": lambda t, y, p: 10.0},
        **ASK,
    )  # fmt: skip
    y, s = chain_solution(TIMES, A, B)
    assert r.outputs == ("A", "B", "flux", "ten")
    close(r.column("flux"), A * y[:, 0] + TIMES * B)
    close(r.column("flux", "a"), y[:, 0] + A * s[:, 0, 0])
    close(r.column("flux", "b"), TIMES)
    close(r.column("B", "b"), s[:, 1, 1])
    assert (r.column("ten", "a") == 0).all()


def test_a_list_of_names_keeps_these_states_in_order():
    r = ds.ode(chain, {"A": 1.0, "B": 0.0}, P, (0.0, 3.0), t_eval=TIMES, outputs=["B"], **ASK)
    assert r.outputs == ("B",)
    assert r.S.shape == (3, 1, 2)
    close(r.S[:, 0], chain_solution(TIMES, A, B)[1][:, 1])


def test_dense_output_has_the_derived_outputs_too():
    r = ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), t_eval=[3.0], dense_output=True,
               outputs={"sum": lambda t, y, p: y[0] + y[1]}, **ASK)  # fmt: skip
    y, s = r.at(1.7)
    exact_y, exact_s = chain_solution(np.array([1.7]), A, B)
    close(y, [*exact_y[0], exact_y.sum()])
    close(s, [*exact_s[0], exact_s[0].sum(axis=0)])
    with pytest.raises(ds.SensitivityError, match="must lie in the span, from 0 to 3"):
        r.at([1.0, 3.5])


@pytest.mark.parametrize("method", ["Radau", "BDF", "DOP853"])
def test_integrals_with_their_derivatives(method):
    """The integral of A over (0, T) is (1 - exp(-a T)) / a, that of its square with 2 a."""
    T = 2.0
    r = ds.ode(
        chain, [1.0, 0.0], P, (0.0, T), t_eval=[1.0], method=method,
        integrals={"one": lambda t, y, p: y[0], "two": lambda t, y, p: p.b * y[:1] ** 2}, **ASK,
    )  # fmt: skip
    e = np.exp(-A * T)
    close(r.integrals.values, [(1 - e) / A, B * (1 - e**2) / (2 * A)])
    one = [T * e / A - (1 - e) / A**2, 0.0]
    two = [B * (T * e**2 / A - (1 - e**2) / (2 * A**2)), (1 - e**2) / (2 * A)]
    close(r.integrals.jacobian, [one, two])
    assert r.integrals.outputs == ("one", "two")
    assert r.y.shape == (1, 2)


def test_second_derivatives_of_states_and_outputs():
    """y = y0 exp(-k t), from y0 = q**2: all second derivatives by k and q, and of y**2 k."""
    k, q, t = 0.7, 1.5, TIMES
    r = ds.ode(
        decay, lambda p: [p.q**2], {"k": k, "q": q}, (0.0, 3.0), t_eval=t, order=2,
        outputs={"g": lambda t, y, p: p.k * y[0] ** 2}, method="DOP853", **ASK,
    )  # fmt: skip
    e = np.exp(-k * t)
    close(r.S[:, 0], np.stack([-t * q**2 * e, 2 * q * e], axis=1))
    exact = [[t**2 * q**2 * e, -2 * t * q * e], [-2 * t * q * e, 2 * e]]
    close(r.hessian[:, 0], np.moveaxis(np.array(exact), 2, 0))
    # g = k q^4 exp(-2 k t)
    f = np.exp(-2 * k * t)
    kk, kq = (4 * k * t**2 - 4 * t) * q**4 * f, 4 * q**3 * (1 - 2 * k * t) * f
    exact = [[kk, kq], [kq, 12 * k * q**2 * f]]
    close(r.hessian[:, 1], np.moveaxis(np.array(exact), 2, 0))


def test_second_derivatives_by_a_stiff_method():
    r = ds.ode(decay, [1.0], {"k": 0.7}, (0.0, 3.0), t_eval=TIMES, order=2, **ASK)
    close(r.hessian[:, 0, 0, 0], TIMES**2 * np.exp(-0.7 * TIMES))


def test_a_mass_matrix():
    """M y' = -k y with M = m: y = exp(-k t / m)."""
    r = ds.ode(decay, [1.0], {"k": 0.7, "m": 2.0}, (0.0, 2.0), t_eval=[2.0],
               mass=lambda p: p.m * np.eye(1), **ASK)  # fmt: skip
    e = np.exp(-0.7)
    close(r.S[0, 0], [-e, 0.7 / 2.0 * e])
    r = ds.ode(
        chain, [1.0, 0.0], P, (0.0, 2.0), t_eval=[2.0], mass=[[2.0, 0.0], [0.0, 2.0]], **ASK
    )
    close(r.S[0], chain_solution(np.array([1.0]), A, B)[1][0])


def test_the_comparison_says_what_sensitivities_cost():
    r = ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), compare=True)
    assert r.stats["alone"]["tangent_rhs"] == 0
    assert r.stats["steps_ratio"] == r.stats["steps"] / r.stats["alone"]["steps"]
    assert 1.0 <= r.stats["steps_ratio"] <= 2.0
    assert r.stats["wall_ratio"] > 0


def test_the_result_can_be_checked():
    r = ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), t_eval=TIMES, method="DOP853")
    assert {row[-1] for row in r.check().rows} <= {"agrees", "below noise"}


def test_a_fixed_parameter_is_not_differentiated_by():
    r = ds.ode(chain, [1.0, 0.0], {"a": A, "b": ds.Parameter(B, fixed=True)}, (0.0, 1.0))
    assert r.parameters.names == ("a",)


def test_an_unknown_start_may_be_a_parameter_by_name():
    r = ds.ode(chain, lambda p: {"A": p.A0, "B": 0.0}, {**P, "A0": 2.0}, (0.0, 1.0), t_eval=[1.0])
    assert r.outputs == ("A", "B")
    close(r.column("A", "A0"), np.exp(-A), rtol=1e-5)


def test_what_there_is_of_a_failed_run():
    """y' = k y**2 from 1 is infinite at t = 1/2."""
    with pytest.warns(ds.SensitivityWarning, match="gave up"), np.errstate(all="ignore"):
        r = ds.ode(lambda t, y, p: p.k * y**2, [1.0], {"k": 2.0}, (0.0, 1.0), rtol=1e-4,
                   t_eval=[0.25, 0.75], on_failure="partial")  # fmt: skip
    assert not r.success and "gave up" in r.message
    assert r.t.tolist() == [0.25]
    close(r.y[0, 0], 2.0, rtol=1e-3)
    close(r.S[0, 0, 0], 0.25 / 0.25, rtol=1e-3)


def test_too_many_steps():
    with pytest.raises(ds.ModelError, match=r"gave up after 5 steps.*max_steps = 5"):
        ds.ode(chain, [1.0, 0.0], P, (0.0, 30.0), max_steps=5)
    with pytest.warns(ds.SensitivityWarning):
        r = ds.ode(chain, [1.0, 0.0], P, (0.0, 30.0), max_steps=5, on_failure="partial")
    assert len(r.t) == 6 and not r.success


def test_steps_may_be_bounded():
    r = ds.ode(chain, [1.0, 0.0], P, (0.0, 1.0), max_step=0.05, first_step=0.01)
    assert np.diff(r.t).max() <= 0.05 * (1 + 1e-12)
    close(r.t[1], 0.01)


def test_a_mass_matrix_and_slopes_of_traced_entries():
    """m y1' = -k y1 and y2' = k y1, written entry by entry into np.array."""

    def rhs(t, y, p):
        return np.array([-p.k * y[0], p.k * y[0]])

    def mass(p):
        return np.array([[p.m, 0.0], [0.0, 1.0]])

    r = ds.ode(rhs, [1.0, 0.0], {"k": 0.6, "m": 2.0}, (0.0, 1.0), t_eval=[1.0], mass=mass, **ASK)
    e = np.exp(-0.3)
    close(r.S[0], [[-e / 2, 0.15 * e], [e, (1 - e) - 0.3 * e]])


def test_second_derivatives_say_of_jumps_and_of_unused_parameters():
    with pytest.warns(ds.SensitivityWarning):
        r = ds.ode(
            lambda t, y, p: [-p.k if y[0] > 1 else -2 * p.k], [2.0], {"k": 1.0}, (0.0, 2.0),
            t_eval=[1.3], order=2,
        )  # fmt: skip
    assert any("jumps under the solution at t = 1 " in text for text in r.warnings)
    with pytest.warns(ds.SensitivityWarning, match="'z' does not enter the model"):
        ds.ode(
            decay, [2.0], {"k": 1.0, "z": 1.0}, (0.0, 1.0), t_eval=[1.0], order=2
        )  # fmt: skip
