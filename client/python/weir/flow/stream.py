"""Streams: the records that come out of a vertex, and the vertices that take them."""

from weir.flow import columns, functions


class Stream:
    """The records that come out of a vertex.

    Its methods are the kinds of vertices: each makes one that takes these records, and returns what
    comes out of it. Types are checked at once; errors are InvalidArgument and name the line. Every
    method takes a `name` for the vertex, unique in the flow, by which `explain` and errors call it.

    Functions are called with one traced array for each column of a record, and are traced once;
    they have no state and see no other record. `keys` counts the first columns: those are the key,
    and keys=0 makes all records one group.

    What acts on complete times gives the same records, bit for bit, on any number of workers.
    Where a method has `state`, that is how long it remembers records: "time", each time stands for
    itself; "loop", over the trips of the innermost loop; "job", over all times. `emit` says what
    comes out for a key that changed, where state outlives a time: "updates", the new result;
    "changes", also the old one with weight -1, so that the sum of what came out is the result.

    Attributes:
      flow: the `Flow` that it is part of.
      name: of the vertex.
      types: (element type, shape of one record) for each column.
    """

    def __init__(self, flow, vertex, name, output=0):
        self.flow = flow
        self.name = name
        self._port = (vertex, output)
        self.types = tuple(flow._builder.types(vertex, output))

    def __repr__(self):
        return f"weir.flow.Stream({self.name}: {columns.text(self.types)})"

    # --- One record after the other.

    def map(self, function, on_failure="stop", name=None):
        """Calls a function for each record.

        Args:
          function: returns an array, or a pytree of arrays; its leaves are the columns that come
            out. Python numbers are i32 and f32, as in `weir.jit`.
          on_failure: what becomes of a record for which the function fails, by `weir.check` or
            where there is no such element of a list: "stop" ends the flow, "drop" leaves the record
            out, and `Job.failures` tells of it.
        """
        traced = {"function": self._trace("map", function)}
        attrs = {} if on_failure == "stop" else {"on_failure": on_failure}
        return self.flow._add("map", [self], attrs, name, traced=traced)

    def flat_map(self, function, name=None):
        """Makes any number of records of each.

        Args:
          function: returns a `weir.List`, whose elements are the records, up to its capacity; or
            arrays with equal leading axes, whose rows are the records.
        """
        return self._call("flat_map", function, name, results=functions.children)

    def filter(self, function, name=None):
        """Keeps the records for which a function, which returns one bool, is true."""
        return self._call("filter", function, name)

    def switch(self, function, name=None):
        """Returns: two streams, the records for which a function, which returns one bool, is true,
        and the others.
        """
        traced = {"function": self._trace("switch", function)}
        return self.flow._add("switch", [self], {}, name, outputs=2, traced=traced)

    def concat(self, *others, name=None):
        """Returns: all records of this stream and of others, which have the same columns."""
        return self.flow._add("concat", [self, *others], {}, name)

    def zip(self, *others, hold=(), name=None):
        """Puts records side by side that come of the same record of an input.

        Once each stream has a record of one source record at one time, a record with the columns of
        all comes out. Records without a partner are dropped.

        Args:
          hold: positions of streams, this one is 0, whose records serve all later trips of the loop
            too.
        """
        attrs = {"hold": list(hold)} if hold else {}
        return self.flow._add("zip", [self, *others], attrs, name)

    def exchange(self, keys, name=None):
        """Brings records with equal keys to one worker. Results never depend on that."""
        return self.flow._add("exchange", [self], {"keys": keys}, name)

    def inspect(self, limit=10, name=None):
        """Passes records on, and writes the first `limit` of each batch into the job's log."""
        return self.flow._add("inspect", [self], {"limit": limit}, name)

    # --- All records of a time.

    def collect(self, function=None, name=None):
        """Brings all records of a time into one batch, on one worker.

        Args:
          function: is called once for all of them, in order, with an axis of open size in front of
            each column; returns columns with an axis of records in front, of any size. By default
            records come out as they are.
        """
        if function is None:
            return self.flow._add("collect", [self], {}, name)
        traced = {"function": self._trace("collect", function, rows=functions.batch_size())}
        return self.flow._add("collect", [self], {}, name, traced=traced)

    def reduce_by_key(self, keys, combine, state="time", emit="updates", name=None):
        """Combines the values, the columns behind the keys, of each key.

        Args:
          combine: "sum", "min", "max", "mean" or "count", for each element of each value; or a
            function of the values of two records that returns those of one. It takes two arrays, or
            two tuples of them where there are more value columns than one.

        Floats are summed in f64, in the order of records. Integers wrap in their own type.
        """
        attrs = {"keys": keys, **_kept(state, emit)}
        traced = {}
        if callable(combine):
            values = self.types[keys:]
            call = functions.of_groups(combine, len(values), len(values))
            traced["function"] = self._trace(
                "reduce_by_key", combine, types=values + values, call=call
            )
        else:
            attrs["combine"] = combine
        return self.flow._add("reduce_by_key", [self], attrs, name, traced=traced)

    def count(self, keys, state="time", emit="updates", name=None):
        """Returns: for each key a record (key, i64), with the sum of the weights of its records."""
        attrs = {"keys": keys, **_kept(state, emit)}
        return self.flow._add("count", [self], attrs, name)

    def distinct(self, state="time", emit="updates", name=None):
        """Returns: each record once, however often it came."""
        return self.flow._add("distinct", [self], _kept(state, emit), name)

    def top_k(self, keys, k, by, state="time", emit="updates", name=None):
        """Returns: the k records of each key that are largest in column `by`."""
        attrs = {"keys": keys, "k": k, "by": by, **_kept(state, emit)}
        return self.flow._add("top_k", [self], attrs, name)

    def join(self, other, keys, state="time", name=None):
        """Pairs records with those of another stream that have equal keys.

        With state that outlives a time, new records of each side meet the old ones of the other.

        Returns: the keys, the values of this stream, those of the other; weights are multiplied.
        """
        return self.flow._add("join", [self, other], {"keys": keys, **_kept(state)}, name)

    def semijoin(self, other, keys, state="time", name=None):
        """Returns: the records of this stream whose keys are in another one."""
        return self.flow._add("semijoin", [self, other], {"keys": keys, **_kept(state)}, name)

    def variable(self, updates, init, assign, keys=0, order="time", name=None):
        """Reads state that another stream changes and that outlives epochs.

        Each key has a value: some columns. A record of this stream comes out with the value of its
        key behind its own columns. A record of `updates` makes `assign` of the value and its own
        columns the new value, in one step; nothing comes out.

        What is computed from a value may change it later, through `Flow.delayed`: after one epoch,
        and each epoch sees what the one before made of the value; after s, and s epochs are under
        way together, with values s epochs old.

        Args:
          updates: a stream whose first `keys` columns have the types of this one's.
          init: returns the value of a key to begin with: an array, a number or several in a tuple.
            A function without parameters, or of the columns of the key.
          assign: a function of a value and an update that returns a value: two arrays, or tuples of
            them where there are more columns than one; of a value alone if updates have no columns
            behind the key.
          keys: how many of the first columns are the key; 0, there is one value.
          order: "time", a read sees exactly the updates at its time and before; updates of a time
            are assigned in the order of records. "relaxed", a read sees those that came so far: no
            wait, and results that depend on timing.
        """
        started = self._trace("init", init, types=functions.taken_of(init, self.types[:keys]))
        given = tuple(updates.types[keys:]) if isinstance(updates, Stream) else ()
        value = started.results
        assigned = self._trace(
            "assign",
            assign,
            types=value + given,
            taken=started.names,
            call=functions.of_groups(assign, len(value), len(given)),
        )
        attrs = {"keys": keys} if order == "time" else {"keys": keys, "order": order}
        traced = {"init": started, "assign": assigned}
        return self.flow._add("variable", [self, updates], attrs, name, traced=traced)

    # --- Times.

    def delay(self, epochs, name=None):
        """Brings records into a later epoch."""
        return self.flow._add("delay", [self], {"epochs": epochs}, name)

    def window(self, size, slide=None, name=None):
        """Brings the records of `size` epochs together, at the last of them.

        Windows begin at the epochs 0, `slide`, 2 * `slide`, ...; by default each behind the other.
        What follows with state "time" sees one window at a time.
        """
        attrs = {"size": size} if slide is None else {"size": size, "slide": slide}
        return self.flow._add("window", [self], attrs, name)

    # --- Ends.

    def output(self, name):
        """Gives the records to the client, as the flow's output of this name."""
        self.flow._add("output", [self], {}, name, outputs=0)

    def probe(self, name):
        """Shows under this name which times are complete here."""
        self.flow._add("probe", [self], {}, name, outputs=0)

    def _trace(self, kind, function, types=None, taken=None, **how):
        types = self.types if types is None else types
        taken = self.flow._function_names if taken is None else taken
        return functions.trace_function(function, kind, types, taken, **how)

    def _call(self, kind, function, name, **how):
        traced = {"function": self._trace(kind, function, **how)}
        return self.flow._add(kind, [self], {}, name, traced=traced)


def _kept(state, emit="updates"):
    """Returns: the attributes of state that are not the default."""
    attrs = {} if state == "time" else {"state": state}
    return attrs if emit == "updates" else {**attrs, "emit": emit}
