"""SciPy is optional: without it dualad works, and dualad.scipy says what to install."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules["scipy"] = None  # as if it were not installed
import dualad
try:
    import dualad.scipy.{module}
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("module", ["linalg", "stats", "signal"])
def test_a_missing_scipy_is_named_with_the_extra_that_brings_it(module):
    out = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert out.startswith("MissingExtraError")
    assert "pip install dualad[sens]" in out
