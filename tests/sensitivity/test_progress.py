"""The progress line: on a terminal, and nowhere else."""

import io

from dualad.sensitivity.integration import progress
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
