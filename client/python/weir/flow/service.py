"""Flows that answer calls of one record each."""

from concurrent import futures
import functools
import threading

import numpy as np

from weir import errors
from weir.flow import columns


class Service:
    """A deployed flow that is called like a function, with one record.

    Made by `Session.serve`. Calls of many threads and clients run together, in epochs that the
    attributes of the input bound, and each is answered with the record that comes out for its own.
    A context manager: the flow is cancelled at the end of the `with`. Usable from any thread.

    Attributes:
      id: of the job.
    """

    def __init__(self, session, job_id, flow, input_name, output_name):
        self.id = job_id
        self._session = session
        self._input = input_name
        self._output = output_name
        self._types = flow._columns_of_input(input_name)
        self._pool = None  # with a thread that makes the calls of the main thread

    def __call__(self, *record):
        """Sends one record, with an argument for each column, and waits for the answer.

        Returns: the columns of the record that comes out for it, as NumPy arrays and numbers: one,
        or a tuple.

        Raises: what the function of a `map` with on_failure="drop" raised for this record.
        """
        rows = tuple(np.asarray(value)[None] for value in record)
        arrays = columns.to_arrays(self._types, rows, f"input '{self._input}'")
        columns_of_one = [array.reshape(array.shape[1:]) for array in arrays]
        call = functools.partial(
            self._session.call_flow, self.id, self._input, self._output, columns_of_one
        )
        answer = self._wait_for(call) if _can_be_interrupted() else call()
        values = tuple(value[()] for value in answer)
        return values[0] if len(values) == 1 else values

    def cancel(self):
        """Ends the flow; calls under way raise Aborted or Cancelled."""
        self._session.cancel(self.id)

    def _wait_for(self, call):
        """Returns: what a call returns. The user may interrupt it; then it goes on by itself."""
        pool = self._pool or futures.ThreadPoolExecutor(1)
        self._pool = None
        answer = pool.submit(call)
        try:
            return answer.result()
        finally:
            if answer.done():
                self._pool = pool
            else:
                pool.shutdown(wait=False)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        try:
            self.cancel()
        except errors.Error:
            if kind is None:
                raise

    def __repr__(self):
        return f"weir.flow.Service({self.id}: {self._input} -> {self._output})"


def _can_be_interrupted():
    """Only the main thread is told of signals."""
    return threading.current_thread() is threading.main_thread()
