"""Code on disk: read again where it is ours and whole, else compiled again."""

import os
import subprocess
import sys

import pytest

from dualad.compiling.native import disk
from dualad.compiling.native.disk import Shelf, directory


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.setenv("DUALAD_CACHE_DIR", str(tmp_path / "codes"))
    return Shelf("processor")


def test_code_comes_back(shelf):
    assert shelf.get("text") is None
    shelf.put("text", b"code")
    assert shelf.get("text") == b"code"
    assert shelf.get("other") is None
    assert Shelf("other processor").get("text") is None


def test_broken_code_is_not_used(shelf):
    shelf.put("text", b"code" * 100)
    path = shelf.path("text")
    path.write_bytes(path.read_bytes()[:-5])
    assert shelf.get("text") is None
    path.write_bytes(b"")
    assert shelf.get("text") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_a_directory_that_others_may_write_to_is_not_used(shelf):
    shelf.put("text", b"code")
    os.chmod(shelf.place, 0o777)
    assert shelf.get("text") is None


def test_where_nothing_can_be_kept_nothing_is(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("DUALAD_CACHE_DIR", str(file))
    shelf = Shelf("processor")
    shelf.put("text", b"code")
    assert shelf.get("text") is None
    monkeypatch.setenv("DUALAD_CACHE_DIR", "")
    assert directory() is None
    Shelf("processor").put("text", b"code")


def test_the_usual_directory(monkeypatch):
    monkeypatch.delenv(disk.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert directory() is None or "dualad" in str(directory())


PROGRAM = """
import numpy as np, dualad
from dualad.compiling.native import machine
f = dualad.compile(dualad.grad(lambda x: np.sum(np.sin(x) * x)))
x = np.linspace(0, 1, 50)
f(x)
np.testing.assert_allclose(f(x), np.sin(x) + x * np.cos(x), rtol=1e-14)
made = []
"""


def test_another_process_finds_the_code(tmp_path):
    environment = {**os.environ, "DUALAD_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.getcwd()}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)
        found = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "native").iterdir()}
        assert len(found) == 1
    first = next(iter(found.values()))
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)
    assert next((tmp_path / "native").iterdir()).stat().st_mtime_ns == first
