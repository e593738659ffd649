"""The program that grows while a function is traced.

A trace is one program. Its regions nest: the body of a loop is traced inside the region that uses
the loop. Traces belong to one thread, and at most one is active in it.
"""

import contextlib
import threading

import numpy as np

from weir import _native, dims, dtypes, errors, location, recording
from weir.array import Array
from weir.names import Names

# Larger constants become inputs of the program, so that the program stays short; others are in it
# and reach the workers once.
INLINE_ELEMENTS = 1 << 16

_state = threading.local()


def current():
    """Returns: the trace that is active in this thread, or None."""
    return getattr(_state, "trace", None)


@contextlib.contextmanager
def activated(trace):
    """Makes `trace` the active one."""
    before = current()
    _state.trace = trace
    try:
        yield trace
    finally:
        _state.trace = before


class LoopFrame:
    """A loop around the operations that are being traced, as random numbers and reductions over
    iterations see it.

    A loop that does not count its trips has the index None; a draw inside then sets `needs_index`.
    `count` is the number of iterations of a pfor, and None for other loops; `chunked` says that
    only some of them are traced together. `replaces_pfor` marks a `for_loop`, whose iterations
    would meet if it were a pfor. `body` is the region in which it was entered. `number` is that of
    `Trace.next_number`; what stands in the condition of a loop `tests` before the body of the same
    trip.
    """

    def __init__(self, number, index, randomness, count=None, chunked=False, tests=False):
        self.number = number
        self.tests = tests
        self.index = index
        self.randomness = randomness
        self.count = count
        self.chunked = chunked
        self.replaces_pfor = False
        self.body = None
        self.needs_index = False


class UnknownResults(BaseException):
    """A recursive call whose types of results are to be learned from the paths that do not recurse.

    Branches and loops that meet it go on as if that path were not there. No Exception, so that the
    user's handlers leave it alone.
    """

    def __init__(self, frame):
        super().__init__()
        self.frame = frame


# In place of a captured array: the random key of a call.
KEY = "key"


class FunctionFrame:
    """A function of the program while it is traced.

    Attributes:
      key: tells functions of one program apart.
      name: in the program.
      body: its region.
      around: the regions outside of it, from which it may capture arrays.
      first_loop: how many loops are around it.
      extras: what its parameters behind its own stand for: arrays of the regions around, or KEY.
      results: (structure, types) of its results as far as they are known, or None.
      met: whether it was called while it was traced.
      loops: the indices of the loops around it if it captures one of them, else None.
    """

    def __init__(self, key, name, body, around, first_loop):
        self.key = key
        self.name = name
        self.body = body
        self.around = around
        self.first_loop = first_loop
        self.extras = []
        self.results = None
        self.met = False
        self.loops = None  # indices of the loops around it, if it captures one
        self.symbols = set()  # of sizes, as far as its parameters give them
        self._extra_values = {}

    def extra(self, trace, wanted, dtype_name, shape, name):
        """Returns: the parameter that stands for `wanted`, made at its first use."""
        key = wanted if wanted is KEY else wanted.value
        if key not in self._extra_values:
            self._extra_values[key] = trace.add_argument(self.body, dtype_name, shape, name)
            self.symbols |= dims.given_by(shape)
            self.extras.append(wanted)
        return self._extra_values[key]


class Trace:
    """One program under construction.

    Args:
      entry: the name of its entry function.
      names: that its functions, inputs and variables must not take; those that they take are added.
      inline_elements: constants of more elements become inputs.
    """

    def __init__(self, entry="main", names=None, inline_elements=INLINE_ELEMENTS):
        self.inline_elements = inline_elements
        self.builder = _native.ProgramBuilder()
        self.entry = self.builder.new_function(entry)
        self.main = self.entry  # the body of the function that is being traced
        self.bodies = {self.entry}
        self.frames = []  # of the functions inside of which it is, outermost first
        self.functions = {}  # lists of those that are done, by key
        self.learned = {}  # (extras, results) of functions, by key, between attempts to trace them
        self.regions = [self.main]
        # Values that the nodes of each open region have used, in the order of `regions`.
        self.used = [set()]
        self.last_used = set()  # of the region that was closed last
        # For each value that depends on region arguments: the regions around those.
        self.depends = {}
        self.loops = []
        self.draws = 0
        self.hoisted = []  # (name, array): inputs that the program needs besides its arguments
        self.strict = False
        self.prints = False
        self.variables = {}  # by the name that each has in this program
        self.written = set()  # names of those that the program writes
        self.models = {}  # imported models that are functions of this program
        self.recorded = {}  # `recording.Body` by region
        self.regions_of = {}  # the region of each value
        self.function_bodies = {}  # `recording.Body` by the name of a function
        self.known = {}  # numbers and sizes by the constants that hold them
        self.environment = None  # while recorded operations run again: `autodiff.replay` has it
        self.carriers = {}  # for a symbol an empty array [symbol, 0] of the entry function
        self._size_values = {}  # by (body of a function, size)
        self._hoisted_by_id = {}
        self._variable_names = {}
        self._names = Names() if names is None else names
        self._names.add(entry)
        self._numbers = 0

    @property
    def region(self):
        """The innermost open region."""
        return self.regions[-1]

    # --- Regions.

    def new_region(self):
        """Returns: a region that no operation has yet."""
        return self.builder.new_region()

    @contextlib.contextmanager
    def inside(self, region):
        """Operations go to `region`. What it uses of the regions around it, they use too."""
        self.regions.append(region)
        self.used.append(set())
        try:
            yield region
        finally:
            self.regions.pop()
            used = self.used.pop()
            self.used[-1] |= used
            self.last_used = used

    @contextlib.contextmanager
    def in_loop(self, index, randomness, count=None, chunked=False):
        """Random numbers drawn inside belong to iteration `index`, of `count` in a pfor."""
        with self._in_frame(
            LoopFrame(self.next_number(), index, randomness, count, chunked)
        ) as frame:
            yield frame

    @contextlib.contextmanager
    def in_condition(self, index, body):
        """The same in the condition of a loop, whose `body` is a `LoopFrame`."""
        with self._in_frame(
            LoopFrame(body.number, index, body.randomness, tests=True)
        ) as frame:
            yield frame

    @contextlib.contextmanager
    def _in_frame(self, frame):
        frame.body = self.region
        self.loops.append(frame)
        try:
            yield frame
        finally:
            self.loops.pop()

    def next_number(self):
        """Returns: a number that rises in the order in which the operations of a region run."""
        self._numbers += 1
        before = 2**40 if any(frame.tests for frame in self.loops) else 0
        return self._numbers - before

    @contextlib.contextmanager
    def in_function(self, key, name):
        """Operations go to a new function, which is forgotten if tracing it fails."""
        name = self.unique_name(name)
        body = self.builder.new_function(name)
        around = set(self.regions).union(*(frame.around for frame in self.frames[-1:]))
        frame = FunctionFrame(key, name, body, around, len(self.loops))
        self.function_bodies[name] = self.body_of(body)
        before = (self.main, self.regions, self.used, self.last_used, self.draws)
        self.main, self.regions, self.used, self.draws = body, [body], [set()], 0
        self.bodies.add(body)
        self.frames.append(frame)
        try:
            yield frame
        except BaseException:
            self.forget(frame)
            raise
        finally:
            self.frames.pop()
            self.main, self.regions, self.used, self.last_used, self.draws = before

    def add_model(self, program, name):
        """Adds the entry function of an imported program. Returns: the arrays that it takes behind
        its own arguments.
        """
        constants = self.builder.add_copy_of(program, name, self.inline_elements)
        body = recording.Body.of_contents(self.builder.contents(name))
        self.function_bodies[name] = body
        for node in recording.all_nodes(body.nodes):
            if node.op == "constant" and not np.ndim(node.attrs["value"]):
                self.known[node.outputs[0]] = node.attrs["value"][()]
        return constants

    def forget(self, frame):
        """Takes a function out of the program."""
        self.builder.remove_function(frame.body)
        self._names.discard(frame.name)
        self.function_bodies.pop(frame.name, None)

    @property
    def own_loops(self):
        """The loops around the operations that are being traced, of the same function."""
        return self.loops[self.frames[-1].first_loop :] if self.frames else self.loops

    def reaches(self, region):
        """True if a value of this region may be used here, or captured by the function."""
        return region in self.regions or (self.frames and region in self.frames[-1].around)

    def add_argument(self, region, dtype, shape, name=""):
        """Returns: a new argument of `region`."""
        value = self.builder.add_arg(region, dtype, shape, name)
        self.body_of(region).args.append(value)
        self.regions_of[value] = region
        if region not in self.bodies:
            # What a loop carries may come to depend on every loop around it.
            self.depends[value] = set(self.regions)
        return value

    def unique_name(self, name):
        """Returns: `name`, or with a number behind it if there was one like it."""
        unique = self._names.free(name)
        self._names.add(unique)
        return unique

    # --- State.

    def note_variable(self, variable, writes):
        """Returns: the name of a `Variable` in this program, which takes its value and, with
        `writes`, gives a new one.
        """
        if id(variable) not in self._variable_names:
            name = self.unique_name(variable.name)
            self._variable_names[id(variable)] = name
            self.variables[name] = variable
        name = self._variable_names[id(variable)]
        if writes:
            self.written.add(name)
        return name

    # --- Nodes.

    def apply(self, op, inputs, attrs=None, regions=(), captured=()):
        """Appends a node to the innermost region. Returns: its outputs.

        `captured` are values that its regions use.
        """
        place = location.of_caller()
        self.builder.set_location(*place)
        outputs = self.builder.apply(self.region, op, inputs, attrs or {}, list(regions))
        self._record(inputs, outputs, captured)
        bodies = [self.recorded[region] for region in regions]
        node = recording.Node(op, inputs, outputs, attrs or {}, bodies, place)
        self.body_of(self.region).nodes.append(node)
        return outputs

    def yield_(self, region, results):
        """Completes a region with the values that it gives."""
        self.builder.yield_(region, results)
        self.body_of(region).results = results

    def body_of(self, region):
        """Returns: what is recorded of a region."""
        if region not in self.recorded:
            self.recorded[region] = recording.Body()
        return self.recorded[region]

    def _record(self, inputs, outputs, captured):
        self.used[-1].update(inputs)
        self.regions_of.update(dict.fromkeys(outputs, self.region))
        loops = set()
        for value in (*inputs, *captured):
            loops |= self.depends.get(value, set())
        loops = loops.intersection(self.regions)
        if loops:
            for output in outputs:
                self.depends[output] = loops

    def forget_loop(self, value):
        """Notes that a value is the same for all iterations of the innermost loop."""
        if value in self.depends:
            self.depends[value] = self.depends[value] - {self.region}

    def constant(self, array):
        """Returns: (a value that holds a NumPy array, its region), an outermost one."""
        if array.size > self.inline_elements:
            return self._hoist(array), self.entry
        self.builder.set_location(*location.of_caller())
        value = self.builder.constant(self.main, array)
        self.regions_of[value] = self.main
        if not array.shape:
            self.known[value] = array[()]
        return value, self.main

    def size_value(self, size):
        """Returns: (a value that holds a `Dim`, its region), an outermost one."""
        key = (self.main, str(size))
        if key not in self._size_values:
            self.know_sizes([size])
            self.builder.set_location(*location.of_caller())
            attrs = {"size": (size,)}
            (value,) = self.builder.apply(self.main, "dimension_size", [], attrs, [])
            self._size_values[key] = value
            self.regions_of[value] = self.main
            self.known[value] = size
        return self._size_values[key], self.main

    def know_sizes(self, shape):
        """Lets the function that is being traced know the symbols of these sizes: those that no
        parameter has as a size of its own come with an empty array.
        """
        if not self.frames:
            return
        frame = self.frames[-1]
        for size in shape:
            for symbol in sorted(dims.symbols(size) - frame.symbols):
                frame.symbols.add(symbol)
                carrier = self._carrier(symbol)
                frame.extra(self, carrier, carrier.dtype_name, carrier.shape, f"size_{symbol}")

    def _carrier(self, symbol):
        """Returns: an empty array of the entry function whose first size is the symbol."""
        if symbol not in self.carriers:
            attrs = {"shape": (symbol, 0), "dtype": "i8", "axis": 0}
            (value,) = self.builder.apply(self.entry, "iota", [], attrs, [])
            self.regions_of[value] = self.entry
            self.carriers[symbol] = Array(self, value, region=self.entry)
        return self.carriers[symbol]

    def add_carrier(self, symbol):
        """Makes that array an argument of the program, for a symbol that no other one gives.

        Returns: its name.
        """
        name = self.unique_name(f"size_{symbol}")
        value = self.add_argument(self.entry, "i8", (symbol, 0), name)
        self.carriers[symbol] = Array(self, value, region=self.entry)
        return name

    def _hoist(self, array):
        key = id(array)
        if key not in self._hoisted_by_id:
            name = self.unique_name("constant")
            dtype = dtypes.name_of(array.dtype)
            value = self.add_argument(self.entry, dtype, array.shape, name)
            # A copy: the array may change later. It is kept with its id, so that no other can get
            # that.
            self.hoisted.append((name, np.array(array)))
            self._hoisted_by_id[key] = (value, array)
        return self._hoisted_by_id[key][0]

    def type(self, value):
        """Returns: (element type, shape) of a value; texts for sizes that are no numbers."""
        return self.builder.type(value)


def required(what):
    """Returns: the active trace. Raises: TracingError if there is none."""
    trace = current()
    if trace is None:
        raise errors.TracingError(
            f"{what} was called outside of a traced function ({location.text()})"
        )
    return trace
