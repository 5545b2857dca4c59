"""Hooks are called once in a sweep, also in one that meets zero times infinity."""

import numpy as np
import pytest

import dualad


@pytest.mark.parametrize("value, gradient", [(0.0, 0.0), (4.0, 0.25)])
def test_hooks_run_once_and_zero_wins(value, gradient):
    """sqrt has an infinite slope at 0, behind a branch that was not taken."""
    calls = []
    x = dualad.tensor([value], requires_grad=True)
    root = x**0.5
    root.register_hook(lambda g: calls.append("tensor"))
    root.grad_fn.register_prehook(lambda outs: calls.append("before"))
    root.grad_fn.register_hook(lambda ins, outs: calls.append("after"))
    (root * (1.0 if value else 0.0)).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [gradient])
    assert calls == ["tensor", "before", "after"]


def test_a_hook_that_gives_nan_runs_once():
    calls = []
    x = dualad.tensor([1.0], requires_grad=True)
    y = x * 2

    def spoil(g):
        calls.append(1)
        return g * float("nan")

    y.register_hook(spoil)
    y.sum().backward()
    assert np.isnan(x.grad.numpy()).all()
    assert calls == [1]
