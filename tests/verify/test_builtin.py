"""The library's own rules: what is proved stays proved, and no mutant of it passes."""

import copy
from pathlib import Path

import numpy as np
import pytest
from markdown import tables
from mutants import mutants

import dualad
from dualad.engine.primitives.composite import Composite
from dualad.engine.primitives.elementwise import Elementwise
from dualad.engine.primitives.linear import Linear
from dualad.verify import prove_all
from dualad.verify.builtin import prove_rule, rules
from dualad.verify.linear import linear_entries, of_shapes
from dualad.verify.linear_calls import CALLS
from dualad.verify.page import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "proved-rules.md"
ROWS = {row["rule"].strip("`"): row for table in tables(PAGE) for row in table}
PROVED = sorted(n for n, row in ROWS.items() if row["verdict"] == "proved")
RULES = rules()


#: Rules whose proof takes seconds.
LONG = {"clip", "einsum", "fft", "matmul", "sinc", "solve"}


def by_cost(names):
    """SciPy's special functions take long: their numbers have 70 digits."""
    slow = [n for n in names if n.startswith("scipy.") or n in LONG]
    return [pytest.param(n, marks=pytest.mark.slow) if n in slow else n for n in names]


#: Of all mutants those of these rules are refuted in the ordinary run, and the rest in the slow.
SAMPLE = {
    *(
        "add",
        "multiply",
        "divide",
        "power",
        "arctan2",
        "hypot",
        "sqrt",
        "log1p",
        "tanh",
        "arccosh",
    ),
    *(
        "absolute",
        "copysign",
        "heaviside",
        "floor_divide",
        "remainder",
        "deg2rad",
        "det",
        "length",
    ),
    *("matmul", "transpose", "sum", "cumsum", "where", "rfft", "reshape", "expm1"),
}


def sampled(names):
    """The sample, and the others as slow tests."""
    return [n if n in SAMPLE else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.mark.parametrize("name", by_cost(PROVED))
def test_a_rule_that_the_page_calls_proved_is_proved(name):
    found = prove_rule(RULES[name], limit=60)
    assert found.verdict == "proved", found.because
    assert found.domain == ROWS[name]["domain"]
    kinks = "; ".join(map(str, found.proof.kinks)) or "none"
    assert kinks == ROWS[name]["kinks"].replace("\\|", "|")


def test_the_page_tells_of_every_rule_and_gives_a_reason_where_there_is_no_proof():
    assert set(ROWS) == set(RULES)
    assert {row["verdict"] for row in ROWS.values()} == {"proved", "undecided"}
    assert all(row["how, or why not"] for row in ROWS.values())
    assert len(PROVED) >= 150


def test_the_page_is_what_the_command_writes():
    rules = prove_all(["tanh", "maximum"])
    text = page(rules)
    lines = PAGE.read_text().splitlines()
    assert [line for line in text.splitlines() if line.startswith("| `")] == [
        line for line in lines if line.startswith(("| `tanh`", "| `maximum`"))
    ]
    assert text.partition("2 rules")[0] in PAGE.read_text()


def test_each_verdict_is_told_when_it_is_there():
    told = []
    prove_all(["tanh", "maximum"], done=told.append)
    assert told == ["tanh", "maximum"]


@pytest.mark.slow
def test_processes_share_the_work_in_order():
    names = ["tanh", "maximum", "hypot", "sinh"]
    told = []
    found = prove_all(names, jobs=2, done=told.append)
    assert told == names == list(found.rules) and found.count("proved") == 4


def test_an_unknown_rule():
    with pytest.raises(dualad.DualADError, match="rule named 'sine'"):
        prove_all(["sine"])


# --- mutation --------------------------------------------------------------------------------

#: Mutants that have the same slope wherever the rule has a derivative to be compared with: they
#: differ from it on ties, which have no volume, for NaN, or not at all. What the library gives on
#: ties and for NaN is tested by the tables of docs/conventions.md and in test_elementwise.py.
EQUIVALENT = {
    "clip": {(2, "(z < y) & (x <= z) | (z < x)")},
    "copysign": {(0, "sign(y) * copysign(1, x)")},
    "heaviside": {(1, "-(x == 0)"), (1, "2 * (x == 0)")},
    "scipy.special.poch": {(1, "out * psi(y + x)")},
    "scipy.special.pseudo_huber": {(1, "x * quotient(y, hypot(y, x))")},
    "maximum": {
        *((0, "(x > y) - 0.5 * (x == y)"), (0, "(x > y) + (x == y)")),
        *((1, "(y > x) - 0.5 * (x == y)"), (1, "(y > x) + (x == y)")),
    },
    "minimum": {
        *((0, "(x < y) - 0.5 * (x == y)"), (0, "(x < y) + (x == y)")),
        *((1, "(y < x) - 0.5 * (x == y)"), (1, "(y < x) + (x == y)")),
    },
    "fmax": {
        (0, "(x > y) + 0.5 * (x == y) - (y != y)"),
        (0, "(x > y) - 0.5 * (x == y) + (y != y)"),
        (0, "(x > y) + (x == y) + (y != y)"),
        (1, "(y > x) + 0.5 * (x == y) - (x != x)"),
        (1, "(y > x) - 0.5 * (x == y) + (x != x)"),
        (1, "(y > x) + (x == y) + (x != x)"),
    },
    "fmin": {
        (0, "(x < y) + 0.5 * (x == y) - (y != y)"),
        (0, "(x < y) - 0.5 * (x == y) + (y != y)"),
        (0, "(x < y) + (x == y) + (y != y)"),
        (1, "(y < x) + 0.5 * (x == y) - (x != x)"),
        (1, "(y < x) - 0.5 * (x == y) + (x != x)"),
        (1, "(y < x) + (x == y) + (x != x)"),
    },
}


def altered(primitive, k, formula):
    """The primitive with another formula for its partial k; it joins no registry."""
    partials = [p.text for p in primitive.partials]
    partials[k] = formula
    return Elementwise(
        primitive.impl,
        *partials,
        namespace=primitive.namespace,
        name=primitive.name,
        builtin=False,
    )


def elementwise_mutants():
    for name in PROVED:
        primitive = RULES.get(name)
        if isinstance(primitive, Elementwise):
            for k, partial in enumerate(primitive.partials):
                if f"{'xyzw'[k]} integer" in ROWS[name]["domain"]:
                    continue  # nothing is claimed of the derivative in an integer
                for kind, text in mutants(partial.text) if partial.text else ():
                    yield name, k, kind, text


#: The square has a branch of its own, for Python's 2: an exponent that is a symbol never takes it.
SQUARE = "x + x if type(y) is int and y == 2 else power_slope(x, y)"
MUTANTS = [m for m in elementwise_mutants() if m[3].partition(" if ")[2] != SQUARE[9:]]


def test_the_branch_for_squares_that_proofs_do_not_see():
    assert RULES["polynomial_power"].partials[0].text == SQUARE
    for x in (-3.0, 0.0, 0.1, 1e150):
        assert (
            dualad.grad(lambda x: x**2)(x) == 2 * x == dualad.jvp(lambda x: x**2, (x,), (1.0,))[1]
        )


def test_there_are_mutants_of_every_kind():
    assert len(MUTANTS) > 300
    assert {(n, k, t) for n, both in EQUIVALENT.items() for k, t in both} <= {
        (n, k, t) for n, k, _, t in MUTANTS
    }
    assert {kind for _, _, kind, _ in MUTANTS} >= {
        "sign",
        "factor",
        "missing factor",
        "swapped argument",
    }


@pytest.mark.parametrize("name", sampled(sorted({m[0] for m in MUTANTS})))
def test_every_mutant_of_a_rule_is_refuted_by_a_counterexample(name):
    for _, k, kind, text in (m for m in MUTANTS if m[0] == name):
        found = prove_rule(altered(RULES[name], k, text), limit=30)
        if (k, text) in EQUIVALENT.get(name, ()):
            assert found.verdict == "proved", (kind, text)
        else:
            assert found.verdict == "refuted", (k, kind, text, found.because)
            assert found.proof.counterexample is not None


def composite_names():
    return [n for n in PROVED if isinstance(RULES.get(n), Composite)]


@pytest.mark.parametrize("name", sampled(composite_names()))
def test_a_composite_rule_with_a_wrong_sign_or_factor_is_refuted(name):
    right = RULES[name]
    scaled = lambda r, c: None if r is None else (lambda *a, **p: times(c, r(*a, **p)))

    def times(c, moved):
        if isinstance(moved, tuple):
            return tuple(None if m is None else c * m for m in moved)
        return None if moved is None else c * moved

    for c in (-1, 2):
        rules = [scaled(r, c) for r in right.rules]
        wrong = Composite(right.impl, *rules, whole=right.whole, name=name, builtin=False)
        assert prove_rule(wrong).verdict == "refuted"


# --- linear operations ---------------------------------------------------------------------------


def linear_names():
    zero = "decided_at_ties"  # the maps that give zeros, however often they are doubled
    return [n for n in PROVED if isinstance(RULES.get(n), Linear) and not n.startswith(zero)]


@pytest.mark.parametrize("name", sampled(linear_names()))
def test_a_wrong_transpose_is_refuted(name):
    """One that doubles, changes the sign, or gives the cotangents in another order."""
    right = RULES[name]
    call = CALLS[name][0]

    def wrong(change):
        made = copy.copy(right)
        made.transposes = tuple(
            None if t is None else (lambda *a, t=t, **p: change(t(*a, **p)))
            for t in right.transposes
        )
        made.transpose_in = lambda k: Linear.transpose_in(made, k)
        return [e.verdict for e in linear_entries(made, [call], 10, 0)]

    assert wrong(lambda share: 1 * share) == ["proved"]
    assert wrong(lambda share: 2 * share) == ["refuted"]
    assert wrong(lambda share: -share) == ["refuted"]


def test_what_is_not_linear_is_no_linear_operation():
    squares = copy.copy(RULES["reshape"])
    squares.impl = lambda x, shape: np.reshape(x * x, shape)
    verdicts = [e.verdict for e in linear_entries(squares, [of_shapes(2, shape=(2, 1))], 10, 0)]
    assert verdicts == ["refuted"]


def test_a_constant_makes_an_operation_affine_and_that_is_seen():
    shifted = copy.copy(RULES["reshape"])
    shifted.impl = lambda x, shape: np.reshape(x, shape) + 1
    verdicts = [e.verdict for e in linear_entries(shifted, [of_shapes(2, shape=(2, 1))], 10, 0)]
    assert verdicts == ["refuted"]
