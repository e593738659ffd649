"""Programs that are measured: a cluster as processes, and clients that print numbers."""

import contextlib
import os
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.request

START_LIMIT = 30  # seconds


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_seconds(pid):
    """What the threads of a process have used so far, to the nanosecond."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


class Cluster:
    """A coordinator and workers, each a process with one compute thread unless said otherwise. With
    `apart` each worker is bound to a processor of its own, as far as there are so many."""

    def __init__(self, folder, workers, threads=1, apart=False):
        self.address = f"127.0.0.1:{free_port()}"
        self.http = f"127.0.0.1:{free_port()}"
        self._folder = folder
        self._processes = []
        self._start("weir-server", "--listen", self.address, "--http", self.http)
        for number in range(workers):
            words = ["--server", self.address, "--name", f"w{number}", "--threads", str(threads)]
            self._start("weir-worker", *words, processor=number if apart else None)
        end = time.monotonic() + START_LIMIT
        while self._ready() < workers:
            if time.monotonic() > end:
                self.stop()
                raise SystemExit(f"{workers} workers did not start within {START_LIMIT} s")
            time.sleep(0.05)

    def _start(self, program, *words, processor=None):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [self._folder / program, *words]
        if processor is not None:
            allowed = sorted(os.sched_getaffinity(0))
            command[:0] = ["taskset", "-c", str(allowed[processor % len(allowed)])]
        self._processes.append(subprocess.Popen(command, **quiet))

    def _ready(self):
        command = [self._folder / "weir", "workers", "--server", self.address]
        shown = subprocess.run(command, capture_output=True, check=False).stdout
        return shown.upper().count(b"READY")

    @property
    def pids(self):
        return [process.pid for process in self._processes]

    def metric(self, name):
        """The sum of all series of this name at /metrics."""
        with urllib.request.urlopen(f"http://{self.http}/metrics") as page:
            lines = page.read().decode().splitlines()
        of_name = [line for line in lines if line.split("{")[0].split()[0] == name]
        return sum(float(line.split()[-1]) for line in of_name)

    def stop(self):
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            process.wait()
        self._processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Programs:
    """Runs programs of build/release/bin that print numbers."""

    def __init__(self, folder):
        self.folder = folder
        missing = [name for name in NEEDED if not os.access(folder / name, os.X_OK)]
        if missing:
            raise SystemExit(
                f"{folder} has no {', '.join(missing)}: build with 'ninja -C build/release', or say"
                " --bin DIR"
            )

    def cluster(self, workers, threads=1, apart=False):
        return Cluster(self.folder, workers, threads, apart)

    def numbers(self, name, *words, flow=None):
        """The numbers that a program prints. In `words`, FLOW is a file with the text `flow`."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(flow or "")
            file.flush()
            command = [self.folder / name, *(file.name if w is FLOW else str(w) for w in words)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
        return [float(word) for word in done.stdout.split()]

    def text(self, name, *words):
        return subprocess.check_output([self.folder / name, *words], text=True)


FLOW = object()
NEEDED = [
    "weir",
    "weir-server",
    "weir-worker",
    "raw_tcp_bench",
    "raw_link_bench",
    "flow_rounds_bench",
    "flow_graph_bench",
    "flow_calls_bench",
    "flow_bench",
    "job_progress_bench",
]
