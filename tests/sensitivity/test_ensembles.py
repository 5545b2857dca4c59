"""Ensembles: the same members from every executor, failures kept, files resumed."""

import concurrent.futures
import io
import json
import time

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import ParameterError, SensitivityError
from dualad.sensitivity.ensembles.bar import Bar
from dualad.sensitivity.ensembles.executors import require_picklable

from .ensemble_models import DiesAlways, DiesOnce, decaying, fails_above

K = np.linspace(0.5, 2.0, 16)
SETS = {"k": K, "c": np.full(16, 3.0)}
#: The members of `fails_above` that fail.
LOST = np.flatnonzero(K > 1.5)


def expected(e):
    """Values and derivatives of `fails_above`, NaN where it fails."""
    good = K <= 1.5
    np.testing.assert_array_equal(e.ok, good)
    np.testing.assert_array_equal(e.values, np.where(good, 3 * K, np.nan))
    np.testing.assert_array_equal(e.jacobian[good], np.stack([np.full(16, 3.0), K], 1)[good])
    assert np.isnan(e.jacobian[~good]).all()
    assert [f.index for f in e.failed] == LOST.tolist()
    first = e.failed[0]
    assert first.parameters == {"k": K[first.index], "c": 3.0}
    assert "too large" in first.error and first.error.startswith("ModelError: fails_above (line")


# --- one by one, or all at once


def test_all_at_once_is_one_by_one():
    e = ds.ensemble(decaying, SETS)
    alone = ds.ensemble(decaying, SETS, batch=1)
    assert e.stats["in_one_pass"] == 16 and alone.stats["in_one_pass"] == 0
    np.testing.assert_array_equal(e.values, alone.values)
    np.testing.assert_array_equal(e.jacobian, alone.jacobian)
    x = np.exp(-np.outer(K, np.arange(3)))
    np.testing.assert_allclose(e.values, np.column_stack([x, 3 * K]), rtol=1e-14)
    np.testing.assert_allclose(e.jacobian[:, :3, 0], -np.arange(3) * x, rtol=1e-14)
    np.testing.assert_array_equal(e.jacobian[:, 3], np.column_stack([np.full(16, 3.0), K]))
    assert e.outputs == ("x[0]", "x[1]", "x[2]", "y") and e.parameters == ("k", "c")


def test_all_at_once_is_fifty_times_faster_than_a_loop():
    sets = ds.ParameterSets(["k", "c"], np.random.default_rng(0).uniform(0.5, 1.0, (1000, 2)))

    def model(p):
        return p.c * np.exp(-p.k)

    ds.ensemble(model, sets)
    begun = time.perf_counter()
    ds.ensemble(model, sets)
    together = time.perf_counter() - begun
    begun = time.perf_counter()
    for row in list(sets)[:200]:
        ds.function(model, row)
    loop = 5 * (time.perf_counter() - begun)
    assert loop > 20 * together  # 100 on an idle machine


def test_a_branch_on_a_value_makes_members_run_alone():
    e = ds.ensemble(fails_above, SETS)
    expected(e)
    assert e.stats["in_one_pass"] == 0


def test_a_member_that_is_not_finite_is_a_failure_among_those_at_once():
    e = ds.ensemble(lambda p: np.log(p.k - 1.0), {"k": [0.5, 2.0, 3.0, 0.2]})
    np.testing.assert_allclose(e.values[[1, 2]], np.log([1.0, 2.0]), rtol=1e-15)
    assert [f.index for f in e.failed] == [0, 3]
    assert "not finite for y; parameters: k = 0.5" in e.failed[0].error


# --- executors


def test_every_executor_gives_the_same_list():
    expected(ds.ensemble(fails_above, SETS, executor=None))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        expected(ds.ensemble(fails_above, SETS, executor=pool))
        expected(ds.ensemble(fails_above, SETS, executor=pool, batch=5))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        expected(ds.ensemble(fails_above, SETS, executor=pool, batch=4))


def test_a_pool_with_map_alone():
    class Mapping:
        def map(self, call, tasks):
            return map(call, tasks)

    expected(ds.ensemble(fails_above, SETS, executor=Mapping(), batch=3))


def test_at_most_four_tasks_a_worker_are_under_way():
    class Counting(concurrent.futures.ThreadPoolExecutor):
        under_way = most = 0

        def submit(self, *args):
            self.under_way += 1
            type(self).most = max(self.most, self.under_way)
            future = super().submit(*args)
            future.add_done_callback(self.ended)
            return future

        def ended(self, _):
            self.under_way -= 1

    with Counting(2) as pool:
        ds.ensemble(fails_above, {"k": np.linspace(0, 1, 100), "c": np.ones(100)}, executor=pool)
    assert 1 <= Counting.most <= 8


def test_an_executor_is_not_closed():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        ds.ensemble(decaying, SETS, executor=pool)
        assert pool.submit(int, "3").result() == 3


def test_a_lambda_is_refused_by_plain_processes_before_any_task():
    with (
        concurrent.futures.ProcessPoolExecutor(1) as pool,
        pytest.raises(SensitivityError, match=r"cannot be sent.*module.*loky or dask"),
    ):
        ds.ensemble(lambda p: p.k, {"k": K}, executor=pool)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        require_picklable(pool, lambda: 0)


def test_a_pool_of_the_user_that_breaks_keeps_what_was_done(tmp_path):
    path = tmp_path / "run"
    model = DiesOnce(tmp_path / "mark", K[8])
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        e = ds.ensemble(model, SETS, executor=pool, resume=path, batch=1)
    assert e.ok[:8].all() and not e.ok[8]
    assert "the executor lost it: BrokenProcessPool" in e.failed[0].error
    good = np.flatnonzero(e.ok)
    np.testing.assert_array_equal(e.values[good], 3 * K[good])
    back = ds.Ensemble.load(path)
    assert not back.done[8] and back.done[good].all()
    np.testing.assert_array_equal(ds.ensemble(model, SETS, resume=path).values, 3 * K)


def test_a_pool_of_ours_takes_lambdas_and_is_opened_again_when_a_process_dies(tmp_path):
    pytest.importorskip("loky")
    model = DiesOnce(tmp_path / "mark", K[8])
    e = ds.ensemble(lambda p: model(p), SETS, executor=2)
    assert model.died()
    assert e.ok.all() and not e.failed
    np.testing.assert_array_equal(e.values, 3 * K)


@pytest.mark.slow
def test_a_member_that_kills_its_process_is_the_only_one_that_is_lost():
    e = ds.ensemble(DiesAlways(K[8]), SETS, executor=2)
    assert np.flatnonzero(~e.ok).tolist() == [8] and len(e.failed) == 1


@pytest.mark.parametrize("executor", [True, 0, "pool", 3.5])
def test_what_is_no_executor(executor):
    with pytest.raises(SensitivityError, match=r"executor|processes"):
        ds.ensemble(decaying, SETS, executor=executor)


# --- problems


def test_any_analysis_can_be_run_for_many_sets():
    base = {"a": 0.5, "x": ds.Parameter(2.0, unit="m")}
    problem = ds.problem(ds.simulate, lambda k, x, p: p.a * x, lambda p: [p.x], base, 3)
    e = ds.ensemble(problem, {"a": [0.5, 0.25]})
    assert e.values.shape == (2, 4, 1) and e.jacobian.shape == (2, 4, 1, 2)
    np.testing.assert_allclose(e.values[1, :, 0], 2 * 0.25 ** np.arange(4))
    np.testing.assert_array_equal(e.t, [0, 1, 2, 3])
    member = e.member(1)
    assert member.parameters == {"a": 0.25, "x": 2.0} and member.units("x1", "x") == "1/m"
    np.testing.assert_array_equal(member.S, e.jacobian[1])


def test_a_model_that_runs_an_analysis_itself():
    e = ds.ensemble(
        lambda p: ds.simulate(lambda k, x, q: q.a * x, [1.0], p, 2), {"a": [0.5, 0.25]}
    )
    np.testing.assert_array_equal(e.values[:, 2, 0], [0.25, 0.0625])


def test_a_model_of_an_array_and_a_model_of_second_order():
    problem = ds.problem(ds.function, lambda x: x[0] * x[1] ** 2, [2.0, 3.0], names=["a", "b"])
    e = ds.ensemble(problem, {"b": [1.0, 4.0]})
    np.testing.assert_array_equal(e.jacobian, [[1.0, 4.0], [16.0, 16.0]])
    e = ds.ensemble(decaying, SETS, order=2)
    assert e.stats["in_one_pass"] == 0
    np.testing.assert_array_equal(e.values, ds.ensemble(decaying, SETS).values)


def test_parameters_that_the_sets_leave_out_have_their_values():
    e = ds.ensemble(decaying, {"k": K}, params={"k": 1.0, "c": 3.0}, wrt=["c"])
    np.testing.assert_array_equal(e.jacobian[:, 3, 0], K)
    assert e.parameters == ("c",) and e.member(0).parameters["c"] == 3.0


def test_each_member_has_random_numbers_of_its_own_whatever_runs_it():
    def noisy(p, rng):
        return p.k + rng.normal()

    e = ds.ensemble(noisy, {"k": K}, seed=5)
    assert len(set(np.round(e.values - K, 12))) == 16
    np.testing.assert_array_equal(e.jacobian[:, 0], 1.0)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        other = ds.ensemble(noisy, {"k": K}, seed=5, executor=pool, batch=3)
    np.testing.assert_array_equal(e.values, other.values)
    assert (ds.ensemble(noisy, {"k": K}, seed=6).values != e.values).all()
    walk = ds.problem(
        ds.simulate, lambda k, x, p, w: x + p.s * w, [0.0], {"s": 1.0}, 3,
        inputs=lambda k, rng: rng.normal(),
    )  # fmt: skip
    e = ds.ensemble(walk, {"s": [1.0, 1.0]}, seed=1)
    assert (e.values[0, 1:] != e.values[1, 1:]).all()


def test_results_of_different_shapes_are_failures_that_say_so():
    e = ds.ensemble(lambda p: p.k * np.ones(2 if p.k < 1 else 3), {"k": [0.5, 2.0]})
    assert "shape (3,)" in e.failed[0].error and "t_eval" in e.failed[0].error


# --- failures and questions


def test_a_failure_can_be_raised():
    with pytest.raises(SensitivityError, match=r"member 11 failed \(k = 1\.6, c = 3\).*too large"):
        ds.ensemble(fails_above, SETS, on_error="raise")


def test_when_all_fail_there_is_no_ensemble():
    with pytest.raises(SensitivityError, match=r"all 2 members failed; the first: .*too large"):
        ds.ensemble(fails_above, {"k": [2.0, 3.0], "c": [1.0, 1.0]})


@pytest.mark.parametrize(
    ("sets", "options", "error", "says"),
    [
        ({"k": [1.0], "q": [1.0]}, {"params": {"k": 1.0}}, ParameterError, "no parameter 'q'"),
        ({"k": [1.0, np.nan]}, {}, ParameterError, "set 1 has nan for 'k'"),
        ([], {}, SensitivityError, r"one column|no sets"),
        (
            {"k": [1.0, -2.0]},
            {"params": {"k": ds.Parameter(1.0, lower=0.0)}},
            ParameterError,
            r"set 1 has -2.0 for 'k', outside of its bounds \[0, inf\]",
        ),
        ({"k": [1.0, 2.0], "c": [1.0, 2.0, 3.0]}, {}, ParameterError, r"k: 2, c: 3"),
        (np.ones((2, 2)), {}, ParameterError, "one column"),
        (SETS, {"on_error": "skip"}, SensitivityError, "on_error must be"),
        (SETS, {"batch": 0}, SensitivityError, "batch must be"),
        ({"k": [1.0]}, {}, SensitivityError, "no parameter 'c'"),
    ],
)
def test_bad_questions(sets, options, error, says):
    with pytest.raises(error, match=says):
        ds.ensemble(decaying, sets, **options)


def test_a_problem_has_its_parameters_already():
    p = ds.problem(ds.function, decaying, {"k": 1.0, "c": 2.0})
    with pytest.raises(SensitivityError, match="already"):
        ds.ensemble(p, SETS, wrt=["k"])
    with pytest.raises(SensitivityError, match="a problem or of a model"):
        ds.ensemble(3, SETS)
    with pytest.raises(SensitivityError, match="no argument params"):
        ds.problem(np.sin, 1.0)
    with pytest.raises(SensitivityError, match="missing a required argument"):
        ds.problem(ds.simulate, decaying)


# --- statistics


def test_statistics_are_over_those_that_succeeded():
    e = ds.ensemble(fails_above, SETS)
    good = 3 * K[K <= 1.5]
    assert e.mean() == pytest.approx(good.mean()) and e.std() == pytest.approx(good.std(ddof=1))
    np.testing.assert_allclose(e.quantiles([0.1, 0.5]), np.quantile(good, [0.1, 0.5]))
    np.testing.assert_allclose(e.dgsm(), [9.0, (K[K <= 1.5] ** 2).mean()])
    table = e.summary()
    assert table[0]["median"] == pytest.approx(np.median(good))
    assert f"{len(good)} of 16 members" in table.title and "member 11 failed" in table.notes[0]
    assert repr(e) == "<Ensemble of 16 members (5 failed): y>"
    with pytest.raises(SensitivityError, match="between 0 and 1"):
        e.quantiles([50])
    with pytest.raises(SensitivityError, match="member 11: ModelError"):
        e.member(11)


def test_a_data_frame_and_an_xarray_of_all_members():
    pytest.importorskip("pandas")
    e = ds.ensemble(fails_above, SETS)
    frame = e.to_dataframe()
    assert list(frame.columns) == ["member", "k", "c", "y", "dy/dk", "dy/dc", "error"]
    assert (frame["error"] != "").sum() == 5 and frame["dy/dc"][2] == K[2]
    pytest.importorskip("xarray")
    x = e.to_xarray()
    assert x["sensitivity"].dims == ("member", "output", "parameter")
    np.testing.assert_array_equal(x["ok"], e.ok)
    problem = ds.problem(ds.simulate, lambda k, x, p: p.a * x, [1.0], {"a": 0.5}, 3)
    e = ds.ensemble(problem, {"a": [0.5, 0.25]})
    assert e.to_xarray()["value"].dims == ("member", "time", "output")
    assert len(e.to_dataframe()) == 8


# --- files


def test_an_ensemble_comes_back_from_its_file(tmp_path):
    e = ds.ensemble(fails_above, SETS)
    path = e.save(tmp_path / "members")
    assert path.name == "members.npz"
    back = ds.Ensemble.load(tmp_path / "members")
    expected(back)
    assert back.sets.names == ("k", "c") and back.outputs == e.outputs
    problem = ds.problem(ds.simulate, lambda k, x, p: p.a * x, [1.0], {"a": 0.5}, 3)
    timed = ds.ensemble(problem, {"a": [0.5, 0.25]})
    timed.save(tmp_path / "timed")
    again = ds.Ensemble.load(tmp_path / "timed")
    np.testing.assert_array_equal(again.member(1).S, timed.member(1).S)
    assert again.member(1).time_unit == "step" and list(again.t) == [0, 1, 2, 3]
    index = json.loads((tmp_path / "members.json").read_text())
    assert index["members"] == 16 and len(index["failed"]) == 5
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "members.json",
        "members.npz",
        "timed.json",
        "timed.npz",
    ]


class Interrupted(KeyboardInterrupt):
    """The user's key, at a member of the test's choice."""


class Interrupts:
    """A model that is interrupted at one member, until a file is there; it writes what it ran."""

    def __init__(self, folder):
        self.go, self.log = folder / "go", folder / "log"

    def __call__(self, p):
        if isinstance(p.k, float):
            with self.log.open("a") as file:
                file.write(f"{p.k:.3f}\n")
        if p.k == K[9] and not self.go.exists():
            raise Interrupted
        return p.k * p.c


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(tmp_path):
    model = Interrupts(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        ds.ensemble(model, SETS, batch=1, resume=tmp_path / "run")
    part = ds.Ensemble.load(tmp_path / "run")
    assert part.done.sum() == 9 and part.ok[:9].all()
    model.go.touch()
    model.log.unlink()
    e = ds.ensemble(model, SETS, batch=1, resume=tmp_path / "run")
    np.testing.assert_array_equal(e.values, 3 * K)
    ran = {float(line) for line in model.log.read_text().split()}
    assert ran <= {round(float(k), 3) for k in K[9:]}


def test_a_finished_run_runs_nothing_again(tmp_path):
    first = ds.ensemble(fails_above, SETS, resume=tmp_path / "run")
    second = ds.ensemble(fails_above, SETS, resume=tmp_path / "run")
    expected(first)
    expected(second)
    assert "in_one_pass" not in second.stats


def test_a_file_of_another_problem_is_refused(tmp_path):
    path = tmp_path / "run"
    ds.ensemble(decaying, SETS, resume=path)
    with pytest.raises(SensitivityError, match="is of another problem"):
        ds.ensemble(fails_above, SETS, resume=path)
    with pytest.raises(SensitivityError, match="is of another problem"):
        ds.ensemble(decaying, {**SETS, "k": K + 1}, resume=path)
    with pytest.raises(SensitivityError, match="is of another problem"):
        ds.ensemble(decaying, SETS, resume=path, wrt=["k"])


def test_files_that_are_none(tmp_path):
    with pytest.raises(SensitivityError, match="no ensemble can be read"):
        ds.Ensemble.load(tmp_path / "nothing")
    (tmp_path / "bad.npz").write_bytes(b"PK not a file")
    with pytest.raises(SensitivityError, match="no ensemble can be read"):
        ds.Ensemble.load(tmp_path / "bad")
    with pytest.raises(SensitivityError, match="no such folder"):
        ds.ensemble(decaying, SETS, resume=tmp_path / "none" / "run")
    e = ds.ensemble(decaying, SETS)
    from dualad.sensitivity.ensembles import storage

    storage.write(tmp_path / "new", {"sets": e.sets.values}, {"version": 99})
    with pytest.raises(SensitivityError, match=r"version 99.*install a newer"):
        ds.Ensemble.load(tmp_path / "new")


def test_two_lambdas_of_other_code_are_two_problems(tmp_path):
    ds.ensemble(lambda p: p.k * 2.0, {"k": K}, resume=tmp_path / "run")
    ds.ensemble(lambda p: p.k * 2.0, {"k": K}, resume=tmp_path / "run")
    with pytest.raises(SensitivityError, match="another problem"):
        ds.ensemble(lambda p: p.k * 3.0, {"k": K}, resume=tmp_path / "run")


# --- the bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_on_a_terminal_and_silence_elsewhere(monkeypatch):
    pytest.importorskip("tqdm")
    screen, file = Terminal(), io.StringIO()
    for stream in (screen, file):
        bar = Bar(10, 2, True, stream)
        bar(8, 1)
        bar.close()
    assert "10/10" in screen.getvalue() and "failed=1" in screen.getvalue()
    assert file.getvalue() == ""
    import sys

    monkeypatch.setitem(sys.modules, "tqdm", None)
    plain = Terminal()
    bar = Bar(10, 0, True, plain)
    bar(3, 1)
    bar.close()
    assert plain.getvalue() == "\r3 of 10 members, 1 failed\n"


# --- global measures


def test_derivatives_bound_the_total_indices():
    """y = 2 a + b: for normal parameters the bound is the index, 4 u_a^2 / (4 u_a^2 + u_b^2)."""
    normal = {"a": ds.Parameter(0.0, u=0.3, lower=-99.0), "b": ds.Parameter(1.0, u=0.5)}
    e = ds.ensemble(lambda p: 2 * p.a + p.b, ds.sample(normal, 4096, "sobol"), params=normal)
    table = e.total_bounds()
    np.testing.assert_allclose(table["mean square"], [4.0, 1.0])
    np.testing.assert_allclose(table["total index below"], [0.36 / 0.61, 0.25 / 0.61], rtol=0.02)
    # For uniform ones it is 12 / pi^2 times the index.
    flat = {n: ds.Parameter(0.5, lower=0.0, upper=1.0) for n in "ab"}
    e = ds.ensemble(lambda p: 2 * p.a + p.b, ds.sample(flat, 4096, "sobol"), params=flat)
    index = np.array([0.8, 0.2]) * 12 / np.pi**2
    np.testing.assert_allclose(e.total_bounds()["total index below"], index, rtol=0.01)


def test_what_has_no_range_has_no_bound():
    e = ds.ensemble(decaying, SETS)
    with pytest.raises(ParameterError, match="neither bounds nor an uncertainty"):
        e.total_bounds()


def test_salib_gets_names_bounds_and_a_function():
    p = {"k": ds.Parameter(1.0, lower=0.5, upper=2.0), "c": ds.Parameter(3.0, fixed=True)}
    names, evaluate = ds.to_salib(ds.problem(ds.function, fails_above, p))
    assert names == {"num_vars": 1, "names": ["k"], "bounds": [[0.5, 2.0]]}
    np.testing.assert_array_equal(evaluate(K[:3, np.newaxis]), 3 * K[:3])
    with pytest.raises(ParameterError, match="bounds of 'k'"):
        ds.to_salib(ds.problem(ds.function, decaying, {"k": 1.0, "c": 3.0}))


def test_a_picture_of_the_members_over_time():
    pytest.importorskip("matplotlib")
    problem = ds.problem(ds.simulate, lambda k, x, p: p.a * x, [1.0], {"a": 0.5}, 3)
    e = ds.ensemble(problem, {"a": np.linspace(0.4, 0.6, 21)})
    (panel,) = e.plot.band(lines=2).axes
    lines = [line.get_ydata() for line in panel.get_lines()]
    np.testing.assert_array_equal(lines[0], e.values[0, :, 0])
    np.testing.assert_allclose(lines[2], np.median(e.values[:, :, 0], axis=0))
    assert panel.get_xlabel() == "time (step)" and e.member(0).time_unit == "step"
    with pytest.raises(ParameterError, match="no output 'q'"):
        e.plot.band("q")
    with pytest.raises(SensitivityError, match="have no times"):
        ds.ensemble(decaying, SETS).plot.band()


def test_tables_of_members_and_of_outputs_have_units_and_csv(tmp_path):
    p = {"k": ds.Parameter(0.5, unit="1/h")}
    work = ds.problem(
        ds.ode, decay_of_units, [1.0], p, (0.0, 2.0), t_eval=[1.0, 2.0], units={"y1": "mg"},
        time_unit="h",
    )  # fmt: skip
    e = ds.ensemble(work, [[0.5], [0.7]], progress=False)
    assert e.summary().columns[:3] == ("t (h)", "output", "unit")
    assert "<td >mg</td>" in e._repr_html_()
    text = e.to_csv(tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_text() == text
    head, first, *_ = text.splitlines()
    assert head == "member,k,t,y1,dy1/dk,error"
    assert np.isclose(float(first.split(",")[3]), np.exp(-0.5), rtol=1e-5)
    pytest.importorskip("xarray")
    assert list(e.to_xarray()["parameter_unit"].values) == ["1/h"]


def decay_of_units(t, y, p):
    return -p.k * y
