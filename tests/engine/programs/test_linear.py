"""Linear programs: what they are, applied, transposed and printed."""

import numpy as np
import pytest

import dualad
from dualad.engine.levels.spec import Spec
from dualad.engine.programs.linear import LinearProgram, trace_linear

F64 = np.dtype(float)
A = np.array([[1.0, 2.0, 0.5], [-1.0, 0.0, 3.0]])
x0 = np.array([0.3, -0.7, 1.1])


def program_of(f, *shapes, out=(3,)):
    return trace_linear(
        lambda *t: (f(*t),), [Spec(s, F64) for s in shapes or [(3,)]], [Spec(out, F64)], "rule"
    )


LINEAR = {
    "matrix": (lambda t: A @ t, (2,)),
    "index and scale": (lambda t: t[::-1] * x0 - t, (3,)),
    "broadcast and sum": (lambda t: np.sum(t * A, axis=1), (2,)),
    "outer": (lambda t: t[:, None] * x0, (3, 3)),
    "repeated index": (lambda t: t[np.array([2, 0, 2])] / 3.0, (3,)),
    "stack": (lambda t: np.stack([t, -t, 0 * t]), (3, 3)),
    "where": (lambda t: np.where(x0 > 0, t, -2 * t), (3,)),
    "cumulative": (lambda t: np.cumsum(t)[1:], (2,)),
    "zero": (lambda t: 0 * t, (3,)),
    "identity": (lambda t: t, (3,)),
}


def matrix_of(apply, n):
    return np.stack([np.ravel(apply(e)) for e in np.eye(n)], axis=1)


@pytest.mark.parametrize("f, shape", LINEAR.values(), ids=LINEAR)
def test_program_transpose_and_source_are_one_matrix(f, shape):
    program = program_of(f, out=shape)
    matrix = matrix_of(f, 3)
    np.testing.assert_allclose(matrix_of(lambda t: program(t)[0], 3), matrix)
    back = program.transpose()
    n = int(np.prod(shape))
    np.testing.assert_allclose(matrix_of(lambda w: back(w.reshape(shape))[0], n), matrix.T)
    np.testing.assert_allclose(
        matrix_of(lambda w: program.pull([w.reshape(shape)])[0] if n else w, n), matrix.T
    )
    again = back.transpose()
    np.testing.assert_allclose(matrix_of(lambda t: again(t)[0], 3), matrix)
    for p, m, size in ((program, matrix, (3,)), (back, matrix.T, shape)):
        scope = {"constants": p.constants()}
        exec(p.source("linear"), scope)
        ran = matrix_of(lambda t: scope["linear"](t.reshape(size))[0], m.shape[1])
        np.testing.assert_allclose(ran, m)
        np.testing.assert_allclose(
            matrix_of(lambda t: p.function()(t.reshape(size))[0], m.shape[1]), m
        )


def test_source_with_transpose_is_the_source_of_the_transpose():
    program = program_of(lambda t: A @ t, out=(2,))
    assert program.source(transpose=True) == program.transpose().source()


def test_specs_of_inputs_and_outputs_swap_under_transposition():
    program = program_of(lambda s: A @ s, out=(2,))
    back = program.transpose()
    assert [s.shape for s in program.inputs] == [s.shape for s in back.outputs] == [(3,)]
    assert [s.shape for s in program.outputs] == [s.shape for s in back.inputs] == [(2,)]


def test_several_inputs_and_outputs():
    program = trace_linear(
        lambda s, t: (s + A.T @ t, None, t * 2.0),
        [Spec((3,), F64), Spec((2,), F64)],
        [Spec((3,), F64), Spec((4,), F64), Spec((2,), F64)],
    )
    s, t = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0])
    out = program(s, t)
    np.testing.assert_allclose(out[0], s + A.T @ t)
    np.testing.assert_array_equal(out[1], np.zeros(4))
    np.testing.assert_allclose(out[2], 2 * t)
    u, v, w = np.ones(3), np.ones(4), np.array([1.0, 10.0])
    pulled = program.transpose()(u, v, w)
    np.testing.assert_allclose(pulled[0], u)
    np.testing.assert_allclose(pulled[1], A @ u + 2 * w)


def test_what_no_output_needs_is_dropped():
    def rule(t):
        np.cumsum(t * 5.0)[::-1]
        return t * 2.0

    assert len(program_of(rule)) == 1


def test_a_program_is_checked_when_it_is_called():
    program = program_of(lambda t: A @ t, out=(2,))
    with pytest.raises(TypeError, match="expected 1 tangents, got 2"):
        program(x0, x0)
    with pytest.raises(ValueError, match=r"tangent 0 has shape \(2,\), it should be \(3,\)"):
        program(np.ones(2))


def test_a_program_prints_as_numpy():
    text = repr(program_of(lambda t: np.where(x0 > 0, t * 2.0, 0 * t)))
    assert "def linear(t0):" in text and "t0 * 2.0" in text and text.startswith("import numpy")


def test_large_constants_are_read_by_name():
    big = np.arange(100.0)
    program = trace_linear(lambda t: (t * big,), [Spec((100,), F64)], [Spec((100,), F64)])
    assert list(program.constants()) == ["c0"]
    np.testing.assert_array_equal(program.function()(np.ones(100))[0], big)


def test_values_that_print_badly():
    """NaN, infinities, float32 and integer constants survive the way through text."""
    odd = np.array([np.inf, -np.inf, np.nan])
    for c in (odd, np.float32([0.1, 0.2, 0.3]), np.array([1, 2, 3]), np.float32(0.1), True, 3):
        program = program_of(lambda t: t * c)
        expected = program(np.ones(3))[0]
        found = program.function()(np.ones(3))[0]
        np.testing.assert_array_equal(found, expected)
    program = trace_linear(lambda t: (t * (1 - 2j),), [Spec((), complex)], [Spec((), complex)])
    assert program.function()(np.complex128(1j))[0] == (1 - 2j) * 1j


# --- from functions --------------------------------------------------------------------------


def test_the_program_of_a_function_is_its_jacobian():
    f = lambda x: np.array([np.sin(x[0]) * x[1], x[2] ** 2, x[0] / x[2]])
    _, f_lin = dualad.linearize(f, x0)
    assert isinstance(f_lin.program, LinearProgram)
    jacobian = dualad.jacfwd(f)(x0)
    np.testing.assert_allclose(matrix_of(lambda t: f_lin.program(t)[0], 3), jacobian)
    np.testing.assert_allclose(matrix_of(lambda w: f_lin.program.transpose()(w)[0], 3), jacobian.T)


def test_a_program_does_not_run_the_function_again():
    calls = []
    _, f_lin = dualad.linearize(lambda x: (calls.append(1), np.sin(x))[1], x0)
    f_lin(x0), f_lin.program(x0), f_lin.program.transpose()(x0)
    assert len(calls) == 1


def test_a_zero_tangent_wins_over_an_infinite_coefficient():
    _, f_lin = dualad.linearize(np.sqrt, np.array([0.0, 4.0]))
    np.testing.assert_array_equal(f_lin(np.array([0.0, 1.0])), [0.0, 0.25])
    np.testing.assert_array_equal(f_lin.program(np.array([0.0, 1.0]))[0], [0.0, 0.25])
    np.testing.assert_array_equal(f_lin.program.pull([np.array([0.0, 1.0])])[0], [0.0, 0.25])


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128, np.longdouble])
def test_the_adjoint_in_other_dtypes(dtype):
    rng = np.random.default_rng(3)
    m = rng.normal(size=(2, 3)) + (
        1j * rng.normal(size=(2, 3)) if np.dtype(dtype).kind == "c" else 0
    )
    spec = [Spec((3,), np.dtype(dtype))], [Spec((2,), np.dtype(dtype))]
    program = trace_linear(lambda t: (m @ t,), *spec)
    v = (rng.normal(size=3) + (1j if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    w = (rng.normal(size=2) - (2j if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    (jv,), (jtw,) = program(v), program.transpose()(w)
    assert jv.dtype == jtw.dtype == np.dtype(dtype)
    np.testing.assert_allclose(np.vdot(w, jv).real, np.vdot(jtw, v).real, rtol=1e-5)
