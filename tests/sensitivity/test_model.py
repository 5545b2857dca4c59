"""A right-hand side that is wrong is an error before the integration, and says what it is."""

import numpy as np
import pytest

from dualad.sensitivity import ModelError, Parameters
from dualad.sensitivity.integration.model import Model, state_vector


def tried(rhs, y=(1.0, 2.0), params=None):
    y = np.array(y)
    names = tuple(f"y{i + 1}" for i in range(len(y)))
    Model(rhs, Parameters(params or {"k": 3.0}), names).try_out(0.0, y)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_an_array_a_list_and_a_tuple_are_right(kind):
    tried(lambda t, y, p: kind([p.k * y[0], y[1]]))


def test_a_wrong_shape():
    with pytest.raises(ModelError, match=r"shape \(3,\).*2 states \(y1, y2\).*\(2,\)"):
        tried(lambda t, y, p: np.zeros(3))


def test_a_number_for_a_vector():
    with pytest.raises(ModelError, match=r"shape \(\)"):
        tried(lambda t, y, p: p.k * y[0])


@pytest.mark.parametrize("result", [None, "y", np.array(["a", "b"]), {"y1": 1.0}, [None, None]])
def test_what_is_no_array_of_numbers(result):
    with pytest.raises(ModelError):
        tried(lambda t, y, p: result)


def test_complex_numbers():
    with pytest.raises(ModelError, match="complex128"):
        tried(lambda t, y, p: 1j * y)


def test_a_nan_names_state_time_and_parameters():
    with pytest.raises(ModelError, match=r"not finite for y2 at t = 0; state: y1 = 1.*k = 3") as e:
        tried(lambda t, y, p: np.array([1.0, np.nan]))
    assert e.value.t == 0.0


def test_writing_into_the_state():
    def rhs(t, y, p):
        y[0] = 0.0
        return -y

    with pytest.raises(ModelError, match="writes into the state"):
        tried(rhs)


def test_two_calls_with_two_results():
    calls = []

    def rhs(t, y, p):
        calls.append(t)
        return len(calls) * y

    with pytest.raises(ModelError, match="two results"):
        tried(rhs)


def test_an_exception_of_the_model_comes_with_its_line():
    def rhs(t, y, p):
        return p.missing * y

    with pytest.raises(
        ModelError, match=r"line \d+ of .*p.missing \* y.*no parameter 'missing'"
    ) as e:
        tried(rhs)
    assert isinstance(e.value.__cause__, AttributeError)


def test_a_missing_item_reads_like_a_missing_attribute():
    with pytest.raises(ModelError, match="KeyError: there is no parameter 'q': there is k"):
        tried(lambda t, y, p: p["q"] * y)


def test_a_callable_object_is_a_right_hand_side():
    class Rhs:
        def __call__(self, t, y, p):
            raise ValueError("not today")

    with pytest.raises(ModelError, match=r"Rhs at t = 0.*not today"):
        tried(Rhs())


def test_a_state_vector_comes_from_a_mapping_or_a_list():
    np.testing.assert_array_equal(state_vector({"a": 1.0, "b": 2}), [1.0, 2.0])
    np.testing.assert_array_equal(state_vector([1, 2.5]), [1.0, 2.5])
    for wrong in ([], 1.0, np.zeros((2, 2)), ["a"]):
        with pytest.raises(ModelError, match="y0"):
            state_vector(wrong)
