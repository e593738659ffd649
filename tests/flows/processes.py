"""A coordinator and workers as processes on loopback, as an operator starts them."""

import ctypes
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.request

_REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BINARIES = pathlib.Path(
    os.environ.get("WEIR_BINARIES", _REPOSITORY / "build" / "release" / "bin")
)
# Nothing here depends on how fast the machine is: whoever waits for so long has found a fault.
PATIENCE = float(os.environ.get("WEIR_PATIENCE", 300))


def wait_until(is_so, what, patience=PATIENCE):
    """Returns: what `is_so` returns, once that is true."""
    end = time.monotonic() + patience
    while not (found := is_so()):
        assert time.monotonic() < end, f"still not so: {what}"
        time.sleep(0.02)
    return found


class Cluster:
    """A context manager. Workers are named w1, w2, ...

    Attributes:
      address: where clients connect.
      folder: of what they log.
      workers: processes by name; those that were killed are not in it.
    """

    def __init__(self, folder, workers, delays=None, threads=1, lost_after=30):
        """`delays`: a `Delays` for all connections: of clients, and of workers with the coordinator
        and each other. `lost_after`: seconds; on a busy machine a process may sleep for some.
        """
        self.workers = {}
        self.folder = pathlib.Path(folder)
        self._delays = delays
        self._threads = threads
        self._numbers = itertools.count(1)
        self._logs = []
        any_port = "127.0.0.1:0"
        self._server = self._start(
            *("server", "weir-server", "--listen", any_port, "--http", any_port),
            *("--lost-after", str(lost_after)),
        )
        self._http = wait_until(lambda: self._printed("serving HTTP on "), "HTTP is served")
        self._direct = wait_until(lambda: self._printed("listening on "), "it listens")
        self.address = self._direct
        if delays is not None:
            front = delays.proxy(("127.0.0.1", 0), ("127.0.0.1", _port(self._direct)))
            self.address = f"127.0.0.1:{front}"
        wait_until(lambda: self.weir("health").returncode == 0, "the coordinator serves")
        self.add_workers(workers)

    def add_workers(self, count):
        added = [f"w{next(self._numbers)}" for _ in range(count)]
        for name in added:
            options = ["--data-listen", "127.0.0.1:0"]
            if self._delays is not None:
                # Others reach it through another address of the same machine.
                options += ["--data-host", "127.0.0.2"]
            options += ["--server", self.address, "--name", name, "--threads", str(self._threads)]
            self.workers[name] = self._start(name, "weir-worker", *options)
        self.await_workers(len(self.workers))
        if self._delays is not None:
            ready = self.ready_workers()
            for port in (_port(ready[name]["data_address"]) for name in added):
                self._delays.proxy(("127.0.0.2", port), ("127.0.0.1", port))

    def await_workers(self, count):
        wait_until(lambda: len(self.ready_workers()) == count, f"{count} workers are ready")

    def ready_workers(self):
        """Returns: {name: what the coordinator knows of the worker}."""
        listed = self.json("workers")["workers"]
        return {w["name"]: w for w in listed if w["state"].lower() == "ready"}

    # --- What an operator does.

    def weir(self, *arguments, timeout=PATIENCE):
        """Runs the command `weir`, past all delays. Returns: the CompletedProcess, with text."""
        command, *rest = arguments
        return subprocess.run(
            [BINARIES / "weir", command, "--server", self._direct, *map(str, rest)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=timeout,
        )

    def json(self, *arguments):
        done = self.weir(*arguments, "-o", "json")
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    def status(self, job):
        """Returns: (what `weir watch` knows of a flow, its vertices by name)."""
        status = self.json("watch", job, "--once")
        return status, {vertex["name"]: vertex for vertex in status["vertices"]}

    def newest_job(self):
        """Returns: the id of the job that was accepted last."""
        return self.json("list")["jobs"][0]["id"]

    def metrics(self):
        """Returns: {name with labels: value} of the coordinator."""
        with urllib.request.urlopen(f"http://{self._http}/metrics", timeout=PATIENCE) as answer:
            lines = answer.read().decode().splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    # --- Processes.

    def pause(self, name):
        self.workers[name].send_signal(signal.SIGSTOP)

    def wake(self, name):
        self.workers[name].send_signal(signal.SIGCONT)

    def kill(self, name):
        process = self.workers.pop(name)
        process.kill()
        process.wait()

    def memory(self, name):
        """Returns: bytes of a process ("server" or a worker) that are no file's."""
        process = self._server if name == "server" else self.workers[name]
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s*(\d+) kB", status)[1]) << 10

    def processor_seconds(self, name):
        fields = pathlib.Path(f"/proc/{self.workers[name].pid}/stat").read_text().split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()

    def close(self):
        processes = [self._server, *self.workers.values()]
        for process in processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
        for process in processes:
            process.wait()
        for log in self._logs:
            log.close()

    def _printed(self, start):
        """Returns: what follows `start` in a line of the coordinator; None before it is there."""
        assert self._server.poll() is None, self.log("server")
        found = re.search(rf"^{start}(.*)\n", self.log("server"), re.M)
        return found and found[1]

    def _start(self, name, program, *arguments):
        log = open(self.folder / f"{name}.log", "w")
        self._logs.append(log)
        return subprocess.Popen(
            [BINARIES / program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=_end_with_parent,
        )

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def _end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _port(address):
    return int(address.rsplit(":", 1)[1])
