#!/usr/bin/env python3
"""Flows under a memory limit: a coordinator and two workers as processes, each in a control group.

More records than the limit go through a channel, a collect, a join and a loop, to a consumer that
sleeps, and into a file. Each process must stay below its limit, every record must arrive exactly
once, files must have no name, a cancelled flow must give everything back, and what cannot be done
within the limit must be refused. The examples run with one frame in
flight on each channel and next to no memory for flows.

    PYTHONPATH=build/release/python python3 tests/cluster/flow_memory.py [CASE...]

Cases: examples channel collect join loop files whole cancel disk fair; all but `fair` by default.
Environment:
  WEIR_FLOW_MEMORY_SIZE   bytes that go through each flow; 256 MB by default
  WEIR_FLOW_MEMORY_LIMIT  bytes that a worker may take beyond what it takes idle; 96 MB by default
  WEIR_SPILL_DIRECTORY    for the workers; a new folder of TMPDIR by default
Without control groups that can be made, limits are not set, and the closing line says so.
"""

import collections
import contextlib
import multiprocessing
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

from limited_process import Group, Process

import weir

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / os.environ.get("WEIR_PRESET", "release") / "bin"
SIZE = int(float(os.environ.get("WEIR_FLOW_MEMORY_SIZE", 256e6)))
LIMIT = int(float(os.environ.get("WEIR_FLOW_MEMORY_LIMIT", 96e6)))

PAYLOAD = 30  # numbers of 8 bytes beside the key and the value
RECORD_BYTES = 8 * (2 + PAYLOAD)
BATCH = 4096  # records that are sent together
# From disk, times of what goes through a flow; in each trip of a loop records may wait before each
# of its vertices.
MOST_READ = collections.defaultdict(lambda: 6, loop=18)
NAPS = 20  # of the consumer, while everything comes
PATIENCE = 600 + SIZE / 5e6  # seconds: whoever waits for so long has found a fault
NAP_SECONDS = float(os.environ.get("WEIR_FLOW_MEMORY_NAP", 0.25))


class Cluster:
    """A coordinator and two workers; `limit`: bytes that each worker may take."""

    def __init__(self, limit=None, server_args=(), worker_args=()):
        self.logs = tempfile.mkdtemp(prefix="weir-flow-memory-")
        self.processes = []
        # Whoever is short of memory may sleep for seconds.
        options = ["--listen", "127.0.0.1:0", "--lost-after", "30", *server_args]
        self.server = self._start("server", ["weir-server", *options], limit)
        self.address = self._await_address()
        self.workers = [
            self._start(
                name,
                ["weir-worker", "--server", self.address, "--name", name, "--threads", "1",
                 "--spill-directory", SPILL, "--data-directory", tempfile.gettempdir(),
                 *worker_args],
                limit,
            )
            for name in ("w1", "w2")
        ]  # fmt: skip
        self.session = self._connect()

    def _start(self, name, args, limit):
        args = [BIN / args[0], *args[1:]]
        process = Process(name, args, f"{self.logs}/{name}.log", limit)
        self.processes.append(process)
        return process

    def _await_address(self):
        log = pathlib.Path(f"{self.logs}/server.log")
        end = time.monotonic() + PATIENCE
        while not (found := re.search(r"^listening on (.*)\n", log.read_text(), re.M)):
            assert self.server.is_alive() and time.monotonic() < end, self.log()
            time.sleep(0.02)
        return found[1]

    def _connect(self):
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(weir.Error):
                session = weir.connect(self.address)
                if len(session.workers()) == 2:
                    return session
            assert time.monotonic() < end, self.log()
            time.sleep(0.1)

    def log(self):
        return "\n".join(
            f"--- {p.name}\n" + pathlib.Path(f"{self.logs}/{p.name}.log").read_text()[-2000:]
            for p in self.processes
        )

    def check_limits(self):
        for process in self.processes:
            assert process.is_alive(), f"{process.name} has ended\n{self.log()}"
            if process.group:
                assert process.group.kills() == 0, f"{process.name} was killed for its memory"

    def peaks(self):
        return {p.name: p.group.peak() for p in self.processes if p.group}

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            print(self.log(), file=sys.stderr)
        with contextlib.suppress(weir.Error):
            self.session.close()
        for process in self.processes:
            process.close()
        shutil.rmtree(self.logs)


# --- Records, and flows that they go through.


def records(first, count):
    """Returns: columns key, value and payload of records `first` to `first + count` - 1."""
    key = np.arange(first, first + count, dtype=np.int64)
    value = key * 7 + 3
    payload = (key[:, None] * np.int64(0x9E3779B97F4A7C15 - 2**64)) ^ np.arange(PAYLOAD)
    return key, value, payload


def check_records(key, value, payload, plus=0):
    """That each record is one of those that were sent; `plus`: what was added to the value."""
    _, wanted_value, wanted_payload = (
        key, key * 7 + 3 + plus, (key[:, None] * np.int64(0x9E3779B97F4A7C15 - 2**64))
        ^ np.arange(PAYLOAD),
    )  # fmt: skip
    assert np.array_equal(value, wanted_value)
    assert np.array_equal(payload, wanted_payload)


COLUMNS = ("i64", "i64", f"i64[{PAYLOAD}]")


def channel():
    flow = weir.Flow("channel")
    sent = flow.input("records", *COLUMNS)
    sent.map(lambda key, value, payload: (key, value + 1, payload)).output("out")
    return flow, 1


def collect():
    flow = weir.Flow("collect")
    flow.input("records", *COLUMNS).collect().output("out")
    return flow, 0


def join():
    flow = weir.Flow("join")
    sent = flow.input("records", *COLUMNS)
    others = flow.input("others", "i64", "i64")
    joined = sent.join(others, keys=1)
    joined.map(lambda key, value, payload, other: (key, value + other - key, payload)).output("out")
    return flow, 0


def loop():
    flow = weir.Flow("loop")
    sent = flow.input("records", *COLUMNS)
    with flow.loop("trips") as trips:
        first = trips.enter(sent)
        again = trips.feedback()
        here = first.concat(again).exchange(keys=2)
        more = here.map(lambda key, value, payload: (key, value + 1, payload))
        goes_on, ends = more.switch(lambda key, value, payload: value < key * 7 + 3 + 3)
        again.set(goes_on)
        trips.leave(ends).output("out")
    return flow, 3


CASES = {"channel": channel, "collect": collect, "join": join, "loop": loop}


def feed(job, count, failed):
    """Sends all records as epoch 0, and ends it."""
    try:
        for first in range(0, count, BATCH):
            key, value, payload = records(first, min(BATCH, count - first))
            job.send("records", (key, value, payload))
            if "others" in job.inputs:
                job.send("others", (key, key))
        job.close()
    except weir.Error as error:
        failed.append(error)


def stream(session, name, count, at_nap):
    """All records through a flow, to a consumer that sleeps after it called `at_nap`."""
    flow, plus = CASES[name]()
    failed = []
    seen = np.zeros(count, dtype=np.uint8)
    next_nap, received, last = 0, 0, -1
    with session.deploy(flow) as job:
        feeder = threading.Thread(target=feed, args=(job, count, failed))
        feeder.start()
        time.sleep(8 * NAP_SECONDS)
        for epoch, (key, value, payload) in job.results("out", as_they_come=True, timeout=PATIENCE):
            assert epoch == 0
            check_records(key, value, payload, plus)
            np.add.at(seen, key, 1)
            if name == "collect":
                assert key[0] > last and np.all(np.diff(key) > 0), "out of order"
                last = key[-1]
            received += len(key)
            if received >= next_nap:
                next_nap += max(count // NAPS, 1)
                at_nap()
                time.sleep(NAP_SECONDS)
        feeder.join()
    assert not failed, failed
    assert received == count and np.all(seen == 1), f"{received} of {count}"


def run_case(cluster, name, count):
    """Returns: how many files were there at once."""
    spilled = 0

    def look():
        nonlocal spilled
        await_no_names()
        spilled = max(spilled, sum(w.unnamed_files(SPILL) for w in cluster.workers))
        cluster.check_limits()

    stream(cluster.session, name, count, look)
    cluster.check_limits()
    await_released(cluster)
    return spilled


def await_no_names():
    """Until no file has a name: on some file systems one has for a moment."""
    end = time.monotonic() + PATIENCE
    while names := os.listdir(SPILL):
        assert time.monotonic() < end, f"files have names: {names}"
        time.sleep(0.01)


def await_released(cluster):
    """Until no worker has a file or more memory than a little."""
    end = time.monotonic() + PATIENCE
    while True:
        files = sum(w.unnamed_files(SPILL) for w in cluster.workers)
        own = max(w.own_bytes() for w in cluster.workers)
        if files == 0 and own < cluster.idle_bytes + LIMIT // 3:
            return
        assert time.monotonic() < end, f"{files} files, {own} bytes; idle {cluster.idle_bytes}"
        time.sleep(0.1)


def warm_up(cluster):
    """Until a worker has what it keeps anyway."""
    for name in CASES:
        with cluster.session.deploy(CASES[name]()[0]) as job:
            feed(job, 100, [])
            collections.deque(job.results("out", timeout=PATIENCE), maxlen=0)


def idle_bytes():
    """Returns: what a process of the cluster takes without records: in all, and not of files."""
    with Cluster() as cluster:
        warm_up(cluster)
        time.sleep(0.5)
        own = max(p.own_bytes() for p in cluster.processes)
        groups = [p.group for p in cluster.processes if p.group]
        return max([g.usage() for g in groups], default=own), own


# --- The tests.


def limited(idle, **more):
    cluster = Cluster(limit=idle[0] + LIMIT, **more)
    cluster.idle_bytes = idle[1]
    return cluster


def report(cluster, name, idle, count, seconds, spilled):
    peaks = {name: f"{peak / 1e6:.0f}" for name, peak in cluster.peaks().items()}
    busy = {p.name: f"{p.processor_seconds():.1f}" for p in cluster.processes}
    read = sum(w.read_bytes() for w in cluster.workers)
    print(
        f"        {count * RECORD_BYTES / 1e6:.0f} MB in {seconds:.1f} s; limit"
        f" {(idle[0] + LIMIT) / 1e6:.0f} MB, peaks {peaks}; processor seconds {busy};"
        f" files seen: {spilled}; read from disk: {read / 1e6:.0f} MB",
        flush=True,
    )
    # Each record a few times, and next to nothing beside what is asked for.
    most = MOST_READ[name] * max(count * RECORD_BYTES, LIMIT)
    assert read < most, f"{read} bytes were read from disk"


def test_flow(idle, name):
    count = SIZE // RECORD_BYTES
    with limited(idle) as cluster:
        began = time.monotonic()
        spilled = run_case(cluster, name, count)
        report(cluster, name, idle, count, time.monotonic() - began, spilled)
        if name in ("collect", "join") and SIZE > LIMIT:
            assert spilled > 0, "nothing was on disk"


def write_records(cluster, count, folder):
    """All records through both workers into one file. Returns: the number of spill files seen."""
    flow = weir.Flow("files")
    flow.input("records", "i64", "i64", f"i64[{PAYLOAD}]").write_files(f"{folder}/{{epoch}}.npy")
    spilled = 0
    with cluster.session.deploy(flow) as job:
        for first in range(0, count, BATCH):
            job.send("records", records(first, min(BATCH, count - first)))
            if first // BATCH % 50 == 0:
                spilled = max(spilled, sum(w.unnamed_files(SPILL) for w in cluster.workers))
                cluster.check_limits()
        job.close()
        job.wait(timeout=PATIENCE)
    return spilled


def test_files(idle):
    """A file of an epoch that is larger than memory has all records in their order."""
    count = SIZE // RECORD_BYTES
    with tempfile.TemporaryDirectory() as folder, limited(idle) as cluster:
        began = time.monotonic()
        os.chmod(folder, 0o777)
        spilled = write_records(cluster, count, folder)
        report(cluster, "files", idle, count, time.monotonic() - began, spilled)
        cluster.check_limits()
        await_released(cluster)
        assert os.listdir(folder) == ["0.npy"]
        written = np.load(f"{folder}/0.npy", mmap_mode="r")
        assert written.shape == (count, RECORD_BYTES // 8)
        for first in range(0, count, 1 << 16):
            rows = written[first : first + (1 << 16)]
            wanted = np.arange(first, first + len(rows))
            assert np.array_equal(rows[:, 0], wanted), "out of order"
            check_records(rows[:, 0], rows[:, 1], rows[:, 2:])
        if SIZE > LIMIT:
            assert spilled > 0, "nothing was on disk"


def test_whole(idle):
    """A function of all records of a time takes them as one, so too many are refused: at once,
    with what to do, and neither the worker nor its other flows are touched.
    """
    flow = weir.Flow("whole")
    sums = flow.input("records", *COLUMNS).collect(
        lambda keys, values, payloads: (keys[:1], values[:1], payloads[:1]), name="all"
    )
    sums.output("out")
    with limited(idle) as cluster:
        failed = []
        with cluster.session.deploy(flow) as job:
            feed(job, SIZE // RECORD_BYTES, failed)
            try:
                collections.deque(job.results("out", timeout=PATIENCE), maxlen=0)
            except weir.Error as error:
                failed.append(error)
        assert failed and isinstance(failed[0], weir.ResourceExhausted), failed
        for text in ("'all'", "its function needs all", "--flow-memory", "more epochs"):
            assert text in str(failed[0]), failed[0]
        cluster.check_limits()
        await_released(cluster)
        run_case(cluster, "channel", 1000)


def test_cancel(idle):
    """Cancel under load: what was kept is given back, and the next flow runs."""
    count = SIZE // RECORD_BYTES
    with limited(idle) as cluster:
        for name in CASES:
            failed = []
            with cluster.session.deploy(CASES[name]()[0]) as job:
                feeder = threading.Thread(target=feed, args=(job, count, failed))
                feeder.start()
                time.sleep(1)
                job.cancel()
                feeder.join()
            assert all(isinstance(error, weir.Cancelled) for error in failed), failed
            await_released(cluster)
        run_case(cluster, "channel", min(count, 10_000))


def test_disk(idle):
    """A full disk fails the flow with a message, and neither the worker nor its other flows."""
    with limited(idle, worker_args=["--flow-memory", "1MiB", "--spill-limit", "4MiB"]) as cluster:
        failed = []
        with cluster.session.deploy(collect()[0]) as job:
            feed(job, 64_000_000 // RECORD_BYTES, failed)
            try:
                collections.deque(job.results("out", timeout=PATIENCE), maxlen=0)
            except weir.Error as error:
                failed.append(error)
        assert failed and isinstance(failed[0], weir.ResourceExhausted), failed
        for text in ("collect", "--spill-limit", "4194304"):
            assert text in str(failed[0]), failed[0]
        cluster.check_limits()
        await_released(cluster)
        run_case(cluster, "channel", 1000)


def test_examples(idle):
    """One frame in flight on each channel, and next to no memory, stop no example."""
    args = {"server_args": ["--flow-channel", "1B"], "worker_args": ["--flow-memory", "64KiB"]}
    with Cluster(**args) as cluster:
        environment = {**os.environ, "WEIR_ADDRESS": cluster.address}
        for example in sorted((ROOT / "client" / "examples").glob("*.py")):
            if "weir.Flow(" not in example.read_text():
                continue
            ended = subprocess.run(
                [sys.executable, str(example)],
                env=environment,
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=1200,
            )
            assert ended.returncode == 0, f"{example.name}\n{ended.stdout}{ended.stderr}"
            print(f"        {example.stem}")


def rounds_per_second(session, seconds):
    """Returns: of a small flow, how many epochs go through one after the other in a second."""
    flow = weir.Flow("small")
    flow.input("numbers", "i64", "i64").count(keys=1).output("counts")
    numbers = np.arange(1000, dtype=np.int64) % 50
    rates = []
    with session.deploy(flow) as job:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            for _ in range(20):
                job.send("numbers", (numbers, numbers))
                epoch = job.frontier("numbers")
                job.advance("numbers")
                job.wait(epoch, timeout=60)
            rates.append(20 / (time.monotonic() - began))
        job.close()
        collections.deque(job.results("counts", timeout=60), maxlen=0)
    return statistics.median(rates)


def heavy_client(address, name, count):
    """One of its own, as a process, so that the two flows share no interpreter."""
    with weir.connect(address) as session:
        stream(session, name, count, lambda: None)


def busy_seconds(cluster):
    """Returns: what all processes of the cluster and this one have had of processors."""
    return sum(p.processor_seconds() for p in cluster.processes) + time.process_time()


def test_fair(idle):
    """Another flow keeps at least 80 % of its rate beside a large one whose consumer sleeps. What
    is timed depends on who else has the machine, so this is no part of the other tests.
    """
    count = SIZE // RECORD_BYTES
    processes = multiprocessing.get_context("spawn")
    with limited(idle) as cluster:
        rounds_per_second(cluster.session, 1)
        for name in CASES:
            before = busy_seconds(cluster)
            alone = rounds_per_second(cluster.session, 3)
            needs = (busy_seconds(cluster) - before) / 3
            runner = processes.Process(target=heavy_client, args=(cluster.address, name, count))
            runner.start()
            beside = []
            while runner.is_alive():
                beside.append(rounds_per_second(cluster.session, 1))
            runner.join()
            assert runner.exitcode == 0
            alone = statistics.median([alone, rounds_per_second(cluster.session, 3)])
            rate = statistics.median(beside)
            print(f"        {name}: {alone:.0f} rounds/s alone, on {needs:.1f} processors;"
                  f" {rate:.0f} beside it, {100 * rate / alone:.0f} %")  # fmt: skip
            assert rate >= 0.8 * alone


def main():
    tests = {"examples": test_examples}
    for name in CASES:
        tests[name] = lambda idle, name=name: test_flow(idle, name)
    tests |= {"files": test_files, "whole": test_whole}
    tests |= {"cancel": test_cancel, "disk": test_disk, "fair": test_fair}
    chosen = sys.argv[1:] or [name for name in tests if name != "fair"]
    idle = idle_bytes()
    failed = 0
    for name in chosen:
        try:
            tests[name](idle)
            print(f"ok      {name}", flush=True)
        except Exception as error:  # noqa: BLE001: all are counted
            failed += 1
            print(f"FAILED  {name}: {type(error).__name__}: {error}", flush=True)
    group = Group.make(f"weir-{os.getpid()}-probe")
    how = f"control groups, version {group.version}" if group else "WITHOUT control groups"
    if group:
        group.remove()
    print(f"flow_memory: {len(chosen) - failed} passed, {failed} failed ({how})")
    return 1 if failed else 0


if __name__ == "__main__":
    own_folder = "WEIR_SPILL_DIRECTORY" not in os.environ
    SPILL = os.environ.get("WEIR_SPILL_DIRECTORY") or tempfile.mkdtemp(prefix="weir-spill-")
    try:
        sys.exit(main())
    finally:
        if own_folder:
            shutil.rmtree(SPILL)
