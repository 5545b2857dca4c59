"""`steady_state`: closed forms, metabolic control tables, totals found, stability."""

import json
from pathlib import Path

import numpy as np
import pytest
import sympy

from dualad import sensitivity as ds

TABLES = sorted((Path(__file__).parent / "tables" / "steady_state_control").glob("*.json"))


def close(value, exact, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


# --- metabolic control, against the figures that libRoadRunner's tests hold


def MM(S1, S2, Vm, Km1, Km2, Keq):
    """The rate of a reversible reaction of Michaelis and Menten."""
    return Vm / Km1 * (S1 - S2 / Keq) / (1 + S1 / Km1 + S2 / Km2)


class Network:
    """The model that a table states; each rate is multiplied by a parameter of its name."""

    def __init__(self, path):
        self.table = json.loads(path.read_text())
        self.states = list(self.table["floating_species"])
        self.names = [r["id"] for r in self.table["reactions"]]
        self.codes = [compile(r["rate"], r["id"], "eval") for r in self.table["reactions"]]
        self.parameters = dict.fromkeys(self.names, 1.0)

    def rates(self, x, p):
        known = {**self.table["fixed_species"], "MM": MM}
        known |= {s: x[i] for i, s in enumerate(self.states)}
        return {n: p[n] * eval(c, {}, known) for n, c in zip(self.names, self.codes)}

    def rhs(self, x, p):
        v = self.rates(x, p)
        reactions = self.table["reactions"]
        return np.stack(
            [sum(r["stoichiometry"].get(s, 0.0) * v[r["id"]] for r in reactions)
             for s in self.states]
        )  # fmt: skip

    def solve(self):
        fluxes = {"J": lambda x, p: np.stack(list(self.rates(x, p).values()))}
        return ds.steady_state(
            self.rhs, self.table["floating_species"], self.parameters, outputs=fluxes
        )


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_the_tables_of_metabolic_control(path):
    network = Network(path)
    r, table = network.solve(), network.table["reference"]
    n = len(network.states)
    close(r.values[:n], [table["steady_state"][s] for s in network.states], rtol=1e-5)
    close(r.values[n:], [table["fluxes"][j] for j in network.names], rtol=1e-5)
    close(r.state_jacobian(), table["jacobian"], rtol=1e-5)
    for kind, scaled in (("unscaled", False), ("scaled", True)):
        control = r.control_coefficients(network.rates, scaled=scaled)
        printed = {"rtol": 1e-5, "atol": 1e-9}
        close(control.concentration, table[f"concentration_control_{kind}"], **printed)
        close(control.flux, table[f"flux_control_{kind}"], **printed)
        close(r.elasticities(network.rates, scaled), table[f"elasticities_{kind}"], **printed)


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_control_is_the_response_to_the_speed_of_a_reaction(path):
    """A factor of each rate as a parameter: its elasticity is the control coefficient."""
    network = Network(path)
    r = network.solve()
    control = r.control_coefficients(network.rates)
    n = len(network.states)
    close(r.elasticity()[:n], control.concentration)
    close(r.elasticity()[n:], control.flux)


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_the_theorems_of_summation_and_connectivity(path):
    """Columns of control sum to 1 for fluxes, 0 for concentrations; C e = -1 and 0 within rank."""
    network = Network(path)
    r = network.solve()
    control = r.control_coefficients(network.rates)
    close(control.flux.values.sum(axis=1), 1.0)
    close(control.concentration.values.sum(axis=1), 0.0, atol=1e-12)
    if not r.totals:
        elasticities = r.elasticities(network.rates).values
        close(control.concentration.values @ elasticities, -np.eye(len(network.states)))
        close(control.flux.values @ elasticities, 0.0, atol=1e-12)


def test_names_lead_to_single_coefficients():
    network = Network(TABLES[0])
    control = network.solve().control_coefficients(network.rates)
    assert control.concentration["S1", "J0"] == control.concentration.values[0, 0]
    assert control.flux.to_dataframe().loc["J0", "J1"] == control.flux["J0", "J1"]
    assert "J0" in str(control)
    with pytest.raises(ds.ParameterError, match="no row 'S9'"):
        control.concentration["S9", "J0"]


# --- closed forms


def cycle(x, p):
    v = p.k * x[0] - p.m * x[1]
    return np.stack([-v, v])


def test_a_cycle_whose_total_is_found():
    """A = m T/(k + m): to second order, by sympy."""
    r = ds.steady_state(
        cycle, lambda p: {"A": p.T, "B": 0.0}, {"k": 1.0, "m": 2.0, "T": 3.5}, order=2
    )
    assert r.totals == ("A + B",)
    k, m, T = sympy.symbols("k m T")
    exact, at = m * T / (k + m), {k: 1, m: 2, T: sympy.Rational(7, 2)}
    close(r.values[0], float(exact.subs(at)))
    close(r.jacobian[0], [float(exact.diff(v).subs(at)) for v in (k, m, T)])
    close(
        r.hessian[0],
        [[float(exact.diff(v, w).subs(at)) for w in (k, m, T)] for v in (k, m, T)],
    )
    close(r.eigenvalues(), [-3.0])
    close(r.state_jacobian(), [[-1.0, 2.0], [1.0, -2.0]])


def test_volumes_that_are_parameters_weigh_the_total():
    """V1 c1 + V2 c2 is kept and c1 = c2: c = (V1 a + V2 b)/(V1 + V2)."""

    def exchange(c, p):
        v = p.D * (c[0] - c[1])
        return np.stack([-v / p.V1, v / p.V2])

    with pytest.warns(ds.SensitivityWarning, match="D does not enter the model, or has no effect"):
        r = ds.steady_state(exchange, [5.0, 1.0], {"D": 0.3, "V1": 2.0, "V2": 6.0}, order=2)
    assert r.totals == ("x1 + 3 x2",)
    close(r.values, [2.0, 2.0])
    close(r.column("x1", "V1"), 6.0 * (5 - 1) / 64)
    close(r.column("x1", "V2"), -2.0 * (5 - 1) / 64)
    close(r.column("x1", "D"), 0.0, atol=1e-12)
    close(r.hessian[0, 1, 1], -2 * 6.0 * 4 / 512)  # of V2 (a - b)/(V1 + V2)^2


def test_an_enzyme_with_two_totals():
    """E + S <-> C at equilibrium: (E0 - C)(S0 - C) = K C, dC/dK by implicit differentiation."""

    def binding(x, p):
        v = p.on * x[0] * x[1] - p.off * x[2]
        return np.stack([-v, -v, v])

    p = {"on": 2.0, "off": 3.0}
    r = ds.steady_state(binding, {"E": 1.0, "S": 4.0, "C": 0.0}, p)
    assert set(r.totals) == {"E + C", "S + C"}
    K = 1.5
    b = 5.0 + K
    C = (b - np.sqrt(b**2 - 16.0)) / 2
    slope = -C / (b - 2 * C)  # dC/dK
    close(r.column("C"), C)
    close(r.column("C", "off"), slope / 2.0)
    close(r.column("C", "on"), -slope * 3.0 / 4.0)


@pytest.mark.parametrize("method", ["newton", "integrate", "auto"])
def test_production_and_decay(method):
    """x = k/d, with the output d x = k."""
    r = ds.steady_state(
        lambda x, p: p.k - p.d * x, 0.0, {"k": 3.0, "d": 2.0}, method=method,
        outputs={"flux": lambda x, p: p.d * x},
    )  # fmt: skip
    close(r.values, [1.5, 3.0])
    close(r.jacobian, [[0.5, -0.75], [1.0, 0.0]], atol=1e-12)
    assert not r.totals


def test_robertsons_reaction_needs_its_total_and_time():
    """y' of Robertson's problem vanishes with all mass in the third state."""

    def robertson(t, p):
        y = t
        a, b, c = p.k1 * y[0], p.k2 * y[1] * y[2], p.k3 * y[1] ** 2
        return np.stack([-a + b, a - b - c, c])

    from dualad.sensitivity.implicit.conserved import found_totals
    from dualad.sensitivity.implicit.equations import UserFunction
    from dualad.sensitivity.implicit.unknowns import unknowns_of

    p = ds.Parameters({"k1": 0.04, "k2": 1e4, "k3": 3e7})
    user = UserFunction(robertson, p, p.names, unknowns_of([1.0, 0.0, 0.0], p))
    totals = found_totals(user, np.array([1.0, 0.0, 0.0]), p.vector())
    assert [name for name, _ in totals] == ["x1 + x2 + x3"]


# --- which state, and whether it is stable


def bistable(x, p):
    """x' = -(x - a)(x - 1)(x - 3): a and 3 are stable, 1 is not, for a < 1."""
    return -(x - p.a) * (x - 1.0) * (x - 3.0)


def test_the_start_decides_between_two_stable_states():
    """dx/da is 1 at x = a, and 0 at x = 3."""
    low = ds.steady_state(bistable, 0.5, {"a": 0.1}, method="integrate")
    close(low.values, 0.1)
    close(low.jacobian, [1.0])
    with pytest.warns(ds.SensitivityWarning, match="does not enter"):
        high = ds.steady_state(bistable, 2.0, {"a": 0.1}, method="integrate")
    close(high.values, 3.0)
    close(high.jacobian, [0.0], atol=1e-12)


def test_an_unstable_state_is_an_error_with_its_eigenvalue():
    """At x = 1 the slope is -(1 - a)(1 - 3) = 1.8."""
    with pytest.raises(ds.ModelError, match=r"unstable.*eigenvalue 1\.8 has a positive real"):
        ds.steady_state(bistable, 1.0, {"a": 0.1}, method="newton")
    with pytest.raises(ds.ModelError, match=r"unstable.*eigenvalue 1\.8"):
        ds.steady_state(bistable, 1.0, {"a": 0.1})
    with pytest.warns(ds.SensitivityWarning, match="does not enter"):
        r = ds.steady_state(bistable, 1.0, {"a": 0.1}, stable=False)
    close(r.values, 1.0)
    close(r.eigenvalues(), [1.8])


def test_newton_at_an_unstable_state_goes_on_in_time():
    """From near 1 Newton's method finds 1, the rates lead to 3."""
    with pytest.warns(ds.SensitivityWarning, match="does not enter"):
        close(ds.steady_state(bistable, 1.05, {"a": 0.1}).values, 3.0)


def oscillator(x, p):
    """Prigogine's Brusselator: (a, b/a) is unstable for b > 1 + a^2."""
    return np.stack([p.a - (p.b + 1) * x[0] + x[0] ** 2 * x[1], p.b * x[0] - x[0] ** 2 * x[1]])


def test_an_oscillation_has_no_stable_steady_state():
    """The eigenvalues are those of [[b - 1, a^2], [-b, -a^2]]."""
    with pytest.raises(ds.ModelError, match=r"unstable.*eigenvalue 0\.5 [+-]0\.866025i"):
        ds.steady_state(oscillator, [1.0, 2.9], {"a": 1.0, "b": 3.0}, method="newton")
    with pytest.raises(ds.ModelError, match=r"oscillate.*Newton's method before.*unstable"):
        ds.steady_state(oscillator, [1.0, 2.9], {"a": 1.0, "b": 3.0})
    r = ds.steady_state(oscillator, [1.0, 1.0], {"a": 1.0, "b": 1.5})
    close(r.values, [1.0, 1.5])
    close(r.jacobian, [[1.0, 0.0], [-1.5, 1.0]], atol=1e-12)


def test_amounts_do_not_become_negative():
    """x' = k - x^2 from 0.1: the root of Newton's method must not be -sqrt(k)."""
    r = ds.steady_state(lambda x, p: p.k - x**2, 0.01, {"k": 4.0})
    close(r.values, 2.0)


def test_growth_without_end_is_told():
    with pytest.raises(ds.ModelError, match=r"no steady state.*was reached by t.*x still changes"):
        ds.steady_state(lambda x, p: p.k + 0.0 * x, 1.0, {"k": 1.0})


def test_a_line_of_steady_states_without_its_total():
    with pytest.raises(ds.ModelError, match=r"singular.*\(A \+ 0.5 B\).*declare what is cons"):
        ds.steady_state(cycle, {"A": 1.0, "B": 0.0}, {"k": 1.0, "m": 2.0}, conserved=None)


def test_a_declared_total_is_as_good_as_a_found_one():
    p = {"k": 1.0, "m": 2.0}
    found = ds.steady_state(cycle, {"A": 1.0, "B": 0.0}, p)
    given = ds.steady_state(cycle, {"A": 1.0, "B": 0.0}, p, conserved={"all": [1, 1]})
    close(given.jacobian, found.jacobian)
    assert given.totals == ("all",)


def test_what_is_asked_of_rates_is_checked():
    r = ds.steady_state(cycle, {"A": 1.0, "B": 0.0}, {"k": 1.0, "m": 2.0})
    net = lambda x, p: p.k * x[0] - p.m * x[1]
    both = lambda x, p: np.stack([p.k * x[0], p.m * x[1]])
    with pytest.raises(ds.ModelError, match=r"returned shape \(\)"):
        r.elasticities(net)
    with pytest.raises(ds.ModelError, match=r"no combination of the rates.*A reaction is missing"):
        r.control_coefficients(lambda x, p: np.stack([p.k * x[0]]))
    with pytest.raises(ds.ModelError, match=r"stoichiometry cannot be found.*v1"):
        r.control_coefficients(lambda x, p: np.concatenate([both(x, p), both(x, p)]))
    with pytest.raises(ds.ModelError, match=r"stoichiometry has shape \(1, 2\)"):
        r.control_coefficients(both, stoichiometry=[[1, 2]])
    close(
        r.control_coefficients(both).flux,
        r.control_coefficients(both, stoichiometry=[[-1, 1], [1, -1]]).flux,
    )
    with pytest.raises(ds.SensitivityError, match="method must be one of"):
        ds.steady_state(cycle, [1.0, 0.0], {"k": 1.0, "m": 2.0}, method="guess")


def test_a_result_from_a_file_has_no_model():
    r = ds.steady_state(cycle, {"A": 1.0, "B": 0.0}, {"k": 1.0, "m": 2.0})
    bare = r.replace(point=None)
    with pytest.raises(ds.SensitivityError, match="does not keep the model"):
        bare.eigenvalues()


# --- the right-hand side of an integration


def test_the_right_hand_side_of_ode_is_taken_as_it_is():
    """A <-> B: A = T m/(k + m), with the total T of the start."""

    def rhs(t, x, p):
        v = p.k * x[0] - p.m * x[1]
        return np.stack([-v, v])

    r = ds.steady_state(rhs, [3.0, 0.0], {"k": 1.0, "m": 2.0})
    close(r.values, [2.0, 1.0])
    close(r.jacobian, [[-2 / 3, 1 / 3], [2 / 3, -1 / 3]])
    close(r.eigenvalues(), [-3.0])


def test_rates_that_depend_on_the_time_have_no_steady_state():
    with pytest.raises(ds.ModelError, match=r"rhs depends on the time: .*Fix the time") as info:

        def rhs(t, x, p):
            return p.k * np.sin(t) - x

        ds.steady_state(rhs, [0.0], {"k": 1.0})
    assert str(info.value).count("ModelError") == 0


def test_a_function_of_state_and_further_arguments_is_not_taken_for_one_of_time():
    r = ds.steady_state(lambda x, p, c: p.k * c - x, [0.0], {"k": 3.0}, args=(2.0,))
    close(r.jacobian, [[2.0]])


def test_a_centre_is_neither_stable_nor_unstable():
    def pendulum(x, p):
        return np.array([x[1], p.b - p.a * x[0]])

    with pytest.warns(ds.SensitivityWarning, match=r"neither stable nor unstable.*no real part"):
        r = ds.steady_state(pendulum, [1.0, 0.0], {"a": 4.0, "b": 2.0})
    assert np.allclose(r.values, [0.5, 0.0]) and "neither" in r.warnings[0]
    assert not ds.steady_state(pendulum, [1.0, 0.0], {"a": 4.0, "b": 2.0}, stable=False).warnings


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        (lambda x, p: [np.log(x[0] - p.a)], "the right-hand side is not finite for x at x = 0.5"),
        (lambda x, p: [p.a - np.sqrt(x[0] - 0.5)], "the derivative of the right-hand side is not"),
        (lambda x, p: [p.a * x[0]], "It still moved after 400 steps: it grows without end"),
        (lambda x, p: [p.a + x[0] ** 2], "it grows without end"),
    ],
    ids=["NaN at the start", "no derivative at the start", "exponential growth", "blow-up"],
)
def test_a_start_or_a_growth_that_leads_to_no_steady_state(rates, says):
    with np.errstate(all="ignore"), pytest.raises(ds.ModelError, match=says):
        ds.steady_state(rates, {"x": 0.5}, {"a": 1.0})
