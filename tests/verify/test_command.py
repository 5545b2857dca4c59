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


LISTED = """
import numpy as np
from dualad.verify import Case

VERIFY = [
    Case((np.sin, np.cos), shapes={"x": ()}),
    Case(np.sin, np.sin, shapes={"x": ()}, expect="refuted", name="wrong slope"),
    Case((lambda v: np.sort(v)[0], lambda v: np.eye(3)[np.argmin(v)]), shapes={"v": 3},
         by="check", name="smallest"),
    Case((lambda x: x if x > 0 else -x, np.sign), at={"x": 2.0}, expect="undecided"),
]
"""

SURPRISED = """
import numpy as np
from dualad.verify import Case
VERIFY = [Case((np.sin, np.cos), shapes={"x": ()}, expect="refuted")]
"""

NAMED = """
import numpy as np
VERIFY = {"slope of the sine": (lambda x: np.sin(x), np.cos)}
"""

FOUND = """
import numpy as np
import dualad
from dualad.autograd import Function

@dualad.custom_vjp
def cube(x):
    return x**3

cube.defvjp(lambda x: (x**3, x), lambda x, c: (3 * x**2 * c,))

class Double(Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, c):
        return 3 * c

_private = (np.sin, np.sin)
pair = (lambda x: np.exp(2 * x), lambda x: 2 * np.exp(2 * x))
numbers = (1, 2)
"""


@pytest.fixture(autouse=True)
def in_a_folder_with_rules(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    Path("rules_to_verify.py").write_text(RULES)
    for name, text in {"listed": LISTED, "surprised": SURPRISED, "named": NAMED}.items():
        Path(f"{name}.py").write_text(text)
    Path("found.py").write_text(FOUND)
    Path("empty.py").write_text("x = 1")
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
    (["rules_to_verify:branch"], 3, "np.where"),
    (["rules_to_verify:branch"], 3, "which is no proof"),
    (["rules_to_verify:branch", "--prove"], 3, "not proved"),
    (["rules_to_verify:branch", "--numeric"], 0, "branch: right"),
    (["rules_to_verify:plain", "--at", "x=0.5"], 0, "plain: right"),
    (["rules_to_verify:square", "--numeric", "--at", "x=3"], 0, "square: right"),
    (["rules_to_verify:wrong", "--numeric", "--at", "x=2"], 1, "claimed 6"),
    (
        ["rules_to_verify:wrong", "--prove", "--numeric", "--at", "x=2"],
        1,
        "claimed 3.0, exact 2.0",
    ),
    (["rules_to_verify:reciprocal", "--numeric", "--at", "x=0.5"], 0, "reciprocal: right"),
    (["rules_to_verify:reciprocal", "--numeric", "--at", "x=-0.5"], 1, "reciprocal: wrong"),
    (["rules_to_verify:reciprocal", "--numeric", "--assume", "x > 0"], 0, "reciprocal: right"),
    (["rules_to_verify:mean", "--numeric", "--at", "v=[1,2,4]"], 0, "mean: right"),
    (["listed.py"], 0, "4 cases: 2 verified, 1 refuted, 1 undecided"),
    (["listed.py:wrong slope"], 0, "refuted, as the file says"),
    (["listed.py:VERIFY"], 0, "4 cases"),
    (["surprised.py"], 1, "expects it to be refuted, but it is verified"),
    (["named.py"], 0, "slope of the sine: proved"),
    (["listed.py", "named.py"], 0, "5 cases"),
    (["found.py"], 1, "3 cases: 2 verified, 1 refuted"),
    (["--builtin", "tanh", "hypot"], 0, "2 rules: 2 proved"),
    (["--builtin", "sin"], 0, "1 rule: 1 proved"),
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


def test_several_cases_as_json_and_markdown(capsys):
    assert main(["verify", "listed.py", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"] == "verified" and len(data["cases"]) == 4
    wrong, smallest = data["cases"][1:3]
    assert wrong["verdict"] == wrong["expected"] == "refuted"
    assert smallest["check"]["verdict"] == "right" and smallest["check"]["rows"]
    assert main(["verify", "listed.py", "--format", "md"]) == 0
    page = capsys.readouterr().out
    assert "## wrong slope: refuted" in page and "but it is" not in page
    assert "| entry | check | claimed |" in page


@pytest.mark.slow
def test_the_examples_verify_as_they_say(capsys):
    """Right ones, wrong ones and one undecided: `dualad verify examples/verify/*.py`."""
    folder = Path(__file__).resolve().parents[2] / "examples" / "verify"
    files = map(str, sorted(folder.glob("*.py")))
    assert main(["verify", *files, "--limit", "3"]) == 0
    out = capsys.readouterr().out
    assert "refuted, as the file says" in out and "undecided, as the file says" in out
    assert "but it is" not in out


REFUSED = [
    (["rules_to_verify:nothing"], 2, "has no nothing"),
    (["empty.py"], 2, "nothing to verify"),
    (["rules_to_verify:square", "--numeric", "--at", "x"], 2, "NAME=VALUE"),
    (["rules_to_verify:square", "--numeric", "--at", "q=1"], 2, "takes x"),
    (["no_such_module:f"], 2, "no module no_such_module"),
    (["no_such_file.py:f"], 2, "no file"),
    (["rules_to_verify:plain", "--prove"], 2, "nothing to prove"),
    (["rules_to_verify:square", "--assume", "q > 0"], 2, "arguments are x"),
    (["--builtin", "sine"], 2, "named 'sine'"),
    (["--builtin", "tanh", "--format", "json"], 2, "not json"),
    (["empty:x"], 2, "x is a int: there is nothing to verify about it"),
    (["lacking.py"], 2, "lacking.py cannot be imported: ModuleNotFoundError"),
    (["lacking"], 2, "lacking cannot be imported: ModuleNotFoundError"),
    (["misspelt.py"], 2, "misspelt.py cannot be imported: SyntaxError"),
    (["failing.py"], 2, "failing.py cannot be imported: ValueError: no luck"),
    (["leaving.py"], 2, "leaving.py cannot be imported: SystemExit"),
    (["."], 2, "neither a Python file nor the name of a module"),
]
BROKEN = {
    "lacking": "import a_package_that_is_missing",
    "misspelt": "def f(:",
    "failing": "raise ValueError('no luck')",
    "leaving": "raise SystemExit(0)",
}


@pytest.mark.parametrize("arguments, code, says", REFUSED)
def test_what_it_cannot_do(arguments, code, says, capsys):
    """A file that cannot be run is no refutation: the exit code is that of usage."""
    for name, text in BROKEN.items():
        Path(f"{name}.py").write_text(text)
    assert main(["verify", *arguments]) == code
    printed = capsys.readouterr()
    assert says in printed.err and not printed.out


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "soon"])
def test_a_limit_is_a_number_of_seconds(limit, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["verify", "rules_to_verify:square", "--limit", limit])
    assert stop.value.code == 2
    assert "no number of seconds" in capsys.readouterr().err


def test_containers_at_a_point_are_checked_where_symbols_cannot_follow(capsys):
    Path("models.py").write_text(
        "import numpy as np\n"
        "total = lambda p, t: np.sum(p['a'] * t)\n"
        "model = (total, lambda p, t: ({'a': np.sum(t)}, p['a'] + 0 * t))\n"
    )
    at = ["--at", "p={'a': 2}, t=[1, 2]"]
    assert main(["verify", "models.py:model", *at]) == 3
    out = capsys.readouterr().out
    assert "model: right" in out and "not proved: IndexError on symbols" in out


@pytest.mark.parametrize("arguments", [[], ["rules_to_verify:square", "--shape", "x=a"]])
def test_a_command_that_is_none(arguments):
    with pytest.raises(SystemExit) as stop:
        main(["verify", *arguments])
    assert stop.value.code == 2


def test_without_sympy_the_numerical_check_still_works(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sympy", None)
    assert main(["verify", "rules_to_verify:square", "--numeric"]) == 0
    assert main(["verify", "rules_to_verify:square"]) == 3
    assert "not proved: symbolic work needs sympy" in capsys.readouterr().out
    assert main(["verify", "rules_to_verify:square", "--prove"]) == 2


def test_several_cases_on_a_terminal_show_progress(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main(["verify", "rules_to_verify:square", "named.py", "--numeric"]) == 0
    assert "2 cases: 2 verified" in capsys.readouterr().out
