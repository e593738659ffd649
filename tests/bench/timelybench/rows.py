"""What is measured. Each function yields rows; a ratio is of figures of the same run, which take
turns, and the one shown is their median."""

import json
import time

from . import flows
from .processes import FLOW, cpu_seconds
from .report import at_least, at_most, median, micros, rate, row

MESSAGE_BYTES = 64  # of a small message


def raw_round_trip(programs, place):
    return programs.numbers("raw_tcp_bench", "round-trip", MESSAGE_BYTES, 3000, place)[0]


def settings(programs, apart=False):
    """Yields: what it is called, workers, and where they are (a context). With `apart` each worker
    process is bound to a processor of its own."""
    yield "1 worker", 1, None
    yield "2 workers in a process", 2, None
    yield "2 processes", 2, programs.cluster(2, apart=apart)


def in_turns(turns, *measures):
    """Returns: for each of them what it gave, turn by turn."""
    taken = [[measure() for measure in measures] for _ in range(turns)]
    return list(zip(*taken))


def timed(options, programs, flow, records, epochs, address):
    """Microseconds of an epoch: the median."""
    del options
    return programs.numbers("flow_rounds_bench", address, FLOW, records, epochs, flow=flow)[1]


def barrier(options, programs):
    """A round of a loop in which each worker waits until all are through with the round before:
    a notification on each worker, and no record that changes workers. Workers, and the ends of the
    TCP round trip next to them, have a processor each: where the system puts them decides how long
    a message takes, and it would put one here and the other there."""
    rounds = 1000
    flow = flows.barrier(rounds)
    for name, workers, cluster in settings(programs, apart=True):
        address = cluster.address if cluster else workers
        taken, apart, together = in_turns(
            3 * options.turns,
            lambda: timed(options, programs, flow, 1, 3, address) / rounds,
            lambda: raw_round_trip(programs, "apart"),
            lambda: raw_round_trip(programs, "together"),
        )
        target = at_most(2.5) if cluster else {}
        yield row(
            f"barrier, {name}",
            f"{micros(median(taken))} a round",
            f"{micros(median(apart))} TCP, {micros(median(together))} on one processor",
            median(t / r for t, r in zip(taken, apart)),
            **target,
        )
        if cluster:
            cluster.stop()


def exchange(options, programs):
    """A barrier in each round of which each worker makes records, which go to the workers of their
    keys; next to two processes that send each other as many over the same kind of link."""
    for records in (1, 1000, options.exchange_records):
        rounds = 1000 if records < 10_000 else 50
        flow, seeds = flows.exchange(rounds, records)
        for name, workers, cluster in settings(programs):
            address = cluster.address if cluster else workers

            def one_round():
                return timed(options, programs, flow, seeds, 5, address) / rounds

            def raw():
                return programs.numbers("raw_link_bench", records, rounds)[0]

            taken, bare = in_turns(options.turns, one_round, raw)
            # Of records per second: over the link go those of two.
            ratio = median(workers * b / (2 * t) for t, b in zip(taken, bare))
            is_held = cluster and records == options.exchange_records
            yield row(
                f"exchange of {records:,}, {name}",
                f"{micros(median(taken))}, {rate(workers * records / median(taken) * 1e6)}",
                f"{micros(median(bare))}, {rate(2 * records / median(bare) * 1e6)} over a link",
                ratio,
                **(at_least(0.5) if is_held else {}),
            )
            if cluster:
                cluster.stop()


def graph(options, programs):
    """Algorithms on a random graph from when all records lie on the workers; next to a plain
    program over arrays on one thread."""
    trips = 5
    for kind in ("bfs", "components", "pagerank"):
        flow = flows.graph(kind, trips)
        # Edges that an algorithm follows: both ways for components, in each trip for PageRank.
        edges = options.edges * {"bfs": 1, "components": 1, "pagerank": trips}[kind]
        for name, workers, cluster in settings(programs):
            address = cluster.address if cluster else workers
            words = (kind, options.vertices, options.edges, trips)
            fed, took, plain = programs.numbers(
                "flow_graph_bench", address, FLOW, *words, flow=flow
            )
            yield row(
                f"{kind}, {name}",
                f"{rate(edges / took)} edges, {took:.3g} s",
                f"{rate(edges / plain)} plain; fed in {fed:.2g} s",
                plain / took,
            )
            if cluster:
                cluster.stop()


def chain(options, programs):
    """An epoch through vertices behind each other, on one worker in this process, with the client's
    part; next to a chain of one vertex."""
    for records in (0, 1):

        def through(vertices):
            return timed(options, programs, flows.chain(vertices), records, 2000, 1)

        for vertices in (10, 100):
            taken, one = in_turns(
                options.turns, lambda: through(vertices), lambda: through(1)
            )
            each = median((t - o) / (vertices - 1) for t, o in zip(taken, one))
            yield row(
                f"chain of {vertices}, {records or 'no'} record",
                f"{micros(median(taken))} an epoch, {each:.2g} us a vertex",
                f"{micros(median(one))} with one vertex",
                median(t / o for t, o in zip(taken, one)),
            )


def calls(options, programs):
    """Requests with one example from many clients over gRPC, in batches and one by one."""
    from . import models  # needs the Python package

    with programs.cluster(1, threads=2) as cluster:
        for model in models.MODELS:

            def measured(most):
                words = (cluster.address, FLOW, options.clients, options.seconds, *cluster.pids)
                text = models.flow_text(model, most)
                return programs.numbers("flow_calls_bench", *words, flow=text)

            batched, single = in_turns(
                options.turns, lambda: measured(64), lambda: measured(1)
            )
            figures = [tuple(map(median, zip(*each))) for each in (batched, single)]
            texts = [f"{rate(f[0])}, p50 {micros(f[1])}, p99 {micros(f[2])}" for f in figures]
            # Of clients, coordinator and worker; what they have to share is two processors or so.
            spent = [" + ".join(f"{cpu:.0f}" for cpu in f[4:]) for f in figures]
            is_held = model == "lstm"
            yield row(
                f"calls of {model}, processor time",
                f"{spent[0]} us a call",
                f"{spent[1]} us",
                median(sum(s[4:]) / sum(b[4:]) for b, s in zip(batched, single)),
            )
            yield row(
                f"calls of {model}, together",
                texts[0],
                f"{texts[1]}, one by one",
                median(b[0] / s[0] for b, s in zip(batched, single)),
                **(at_least(4) if is_held else {}),
            )
            if is_held:
                yield row(
                    f"calls of {model}, p99",
                    micros(figures[0][2]),
                    micros(figures[1][2]),
                    median(b[2] / s[2] for b, s in zip(batched, single)),
                    **at_most(1),
                )


def idle(options, programs):
    """Processor time of processes in which a job waits for records; next to none deployed."""

    def share(cluster):
        before = [cpu_seconds(pid) for pid in cluster.pids]
        begin = time.monotonic()
        time.sleep(options.idle_seconds)
        took = time.monotonic() - begin
        return [100 * (cpu_seconds(pid) - b) / took for pid, b in zip(cluster.pids, before)]

    with programs.cluster(1) as cluster:
        bare = share(cluster)
        words = (cluster.address, FLOW, 1, 10, "stay")
        programs.numbers("flow_rounds_bench", *words, flow=flows.chain(10))
        deployed = share(cluster)
    for name, with_job, without in zip(("coordinator", "worker"), deployed, bare):
        yield row(
            f"idle job, {name}",
            f"{with_job:.2f} % of a core",
            f"{without:.2f} % without",
            with_job,
            **at_most(1),
        )


def progress_bytes(options, programs):
    """Bytes of progress an epoch of an exchange, all workers together: they follow from frames and
    workers, not from records."""
    del options
    words = ("--benchmark_filter=BM_Exchange", "--benchmark_format=json")
    found = {}
    printed = programs.text("flow_bench", *words, "--benchmark_min_time=0.05")
    for run in json.loads(printed)["benchmarks"]:
        parts = dict(part.split(":") for part in run["name"].split("/")[1:])
        key = (int(parts["records"]), int(parts["workers"]))
        found[key] = run["progress_bytes_per_epoch"]
    most = max(workers for _, workers in found)
    for workers in sorted({workers for _, workers in found}):
        few, many = found[1000, workers], found[100_000, workers]
        yield row(
            f"progress, 100,000 records, workers: {workers}",
            f"{many:.0f} bytes an epoch",
            f"{few:.0f} bytes for 1,000 records",
            many / few,
            **at_most(1.05),
        )
    half = found[1000, most // 2]
    yield row(
        f"progress, 1,000 records, workers: {most}",
        f"{found[1000, most]:.0f} bytes an epoch",
        f"{half:.0f} bytes for {most // 2}",
        found[1000, most] / half,
        **at_most(2.1),
    )


def tracker(options, programs):
    """The coordinator's half for 1,000 workers with 20 changes each an epoch, on one core."""
    del options
    words = ("--benchmark_filter=BM_JobProgress", "--benchmark_format=json")
    for run in json.loads(programs.text("job_progress_bench", *words))["benchmarks"]:
        merged = run["name"].split(":")[-1]
        epochs = run["epochs"]
        yield row(
            f"1,000 workers, {merged} batches merged",
            f"{rate(epochs)} epochs",
            "1,000 /s",
            epochs / 1000,
            **(at_least(1) if merged == "1000" else {}),
        )


ROWS = {
    "barrier": barrier,
    "exchange": exchange,
    "graph": graph,
    "chain": chain,
    "calls": calls,
    "idle": idle,
    "progress": progress_bytes,
    "tracker": tracker,
}
