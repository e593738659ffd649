"""Reductions over the iterations of the pfor (or vmap) around: every iteration gets the result.

What stands before a reduction runs for all iterations, then the reduction, then what stands behind.
In a branch, or in a trip of a loop inside, those that come there take part, and the others are left
out: all of `weir.cond`'s iterations that go the same way, all that still run in a `while_loop`.
"""

from weir import core, errors, location, trace as tracing


class NeedsAllIterations(Exception):
    """Raised while tracing a chunk of a loop that reduces over all iterations."""


def psum(x):
    """The sum of x over all iterations that come here. Args: x, T[...]. Returns: T[...]."""
    return _reduce(x, "psum", "sum")


def pmax(x):
    """The largest x of all iterations, element by element; NaN if one is. Returns: T[...]."""
    return _reduce(x, "pmax", "max")


def pmin(x):
    """The smallest x of all iterations, element by element; NaN if one is. Returns: T[...]."""
    return _reduce(x, "pmin", "min")


def pmean(x):
    """The mean of x over all iterations that come here. Args: x, a float or complex T[...].
    Returns: T[...].
    """
    return _reduce(x, "pmean", "mean")


def all_gather(x):
    """The values of all iterations. Args: x, T[...]. Returns: T[n, ...], by iteration, with zeros
    for those that do not come here; where only the run knows how many there are, T[capacity, ...]
    with zeros behind.
    """
    return _reduce(x, "all_gather", "gather")


def nearest(trace):
    """Returns: the frame of the innermost loop around whose iterations do not see one another, or
    None. Those of `for_loop` never meet.
    """
    for frame in reversed(trace.own_loops):
        if frame.count is not None or frame.replaces_pfor:
            return frame
    return None


def _why_not(trace, frame):
    if frame is not None:
        return "a for_loop is nearer to it, which runs one iteration after the other"
    if trace.frames and trace.loops:
        return "a weir.function does not see the loops around its calls"
    return "there is none around it"


def _reduce(x, name, kind):
    trace = tracing.required(name)
    frame = nearest(trace)
    if frame is None or frame.count is None:
        raise errors.TracingError(
            f"{name} at {location.text()} reduces over the iterations of a pfor or vmap, but "
            + _why_not(trace, frame)
        )
    if frame.chunked:
        raise NeedsAllIterations
    x = core.as_array(x, f"the operand of {name}")
    attrs = {"kind": kind, "extent": (frame.count,)}
    result = core.apply("iteration_reduce", [x], attrs, weak_type=x.weak_type)
    if frame.body == trace.region:
        trace.forget_loop(result.value)
    return result
