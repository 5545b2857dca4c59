"""The progress line: on a terminal, and nowhere else."""

import io

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import progress
from dualad.sensitivity.integration.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(stream, monkeypatch, shown=True):
    clock = iter(range(100))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    line = Progress(10.0, shown, stream)
    line(1.0, 123456)
    line(2.5, 4)
    line.close()
    return stream.getvalue()


def test_a_terminal_sees_time_and_steps_and_a_clean_line_at_the_end(monkeypatch):
    text = run(Terminal(), monkeypatch)
    assert "t = 1 of 10, 123456 steps" in text
    assert "t = 2.5 of 10, 4 steps" in text
    assert text.endswith("\r")
    assert text.split("\r")[-2].strip() == ""


def test_a_pipe_or_a_file_sees_nothing(monkeypatch):
    assert run(io.StringIO(), monkeypatch) == ""


def test_nothing_is_shown_where_it_is_not_wanted(monkeypatch):
    assert run(Terminal(), monkeypatch, shown=False) == ""


def test_a_quick_run_shows_nothing(monkeypatch):
    stream = Terminal()
    line = Progress(10.0, True, stream)
    line(1.0, 1)
    line.close()
    assert stream.getvalue() == ""


T = np.linspace(0.0, 4.0, 9)


@pytest.mark.parametrize(
    ("work", "says"),
    [
        (
            lambda: ds.fit(
                lambda p, t: p.a * np.exp(-p.k * t), {"a": 1.0, "k": 0.2}, 2.0 * np.exp(-0.7 * T),
                x=T, progress=True,
            ),
            "evaluations, sum of squares",
        ),
        (
            lambda: ds.simulate(lambda k, x, p: p.a * x, [1.0], {"a": 0.9}, 5, progress=True),
            "step 5 of 5, derivatives",
        ),
        (
            lambda: ds.function(lambda p: p.a**p.b, {"a": 2.0, "b": 0.5}).check(progress=True),
            "b (2 of 2 parameters): run ",
        ),
        (
            lambda: ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 1.0), progress=True),
            "of 1, ",
        ),
    ],
)  # fmt: skip
def test_long_work_says_how_far_it_has_come(work, says, monkeypatch):
    clock, terminal = iter(range(100000)), Terminal()
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress.sys, "stderr", terminal)
    work()
    text = terminal.getvalue()
    assert says in text and text.endswith("\r")
