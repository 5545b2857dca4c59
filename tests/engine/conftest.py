"""What the tests of large operations that are put off have in common."""

import warnings

import pytest

from dualad.engine.put_off import joint


@pytest.fixture
def warnings_are_no_exceptions():
    """As they are for users: where they are exceptions, nothing is put off."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield


@pytest.fixture
def passes(monkeypatch):
    """How many operations each pass by blocks of the forward sweep has carried out."""
    counts = []
    plan = joint.Pass.__init__

    def counted(self, nodes, target=None):
        counts.append(len(nodes))
        plan(self, nodes, target)

    monkeypatch.setattr(joint.Pass, "__init__", counted)
    return counts
