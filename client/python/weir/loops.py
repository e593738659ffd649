"""Loops over iterations that do not depend on one another: `pfor`, and `for_loop` with the same
contract.
"""

from weir import collectives, core, location, trace as tracing, tree
from weir.array import Array
from weir.eager import operation


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


def pfor(body, n, chunk_size=None, strict=False):
    """Runs `body(i)` for i = 0 .. n-1, all at once, and stacks the results.

    Args:
      body: takes the iteration as an i64 scalar; returns a pytree of arrays whose shapes do not
        depend on it. Its iterations cannot see one another.
      n: how many iterations; a Python integer, may be 0.
      chunk_size: how many iterations run at once; the results do not depend on it. A body that
        reduces over its iterations (`psum` and the like) runs whole.
      strict: whether an operation that can only run one iteration after the other is an error.

    Returns: the pytree of `body`, each leaf T[...] as T[n, ...].

    Raises: ValueError for a negative n or a chunk_size below 1.
    """
    n, chunk_size = _check_count("pfor", n), _check_chunk(chunk_size)
    return _pfor(body, n, chunk_size, strict)


@operation
def _pfor(body, n, chunk_size, strict):
    return parallel(body, n, chunk_size, strict, "different").tree()


def for_loop(body, n):
    """The same as `pfor`, one iteration after the other: the baseline.

    Args:
      body: as for `pfor`.
      n: how many iterations.

    Returns: the same values as `pfor(body, n)`.
    """
    return _for_loop(body, _check_count("for_loop", n))


@operation
def _for_loop(body, n):
    trips = core.scalar(n, "i64")
    return _stack("for", [trips], body, n, lambda index: index, "different").tree()


def parallel(body, n, chunk_size, strict, randomness):
    """Traces a pfor. Returns: `Stacked`."""
    trace = tracing.current()
    trace.strict = trace.strict or strict
    if chunk_size is not None and chunk_size < n:
        draws = trace.draws
        try:
            return _in_chunks(body, n, chunk_size, randomness)
        except collectives.NeedsAllIterations:
            trace.draws = draws
    return _stack("pfor", [], body, n, lambda index: index, randomness)


def _in_chunks(body, n, chunk_size, randomness):
    """A loop over chunks with a pfor inside, and a pfor for what is left."""
    trace = tracing.current()
    chunks, rest = divmod(n, chunk_size)
    first_draw = trace.draws
    whole = None

    def run_chunk(chunk):
        nonlocal whole
        start = core.elementwise("multiply", chunk, chunk_size)
        whole = _stack(
            "pfor", [], body, chunk_size, lambda index: _plus(start, index), randomness, True
        )
        return whole.outputs

    trips = core.scalar(chunks, "i64")
    outer = _stack("for", [trips], run_chunk, chunks, lambda index: index, None)
    outputs = [core.reshape(x, (chunks * chunk_size, *x.shape[2:])) for x in outer.outputs]
    if rest:
        trace.draws = first_draw
        left = _stack(
            "pfor",
            [],
            body,
            rest,
            lambda index: _plus(index, chunks * chunk_size),
            randomness,
            True,
        )
        outputs = [core.concatenate(parts, 0) for parts in zip(outputs, left.outputs)]
    return Stacked(whole.structure, outputs, whole.inner, whole.varies)


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
            with trace.in_loop(index, randomness, count, chunked):
                leaves, structure = tree.flatten(body(index))
        inner = [core.as_array(leaf, "a result of the loop body") for leaf in leaves]
        trace.builder.yield_(region, [x.value for x in inner])
        varies = [region in trace.depends.get(x.value, ()) for x in inner]
    captured = trace.last_used | {x.value for x in inner}
    attrs = {"extent": (n,)} if inner or op == "pfor" else {}
    outputs = core.apply_all(op, operands, attrs, [region], captured)
    for output, x in zip(outputs, inner):
        output.weak_type = x.weak_type
    return Stacked(structure, outputs, inner, varies)


def _check_count(what, n):
    if isinstance(n, Array):
        raise TypeError(
            f"{what} needs a Python integer as its number of iterations, found {n.describe()};"
            " weir.fori_loop takes one that is known only at run time"
        )
    count = core.known_integer(n, f"the number of iterations of {what}")
    if count < 0:
        raise ValueError(f"{what} was asked for {count} iterations ({location.text()})")
    return count


def _check_chunk(chunk_size):
    if chunk_size is None:
        return None
    size = core.known_integer(chunk_size, "chunk_size")
    if size < 1:
        raise ValueError(f"chunk_size must be at least 1, found {size} ({location.text()})")
    return size
