"""Running recorded operations once more, with other arrays in place of those that they took."""

import contextlib

from weir import collectives, core, dtypes, errors, location, trace as tracing
from weir.array import Array
from weir.recording import Scope, all_nodes

# What a program does besides computing: once, and not again where values are computed again.
EFFECTS = ("check", "print", "update_variable", "assign_variable")


class Environment:
    """Which array stands for each recorded value. What it does not know stands for itself.

    Attributes:
      again: whether what runs has run before, so that its effects are over.
    """

    def __init__(self, outer=None, again=False):
        self.again = again or (outer is not None and outer.again)
        self._outer = outer
        self._arrays = {}

    def __setitem__(self, value, array):
        self._arrays[value] = array

    def find(self, value):
        """Returns: the array that stands for a value, or None."""
        environment = self
        while environment is not None:
            found = environment._arrays.get(value)
            if found is not None:
                return found
            environment = environment._outer
        return None

    def __getitem__(self, value):
        found = self.find(value)
        return array_of(value) if found is None else found

    def all(self, values):
        """Returns: the arrays that stand for these values."""
        return [self[value] for value in values]

    def put(self, values, arrays):
        """Lets arrays stand for these values."""
        self._arrays.update(zip(values, arrays))


def array_of(value):
    """Returns: an array for a value of the program."""
    trace = tracing.current()
    return Array(trace, value, region=trace.regions_of.get(value), origin=("value", "", 0))


def is_inexact(value):
    """True for values of float and complex element types, which have derivatives."""
    return tracing.current().type(value)[0] in dtypes.FLOATS + dtypes.COMPLEXES


@contextlib.contextmanager
def with_environment(environment):
    """The user's functions that run inside may use the arrays for which others stand now; lines are
    theirs.
    """
    trace = tracing.current()
    before = trace.environment
    trace.environment = environment
    try:
        with location.fixed(None):
            yield
    finally:
        trace.environment = before


def record(function, arrays):
    """Calls a function with arrays of its own in place of `arrays`.

    Returns: (the `Body` that it is, what it returns, the arrays that it was given). The operations
    are no part of the program; what runs again is.
    """
    trace = tracing.current()
    region = trace.new_region()
    args = []
    with trace.inside(region):
        for x in arrays:
            value = trace.add_argument(region, x.dtype_name, x.shape)
            trace.depends[value] = set(trace.depends.get(x.value, ()))
            args.append(Array(trace, value, weak_type=x.weak_type, origin=x.origin))
        returned = function(*args)
    return trace.body_of(region), returned, args


class Opened:
    """A new region that takes arguments of the types of some arrays."""

    def __init__(self, arrays):
        self._trace = tracing.current()
        self.region = self._trace.new_region()
        self.results = []
        with self._trace.inside(self.region):
            self.args = [
                Array(
                    self._trace,
                    self._trace.add_argument(self.region, x.dtype_name, x.shape),
                    weak_type=x.weak_type,
                    origin=x.origin,
                    is_index=x.is_index,
                )
                for x in arrays
            ]
        self.used = set()

    @contextlib.contextmanager
    def inside(self):
        """Operations go to it; `results` are what it gives."""
        with self._trace.inside(self.region):
            yield self
        self.used |= self._trace.last_used
        self._trace.yield_(self.region, [x.value for x in self.results])


def structure(op, inputs, attrs, regions):
    """Appends an operation with these regions (`Opened`). Returns: its outputs."""
    captured = set().union(*(opened.used for opened in regions))
    captured |= {x.value for opened in regions for x in opened.results}
    return core.apply_all(op, inputs, attrs, [opened.region for opened in regions], captured)


def run_body(body, environment):
    """Runs the nodes of a body. Returns: its results."""
    for node in body.nodes:
        run_node(node, environment)
    return environment.all(body.results)


def run_node(node, environment):
    """Runs one node, whose outputs become known to the environment."""
    with location.fixed(node.location):
        if isinstance(node, Scope):
            _run_scope(node, environment)
            return
        if environment.again:
            if node.op in EFFECTS:
                return
            check_readable(node)
        inputs = environment.all(node.inputs)
        regions = [_copied(body, environment) for body in node.bodies]
        outputs = structure(node.op, inputs, node.attrs, regions)
        if node.op == "iteration_reduce":
            _note_meeting(outputs[0])
        environment.put(node.outputs, outputs)


def _copied(body, environment):
    opened = Opened([array_of(value) for value in body.args])
    inner = Environment(environment)
    inner.put(body.args, opened.args)
    with opened.inside():
        opened.results = run_body(body, inner)
    return opened


def _run_scope(scope, environment):
    trace = tracing.current()
    body = trace.body_of(trace.region)
    with body.apart() as nodes:
        for node in scope.nodes:
            run_node(node, environment)
    inputs = [x.value for x in environment.all(scope.inputs)]
    outputs = [x.value for x in environment.all(scope.outputs)]
    made = Scope(scope.op, inputs, outputs, nodes, scope.rule, scope.location)
    body.nodes.append(made)


def _note_meeting(output):
    """What all iterations have together is the same for each of them."""
    trace = tracing.current()
    frame = collectives.nearest(trace)
    if frame is not None and frame.body == trace.region:
        trace.forget_loop(output.value)


def check_readable(node):
    """Raises: NotDifferentiable for a read of a variable that the program writes: it would find
    another value when it runs again.
    """
    name = node.attrs.get("name")
    if node.op == "read_variable" and name in tracing.current().written:
        raise errors.NotDifferentiable(
            f"variable {name} is read at {place_of(node)} inside a loop or branch, and the program"
            " writes it, so that the value is gone when the derivative needs it again; read it"
            " before the loop or branch"
        )


def place_of(node):
    """Returns: `file:line` of a node."""
    return "{}:{}".format(*node.location)


def function_of(node):
    """Returns: the `Body` of the function that a call calls.

    Raises: NotDifferentiable where it is recursive.
    """
    name = node.attrs["callee"]
    body = tracing.current().function_bodies[name]
    if body.results is None or _calls(body, name, {name}):
        raise errors.NotDifferentiable(
            f"the function {name}, called at {place_of(node)}, calls itself, and recursion has no"
            " derivatives; use weir.scan, weir.fori_loop or weir.while_loop"
        )
    return body


def _calls(body, name, seen):
    bodies = tracing.current().function_bodies
    for node in all_nodes(body.nodes):
        if node.op != "call":
            continue
        callee = node.attrs["callee"]
        if callee == name:
            return True
        if callee not in seen and _calls(bodies[callee], name, seen | {callee}):
            return True
    return False
