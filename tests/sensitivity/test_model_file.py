"""Loading a model from a file or a module."""

import sys

import pytest

from dualad.sensitivity import ModelError, SensitivityError
from dualad.sensitivity.model_file import load

MODEL = """
params = {"k": 2.0}
y0 = [1.0]
t_span = (0.0, 1.0)

def rhs(t, y, p):
    return -p.k * y
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    monkeypatch.chdir(tmp_path)

    def make(text, name="a_model.py"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return make


def test_a_file_with_the_four_names_that_a_model_needs(write, tmp_path):
    model = load(write(MODEL))
    assert (model.name, model.folder) == ("a_model", tmp_path.resolve())
    assert model.params == {"k": 2.0}
    assert model.options() == {"y0": [1.0], "t_span": (0.0, 1.0)}
    assert model.reference_path is None


def test_what_else_a_file_may_say(write, tmp_path):
    more = 't_eval = [1.0]\nstates = ("a",)\nmethod = "BDF"\nrtol = 1e-4\nreference = "r.csv"\n'
    model = load(write(MODEL + more))
    assert model.options() == {
        "y0": [1.0], "t_span": (0.0, 1.0), "t_eval": [1.0], "states": ("a",), "method": "BDF",
        "rtol": 1e-4,
    }  # fmt: skip
    assert model.reference_path == tmp_path.resolve() / "r.csv"


def test_a_file_may_have_events_outputs_and_integrals(write):
    more = (
        "from dualad import sensitivity as ds\n"
        "events = [ds.Event(lambda t, y, p: t - 1)]\n"
        'outputs = {"z": lambda t, y, p: y[0]}\nintegrals = {"q": rhs}\n'
    )
    options = load(write(MODEL + more)).options()
    assert set(options) >= {"events", "outputs", "integrals"}


def test_a_module_in_the_working_directory(write):
    write(MODEL, "some_module_of_mine.py")
    assert load("some_module_of_mine").name == "some_module_of_mine"


def test_a_model_may_import_what_lies_beside_it(write):
    write("RATE = 5.0\n", "its_neighbour.py")
    path = write(
        MODEL.replace("2.0", "RATE").replace("\nparams", "from its_neighbour import RATE\nparams")
    )
    assert load(path).params == {"k": 5.0}


@pytest.mark.parametrize(
    "target", ["nothing.py", "no/such/file.py", "no_such_module", "./nothing"]
)
def test_what_does_not_exist(write, target):
    with pytest.raises(SensitivityError, match="there is no model file") as e:
        load(target)
    assert not isinstance(e.value, ModelError)


def test_a_file_that_is_no_python(write):
    with pytest.raises(SensitivityError, match=r"must end with \.py"):
        load(write("1,2,3\n", "data.csv"))


def test_missing_names_are_listed(write):
    with pytest.raises(SensitivityError, match=r"defines no y0 .*; no t_span"):
        load(write('params = {"k": 1.0}\ndef rhs(t, y, p): return y\n'))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("def rhs", "rhs = 1.0\ndef other", "rhs must be a function"),
        ('{"k": 2.0}', "[2.0]", "params must be a dict"),
    ],
)
def test_names_of_the_wrong_kind(write, old, new, says):
    with pytest.raises(SensitivityError, match=says):
        load(write(MODEL.replace(old, new)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\ny = 1 / 0\n", "line 2: ZeroDivisionError"),
        ("def rhs(:\n", "line 1: SyntaxError"),
        ("import a_module_that_is_not_there\n", "line 1: ModuleNotFoundError"),
    ],
)
def test_a_file_that_fails_is_a_failed_model_and_says_in_which_line(write, text, says):
    with pytest.raises(ModelError, match=says):
        load(write(text))


def test_a_module_that_fails_is_a_failed_model(write):
    write("import a_module_that_is_not_there\n", "needs_another.py")
    with pytest.raises(ModelError, match="a_module_that_is_not_there"):
        load("needs_another")
