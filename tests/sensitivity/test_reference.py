"""References from a CSV file: what is read, what is compared, what is refused."""

import numpy as np
import pytest

from dualad.sensitivity import Parameters, SensitivityError, TimeSensitivities
from dualad.sensitivity.reference import ReferenceFile

TEXT = """# where it is from
#   and how exact it is
t,output,parameter,print,exact
0.5,a,,2.00e+00,2.002
0.5,a,k,-1.0,-1.0
0.5,b,k,,4.0
7.0,a,k,9.0,9.0
"""


def result():
    """Two times, two outputs, parameters k and m, every number known."""
    y = np.array([[2.0, 3.0], [5.0, 0.0]])
    s = np.array([[[-1.1, 1.0], [4.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    stats = {
        "steps": 3,
        "rhs": 7,
        "tangent_rhs": 14,
        "jacobians": 1,
        "factorisations": 2,
        "wall": 0.5,
    }
    return TimeSensitivities(
        np.array([0.5, 2.0]), y, s, ("a", "b"), Parameters({"k": 2.0, "m": 1.0}), stats,
        {"method": "Radau", "rtol": 1e-6, "atol": 1e-9},
    )  # fmt: skip


@pytest.fixture
def file(tmp_path):
    def make(text=TEXT):
        path = tmp_path / "reference.csv"
        path.write_text(text)
        return ReferenceFile(path)

    return make


def test_sources_figures_and_notes(file):
    table = file()
    assert table.notes == ["where it is from", "and how exact it is"]
    printed, exact = table.at(result())
    assert (printed.name, exact.name) == ("print", "exact")
    assert printed.text(0, "a", "") == "2.00e+00"
    assert printed.text(0, "b", "k") == "" and exact.text(0, "b", "k") == "4.0"
    assert printed.text(1, "a", "k") == ""


def test_the_largest_relative_difference_and_where_it_is(file):
    printed, exact = file().at(result())
    worst = printed.worst(result(), 0)
    assert worst.value == pytest.approx(0.1)
    assert (worst.output, worst.parameter) == ("a", "k")
    assert str(worst) == "1.0e-01 (da/dk)"
    assert printed.worst(result(), 1) is None
    assert exact.worst(result(), 0).value == pytest.approx(0.1)


def test_a_reference_of_zero(file):
    (ref,) = file("t,output,parameter,x\n2.0,b,k,0\n2.0,b,,0.0\n2.0,b,m,0\n").at(result())
    assert ref.worst(result(), 1).value == np.inf
    (ref,) = file("t,output,parameter,x\n2.0,b,k,0\n2.0,b,,0.0\n").at(result())
    assert ref.worst(result(), 1).value == 0.0


def test_parameters_that_were_not_asked_for_are_passed_over(file):
    table = file("t,output,parameter,x\n0.5,a,k,-1.1\n0.5,a,other,3\n")
    table.check_names(("a", "b"), ("k", "m", "other"))
    assert table.at(result())[0].worst(result(), 0).value == 0.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "columns t, output, parameter"),
        ("t,output,value\n", "it has t, output, value"),
        ("t,output,parameter\n", "one a source"),
        ("t,output,parameter,x\n1,a,,zero\n", "'zero' in the column x"),
        ("t,output,parameter,x\nlater,a,,1\n", "'later' in the column t"),
    ],
)
def test_a_file_of_another_form_is_refused(file, text, says):
    with pytest.raises(SensitivityError, match=says):
        file(text)


def test_a_name_that_the_model_does_not_have_is_refused(file):
    with pytest.raises(SensitivityError, match="no output 'c': there is a, b"):
        file("t,output,parameter,x\n1,c,,1\n").check_names(("a", "b"), ("k",))
    with pytest.raises(SensitivityError, match="no parameter 'q': there is k"):
        file("t,output,parameter,x\n1,a,q,1\n").check_names(("a", "b"), ("k",))


def test_a_missing_file(tmp_path):
    with pytest.raises(SensitivityError, match=r"nothing\.csv cannot be read"):
        ReferenceFile(tmp_path / "nothing.csv")
