"""`root`: closed forms, the coupled Sellar problem, conserved totals, and what it refuses."""

import numpy as np
import pytest
import sympy

from dualad import sensitivity as ds
from dualad.errors import LostDerivativeError


def close(value, exact, rtol=1e-10, atol=1e-13):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


def square_root(x, p):
    return x**2 - p.a


# --- values and derivatives


def test_the_square_root_to_second_order():
    """x = a^(1/2): x' = 1/(2x), x'' = -1/(4 x^3)."""
    r = ds.root(square_root, 1.0, {"a": 2.0}, order=2)
    x = np.sqrt(2.0)
    assert r.values.shape == () and r.outputs == ("x",)
    close(r.values, x, rtol=1e-15)
    close(r.jacobian, [0.5 / x])
    close(r.hessian, [[-0.25 / x**3]])


def test_keplers_equation():
    """E - e sin E = M: dE/dM = 1/(1 - e cos E), dE/de = sin E/(1 - e cos E)."""
    r = ds.root(lambda x, p: x - p.e * np.sin(x) - p.M, 1.0, {"M": 1.1, "e": 0.6})
    E = float(r.values)
    close(E - 0.6 * np.sin(E), 1.1)
    close(r.jacobian, np.array([1.0, np.sin(E)]) / (1 - 0.6 * np.cos(E)))


def test_second_derivatives_of_a_system_by_sympy():
    """x y = a, x + y = b: x, y = (b +- sqrt(b^2 - 4a))/2."""

    def residual(x, p):
        return np.stack([x[0] * x[1] - p.a, x[0] + x[1] - p.b])

    r = ds.root(
        residual, {"x": 3.0, "y": 1.0}, {"a": 2.0, "b": 4.0}, order=2,
        outputs={"ratio": lambda x, p: p.a * x[0] / x[1]},
    )  # fmt: skip
    a, b = sympy.symbols("a b")
    root = sympy.sqrt(b**2 - 4 * a)
    x, y = (b + root) / 2, (b - root) / 2
    at = {a: 2, b: 4}
    for i, exact in enumerate([x, y, a * x / y]):
        close(r.values[i], float(exact.subs(at)))
        close(r.jacobian[i], [float(exact.diff(v).subs(at)) for v in (a, b)])
        for j, v in enumerate((a, b)):
            close(r.hessian[i, j], [float(exact.diff(v, w).subs(at)) for w in (a, b)])
    assert r.outputs == ("x", "y", "ratio")


def test_an_unknown_with_the_shape_of_a_matrix():
    """X X = A for a diagonal A: X_ii = sqrt(a_i), and the rest is zero."""
    r = ds.root(
        lambda x, p: x @ x - np.diag(np.stack([p.a, p.b])), np.eye(2) + 0.1, {"a": 4.0, "b": 9.0}
    )
    assert r.values.shape == (2, 2) and r.outputs[1] == "x[0,1]"
    close(r.values, np.diag([2.0, 3.0]), atol=1e-12)
    close(r.jacobian[0, 0], [0.25, 0.0], atol=1e-12)
    close(r.jacobian[1, 1], [0.0, 1 / 6], atol=1e-12)


SELLAR = {
    "y1": 25.58830273, "y2": 12.05848819,
    "obj": (2.98061391, 9.61001056, 1.78448534), "con1": (-0.98061448, -9.61002186, -0.78449158),
}  # fmt: skip


def test_the_coupled_sellar_problem():
    """The figures that OpenMDAO prints, with derivatives by x, z1, z2."""

    def residual(y, p):
        return np.stack(
            [
                p.z1**2 + p.z2 + p.x - 0.2 * y[1] - y[0],
                np.sqrt(y[0]) + p.z1 + p.z2 - y[1],
            ]
        )

    outputs = {
        "obj": lambda y, p: p.x**2 + p.z2 + y[0] + np.exp(-y[1]),
        "con1": lambda y, p: 3.16 - y[0],
        "con2": lambda y, p: y[1] - 24,
    }
    r = ds.root(
        residual, {"y1": 1.0, "y2": 1.0}, {"x": 1.0, "z1": 5.0, "z2": 2.0}, outputs=outputs
    )
    for name in ("y1", "y2"):
        close(r.column(name), SELLAR[name], rtol=5e-8)
    for name in ("obj", "con1"):
        close([r.column(name, p) for p in ("x", "z1", "z2")], SELLAR[name], rtol=2e-8)
    close(r.jacobian[4], r.jacobian[1], rtol=1e-15)


def test_a_subset_of_parameters_gives_the_same_columns():
    p = {"M": 1.1, "e": 0.6}
    f = lambda x, p: x - p.e * np.sin(x) - p.M
    both = ds.root(f, 1.0, p).jacobian
    for j, name in enumerate(p):
        assert ds.root(f, 1.0, p, wrt=[name]).jacobian[0] == both[j]


def test_a_fixed_parameter_is_left_out():
    p = ds.Parameters({"a": 2.0, "b": ds.Parameter(1.0, fixed=True)})
    assert ds.root(lambda x, p: x**2 - p.a * p.b, 1.0, p).parameters.names == ("a",)


def test_the_scale_of_unknowns_does_not_matter():
    """x^2 = a over sixty decades, as a system with an unknown of size 1."""
    for a in (1e-30, 1e-6, 1e30):
        r = ds.root(
            lambda x, p: np.stack([x[0] ** 2 - p.a, x[1] - 1.0]), [2 * a**0.5, 0.5], {"a": a}
        )
        close(r.values, [a**0.5, 1.0])
        close(r.jacobian[0], 0.5 * a**-0.5)


def test_a_root_at_zero():
    r = ds.root(lambda x, p: np.sin(x - p.a), 0.1, {"a": 0.0})
    assert r.values == 0.0 and r.jacobian == 1.0


def test_the_result_can_be_checked_by_differences():
    r = ds.root(lambda x, p: x - p.e * np.sin(x) - p.M, 1.0, {"M": 1.1, "e": 0.6})
    close(r.again(np.array([0.5, 0.0])), 0.5)


# --- conserved totals


def cycle(x, p):
    v = p.k * x[0] - p.m * x[1]
    return np.stack([-v, v])


def exact_cycle(k, m, total):
    """A = m T/(k + m), B = k T/(k + m), and their derivatives by k and m."""
    s = (k + m) ** 2
    return [m * total / (k + m), k * total / (k + m)], [
        [-m * total / s, k * total / s],
        [m * total / s, -k * total / s],
    ]


@pytest.mark.parametrize(
    "conserved",
    [
        {"total": {"A": 1, "B": 1}},
        {"total": [1.0, 1.0]},
        {"total": lambda x, p: x[0] + x[1]},
        {"a nonlinear one": lambda x, p: np.exp(x[0] + x[1])},
        [[2.0, 2.0]],
    ],
)
def test_a_declared_total_keeps_its_value_at_the_start(conserved):
    r = ds.root(cycle, {"A": 3.0, "B": 0.5}, {"k": 1.0, "m": 2.0}, conserved=conserved)
    values, jacobian = exact_cycle(1.0, 2.0, 3.5)
    close(r.values, values)
    close(r.jacobian, jacobian)


def test_a_total_that_depends_on_a_parameter():
    """x0(p) = (T, 0): dA/dT = m/(k + m)."""
    r = ds.root(
        cycle, lambda p: {"A": p.T, "B": 0.0}, {"k": 1.0, "m": 2.0, "T": 3.0},
        conserved={"total": {"A": 1, "B": 1}}, order=2,
    )  # fmt: skip
    close(r.column("A", "T"), 2 / 3)
    close(r.column("B", "T"), 1 / 3)
    close(r.hessian[0, 2], [-2 / 9, 1 / 9, 0.0])  # of m T/(k + m): -m/s, k/s, 0


# --- what is refused


@pytest.mark.parametrize(
    ("residual", "x0", "sentence"),
    [
        (cycle, {"A": 1.0, "B": 0.0}, r"singular.*\(A \+ 0.5 B\).*conserved="),
        (lambda x, p: x**2 + p.k, 1.0, "no solution of the residual was found: x is"),
        (lambda x, p: (x - p.k) ** 2, 0.5, "singular.*multiple root or a fold"),
        (lambda x, p: x**2 + 0.0 * p.k, 0.5, "singular"),
        (lambda x, p: np.log(x - p.k), 0.5, "not finite for x.*at x = 0.5; parameters: k = 1"),
        (lambda x, p: x[:1] - p.k, [1.0, 2.0], r"shape \(1,\).*one equation for each.*x1, x2"),
        (lambda x, p: None, 1.0, "returned None: is a return statement missing"),
        (lambda x, p: 1j * x, 1.0, "complex128, not real"),
        (lambda x, p: p.q * x, 1.0, "there is no parameter 'q'"),
        (lambda x, p: x - p.k, [np.nan], "x0 is not finite for x1"),
        (lambda x, p: x - p.k, [], "x0 must hold real numbers"),
        (lambda x, p: x - p.k, "abc", "x0"),
        (1.0, 1.0, "the residual must be a function"),
    ],
)
def test_what_has_no_answer_is_an_error(residual, x0, sentence):
    with np.errstate(all="ignore"), pytest.raises(ds.ModelError, match=f"(?s){sentence}"):
        ds.root(residual, x0, {"k": 1.0, "m": 2.0}, wrt=["k"])


def test_a_multiple_root_among_simple_equations_is_found_out():
    """(x - y)^2 = 0, y = a: at the solution F_x is zero in its first row."""
    f = lambda x, p: np.stack([(x[0] - x[1]) ** 2, x[1] - p.a])
    with pytest.raises(ds.ModelError, match="singular"):
        ds.root(f, [1.0, 1.2], {"a": 2.0})


def test_a_dropped_derivative_names_the_line():
    def residual(x, p):
        return x * float(x) - p.a

    with pytest.raises(ds.ModelError, match=r"float\(x\) would drop") as info:
        ds.root(residual, 1.0, {"a": 2.0})
    assert "return x * float(x) - p.a" in str(info.value)
    assert isinstance(info.value.__cause__, LostDerivativeError)


def test_several_roots_are_told_where_the_starts_are_given():
    with pytest.raises(ds.ModelError, match=r"several roots.*1.41421.*-1.41421"):
        ds.root(square_root, 1.0, {"a": 2.0}, starts=[0.5, -1.0])
    assert ds.root(square_root, 1.0, {"a": 2.0}, starts=[0.5, 3.0]).values > 0


def test_a_residual_that_writes_or_remembers_is_refused():
    def writes(x, p):
        x[0] = 0.0
        return x - p.a

    counter = iter(range(100))
    with pytest.raises(ds.ModelError, match="writes into the unknowns"):
        ds.root(writes, [1.0], {"a": 2.0})
    with pytest.raises(ds.ModelError, match="two results"):
        ds.root(lambda x, p: x - p.a + next(counter), 1.0, {"a": 2.0})


def test_names_that_are_not_known():
    with pytest.raises(ds.ParameterError, match="no parameter 'b'"):
        ds.root(square_root, 1.0, {"a": 2.0}, wrt=["b"])
    with pytest.raises(ds.ParameterError, match=r"no unknown 'C'.*A, B"):
        ds.root(cycle, {"A": 1.0, "B": 0.0}, {"k": 1.0, "m": 1.0}, conserved={"T": {"C": 1}})
    with pytest.raises(ds.ModelError, match=r"weights of shape \(3,\)"):
        ds.root(cycle, {"A": 1.0, "B": 0.0}, {"k": 1.0, "m": 1.0}, conserved={"T": [1, 1, 1]})
    with pytest.raises(ds.SensitivityError, match="order must be 1 or 2"):
        ds.root(square_root, 1.0, {"a": 2.0}, order=3)
    with pytest.raises(ds.SensitivityError, match="method 'magic' is refused"):
        ds.root(square_root, 1.0, {"a": 2.0}, method="magic")
    with pytest.raises(ds.SensitivityError, match="tol must be positive"):
        ds.root(square_root, 1.0, {"a": 2.0}, tol=0.0)
    with pytest.raises(ds.SensitivityError, match="has the name of an unknown"):
        ds.root(square_root, 1.0, {"a": 2.0}, outputs={"x": square_root})


def test_an_output_that_is_not_finite_is_named():
    with np.errstate(all="ignore"), pytest.raises(ds.ModelError, match="output 'log' is not fin"):
        ds.root(square_root, 1.0, {"a": 2.0}, outputs={"log": lambda x, p: np.log(-x)})


def test_a_parameter_without_effect_gives_zeros_and_a_warning():
    with pytest.warns(ds.SensitivityWarning, match="b does not enter the model"):
        r = ds.root(square_root, 1.0, {"a": 2.0, "b": 1.0})
    assert r.jacobian[1] == 0.0 and r.warnings


def test_a_search_that_goes_astray_is_an_error_and_no_overflow():
    """Warnings are errors here: one of NumPy's came out of the polishing."""
    with pytest.raises(ds.ModelError, match="no solution"):
        ds.root(lambda v, p: v**2 - 2.0 * p.lam * np.cosh(v / 2.0) ** 2, 1.5, {"lam": 1.0})
