"""The machine that docs/how-it-works.md rebuilds is complete, small, and right."""

import re
from pathlib import Path

import numpy as np
import pytest
from markdown import python_blocks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-it-works.md"


@pytest.fixture(scope="module")
def machine():
    """The namespace after all blocks of the page, run as one program, its own checks included."""
    program = "".join(code for _, code in python_blocks(PAGE))
    namespace: dict = {}
    exec(compile(program, str(PAGE), "exec"), namespace)
    return namespace


def test_its_two_modes_agree_with_calculus(machine):
    x = np.array([0.3, 0.7])
    f = lambda x: np.sum(np.exp(x) * np.sin(x))
    slope = np.exp(x) * (np.sin(x) + np.cos(x))
    np.testing.assert_allclose(machine["grad"](f)(x), slope, rtol=1e-15)
    np.testing.assert_allclose(machine["jvp"](f, (x,), (np.ones(2),))[1], slope.sum(), rtol=1e-15)


def test_its_reverse_mode_sums_over_broadcast_axes(machine):
    _, pullback = machine["vjp"](lambda a, b: np.sum(a * b), np.ones((2, 1)), np.arange(3.0))
    da, db = pullback(1.0)
    assert da.tolist() == [[3.0], [3.0]]
    assert db.tolist() == [2.0, 2.0, 2.0]


def test_it_states_no_reverse_formula_but_transposes_of_linear_operations(machine):
    """Only three classes know how to pull, and none of them knows a function by name."""
    pulls = [k for k, v in machine.items() if isinstance(v, type) and "pull" in vars(v)]
    assert sorted(pulls) == ["Composite", "Elementwise", "Linear", "Program"]


def test_the_files_of_the_library_that_it_names_exist():
    named = re.findall(r"`((?:engine/\w+|ops)/\w+\.py)`", PAGE.read_text())
    assert len(named) > 8
    assert [f for f in named if not (PAGE.parents[1] / "dualad" / f).exists()] == []


def test_it_is_small():
    lines = [line for _, code in python_blocks(PAGE) for line in code.splitlines()]
    assert sum(bool(line.strip()) for line in lines) < 300
