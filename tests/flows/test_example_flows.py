"""The flows of client/examples on a coordinator and workers as processes: on 1, 2 and 3 workers,
and again and again with random delays in every connection, they give the records of the sequential
executor, bit for bit; where kernels add up in another order than it does, those of one worker.

    WEIR_FLOW_REPEATS=20 WEIR_FLOW_SEED=7 python3 -m pytest tests/flows/test_example_flows.py
"""

import os
import pathlib
import random
import re

from delays import Delays
import pytest
import test_flow_examples
from test_flow_examples import ADDED_UP_OTHERWISE, SMALL, multisets
from processes import PATIENCE, wait_until

import weir

REPEATS = int(os.environ.get("WEIR_FLOW_REPEATS", 2))
SEED = int(os.environ.get("WEIR_FLOW_SEED", random.randrange(1 << 30)))
_FOLDER = pathlib.Path(__file__).resolve().parents[2] / "client" / "examples"


@pytest.fixture(scope="module")
def wanted():
    """Returns: a function from a name to (example, inputs, multisets), computed once."""
    known = {}

    def find(name):
        if name not in known:
            example = test_flow_examples.load(name)
            inputs = SMALL[name](example)
            if name in ADDED_UP_OTHERWISE:
                with weir.connect(workers=1):
                    results = example.build().run(inputs)
            else:
                results = example.build().run_sequentially(inputs)
            known[name] = example, inputs, multisets(results)
        return known[name]

    return find


def check_run(name, wanted):
    example, inputs, results = wanted(name)
    found = example.build().run(inputs, timeout=PATIENCE)
    example.check(found, inputs)
    assert multisets(found) == results


# Its workers need a folder: tests/cluster/flows.sh has files on processes.
WITH_FILES = {"csv_counts"}


def test_no_example_is_left_out():
    has_flow = re.compile(r"^def build\(", re.M)
    flows = {file.stem for file in _FOLDER.glob("*.py") if has_flow.search(file.read_text())}
    assert flows == set(SMALL) | WITH_FILES


@pytest.fixture(scope="module", params=[1, 2, 3])
def cluster(request, start_cluster):
    with start_cluster(request.param) as (cluster, _):
        yield cluster


@pytest.mark.parametrize("name", SMALL)
def test_processes(name, cluster, wanted):
    check_run(name, wanted)


# A cluster that runs already, such as one of containers.
@pytest.mark.parametrize("name", SMALL if "WEIR_ADDRESS" in os.environ else [])
def test_given_cluster(name, wanted):
    with weir.connect():
        check_run(name, wanted)


@pytest.fixture(scope="module")
def delayed(start_cluster):
    print(f"delays from WEIR_FLOW_SEED={SEED}")
    delays = Delays(SEED)
    try:
        with start_cluster(3, delays=delays) as (cluster, _):
            yield cluster
    finally:
        delays.close()


@pytest.mark.parametrize("repeat", range(REPEATS))
@pytest.mark.parametrize("name", SMALL)
def test_delays_change_no_bit(name, repeat, delayed, wanted):
    check_run(name, wanted)


def inside_of_loops(text):
    """Returns: names of vertices of a flow in text form that loops are around, as records pass them
    between an `enter` and a `leave`.
    """
    vertices = []
    form = re.compile(r"^  (%[^=]*) = (\w+)\(([^)]*)\)", re.M)
    for outputs, kind, inputs in form.findall(text):
        names = [re.findall(r"%([\w.]+)", part) for part in (outputs, inputs)]
        vertices.append((names[0], kind, names[1]))
    inside, known = set(), None
    while known != inside:
        known = set(inside)
        for outputs, kind, inputs in vertices:
            if kind in ("enter", "feedback") or (kind != "leave" and inside & set(inputs)):
                inside |= set(outputs)
    return inside


# No record that goes from one worker to another passes the coordinator: what does is what clients
# feed and take, and the figure for all else stays at zero.
def test_loops_span_workers_and_records_go_straight(three, wanted):
    cluster, _ = three
    spanning = []
    for name in SMALL:
        example, inputs, _ = wanted(name)
        inside = inside_of_loops(example.build().text())
        if not inside:
            continue
        check_run(name, wanted)
        job = cluster.newest_job()

        def frames_between_workers():
            _, vertices = cluster.status(job)
            return sum(int(vertices[vertex]["peer_frames"]) for vertex in inside)

        # Workers say what they did when they are told of the end.
        wait_until(frames_between_workers, f"loops of {name} span workers")
        spanning.append(name)
    assert len(spanning) >= 3, spanning
    figures = cluster.metrics()
    assert figures['weir_coordinator_tensor_bytes_total{kind="other"}'] == 0
    assert figures['weir_coordinator_tensor_bytes_total{kind="feed"}'] > 0
    assert figures['weir_coordinator_tensor_bytes_total{kind="result"}'] > 0
