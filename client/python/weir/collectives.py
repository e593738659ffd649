"""Reductions over the iterations of the pfor (or vmap) around: every iteration gets the result.

What stands before a reduction runs for all iterations, then the reduction, then what stands behind.
So a reduction stands directly in the body, not in a branch or another loop inside of it.
"""

from weir import core, errors, location, trace as tracing


class NeedsAllIterations(Exception):
    """Raised while tracing a chunk of a loop that reduces over all iterations."""


def psum(x):
    """The sum of x over all iterations. Args: x, T[...]. Returns: T[...]."""
    return _reduce(x, "psum", "sum")


def pmax(x):
    """The largest x of all iterations, element by element; NaN if one is. Returns: T[...]."""
    return _reduce(x, "pmax", "max")


def pmin(x):
    """The smallest x of all iterations, element by element; NaN if one is. Returns: T[...]."""
    return _reduce(x, "pmin", "min")


def pmean(x):
    """The mean of x over all iterations. Args: x, a float or complex T[...]. Returns: T[...]."""
    return _reduce(x, "pmean", "mean")


def all_gather(x):
    """The values of all iterations. Args: x, T[...]. Returns: T[n, ...], by iteration; where only
    the run knows how many there are, T[capacity, ...] with zeros behind.
    """
    return _reduce(x, "all_gather", "gather")


def _why_not(trace, frame):
    if frame is not None:
        return "another loop is nearer to it"
    if trace.frames and trace.loops:
        return "a weir.function does not see the loops around its calls"
    return "there is none around it"


def _reduce(x, name, kind):
    trace = tracing.required(name)
    frame = trace.own_loops[-1] if trace.own_loops else None
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
    trace.forget_loop(result.value)
    return result
