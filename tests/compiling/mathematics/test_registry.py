"""What generated code may rely on: types, files that are cached, a helpful error."""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from dualad.compiling.mathematics.registry import FUNCTIONS
from dualad.errors import MissingExtraError

PAGE = Path(__file__).parents[3] / "docs" / "vector-mathematics.md"
PROGRAM = '''
"""A generated program."""
import numba
from dualad.compiling.mathematics.registry import FUNCTIONS
sin, power = FUNCTIONS["sin"].compiled, FUNCTIONS["power"].compiled

@numba.njit(fastmath={"contract"}, error_model="numpy", cache=True)
def first(x, out):
    for i in range(x.size):
        out[i] = sin(x[i]) + power(x[i], 2.5)

@numba.njit(fastmath={"contract"}, error_model="numpy", cache=True)
def second(x, out):
    first(x, out)
    for i in range(x.size):
        out[i] -= sin(x[i])
'''


def test_without_numba_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setitem(sys.modules, "numba.core.types", None)
    function = FUNCTIONS["exp"]
    fresh = type(function)(function.formula, function.ulp, function.source)
    with pytest.raises(MissingExtraError, match=r"dualad\[jit\]"):
        fresh.compiled


def test_a_function_states_its_name_its_bound_and_where_it_comes_from():
    for name, function in FUNCTIONS.items():
        assert function.name == name
        assert 0 <= function.ulp <= 2 and function.source and function.formula.__doc__
        assert function.arguments in (1, 2)


def test_the_page_states_the_bounds_and_found_no_larger_error():
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|", PAGE.read_text(), re.MULTILINE)
    assert {name: float(bound) for name, bound, _ in rows} == {
        name: function.ulp for name, function in FUNCTIONS.items() if function.ulp
    }
    assert all(float(found) <= float(bound) for _, bound, found in rows)


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_a_program_in_a_file_is_compiled_once(tmp_path):
    """Two functions of one file both define the variants of sine, which are one when linked."""
    pytest.importorskip("numba")
    path = tmp_path / "generated_program.py"
    path.write_text(PROGRAM)
    x, out, again = np.linspace(0, 1e13, 101), np.empty(101), np.empty(101)
    compiled = module(path)
    compiled.second(x, out)
    np.testing.assert_allclose(out, x**2.5, rtol=1e-15, atol=1)
    cached = module(path)
    cached.second(x, again)
    assert sum(cached.second.stats.cache_hits.values()) == 1
    np.testing.assert_array_equal(out, again)


@pytest.mark.parametrize("name", ["exp", "sin", "log1p", "tanh"])
def test_float32_is_rounded_once_from_float64(name):
    numba = pytest.importorskip("numba")
    function = FUNCTIONS[name].compiled

    @numba.njit(fastmath={"contract"})
    def run(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    x = np.linspace(0.1, 30, 501, dtype=np.float32)
    single, double = np.empty_like(x), np.empty(501)
    run(x, single)
    run(x.astype(float), double)
    np.testing.assert_array_equal(single, double.astype(np.float32))
    assert run.nopython_signatures[0].args[0].dtype == numba.float32


def test_scalars_of_any_real_kind():
    numba = pytest.importorskip("numba")
    exp, power = FUNCTIONS["exp"].compiled, FUNCTIONS["power"].compiled
    one = numba.njit(lambda x: exp(x))
    two = numba.njit(lambda x, y: power(x, y))
    for value in (1, True, 1.0, np.int32(1), np.uint8(1)):
        assert one(value) == np.e
    assert one(np.float32(1)) == np.float32(np.e) and type(one(np.float32(1))) is float
    assert two(2, 10) == two(2.0, np.int64(10)) == two(np.float32(2), 10.0) == 1024.0
    with pytest.raises(numba.TypingError):
        one(1j)
