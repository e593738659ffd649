"""Flows that are deployed: feeding them, taking what comes out, and their ends."""

from concurrent import futures
import threading

import numpy as np
import pytest

import weir
import weir.numpy as wnp

TIMEOUT = 300


def rows(records):
    return sorted(zip(*(column.tolist() for column in records), records.weights.tolist()))


def counting():
    flow = weir.Flow("counting")
    words = flow.input("words", "i64")
    words.probe("arrived")
    words.count(keys=1).output("counts")
    words.count(keys=0, state="job").output("total")
    return flow


@pytest.fixture
def job(session):
    with session.deploy(counting()) as deployed:
        yield deployed


def test_epochs_come_out_when_they_are_complete(job):
    job.send("words", [7, 8, 7])
    job.send("words", np.int64([9]), epoch=1)
    job.advance("words")
    results = job.results("counts", timeout=TIMEOUT)
    epoch, records = next(results)
    assert epoch == 0 and rows(records) == [(7, 2, 1), (8, 1, 1)]
    job.wait(0, timeout=TIMEOUT)
    assert job.frontier("words") == 1 and job.frontier("counts") == 1
    job.send("words", [9], weights=[3])
    job.advance("words", 5)
    job.send("words", [1])
    job.close()
    assert [(epoch, rows(records)) for epoch, records in results] == [
        (1, [(9, 4, 1)]),
        (5, [(1, 1, 1)]),
    ]
    totals = {epoch: rows(records) for epoch, records in job.results("total", timeout=TIMEOUT)}
    assert totals == {0: [(3, 1)], 1: [(7, 1)], 5: [(8, 1)]}
    job.wait(timeout=TIMEOUT)
    assert job.frontier("words") is None and job.frontier("arrived") is None


def test_arrays_are_sent_while_others_are_taken(session):
    """Arrays that were sent are freed by another thread, which takes Python's lock for it."""
    flow = weir.Flow("both_ways")
    flow.input("numbers", "i64[64]").map(lambda number: number + 1).output("out")
    sent = [np.full((2048, 64), k, dtype=np.int64) for k in range(100)]
    with session.deploy(flow) as job, futures.ThreadPoolExecutor() as threads:

        def feed():
            for numbers in sent:
                job.send("numbers", numbers.copy(), timeout=TIMEOUT)
            job.close()

        feeder = threads.submit(feed)
        parts = job.results("out", as_they_come=True, timeout=TIMEOUT)
        total = sum(int(numbers.sum()) for _, (numbers,) in parts)
        feeder.result()
    assert total == sum(int(numbers.sum()) + numbers.size for numbers in sent)


def test_records_as_they_come(job):
    job.send("words", [7, 8], epoch=3)
    job.close("words")
    parts = list(job.results("counts", as_they_come=True, timeout=TIMEOUT))
    assert {epoch for epoch, _ in parts} == {3}
    assert sorted(row for _, records in parts for row in rows(records)) == [(7, 1, 1), (8, 1, 1)]


def test_many_batches_all_come_out(session):
    flow = weir.Flow("many")
    numbers = flow.input("numbers", "i64")
    numbers.map(lambda n: n + 1).output("more")
    with session.deploy(flow) as job:
        for i in range(200):
            job.send("numbers", [i])
        job.close()
        parts = list(job.results("more", as_they_come=True, timeout=TIMEOUT))
    found = sorted(n for _, (column,) in parts for n in column.tolist())
    assert found == list(range(1, 201))


def test_what_is_large_waits_for_what_was_sent_before(session):
    flow = weir.Flow("large")
    flow.input("rows", "i64", "f64[1024]").map(lambda i, row: i).output("numbers")
    row = np.zeros((1000, 1024))  # 8 MB
    with session.deploy(flow) as job:
        sent = threading.Thread(
            target=lambda: [
                *(job.send("rows", (np.full(1000, i), row), timeout=TIMEOUT) for i in range(20)),
                job.close(),
            ]
        )
        sent.start()
        ((_, records),) = job.results("numbers", timeout=TIMEOUT)
        sent.join()
    assert rows(records) == [(i, 1000) for i in range(20)]


def test_a_function_with_large_constants(session):
    weights = np.arange(3 << 20, dtype=np.float32).reshape(-1, 1024)  # 12 MiB
    flow = weir.Flow("large")
    flow.input("rows", "i64").map(lambda row: wnp.asarray(weights)[row, 7]).output("picked")
    with session.deploy(flow) as job:
        job.send("rows", [0, 3])
        job.close()
        ((_, records),) = job.results("picked", timeout=TIMEOUT)
        assert sorted(records[0].tolist()) == [7.0, 3 * 1024 + 7.0]


def test_a_wait_that_takes_too_long(job):
    job.send("words", [1])
    with pytest.raises(weir.DeadlineExceeded, match="epoch 0"):
        job.wait(0, timeout=0.05)
    with pytest.raises(weir.DeadlineExceeded):
        next(job.results("counts", timeout=0.05))
    assert "words" in job.explain("counts")
    assert job.frontier("counts") == 0


def test_what_cannot_be_sent(job):
    with pytest.raises(weir.NotFound, match="no input 'word'; it has words"):
        job.send("word", [1])
    with pytest.raises(weir.InvalidArgument, match=r"column 0 of input 'words' is i64"):
        job.send("words", [1.5])
    with pytest.raises(weir.NotFound, match="no output 'count'; it has counts, total"):
        next(job.results("count"))
    job.advance("words", 4)
    with pytest.raises(weir.FailedPrecondition, match="is at epoch 4: epoch 3 is over"):
        job.send("words", [1], epoch=3)
    with pytest.raises(weir.NotFound, match="nowhere"):
        job.frontier("nowhere")
    job.close()
    with pytest.raises(weir.FailedPrecondition):
        job.send("words", [1])


def test_a_flow_that_is_cancelled(session):
    job = session.deploy(counting())
    job.send("words", [1])
    job.cancel()
    with pytest.raises(weir.Cancelled):
        job.wait(timeout=TIMEOUT)
    with pytest.raises(weir.Cancelled):
        list(job.results("counts", timeout=TIMEOUT))
    job.detach()
    with pytest.raises(weir.FailedPrecondition, match="session.attach"):
        job.advance("words")


def test_the_end_of_a_with_cancels_what_goes_on(session):
    with session.deploy(counting()) as job:
        job.send("words", [1])
    with pytest.raises(weir.FailedPrecondition, match="detached"):
        job.close()
    again = session.attach(job.id)
    with pytest.raises(weir.Cancelled):
        again.wait(timeout=TIMEOUT)
    with pytest.raises(KeyError):
        with session.deploy(counting()) as job:
            raise KeyError("goes through")


def test_a_flow_goes_on_without_its_client(session):
    job = session.deploy(counting())
    job.send("words", [1, 2])
    job.detach()
    with pytest.raises(weir.NotFound):
        session.attach("no such job")
    with session.attach(job.id) as again:
        assert again.id == job.id and again.inputs == {"words": (("i64", ()),)}
        assert again.outputs["counts"] == (("i64", ()), ("i64", ()))
        again.send("words", [2])
        again.close()
        ((epoch, records),) = again.results("counts", timeout=TIMEOUT)
        assert epoch == 0 and rows(records) == [(1, 1, 1), (2, 2, 1)]


def test_a_function_that_fails(session):
    def check(n):
        weir.check(n < 5, "too large")
        return n

    flow = weir.Flow("checked")
    flow.input("x", "i64").map(check, name="checked").output("out")
    with pytest.raises(weir.Error, match="too large") as error:
        flow.run({"x": [(0, [1, 9])]}, timeout=TIMEOUT)
    assert "checked" in str(error.value)


def positive_roots():
    def root(n):
        weir.check(n >= 0, "below zero")
        return n, wnp.sqrt(n)

    flow = weir.Flow("roots")
    numbers = flow.input("numbers", "f64", max_batch=16, max_wait_us=500)
    numbers.map(root, on_failure="drop", name="root").output("roots")
    return flow


def test_records_that_fail_are_told_of(session):
    with session.deploy(positive_roots()) as job:
        job.send("numbers", [4.0, -1.0, 9.0])
        job.send("numbers", [-2.0], epoch=3)
        job.close()
        ((_, records),) = job.results("roots", timeout=TIMEOUT)
        job.wait(timeout=TIMEOUT)
        assert rows(records) == [(4.0, 2.0, 1), (9.0, 3.0, 1)]
        failures = sorted(job.failures())
        assert [failure[:2] for failure in failures] == [(0, 1), (3, 0)]
        assert all("below zero" in message and "root" in message for *_, message in failures)
        assert job.failures() == []


def test_a_flow_that_answers_calls(session):
    with session.serve(positive_roots()) as roots:
        assert roots(4.0) == (4.0, 2.0)
        with pytest.raises(weir.Error, match="below zero"):
            roots(-1)
        with pytest.raises(weir.InvalidArgument, match="column 0 of input 'numbers' is f64"):
            roots([1.0, 2.0])
        with futures.ThreadPoolExecutor(8) as pool:
            found = list(pool.map(roots, np.arange(200.0)))
        assert found == [(n, np.sqrt(n)) for n in np.arange(200.0)]
    with pytest.raises(weir.Error):
        roots(4.0)
    flow = weir.Flow("two")
    flow.input("a", "i64").concat(flow.input("b", "i64")).output("out")
    with pytest.raises(weir.InvalidArgument, match="has the inputs a, b; say which"):
        session.serve(flow)


def test_flows_run_beside_one_another_and_beside_programs(session):
    flow = weir.Flow("doubles")
    flow.input("x", "f32[3]").map(lambda x: x * 2).output("out")
    with session.deploy(flow) as one, session.deploy(flow) as other:
        one.send("x", np.ones((2, 3)))
        other.send("x", np.zeros((1, 3)))
        assert weir.vmap(lambda x: x + 1)(np.arange(3)).tolist() == [1, 2, 3]
        for job, wanted in ((one, [[2, 2, 2]]), (other, [[0, 0, 0]])):
            job.close()
            ((_, (found,)),) = job.results("out", timeout=TIMEOUT)
            assert found.tolist() == wanted


def test_run_is_what_run_sequentially_is(session):
    flow = weir.Flow("both")
    x = flow.input("x", "i64", "f32")
    x.reduce_by_key(keys=1, combine="sum").output("sums")
    x.filter(lambda n, v: n > 100).output("nothing")
    inputs = {"x": [(4, ([1, 2, 1], [0.1, 0.2, 0.3])), (2, ([5], [1]), [2])]}
    found = flow.run(inputs, timeout=TIMEOUT)
    wanted = flow.run_sequentially(inputs)
    assert found["nothing"] == {} and found.keys() == wanted.keys()
    assert list(found["sums"]) == [2, 4]
    for epoch, records in wanted["sums"].items():
        assert rows(found["sums"][epoch]) == rows(records)


def test_a_closed_session_lets_go_of_its_flows():
    with weir.connect(workers=1) as inner:
        job = inner.deploy(counting())
        job.send("words", [1])
    with pytest.raises(weir.FailedPrecondition):
        job.wait()
    with pytest.raises(weir.FailedPrecondition, match="closed"):
        inner.deploy(counting())


@pytest.mark.parametrize("pipelined", ["loops", "all"])
@pytest.mark.parametrize("hold_bytes", [None, 8])
def test_pipelined_loops_give_what_the_whole_gives(session, pipelined, hold_bytes):
    def newton(x, scale):
        limit = x[0] * scale.sum()

        def step(state):
            guess, trips = state
            better = 0.5 * (guess + x[0] / guess)
            return weir.cond(trips % 2 == 0, lambda g: g, lambda g: g * scale[0], better), trips + 1

        def going(state):
            guess, trips = state
            return (wnp.abs(guess * guess - x[0]) > 1e-3) & (trips < 20)

        guess, trips = weir.while_loop(going, step, (x[0] + 1, 0))
        return guess, trips, limit * scale, weir.fori_loop(0, trips, lambda i, s: s + x[1], 0.0)

    def results(**how):
        flow = weir.Flow("newton")
        flow.input("x", "f32[2]", "f32[3]").map(newton, **how).output("root")
        return flow.run({"x": inputs}, timeout=TIMEOUT)["root"]

    random = np.random.default_rng(1)
    inputs = []
    for epoch in range(3):
        x = random.uniform(0.5, 100, (40, 2)).astype(np.float32)
        scale = random.uniform(0.9, 1.1, (40, 3)).astype(np.float32)
        inputs.append((epoch, (x, scale)))
    whole = results()
    apart = results(pipelined=pipelined, hold_bytes=hold_bytes)
    assert list(whole) == [0, 1, 2]
    for epoch, records in whole.items():
        for wanted, got in zip(records, apart[epoch]):
            assert wanted.tobytes() == got.tobytes()


def test_a_pipelined_loop_without_end_holds_nobody_up_and_can_be_cancelled(session):
    def countdown(n):
        return n, weir.while_loop(lambda left: left != 0, lambda left: left - 1, n)

    flow = weir.Flow("countdown")
    x = flow.input("x", "i64", max_batch=2, max_wait_us=50_000)
    x.map(countdown, pipelined="loops", name="count").output("end")
    with session.serve(flow) as count, futures.ThreadPoolExecutor(1) as pool:
        endless = pool.submit(count, -1)
        assert count(5) == (5, 0)
        assert not endless.done()
        count.cancel()
        with pytest.raises((weir.Aborted, weir.Cancelled)):
            endless.result(timeout=TIMEOUT)
