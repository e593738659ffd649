#!/usr/bin/env python3
"""Automatic batching: single-example requests of many clients, together and one by one.

usage: PYTHONPATH=build/release/python tests/bench/flow_calls.py [--clients N] [--seconds S]
                                                                 [--bin DIR]

Each client calls a flow with one record and waits for its answer, over gRPC, against a coordinator
and a worker as processes. `lstm` has 128 inputs, a state of 256 and 10 steps; `empty`
gives back what it gets, so it shows what a request costs by itself. With batches of one the same
requests run one after the other. The goal is at least 4 times the throughput of batches of one at
no worse 99th percentile.
"""

import argparse
import contextlib
import pathlib
import re
import socket
import subprocess
import tempfile
import time

import numpy as np

import weir
import weir.numpy as wnp

INPUTS, STATE, STEPS = 128, 256, 10


def lstm():
    random = np.random.default_rng(0)
    weights = (random.standard_normal((INPUTS + STATE, 4 * STATE)) / 20).astype(np.float32)

    def last(sequence):
        hidden, cell = wnp.zeros((STATE,), "f32"), wnp.zeros((STATE,), "f32")
        for step in range(STEPS):
            gates = wnp.concatenate([sequence[step], hidden]) @ weights
            into, forget, out, new = (gates[k * STATE : (k + 1) * STATE] for k in range(4))
            cell = weir.nn.sigmoid(forget) * cell + weir.nn.sigmoid(into) * wnp.tanh(new)
            hidden = weir.nn.sigmoid(out) * wnp.tanh(cell)
        return hidden

    return last


def flow_text(function, shape, max_batch):
    flow = weir.Flow("calls")
    flow.input("records", f"f32[{shape}]").map(function).output("answers")
    return re.sub(r"(= input\(\) \{)", rf"\1max_batch = {max_batch}, ", flow.text())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def cluster(folder):
    """Gives: the address of a coordinator with one worker."""
    address = f"127.0.0.1:{free_port()}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([f"{folder}/weir-server", "--listen", address], **quiet)
    worker = subprocess.Popen([f"{folder}/weir-worker", "--server", address], **quiet)
    try:
        while b"READY" not in subprocess.run(
            [f"{folder}/weir", "workers", "--server", address], capture_output=True
        ).stdout.upper():
            time.sleep(0.1)
        yield address
    finally:
        worker.terminate()
        server.terminate()
        worker.wait()
        server.wait()


def measure(options, address, text):
    """Returns: calls per second, median and 99th percentile in microseconds, calls an epoch."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        command = [f"{options.bin}/flow_calls_bench", address, file.name]
        command += [str(options.clients), str(options.seconds)]
        return [float(word) for word in subprocess.check_output(command).split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--bin", type=pathlib.Path, default="build/release/bin")
    options = parser.parse_args()
    print(f"{'model':8} {'batches':>8} {'calls/s':>9} {'p50 us':>8} {'p99 us':>8} {'together':>9}")
    models = {"empty": (lambda x: x, "128"), "lstm": (lstm(), f"{STEPS},{INPUTS}")}
    with cluster(options.bin) as address:
        for name, (function, shape) in models.items():
            rates = {}
            for most in (1, options.clients):
                row = measure(options, address, flow_text(function, shape, most))
                rates[most] = row[0]
                rate, median, tail, together = row
                print(f"{name:8} {most:8} {rate:9.0f} {median:8.0f} {tail:8.0f} {together:9.1f}")
            print(f"{name:8} together / one by one: {rates[options.clients] / rates[1]:.2f}")


if __name__ == "__main__":
    main()
