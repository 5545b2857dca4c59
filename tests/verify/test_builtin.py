"""The library's own rules: what is proved stays proved, and no mutant of it passes."""

from pathlib import Path

import pytest
from markdown import tables
from mutants import mutants

import dualad
from dualad.engine.primitive import PRIMITIVES, Composite, Elementwise
from dualad.verify import prove_all
from dualad.verify.builtin import prove_rule
from dualad.verify.page import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "proved-rules.md"
ROWS = {row["rule"].strip("`"): row for table in tables(PAGE) for row in table}
PROVED = sorted(n for n, row in ROWS.items() if row["verdict"] == "proved")


def rules_of_the_registry():
    return {n for n, p in PRIMITIVES.items() if isinstance(p, (Elementwise, Composite))}


@pytest.mark.parametrize("name", PROVED)
def test_a_rule_that_the_page_calls_proved_is_proved(name):
    found = prove_rule(PRIMITIVES[name], limit=60)
    assert found.verdict == "proved", found.because
    assert found.domain == ROWS[name]["domain"]
    kinks = "; ".join(map(str, found.proof.kinks)) or "none"
    assert kinks == ROWS[name]["kinks"].replace("\\|", "|")


def test_the_page_tells_of_every_rule_and_gives_a_reason_where_there_is_no_proof():
    assert set(ROWS) == rules_of_the_registry()
    assert {row["verdict"] for row in ROWS.values()} == {"proved", "undecided"}
    assert all(row["how, or why not"] for row in ROWS.values())
    assert len(PROVED) >= 65


def test_the_page_is_what_the_command_writes():
    rules = prove_all(["tanh", "maximum"])
    text = page(rules)
    lines = PAGE.read_text().splitlines()
    assert [line for line in text.splitlines() if line.startswith("| `")] == [
        line for line in lines if line.startswith(("| `tanh`", "| `maximum`"))
    ]
    assert text.partition("2 rules")[0] in PAGE.read_text()


def test_an_unknown_rule():
    with pytest.raises(dualad.DualADError, match="no elementwise or composite rule named 'sine'"):
        prove_all(["sine"])


# --- mutation --------------------------------------------------------------------------------

#: Mutants that are the same function on the domain, and why.
EQUIVALENT = {
    # y**0 = 1 - 0, ties have no volume, and out = x, say, at a place
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
        primitive = PRIMITIVES[name]
        if isinstance(primitive, Elementwise):
            for k, partial in enumerate(primitive.partials):
                for kind, text in mutants(partial.text) if partial.text else ():
                    yield name, k, kind, text


MUTANTS = list(elementwise_mutants())


def test_there_are_mutants_of_every_kind():
    assert len(MUTANTS) > 200
    assert {kind for _, _, kind, _ in MUTANTS} >= {
        "sign",
        "factor",
        "missing factor",
        "swapped argument",
    }


@pytest.mark.parametrize("name", sorted({m[0] for m in MUTANTS}))
def test_every_mutant_of_a_rule_is_refuted_by_a_counterexample(name):
    for _, k, kind, text in (m for m in MUTANTS if m[0] == name):
        found = prove_rule(altered(PRIMITIVES[name], k, text))
        if (name, k, text) in EQUIVALENT:
            assert found.verdict == "proved", (kind, text)
        else:
            assert found.verdict == "refuted", (k, kind, text, found.because)
            assert found.proof.counterexample is not None


def composite_names():
    return [n for n in PROVED if isinstance(PRIMITIVES[n], Composite)]


@pytest.mark.parametrize("name", composite_names())
def test_a_composite_rule_with_a_wrong_sign_or_factor_is_refuted(name):
    right = PRIMITIVES[name]
    scaled = lambda r, c: None if r is None else (lambda *a, **p: times(c, r(*a, **p)))

    def times(c, moved):
        if isinstance(moved, tuple):
            return tuple(None if m is None else c * m for m in moved)
        return None if moved is None else c * moved

    for c in (-1, 2):
        rules = [scaled(r, c) for r in right.rules]
        wrong = Composite(right.impl, *rules, whole=right.whole, name=name, builtin=False)
        assert prove_rule(wrong).verdict == "refuted"
