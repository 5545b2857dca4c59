"""The pytest plugin, in test runs of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FAILING = """
import numpy as np
import pytest
from dualad.verify import check

pair = (lambda v: np.mean(v**2), lambda v: 2 * v)

def test_fixture(check_derivative):
    check_derivative(pair, np.array([1.0, 2.0]))

@pytest.mark.derivative
def test_marker():
    return pair, np.array([1.0, 2.0])

def test_plain_assertion():
    assert check(pair, np.array([1.0, 2.0]))

@pytest.mark.derivative(prove=True, shapes={"v": 2})
def test_proof():
    return (pair,)

@pytest.mark.derivative("argument")
def test_a_marker_with_arguments():
    return pair, 1.0

class TestClass:
    @pytest.mark.derivative(precision=False)
    @pytest.mark.parametrize("x", [1.0, 2.0])
    def test_right(self, x, check_derivative):
        check_derivative((np.sin, np.cos), x)
        return np.sin, x
"""

PLUGIN = ROOT / "dualad" / "verify" / "plugin"


def run(folder, *arguments):
    command = [sys.executable, "-m", "pytest", "-p", "pytest_dualad", "-p", "no:cacheprovider"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{PLUGIN}", "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [*command, "-q", "--strict-markers", "-W", "error", *arguments],
        cwd=folder, env=env, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    return result.returncode, result.stdout + result.stderr


def test_the_example_of_a_downstream_package_passes():
    code, out = run(ROOT / "examples" / "downstream", "-c", os.devnull, "--rootdir", ".")
    assert code == 0, out
    assert "7 passed" in out


def test_failures_show_the_report(tmp_path):
    (tmp_path / "test_wrong.py").write_text(FAILING)
    code, out = run(tmp_path, "-rA")
    assert code == 1
    assert "5 failed, 2 passed" in out, out
    row = "wrong: v[1] -> out, claimed: claimed 4, complex step 2"
    assert out.count(row) >= 3  # by the fixture, by the marker, and beside the plain assertion
    assert "derivatives" in out
    assert "d out / d v[1]" in out and "refuted" in out
    assert "takes keywords only" in out


def test_the_plugin_imports_nothing_of_dualad(tmp_path):
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n\ndef test():\n    assert 'dualad' not in sys.modules\n"
    )
    code, out = run(tmp_path)
    assert code == 0, out


def test_the_marker_is_listed(tmp_path):
    code, out = run(tmp_path, "--markers")
    assert code == 0 and "@pytest.mark.derivative(**options)" in out


def test_the_entry_point_is_the_module_by_its_name():
    """A different name would register the plugin twice beside `-p pytest_dualad`."""
    text = (ROOT / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\npytest_dualad = "pytest_dualad"' in text


pytestmark = pytest.mark.filterwarnings("error")
