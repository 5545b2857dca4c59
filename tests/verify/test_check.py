"""`check`: right derivatives are right, wrong ones wrong, and nothing is said without a bound."""

import json

import numpy as np
import pytest
from derivative_pairs import ARRAYS, PAIRS

import dualad
from dualad.autograd import Function
from dualad.errors import ArgumentError
from dualad.verify import check

V = np.array([0.7, -1.2, 2.5])
IDS = [p[0] for p in PAIRS]


def rows_of(report, check_name):
    return [r for r in report.rows if r.check == check_name]


def consistent(report):
    """No difference within its bound is wrong, none outside is right."""
    for r in report.rows:
        if r.method and not r.reason.startswith("a kink"):
            inside = r.error <= r.bound
            assert not (inside and r.verdict == "wrong"), r
            assert inside or r.verdict != "right" or r.claimed == r.reference, r


def test_there_are_enough_pairs():
    assert len(PAIRS) >= 45 and len(ARRAYS) >= 25


@pytest.mark.parametrize("pair", PAIRS, ids=IDS)
def test_a_right_formula_is_right(pair):
    _, f, right, _, args, _ = pair
    report = check((f, right), *args)
    assert report and report.verdict == "right" and not report.failures, report.table()
    consistent(report)


@pytest.mark.parametrize("pair", PAIRS, ids=IDS)
def test_a_wrong_formula_is_wrong(pair):
    _, f, _, wrong, args, what = pair
    report = check((f, wrong), *args)
    assert not report and report.verdict == "wrong", f"{what}\n{report.table()}"
    assert report.worst.verdict == "wrong" and report.worst in report.failures
    consistent(report)


# --- rules ---------------------------------------------------------------------------------------


def function(name="Rule", **methods):
    """A Function class of static methods."""
    return type(name, (Function,), {k: staticmethod(v) for k, v in methods.items()})


def save(ctx, x):
    ctx.save_for_backward(x)
    ctx.save_for_forward(x)


def square_forward(ctx, x):
    save(ctx, x)
    return x * x


def square_backward(ctx, c):
    return 2 * ctx.saved_tensors[0] * c


def square_jvp(ctx, t):
    return 2 * ctx.saved_tensors[0] * t


RIGHT_RULES = {
    "backward alone": {"forward": square_forward, "backward": square_backward},
    "jvp alone": {"forward": square_forward, "jvp": square_jvp},
    "both": {"forward": square_forward, "backward": square_backward, "jvp": square_jvp},
}


@pytest.mark.parametrize("methods", RIGHT_RULES.values(), ids=RIGHT_RULES)
def test_a_right_rule_is_right_in_every_way(methods):
    report = check(function(**methods), V)
    assert report, report.table()
    done = {r.check for r in report.rows}
    wanted = [
        "forward",
        "reverse",
        "value",
        "second order",
        "batched reverse",
        "linear in tangents",
    ]
    wanted += ["same call twice", "inputs unchanged", "reverse = forward transposed"]
    assert {*wanted, "reverse, float32", "second order, reverse over reverse"} <= done


def test_a_rule_with_one_wrong_mode_is_wrong_in_that_mode():
    rule = function(
        forward=square_forward,
        backward=lambda ctx, c: 2.0002 * ctx.saved_tensors[0] * c,
        jvp=lambda ctx, t: 2 * ctx.saved_tensors[0] * t,
    )
    report = check(rule, V)
    wrong = {r.check for r in report.failures}
    assert "reverse" in wrong and "reverse = forward transposed" in wrong
    assert "forward" not in wrong


def test_a_missing_conjugate_shows_at_complex_arguments():
    rule = function(**RIGHT_RULES["backward alone"])
    z = np.array([0.3 + 1.0j, -2.0j])
    assert check(rule, V)
    assert check(rule, z).verdict == "wrong"
    assert check(rule, V, complex=True).verdict == "wrong"
    good = function(
        forward=square_forward, backward=lambda ctx, c: 2 * ctx.saved_tensors[0].conj() * c
    )
    assert check(good, z), check(good, z).table()
    assert check(good, V, complex=True)


def test_a_rule_that_is_wrong_in_single_precision_only():
    def backward(ctx, c):
        (x,) = ctx.saved_tensors
        return 2 * x * c * (1.001 if c.dtype == dualad.float32 else 1.0)

    report = check(function(forward=square_forward, backward=backward), V)
    assert {r.check for r in report.failures} >= {"reverse, float32"}
    assert "reverse" not in {r.check for r in report.failures}
    assert check(function(forward=square_forward, backward=backward), V, precision=False)


def test_a_rule_that_is_wrong_in_batches_only():
    def vmap(info, in_dims, x):
        return (x * x) * 1.001, 0

    rule = function(
        forward=lambda x: x * x,
        setup_context=lambda ctx, inputs, output: save(ctx, inputs[0]),
        backward=lambda ctx, c: 2 * ctx.saved_tensors[0] * c,
        vmap=vmap,
    )
    report = check(rule, V)
    assert {r.check for r in report.failures} == {"batched value"}
    assert report.worst.reason == "vmap gives another result than a loop"
    assert check(rule, V, batching=False)


def test_a_forgotten_one_over_n_of_a_custom_vjp():
    def mean(v):
        return np.mean(v)

    rule = dualad.custom_vjp(mean)
    rule.defvjp(lambda v: (np.mean(v), v), lambda v, c: (c * np.ones_like(v),))
    assert check(rule, V).verdict == "wrong"
    rule.defvjp(lambda v: (np.mean(v), v), lambda v, c: (c * np.ones_like(v) / v.size,))
    assert check(rule, V), check(rule, V).table()


def jvp_rule(f, rule):
    out = dualad.custom_jvp(f)
    out.defjvp(rule)
    return out


def test_a_value_that_the_rule_gives_and_the_function_does_not():
    rule = jvp_rule(lambda x: x**2, lambda p, t: (p[0] ** 2 + 1e-7, 2 * p[0] * t[0]))
    report = check(rule, V)
    assert {r.check for r in report.failures} == {"value of the rule"}


def test_a_rule_that_is_not_linear_in_its_tangent():
    rule = jvp_rule(lambda x: x**2, lambda p, t: (p[0] ** 2, 2 * p[0] * np.abs(t[0])))
    assert "linear in tangents" in {r.check for r in check(rule, V).failures}


def test_a_rule_whose_second_derivative_is_wrong():
    rule = jvp_rule(
        lambda x: x**3, lambda p, t: (p[0] ** 3, dualad.stop_gradient(3 * p[0] ** 2) * t[0])
    )
    report = check(rule, V)
    assert {r.check for r in report.failures} >= {"second order"}
    assert not {"forward", "reverse"} & {r.check for r in report.failures}
    assert check(rule, V, second_order=False)


def test_shapes_and_dtypes_of_what_a_rule_gives():
    rule = jvp_rule(lambda x: np.sum(x), lambda p, t: (np.sum(p[0]), t[0]))
    report = check(rule, V)
    assert report.verdict == "wrong"
    assert "a tangent of shape (3,) for an output of shape ()" in report.worst.reason


def test_code_that_is_not_pure():
    calls = []

    def counting(x):
        calls.append(1)
        return x * (1 + 1e-3 * len(calls))

    assert "same call twice" in {r.check for r in check((counting, np.ones_like), 1.0).failures}

    def writing(x):
        x += 1
        return x**2

    report = check((writing, lambda x: np.diag(2 * (x + 1))), V)
    assert {r.check for r in report.failures} == {"inputs unchanged"}

    def greedy(x, c):
        c *= 2 * x
        return (c,)

    rule = dualad.custom_vjp(lambda x: x**2)
    rule.defvjp(lambda x: (x**2, x), greedy)
    assert "given arrays unchanged" in {r.check for r in check(rule, V).failures}


def test_a_function_that_works_in_place_and_says_so():
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    assert check(function(forward=forward, backward=lambda ctx, c: 2 * c), V)


def test_several_outputs_integers_and_what_has_no_derivative():
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        order = x.argsort()
        ctx.mark_non_differentiable(order)
        return x**n, x.sum(), order

    def backward(ctx, a, b, c):
        (x,) = ctx.saved_tensors
        return ctx.n * x ** (ctx.n - 1) * a + b, None

    report = check(function(forward=forward, backward=backward), V, 3)
    assert report, report.table()


def test_matrix_products_and_their_conjugates():
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    def plain(ctx, c):
        a, b = ctx.saved_tensors
        return c @ b.t(), a.t() @ c

    def adjoint(ctx, c):
        a, b = ctx.saved_tensors
        return c @ b.t().conj(), a.t().conj() @ c

    a, b = np.array([[1.0, -2.0]]), np.array([[0.5], [3.0]])
    options = {"precision": False, "batching": False, "second_order": False}
    assert check(function(forward=forward, backward=plain), a, b, **options)
    assert check(function(forward=forward, backward=adjoint), a + 1j, b - 2j, **options)
    wrong = check(function(forward=forward, backward=plain), a + 1j, b - 2j, **options)
    assert wrong.verdict == "wrong"


def test_errors_of_a_rule_are_verdicts():
    rule = jvp_rule(lambda x: x**2, lambda p, t: 1 / 0)
    report = check(rule, V)
    assert report.verdict == "cannot tell"
    assert "ZeroDivisionError" in report.failures[0].reason


# --- three verdicts ------------------------------------------------------------------------------


def test_what_differences_cannot_decide_is_not_decided():
    """1 - cos x loses all digits: neither the slope of the code nor that of the formula counts."""
    f = lambda x: (1 - np.cos(x)) / x**2
    for claimed in (lambda x: -x / 12, lambda x: -2 * f(x) / x):
        assert check((f, claimed), 1e-7).verdict == "cannot tell"


def test_a_slope_that_is_nothing_need_not_be_exact():
    """1 - tanh(40)**2 is 0 in floating point; the complex step has it as 7e-35."""
    for x in (np.array([40.0]), np.array([40.0, 0.1])):
        assert check((np.tanh, lambda x: np.diag(1 - np.tanh(x) ** 2)), x)
    wrong = check((np.tanh, lambda x: np.diag(1 - np.tanh(x) ** 2 + 1e-6)), np.array([40.0]))
    assert wrong.verdict == "wrong"


def test_noise_hides_a_small_error_but_not_a_large_one():
    noisy = lambda x: np.float64(np.sin(np.float32(x)))
    assert check((noisy, lambda x: np.cos(x) * (1 + 1e-7)), 0.5).verdict != "wrong"
    assert check((noisy, lambda x: np.cos(x) * 1.01), 0.5).verdict == "wrong"


def test_where_there_is_no_value_there_is_no_verdict():
    assert check((np.log, lambda x: 1 / x), -1.0).verdict == "cannot tell"
    assert check((np.sin, np.cos), np.nan).verdict == "cannot tell"


def test_code_that_warns_and_raises_away_from_the_point():
    import warnings

    def f(x):
        if x > 1:
            raise RuntimeError("did not converge")
        if x < 0.5:
            warnings.warn("slow", UserWarning, stacklevel=2)
        return np.log(x)

    assert check((f, lambda x: 1 / x), 0.75)
    with pytest.raises(RuntimeError, match="did not converge"):
        check((f, lambda x: 1 / x), 2.0)


def test_a_claim_by_its_name():
    assert check(np.sin, 0.3, gradient=np.cos) and check(np.sin, 0.3, jacobian=np.cos)
    assert check(np.sin, 0.3, derivative=np.sin).verdict == "wrong"
    with pytest.raises(ArgumentError, match="one claimed derivative"):
        check(np.sin, 0.3, gradient=np.cos, jacobian=np.cos)


def test_a_claim_that_is_not_a_number_is_wrong():
    report = check((np.sin, lambda x: np.nan), 1.0)
    assert report.verdict == "wrong" and "not finite" in report.worst.reason


def test_an_infinite_slope_at_the_edge_of_a_domain():
    assert check((np.sqrt, lambda x: np.inf), 0.0, precision=False)
    assert check((np.sqrt, lambda x: 3.0), 0.0).verdict == "cannot tell"


def test_one_side_of_a_domain_is_enough():
    """x**1.5 has the slope 0 at 0, and no values left of it."""
    f = lambda x: x**1.5 + 2 * x
    assert check((f, lambda x: 1.5 * np.sqrt(x) + 2), 0.0)
    assert check((f, lambda x: 1.5 * np.sqrt(x) + 2.001), 0.0).verdict == "wrong"


def test_a_kink_that_was_not_declared():
    report = check((np.abs, np.sign), 0.0)
    assert report.verdict == "cannot tell"
    assert "-1 from the left, 1 from the right" in report.worst.reason
    assert check((np.abs, lambda x: 2.0), 0.0).verdict == "wrong"


# --- declared kinks ------------------------------------------------------------------------------


def hinge(x):
    return np.where(x > 1, (x - 1) ** 2 + x, 1.0)


def hinge_slope(x):
    return np.where(x > 1, 2 * (x - 1) + 1, 0.0)


def test_declared_kinks_are_looked_at_from_both_sides():
    assert check((hinge, hinge_slope), 0.5)
    report = check((hinge, hinge_slope), 0.5, kinks={"x": [1.0]})
    assert report, report.table()
    places = {r.check for r in report.rows}
    assert {"at x = 1: claimed", "at x = 1 + 0.01: claimed", "at x = 1 - 0.01: claimed"} <= places


def test_a_slope_that_is_wrong_beyond_a_kink_elsewhere():
    wrong = lambda x: np.where(x > 1, 2 * (x - 1) - 1, 0.0)
    assert check((hinge, wrong), 0.5)
    report = check((hinge, wrong), 0.5, kinks=[1.0])
    assert {r.check for r in report.failures} == {"at x = 1 + 0.01: claimed"}


def test_a_slope_at_a_kink_outside_of_both_sides():
    wrong = lambda x: np.where(x == 0, 3.0, np.sign(x))
    report = check((np.abs, wrong), 1.0, kinks={"x": 0.0})
    assert [r.check for r in report.failures] == ["at x = 0: claimed"]


def test_kinks_in_entries_of_arrays_and_at_whole_points():
    f = lambda v: np.sum(np.maximum(v, 0.5))
    g = lambda v: np.where(v > 0.5, 1.0, 0.0)
    report = check((f, g), V, kinks={"v": [0.5]})
    assert report, report.table()
    assert "at v[2] = 0.5: claimed" in {r.check for r in report.rows}
    assert check((f, g), V, kinks=[(np.array([0.5, 2.0, 0.5]),)])
    assert check(np.abs, 1.0, kinks=[0.0], second_order=False)
    with pytest.raises(ArgumentError, match="no argument 'q'"):
        check((f, g), V, kinks={"q": [0.0]})


# --- whole models --------------------------------------------------------------------------------


def model(params, doses):
    growth = params["k1"] * doses / (params["k2"][0] + doses)
    return {"y": growth, "auc": (np.sum(growth), params["k2"][1] ** 2)}


PARAMS = {"k1": 1.5, "k2": [0.4, 2.0]}
DOSES = np.array([0.1, 0.5, 1.0, 3.0])


def test_entries_of_a_model_have_names():
    report = check(model, PARAMS, DOSES)
    assert report, report.table()
    entries = {r.entry for r in rows_of(report, "forward")}
    assert 'params["k1"] -> outputs["y"][3]' in entries
    assert 'params["k2"][1] -> outputs["auc"][1]' in entries
    assert len(entries) == (4 + 2) * (3 + 4)


def test_a_chosen_argument_and_names():
    report = check(model, PARAMS, DOSES, wrt="params")
    assert {r.input.split("[")[0] for r in rows_of(report, "forward")} == {"params"}
    named = check(lambda *a: a[0] * a[1], 2.0, 3.0, names=["mass", "speed"], output="momentum")
    assert {r.entry for r in rows_of(named, "forward")} == {
        "mass -> momentum",
        "speed -> momentum",
    }


def test_other_arguments_pass_through():
    f = lambda x, n, mode: x**n if mode == "power" else x
    assert check(f, V, 3, "power")


def test_tensors_are_checked_as_tensors():
    assert check(lambda t: t.sin() * t, dualad.tensor(np.array([0.3, 2.0])))


def test_single_precision_arguments_are_compared_in_single_and_in_double():
    v = V.astype(np.float32)
    report = check(lambda v: np.exp(v) * v, v)
    assert report, report.table()
    assert "forward, float64" in {r.check for r in report.rows}
    assert check((lambda v: np.exp(v), lambda v: np.diag(np.exp(v) * 1.001)), v).verdict == "wrong"


def test_hessians():
    f = lambda v: np.sum(v**3) / 3 + v[0] * v[1]
    g = lambda v: v**2 + np.array([v[1], v[0], 0.0])
    h = lambda v: 2 * np.diag(v) + np.array([[0, 1.0, 0], [1.0, 0, 0], [0, 0, 0]])
    assert check((f, g, h), V)
    assert check(f, V, hessian=h)
    wrong = check((f, g), V, hessian=lambda v: 2 * np.diag(v))
    assert {r.check for r in wrong.failures} == {"hessian"}


def test_a_derivative_of_the_wrong_shape():
    A = np.arange(6.0).reshape(2, 3)
    report = check((lambda x: A @ x, lambda x: A.T), V)
    assert report.verdict == "wrong"
    assert "has shape (3, 2)" in report.worst.reason and "(2, 3)" in report.worst.reason


def test_a_constant_derivative_may_be_an_array():
    A = np.arange(6.0).reshape(2, 3)
    assert check((lambda x: A @ x, A), V)
    assert check((lambda x: A @ x, A + 1e-5), V).verdict == "wrong"


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: check(np.sin), "nothing to differentiate"),
        (lambda: check(np.sin, 1), "write 2.0 for 2"),
        (lambda: check(lambda x: "text", 1.0), "no real number"),
        (lambda: check(3.0, 1.0), "takes a function"),
        (lambda: check((np.sin,), 1.0), "a pair"),
        (lambda: check(np.sin, 1.0, wrt="q"), "no argument 'q'"),
        (lambda: check(np.sin, 1.0, names=["a", "b"]), "2 names for 1"),
        (lambda: check(function(forward=square_forward), V), "neither jvp nor backward"),
    ],
)
def test_what_cannot_be_checked(call, says):
    with pytest.raises(ArgumentError, match=says):
        call()


# --- the report ----------------------------------------------------------------------------------


def wrong_report():
    return check((lambda v: np.mean(v**2), lambda v: 2 * v), V, name="mean square")


def test_a_report_as_text_json_html_and_markdown():
    report = wrong_report()
    assert not report and report.count("wrong") == 3
    text = report.table()
    assert text.startswith("mean square: wrong (")
    assert "wrong: v[2] -> out, claimed: claimed 5, complex step 1.666666667" in text
    data = json.loads(report.to_json())
    assert data["verdict"] == "wrong" and data["counts"]["wrong"] == 3
    row = data["rows"][0]
    assert row["entry"] == "v[2] -> out" and row["claimed"] == 5.0 and row["verdict"] == "wrong"
    assert {"output", "input", "reference", "bound", "method", "error"} <= set(row)
    assert "<table>" in report._repr_html_() and "v[2] -&gt; out" in report._repr_html_()
    assert "| `v[2] -> out` | claimed | 5 |" in report.markdown()
    assert "wrong" in repr(report)


def test_the_worst_entry_comes_first():
    report = wrong_report()
    assert report.worst == report.rows[0] == report.failures[0]
    assert [r.verdict for r in report.rows] == sorted(
        (r.verdict for r in report.rows), key=["wrong", "cannot tell", "right"].index
    )
    one_bad = check((np.sin, lambda v: np.diag(np.cos(v) * [1, 1 + 1e-6, 1])), V)
    assert one_bad.worst.entry == "v[1] -> out[1]" or one_bad.worst.entry == "x[1] -> out[1]"


def test_a_large_jacobian_has_a_picture():
    n = 60
    A = np.random.default_rng(0).standard_normal((n, n))
    wrong = A.copy()
    wrong[17, 42] += 1e-6
    report = check((lambda x: A @ x, wrong), np.ones(n), precision=False, batching=False)
    assert report.worst.entry == "x[42] -> out[17]"
    assert report.count("wrong") == 1
    assert "<svg" in report._repr_html_()
    axes = report.plot()
    assert axes.get_images()[0].get_array().shape == (n, n)
    import matplotlib.pyplot as plt

    plt.close(axes.figure)
    with pytest.raises(ArgumentError, match="no check 'nothing'"):
        report.plot("nothing")


def test_the_same_seed_gives_the_same_report():
    assert check(model, PARAMS, DOSES).to_json() == check(model, PARAMS, DOSES).to_json()
