"""Flows that stall, and a client that can be killed, for the tests of `weir explain-frontier`."""

import sys

import numpy as np

import weir


def word_count():
    flow = weir.Flow("word_count")
    flow.input("words", "i64").count(keys=1, name="counted").output("counts")
    return flow


def count_to_0(n):
    """Takes for ever from any odd number on."""
    return weir.while_loop(lambda n: n != 0, lambda n: n + 2, n)


def slow_map():
    flow = weir.Flow("slow_map")
    flow.input("numbers", "i64").map(count_to_0, name="slow").output("out")
    return flow


def slow_updates():
    """A sum for each key, which is read, and changed by what comes through a slow function."""
    flow = weir.Flow("slow_updates")
    updates = flow.input("updates", "i64", "i64")
    slow = updates.map(lambda key, more: (key, count_to_0(more)), name="slow")
    reads = flow.input("reads", "i64")
    sums = reads.variable(
        slow, init=lambda key: key * 0, assign=lambda sum, more: sum + more, keys=1, name="sums"
    )
    sums.output("seen")
    return flow


def slow_sum():
    """The sum of more than one record of a time takes for ever."""

    def combine(a, b):
        return weir.while_loop(lambda n: n % 2 == 1, lambda n: n + 2, a * 2 + b * 2 + 1)

    flow = weir.Flow("slow_sum")
    pairs = flow.input("pairs", "i64", "i64")
    pairs.reduce_by_key(keys=1, combine=combine, name="summed").output("sums")
    return flow


def endless():
    flow = weir.Flow("endless")
    numbers = flow.input("numbers", "i64")
    with flow.loop("trips") as loop:
        again = loop.feedback(like=numbers)
        more = loop.enter(numbers).concat(again).map(lambda n: n + 1, name="more")
        again.set(more)
        loop.leave(more.filter(lambda n: n < 0)).output("negative")
    return flow


def matched():
    flow = weir.Flow("matched")
    left = flow.input("left", "i64", "i64")
    right = flow.input("right", "i64", "i64")
    left.join(right, keys=1, name="met").output("pairs")
    return flow


def copies():
    flow = weir.Flow("copies")
    flow.input("rows", "f64[1024]").map(lambda row: row + 1, name="copied").output("copies")
    return flow


def waiting_calls():
    flow = weir.Flow("calls")
    numbers = flow.input("numbers", "f64", max_batch=64, max_wait_us=60_000_000)
    numbers.map(lambda n: (n, n * 2)).output("doubled")
    return flow


def main():
    """Feeds a word count and stays, to be killed: prints the id of the job."""
    with weir.connect(sys.argv[1]) as session:
        job = session.deploy(word_count())
        job.send("words", np.arange(10))
        job.advance("words")
        job.wait(0, timeout=300)
        print(job.id, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
