"""Planted stalls: `weir explain-frontier` names what is to blame, with worker, time, count, age."""

import pathlib
import re
import subprocess
import sys
import threading
import time

import numpy as np
from processes import PATIENCE, wait_until
import pytest
import stalled

import weir

# How long a stall has lasted, at least, since it was first seen, before somebody asks.
LASTED = 1.0


class Explained:
    """What a flow, or a vertex of it, waits for, as a text and as data of one moment."""

    def __init__(self, cluster, job, vertex=None):
        where = [job] if vertex is None else [job, vertex]
        found = cluster.json("explain-frontier", *where)
        self.text = found["text"]
        self.waits = found.get("waits", [])

    def names(self, vertex, kind, *time_):
        """Whether there is such a wait, at this time if one is given."""
        named = [w for w in self.waits if (w["vertex"], w["kind"]) == (vertex, kind)]
        return any(times(wait)[: len(time_)] == [*time_] for wait in named)

    def only(self, vertex, kind):
        """Returns: the wait at this vertex; there is no other one of this kind."""
        found = [wait for wait in self.waits if wait["kind"] == kind]
        assert [wait["vertex"] for wait in found] == [vertex], self.text
        return found[0]


def times(wait):
    return [int(coordinate) for coordinate in wait["time"]]


def seconds_after(start, text):
    """Returns: the duration that stands behind `start`, such as 1m2.5s."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6}
    found = re.search(re.escape(start) + r"((?:[\d.]+(?:h|ms|us|m|s))+)", text)
    assert found, text
    return sum(float(n) * units[unit] for n, unit in re.findall(r"([\d.]+)([a-z]+)", found[1]))


def check(wait, workers, time_, count):
    assert sorted(wait["workers"]) == sorted(workers)
    assert times(wait) == time_ and int(wait["count"]) == count
    assert int(wait["age_ms"]) >= LASTED * 1000


def once_it_lasts(is_stalled, cluster, job, vertex=None):
    """Returns: the explanation of a stall that has lasted since it was seen."""
    wait_until(lambda: is_stalled(Explained(cluster, job, vertex)), "it stalls")
    time.sleep(LASTED)
    return Explained(cluster, job, vertex)


@pytest.fixture
def deploy(three):
    """Returns: a function that deploys a flow, which is cancelled after the test."""
    _, session = three
    jobs = []

    def one(flow):
        jobs.append(session.deploy(flow))
        return jobs[-1]

    yield one
    for job in jobs:
        try:
            job.cancel()
        except weir.Error:
            pass
        job.detach()


ALL = ["w1", "w2", "w3"]


def test_an_open_input(three, deploy):
    cluster, _ = three
    job = deploy(stalled.word_count())
    job.send("words", [1, 2])
    job.advance("words", 4)
    job.wait(3, timeout=PATIENCE)

    def is_stalled(found):
        return found.names("words", "CAPABILITY", 4)

    for vertex in None, "counts":
        found = once_it_lasts(is_stalled, cluster, job.id, vertex)
        wait = found.only("words", "CAPABILITY")
        check(wait, ALL, [4], 3)
        assert f"client '{wait['client']}' feeds it" in found.text
        assert "source 'words' is open at (4): workers 'w1', 'w2', 'w3' have held 3" in found.text
        assert found.text.count("source 'words'") == 1


def test_a_client_that_died(three):
    cluster, session = three
    script = pathlib.Path(stalled.__file__)
    feeder = subprocess.Popen(
        [sys.executable, script, cluster.address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    job = feeder.stdout.readline().strip()
    feeder.kill()
    feeder.communicate()
    found = once_it_lasts(lambda found: "was lost" in found.text, cluster, job)
    wait = found.only("words", "CAPABILITY")
    check(wait, ALL, [1], 3)
    assert seconds_after("and was lost ", found.text) >= LASTED
    assert f"client '{wait['client']}' feeds it and was lost" in found.text
    cluster.weir("cancel", job)


def busiest(cluster):
    """Returns: the worker that is the first to use half a second of a processor."""
    before = {name: cluster.processor_seconds(name) for name in cluster.workers}

    def used(name):
        return cluster.processor_seconds(name) - before[name]

    return wait_until(
        lambda: next((name for name in cluster.workers if used(name) >= 0.5), None), "one is busy"
    )


def test_a_slow_kernel(three, deploy):
    cluster, _ = three
    job = deploy(stalled.slow_map())
    job.send("numbers", [1])
    job.close()
    found = once_it_lasts(lambda found: "has run a call" in found.text, cluster, job.id, "out")
    check(found.only("slow", "FRAME"), [busiest(cluster)], [0], 1)
    assert "1 frame of (0) for input 0 of 'slow' has been there for" in found.text


def test_a_slow_kernel_at_a_time_that_is_complete(three, deploy):
    cluster, _ = three
    job = deploy(stalled.slow_sum())
    job.send("pairs", ([5, 5], [1, 2]), epoch=2)
    job.close()
    found = once_it_lasts(lambda found: "has run a call" in found.text, cluster, job.id)
    check(found.only("summed", "REQUEST"), [busiest(cluster)], [2], 1)


# Values are read in the order of times: reads of epoch 2 are not served before the update of epoch
# 1 has come, which another vertex has; nor are those of epoch 5.
def test_a_read_of_a_variable_that_waits_for_an_update(three, deploy):
    cluster, _ = three
    job = deploy(stalled.slow_updates())
    for epoch in 0, 2, 5:
        job.send("reads", np.arange(300), epoch=epoch)  # some keys for each worker
    job.close("reads")
    job.advance("updates", 1)
    job.wait(0, timeout=60)

    def turns():
        found = Explained(cluster, job.id, "seen")
        line = (
            r"'sums' waits for its turn at \((\d+)\), as \((\d+)\) may still come to input (\d+): "
            r"worker '(\w+)' has held (\d+) request at input (\d+) for ([\d.]+)(ms|s)\n"
        )
        return found, re.findall(line, found.text)

    # No worker may be busy with the update before it has its reads.
    wait_until(lambda: len(turns()[1]) == 2 * len(ALL), "all reads are there")
    job.send("updates", ([7], [1]), epoch=1)
    job.close("updates")
    time.sleep(LASTED)
    wait_until(lambda: "has run a call" in turns()[0].text, "a worker has reported")
    found, held = turns()
    check(found.only("slow", "FRAME"), [busiest(cluster)], [1], 1)
    wanted = [(at, "1", "1", name, "1", "0") for at in "25" for name in ALL]
    assert sorted(turn[:6] for turn in held) == wanted, found.text
    for *_, age, unit in held:
        assert unit == "s" and float(age) >= LASTED, found.text


# Who feeds cannot go on, as nobody takes what comes out.
def test_credit(three, deploy):
    cluster, session = three
    job = session.deploy(stalled.copies())
    try:
        def is_full():
            # That it has not gone on for a while may also be as the machine is busy.
            with pytest.raises(weir.DeadlineExceeded, match="bytes of input 'rows'"):
                while True:
                    job.send("rows", np.zeros((500, 1024)), timeout=3)
            found = Explained(cluster, job.id, "copies")
            room = [wait for wait in found.waits if wait["kind"] == "ROOM"]
            return sum(int(wait["count"]) for wait in room) > 8 << 20 and found

        wait_until(is_full, "nothing goes on")
        found = once_it_lasts(
            lambda found: found.names("copies", "ROOM"), cluster, job.id, "copies"
        )
        room = found.only("copies", "ROOM")
        assert set(room["workers"]) <= set(ALL) and room["workers"]
        assert int(room["count"]) > 8 << 20 and int(room["age_ms"]) >= LASTED * 1000
        assert f"client '{room['client']}' has not acknowledged" in found.text
        assert room["client"] == found.only("rows", "CAPABILITY")["client"]
        # What waits on the way is bounded, whatever the client would like to send.
        assert all(cluster.memory(name) < 300 << 20 for name in ["server", *cluster.workers])
        behind = [w for w in found.waits if w["vertex"] == "copied"]
        assert behind and all("as 'copies' has no room" in w["detail"] for w in behind)
    finally:
        job.cancel()
        job.detach()


def test_a_loop_that_never_ends(three, deploy):
    cluster, _ = three
    job = deploy(stalled.endless())
    job.send("numbers", [0], epoch=3)
    job.close()

    def is_going_round(found):
        rounds = [times(wait)[1] for wait in found.waits if len(wait["time"]) > 1]
        return "has gone round" in found.text and max(rounds, default=0) > 10

    found = once_it_lasts(is_going_round, cluster, job.id, "negative")
    assert {times(wait)[0] for wait in found.waits} == {3}
    assert max(times(wait)[1] for wait in found.waits) > 10
    assert "of loop 'trips', which has gone round at (3) for" in found.text
    assert seconds_after("has gone round at (3) for ", found.text) >= LASTED


def test_a_join_whose_other_side_is_open(three, deploy):
    cluster, _ = three
    job = deploy(stalled.matched())
    job.send("left", ([1, 2, 3], [4, 5, 6]))
    job.close("left")
    job.send("right", ([1], [7]))

    def is_stalled(found):
        return found.names("met", "REQUEST", 0) and {
            (wait["vertex"], wait["kind"]) for wait in found.waits
        } <= {("right", "CAPABILITY"), ("met", "REQUEST")}

    found = once_it_lasts(is_stalled, cluster, job.id)
    wait = found.only("right", "CAPABILITY")
    check(wait, ALL, [0], 3)
    of_pairs = Explained(cluster, job.id, "pairs")
    assert of_pairs.only("right", "CAPABILITY")["client"] == wait["client"]
    assert {w["vertex"] for w in of_pairs.waits if w["kind"] == "REQUEST"} == {"met"}


def test_calls_that_wait_for_others(three):
    cluster, session = three
    with session.serve(stalled.waiting_calls()) as double:
        caller = threading.Thread(target=lambda: pytest.raises(weir.Error, double, 3.0))
        caller.start()
        found = once_it_lasts(
            lambda found: "1 call waits" in found.text, cluster, double.id, "doubled"
        )
        wait = found.only("numbers", "CAPABILITY")
        assert times(wait) == [0] and wait["client"] == "batches of 'numbers'"
        assert "1 call waits for others, up to 64; the first one has waited for" in wait["detail"]
        assert ", of 1m at most" in wait["detail"]
        assert seconds_after("has waited for ", wait["detail"]) >= LASTED
    caller.join()


def test_workers_that_are_not_there(three, deploy, tmp_path):
    cluster, _ = three
    text = tmp_path / "count.flow"
    text.write_text(stalled.word_count().text())
    submitted = cluster.weir("submit", text, "-q", "--workers", 5, "--detach")
    job = submitted.stdout.strip()
    text = Explained(cluster, job).text
    assert "does not run yet: it waits for 5 workers" in text and "3 are ready" in text, submitted
    assert "5 workers" in cluster.weir("status", job).stdout
    cluster.weir("cancel", job)


# The last two lose a worker, so each has a cluster of its own; and another one if the worker was
# given up before anybody could ask, as the machine had other things to do.


def first_that(is_it, cluster, job):
    """Returns: the first explanation of which this is so; None if the flow ends before."""

    def has_ended(found):
        return "has ended" in found.text  # and then it says in words what it had waited for

    def seen():
        found = Explained(cluster, job.id)
        return found if is_it(found) or has_ended(found) else None

    found = wait_until(seen, "it is explained, or ends")
    return None if has_ended(found) else found


def is_seen(check, start_cluster):
    for _ in range(5):
        with start_cluster(3, lost_after=10) as (cluster, session):
            job = session.deploy(stalled.word_count())
            job.send("words", [1, 2])
            if check(cluster, job):
                job.detach()
                return True
            job.detach()
    return False


def test_a_worker_that_does_not_answer(start_cluster):
    def check_silence(cluster, job):
        cluster.pause("w2")
        job.advance("words", 1)

        def is_alone(found):
            # The others have moved on, and it has been silent since.
            waits = [w for w in found.waits if w["vertex"] == "words" and times(w) == [0]]
            return [w["workers"] for w in waits] == [["w2"]] and "been heard" in waits[0]["detail"]

        found = first_that(is_alone, cluster, job)
        if found is None:
            return False
        wait = found.only("words", "CAPABILITY")
        check(wait, ["w2"], [0], 1)
        assert "it was moved to 1, which has not come from there yet" in wait["detail"]
        assert seconds_after("heard of worker 'w2' for ", wait["detail"]) >= 1
        # It is given up: the flow fails, and says by whom.
        with pytest.raises(weir.Error, match="worker w2 was lost: silent for"):
            job.wait(timeout=PATIENCE)
        ended = Explained(cluster, job.id).text
        assert "has ended: FAILED: worker w2 was lost" in ended
        assert "source 'words' is open at (0): worker 'w2'" in ended
        return True

    assert is_seen(check_silence, start_cluster)


def test_a_cancel_that_a_worker_does_not_answer(start_cluster):
    waits = "the cancel waits for worker 'w3' to stop or to be given up"

    def check_cancel(cluster, job):
        cluster.pause("w3")
        job.cancel()
        found = first_that(lambda found: waits in found.text, cluster, job)
        with pytest.raises(weir.Cancelled):
            job.wait(timeout=PATIENCE)
        return found is not None

    assert is_seen(check_cancel, start_cluster)
