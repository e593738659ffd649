"""How loops over iterations that do not depend on one another are traced."""

import numpy as np

from weir import checks, collectives, core, dims, dtypes, location, trace as tracing, tree
from weir.array import Array


class Stacked:
    """The results of a loop over independent iterations.

    Attributes:
      structure: of what the body returned.
      outputs: its leaves, with the iterations as leading axis.
      inner: the leaves inside the body.
      varies: for each leaf, whether it depends on the iteration.
    """

    def __init__(self, structure, outputs, inner, varies):
        self.structure = structure
        self.outputs = outputs
        self.inner = inner
        self.varies = varies

    def tree(self):
        """Returns: the outputs in the structure of the body's result."""
        return tree.unflatten(self.structure, self.outputs)


def parallel(body, n, chunk_size, strict, randomness, size=None):
    """Traces a pfor over n iterations, or over the first `size` (i64 scalar) of them. Returns:
    `Stacked`, with zeros from `size` on.
    """
    trace = tracing.current()
    trace.strict = trace.strict or strict
    if chunk_size is not None and not dims.at_most(n, chunk_size):
        draws = trace.draws
        try:
            return _in_chunks(body, n, chunk_size, randomness, size)
        except collectives.NeedsAllIterations:
            trace.draws = draws
    operands = [] if size is None else [size]
    return _stack("pfor", operands, body, n, lambda index: index, randomness)


def sequential(body, n):
    """Traces a loop that runs one iteration after the other. Returns: `Stacked`."""
    trips = core.scalar(n, "i64")
    return _stack("for", [trips], body, n, lambda index: index, "different")


def sequential_up_to(body, size, capacity):
    """The same for the first `size` (i64 scalar) of `capacity` iterations; zeros from there on."""
    trace = tracing.current()
    check_size("for_loop", size, capacity)
    origin = ("for", *location.of_caller())
    region = trace.new_region()
    with trace.inside(region):
        value = trace.add_argument(region, "i64", (), "i")
        index = Array(trace, value, weak_type=True, origin=origin, is_index=True)
        with trace.in_loop(index, "different") as frame:
            frame.replaces_pfor = True
            leaves, structure = tree.flatten(body(index))
        inner = [core.as_array(leaf, "a result of the loop body") for leaf in leaves]
        varies = [region in trace.depends.get(x.value, ()) for x in inner]
        written = [_written(region, x, index, capacity) for x in inner]
        trace.yield_(region, [x.value for x in written])
    captured = trace.last_used | {x.value for x in written}
    zeros = [core.full((capacity, *x.shape), 0, x.dtype_name) for x in inner]
    outputs = core.apply_all("for", [size, *zeros], {}, [region], captured)
    for output, x in zip(outputs, inner):
        output.weak_type = x.weak_type
    return Stacked(structure, outputs, inner, varies)


def _written(region, x, index, capacity):
    """Returns: what the loop carries for the results `x`, with that of this iteration."""
    trace = tracing.current()
    shape = (capacity, *x.shape)
    rows = Array(trace, trace.add_argument(region, x.dtype_name, shape), origin=x.origin)
    return rows.at[index].set(x)


def check_size(what, size, capacity):
    """A run fails unless 0 <= size <= capacity."""
    fits = core.apply(
        "and",
        [core.compare("greater_equal", size, 0), core.compare("less_equal", size, capacity)],
    )
    checks.check(fits, f"{what} runs 0 to {capacity} iterations, its capacity")


def _in_chunks(body, n, chunk_size, randomness, size):
    """A loop over chunks with a pfor inside, and a pfor for what is left."""
    trace = tracing.current()
    chunks, rest = divmod(n, chunk_size)
    first_draw = trace.draws
    whole = None
    if size is not None:
        check_size("pfor", size, n)

    def run_chunk(chunk):
        nonlocal whole
        start = core.elementwise("multiply", chunk, chunk_size)
        whole = _stack(
            "pfor",
            _left(size, start, chunk_size),
            body,
            chunk_size,
            lambda index: _plus(start, index),
            randomness,
            True,
        )
        return whole.outputs

    trips = core.scalar(chunks, "i64")
    outer = _stack("for", [trips], run_chunk, chunks, lambda index: index, None)
    outputs = [core.reshape(x, (chunks * chunk_size, *x.shape[2:])) for x in outer.outputs]
    if not dims.same(rest, 0):
        trace.draws = first_draw
        left = _stack(
            "pfor",
            _left(size, chunks * chunk_size, rest),
            body,
            rest,
            lambda index: _plus(index, chunks * chunk_size),
            randomness,
            True,
        )
        outputs = [core.concatenate(parts, 0) for parts in zip(outputs, left.outputs)]
        # Of n that only the run knows the parts are n as well, but not of one form.
        outputs = [core.reshape(x, (n, *x.shape[1:])) for x in outputs]
    return Stacked(whole.structure, outputs, whole.inner, whole.varies)


def _left(size, start, most):
    """Returns: the operands of a pfor over what iterations there are from `start` on."""
    if size is None:
        return []
    left = core.elementwise("maximum", core.elementwise("subtract", size, start), 0)
    return [core.elementwise("minimum", left, most)]


def _plus(a, b):
    total = core.elementwise("add", a, b)
    total.is_index = True
    return total


def _stack(op, operands, body, n, to_iteration, randomness, chunked=False):
    """One node of a loop that collects what `body(to_iteration(index))` returns. Returns:
    `Stacked`.

    With randomness None the loop is no part of the program's meaning, and random numbers do not see
    it. `chunked`: these are not all iterations.
    """
    trace = tracing.current()
    origin = (op, *location.of_caller())
    region = trace.new_region()
    with trace.inside(region):
        value = trace.add_argument(region, "i64", (), "i")
        index = to_iteration(Array(trace, value, weak_type=True, origin=origin, is_index=True))
        if randomness is None:
            leaves, structure = tree.flatten(body(index))
        else:
            count = n if op == "pfor" else None
            with trace.in_loop(index, randomness, count, chunked) as frame:
                frame.replaces_pfor = count is None
                leaves, structure = tree.flatten(body(index))
        inner = [core.as_array(leaf, "a result of the loop body") for leaf in leaves]
        trace.yield_(region, [x.value for x in inner])
        varies = [region in trace.depends.get(x.value, ()) for x in inner]
    captured = trace.last_used | {x.value for x in inner}
    attrs = {"extent": (n,)} if inner or op == "pfor" else {}
    outputs = core.apply_all(op, operands, attrs, [region], captured)
    for output, x in zip(outputs, inner):
        output.weak_type = x.weak_type
    return Stacked(structure, outputs, inner, varies)


def check_count(what, n):
    """Returns: a number of iterations: an integer or a `Dim`. Raises: TypeError, ValueError for
    others.
    """
    if isinstance(n, Array):
        raise TypeError(
            f"{what} needs a Python integer as its number of iterations, found {n.describe()}"
            f" ({location.text()}); where only the run knows it, pfor and for_loop take capacity=,"
            " a bound that is known, and weir.fori_loop needs none"
        )
    count = core.known_size(n, f"the number of iterations of {what}")
    if dims.below(count, 0):
        raise ValueError(f"{what} was asked for {count} iterations ({location.text()})")
    return count


def check_capacity(what, n, capacity):
    """Returns: the bound of a number of iterations. Raises: TypeError, ValueError where it is
    none.
    """
    bound = core.known_size(capacity, f"the capacity of {what}")
    known = not isinstance(n, (Array, np.ndarray))
    if known:
        n = check_count(what, n)
    if dims.below(bound, 0) or (known and dims.below(bound, n)):
        raise ValueError(
            f"{what} was asked for {n if known else 'some'} iterations with the capacity {bound}"
            f" ({location.text()})"
        )
    return bound


def as_size(what, n):
    """Returns: a number of iterations, known or traced, as an i64 scalar."""
    size = core.as_array(n, f"the number of iterations of {what}")
    if size.dtype_name not in dtypes.INTEGERS or size.shape:
        raise TypeError(
            f"the number of iterations of {what} must be an integer scalar, found"
            f" {size.describe()} ({location.text()})"
        )
    return core.to_dtype(n, "i64")


def check_chunk(chunk_size):
    """Returns: the size of a chunk, or None. Raises: ValueError for one below 1."""
    if chunk_size is None:
        return None
    size = core.known_integer(chunk_size, "chunk_size")
    if size < 1:
        raise ValueError(f"chunk_size must be at least 1, found {size} ({location.text()})")
    return size
