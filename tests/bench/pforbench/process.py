"""A framework in a process of its own, and the words that go to and fro.

Requests are tuples (name, arguments...), replies (True, value) or (False, why not). Arrays travel
as the bytes of .npy files, because the two sides may have different versions of NumPy.
"""

import importlib
import io
import os
import subprocess
import time
import traceback
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import numpy as np

SHORTEST_SAMPLE = 0.03  # seconds
# Threads of other frameworks look for more work for a while before they sleep.
SETTLE = 0.05  # seconds


class Failed(Exception):
    """The framework could not do it."""


class Peer:
    """The side that asks.

    Attributes:
      name: of the framework.
      version: of it, or None where it is not there.
      missing: why it is not there, or None.
    """

    def __init__(self, name, script, python, threads):
        self.name = name
        self._connection, theirs = Pipe()
        descriptor = theirs.fileno()
        self._process = subprocess.Popen(
            [python, script, "--serve", name, str(descriptor), "--threads", str(threads)],
            pass_fds=[descriptor],
        )
        theirs.close()
        self.version, self.missing = None, None
        try:
            self.version = self._receive()
        except Failed as error:
            self.missing = str(error)

    def prepare(self, row, n):
        """Compiles a row and runs it. Returns: (results, notes, facts). Raises: Failed."""
        results, notes, facts = self._ask("prepare", row, n)
        return [np.load(io.BytesIO(x)) for x in results], notes, facts

    def time(self):
        """Returns: seconds for one run of the row. Raises: Failed."""
        return self._ask("time")

    def profile(self):
        """Returns: where the time of a run goes, see `in_weir`. Raises: Failed."""
        return self._ask("profile")

    def time_loop(self):
        """Returns: seconds for one example of the row in the loop to compare with. Raises:
        Failed.
        """
        return self._ask("time_loop")

    def close(self):
        """Ends the process."""
        self._connection.close()
        self._process.wait()

    def _ask(self, *request):
        try:
            self._connection.send(request)
        except OSError:
            raise Failed("its process is gone") from None
        return self._receive()

    def _receive(self):
        try:
            done, value = self._connection.recv()
        except (EOFError, OSError):
            raise Failed(f"its process ended with {self._process.wait()}") from None
        if not done:
            raise Failed(value)
        return value


def serve(name, descriptor, threads, rows):
    """The side that answers: the life of a framework's process."""
    connection = Connection(descriptor)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    try:
        framework = importlib.import_module(f"pforbench.in_{name}").Framework(threads)
    except ImportError as error:
        connection.send((False, str(error).splitlines()[0]))
        return
    connection.send((True, framework.version))
    server = _Server(framework, rows)
    while True:
        try:
            request, *arguments = connection.recv()
        except EOFError:
            break
        try:
            reply = True, getattr(server, request)(*arguments)
        except Exception:
            reply = False, traceback.format_exc()
        connection.send(reply)
    framework.close()


class _Server:
    """What a process does when it is asked."""

    def __init__(self, framework, rows):
        self._framework = framework
        self._rows = rows
        self._program = None
        self._calls = {}

    def prepare(self, name, n):
        row = self._rows[name](self._framework, n)
        self._program = self._framework.compile(row)
        self._calls = {}
        results = self._program.results()
        moved = sum(x.nbytes for x in [*row.mapped, *row.shared, *results])
        facts = {**self._program.facts, "flops": n * row.flops, "bytes": moved}
        return [_bytes_of(x) for x in results], self._program.notes, facts

    def time(self):
        return self._seconds(self._program.run)

    def profile(self):
        return self._program.profile()

    def time_loop(self):
        return self._seconds(self._program.run_loop) / self._program.loop_examples

    def _seconds(self, run):
        """Returns: seconds of one call, over as many as make a sample long enough."""
        if run.__name__ not in self._calls:
            run()
            self._calls[run.__name__] = max(1, int(SHORTEST_SAMPLE / _clocked(run, 1)))
        time.sleep(SETTLE)
        run()
        return _clocked(run, self._calls[run.__name__])


def _clocked(run, calls):
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def _bytes_of(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()
