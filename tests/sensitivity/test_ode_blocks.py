"""The linear algebra and the error test of `ode`: blocks, sparsity, norms, tolerances."""

import numpy as np
import pytest
import scipy.sparse

from dualad import sensitivity as ds
from dualad.sensitivity.integration.blocks import Factorised
from dualad.sensitivity.integration.index_sets import Traced
from dualad.sensitivity.integration.norms import BlockNorm, Tolerance
from dualad.sensitivity.integration.sparsity import Colouring
from dualad.transforms.colouring import coloured

from .models import ROBERTSON, chain, chain_solution, robertson

TIMES = np.array([0.5, 1.0, 2.5])
P = {"a": 1.3, "b": 0.4}
ROB = {"t_eval": [0.4, 4.0, 40.0], "rtol": 1e-6, "atol": [1e-10, 1e-14, 1e-8]}


# --- Newton matrices


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("a", [2.5, 2.5 + 0.5j])
def test_one_factorisation_solves_for_many_right_hand_sides(sparse, a):
    rng = np.random.default_rng(1)
    J = rng.normal(size=(4, 4))
    kept = J.copy()
    lu = Factorised(a, 0.3, scipy.sparse.csc_matrix(J) if sparse else J)
    whole = a * np.eye(4) - 0.3 * J
    one, three = rng.normal(size=4) * (1 + a.imag), rng.normal(size=(3, 4))
    np.testing.assert_allclose(whole @ lu(one), one, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(lu(three) @ whole.T, three, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(J, kept)


@pytest.mark.parametrize("kind", ["d", "z"])
def test_many_columns_are_not_given_to_what_wakes_the_threads_of_openblas(kind, monkeypatch):
    """Its getrs of two columns or more does so at any size, its trsm only where it pays."""
    from scipy.linalg import lapack

    asked, theirs = [], getattr(lapack, f"{kind}getrs")
    see = lambda lu, pivots, columns: (asked.append(columns.size), theirs(lu, pivots, columns))[1]
    monkeypatch.setattr(lapack, f"{kind}getrs", see)
    J = np.array([[0.0, 3.0, 1.0], [9.0, 0.5, 2.0], [-4.0, 1.0, 7.0]])  # with exchanges of rows
    a = 2.0 if kind == "d" else 2.0 + 1.0j
    lu, rows = Factorised(a, 1.0, J), np.arange(6.0).reshape(2, 3) * (1 + (a - 2.0))
    exact = np.linalg.solve(a * np.eye(3) - J, rows.T).T
    np.testing.assert_allclose(lu(rows), exact, rtol=1e-12)
    assert asked == []
    np.testing.assert_allclose(lu(rows[1]), exact[1], rtol=1e-12)
    np.testing.assert_allclose(lu(rows[1:]), exact[1:], rtol=1e-12)
    assert asked == [3, 3]


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_both_correctors_agree_and_take_about_the_same_steps(method):
    ask = {"method": method, **ROB}
    whole = ds.ode(robertson, [1.0, 0, 0], ROBERTSON, (0.0, 40.0), corrector="simultaneous", **ask)
    parts = ds.ode(robertson, [1.0, 0, 0], ROBERTSON, (0.0, 40.0), corrector="staggered", **ask)
    assert whole.settings["corrector"] == "simultaneous"
    assert parts.settings["corrector"] == "staggered"
    assert ds.ode(robertson, [1.0, 0, 0], ROBERTSON, (0.0, 40.0), **ask).settings == parts.settings
    np.testing.assert_allclose(parts.scaled(), whole.scaled(), rtol=1e-4, atol=1e-10)
    assert abs(parts.stats["steps"] / whole.stats["steps"] - 1) < 0.1


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_the_steps_of_the_states_alone_are_scipy_s(method):
    from scipy.integrate import solve_ivp

    ask = {"method": method, "rtol": 1e-6, "atol": 1e-9}
    J = lambda t, y: np.array([[-1.3, 0.0], [1.3, -0.4]])
    theirs = solve_ivp(
        lambda t, y: chain(t, y, type("P", (), P)), (0.0, 5.0), [1.0, 0.0], jac=J, **ask
    )
    ours = ds.ode(chain, [1.0, 0.0], P, (0.0, 5.0), error_control="states", **ask)
    np.testing.assert_allclose(ours.t, theirs.t, rtol=1e-7)
    np.testing.assert_allclose(ours.y, theirs.y.T, rtol=1e-7)


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_an_old_jacobian_is_renewed_where_only_the_sensitivities_need_it(method):
    """y1 moves y2's rate, but not Newton's method for the states while y2 is 0."""

    def rhs(t, y, p):
        return [1.0, -np.exp(p.c * y[0]) * y[1] + (p.q - 1.0)]

    r = ds.ode(rhs, [0.0, 0.0], {"c": 2.0, "q": 1.0}, (0.0, 3.0), t_eval=[3.0], method=method,
               rtol=1e-7, atol=1e-9)  # fmt: skip
    from scipy.integrate import quad

    rate = lambda a, b: (np.exp(2 * b) - np.exp(2 * a)) / 2
    exact = quad(lambda u: np.exp(-rate(u, 3.0)), 0.0, 3.0, epsabs=1e-13, points=[2.9])[0]
    np.testing.assert_allclose(r.S[0, 1], [0.0, exact], rtol=1e-5, atol=1e-12)


def grid(n):
    """Diffusion and decay on n points: linear, so that a matrix exponential is the solution."""
    h = 1.0 / (n + 1)
    D = (np.eye(n, k=1) + np.eye(n, k=-1) - 2 * np.eye(n)) / h**2
    u0 = np.sin(np.pi * h * np.arange(1, n + 1)) ** 2

    def rhs(t, u, p):
        v = np.concatenate([[0.0], u, [0.0]])
        return p.d * (v[:-2] - 2 * v[1:-1] + v[2:]) / h**2 - p.r * u

    return rhs, u0, D


def grid_solution(D, u0, d, r, t):
    from scipy.linalg import expm

    n = len(u0)
    A = d * D - r * np.eye(n)
    both = expm(t * np.block([[A, 0 * A], [D, A]])) @ np.concatenate([u0, 0 * u0])
    return both[:n], np.stack([both[n:], -t * both[:n]], axis=1)


@pytest.mark.parametrize("method", ["Radau", "BDF"])
@pytest.mark.parametrize("sparsity", [None, "auto", "given"])
def test_a_system_of_eighty_states_is_solved_by_blocks(method, sparsity):
    n, d, r, t = 80, 0.05, 0.3, 0.5
    rhs, u0, D = grid(n)
    given = D != 0 if sparsity == "given" else sparsity
    result = ds.ode(rhs, u0, {"d": d, "r": r}, (0.0, t), t_eval=[t], method=method, rtol=1e-7,
                    atol=1e-9, jac_sparsity=given)  # fmt: skip
    assert result.settings["corrector"] == "staggered"
    y, s = grid_solution(D, u0, d, r, t)
    np.testing.assert_allclose(result.y[0], y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(result.S[0], s, rtol=1e-4, atol=1e-5)


def test_differences_that_are_not_known_yet_hold_nothing(monkeypatch):
    """Memory that nobody has set may hold a NaN that signals, and so gives a warning."""
    empty = np.empty

    def signalling(shape, *args, **kwargs):
        out = empty(shape, *args, **kwargs)
        if isinstance(shape, tuple) and shape[:1] == (8,) and out.dtype == float:
            out.view(np.uint64)[...] = 0x7FF0000000000001
        return out

    monkeypatch.setattr(np, "empty", signalling)
    out = ds.ode(
        robertson, [1.0, 0, 0], ROBERTSON, (0.0, 40.0), method="BDF", corrector="staggered", **ROB
    )
    assert np.all(np.isfinite(out.y))


def test_sparsity_goes_with_integrals():
    n, d, r, t = 6, 0.05, 0.3, 0.5
    rhs, u0, _ = grid(n)
    ask = {"rtol": 1e-7, "integrals": {"mass": lambda t, u, p: p.r * u.sum()}}
    dense = ds.ode(rhs, u0, {"d": d, "r": r}, (0.0, t), **ask)
    sparse = ds.ode(rhs, u0, {"d": d, "r": r}, (0.0, t), jac_sparsity="auto", **ask)
    np.testing.assert_allclose(sparse.integrals.values, dense.integrals.values, rtol=1e-7)
    np.testing.assert_allclose(sparse.integrals.jacobian, dense.integrals.jacobian, rtol=1e-6)


# --- patterns


def test_index_sets_follow_every_kind_of_operation():
    W = np.array([[1.0, 0.0, 2.0]])

    def f(y):
        out = np.zeros_like(y)
        out[0] = np.sin(y[1]) * 2.0
        out[1] = 0.0 * y[0] + y[2] ** 2 / (1.0 + abs(y[1]))
        out[2] = y[0] if y[0] > 0 else y[1]
        return np.concatenate([out, W @ y, [3.0, np.exp(-y[0]) - y[2]], np.roll(y, 1)[:1]])

    sets = Traced.run(f, np.array([1.0, 2.0, 3.0]))
    assert [sorted(s) for s in sets] == [[1], [1, 2], [0], [0, 2], [], [0, 2], [2]]


def test_columns_of_one_colour_share_no_row():
    rng = np.random.default_rng(3)
    pattern = scipy.sparse.csc_matrix(rng.random((30, 30)) < 0.08)
    colour = coloured(pattern)
    for c in range(colour.max() + 1):
        assert pattern[:, colour == c].toarray().sum(axis=1).max() <= 1
    full = scipy.sparse.csc_matrix(np.ones((400, 400), bool))
    assert sorted(coloured(full)) == list(range(400))
    band = scipy.sparse.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(50, 50), format="csc")
    assert coloured(band).max() == 2


def test_a_matrix_comes_back_from_its_compressed_columns():
    A = np.diag([1.0, 2.0, 3.0, 4.0]) + np.diag([5.0, 6.0, 7.0], -1)
    colouring = Colouring(A != 0)
    assert colouring.size == 2
    entries = colouring.entries((A @ colouring.seeds.T).T)
    np.testing.assert_array_equal(colouring.matrix(entries).toarray(), A)
    s = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(colouring.product(entries[colouring.by_row], s), s @ A.T)
    assert not colouring.lacks(entries, A @ colouring.probe).size
    A[0, 3] = 1.0
    assert colouring.lacks(entries, A @ colouring.probe).tolist() == [0]


def test_a_product_leaves_rows_without_entries_at_zero():
    A = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    colouring = Colouring(A != 0)
    entries = colouring.entries((A @ colouring.seeds.T).T)
    s = np.array([[[1.0, 5.0, 7.0]], [[1.0, 0.0, 0.0]]])
    found = colouring.product(entries[colouring.by_row], s)
    np.testing.assert_array_equal(found, [[[0.0, 23.0, 0.0]], [[0.0, 2.0, 0.0]]])


def test_a_function_that_index_sets_cannot_run_is_differentiated_instead():
    def rhs(t, y, p):
        if y.dtype == object:
            raise TypeError("no objects here")
        return np.array([-p.a * y[0], p.a * y[0] - p.b * y[1]])

    r = ds.ode(rhs, [1.0, 0.0], P, (0.0, 3.0), t_eval=TIMES, jac_sparsity="auto", rtol=1e-7)
    np.testing.assert_allclose(r.S, chain_solution(TIMES, *P.values())[1], rtol=1e-4, atol=1e-7)


def test_a_pattern_that_lacks_an_entry_is_an_error():
    with pytest.raises(ds.ModelError, match="lacks an entry in the row of y2 at t = 0"):
        ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), jac_sparsity=np.eye(2))


# --- a Jacobian of the user's


def test_a_jacobian_of_the_user_s_dense_or_sparse():
    J = lambda t, y, p: np.array([[-p.a, 0.0], [p.a, -p.b]])
    ask = {"t_eval": TIMES, "rtol": 1e-7}
    exact = chain_solution(TIMES, *P.values())[1]
    for jac in (J, lambda t, y, p: scipy.sparse.csr_matrix(J(t, y, p)), None):
        r = ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), jac=jac, **ask)
        np.testing.assert_allclose(r.S, exact, rtol=1e-4, atol=1e-7)
    r = ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), jac=J, jac_sparsity="auto", **ask)
    np.testing.assert_allclose(r.S, exact, rtol=1e-4, atol=1e-7)


def test_a_wrong_jacobian_is_found_before_the_integration():
    wrong = lambda t, y, p: np.array([[-p.a, 0.0], [p.b, -p.b]])
    with pytest.raises(ds.ModelError, match=r"dy2'/dy1 is 0.4 by jac and 1.3 by dual numbers"):
        ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), jac=wrong)
    with pytest.raises(ds.ModelError, match=r"jac returned shape \(1, 2\) at t = 0"):
        ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), jac=lambda t, y, p: [[1.0, 2.0]])


# --- the error test


def test_the_norm_is_that_of_the_worst_parameter_with_the_states():
    norm = BlockNorm(2, 3, only_states=False, multistep=False)
    y, a, b, c = np.array([[3.0, 4.0], [1.0, 2.0], [6.0, 8.0], [0.0, 0.0]])
    joint = np.concatenate([y, a, b, c])
    rms = lambda v: np.sqrt(np.mean(v**2))
    expected = rms(np.concatenate([y, b]))
    assert np.isclose(norm(joint) / joint.size**0.5, expected)
    small = np.concatenate([y, 0.1 * a, 0.1 * a, c])
    assert np.isclose(norm(small) / small.size**0.5, rms(y))
    states = BlockNorm(2, 3, only_states=True, multistep=False)
    assert np.isclose(states(joint) / joint.size**0.5, rms(y))


def test_scipy_s_norm_of_what_a_tolerance_divides_is_ours():
    norm = BlockNorm(2, 1, only_states=True, multistep=False)
    atol = Tolerance.of(np.full(4, 0.5), norm)
    error = np.array([1.0, 1.0, 50.0, 50.0])
    scale = atol + 0.0 * np.abs(error)
    assert np.isclose(np.linalg.norm(error / scale), 2.0 * 4**0.5)
    assert np.isclose(np.linalg.norm(error), np.sqrt(5002.0))


@pytest.mark.parametrize("method", ["RK45", "Radau", "BDF", "LSODA"])
def test_control_by_the_states_alone_takes_the_steps_of_the_states_alone(method):
    ask = {"method": method, "rtol": 1e-5, "atol": 1e-8}
    full = ds.ode(chain, [1.0, 0.0], P, (0.0, 5.0), compare=True, **ask)
    states = ds.ode(chain, [1.0, 0.0], P, (0.0, 5.0), error_control="states", compare=True, **ask)
    assert states.stats["steps"] <= 1.15 * states.stats["alone"]["steps"] + 2
    assert states.stats["steps"] < full.stats["steps"]
    exact = chain_solution(states.t, *P.values())[1]
    np.testing.assert_allclose(states.S, exact, atol=3e-3)


def test_tolerances_of_the_sensitivities_are_their_own():
    def steps(**options):
        r = ds.ode(
            chain, [1.0, 0.0], P, (0.0, 5.0), method="RK45", rtol=1e-5, atol=1e-7, **options
        )
        return r.stats["steps"]

    plain = steps()
    assert steps(sens_rtol=1e-8, sens_atol=1e-10) > 2 * plain
    assert steps(sens_rtol={"a": 1e-8}, sens_atol={"a": 1e-10}) > 2 * plain
    assert steps(sens_rtol=1e-3, sens_atol=1e-3) < plain
    assert steps(sens_atol=[1e-7 / 1.3, 1e-7]) >= plain - 1


def test_absolute_tolerances_by_name():
    by_name = ds.ode(chain, {"A": 1.0, "B": 0.0}, P, (0.0, 3.0), atol={"A": 1e-6, "B": 1e-9})
    by_order = ds.ode(chain, {"A": 1.0, "B": 0.0}, P, (0.0, 3.0), atol=[1e-6, 1e-9])
    np.testing.assert_array_equal(by_name.S, by_order.S)


def test_refused_steps_are_counted_and_by_whom():
    def rhs(t, y, p):
        return [-p.k * y[0] * (1 + 50 * np.exp(-(((t - 2.0) / 0.05) ** 2)))]

    for method in ("RK45", "Radau", "BDF"):
        r = ds.ode(rhs, [1.0], {"k": 1.0}, (0.0, 4.0), method=method, rtol=1e-6)
        assert 1 <= r.stats["rejected"] < r.stats["steps"]
        assert 0 <= r.stats["rejected_by_sensitivity"] <= r.stats["rejected"]


# --- what a choice of parameters may not change


def test_an_unused_parameter_changes_no_step_but_for_rounding():
    plain = ds.ode(chain, [1.0, 0.0], P, (0.0, 3.0), method="RK45")
    with pytest.warns(ds.SensitivityWarning, match="'c' does not enter the model"):
        more = ds.ode(chain, [1.0, 0.0], {**P, "c": 7.0}, (0.0, 3.0), method="RK45")
    np.testing.assert_allclose(plain.t, more.t, rtol=1e-9)
    np.testing.assert_allclose(plain.S, more.S[:, :, :2], rtol=1e-9, atol=1e-14)
    assert (more.column("y1", "c") == 0.0).all() and (more.column("y2", "c") == 0.0).all()


def test_a_pattern_that_was_found_and_changes_is_given_up():
    """Beyond t = 1 the first state depends on the second."""

    def rhs(t, y, p):
        back = p.b * y[1] if t > 1.0 else 0.0
        return [-p.a * y[0] + back, p.a * y[0] - p.b * y[1]]

    ask = {"t_eval": [3.0], "rtol": 1e-7, "events": ds.Event(lambda t, y, p: t - 1.0)}
    dense = ds.ode(rhs, [1.0, 0.0], P, (0.0, 3.0), **ask)
    sparse = ds.ode(rhs, [1.0, 0.0], P, (0.0, 3.0), jac_sparsity="auto", **ask)
    np.testing.assert_allclose(sparse.S, dense.S, rtol=1e-5)


def test_large_systems_are_looked_at_unasked():
    rhs, u0, _ = grid(120)
    r = ds.ode(rhs, u0, {"d": 0.05, "r": 0.3}, (0.0, 0.1), rtol=1e-4, method="BDF")
    assert r.settings["corrector"] == "staggered" and r.settings["sparse"]
    W = np.random.default_rng(2).normal(size=(100, 100)) / 100
    r = ds.ode(lambda t, y, p: -p.k * y + W @ y, np.ones(100), {"k": 1.0}, (0.0, 0.1), rtol=1e-3)
    assert not r.settings["sparse"]
