"""`dualad verify examples/verify/*.py`: what the files promise is what the command finds."""

from pathlib import Path

import pytest

from dualad.verify import prove
from dualad.verify.target import load_cases

FILES = sorted(Path(__file__).resolve().parents[2].glob("examples/verify/*.py"))
CASES = [(f.stem, case) for f in FILES for case in load_cases(str(f))]
VERDICTS = {"verified": "proved", "refuted": "refuted", "undecided": "undecided"}


def test_there_is_a_file_for_each_verdict():
    assert {f.stem for f in FILES} >= {"proved", "refuted", "undecided"}
    assert {case.expect for _, case in CASES} == set(VERDICTS)


#: What takes seconds, and is shown in docs/verification.md as well.
LONG = {"logsumexp", "ratio"}


def by_cost(cases):
    """The cases, with those that take long as slow tests."""
    return [pytest.param(f, c, marks=pytest.mark.slow if c.name in LONG else ()) for f, c in cases]


@pytest.mark.parametrize("file, case", by_cost(CASES), ids=lambda v: getattr(v, "name", v))
def test_the_verdict_is_the_one_that_the_file_expects(file, case):
    proof = prove(case.subject, **case.options)
    assert proof.verdict == VERDICTS[case.expect], proof.table()
    if case.expect == "refuted":
        assert proof.counterexample is not None
