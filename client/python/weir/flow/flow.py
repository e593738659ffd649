"""Flows under construction."""

from concurrent import futures
import itertools
import operator
import os

from weir import _native, errors, location, session
from weir.flow import columns
from weir.flow.drawing import Drawing
from weir.flow.loop import Loop
from weir.flow.open_stream import Delayed
from weir.flow.stream import Stream
from weir.names import Names


class Flow:
    """A graph of vertices with streams of records between them, for `Session.deploy`.

    Made by its `input`s, the methods of the streams that these return, and `output` at the ends.
    Not for several threads at once.

    Attributes:
      name: of the flow.
      inputs: columns of the inputs, (element type, shape of one record) each, by name.
      outputs: columns of the outputs, likewise.
    """

    def __init__(self, name="flow"):
        self.name = _check_name(name)
        self.inputs = {}
        self.outputs = {}
        self._builder = _native.FlowBuilder(name)
        self._function_names = Names()
        self._names = Names()
        self._loop_names = Names()
        self._loops = []  # that are being made, outermost first
        self._drawing = Drawing()

    def input(self, name, *types, max_batch=None, max_wait_us=None):
        """Makes an input, whose records a client sends.

        Args:
          types: one for each column: an element type ("i64", numpy.int64), for a number; a pair
            (element type, shape); or a text such as "f32[3]".
          max_batch: for calls (`Session.serve`), how many are in one epoch at most, 64 by default.
          max_wait_us: for how many microseconds a call waits for others; by default while epochs
            are under way.

        Returns: a `Stream`.
        """
        parsed = [columns.parse_column(column) for column in types]
        attrs = {"types": list(map(columns.column_text, parsed))}
        attrs |= {} if max_batch is None else {"max_batch": max_batch}
        attrs |= {} if max_wait_us is None else {"max_wait_us": max_wait_us}
        stream = self._add("input", [], attrs, name)
        self.inputs[name] = stream.types
        return stream

    def read_files(
        self, glob, *types, format=None, epochs="one", rows=None, skip_lines=0, name=None
    ):
        """Makes a source whose records workers read from files, and share: each is read once.

        Args:
          glob: which files, such as "points/*.csv"; relative to the data directory of each worker,
            or to the working directory where the cluster is in this process. All workers need the
            same files. They are in the order of their names as bytes.
          types: as those of `input`. A record of a CSV file is a line, with a field for each
            element of each column; one of a .npy file is a row, and columns of one element type
            may lie beside each other in an array of two axes.
          format: "csv" or "npy"; by the end of `glob` by default.
          epochs: "one", all records are in epoch 0; "file", those of the k-th file are in epoch k.
          rows: so many records of each file are in epoch 0, the next in epoch 1, and so on.
          skip_lines: how many lines at the beginning of each CSV file are no records.

        Returns: a `Stream`.
        """
        parsed = [columns.parse_column(column) for column in types]
        attrs = {"glob": os.fspath(glob), "types": list(map(columns.column_text, parsed))}
        attrs |= {} if format is None else {"format": format}
        attrs |= {} if epochs == "one" else {"epochs": epochs}
        attrs |= {} if rows is None else {"rows": operator.index(rows)}
        attrs |= {"skip_lines": operator.index(skip_lines)} if skip_lines else {}
        return self._add("read_files", [], attrs, name)

    def loop(self, name=None):
        """Makes a loop, inside of those whose `with` is open.

        Returns: a `Loop`, for `with flow.loop("trips") as loop:`.
        """
        self._builder.set_location(*location.of_caller())
        parent = self._loops[-1]._number if self._loops else -1
        name = _choose("loop", name, self._loop_names)
        number = self._builder.add_loop(name, parent)
        self._loop_names.add(name)
        self._drawing.add_loop(name, parent)
        return Loop(self, name, number)

    def iterate(self, start, body, bound=None, using=(), name=None):
        """Makes a loop around a function of a stream.

        Args:
          start: the stream that comes into the first trip.
          body: takes the stream of a trip, and those of `using`, and returns the one of the next
            trip, with the same columns; or a pair of that and the stream that leaves.
          bound: how many trips there are at most.
          using: further streams, which enter the first trip.

        Returns: what leaves the loop: by default what the body returned in every trip. With
        emit="changes" inside, the sum of that is the state after the last trip.
        """
        with self.loop(name) as loop:
            again = loop.feedback(like=start)
            inside = loop.enter(start).concat(again)
            made = body(inside, *map(loop.enter, using))
            following, leaving = made if isinstance(made, tuple) else (made, made)
            again.set(following, bound=bound)
            return loop.leave(leaving)

    def delayed(self, like, epochs=1, name=None):
        """Makes a stream of records that come from an earlier epoch and are said later, by its
        `set`: a cycle from epoch to epoch, such as that of gradients back to a variable. It is in
        the loop whose `with` is open.

        Args:
          like: a stream with the same columns, or a list of the columns as `input` takes them.
          epochs: how many epochs later the records come than they went, 1 or more.

        Returns: a `Delayed`.
        """
        types = like.types if isinstance(like, Stream) else map(columns.parse_column, like)
        loop = self._loops[-1]._number if self._loops else -1
        made = self._add_open("delay", loop, tuple(types), {"epochs": epochs}, name)
        return Delayed(self, *made)

    def text(self):
        """Returns: the flow in text form, with the line of the caller for each vertex."""
        return self._builder.text()

    def draw(self):
        """Returns: the flow as a picture, for Graphviz (`dot -Tsvg`): a box for each vertex with
        its name and kind, an arrow for each stream with its columns, a frame around each loop.
        """
        return self._drawing.text(self.name)

    def run(self, inputs=None, timeout=None):
        """Deploys the flow on the current session, feeds it, and takes all that comes out.

        Args:
          inputs: as for `run_sequentially`; none by default. Each input is fed in the order of its
            list, an input without entries is closed.
          timeout: in seconds, for each wait.

        Returns: {output: {epoch: Records}}, as `run_sequentially`.
        """
        given = self._given(inputs or {})
        places = len(self.outputs) + 1
        with futures.ThreadPoolExecutor(places) as pool, session.current().deploy(self) as job:
            fed = pool.submit(_feed, job, given, timeout)
            taken = {
                name: pool.submit(dict, job.results(name, timeout=timeout)) for name in self.outputs
            }
            fed.result()
            results = {name: each.result() for name, each in taken.items()}
            job.wait(timeout=timeout)
        return results

    def run_sequentially(self, inputs=None, max_steps=1_000_000):
        """Runs the flow in one thread, one vertex and time after the other, record by record: slow,
        and with the results that it has on any cluster.

        Args:
          inputs: for each input a list of (epoch, columns) or (epoch, columns, weights), where
            columns are as `Job.send` takes them.
          max_steps: vertices times their times, at most.

        Returns: {output: {epoch: Records}}; equal records of an epoch are one, with the sum of
        their weights. Epochs without records are not there. Files are read, but none are written.

        Raises: ResourceExhausted for a loop that goes on for more steps.
        """
        results = self._builder.run_sequentially(self._given(inputs or {}), max_steps)
        return {
            name: {e: columns.Records(*records) for e, records in results.get(name, {}).items()}
            for name in self.outputs
        }

    def __repr__(self):
        return f"weir.Flow({self.name}: {', '.join(self.inputs)} -> {', '.join(self.outputs)})"

    def _given(self, inputs):
        """Returns: a list of (name, epoch, arrays, weights)."""
        given = []
        for name, epochs in inputs.items():
            types = self._columns_of_input(name)
            what = f"input '{name}'"
            for epoch, records, *weights in epochs:
                arrays = columns.to_arrays(types, records, what)
                weights = columns.to_weights(weights[0] if weights else None, what)
                given.append((name, operator.index(epoch), arrays, weights))
        return given

    def _columns_of_input(self, name):
        if name not in self.inputs:
            raise errors.InvalidArgument(
                f"flow '{self.name}' has no input '{name}'; its inputs are"
                f" {', '.join(self.inputs)} ({location.text()})"
            )
        return self.inputs[name]

    # --- Vertices.

    def _add(self, kind, inputs, attrs, name, outputs=1, traced=None):
        """Makes a vertex.

        Args:
          traced: {attribute: `TracedFunction`}, each traced with the names of those before it.

        Returns: the stream that comes out; a tuple if there are several.
        """
        for each in inputs:
            if not isinstance(each, Stream) or each.flow is not self:
                other = "a stream of another flow" if isinstance(each, Stream) else repr(each)
                raise errors.InvalidArgument(
                    f"{kind} takes streams of flow '{self.name}', found {other}"
                    f" ({location.text()})"
                )
        traced = traced or {}
        attrs = {**attrs, **{attr: function.name for attr, function in traced.items()}}
        name = _choose(kind, name, self._names)
        names = [name, *(f"{name}.{i}" for i in range(1, outputs))]
        self._builder.set_location(*location.of_caller())
        ports = [each._port for each in inputs]
        builders = [function.builder for function in traced.values()]
        vertex = self._builder.add_vertex(names, kind, ports, attrs, builders)
        self._names.update(names)
        drawn = [(each._port[0], columns.text(each.types)) for each in inputs]
        self._drawing.add_vertex(vertex, name, kind, drawn, attrs.get("loop"))
        for function in traced.values():
            self._function_names.absorb(function.names)
        if kind == "output":
            self.outputs[name] = inputs[0].types
        streams = tuple(Stream(self, vertex, names[i], i) for i in range(outputs))
        return streams[0] if outputs == 1 else streams

    def _add_open(self, kind, loop, types, attrs, name):
        """Returns: (vertex, name) of a vertex whose input is to come."""
        name = _choose(kind, name, self._names)
        self._builder.set_location(*location.of_caller())
        texts = list(map(columns.column_text, types))
        vertex = self._builder.add_open(name, kind, loop, texts, attrs)
        self._names.add(name)
        self._drawing.add_open(vertex, name, kind, loop)
        return vertex, name

    def _close(self, vertex, stream, attrs):
        self._builder.set_location(*location.of_caller())
        self._builder.close(vertex, stream._port, attrs)
        self._drawing.close(vertex, stream._port[0], columns.text(stream.types))


def _choose(kind, name, taken):
    if name is not None:
        return _check_name(name)
    return taken.numbered(kind)


def _check_name(name):
    if not isinstance(name, str) or not name:
        raise errors.InvalidArgument(
            f"a name is a text with a character at least, found {name!r} ({location.text()})"
        )
    return name


def _feed(job, given, timeout):
    """Sends all epochs in their order, and closes the inputs."""
    in_order = sorted(given, key=lambda each: each[1])
    for epoch, group in itertools.groupby(in_order, key=lambda each: each[1]):
        for name, _, arrays, weights in group:
            job.send(name, tuple(arrays), epoch, weights, timeout)
        for name in job.inputs:
            job.advance(name, epoch + 1)
    job.close()
