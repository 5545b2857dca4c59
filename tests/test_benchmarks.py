"""The benchmarks run, agree with one another, and notice what became slower."""

import copy
import json

import numpy as np
import pytest

import dualad
from benchmarks.__main__ import main
from benchmarks.backends import available
from benchmarks.costs import OPERATIONS, X
from benchmarks.measure import measure, prepared
from benchmarks.report import compare, page, table
from benchmarks.workloads import WORKLOADS

SMALL = [w for w in WORKLOADS.values() if "1e" not in w.name]


@pytest.fixture(scope="module")
def backend():
    return available(["dualad"])[0]


@pytest.mark.parametrize("workload", SMALL, ids=lambda w: w.name)
def test_every_workload_is_differentiated_right(workload, backend):
    """A directional difference of the function, along random tangents, agrees with the job."""
    x = workload.arguments()
    f = workload.make(np, lambda a: a)
    t = tuple(np.ones_like(a)[()] for a in x)
    h = 1e-6
    ahead, behind = (f(*(a + s * b for a, b in zip(x, t, strict=True))) for s in (h, -h))
    along = (ahead - behind) / (2 * h)
    for job in workload.jobs:
        found = prepared(workload, job, backend, x)()
        if job == "grad":
            found = sum(np.sum(g * b) for g, b in zip(found, t, strict=True))
        elif job != "jvp":
            found = found @ t[0]
        np.testing.assert_allclose(found, along, rtol=1e-5, atol=1e-7)


def results():
    backend = available(["dualad"])
    found = [r.as_dict() for r in measure(WORKLOADS["rosenbrock_100"], backend, 2, 0.1)]
    machine = {
        "processor": "a processor",
        "cores": 2,
        "load": 0.1,
        "system": "Linux",
        "date": "2000-01-01",
        "python": "3",
        "numpy": "2",
        "versions": {"dualad": "0"},
    }
    return {
        "machine": machine,
        "results": found,
        "startup": {"dualad": [10.0, 1.0]},
        "costs": {"an operation": [1.0, 2.0, 3.5]},
    }


def test_a_run_is_a_table_and_a_page():
    run = results()
    assert [r["job"] for r in run["results"]] == ["jvp", "grad"]
    assert all(r["ratio"] > 1 and r["error"] == 0.0 for r in run["results"])
    text = table(run)
    assert text.splitlines()[0].split() == ["workload", "job", "dualad", "best"]
    assert "import dualad: 10 ms" in text
    assert "| rosenbrock_100 | grad |" in page(run) and "a processor" in page(run)
    assert "| an operation | 1.00 | 2.00 | 3.50 |" in page(run)


def test_costs_are_of_right_derivatives():
    for operation in OPERATIONS.values():
        f = lambda x: np.sum(np.cos(operation(x)))
        _, along = dualad.jvp(f, (X,), (X,))
        h = 1e-6
        np.testing.assert_allclose(along, (f(X + h * X) - f(X - h * X)) / (2 * h), atol=1e-8)
        np.testing.assert_allclose(np.sum(dualad.grad(f)(X) * X), along, rtol=1e-12)


def test_what_became_slower_is_named():
    run = results()
    assert compare(run, run) == []
    slow = copy.deepcopy(run)
    slow["results"][1]["ratio"] *= 1.5
    assert compare(slow, run)[0].startswith("rosenbrock_100 grad: ")
    assert compare(slow, run)[0].endswith("1.50 times slower")
    assert compare(run, slow)[0].endswith("1.50 times faster")


def test_the_command_keeps_and_loads_a_run(tmp_path, capsys):
    kept = tmp_path / "run.json"
    kept.write_text(json.dumps(results()))
    out = tmp_path / "page.md"
    assert main(["--load", str(kept), "--page", str(out), "--compare", str(kept)]) == 0
    assert "no change beyond the noise" in capsys.readouterr().out
    assert out.read_text().startswith("# Performance")
