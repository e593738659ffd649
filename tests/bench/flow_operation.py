"""What operating flows costs: workers that share a core, short jobs, idle vertices.

usage: PYTHONPATH=build/release/python python3 tests/bench/flow_operation.py [--repetitions N]
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "flows"))

import processes
import stalled
import weir

VERTICES = 9_998
EPOCHS = 50


def rounds(session):
    """Returns: seconds for epochs of a word count, one after the other and each of 20,000 words."""
    words = np.random.default_rng(0).integers(0, 1000, 20_000)
    with session.deploy(stalled.word_count()) as job:
        for epoch in range(EPOCHS + 5):
            if epoch == 5:
                begun = time.perf_counter()
            for part in np.array_split(words, 8):
                job.send("words", part)
            job.advance("words")
            job.wait(epoch, timeout=600)
        return time.perf_counter() - begun


def with_cluster(workers, measure):
    with tempfile.TemporaryDirectory() as folder, processes.Cluster(folder, workers) as cluster:
        with weir.connect(cluster.address) as session:
            return measure(cluster, session)


def on_one_core(repetitions):
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    try:
        taken = {1: [], 4: []}
        for _ in range(repetitions):
            for workers, seconds in taken.items():
                seconds.append(with_cluster(workers, lambda _, session: rounds(session)))
    finally:
        os.sched_setaffinity(0, everywhere)
    one, four = (statistics.median(seconds) / EPOCHS * 1e3 for seconds in taken.values())
    print(
        f"an epoch of 20,000 words, all on one core: 1 worker {one:.2f} ms, 4 workers {four:.2f}"
        f" ms, ratio {four / one:.2f} (at most 3)"
    )


def short_jobs(_, session):
    inputs = {"words": [(0, [3, 3])]}
    stalled.word_count().run(inputs)
    begun = time.perf_counter()
    for _ in range(100):
        stalled.word_count().run(inputs)
    milliseconds = (time.perf_counter() - begun) * 10
    print(f"a flow from deployment to its end, on 3 workers: {milliseconds:.1f} ms")


def idle_vertices(cluster, _):
    stalled.word_count().run({"words": [(0, [1])]})
    lines = ['%v0 = input() {types = ["i64[]"]}']
    lines += [f"%v{i} = concat(%v{i - 1})" for i in range(1, VERTICES)]
    file = cluster.folder / "wide.flow"
    file.write_text("\n".join(["flow @wide {", *lines, f"%out = output(%v{VERTICES - 1})", "}"]))
    names = ["server", *cluster.workers]
    before = {name: cluster.memory(name) for name in names}
    begun = time.perf_counter()
    cluster.weir("submit", file, "-q")
    seconds = time.perf_counter() - begun
    each = {name: (cluster.memory(name) - before[name]) / VERTICES for name in names}
    bytes_each = ", ".join(f"{name} {taken:.0f}" for name, taken in each.items())
    print(f"a flow of {VERTICES} vertices, deployed in {seconds:.2f} s, bytes each: {bytes_each}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=3)
    on_one_core(parser.parse_args().repetitions)
    with_cluster(3, short_jobs)
    with_cluster(2, idle_vertices)


if __name__ == "__main__":
    main()
