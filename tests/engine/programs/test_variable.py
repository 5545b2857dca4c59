"""Linear variables: what may be done to a tangent without a value, and what is an error."""

import numpy as np
import pytest

import dualad
from dualad.engine.levels.spec import Spec
from dualad.engine.programs.linear import trace_linear
from dualad.errors import LinearityError

F64 = np.dtype(float)
A = np.array([[1.0, 2.0, 0.5], [-1.0, 0.0, 3.0]])
x0 = np.array([0.3, -0.7, 1.1])


def program_of(f, *shapes, out=(3,)):
    return trace_linear(
        lambda *t: (f(*t),), [Spec(s, F64) for s in shapes or [(3,)]], [Spec(out, F64)], "rule"
    )


NOT_LINEAR = {
    "constant plus tangent": (lambda t: t + 1.0, "add"),
    "tangent minus constant": (lambda t: t - x0, "subtract"),
    "constant minus tangent": (lambda t: 2 - t, "subtract"),
    "product of two tangents": (lambda t: t * t, "multiply"),
    "division by a tangent": (lambda t: 1.0 / t, "divide"),
    "quotient of two tangents": (lambda t: t / t, "divide"),
    "power": (lambda t: t**2, "power"),
    "sine": (lambda t: np.sin(t), "sin"),
    "square root": (lambda t: np.sqrt(t), "sqrt"),
    "absolute value": (lambda t: abs(t), "absolute"),
    "maximum": (lambda t: np.maximum(t, 0.0), "maximum"),
    "matrix product of two": (lambda t: t @ t * x0, "matmul"),
    "comparison": (lambda t: np.where(t > 0, t, 0 * t), "greater"),
    "isnan": (lambda t: np.where(np.isnan(t), 0 * t, t), "isnan"),
    "sort": (lambda t: np.sort(t), "sort"),
    "concatenated with a constant": (lambda t: np.concatenate([t[:2], np.ones(1)]), "concatenate"),
    "selected from a constant": (lambda t: np.where(x0 > 0, t, 1.0), "where"),
    "product over entries": (lambda t: np.prod(t) * x0, "prod"),
}


@pytest.mark.parametrize("f, operation", NOT_LINEAR.values(), ids=NOT_LINEAR)
def test_what_is_not_linear_is_an_error_that_names_the_operation(f, operation):
    with pytest.raises(
        LinearityError, match=rf"not linear.*\b{operation}\b|\b{operation}\b.*not linear"
    ):
        program_of(f)


CONVERSIONS = {
    "bool": lambda t: t if t[0] else -t,
    "float": lambda t: t * float(t[0]),
    "int": lambda t: t * int(t[0]),
    "item": lambda t: t * t[0].item(),
    "index": lambda t: x0[t[0]] * t,
    "asarray": lambda t: np.asarray(t),
    "math": lambda t: t * __import__("math").sin(t[0]),
    "format of a number": lambda t: t * float(f"{t[0]:.3f}"),
}


@pytest.mark.parametrize("f", CONVERSIONS.values(), ids=CONVERSIONS)
def test_a_tangent_has_no_value_to_ask_for(f):
    with pytest.raises((LinearityError, TypeError, ValueError, IndexError)):
        program_of(f)


def test_a_constant_result_is_not_linear():
    with pytest.raises(LinearityError, match="constant that is not zero"):
        program_of(lambda t: x0)


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, np.zeros(3), 0 * x0, np.float64(0)])
def test_a_constant_that_is_exactly_zero_is_accepted(zero):
    program = program_of(lambda t: zero + t * x0)
    np.testing.assert_array_equal(program(np.ones(3))[0], x0)
    np.testing.assert_array_equal(program_of(lambda t: zero)(np.ones(3))[0], np.zeros(3))


def test_accumulating_from_zero_is_linear():
    """out = 0 * a; out += da * b: as custom rules are often written."""

    def rule(t):
        out = 0 * x0
        for k in range(3):
            out = out + t * k
        return out

    np.testing.assert_array_equal(program_of(rule)(x0)[0], 3 * x0)


def test_writing_into_a_fresh_buffer_is_recorded():
    def rule(t):
        out = np.zeros_like(t)
        out[0] = t[2] * 2.0
        out[1:] = t[:2]
        return out

    program = program_of(rule)
    np.testing.assert_array_equal(program(x0)[0], [2.2, 0.3, -0.7])
    np.testing.assert_array_equal(
        program.transpose()(np.array([1.0, 10.0, 100.0]))[0], [10, 100, 2]
    )


def test_decisions_by_the_primal_are_free():
    program = program_of(lambda t: np.where(x0 > 0, t * x0, -t) if x0[0] > 0 else t)
    np.testing.assert_allclose(program(np.ones(3))[0], [0.3, -1.0, 1.1])


def test_the_rule_of_a_custom_jvp_is_checked_when_it_is_transposed():
    @dualad.custom_jvp
    def wrong(x):
        return x**2

    @wrong.defjvp
    def rule(primals, tangents):
        return primals[0] ** 2, tangents[0] * tangents[0]

    assert dualad.jvp(wrong, (3.0,), (2.0,))[1] == 4.0  # forward mode cannot know
    with pytest.raises(LinearityError, match="multiply"):
        dualad.grad(wrong)(3.0)


def test_linear_transpose_refuses_a_nonlinear_function():
    with pytest.raises(LinearityError, match="exp"):
        dualad.linear_transpose(np.exp, x0)(x0)
    with pytest.raises(LinearityError, match="add"):
        dualad.linear_transpose(lambda x: A @ x + 1.0, x0)(np.ones(2))
