"""`dualad verify`: what it prints, and its exit codes."""

import json
import sys
from pathlib import Path

import pytest

from dualad.cli import main

RULES = """
import numpy as np
import dualad
from scipy import special

@dualad.custom_jvp
def square(x):
    return x * x

square.defjvp(lambda p, t: (p[0] ** 2, 2 * p[0] * t[0]))

@dualad.custom_jvp
def wrong(x):
    return x * x

wrong.defjvp(lambda p, t: (p[0] ** 2, 3 * p[0] * t[0]))

mean = (lambda v: np.mean(v**2), lambda v: 2 * v / len(v))
reciprocal = (lambda x: np.abs(x), lambda x: np.ones_like(x))
bessel = (
    lambda x: special.y0(x) / special.j0(x),
    lambda x: 2 / (np.pi * x * special.j0(x) ** 2),
)
branch = (lambda x: x if x > 0 else -x, np.sign)
plain = np.sin

class holder:
    inner = mean
"""


@pytest.fixture(autouse=True)
def in_a_folder_with_rules(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    Path("rules_to_verify.py").write_text(RULES)
    yield
    sys.modules.pop("rules_to_verify", None)


CALLS = [
    (["rules_to_verify:square"], 0, "square: proved"),
    (["rules_to_verify.py:square"], 0, "square: proved"),
    (["rules_to_verify:wrong"], 1, "at x = 1: claimed 3.0, exact 2.0"),
    (["rules_to_verify:mean", "--shape", "v=3"], 0, "3 proved"),
    (["rules_to_verify:holder.inner", "--shape", "v=2"], 0, "2 proved"),
    (["rules_to_verify:reciprocal"], 1, "at x = -1"),
    (["rules_to_verify:reciprocal", "--assume", "x > 0"], 0, "assuming x > 0"),
    (["rules_to_verify:bessel", "--assume", "0 < x < 2", "--limit", "4"], 3, "undecided"),
    (["--builtin", "tanh", "hypot"], 0, "2 rules: 2 proved"),
    (["--builtin", "tanh", "--format", "md"], 0, "| `tanh` | elementwise | proved |"),
]


@pytest.mark.parametrize("arguments, code, says", CALLS)
def test_what_it_prints_and_returns(arguments, code, says, capsys):
    assert main(["verify", *arguments]) == code
    assert says in capsys.readouterr().out


def test_json_and_markdown(capsys):
    assert main(["verify", "rules_to_verify:wrong", "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"] == "refuted"
    assert data["entries"][0]["counterexample"]["point"] == {"x": "1"}
    assert main(["verify", "rules_to_verify:square", "--format", "md"]) == 0
    assert "| d out / d x | proved | identical |" in capsys.readouterr().out


REFUSED = [
    (["rules_to_verify:nothing"], 2, "has no nothing"),
    (["rules_to_verify"], 2, "not of the form MODULE:NAME"),
    (["no_such_module:f"], 2, "no module no_such_module"),
    (["no_such_file.py:f"], 2, "no file"),
    (["rules_to_verify:plain"], 2, "nothing to prove"),
    (["rules_to_verify:square", "--assume", "q > 0"], 2, "arguments are x"),
    (["--builtin", "sine"], 2, "named 'sine'"),
    (["rules_to_verify:branch"], 3, "np.where"),
]


@pytest.mark.parametrize("arguments, code, says", REFUSED)
def test_what_it_cannot_do(arguments, code, says, capsys):
    assert main(["verify", *arguments]) == code
    printed = capsys.readouterr()
    assert says in printed.err and not printed.out


@pytest.mark.parametrize("arguments", [[], ["rules_to_verify:square", "--shape", "x=a"]])
def test_a_command_that_is_none(arguments):
    with pytest.raises(SystemExit) as stop:
        main(["verify", *arguments])
    assert stop.value.code == 2
