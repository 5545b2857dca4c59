"""Mistakes that are easily taken for proofs: edges of integers, orders of keys, held values."""

import numpy as np
import pytest
import sympy

import dualad
import dualad.scipy.linalg
import dualad.scipy.special as special
from dualad.symbolic import derivative_formula, to_sympy
from dualad.symbolic.held import held
from dualad.verify import check, prove

# --- whole numbers on the edge of what is assumed ------------------------------------------------

POWER = lambda x, n: x**n


@pytest.mark.parametrize(
    "assume, edge",
    [("n >= 0", 0), ("n >= 1", 1), ("1 <= n <= 3", 3), ("n <= 0", 0), ("n/2 >= 1", 2)],
)
def test_a_mistake_at_the_last_whole_number_is_refuted(assume, edge):
    claim = lambda x, n: np.where(n == edge, 5.0, n * x ** (n - 1))
    proof = prove(POWER, claim, wrt="x", assume=["n integer", "x > 0", assume])
    assert proof.verdict == "refuted"
    assert proof.counterexample.point["n"] == str(edge)


@pytest.mark.parametrize("assume, beyond", [("n > 1", 1), ("n >= 1", 0), ("n < 3", 3)])
def test_a_mistake_beyond_it_is_none(assume, beyond):
    claim = lambda x, n: np.where(n == beyond, 5.0, n * x ** (n - 1))
    assert prove(POWER, claim, wrt="x", assume=["n integer", "x > 0", assume])


def test_two_whole_numbers_may_be_equal():
    f = lambda x, m, n: x ** (m - n)
    claim = lambda x, m, n: np.where(m == n, 1.0, (m - n) * x ** (m - n - 1))
    assume = "m integer, n integer, m >= n, x > 0"
    assert prove(f, claim, wrt="x", assume=assume).verdict == "refuted"
    assert prove(f, lambda x, m, n: (m - n) * x ** (m - n - 1), wrt="x", assume=assume)


# --- containers ----------------------------------------------------------------------------------


def pair_rule(tangents):
    f = dualad.custom_jvp(lambda x: {"a": x**2, "b": np.sin(x)})
    f.defjvp(lambda p, t: ({"b": np.sin(p[0]), "a": p[0] ** 2}, tangents(p[0], t[0])))
    return f


def test_the_keys_of_a_rule_say_what_belongs_together():
    right = pair_rule(lambda x, t: {"b": np.cos(x) * t, "a": 2 * x * t})
    swapped = pair_rule(lambda x, t: {"b": 2 * x * t, "a": np.cos(x) * t})
    assert prove(right)
    assert prove(swapped).verdict == "refuted"
    assert check(right, 0.5) and check(swapped, 0.5).verdict == "wrong"
    assert [e.output for e in prove(right).entries][:2] == ['out["a"]', 'out["b"]']


def test_other_keys_are_no_claim():
    with pytest.raises(dualad.DualADError, match=r'out\["c"\]'):
        prove(pair_rule(lambda x, t: {"a": 2 * x * t, "c": np.cos(x) * t}))


def test_keys_of_a_vjp_rule():
    @dualad.custom_vjp
    def both(x, y):
        return {"ratio": x / y, "first": x}

    both.defvjp(
        lambda x, y: ({"first": x, "ratio": x / y}, (x, y)),
        lambda r, c: (c["ratio"] / r[1] + c["first"], -c["ratio"] * r[0] / r[1] ** 2),
    )
    assert prove(both)
    both.defvjp(
        lambda x, y: ({"first": x, "ratio": x / y}, (x, y)),
        lambda r, c: (c["first"] / r[1] + c["ratio"], -c["ratio"] * r[0] / r[1] ** 2),
    )
    assert prove(both).verdict == "refuted"


# --- held values ---------------------------------------------------------------------------------


def test_stop_gradient_is_a_constant():
    f = lambda x: x * dualad.stop_gradient(x)
    assert prove(f, lambda x: x)
    assert prove(f, lambda x: 2 * x).verdict == "refuted"
    assert prove(f, equals=lambda x: x**2)
    assert prove(lambda x: x**2 * x.detach(), hessian=lambda x: 2 * x)
    x = sympy.Symbol("x", real=True)
    assert to_sympy(f, x) == x**2 and derivative_formula(f, x).derivative == x


def test_stop_gradient_of_a_complex_number_and_of_a_number():
    f = lambda x: np.real(dualad.stop_gradient(x * (2 + 1j)) * x)
    assert prove(f, lambda x: 2 * x)
    assert held(sympy.Integer(3)) == 3
    assert held(sympy.Symbol("p", positive=True)).is_positive


def test_straight_through():
    f = lambda x: x + dualad.stop_gradient(np.round(x) - x)
    assert prove(f, lambda x: 1.0) and prove(f, equals=np.round)


def test_detach_in_the_forward_of_a_class_changes_nothing():
    class Square(dualad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x.detach()

        @staticmethod
        def backward(ctx, c):
            return 2 * ctx.saved_tensors[0] * c

    assert prove(Square)


# --- more of NumPy and SciPy on symbols ----------------------------------------------------------


def test_what_becomes_a_truth_value_is_one():
    f = lambda x: x.astype(bool) * x
    assert prove(f, lambda x: 1.0)
    assert prove(f, lambda x: 2 * x).verdict == "refuted"


def test_rounding_to_digits():
    f = lambda x: x * np.round(x, 2)
    assert prove(f, lambda x: np.round(x, 2))
    assert prove(f, lambda x: np.round(x, 1)).verdict == "refuted"


def test_functions_of_scipy_that_are_no_ufuncs():
    two = {"shapes": {"v": 2}}
    assert prove(lambda v: special.logsumexp(v), lambda v: special.softmax(v), **two)
    assert prove(lambda v: special.log_softmax(v), lambda v: np.eye(2) - special.softmax(v), **two)
    transposed = lambda v: (np.eye(2) - special.softmax(v)).T
    assert prove(lambda v: special.log_softmax(v), transposed, **two).verdict == "refuted"
    weights = np.array([2.0, 3.0])
    share = lambda v: weights * np.exp(v) / np.sum(weights * np.exp(v))
    assert prove(lambda v: special.logsumexp(v, b=weights), share, **two)


def test_a_function_of_scipy_that_is_not_known():
    with pytest.raises(dualad.DualADError, match=r"scipy\.linalg\.expm is not known on symbols"):
        prove(lambda a: dualad.scipy.linalg.expm(a), lambda a: a, shapes={"a": (2, 2)})


def test_numbers_without_room_are_no_crash():
    tower = lambda x: np.exp(np.exp(np.exp(np.exp(x))))
    slope = lambda x: tower(x) * np.exp(np.exp(np.exp(x))) * np.exp(np.exp(x)) * np.exp(x)
    assert prove(tower, slope)
    assert prove(tower, lambda x: 2 * slope(x)).verdict == "refuted"


# --- numbers that are very small, and parabolas at their top -------------------------------------


@pytest.mark.parametrize("s", [1e-300, 1e-150, 1e-30, 1e30, 1e300])
def test_no_scale_makes_a_right_rule_wrong_or_a_wrong_one_right(s):
    right = check((lambda x: np.sin(x / s), lambda x: np.cos(x / s) / s), 0.7 * s)
    wrong = check((lambda x: np.sin(x / s), lambda x: 1.0001 * np.cos(x / s) / s), 0.7 * s)
    assert right.verdict != "wrong" and wrong.verdict != "right"


def test_second_derivatives_of_very_small_arguments():
    report = check(lambda x: np.sin(x / 1e-100), 0.7e-100)
    assert report.verdict != "wrong"


def test_a_parabola_at_its_top():
    assert check((lambda x: x**2, lambda x: 2 * x), 0.0)
    assert check((lambda x: x**2, lambda x: 2 * x + 1e-3), 0.0).verdict == "wrong"


# --- numbers that are zero up to rounding --------------------------------------------------------


def test_rounding_beside_a_zero_refutes_nothing():
    f = lambda a, b: np.abs(a - b) / (a - b)
    zero = lambda a, b: (0.0, 0.0)
    assert prove(f, zero, assume="a != b")
    assert prove(f, lambda a, b: (1e-30, 0.0), assume="a != b").verdict == "refuted"


def test_assumptions_that_contradict_each_other():
    with pytest.raises(dualad.DualADError, match="contradict"):
        prove(lambda x: x**2, lambda x: 5 * x, assume="x > 1, x < 0")
    assert prove(lambda x: x**2, lambda x: 5 * x, assume="x > 2, x < 1").verdict != "proved"


def test_functions_in_assumptions():
    assert prove(lambda x: np.abs(x - 1), lambda x: -1.0, assume="abs(x) < 1")
    assert (
        prove(lambda x: x * np.abs(x), lambda x: 2 * x, assume="sqrt(x) > 1").verdict != "refuted"
    )
    norm = {"shapes": {"v": 2}, "assume": "abs(v) < 1"}
    assert prove(lambda v: np.sum(np.abs(v - 1)), lambda v: -np.ones(2), **norm)


@pytest.mark.slow
def test_inside_a_circle():
    inside = lambda x, y: np.sqrt(1 - x**2 - y**2)
    slopes = lambda x, y: (-x / inside(x, y), -y / inside(x, y))
    assert prove(inside, slopes, assume="x**2 + y**2 < 1")
