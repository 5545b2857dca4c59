"""`import dualad` loads what most programs need, and the rest when it is first asked for."""

import importlib
import json
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import dualad
from dualad.engine.levels import rules
from dualad.engine.levels.rules import FUNCTIONS, GENERAL, UFUNC_METHODS, UFUNCS, Rules, loading
from dualad.engine.primitives.primitive import PRIMITIVES
from dualad.ops.later import LATER


def run(program):
    """What a program prints in an interpreter of its own, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json\n{program}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


LOADED = "json.dumps([m for m in sys.modules if m.startswith('dualad.')])"


def test_a_gradient_needs_neither_the_names_of_pytorch_nor_the_rare_rules():
    loaded = run(
        "import sys, numpy as np, dualad\n"
        "def f(x):\n"
        "    y = np.concatenate([np.sin(x) * x, np.exp(-x)])\n"
        "    y = np.where(y > 0, y, 0.1 * y)[1:] @ np.ones(2 * len(x) - 1)\n"
        "    return np.sum(y) + np.mean(x**2) + np.max(x) + np.cumsum(x)[-1]\n"
        "assert dualad.grad(f)(np.ones(3)).shape == (3,)\n"
        "assert dualad.hessian(f)(np.ones(3)).shape == (3, 3)\n"
        "assert dualad.vmap(f)(np.ones((2, 3))).shape == (2,)\n"
        f"print({LOADED})"
    )
    later = {f"dualad.ops.{file}" for files in LATER.values() for file in files}
    unwanted = {"dualad.autograd", "dualad.tensor", "dualad.func", "dualad.conventions"}
    unwanted |= {"dualad.covered", "dualad.nans", "dualad.numpy", "dualad.verify"}
    assert not (later | unwanted) & set(loaded)


def test_importing_dualad_imports_numpy_alone():
    foreign = ("scipy", "sympy", "matplotlib", "pandas", "dask", "xarray", "rich", "tqdm")
    heavy = ("dataclasses", "difflib", "logging", "importlib.metadata", "numpy.random")
    loaded = run(
        "import sys, numpy\nbefore = set(sys.modules)\nimport dualad\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    assert not [m for m in loaded if m.startswith((*foreign, *heavy))]


def test_what_is_loaded_at_once_has_all_rules_of_ufuncs():
    """So a ufunc of another library loads nothing of NumPy's, and a rule of the user's stays."""
    sizes = run(
        "import dualad\n"
        "from dualad.engine.levels.rules import UFUNCS, UFUNC_METHODS\n"
        "from dualad.ops.later import load_all\n"
        "before = [len(UFUNCS), len(UFUNC_METHODS)]\n"
        "load_all()\n"
        "print(json.dumps([before, [len(UFUNCS), len(UFUNC_METHODS)]]))"
    )
    assert sizes[0] == sizes[1]


def test_every_file_is_loaded_at_once_or_later():
    import dualad.ops

    folder = os.path.dirname(dualad.ops.__file__)
    rest = {"__init__.py", "registry.py", "dropin.py", "signals.py"}  # without rules of NumPy's
    files = {n.removesuffix(".py") for n in set(os.listdir(folder)) - rest if n.endswith(".py")}
    assert files == set(dualad.ops.__all__)
    at_once = run(f"import sys, dualad\nprint({LOADED})")
    later = {file for files in LATER.values() for file in files}
    assert {f for f in files if f"dualad.ops.{f}" not in at_once} == later


def test_files_that_load_later_come_after_those_that_they_import():
    """One that is interrupted then leaves no other half done."""
    for package, files in LATER.items():
        program = (
            "import sys, dualad, importlib\n"
            "print(json.dumps([]))\n"
            f"for file in {files!r}:\n"
            "    before = set(sys.modules)\n"
            "    importlib.import_module(f'dualad.ops.{file}')\n"
            "    new = {m for m in set(sys.modules) - before if m.startswith('dualad.ops.')}\n"
            "    assert new <= {f'dualad.ops.{file}'}, new\n"
        )
        assert run(program) == [], package


FIRST = {
    "np.linalg.svd": ("np.sum(np.linalg.svd(np.diag(x))[1])", [1.0, 1.0]),
    "np.linalg.norm": ("np.linalg.norm(x)", [0.6, 0.8]),
    "np.linalg.solve": ("np.linalg.solve(np.diag(x), np.array([1.0, 0.0]))[0]", [-1 / 9, 0.0]),
    "np.fft.fft": ("np.real(np.fft.fft(x)[1])", [1.0, -1.0]),
    "np.sort": ("np.sort(x)[1]", [0.0, 1.0]),
    "np.histogram": ("np.histogram([0.0, 1.0], 2, weights=x)[0][1]", [0.0, 1.0]),
    "np.einsum": ("np.einsum('i,i', x, x)", [6.0, 8.0]),
    "np.pad": ("np.pad(x, 1, mode='reflect')[0]", [0.0, 1.0]),
    "np.median": ("np.median(x)", [0.5, 0.5]),
    "np.std": ("np.std(x)", [-0.5, 0.5]),
    "np.interp": ("np.interp(x[0], [0.0, 4.0], [0.0, 8.0])", [2.0, 0.0]),
    "np.polyval": ("np.polyval([1.0, 0.0], x[1])", [0.0, 1.0]),
    "np.i0": ("np.i0(0.0 * x)[0]", [0.0, 0.0]),
    "np.emath.sqrt": ("np.emath.sqrt(x[1])", [0.0, 0.25]),
    "np.apply_along_axis": ("np.apply_along_axis(np.sum, 0, x)", [1.0, 1.0]),
    "np.add.reduceat": ("np.add.reduceat(x, [0, 1])[1]", [0.0, 1.0]),
    "np.multiply.outer": ("np.multiply.outer(x, x)[0, 1]", [4.0, 3.0]),
    "np.multiply.accumulate": ("np.multiply.accumulate(x)[1]", [4.0, 3.0]),
    "np.frompyfunc": ("np.frompyfunc(lambda a, b: a * b, 2, 1)(x[0], x[1])", [4.0, 3.0]),
    "scipy.special.erf": ("scipy.special.erf(0.0 * x)[0]", [0.0, 0.0]),
    "x.std": ("x.std()", [-0.5, 0.5]),
    "dualad.numpy.zeros": ("dualad.numpy.zeros(2)[0] + x[0]", [1.0, 0.0]),
}


#: Each case in a child of its own, which has loaded no more than `import dualad` has.
CHILDREN = """
import os, sys, traceback, numpy as np, dualad
at = np.array([3.0, 4.0])
results = {{}}
for name, expression in {cases!r}.items():
    for mode in ("reverse", "forward"):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                if "scipy" in expression:
                    import scipy.special
                f = eval(f"lambda x: {{expression}}")
                if mode == "reverse":
                    slopes = dualad.grad(f)(at)
                else:
                    slopes = np.array([dualad.jvp(f, (at,), (t,))[1] for t in np.eye(2)])
                os.write(write, json.dumps(slopes.tolist()).encode())
            except BaseException:
                os.write(write, json.dumps(traceback.format_exc()).encode())
            os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        results[f"{{name}}, {{mode}}"] = json.loads(os.read(read, 60000))
        os.close(read)
print(json.dumps(results))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="starts its programs by os.fork")
def test_each_rule_works_as_the_first_thing_that_a_program_does():
    slopes = run(CHILDREN.format(cases={name: case[0] for name, case in FIRST.items()}))
    for name, (_, wanted) in FIRST.items():
        for mode in ("reverse", "forward"):
            got = slopes[f"{name}, {mode}"]
            assert isinstance(got, list), f"{name}: {got}"
            np.testing.assert_allclose(got, wanted, rtol=1e-14, atol=1e-15, err_msg=name)


def test_the_error_for_a_missing_rule_knows_all_rules():
    """Whatever is loaded: a name that is like another one is found."""
    program = (
        "import numpy as np, dualad\n"
        "from dualad.engine.levels.rules import FUNCTIONS\n"
        "{first}"
        "try:\n"
        "    dualad.grad(lambda x: np.busday_count(x, x))(1.0)\n"
        "except TypeError as error:\n"
        "    print(json.dumps(str(error)))"
    )
    everything = "from dualad.ops.later import load_all\nload_all()\n"
    texts = [run(program.format(first=first)) for first in ("", everything)]
    assert texts[0] == texts[1] and "numpy.busday_count has no derivative rule" in texts[0]


def test_ufuncs_without_a_rule_name_functions_that_load_later():
    text = run(
        "import numpy as np, dualad\n"
        "class Ufunc: __name__ = 'histogramm'\n"
        "from dualad.engine.levels.missing import missing_rule\n"
        "print(json.dumps(str(missing_rule('histogramm'))))"
    )
    assert "numpy.histogram" in text


# --- the names of the package --------------------------------------------------------------------


@pytest.mark.parametrize(
    "program",
    [
        "import dualad",
        "import dualad, dualad.autograd",
        "import dualad.tensor, dualad.conventions",
        "import dualad; dualad.tensor; import dualad.tensor; dualad.conventions",
        "import dualad.verify; import dualad",
        "from dualad import *; import dualad",
        "import importlib, dualad; importlib.import_module('dualad.conventions')",
    ],
)
def test_a_function_that_is_named_like_a_module_stays_a_function(program):
    got = run(
        f"{program}\n"
        "both = dualad.conventions, dualad.tensor\n"
        "print(json.dumps([f.__name__ for f in both if callable(f)]))"
    )
    assert got == ["conventions", "tensor"]


@pytest.mark.parametrize("name", dualad.__all__)
def test_every_name_is_there(name):
    assert name in dir(dualad) and getattr(dualad, name) is vars(dualad)[name]


@pytest.mark.parametrize(
    "program",
    [
        "from dualad import Tensor",
        "import dualad.autograd; dualad.autograd.Function",
        "import dualad; dualad.autograd.Function",
        "from dualad.autograd import gradcheck; assert callable(gradcheck)",
        "import dualad; assert callable(dualad.autograd.gradcheck)",
        "import dualad; dualad.func.vmap",
        "from dualad import *; Tensor, autograd.Function, func.vmap, custom_vjp, debug_nans",
        "import dualad; assert {*dualad.__all__} <= {*dir(dualad)}; dualad.verify, dualad.numpy",
        "import dualad; dualad.tensor([1.0]).sum()",
        "import dualad; assert callable(dualad.coverage)",
        "import dualad\nwith dualad.debug_nans(): dualad.grad(lambda x: x * x)(1.0)",
    ],
)
def test_names_work_as_the_first_thing_that_a_program_does(program):
    run(f"{program}\nprint('[]')")


def test_names_that_are_not_there_are_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dualad' has no attribute 'gradient'"):
        dualad.gradient


def test_conventions_do_not_depend_on_what_was_loaded_before():
    program = "import numpy as np, dualad\n{first}print(json.dumps(repr(dualad.conventions())))"
    first = "dualad.grad(lambda x: np.interp(x, [0.0, 1.0], [0.0, 1.0]))(0.5)\n"
    assert run(program.format(first="")) == run(program.format(first=first))


def test_a_rule_of_the_users_own_stays():
    got = run(
        "import numpy as np, dualad\n"
        "from dualad.ops.later import load_all\n"
        "dualad.defelementwise(np.sin, lambda out, x: 7.0)\n"
        "load_all()\n"
        "print(json.dumps(float(dualad.grad(np.sin)(0.3))))"
    )
    assert got == 7.0


def test_a_pickle_of_a_tensor_is_read_by_a_program_that_has_not_loaded_it():
    data = pickle.dumps(dualad.tensor([1.0, 2.0]))
    assert run(f"import pickle\nprint(json.dumps(pickle.loads({data!r}).tolist()))") == [1.0, 2.0]


# --- threads -------------------------------------------------------------------------------------


def test_threads_that_need_rules_at_once():
    program = (
        "import sys, threading\n"
        "sys.setswitchinterval(1e-6)\n"
        "import numpy as np, dualad\n"
        "A = np.array([[2.0, 1.0], [1.0, 3.0]])\n"
        "jobs = {\n"
        "    'svd': lambda A: np.sum(np.linalg.svd(A)[1]),\n"
        "    'inv': lambda A: np.sum(np.linalg.inv(A)),\n"
        "    'fft': lambda A: np.sum(np.abs(np.fft.fft2(A))),\n"
        "    'std': lambda A: np.std(A),\n"
        "    'median': lambda A: np.median(A),\n"
        "    'reduceat': lambda A: np.sum(np.add.reduceat(A, [0, 1])),\n"
        "}\n"
        "errors, start = [], threading.Barrier(18)\n"
        "def work(f):\n"
        "    start.wait()\n"
        "    try:\n"
        "        assert dualad.grad(f)(A).shape == A.shape\n"
        "        dualad.Tensor, dualad.conventions()[0], dualad.tensor([1.0])\n"
        "    except BaseException as error:\n"
        "        errors.append(repr(error))\n"
        "threads = [threading.Thread(target=work, args=(f,)) for f in [*jobs.values()] * 3]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "print(json.dumps(errors))"
    )
    assert run(program) == []


@pytest.fixture
def table():
    made = Rules()
    yield made
    rules._tables.remove(made)


def test_other_threads_see_nothing_of_a_file_before_it_is_complete(table):
    half, looked = threading.Event(), threading.Event()
    seen = []

    def load(key):
        with loading():
            table["first"] = 1
            assert table["first"] == 1  # the file itself sees it
            half.set()
            assert looked.wait(10)
            table["second"] = 2
        return True

    def look():
        assert half.wait(10)
        seen.append("first" in table)
        looked.set()
        seen.append((table["first"], table["second"]))

    table.loaders.append(load)
    thread = threading.Thread(target=look)
    thread.start()
    assert table["second"] == 2
    thread.join(10)
    assert seen == [False, (1, 2)]


def test_a_file_that_was_interrupted_is_loaded_again(table):
    attempts = []

    def load(key):
        attempts.append(key)
        with loading():
            table["first"] = len(attempts)
            if len(attempts) == 1:
                raise KeyboardInterrupt
        return True

    table.loaders.append(load)
    with pytest.raises(KeyboardInterrupt):
        table["first"]
    assert "first" not in table
    assert table["first"] == 2 and table["unknown"] is None and attempts == ["first", "first"]


def test_what_was_stated_meanwhile_stays(table):
    def load(key):
        with loading():
            table["a"] = "loaded"
            thread = threading.Thread(target=table.__setitem__, args=("a", "own"))
            thread.start()
            thread.join(10)
        return True

    table.loaders.append(load)
    assert table["b"] is None and table["a"] == "own"


def test_a_file_that_fails_to_load_can_be_loaded_again():
    got = run(
        "import sys, numpy as np, dualad\n"
        "import dualad.ops.registry as registry\n"
        "def fails(*rows, section='kinks'): raise KeyboardInterrupt\n"
        "kinks, registry.kinks = registry.kinks, fails\n"
        "f = lambda A: np.linalg.slogdet(A)[1]\n"
        "try:\n"
        "    dualad.grad(f)(np.eye(2))\n"
        "except KeyboardInterrupt:\n"
        "    registry.kinks = kinks\n"
        "    print(json.dumps(dualad.grad(f)(np.eye(2)).tolist()))"
    )
    assert got == [[1.0, 0.0], [0.0, 1.0]]


def test_tables_are_dicts_whose_hits_load_nothing():
    before = [list(t.loaders) for t in (FUNCTIONS, GENERAL, UFUNC_METHODS, UFUNCS)]
    assert FUNCTIONS[np.sum] is not None and UFUNCS[np.sin] is PRIMITIVES["sin"]
    assert [list(t.loaders) for t in (FUNCTIONS, GENERAL, UFUNC_METHODS, UFUNCS)] == before
    assert importlib.import_module("dualad.ops.later").load_all()
    assert FUNCTIONS[np.busday_count] is None and np.busday_count not in FUNCTIONS
