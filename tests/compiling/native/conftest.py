"""Native code is tested where the extra jit is installed; nothing falls back to NumPy unseen."""

import importlib.util
import os
import tempfile

import pytest

collect_ignore_glob = [] if importlib.util.find_spec("llvmlite") else ["test_*.py"]
os.environ["DUALAD_NATIVE_STRICT"] = "1"


@pytest.fixture(autouse=True, scope="session")
def own_cache():
    """A directory for code that goes away with the tests."""
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DUALAD_CACHE_DIR", place)
        yield place
