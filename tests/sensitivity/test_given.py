"""A wrong kind of argument is an error that names the argument and what it may be."""

import numpy as np
import pytest

from dualad.sensitivity import (
    Parameter,
    Parameters,
    ParameterSets,
    SensitivityError,
    ensemble,
    fit,
    fixed_point,
    function,
    linear_solve,
    minimize,
    ode,
    problem,
    propagate,
    root,
    sample,
    simulate,
    steady_state,
)
from dualad.sensitivity.given import number, numbers

TEXT = "a"
THING = object()


def decay(**options):
    arguments = {"rhs": lambda t, y, p: [-p.k * y[0]], "y0": [1.0], "params": {"k": 0.5}}
    return ode(**{**arguments, "t_span": (0.0, 1.0), **options})


def of_square(solver, **options):
    f = {
        root: lambda x, p: [x[0] ** 2 - p.a],
        steady_state: lambda x, p: [p.a - x[0]],
        fixed_point: lambda x, p: [0.5 * x[0] + p.a],
        minimize: lambda x, p: (x[0] - p.a) ** 2,
    }[solver]
    return solver(f, **{"x0": [1.0], "params": {"a": 2.0}, **options})


def steps(**options):
    return simulate(
        lambda k, x, p: [p.a * x[0]], **{"x0": [1.0], "params": {"a": 0.5}, "n": 3, **options}
    )


def line(**options):
    x = np.array([1.0, 2.0, 3.0])
    return fit(lambda p, x: p.a * x, {"a": 1.0}, [2.1, 3.9, 6.0], x=x, **options)


def doubled(**options):
    return function(lambda p: {"y": 2 * p.a}, {"a": Parameter(2.0, u=0.1)}, **options)


SETS = ParameterSets(["a"], [[1.0], [2.0]])


def members():
    return ensemble(problem(doubled_of, {"a": 2.0}), SETS, progress=False)


def doubled_of(params):
    return function(lambda p: {"y": 2 * p.a}, params)


CASES = {
    "ode events": (lambda: decay(events=3), "events must be a sequence of Event.*got 3"),
    "ode wrt": (lambda: decay(wrt=3), "wrt must be a sequence of names of parameters, got 3"),
    "ode states": (lambda: decay(states=3), "states must be a sequence of names, got 3"),
    "ode outputs": (lambda: decay(outputs=3), "outputs must be a sequence.*mapping.*got 3"),
    "ode atol": (lambda: decay(atol=TEXT), "atol must be real numbers, got 'a'"),
    "ode atol None": (lambda: decay(atol=[None]), r"atol must be real numbers, got \[None\]"),
    "ode sens_atol": (lambda: decay(sens_atol=THING), "sens_atol of k must be real numbers"),
    "ode pscale": (lambda: decay(pscale=3), "pscale must be a mapping of parameters to numbers"),
    "at": (lambda: decay(dense_output=True).at(TEXT), "times t must be real numbers, got 'a'"),
    "check": (lambda: decay().check(rtol=TEXT), "rtol must be real numbers"),
    "collinearity": (lambda: decay().collinearity(sets=3), "sets must be a sequence of sets"),
    "collinearity set": (
        lambda: decay().collinearity(sets=[3]),
        "a set must be a sequence of names",
    ),
    "collinearity size": (lambda: decay().collinearity(max_size=TEXT), "max_size must be real"),
    "elasticity": (lambda: decay().elasticity(zero=None), "zero.*must be real numbers, got None"),
    "fisher": (lambda: decay().fisher(TEXT), "sigma must be real numbers"),
    "tolerance": (
        lambda: decay().identifiability(tol=3),
        "tol must be positive, and below 1, got 3",
    ),
    "jvp": (lambda: decay().jvp(TEXT), "v must be real numbers"),
    "vjp": (lambda: decay().vjp([1j]), "w must be real numbers"),
    "scaled": (lambda: decay().scaled([1]), r"scaling must be one of .*got \[1\]"),
    "summary": (lambda: decay().summary(norm=[1]), r"norm must be one of .*got \[1\]"),
    "output index": (lambda: decay().output_index([1]), r"there is no output \[1\]"),
    "parameter index": (lambda: decay().parameter_index([1]), r"there is no parameter \[1\]"),
    "json path": (lambda: decay().to_json(3), "path must be the path of a file, got 3"),
    "root args": (lambda: of_square(root, args=3), "args must be a sequence of further arguments"),
    "root method": (lambda: of_square(root, method=3), "method must be a name of scipy.*got 3"),
    "root starts": (lambda: of_square(root, starts=3), "starts must be a sequence of starts"),
    "root tol": (lambda: of_square(root, tol=TEXT), "tol must be real numbers"),
    "root x0": (lambda: of_square(root, x0=lambda: 0), r"x0: TypeError.*called with x0\(p\)"),
    "fixed point": (lambda: of_square(fixed_point, tol=None), "tol must be real numbers"),
    "minimize": (lambda: of_square(minimize, method=3), "method must be a name of scipy.*got 3"),
    "minimize bounds": (lambda: of_square(minimize, bounds=3), r"bounds must be .*pairs \(lower"),
    "minimize tol": (lambda: of_square(minimize, tol=TEXT), "tol must be real numbers"),
    "steady args": (lambda: of_square(steady_state, args=3), "args must be a sequence"),
    "steady totals": (lambda: of_square(steady_state, conserved=TEXT), "conserved must be real"),
    "steady NaN": (
        lambda: of_square(steady_state, conserved=np.nan),
        "weights of conserved hold NaN",
    ),
    "linear names": (
        lambda: linear_solve(lambda p: np.eye(2) * p.a, [1.0, 2.0], {"a": 2.0}, names=3),
        "names must be a sequence of names of the unknowns",
    ),
    "function outputs": (lambda: doubled(outputs=3), "outputs must be a sequence of names"),
    "function args": (
        lambda: doubled(args=3),
        "args must be a sequence of arguments of the model",
    ),
    "function names": (lambda: doubled(names=3), "names must be a sequence of names"),
    "simulate x0": (lambda: steps(x0=lambda: 0), r"x0: TypeError.*called with x0\(p\)"),
    "simulate inputs": (lambda: steps(inputs=3), "inputs must be a table or a function"),
    "simulate draws": (lambda: steps(inputs=lambda: 0), "inputs: TypeError.*inputs.k, generator"),
    "simulate outputs": (
        lambda: steps(outputs=3),
        "outputs must be a mapping of names to functions",
    ),
    "simulate output": (
        lambda: steps(outputs={"z": 1}),
        r"outputs\['z'\] must be a function, got 1",
    ),
    "simulate states": (lambda: steps(states=3), "states must be a sequence of names"),
    "sample seed": (
        lambda: sample({"a": Parameter(1.0, u=0.1)}, 2, seed=-1),
        "seed must be a non-negative integer, got -1",
    ),
    "fit loss": (lambda: line(loss=[1]), r"loss must be one of .*got \[1\]"),
    "fit start": (lambda: line(start=THING), "start must be real numbers"),
    "fit scale": (lambda: line(f_scale=TEXT), "f_scale must be real numbers"),
    "fit level": (lambda: line().confidence_intervals(TEXT), "level must be real numbers"),
    "propagate moments": (lambda: propagate(doubled(), moments=3), "moments must be a mapping"),
    "propagate level": (lambda: propagate(doubled(), level=TEXT), "level must be real numbers"),
    "propagate dof": (lambda: propagate(doubled(), dof=None), "dof must be real numbers"),
    "draws": (lambda: propagate(doubled()).sample(-1), "number of draws must be an integer"),
    "draws rng": (
        lambda: propagate(doubled()).sample(1, TEXT),
        "rng must be a non-negative integer",
    ),
    "sets names": (lambda: ParameterSets(3, [[1.0]]), "names must be a sequence of names"),
    "sets name": (
        lambda: ParameterSets([1], [[1.0]]),
        "name of a parameter must be a string, got 1",
    ),
    "ensemble sets": (
        lambda: ensemble(problem(doubled_of, {"a": 2.0}), 3),
        "sets must be a sequence",
    ),
    "ensemble seed": (
        lambda: ensemble(problem(doubled_of, {"a": 2.0}), SETS, seed=-1, progress=False),
        "seed must be a non-negative integer",
    ),
    "member": (lambda: members().member(5), "there are members 0 to 1, got 5"),
    "quantiles": (lambda: members().quantiles(TEXT), "quantiles must be real numbers"),
    "moved": (
        lambda: Parameters({"a": 1.0}).moved([1.0, 2.0]),
        "there are 1 parameters, but 2 values",
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_an_error_of_this_library_names_the_argument(what):
    call, message = CASES[what]
    with pytest.raises(SensitivityError, match=message):
        call()


def test_a_name_that_no_mapping_has_is_a_key_error_too():
    parameters = Parameters({"alpha": 1.0})
    assert parameters.get("beta") is None and parameters.get([1]) is None
    with pytest.raises(KeyError, match="did you mean 'alpha'"):
        parameters["alpa"]
    with pytest.raises(SensitivityError, match=r"^there is no parameter 'beta': there is alpha$"):
        parameters.parameter("beta")
    table = decay().collinearity()
    with pytest.raises(KeyError, match=r"there is no column 'indes'.*'index'"):
        table["indes"]


def test_what_counts_as_numbers():
    assert number("x", np.float32(2.0)) == 2.0 and number("x", 3) == 3.0
    assert numbers("x", [1, 2.5]).tolist() == [1.0, 2.5]
    for wrong in ("1.5", ["1.5"], 1j, np.ones(2, complex), None, [1.0, None], {}, [[1.0], [1, 2]]):
        with pytest.raises(SensitivityError, match="x must be real numbers"):
            numbers("x", wrong)
    with pytest.raises(SensitivityError, match="x must be one real number"):
        number("x", [1.0])


@pytest.mark.parametrize(
    "model",
    [
        lambda p: {"y": p.a * np.ones(3), "w": p.a + np.ones(3)},
        lambda p: p.a * np.ones(3),
        lambda p: ode(
            lambda t, y, q: [-q.a * y[0]], [1.0], p, (0, 2), t_eval=[0, 1, 2], states=["y"]
        ),
    ],
    ids=["mapping", "array", "result"],
)
def test_data_of_an_unknown_name_say_what_to_do(model):
    with pytest.raises(SensitivityError, match=r"data name.*no output 'z'.*names of its outputs"):
        fit(model, {"a": 1.0}, {"z": [1.0, 2.0, 3.0]})


def test_standard_deviations_by_name_are_for_all_data():
    model, data = (lambda p: {"y": p.a * np.ones(3)}), {"y": [1.0, 2.0, 3.0]}
    with pytest.raises(SensitivityError, match="sigma has no entry for 'y': give one for each"):
        fit(model, {"a": 1.0}, data, sigma={})
    with pytest.raises(SensitivityError, match="sigma: there is no output 'q': there is y"):
        fit(model, {"a": 1.0}, data, sigma={"q": 1.0})
