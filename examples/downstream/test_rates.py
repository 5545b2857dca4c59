"""How a package tests its derivatives with the pytest plugin of dualad.

pip install dualad pytest
pytest examples/downstream
"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from rates import decay, decay_jac, hill, hill_gradient, michaelis_menten, softplus

PARAMS = {"vmax": 2.0, "km": 0.5}


def test_a_rule_in_every_way(check_derivative):
    """Both modes, their agreement, second order, batches, single precision, purity."""
    check_derivative(softplus, np.array([-30.0, -0.5, 1.0, 40.0]))


def test_a_model_of_nested_containers(check_derivative):
    report = check_derivative(michaelis_menten, PARAMS, np.array([0.1, 1.0, 7.0]))
    assert 'params["km"] -> outputs["rate"][2]' in {r.entry for r in report.rows}


def test_a_jacobian_for_scipy(check_derivative):
    check_derivative.jac(decay, decay_jac, 0.0, np.array([1.0, 0.3]), args=(2.5,))


@pytest.mark.derivative
@pytest.mark.parametrize("s", [0.2, 1.0, 30.0])
def test_a_claimed_gradient(s):
    """A test with the marker returns (subject, *arguments)."""
    return (hill, hill_gradient), s, 0.7, 2.5


@pytest.mark.derivative(kinks={"x": [0.0]}, second_order=False)
def test_on_both_sides_of_a_kink():
    return (np.abs, np.sign), 0.3
