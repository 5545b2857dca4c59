"""`function` against calculus, on every form of output, and against every bad model."""

import math
import pickle

import numpy as np
import pytest
import sympy as sp

from dualad import sensitivity as ds
from dualad.sensitivity import ModelError, Parameter, ParameterError, SensitivityError

AB = {"a": 2.0, "b": 3.0}


def test_a_number_an_array_and_a_mapping():
    r = ds.function(lambda p: p.a * p.b, AB)
    assert r.values.shape == () and r.values == 6.0 and r.outputs == ("y",)
    np.testing.assert_array_equal(r.jacobian, [3.0, 2.0])
    r = ds.function(lambda p: p.a * np.arange(6.0).reshape(2, 3), AB, wrt=["a"])
    assert r.values.shape == (2, 3) and r.jacobian.shape == (2, 3, 1)
    assert r.outputs[:2] == ("y[0,0]", "y[0,1]")
    np.testing.assert_array_equal(r.jacobian[..., 0], np.arange(6.0).reshape(2, 3))
    r = ds.function(lambda p: {"u": p.a**2, "v": p.b * np.arange(2.0), "w": 1}, AB)
    assert r.outputs == ("u", "v[0]", "v[1]", "w")
    np.testing.assert_array_equal(r.values, [4.0, 0.0, 3.0, 1.0])
    np.testing.assert_array_equal(r.jacobian, [[4, 0], [0, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(r.block("v").jacobian, [[0, 0], [0, 1]])
    np.testing.assert_array_equal(ds.function(lambda p: [p.a, p.b], AB).jacobian, np.eye(2))


def test_an_entry_of_a_mapping_keeps_its_second_derivatives():
    r = ds.function(lambda p: {"u": p.a, "v": [p.a**2 * p.b, p.b**3]}, AB, order=2)
    v = r.block("v")
    assert v.outputs == ("v[0]", "v[1]")
    np.testing.assert_array_equal(v.hessian, [[[6.0, 4.0], [4.0, 0.0]], [[0.0, 0.0], [0.0, 18.0]]])
    assert r.block("u").values == [2.0]


def test_pandas_objects_keep_their_names():
    pd = pytest.importorskip("pandas")
    r = ds.function(lambda p: pd.Series([p.a * p.b, p.a], index=["area", "side"]), AB)
    assert r.outputs == ("area", "side")
    np.testing.assert_array_equal(r.jacobian, [[3, 2], [1, 0]])
    r = ds.function(lambda p: pd.DataFrame({"u": [p.a * p.b, p.a], "v": [p.a, 1.0]}), AB)
    assert r.values.shape == (2, 2) and r.outputs == ("u[0]", "v[0]", "u[1]", "v[1]")
    np.testing.assert_array_equal(r.jacobian, [[[3, 2], [1, 0]], [[1, 0], [0, 0]]])


def test_a_model_of_an_array():
    r = ds.function(lambda x: x[0] ** x[1], [2.0, 3.0], names=["a", "b"], order=2)
    np.testing.assert_allclose(r.jacobian, [12.0, 8 * math.log(2)], rtol=1e-15)
    L = math.log(2)
    np.testing.assert_allclose(r.hessian, [[12.0, 4 + 12 * L], [4 + 12 * L, 8 * L**2]], rtol=1e-14)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_first_and_second_derivatives_against_sympy(mode):
    a, b, c = symbols = sp.symbols("a b c")
    f = [sp.sin(a * b) / c, sp.exp(-a) * sp.log(b + c**2), (a + b) ** c]
    at = dict(zip(symbols, (0.7, 1.3, 2.1), strict=True))
    r = ds.function(
        lambda p: np.array(
            [np.sin(p.a * p.b) / p.c, np.exp(-p.a) * np.log(p.b + p.c**2), (p.a + p.b) ** p.c]
        ),
        {str(s): v for s, v in at.items()}, order=2, mode=mode,
    )  # fmt: skip
    J = sp.Matrix(f).jacobian(symbols).subs(at).evalf(20)
    np.testing.assert_allclose(r.jacobian, np.array(J, float), rtol=1e-13)
    H = [np.array(sp.hessian(g, symbols).subs(at).evalf(20), float) for g in f]
    np.testing.assert_allclose(r.hessian, H, rtol=1e-12)


def test_outputs_are_chosen_or_named():
    def model(p):
        return {"u": p.a, "v": p.b * np.arange(2.0)}

    assert ds.function(model, AB, outputs=["v"]).outputs == ("v[0]", "v[1]")
    r = ds.function(model, AB, outputs=["v[1]", "u"])
    np.testing.assert_array_equal(r.values, [3.0, 2.0])
    r = ds.function(lambda p: np.stack([p.a, p.b]), AB, outputs=["first", "second"])
    assert r.outputs == ("first", "second")
    with pytest.raises(ParameterError, match="no output 'w'"):
        ds.function(model, AB, outputs=["w"])
    with pytest.raises(ParameterError, match="did you mean 'velocity'"):
        ds.function(lambda p: {"velocity": p.a, "x": p.b}, AB, outputs=["velocty"])
    with pytest.raises(ParameterError, match="'u' is asked for twice"):
        ds.function(model, AB, outputs=["u", "u"])
    with pytest.raises(ParameterError, match="must be a string"):
        ds.function(lambda p: np.stack([p.a, p.b]), AB, outputs=[1, 2])


def test_a_column_does_not_depend_on_what_else_is_asked_for():
    def model(p):
        return np.array([np.exp(p.a * p.b) - p.c, np.hypot(p.a, p.c), p.b / p.c])

    whole = ds.function(model, {**AB, "c": 0.3})
    for wrt in (["a"], ["c", "a"], ["b", "c"]):
        part = ds.function(model, {**AB, "c": 0.3}, wrt=wrt)
        at = [whole.parameters.names.index(n) for n in wrt]
        np.testing.assert_array_equal(part.jacobian, whole.jacobian[:, at])


def test_a_parameter_that_is_zero_has_its_derivative():
    r = ds.function(lambda p: [p.a * p.b + np.sin(p.a), p.b], {"a": 0.0, "b": 3.0})
    np.testing.assert_array_equal(r.jacobian, [[4.0, 0.0], [0.0, 1.0]])


def test_fixed_parameters_are_not_differentiated_by():
    r = ds.function(lambda p: p.a * p.b, {"a": 2.0, "b": Parameter(3.0, fixed=True)})
    assert r.parameters.names == ("a",) and r.jacobian == [3.0]


def test_units_of_outputs_and_groups():
    r = ds.function(
        lambda p: {"u": p.a, "v": p.b * np.ones(2)},
        {"a": Parameter(1.0, unit="m"), "b": Parameter(1.0, unit="s")}, units={"u": "V", "v": "A"},
    )  # fmt: skip
    assert r.units("v[1]") == "A" and r.units("u", "a") == "V/m" and r.units("v[0]", "b") == "A/s"
    assert ds.function(lambda p: p.a, {"a": 1.0}, units="V").units("y") == "V"


def test_further_arguments():
    r = ds.function(lambda p, x, n: p.a * x**n, {"a": 2.0}, args=(np.array([1.0, 3.0]), 2))
    np.testing.assert_array_equal(r.jacobian[:, 0], [1.0, 9.0])


def test_a_pattern_of_zeros_saves_directions_and_changes_nothing():
    calls = []

    def model(p):
        calls.append(1)
        return np.stack([p.a * p.b, p.b**2, p.c, p.d * p.c])

    params = {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0}
    pattern = [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]
    full = ds.function(model, params)
    thin = ds.function(model, params, sparsity=pattern)
    np.testing.assert_array_equal(thin.jacobian, full.jacobian)
    sparse = pytest.importorskip("scipy.sparse")
    thin = ds.function(model, params, sparsity=sparse.csr_matrix(pattern))
    np.testing.assert_array_equal(thin.jacobian, full.jacobian)
    with pytest.raises(SensitivityError, match="output 3 depends on parameters"):
        ds.function(model, params, sparsity=np.array(pattern) * [[1], [1], [1], [0]])
    with pytest.raises(SensitivityError, match="one column for each of a, b, c, d"):
        ds.function(model, params, sparsity=np.ones((4, 3)))
    with pytest.raises(SensitivityError, match="one row for each of the 4"):
        ds.function(model, params, sparsity=np.ones((3, 4)))


def test_an_unused_parameter_has_exact_zeros_and_a_warning():
    with pytest.warns(ds.SensitivityWarning, match="unused does not enter the model"):
        r = ds.function(lambda p: p.a**2, {"a": 2.0, "unused": 1.0})
    assert r.jacobian[1] == 0.0 and r.warnings
    with pytest.warns(ds.SensitivityWarning, match="b, c do not enter"):
        ds.function(lambda p: p.a**2, {"a": 2.0, "b": 1.0, "c": 1.0})


def quadratic(p):
    return p.a**2 + p.b


def test_a_result_computes_itself_again_also_after_pickling():
    r = pickle.loads(pickle.dumps(ds.function(quadratic, AB)))
    assert r.again(np.array([3.0, 1.0])) == 10.0


# --- what is wrong with a model


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (lambda p: math.exp(p.a), r"line \d+ of .*float\(x\) would drop the derivative"),
        (lambda p: float(p.a), "would drop the derivative"),
        (lambda p: np.linalg.solve(np.array([[p.a, 1.0], [0.0, p.b]]), np.ones(2)), "np.stack"),
        (lambda p: np.asarray([p.a], dtype=float), "derivative|traced"),
        (lambda p: p.c, "no parameter 'c': there is a, b"),
        (lambda p: p["c"], "KeyError: there is no parameter 'c'"),
        (lambda p: 1 / 0, "ZeroDivisionError"),
        (lambda p: None, "None"),
        (lambda p: "text", "str"),
        (lambda p: {}, "returned no output"),
        (lambda p: {1: p.a}, "a name must be a string"),
        (lambda p: {"x": None}, "output 'x'"),
        (lambda p: {"x": [p.a, [p.a]]}, "output 'x'"),
        (lambda p: 1j * p.a, "complex128.*real and its imaginary"),
        (lambda p: p.a > 1, "bool"),
        (lambda p: np.log(-p.a), "not finite for y; parameters: a = 2, b = 3"),
        (lambda p: p.a * np.inf, "not finite for y"),
        (lambda p: {"u": p.a, "v": p.b * np.nan}, "not finite for v"),
        (lambda p: np.sqrt(p.a - 2.0), "derivative of y by a is inf"),
        (lambda p: p.a * np.random.default_rng().normal(), "two results.*random"),
    ],
)
def test_a_bad_model_is_an_error_that_says_why(model, says):
    with pytest.raises(ModelError, match=says), np.errstate(all="ignore"):
        ds.function(model, AB)


def test_storing_into_a_plain_buffer_is_no_silent_zero():
    def model(p):
        out = np.zeros(2)
        out[0] = p.a
        return out

    with pytest.raises(ModelError, match=r"out\[0\] = p.a.*would drop the derivative"):
        ds.function(model, {"a": 2.0})


def test_a_model_cannot_set_its_parameters():
    def model(p):
        p.a = 1.0
        return p.a

    with pytest.raises(ModelError, match="not set"):
        ds.function(model, AB)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"wrt": []}, ParameterError, "wrt is empty"),
        ({"wrt": ["q"]}, ParameterError, "no parameter 'q'"),
        ({"wrt": ["a", "a"]}, ParameterError, "the parameter 'a' is asked for twice"),
        ({"order": 3}, SensitivityError, "order must be 1 or 2"),
        ({"mode": "both"}, SensitivityError, "mode must be"),
    ],
)
def test_bad_questions(options, error, says):
    with pytest.raises(error, match=says):
        ds.function(lambda p: p.a * p.b, AB, **options)


@pytest.mark.parametrize("params", [[1.0, 2.0], np.array([1, 2]), 3.0])
def test_parameters_without_names(params):
    with pytest.raises(ParameterError, match="names"):
        ds.function(lambda x: x[0], params)


@pytest.mark.parametrize("params", [np.array([1, 2]), [1.0], np.ones((2, 1)), [1j, 2.0]])
def test_arrays_of_parameters_that_are_none(params):
    with pytest.raises(ParameterError, match="array of 2 floats"):
        ds.function(lambda x: x[0], params, names=["a", "b"])


def test_a_model_that_returns_a_result_gives_that():
    inner = ds.function(lambda p: p.a**3, {"a": 2.0})
    assert ds.function(lambda p: inner, AB) is inner


@pytest.mark.parametrize("returned", [None, {"a": None}])
def test_a_model_without_a_return_statement(returned):
    with pytest.raises(ds.ModelError, match="is None: is a return statement missing"):
        ds.function(lambda p: returned, {"k": 1.0})
