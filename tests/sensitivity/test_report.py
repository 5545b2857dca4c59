"""Text and CSV of a result."""

from dualad.sensitivity.reference import Reference
from dualad.sensitivity.results import report

from .test_reference import result

PRINTED = Reference("print", {(0, "a", ""): "2.00e+00", (0, "a", "k"): "-1.0"})


def test_every_number_stands_in_its_row_and_column():
    lines = report.table(result()).splitlines()
    assert lines[0].split() == ["t", "a", "b"]
    rows = [line.split() for line in lines if line]
    assert rows[1] == ["0.5", "value", "2.00000e+00", "3.00000e+00"]
    assert rows[2] == ["d/dk", "-1.10000e+00", "4.00000e+00"]
    assert rows[3] == ["d/dm", "1.00000e+00", "1.00000e+00"]
    assert rows[4][:2] == ["2", "value"]
    assert result().table() == report.table(result())


def test_the_first_reference_stands_beside():
    lines = report.table(result(), [PRINTED]).splitlines()
    assert lines[1].split() == ["dualad", "print"] * 2
    assert lines[3].split() == ["0.5", "value", "2.00000e+00", "2.00e+00", "3.00000e+00"]
    assert lines[4].split() == ["d/dk", "-1.10000e+00", "-1.0", "4.00000e+00"]


def test_many_states_are_laid_out_in_several_blocks():

    import numpy as np

    r = result()
    names = tuple(f"s{i}" for i in range(20))
    wide = r.replace(y=np.ones((2, 20)), S=np.ones((2, 20, 2)), outputs=names)
    text = report.table(wide)
    assert max(map(len, text.splitlines())) <= report.WIDTH
    assert all(name in text.split() for name in names)


def test_differences_are_listed_for_the_times_that_have_a_reference():
    lines = report.differences(result(), [PRINTED]).splitlines()
    assert lines[0].split() == ["t", "from", "print"]
    assert lines[1].split() == ["0.5", "1.0e-01", "(da/dk)"]
    assert len(lines) == 2


def test_the_page_has_all_parts():
    text = report.page(result(), [PRINTED], ["from a book"], "toy")
    assert text.startswith("toy: a, b and their derivatives by k = 2, m = 1\n")
    assert "largest relative difference" in text
    assert "from a book" in text
    assert text.endswith(
        "Radau: 3 steps, 7 right-hand sides with 14 tangents, 1 Jacobians, 2 LU, 0.50 s\n"
    )
    assert "difference" not in report.page(result())
