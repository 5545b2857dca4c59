"""detect_anomaly: which operation a failure of backward belongs to, and where it was called."""

import threading
import warnings

import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function, detect_anomaly, grad, set_detect_anomaly

HERE = "test_anomaly.py"


class Failing(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        raise KeyError("no rule")


class Broken(Function):
    """The gradient of its second argument is not a number."""

    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, g):
        return g, g * float("nan")


@pytest.fixture
def watched():
    """Anomaly detection, without the warning that it is on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        context = detect_anomaly()
    with context:
        yield


def failing(x):
    return Failing.apply(x)


def test_an_error_of_a_rule_shows_the_forward_call(watched):
    y = failing(t(1.0, True))
    with pytest.warns(UserWarning, match="Error detected in FailingBackward") as caught:
        with pytest.raises(KeyError, match="no rule"):
            y.backward()
    text = str(caught[0].message)
    assert "Traceback of forward call" in text and HERE in text and "in failing" in text
    assert "dualad/autograd" not in text


def test_without_a_watched_forward_call_it_says_so():
    y = failing(t(1.0, True))
    with pytest.warns(UserWarning) as caught, detect_anomaly():
        with pytest.raises(KeyError):
            y.backward()
    assert "makes programs slower" in str(caught[0].message)
    assert "No forward pass information" in str(caught[1].message)


def test_a_nan_is_an_error_that_names_the_operation_and_the_line(watched):
    x, y = t([1.0, 2.0], True), t([1.0, 2.0], True)
    z = Broken.apply(x, y)
    with pytest.warns(UserWarning, match="BrokenBackward"):
        with pytest.raises(RuntimeError, match="'BrokenBackward' returned nan values in its 1th"):
            z.sum().backward()
    with pytest.warns(UserWarning), pytest.raises(FloatingPointError) as caught:
        grad((x * float("nan")).sum(), x)
    assert (caught.value.operation, caught.value.part) == ("multiply", "cotangent")
    assert caught.value.filename.endswith(HERE) and caught.value.lineno > 0


def test_only_nan_counts_and_only_if_asked(watched):
    x = t(0.0, True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        y = x.log()
    y.backward()
    assert x.grad.item() == float("inf")
    x = t(1.0, True)
    with set_detect_anomaly(True, check_nan=False):
        Broken.apply(t(0.0), x).backward()
    assert x.grad.isnan().item()


def test_where_zero_meets_infinity_zero_wins_as_ever(watched):
    """where(x > 0, sqrt(x), 0) has the slope 0 at 0: the branch not taken does not count."""
    x = t(0.0, True)
    (grad_x,) = grad(x.sqrt().where(x > 0, 0.0), x)
    same(grad_x, 0.0)


def test_a_write_to_what_was_saved_shows_what_had_saved_it(watched):
    y = t([1.0, 2.0], True) * 1
    z = y * y
    y.add_(1)
    with pytest.warns(UserWarning, match="multiply") as caught:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()
    assert "z = y * y" in str(caught[0].message)


def test_derivatives_are_the_same(watched):
    x, seen = t([1.0, 2.0], True), []
    y = x**3
    y.register_hook(lambda g: seen.append(g.tolist()))
    (first,) = grad((y * y).sum(), x, create_graph=True)
    same(first, [6.0, 192.0])
    same(grad(first.sum(), x)[0], [30.0, 480.0])
    assert seen == [[2.0, 16.0], [6.0, 24.0]]  # 2 y, and 6 x**2 of the gradient 6 x**5


def test_it_is_switched_for_all_threads_and_back():
    seen = []
    with set_detect_anomaly(True):
        assert dualad.is_anomaly_enabled() and dualad.is_anomaly_check_nan_enabled()
        thread = threading.Thread(target=lambda: seen.append(dualad.is_anomaly_enabled()))
        thread.start()
        thread.join()
        with set_detect_anomaly(False):
            assert not dualad.is_anomaly_enabled()
        assert dualad.is_anomaly_enabled()
    assert not dualad.is_anomaly_enabled() and seen == [True]
    set_detect_anomaly(True, check_nan=False)
    try:
        assert dualad.is_anomaly_enabled() and not dualad.is_anomaly_check_nan_enabled()
    finally:
        dualad.set_anomaly_enabled(False)
    assert not dualad.is_anomaly_enabled()


def test_an_error_leaves_it_off():
    with pytest.warns(UserWarning), pytest.raises(KeyError), detect_anomaly():
        raise KeyError
    assert not dualad.is_anomaly_enabled()


def test_a_nan_beside_hooks_is_blamed_on_the_right_operation_by_debug_nans():
    x = t(2.0, True)
    with pytest.raises(FloatingPointError) as caught, dualad.debug_nans():
        y = x * 3
        y.register_hook(lambda g: g)
        Broken.apply(t(1.0), y).backward()
    assert caught.value.operation == "Broken"
