"""Deployed flows."""

import operator

from weir import errors
from weir.flow import columns


class Job:
    """A flow that is deployed on a cluster: feeds its inputs and takes what comes out.

    Made by `Session.deploy` and `Session.attach`. A context manager: at the end of the `with` the
    flow is cancelled if it has not ended by itself, which it does when its inputs are closed and
    all records are gone. Usable from any thread, so one may send while another takes.

    Calls that wait have a `timeout` in seconds, without end by default, and raise DeadlineExceeded
    when it is over. Every call raises what made the flow fail, Cancelled if it was cancelled.

    Attributes:
      id: of the job, also for the `weir` command and `Session.attach`.
      inputs, outputs: columns of inputs and outputs, (element type, shape of a record), by name.
    """

    def __init__(self, native):
        self._native = native
        self.id = native.id
        self.inputs = {name: tuple(native.types(name)) for name in native.inputs}
        self.outputs = {name: tuple(native.types(name)) for name in native.outputs}

    # --- Feeding.

    def send(self, name, records, epoch=None, weights=None, timeout=None):
        """Sends records to an input; waits while the flow has too many that it has not used.

        Args:
          name: of the input.
          records: a tuple or list with one array for each column, whose first axis counts the
            records; the array itself for an input of one column.
          epoch: the one that is open by default; no record may come before that.
          weights: how many times each record is there, 1 by default.
        """
        types = _find(self.inputs, name, "input")
        what = f"input '{name}'"
        arrays = columns.to_arrays(types, records, what)
        weights = columns.to_weights(weights, what)
        epoch = self._native.epoch_of(name) if epoch is None else operator.index(epoch)
        self._native.send(name, epoch, arrays, weights, timeout=timeout)

    def advance(self, name, epoch=None):
        """Says that no record before an epoch, by default the one after the open one, comes to an
        input any more. What can be known of earlier epochs then comes out.
        """
        _find(self.inputs, name, "input")
        epoch = self._native.epoch_of(name) + 1 if epoch is None else operator.index(epoch)
        self._native.advance(name, epoch)

    def close(self, name=None):
        """Says that no record comes to an input any more; by default to all of them."""
        for each in self.inputs if name is None else [name]:
            _find(self.inputs, each, "input")
            self._native.close_input(each)

    # --- Taking.

    def results(self, name, as_they_come=False, timeout=None):
        """Iterates over what comes out of an output, until the flow has ended.

        Args:
          as_they_come: gives records at once, in any order and number of parts. By default it
            gives epochs, each when it is complete, in their order, and equal records as one with
            the sum of their weights; epochs without records are left out.
          timeout: for each part.

        Yields: (epoch, `Records`).
        """
        _find(self.outputs, name, "output")
        take = self._native.next if as_they_come else self._native.next_epoch
        while (found := take(name, timeout=timeout)) is not None:
            epoch, arrays, weights = found
            yield epoch, columns.Records(arrays, weights)

    def wait(self, epoch=None, timeout=None):
        """Waits until an epoch is complete at all outputs; by default until the flow has ended."""
        if epoch is None:
            self._native.await_end(timeout=timeout)
            return
        for name in self.outputs:
            self._native.await_complete(name, operator.index(epoch), timeout=timeout)

    def failures(self):
        """Returns: [(epoch, number of the record in its epoch, message)] of records that were left
        out since the last call, as the function of a `map` with on_failure="drop" failed for them.
        Those of an epoch are there when it is complete; beyond a thousand, the first are.
        """
        return self._native.take_failures()

    # --- The job.

    def frontier(self, name):
        """Returns: the epoch that is open at an input, output or probe, as all before it are
        complete; None if nothing comes there any more.
        """
        return self._native.frontier(name)

    def explain(self, name=""):
        """Returns: a text that says what holds back the frontier of a vertex, or the whole flow."""
        return self._native.explain(name)

    def cancel(self):
        """Ends the flow; what has not come out is lost."""
        self._native.cancel()

    def detach(self):
        """Lets go of the flow, which goes on; `Session.attach` attaches to it again."""
        self._native.detach()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        try:
            if not self._has_ended():
                self.cancel()
        except errors.Error:
            if kind is None:
                raise
        finally:
            self.detach()

    def _has_ended(self):
        try:
            self._native.await_end(timeout=0.0)
        except errors.DeadlineExceeded:
            return False
        except errors.Error:
            pass
        return True

    def __repr__(self):
        return f"weir.flow.Job({self.id}: {', '.join(self.inputs)} -> {', '.join(self.outputs)})"


def _find(ports, name, what):
    if name not in ports:
        raise errors.NotFound(
            f"the flow has no {what} '{name}'; it has {', '.join(ports) or 'none'}"
        )
    return ports[name]
