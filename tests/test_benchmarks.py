"""The benchmarks run, agree with one another, judge rightly, and notice what became slower."""

import copy
import json

import numpy as np
import pytest

import dualad
from benchmarks.__main__ import main
from benchmarks.backends import available
from benchmarks.backends.backend import Backend
from benchmarks.compare import compare
from benchmarks.costs import OPERATIONS, X
from benchmarks.keep import STORED, keep, load
from benchmarks.measure import floor_of, measure, prepared, tangents, varying
from benchmarks.memory import bytes_per_operation, peaks
from benchmarks.page import page
from benchmarks.profile import shares
from benchmarks.progress import Progress
from benchmarks.result import Result
from benchmarks.startup import startup
from benchmarks.table import table
from benchmarks.verdict import Row, rows_of, summary
from benchmarks.workloads import JOBS, WORKLOADS
from benchmarks.workloads.odes import integrate

WORK = list(WORKLOADS.values())
ROWS = [(w, job) for w in WORK for job in w.jobs if job != "ivp"]


@pytest.fixture(scope="module")
def backend():
    return available(["dualad"])[0]


def differenced(f, x, t, h=1e-5):
    """The derivative of f along t by central differences with two steps, extrapolated."""

    def central(h):
        ahead, behind = (f(*(a + s * b for a, b in zip(x, t, strict=True))) for s in (h, -h))
        return (np.asarray(ahead) - np.asarray(behind)) / (2 * h)

    return (4 * central(h) - central(2 * h)) / 3


def relative(x):
    """A direction that moves every entry by its own size: arguments may differ by 10^12."""
    return tuple(np.where(a == 0, 1.0, a)[()] for a in x)


def test_an_argument_that_varies_takes_turns_between_neighbours():
    x = np.array([[1.0, 2.0]])
    call = varying(lambda: x.copy(), x)
    seen = [call() for _ in range(4)]
    assert [s[0, 0] - 1 for s in seen] == [2**-52, 0, 2**-52, 0]
    assert all(s[0, 1] == 2 for s in seen)


def contracted(blocks, t):
    """The derivative along t from one array an argument, whose last axes are the argument's."""
    blocks = blocks if isinstance(blocks, tuple) else (blocks,)
    return sum(np.tensordot(j, b, axes=np.ndim(b)) for j, b in zip(blocks, t, strict=True))


def along(w, job, backend):
    """The derivative that a job found, and the difference that it should be."""
    x = w.arguments()
    f = w.make(np, lambda a: a)
    found = prepared(w, job, backend, x)()
    t = relative(x)
    match job:
        case "jvp":
            return found, differenced(f, x, tangents(w, job, x))
        case "jvpk":
            each = zip(*tangents(w, job, x), strict=True)
            return found, np.stack([differenced(f, x, v) for v in each])
        case "hvp":
            return found, differenced(dualad.grad(f), x, tangents(w, job, x))
        case "hess":
            return found @ t[0], differenced(dualad.grad(f), x, t)
        case "vag":
            value, found = found
            assert value == f(*x)
    return contracted(found, t), differenced(f, x, t)


@pytest.mark.parametrize(("w", "job"), ROWS, ids=lambda v: getattr(v, "name", v))
def test_every_workload_is_differentiated_right(w, job, backend):
    found, expected = along(w, job, backend)
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * scale)


@pytest.mark.parametrize("name", [w.name for w in WORK if "ivp" in w.jobs])
def test_sensitivities_are_integrated_with_the_states(name, backend):
    """Against a difference of two integrations, which have errors of their own of 1e-5."""
    y, p = WORKLOADS[name].arguments()
    f = WORKLOADS[name].make(np, lambda a: a)
    found = prepared(WORKLOADS[name], "ivp", backend, (y, p))().reshape(4, y.size)
    np.testing.assert_allclose(found[0], integrate(f, y, p), rtol=1e-3)
    for k in range(3):
        step = np.zeros(3)
        step[k] = 1e-2 * p[k]
        moved = (integrate(f, y, p + step) - integrate(f, y, p - step)) / 2e-2
        np.testing.assert_allclose(p[k] * found[1 + k], moved, rtol=0.02, atol=1e-4)


def test_every_job_and_target_is_known():
    assert {job for w in WORK for job in w.jobs} == set(JOBS)
    assert all(set(w.peak) <= set(w.jobs) for w in WORK)
    assert all(t is None or t > 1 for w in WORK for t in w.targets.values())


# --- measuring -------------------------------------------------------------------------------


def test_a_measurement_is_a_ratio_to_the_function(backend):
    found = list(measure(WORKLOADS["rosenbrock_100"], [backend], 3, 0.1))
    assert [r.job for r in found] == ["grad", "hvp", "hess"]
    assert all(r.unit == "f" and 1 < r.low <= r.figure <= r.high for r in found)
    assert all(r.error == 0.0 and r.rounds <= 3 for r in found)


class Wrong(Backend):
    """A peer whose gradient is twice too large, and that has no Hessian."""

    name = "wrong"

    def grad(self, f, x):
        return lambda: 2.0 * dualad.grad(f)(*x)

    def hvp(self, f, x, t):
        return self.hess(f, x)

    def hess(self, f, x):
        raise ValueError("no Hessian\nof anything")


def test_a_peer_is_compared_and_its_failure_is_a_result(backend):
    w = WORKLOADS["rosenbrock_2"]
    found = [r for r in measure(w, [backend, Wrong()], 1, 0.0) if r.backend == "wrong"]
    assert [r.error for r in found] == [1.0, 0.0, 0.0]
    assert [r.failure for r in found] == ["", *2 * ["ValueError: no Hessian"]]
    assert found[1].figure is None and "figure" not in found[1].as_dict()


def test_what_a_backend_does(backend):
    peer = Wrong()
    scalar, rosenbrock = WORKLOADS["ops_scalar"], WORKLOADS["rosenbrock_2"]
    assert peer.does(rosenbrock, "grad") and not peer.does(scalar, "jvp")
    assert not peer.does(WORKLOADS["radau_robertson"], "ivp")
    peer.skips = (("rosenbrock_2", "hess"),)
    assert peer.does(rosenbrock, "grad") and not peer.does(rosenbrock, "hess")
    peer.only = ("ops_scalar",)
    assert not peer.does(rosenbrock, "grad")
    assert all(backend.does(w, job) for w in WORK for job in w.jobs)


def test_the_floor_of_an_integration_is_that_of_the_states():
    w = WORKLOADS["radau_robertson"]
    assert np.shape(floor_of(w, "ivp", w.arguments())()) == (3,)


def test_memory_is_measured(backend):
    (chain,) = bytes_per_operation([backend], WORKLOADS["ops_scalar"])
    assert 50 < chain.figure < 1000 and chain.unit == "bytes/op"
    for r in peaks(WORKLOADS["polynomial_1e6"], [backend]):  # nothing where the kernel is silent
        assert r.unit == "MB" and 4 < r.figure < 400


def test_startup_is_measured(backend):
    found = list(startup([backend], 1))
    assert [r.job for r in found] == ["import", "first gradient"]
    assert all(0 < r.figure < 10_000 for r in found)


def test_costs_are_of_right_derivatives():
    for operation in OPERATIONS.values():
        f = lambda x: np.sum(np.cos(operation(x)))
        _, along = dualad.jvp(f, (X,), (X,))
        h = 1e-6
        np.testing.assert_allclose(along, (f(X + h * X) - f(X - h * X)) / (2 * h), atol=1e-8)
        np.testing.assert_allclose(np.sum(dualad.grad(f)(X) * X), along, rtol=1e-12)


# --- judging ---------------------------------------------------------------------------------


def row(job="grad", workload="rosenbrock_100", unit="f", **figures):
    return Row(workload, job, unit, figures)


def test_the_verdict_names_the_best_peer_and_the_target():
    won = row(dualad=4.0, torch=12.0, autograd=20.0)
    assert (won.peer, won.best, won.target) == ("torch", 12.0, 8)
    assert won.verdict == "ahead 3.00x, met" and not won.lost
    lost = row(dualad=16.0, torch=12.0)
    assert lost.verdict == "BEHIND 1.33x, missed 2.00x" and lost.lost
    half = row(dualad=10.0, torch=12.0)
    assert half.verdict == "ahead 1.20x, missed 1.25x" and half.lost
    assert row(dualad=9.0).verdict == "alone, missed 1.12x"
    assert row(torch=9.0).verdict == ""
    even = row(dualad=7.1, torch=7.0)
    assert even.verdict == "level, met" and even.ahead and not even.lost


def test_who_compiles_or_has_no_arrays_decides_nothing():
    r = row(dualad=4.0, casadi=0.5, **{"num-dual": 0.1}, torch=5.0, autograd=None)
    assert r.peer == "torch" and r.ahead
    assert row(dualad=4.0, casadi=0.5).ahead is None


def test_rows_without_a_target_or_of_another_unit():
    assert row(job="hess", workload="rosenbrock_2", dualad=3.0).met is None
    assert row(workload="memory", job="chain_1e5", unit="bytes/op", dualad=301.0).met is False
    assert row(workload="memory", job="mlp vag", unit="MB", dualad=9.0, torch=8.0).lost
    assert row(workload="start", job="import", unit="ms", dualad=29.0).met


def test_a_summary_counts_rows():
    rows = [row(dualad=4.0, torch=5.0), row(dualad=9.0, torch=5.0), row(dualad=1.0)]
    assert summary(rows) == "ahead of the best peer in 1 of 2 rows, target met in 2 of 3"


# --- a run -----------------------------------------------------------------------------------


def run():
    results = [
        Result("rosenbrock_100", "grad", "dualad", 16.0, low=15.0, high=17.0, rounds=9),
        Result("rosenbrock_100", "grad", "torch", 12.0, low=11.0, high=13.0, error=1e-15),
        Result("eigh_200", "jvp", "dualad", 1.3, low=1.3, high=1.3),
        Result("eigh_200", "jvp", "autograd", None, failure="NotImplementedError: no rule"),
        Result("radau_robertson", "ivp", "dualad", 9.0),
        Result("radau_robertson", "ivp", "torch", 29.0, error=2e-6),
        Result("start", "import", "dualad", 25.0, "ms"),
        Result("memory", "chain_1e5", "dualad", 104.0, "bytes/op"),
    ]
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
        "costs": {"an operation": [1.0, 2.0, 3.5]},
        "results": [r.as_dict() for r in results],
    }


def test_a_run_is_a_table():
    lines = table(run()).splitlines()
    assert lines[0].split() == "workload job unit dualad target best peer verdict".split()
    assert lines[1].split()[:7] == "rosenbrock_100 grad f 16.0 8.00 torch 12.0".split()
    assert lines[1].endswith("BEHIND 1.33x, missed 2.00x")
    assert lines[2].endswith("alone, met")
    assert lines[-1] == "ahead of the best peer in 1 of 2 rows, target met in 4 of 5"


def test_a_run_is_a_page():
    text = page(run())
    assert "| rosenbrock_100 | grad | f | 16.0 | 8.00 | torch | 12.0 | BEHIND 1.33x" in text
    assert "| eigh_200 | jvp | f | 1.30 | – | fails |" in text
    assert "- autograd fails on `eigh_200` jvp: NotImplementedError: no rule" in text
    assert "difference was 1e-15 of the largest entry, after an integration 2e-06" in text
    assert "| an operation | 1.00 | 2.00 | 3.50 |" in text and "a processor" in text


def test_lost_rows_are_listed_with_what_dominates():
    section = page(run()).split("## Rows that are lost")[1].split("\n## ")[0]
    assert "- `rosenbrock_100` grad 16.0 f (BEHIND 1.33x, missed 2.00x). NumPy" in section
    assert "`eigh_200`" not in section
    assert WORKLOADS["rosenbrock_100"].dominates in section
    won = run()
    won["results"] = won["results"][2:]
    assert "None in this run." in page(won)


def test_what_became_slower_is_named():
    slow = copy.deepcopy(run())
    assert compare(slow, run()) == []
    slow["results"][0].update(figure=24.0, low=23.0, high=25.0)
    slow["results"][6]["figure"] = 50.0
    assert compare(slow, run()) == [
        "rosenbrock_100 grad: 16.0 -> 24.0 f, 1.50 times worse",
        "start import: 25.0 -> 50.0 ms, 2.00 times worse",
    ]
    assert compare(run(), slow)[0].endswith("1.50 times better")


def test_what_is_within_the_noise_or_the_rounds_is_no_change():
    other = copy.deepcopy(run())
    other["results"][0].update(figure=19.0, low=18.9, high=19.1)
    assert compare(other, run()) == []
    other["results"][0].update(figure=30.0, low=16.5, high=40.0)
    assert compare(other, run()) == []


def test_the_command_keeps_loads_and_compares(tmp_path, capsys):
    kept, out = tmp_path / "run.json", tmp_path / "page.md"
    keep(run(), kept)
    assert load(kept) == run()
    arguments = ["--load", str(kept), "--compare", str(kept)]
    assert main([*arguments, "--page", str(out), "--json", str(tmp_path / "again.json")]) == 0
    assert "no change beyond the noise" in capsys.readouterr().out
    assert out.read_text().startswith("# Performance")
    assert load(tmp_path / "again.json") == run()
    slow = run()
    slow["results"][0].update(figure=40.0, low=40.0, high=40.0)
    keep(slow, kept)
    arguments[-1] = str(tmp_path / "again.json")
    assert main(arguments) == 0 and main([*arguments, "--strict"]) == 1
    assert main(["--load", str(kept), "--compare", str(tmp_path / "none.json")]) == 0
    assert "no stored run" in capsys.readouterr().out


def test_the_command_measures(tmp_path, capsys):
    out = tmp_path / "run.json"
    only = ["--only", "rosenbrock_2", "--backends", "dualad", "--budget", "0"]
    assert main(["--quick", *only, "--json", str(out)]) == 0
    assert "rosenbrock_2" in capsys.readouterr().out
    assert {r["job"] for r in json.loads(out.read_text())["results"]} == {"grad", "hvp", "hess"}


def test_a_profile_gives_each_function_its_share():
    def inner():
        return sum(range(20_000))

    found = {name.split()[-1]: rest for *rest, name in shares(lambda: (inner(), inner()), 5)}
    own, cumulative, calls = found["inner"]
    assert calls == 2.0 and own < cumulative <= 1.0


def test_progress_is_for_terminals(capsys):
    progress = Progress(2)
    progress.step("mlp")
    assert capsys.readouterr().err == ""
    progress.terminal = True
    progress.step("mlp")
    progress.end()
    assert "[2/2]" in (shown := capsys.readouterr().err) and shown.endswith("\n")


def test_the_stored_run_can_be_compared_with():
    if STORED.exists():
        stored = load(STORED)
        assert {r.workload for r in rows_of(stored)} >= set(WORKLOADS)
        assert compare(stored, stored) == []
