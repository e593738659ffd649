"""What many epochs, many jobs and many vertices leave behind, and who waits for whom.

    WEIR_EMPTY_EPOCHS=1000000 WEIR_SHORT_JOBS=1000 python3 -m pytest tests/flows/test_endurance.py
"""

import os
import threading

import numpy as np
from processes import PATIENCE
import stalled

import weir

EMPTY_EPOCHS = int(os.environ.get("WEIR_EMPTY_EPOCHS", 100_000))
SHORT_JOBS = int(os.environ.get("WEIR_SHORT_JOBS", 100))
VERTICES = 10_000


def counting_round():
    """State that lives with the job, a window, and a loop that workers share."""
    flow = weir.Flow("counting_round")
    words = flow.input("words", "i64")
    words.count(keys=1, state="job").output("totals")
    words.window(3).count(keys=1).output("recent")
    with flow.loop("trips") as loop:
        again = loop.feedback(like=words)
        there = loop.enter(words).concat(again).distinct(state="loop")
        again.set(there.filter(lambda n: n > 0).map(lambda n: n // 2))
        loop.leave(there).output("halves")
    return flow


def own_memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


def test_empty_epochs_leave_memory_flat(start_cluster):
    with start_cluster(2) as (cluster, session):
        with session.deploy(counting_round()) as job:
            job.send("words", np.arange(100))

            def pass_to(begin, end):
                for epoch in range(begin, end, 500):
                    for each in range(epoch + 1, min(epoch + 500, end) + 1):
                        job.advance("words", each)
                    job.wait(min(epoch + 500, end) - 1, timeout=PATIENCE)

            def memory():
                of_processes = {name: cluster.memory(name) for name in ["server", *cluster.workers]}
                return {"client": own_memory(), **of_processes}

            pass_to(0, EMPTY_EPOCHS // 4)
            # What is kept for each epoch grows in every round; what allocators take, only in some.
            least = {}
            for part in range(1, 4):
                before = memory()
                pass_to(part * EMPTY_EPOCHS // 4, (part + 1) * EMPTY_EPOCHS // 4)
                after = memory()
                for name in before:
                    grown = after[name] - before[name]
                    least[name] = min(grown, least.get(name, grown))
            print(least)
            assert all(grown < 1 << 20 for grown in least.values()), least
            job.send("words", [7])
            job.close()
            last = {}
            for name in ("totals", "recent", "halves"):
                *_, (epoch, records) = job.results(name, timeout=PATIENCE)
                assert epoch >= EMPTY_EPOCHS
                last[name] = sorted(zip(*records))
            assert last == {
                "totals": [(7, 2)],
                "recent": [(7, 1)],
                "halves": [(0,), (1,), (3,), (7,)],
            }


def test_short_jobs_lose_no_last_frontier(three):
    cluster, _ = three
    ended = 'weir_jobs_ended_total{state="succeeded"}'
    before = cluster.metrics()[ended]
    flow = counting_round()
    for _ in range(SHORT_JOBS):
        found = flow.run({"words": [(0, [3, 3]), (2, [3])]}, timeout=PATIENCE)
        assert {epoch: list(zip(*r)) for epoch, r in found["totals"].items()} == {
            0: [(3, 2)],
            2: [(3, 3)],
        }
        assert list(zip(*found["recent"][2])) == [(3, 3)]
        assert sorted(found["halves"][0][0].tolist()) == [0, 1, 3]
    figures = cluster.metrics()
    assert figures[ended] - before == SHORT_JOBS
    assert figures["weir_flows"] == 0


# Records go through all vertices on a worker in one turn: there are as few batches of progress for
# many vertices as for one.
def test_a_chain_takes_no_round_for_each_vertex(three):
    cluster, session = three
    flow = weir.Flow("chain")
    stream = flow.input("numbers", "i64")
    for _ in range(100):
        stream = stream.concat()
    stream.output("out")
    epochs = 50
    with session.deploy(flow) as job:
        for epoch in range(epochs):
            job.send("numbers", [epoch])
            job.advance("numbers")
            job.wait(epoch, timeout=PATIENCE)
        status, _ = cluster.status(job.id)
    assert int(status["progress"]["batches"]) < epochs * 3 * 10


def test_a_vertex_that_is_idle_takes_little(start_cluster):
    """Queues, state and what is known of paths come with the first records."""
    lines = ['  %v0 = input() {types = ["i64[]"]}']
    lines += [f"  %v{i} = concat(%v{i - 1})" for i in range(1, VERTICES - 1)]
    text = "flow @wide {\n" + "\n".join(lines) + f"\n  %out = output(%v{VERTICES - 2})\n}}\n"
    with start_cluster(2) as (cluster, _):
        stalled.word_count().run({"words": [(0, [1])]}, timeout=PATIENCE)
        names = ["server", *cluster.workers]
        idle = {name: cluster.memory(name) for name in names}
        path = cluster.folder / "wide.flow"
        path.write_text(text)
        submitted = cluster.weir("submit", path, "-q", timeout=PATIENCE)
        assert submitted.returncode == 0, submitted.stderr
        each = {name: (cluster.memory(name) - idle[name]) / VERTICES for name in names}
        print("bytes for each vertex:", {name: round(b) for name, b in each.items()})
        assert all(taken < 8 << 10 for taken in each.values()), each
        _, vertices = cluster.status(submitted.stdout.strip())
        assert len(vertices) == VERTICES


def hard_work():
    flow = weir.Flow("hard_work")
    numbers = flow.input("numbers", "i64")

    def count_down(n):
        return weir.while_loop(lambda n: n > 0, lambda n: n - 1, n)

    numbers.map(count_down, name="work").output("out")
    return flow


def test_a_heavy_job_does_not_hold_up_a_light_one(three):
    _, session = three
    with session.deploy(hard_work()) as heavy, session.deploy(stalled.word_count()) as light:
        stop = threading.Event()

        def feed():
            while not stop.is_set():
                heavy.send("numbers", [3000], epoch=0)

        feeder = threading.Thread(target=feed)
        feeder.start()
        try:
            for epoch in range(50):
                light.send("words", [epoch, 1])
                light.advance("words")
                light.wait(epoch, timeout=PATIENCE)
            assert heavy.frontier("out") == 0
        finally:
            stop.set()
            heavy.cancel()
            feeder.join()


# A call whose record takes for ever holds up none of those that come later.
def test_a_slow_call_does_not_hold_up_later_ones(start_cluster):
    with start_cluster(2, threads=2) as (_, session):
        flow = weir.Flow("calls")
        numbers = flow.input("numbers", "i64", max_batch=1)

        def count_down(n):
            return weir.while_loop(lambda n: n != 0, lambda n: n + 2, n)

        numbers.map(lambda n: (n, count_down(n))).output("out")
        with session.serve(flow) as service:
            slow = threading.Thread(target=lambda: _fails(service, 1))
            slow.start()
            for _ in range(50):
                assert service(0) == (0, 0)
            assert slow.is_alive()
        slow.join(PATIENCE)
        assert not slow.is_alive()


def _fails(service, number):
    try:
        service(number)
    except weir.Error:
        return
    raise AssertionError("it was answered")


# The same of runs of programs.
def test_a_slow_run_does_not_hold_up_later_ones(start_cluster):
    with start_cluster(2, threads=2) as (cluster, session):
        def count_down(n):
            return weir.while_loop(lambda n: n != 0, lambda n: n + 2, n)

        run = weir.jit(weir.vmap(count_down), shapes="n")
        assert run(np.int64([0, -2])).tolist() == [0, 0]
        slow = threading.Thread(target=lambda: _fails(run, np.int64([1])), daemon=True)
        slow.start()
        for _ in range(20):
            assert run(np.int64([0, -4, -6])).tolist() == [0, 0, 0]
        assert slow.is_alive()
        for job in cluster.json("list")["jobs"]:
            if job["state"] == "RUNNING":
                cluster.weir("cancel", job["id"])
        slow.join(PATIENCE)
        assert not slow.is_alive()
