"""Loops that carry values from trip to trip: `while_loop`, `fori_loop` and `scan`."""

import numpy as np

from weir import core, dims, dtypes, location, trace as tracing, tree
from weir.array import Array
from weir.eager import operation
from weir.indexing import take_row


@operation
def while_loop(cond, body, init):
    """Runs `carry = body(carry)` as long as `cond(carry)` holds.

    Args:
      cond: from the carry to a bool scalar.
      body: from the carry to one of the same structure, shapes and types.
      init: pytree of arrays, the first carry.

    Returns: the last carry.

    Raises: TypeError where the body changes structure, shapes or types, or cond returns something
    else.
    """
    return _while_loop(cond, body, init, counts=False)


def _while_loop(cond, body, init, counts):
    """With `counts` the loop carries the number of its trips, for random numbers."""
    trace = tracing.current()
    first_draw = trace.draws

    def trace_once(carry):
        trace.draws = first_draw
        operands = ([_zero()] if counts else []) + carry.leaves
        body_region, args = _open(operands)
        with trace.inside(body_region):
            with trace.in_loop(args[0] if counts else None, "different") as frame:
                results = _leaves(_next(body, carry.with_leaves(args[counts:])))
        return _Attempt(operands, body_region, args, results, trace.last_used, frame)

    carry = _Carry("while_loop", init)
    attempt = carry.settle(trace_once, lambda attempt: attempt.results)
    if attempt.frame.needs_index:
        trace.draws = first_draw
        return _while_loop(cond, body, init, counts=True)
    with trace.inside(attempt.region):
        step = [core.elementwise("add", attempt.args[0], 1)] if counts else []
        trace.yield_(attempt.region, [x.value for x in step + attempt.results[0]])
    cond_region, args = _open(attempt.operands)
    with trace.inside(cond_region):
        with trace.in_condition(args[0] if counts else None, attempt.frame) as frame:
            holds = core.as_array(
                _test(cond, carry.with_leaves(args[counts:])), "the result of cond"
            )
        if holds.shape:
            raise TypeError(
                f"the condition of while_loop must be a scalar, found {holds.describe()}"
                f" ({location.text()}); weir.numpy.all or any makes one"
            )
        if holds.dtype_name != "bool":
            holds = core.compare("not_equal", holds, 0)
        trace.yield_(cond_region, [holds.value])
    if frame.needs_index:
        trace.draws = first_draw
        return _while_loop(cond, body, init, counts=True)
    captured = attempt.used | trace.last_used
    outputs = core.apply_all("while", attempt.operands, {}, [cond_region, attempt.region], captured)
    return carry.with_leaves(carry.like(outputs[counts:]))


@operation
def fori_loop(lower, upper, body, init):
    """Runs `carry = body(i, carry)` for i = lower .. upper-1.

    Args:
      lower, upper: integer scalars, known or traced, or sizes.
      body: from the iteration and the carry to a carry of the same structure, shapes and types.
      init: pytree of arrays.

    Returns: the last carry; `init` if there is no trip.
    """
    for bound in (lower, upper):
        _check_bound(bound)
    starts_at_zero = core.is_scalar(lower) and lower == 0
    if dims.is_size(lower) and dims.is_size(upper):
        trips = core.scalar(dims.larger(0, upper - lower), "i64")
    else:
        trips = core.elementwise(
            "subtract", core.to_dtype(upper, "i64"), core.to_dtype(lower, "i64")
        )

    def step(index, carry):
        number = index if starts_at_zero else core.elementwise("add", index, lower)
        return _next(lambda carry: body(number, carry), carry), None

    return _counted("fori_loop", step, init, trips, None)[0]


@operation
def scan(function, init, xs=None, length=None, reverse=False):
    """Runs `carry, y = function(carry, x)` over the leading axis of `xs`, and stacks what comes
    out.

    Args:
      function: from a carry and one row of `xs` to a carry of the same types and a pytree `y`.
      init: pytree of arrays, the first carry.
      xs: pytree of arrays with equal leading sizes, or None.
      length: how many rows, a Python integer or a `weir.Dim`; needed where `xs` is None.
      reverse: whether the last row comes first. `ys` keep the order of `xs`.

    Returns: (last carry, ys), each leaf T[...] of `y` as T[length, ...].

    Raises: ValueError where leading sizes differ.
    """
    xs = tree.map(lambda x: core.as_array(x, "a leaf of xs"), xs)
    count = _scan_length(xs, length)

    def step(index, carry):
        row = index
        if reverse:
            row = core.elementwise("subtract", count - 1, index)
            row.is_index = True
        result = function(carry, tree.map(lambda x: take_row(x, row), xs))
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(
                f"the function of scan must return a pair (carry, y), found {type(result).__name__}"
                f" ({location.text()})"
            )
        return result

    carry, ys = _counted("scan", step, init, core.scalar(count, "i64"), count)
    if reverse:
        ys = tree.map(lambda y: core.reverse(y, [0]), ys)
    return carry, ys


def _scan_length(xs, length):
    sizes = {}
    for path, leaf in zip(tree.paths(xs, "xs"), tree.leaves(xs)):
        if not leaf.shape:
            raise ValueError(f"scan: {path} has no axis to scan over: {leaf.describe()}")
        sizes.setdefault(leaf.shape[0], []).append(path)
    if length is not None:
        sizes.setdefault(core.known_size(length, "the length of scan"), []).append("length")
    if len(sizes) > 1:
        texts = "; ".join(f"{size}: {', '.join(names)}" for size, names in sizes.items())
        raise ValueError(f"scan: leading sizes differ: {texts} ({location.text()})")
    if not sizes:
        raise ValueError(f"scan: without xs the length must be given ({location.text()})")
    return next(iter(sizes))


def _check_bound(bound):
    dtype_name, _ = core.type_of(bound)
    if dtype_name not in dtypes.INTEGERS or np.ndim(bound):
        raise TypeError(
            f"the bounds of fori_loop must be integer scalars, found {bound!r} ({location.text()})"
        )


def _zero():
    return core.scalar(0, "i64")


def _counted(name, step, init, trips, extent):
    """A `for` node. `step(i, carry)` gives (carry, what to collect). Returns: (carry, ys)."""
    trace = tracing.current()
    first_draw = trace.draws

    def trace_once(carry):
        trace.draws = first_draw
        region, args = _open([_zero()] + carry.leaves)
        index = args[0]
        index.weak_type = index.is_index = True
        with trace.inside(region):
            with trace.in_loop(index, "different") as frame:
                result, collected = step(index, carry.with_leaves(args[1:]))
                results = _leaves(result)
                collected = _leaves(collected)
        return _Attempt(
            [trips] + carry.leaves, region, args, results, trace.last_used, frame, collected
        )

    carry = _Carry(name, init)
    attempt = carry.settle(trace_once, lambda attempt: attempt.results)
    ys, ys_structure = attempt.collected
    with trace.inside(attempt.region):
        trace.yield_(attempt.region, [x.value for x in attempt.results[0] + ys])
    captured = attempt.used | {x.value for x in attempt.results[0] + ys}
    attrs = {"extent": (extent,)} if ys else {}
    outputs = core.apply_all("for", attempt.operands, attrs, [attempt.region], captured)
    count = len(carry.leaves)
    for output, y in zip(outputs[count:], ys):
        output.weak_type = y.weak_type
    return carry.with_leaves(carry.like(outputs[:count])), tree.unflatten(
        ys_structure, outputs[count:]
    )


def _next(body, carry):
    """What the body makes of a carry; while it waits for a recursive call: the same."""
    try:
        return body(carry)
    except tracing.UnknownResults:
        return carry


def _test(cond, carry):
    try:
        return cond(carry)
    except tracing.UnknownResults:
        return core.scalar(False, "bool")


def _leaves(result):
    leaves, structure = tree.flatten(result)
    return [core.as_array(leaf, "a result of the loop body") for leaf in leaves], structure


def _open(operands):
    """Returns: (new region, its arguments of the types of `operands`)."""
    trace = tracing.current()
    region = trace.new_region()
    args = []
    with trace.inside(region):
        for x in operands:
            value = trace.add_argument(region, x.dtype_name, x.shape)
            args.append(Array(trace, value, weak_type=x.weak_type, origin=x.origin))
    return region, args


class _Attempt:
    """A loop body traced for one set of carry types."""

    def __init__(self, operands, region, args, results, used, frame, collected=None):
        self.operands = operands
        self.region = region
        self.args = args
        self.results = results  # (leaves, structure)
        self.used = used
        self.frame = frame
        self.collected = collected


class _Carry:
    """The first value of what a loop carries; weak types bend to what the body makes."""

    def __init__(self, name, init):
        self._name = name
        leaves, self._structure = tree.flatten(init)
        self._paths = tree.paths(init, "carry")
        self.leaves = [core.as_array(leaf, "a leaf of the first carry") for leaf in leaves]

    def with_leaves(self, leaves):
        """Returns: a tree of the carry's structure."""
        return tree.unflatten(self._structure, leaves)

    def like(self, outputs):
        """Gives the outputs of the loop the weakness of the carry."""
        for output, leaf in zip(outputs, self.leaves):
            output.weak_type = leaf.weak_type
        return outputs

    def settle(self, trace_once, results_of):
        """Traces the body until types stay. Returns: the last attempt. Raises: TypeError if they do
        not.
        """
        while True:
            attempt = trace_once(self)
            results, structure = results_of(attempt)
            if structure != self._structure:
                raise TypeError(
                    f"the body of {self._name} takes a carry of structure {self._structure} and"
                    f" returns {structure} ({location.text()})"
                )
            if not self._bend(results):
                self._cast_results(attempt, results)
                return attempt

    def _bend(self, results):
        changed = False
        for i, (leaf, result) in enumerate(zip(self.leaves, results)):
            met = dtypes.promote(
                [(leaf.dtype_name, leaf.weak_type), (result.dtype_name, result.weak_type)]
            )
            if leaf.weak_type and met != (leaf.dtype_name, True):
                self.leaves[i] = core.cast(leaf, *met)
                changed = True
        return changed

    def _cast_results(self, attempt, results):
        with tracing.current().inside(attempt.region):
            for i, (leaf, result) in enumerate(zip(self.leaves, results)):
                same = dims.same_shape(result.shape, leaf.shape)
                if not same or not self._fits(leaf, result):
                    raise TypeError(
                        f"the body of {self._name} changes {self._paths[i]} from {leaf.type_text}"
                        f" to {result.describe()}; a loop carries values of one type"
                        f" ({location.text()})"
                    )
                results[i] = core.cast(result, leaf.dtype_name, leaf.weak_type)

    @staticmethod
    def _fits(leaf, result):
        if result.dtype_name == leaf.dtype_name:
            return True
        met = dtypes.promote([(leaf.dtype_name, False), (result.dtype_name, result.weak_type)])
        return result.weak_type and met[0] == leaf.dtype_name
