"""What is raised while a native function makes room for its results reaches the caller."""

import numpy as np
import pytest
from native_programs import native

import dualad
from dualad.compiling.native import wrapper

LARGE = np.linspace(0.0, 1.0, wrapper.LENT)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, ZeroDivisionError])
def test_an_error_where_memory_is_lent(monkeypatch, error):
    failing = False

    def lend(shape):
        if failing:
            raise error("while memory is lent")
        return np.empty(shape)

    monkeypatch.setattr(wrapper, "LEND", lend)
    run, values = native(lambda x: np.exp(x) * np.sin(x), LARGE)
    want = run(*values)[0]
    for failing in (True, False, True):
        if failing:
            with pytest.raises(error, match="while memory is lent"):
                run(*values)
        else:
            assert run(*values)[0].tobytes() == want.tobytes()


def test_an_interrupt_where_memory_is_lent(monkeypatch):
    """It is not taken for an error of the program, after which the function itself runs."""
    interrupts = False

    def lend(shape):
        if interrupts:
            raise KeyboardInterrupt
        return np.empty(shape)

    monkeypatch.setattr(wrapper, "LEND", lend)
    compiled = dualad.compile(lambda x: np.exp(x) * np.sin(x))
    want = [compiled(LARGE) for _ in range(3)][2]
    interrupts = True
    with pytest.raises(KeyboardInterrupt):
        compiled(LARGE)
    interrupts = False
    assert compiled(LARGE).tobytes() == want.tobytes()
