"""Variables on workers that are processes: the bits of a cluster in one process, a value that a
worker which is asked to stop hands over, one that is lost with its worker, and what operators see.
"""

import signal

import numpy as np
import pytest

import weir
import weir.numpy as wnp

ROWS = np.random.default_rng(3).standard_normal((700, 4)).astype(np.float32)


def make(name, size=4):
    """Returns: (variable, function that moves it towards rows and returns how far they were)."""
    weights = weir.Variable(np.full(size, 0.5, np.float32), name)

    @weir.jit
    def train(rows):
        def one(row):
            away = row - weights.read()[:4]
            weights.assign_add(wnp.sum(away) * np.float32(1e-3))
            return wnp.sum(away * away)

        return weir.vmap(one)(rows)

    return weights, train


def trained():
    """Returns: the bytes of everything that some runs make."""
    weights, train = make("weights")
    made = [train(ROWS[:count]).tobytes() for count in (700, 1, 0, 333)]
    return [*made, weights.value().tobytes()]


def owner_of(cluster, name):
    (found,) = (each for each in listed(cluster) if each["name"] == name)
    return found["worker"]


def listed(cluster):
    return cluster.json("variables").get("variables", [])


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_leave_the_bits_of_a_cluster_in_one(start_cluster, workers):
    with weir.connect(workers=3):
        wanted = trained()
    with start_cluster(workers) as (_, _):
        assert trained() == wanted


def test_a_worker_that_is_asked_to_stop_hands_its_variables_over(start_cluster):
    with start_cluster(2) as (cluster, _):
        weights, train = make("weights", 1 << 20)  # more than one message
        train(ROWS)
        value = weights.value()
        owner = owner_of(cluster, "weights")
        assert cluster.metrics()[f'weir_variable_bytes{{worker="{owner}"}}'] == 4 << 20
        process = cluster.workers.pop(owner)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
        assert owner_of(cluster, "weights") != owner
        np.testing.assert_array_equal(weights.value(), value)
        train(ROWS)
        assert not np.array_equal(weights.value(), value)


def test_what_is_lost_with_a_worker_is_said(start_cluster):
    with start_cluster(2) as (cluster, session):
        weights, train = make("weights")
        train(ROWS)
        owner = owner_of(cluster, "weights")
        cluster.kill(owner)
        cluster.await_workers(1)
        what = rf"variable 'weights' \(.*\) is lost with worker {owner}, which held it: .*; delete"
        for use in (weights.value, lambda: train(ROWS)):
            with pytest.raises(weir.Aborted, match=what):
                use()
        (lost,) = listed(cluster)
        assert lost["state"] == "LOST"
        with pytest.warns(RuntimeWarning, match="weights: variable"):
            session.close()
        with pytest.raises(weir.Aborted, match=what):
            weights.value()


def test_operators_list_and_delete_variables(start_cluster):
    with start_cluster(1) as (cluster, session):
        weights, train = make("weights")
        train(ROWS)
        table = cluster.weir("variables").stdout
        assert "weights" in table and "f32[4]" in table and "w1" in table
        (known,) = listed(cluster)
        assert cluster.weir("variables", "--delete", known["id"]).returncode == 0
        assert listed(cluster) == []
        assert cluster.weir("variables", "--delete", known["id"]).returncode == 4
        with pytest.raises(weir.NotFound, match="it was deleted, or the coordinator"):
            train(ROWS)
        with pytest.warns(RuntimeWarning, match="weights"):
            session.close()
