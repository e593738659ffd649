"""A flow that is cancelled while it works hard: nothing more comes out of it, and its memory is
free again, whatever one of its workers does meanwhile.
"""

import contextlib
import threading
import time

import numpy as np
from processes import PATIENCE, wait_until
import pytest
import stalled

import weir

GROWN = 150 << 20  # what the flow takes on each worker
LEFT = 40 << 20  # what may be left of that, for allocators and what is cached


def keeping():
    """Keeps all records that it has seen, and sends them on."""
    flow = weir.Flow("keeping")
    rows = flow.input("rows", "i64", "f64[512]")
    rows.distinct(state="job", name="seen").output("new")
    return flow


class Load:
    """Feeds a flow, an epoch for each batch, and takes what comes out, until the flow ends."""

    def __init__(self, job):
        self._job = job
        self.taken = 0
        self._threads = [threading.Thread(target=each) for each in (self._feed, self._take)]
        for thread in self._threads:
            thread.start()

    def _feed(self):
        values = np.random.default_rng(1).random((1000, 512))
        with contextlib.suppress(weir.Error):
            for epoch in range(1_000_000):
                numbers = np.arange(epoch * 1000, (epoch + 1) * 1000)
                self._job.send("rows", (numbers, values), epoch=epoch)
                self._job.advance("rows", epoch + 1)

    def _take(self):
        with contextlib.suppress(weir.Error):
            for _, records in self._job.results("new", as_they_come=True):
                self.taken += records.rows

    def join(self):
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()


def records_out(cluster):
    return cluster.metrics()['weir_flow_records_total{direction="out"}']


@pytest.mark.parametrize("paused_for", [None, 1.0, 5.0])
def test_nothing_comes_out_and_memory_is_free(start_cluster, paused_for):
    """A worker that is stopped for a second wakes before it is given up; for five, afterwards."""
    # Whoever sleeps for longer than that is given up.
    lost_after = 3 if paused_for == 5.0 else 30
    with start_cluster(3, lost_after=lost_after) as (cluster, session):
        session.deploy(stalled.word_count()).cancel()  # what a first flow leaves is not this one's
        names = ["server", *cluster.workers]
        idle = {name: cluster.memory(name) for name in names}
        job = session.deploy(keeping())
        load = Load(job)
        wait_until(
            lambda: all(cluster.memory(name) > idle[name] + GROWN for name in cluster.workers),
            "it takes memory",
        )
        assert load.taken > 0
        if paused_for is not None:
            cluster.pause("w2")
        job.cancel()
        out, taken = records_out(cluster), load.taken
        if paused_for is not None:
            time.sleep(paused_for)
            cluster.wake("w2")
        with pytest.raises(weir.Cancelled):
            job.wait(timeout=PATIENCE)
        load.join()
        cluster.await_workers(3)
        for name in names:
            wait_until(
                lambda: cluster.memory(name) < idle[name] + LEFT, f"the memory of {name} is free"
            )
        assert records_out(cluster) == out
        # What was on its way to the client when it cancelled is all that it has taken since.
        assert load.taken - taken <= (16 << 20) // (513 * 8)
        status, vertices = cluster.status(job.id)
        assert status["job"]["state"] == "CANCELLED"
        assert all(int(v["queued_bytes"]) == int(v["state_bytes"]) == 0 for v in vertices.values())
        job.detach()
        found = stalled.word_count().run({"words": [(0, [1, 2, 1])]}, timeout=PATIENCE)
        assert sorted(zip(*found["counts"][0])) == [(1, 2), (2, 1)]
