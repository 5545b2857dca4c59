"""Ensembles on a real dask cluster: the same list, and nothing lost when a worker dies."""

import numpy as np
import pytest

from dualad import sensitivity as ds

from .ensemble_models import DiesOnce
from .test_ensembles import SETS, K, expected

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Two worker processes on this machine; a dead one is replaced."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield client


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning")
def test_a_cluster_gives_the_same_list_failures_included(client):
    def local_model(p):
        """Not importable, so that it is sent by value."""
        if p.k > 1.5:
            raise ValueError("too large")
        return p.k * p.c

    local_model.__name__ = "fails_above"
    expected(ds.ensemble(local_model, SETS, executor=client))
    expected(ds.ensemble(local_model, SETS, executor=client.get_executor(pure=False), batch=5))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning")
def test_nothing_is_lost_when_a_worker_dies_in_the_middle(client, tmp_path):
    mark = tmp_path / "mark"
    path = tmp_path / "run"
    e = ds.ensemble(DiesOnce(mark, K[7]), SETS, executor=client, resume=path, batch=1)
    assert mark.exists()
    assert e.ok.all() and not e.failed
    np.testing.assert_array_equal(e.values, 3 * K)
    np.testing.assert_array_equal(e.jacobian, np.stack([np.full(16, 3.0), K], axis=1))
    assert ds.Ensemble.load(path).ok.all()
